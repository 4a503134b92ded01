// The door to nets on the CPU. Arrays cross it, and are checked by whoever makes them (fastnet.py).
#include <nanobind/stl/string.h>

#include "../net/mosaic.hpp"
#include "../net/residual.hpp"
#include "door.hpp"

namespace tesuji {

namespace {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using Packed = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Policy = nb::ndarray<float, nb::ndim<2>, nb::c_contig>;
using Value = nb::ndarray<float, nb::ndim<1>, nb::c_contig>;

void check(const CpuNet& net, bool planes_fit, const Policy& policy, const Value& value) {
  if (!planes_fit || policy.shape(0) != value.shape(0) || policy.shape(1) != net.actions())
    throw std::invalid_argument("planes, policy and value do not fit the net");
}

void take_values(const std::vector<Chances>& chances, Value& value) {
  for (size_t i = 0; i < chances.size(); ++i) value.data()[i] = chances[i].value;
}

std::vector<std::span<const float>> spans_of(const std::vector<Floats>& weights) {
  std::vector<std::span<const float>> spans;
  for (const Floats& w : weights) spans.emplace_back(w.data(), w.size());
  return spans;
}

}  // namespace

void bind_net(nb::module_& m) {
  nb::class_<CpuNet>(m, "CpuNet", "A net on the CPU. Several threads may ask at once.")
      .def(
          "answer",
          [](const CpuNet& net, const Floats& planes, Policy& policy, Value& value) {
            const size_t count = value.shape(0);
            check(net, planes.size() == count * net.planes(), policy, value);
            nb::gil_scoped_release unlocked;
            std::vector<Chances> chances(count);
            net.answer(planes.data(), static_cast<int>(count), policy.data(), chances.data());
            take_values(chances, value);
          },
          "planes"_a, "policy"_a, "value"_a,
          nb::sig("def answer(self, planes: numpy.typing.NDArray[numpy.float32], policy: "
                  "numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32]) -> None"),
          "Writes logits and values of planes [n, C, H, W].")
      .def(
          "answer_packed",
          [](const CpuNet& net, const PyGame& game, nb::handle encoding_name, const Packed& planes, Policy& policy,
             Value& value) {
            const Encoding& encoding = game.encoding(encoding_name);
            const size_t count = value.shape(0);
            const bool fits = planes.shape(0) == count &&
                              planes.shape(1) == static_cast<size_t>(encoding.packed_words()) &&
                              net.planes() == static_cast<size_t>(encoding.channels()) * encoding.cells;
            check(net, fits, policy, value);
            nb::gil_scoped_release unlocked;
            std::vector<Chances> chances(count);
            net.answer_packed(encoding, planes.data(), static_cast<int>(count), policy.data(), chances.data());
            take_values(chances, value);
          },
          "game"_a, "encoding"_a, "planes"_a, "policy"_a, "value"_a,
          nb::sig("def answer_packed(self, game: Game, encoding: str, planes: numpy.typing.NDArray[numpy.uint64], "
                  "policy: numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32]) -> None"),
          "The same of packed planes [n, words].");
  nb::class_<ResidualNet, CpuNet>(m, "ResidualNet", "A residual net, by Winograd's convolutions.")
      .def(
          "__init__",
          [](ResidualNet* self, int rows, int cols, int planes, int channels, int blocks, int policy, int value,
             int hidden, int off_board, std::vector<int> order, const std::vector<Floats>& weights) {
            new (self)
                ResidualNet({rows, cols, planes, channels, blocks, policy, value, hidden, off_board, std::move(order)},
                            spans_of(weights));
          },
          nb::kw_only(), "rows"_a, "cols"_a, "planes"_a, "channels"_a, "blocks"_a, "policy"_a, "value"_a, "hidden"_a,
          "off_board"_a, "order"_a, "weights"_a,
          nb::sig("def __init__(self, *, rows: int, cols: int, planes: int, channels: int, blocks: int, policy: int, "
                  "value: int, hidden: int, off_board: int, order: list[int], weights: "
                  "list[numpy.typing.NDArray[numpy.float32]]) -> None"),
          "Weights in the order of net/residual.hpp.");
  nb::class_<MosaicNet, CpuNet>(m, "MosaicNet", "A net for small boards of 3 × 3 cells, which it looks up in a table.")
      .def(
          "__init__",
          [](MosaicNet* self, int down, int across, int first, int features, int hidden, int last,
             std::vector<int> order, const std::vector<Floats>& weights) {
            new (self) MosaicNet({down, across, first, features, hidden, last, std::move(order)}, spans_of(weights));
          },
          nb::kw_only(), "down"_a, "across"_a, "first"_a, "features"_a, "hidden"_a, "last"_a, "order"_a, "weights"_a,
          nb::sig("def __init__(self, *, down: int, across: int, first: int, features: int, hidden: int, last: int, "
                  "order: list[int], weights: list[numpy.typing.NDArray[numpy.float32]]) -> None"),
          "Weights in the order of net/mosaic.hpp.");
}

}  // namespace tesuji
