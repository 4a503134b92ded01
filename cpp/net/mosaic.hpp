// A net for boards that are cut into small ones of 3 × 3 cells, in some fifty thousand multiplications.
//
// What it first sees of a small board depends on that board alone: nine cells of three kinds each, and whether one may
// play there. That is 2 · 3⁹ = 39,366 cases, so all of them are worked out beforehand, and looked up:
//
//   planes ─▶ number of each small board ─▶ [ table ] ─▶ features of all ─▶ dense ─▶ dense ─▶ value, policy
//                                               └──────── policy within each ──────────────────────▲
#pragma once

#include <span>
#include <vector>

#include "net.hpp"

namespace tesuji {

/// How a net is built: as `mosaic` of nets.py. Its planes are own marks, other's marks, small boards to play in.
struct MosaicShape {
  int down, across;        // small boards
  int first, features;     // units that look at a small board, and numbers that are told of it
  int hidden, last;        // units that look at all of them, and at these
  std::vector<int> order;  // by action: its cell

  int tiles() const { return down * across; }
  int cells() const { return 9 * tiles(); }
};

class MosaicNet : public CpuNet {
 public:
  /// Weights and biases as torch lays them out: of the first units, features, policy within a small board; hidden,
  /// last; policy, value (win, draw, loss). Throws a sentence where one has another size.
  MosaicNet(MosaicShape, const std::vector<std::span<const float>>& weights);

  size_t planes() const override { return size_t{3} * shape_.cells(); }
  size_t actions() const override { return shape_.order.size(); }
  void answer(const float* planes, int count, float* policy, float* value) const override;

 private:
  static constexpr int kCases = 19683;  // 3⁹

  struct Dense {
    int inputs, outputs;  // a multiple of 16
    std::vector<float> weights, bias;
    /// [rows, inputs] → [rows, outputs], what is positive of it where `relu`.
    void operator()(const float* in, int rows, float* out, bool relu) const;
  };

  struct Place {
    int cell, tile, inside;  // of the board; its small board; where its logit stands in a case
  };

  MosaicShape shape_;
  std::vector<Place> places_;  // by action
  int stride_;                 // floats of a case
  std::vector<float> table_;   // [may play there][case][features, then nine logits]
  Dense hidden_, last_, heads_;

  void fill_table(std::span<const float> first, std::span<const float> first_bias, std::span<const float> features,
                  std::span<const float> features_bias, std::span<const float> policy,
                  std::span<const float> policy_bias);
  /// The cases of a board's small boards, as rows of the table.
  void look_up(const float* planes, const float** rows) const;
};

}  // namespace tesuji
