// The door to nets on the CPU. Arrays cross it, and are checked by whoever makes them (fastnet.py).
#include <nanobind/stl/string.h>

#include "../net/residual.hpp"
#include "door.hpp"

namespace tesuji {

namespace {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

void answer(const ResidualNet& net, const Floats& planes, nb::ndarray<float, nb::ndim<2>, nb::c_contig>& policy,
            nb::ndarray<float, nb::ndim<1>, nb::c_contig>& value) {
  const NetShape& s = net.shape();
  const size_t count = value.shape(0);
  if (planes.size() != count * s.planes * s.cells() || policy.shape(0) != count || policy.shape(1) != s.order.size())
    throw std::invalid_argument("planes, policy and value do not fit the net");
  nb::gil_scoped_release unlocked;
  net.answer(planes.data(), static_cast<int>(count), policy.data(), value.data());
}

}  // namespace

void bind_net(nb::module_& m) {
  nb::class_<ResidualNet>(m, "ResidualNet", "A residual net on the CPU, by Winograd's convolutions.")
      .def(
          "__init__",
          [](ResidualNet* self, int rows, int cols, int planes, int channels, int blocks, int policy, int value,
             int hidden, int off_board, std::vector<int> order, const std::vector<Floats>& weights) {
            std::vector<std::span<const float>> spans;
            for (const Floats& w : weights) spans.emplace_back(w.data(), w.size());
            new (self) ResidualNet(
                {rows, cols, planes, channels, blocks, policy, value, hidden, off_board, std::move(order)}, spans);
          },
          nb::kw_only(), "rows"_a, "cols"_a, "planes"_a, "channels"_a, "blocks"_a, "policy"_a, "value"_a, "hidden"_a,
          "off_board"_a, "order"_a, "weights"_a,
          nb::sig("def __init__(self, *, rows: int, cols: int, planes: int, channels: int, blocks: int, policy: int, "
                  "value: int, hidden: int, off_board: int, order: list[int], weights: "
                  "list[numpy.typing.NDArray[numpy.float32]]) -> None"),
          "Weights in the order of net/residual.hpp.")
      .def("answer", &answer, "planes"_a, "policy"_a, "value"_a,
           nb::sig("def answer(self, planes: numpy.typing.NDArray[numpy.float32], policy: "
                   "numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32]) -> None"),
           "Writes logits and values of planes [n, C, H, W]. Several threads may ask at once.");
}

}  // namespace tesuji
