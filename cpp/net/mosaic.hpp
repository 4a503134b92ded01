// A net for boards that are cut into small ones of 3 × 3 cells, which hardly multiplies.
//
// What it first sees of a small board depends on that board alone: nine cells of three kinds each, and whether one may
// play there. What the dense layer after it makes of that is a sum over the small boards. So a row of numbers is worked
// out for each place and each of the 2 · 3⁹ = 39,366 cases when it is first met, and looked up ever after:
//
//   planes ─▶ number of each small board ─▶ [ row ] ─▶ sum of nine ─▶ dense ─▶ value
//                                               │           └─▶ dense ─▶ policy, where one may play
//                                               └──────── policy within each ──────▲
//
// Rows, units and the weights behind them are whole numbers of 16 bits: a search meets many thousands of rows, and the
// fewer bytes they have, the nearer to the processor they stay.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "net.hpp"
#include "product.hpp"

namespace tesuji {

/// How a net is built: as `mosaic` of nets.py. Its planes are own marks, other's marks, small boards to play in.
struct MosaicShape {
  int down, across;        // small boards
  int first, features;     // units that look at a small board, and numbers that are told of it
  int hidden, last;        // units that look at all of them, and at these, for the value
  std::vector<int> order;  // by action: its cell

  int tiles() const { return down * across; }
  int cells() const { return 9 * tiles(); }
};

class MosaicNet : public CpuNet {
 public:
  /// Weights and biases as torch lays them out: of the first units, features, policy within a small board; hidden,
  /// policy; last, value (win, draw, loss). Throws a sentence where one has another size.
  MosaicNet(MosaicShape, const std::vector<std::span<const float>>& weights);

  size_t planes() const override { return size_t{3} * shape_.cells(); }
  size_t actions() const override { return shape_.order.size(); }
  /// Logits of cells where nobody may play are 0.
  void answer(const float* planes, int count, float* policy, Chances*) const override;
  void answer_packed(const Encoding&, const uint64_t* rows, int count, float* policy, Chances*) const override;

 private:
  static constexpr int kCases = 19683;  // 3⁹

  struct Dense {
    int inputs, outputs;  // a multiple of 16
    std::vector<Line> weights;
    std::vector<float> bias;
    Dense() = default;
    template <class At>
    Dense(int inputs, int outputs, At at, std::span<const float> bias);
    /// Of units of which those at `places` alone are not 0.
    void operator()(const float* units, std::span<const uint16_t> places, float* out, bool relu = false) const;
  };

  /// A dense layer over hidden units, in whole numbers.
  struct Whole {
    int inputs = 0, outputs = 0;  // a multiple of 16
    std::vector<WholeLine> weights;
    std::vector<float> scale, bias;
    Whole() = default;
    template <class At>
    Whole(int inputs, int outputs, At at, std::span<const float> bias);
    /// Of units of which groups at `places` alone are not 0.
    void operator()(const int16_t* units, std::span<const uint16_t> places, float* out) const;
  };

  /// A small board of a position: own cells and the other's, a bit each by rows, and whether one may play there.
  struct Tile {
    unsigned own, others;
    bool open;
  };

  MosaicShape shape_;
  std::vector<std::array<int, 9>> at_;  // by small board: the actions of its cells; −1: there is none
  Dense first_, features_, inside_;
  std::vector<Dense> hidden_;  // by small board: what it adds to the hidden units
  std::vector<Whole> policy_;  // by small board: of its nine cells
  Whole last_;
  Dense value_;
  std::vector<int16_t> hidden_bias_;
  std::vector<uint16_t> all_;  // places: 0, 1, 2 …

  mutable std::vector<std::atomic<const int16_t*>> rows_;  // [small boards][may play there][cases]; null: not met yet
  mutable std::deque<std::vector<WholeLine>> kept_;
  mutable std::mutex keeping_;

  const int16_t* row(int tile, const Tile&) const;
  std::vector<WholeLine> worked_out(int tile, const Tile&) const;
  template <class TileAt>
  void answer_tiles(TileAt, int count, float* policy, Chances*) const;
};

}  // namespace tesuji
