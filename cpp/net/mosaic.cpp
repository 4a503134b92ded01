#include "mosaic.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "product.hpp"

namespace tesuji {

void MosaicNet::Dense::operator()(const float* in, int rows, float* out, bool relu) const {
  multiply(in, rows, inputs, weights.data(), outputs, out);
  for (int row = 0; row < rows; ++row, out += outputs) {
    for (int i = 0; i < outputs; ++i) out[i] = std::max(out[i] + bias[i], relu ? 0.0f : -1e30f);
  }
}

MosaicNet::MosaicNet(MosaicShape shape, const std::vector<std::span<const float>>& weights)
    : shape_(std::move(shape)), stride_(up_to(shape_.features + 9, kColumns)) {
  const MosaicShape& s = shape_;
  if (s.down < 1 || s.across < 1 || s.down > 16 || s.across > 16) throw std::invalid_argument("its boards do not fit");
  for (const int units : {s.first, s.features, s.hidden, s.last}) {
    if (units < kColumns || units % kColumns || units > 4096) throw std::invalid_argument("its units do not fit");
  }
  for (const int cell : s.order) {
    if (cell < 0 || cell >= s.cells()) throw std::invalid_argument("the order of actions does not fit the shape");
    const int row = cell / (3 * s.across), col = cell % (3 * s.across);
    places_.push_back({cell, row / 3 * s.across + col / 3, s.features + row % 3 * 3 + col % 3});
  }
  Weights given(weights);
  const auto size = [](int a, int b) { return static_cast<size_t>(a) * b; };
  const auto first = given.take(size(s.first, 27)), first_bias = given.take(s.first);
  const auto features = given.take(size(s.features, s.first)), features_bias = given.take(s.features);
  const auto inner = given.take(size(9, s.first)), inner_bias = given.take(9);
  fill_table(first, first_bias, features, features_bias, inner, inner_bias);

  const auto dense = [](int inputs, int outputs, auto at, std::span<const float> bias) {
    Dense made{inputs, up_to(outputs, kColumns), {}, {bias.begin(), bias.end()}};
    made.bias.resize(made.outputs);
    made.weights.resize(static_cast<size_t>(inputs) * made.outputs);
    const auto padded = [&](int output, int input) { return output < outputs ? at(output, input) : 0.0f; };
    lay_out(made.outputs, inputs, padded, made.weights.data());
    return made;
  };
  // torch has the features of all small boards side by side, feature by feature; here they come board by board.
  const auto hidden = given.take(size(s.hidden, s.features * s.tiles())), hidden_bias = given.take(s.hidden);
  const auto by_board = [&](int output, int input) {
    const int tile = input / s.features, feature = input % s.features;
    return hidden[(static_cast<size_t>(output) * s.features + feature) * s.tiles() + tile];
  };
  hidden_ = dense(s.features * s.tiles(), s.hidden, by_board, hidden_bias);
  const auto last = given.take(size(s.last, s.hidden)), last_bias = given.take(s.last);
  last_ = dense(s.hidden, s.last, [&](int output, int input) { return last[output * s.hidden + input]; }, last_bias);
  // Both heads as one layer: logits of all cells, then of win, draw and loss.
  const int cells = s.cells();
  const auto policy = given.take(size(cells, s.last)), policy_bias = given.take(cells);
  const auto value = given.take(size(3, s.last)), value_bias = given.take(3);
  given.end();
  std::vector<float> bias(policy_bias.begin(), policy_bias.end());
  bias.insert(bias.end(), value_bias.begin(), value_bias.end());
  const auto head = [&](int output, int input) {
    return output < cells ? policy[output * s.last + input] : value[(output - cells) * s.last + input];
  };
  heads_ = dense(s.last, cells + 3, head, bias);
}

void MosaicNet::fill_table(std::span<const float> first, std::span<const float> first_bias,
                           std::span<const float> features, std::span<const float> features_bias,
                           std::span<const float> policy, std::span<const float> policy_bias) {
  const int units = shape_.first, told = shape_.features + 9;
  table_.resize(size_t{2} * kCases * stride_);
  std::vector<float> second(static_cast<size_t>(units) * stride_), bias(features_bias.begin(), features_bias.end());
  bias.insert(bias.end(), policy_bias.begin(), policy_bias.end());
  lay_out(
      stride_, units,
      [&](int output, int input) {
        return output < shape_.features ? features[output * units + input]
               : output < told          ? policy[(output - shape_.features) * units + input]
                                        : 0.0f;
      },
      second.data());
  constexpr int kTogether = 27;  // cases that differ in three cells alone
  std::vector<float> seen(static_cast<size_t>(kTogether) * units);
  for (int from = 0; from < 2 * kCases; from += kTogether) {
    for (int i = 0; i < kTogether; ++i) {
      float* out = seen.data() + i * units;
      std::copy(first_bias.begin(), first_bias.end(), out);
      const bool open = from >= kCases;
      for (int cell = 0, rest = (from + i) % kCases; cell < 9; ++cell, rest /= 3) {
        const int kind = rest % 3;  // nobody's, own, the other's
        for (int unit = 0; unit < units; ++unit) {
          const float* w = &first[unit * 27];
          out[unit] += (kind ? w[9 * (kind - 1) + cell] : 0) + (open ? w[18 + cell] : 0);
        }
      }
      for (int unit = 0; unit < units; ++unit) out[unit] = std::max(out[unit], 0.0f);
    }
    float* rows = table_.data() + static_cast<size_t>(from) * stride_;
    multiply(seen.data(), kTogether, units, second.data(), stride_, rows);
    for (int i = 0; i < kTogether; ++i, rows += stride_) {
      for (int k = 0; k < told; ++k) rows[k] += bias[k];
      for (int k = 0; k < shape_.features; ++k) rows[k] = std::max(rows[k], 0.0f);
    }
  }
}

void MosaicNet::look_up(const float* planes, const float** rows) const {
  const int cols = 3 * shape_.across, cells = shape_.cells();
  const float *own = planes, *others = planes + cells, *open = planes + 2 * cells;
  for (int tile = 0; tile < shape_.tiles(); ++tile) {
    const int corner = tile / shape_.across * 3 * cols + tile % shape_.across * 3;
    const auto three = [&](int row) {  // cells as a number of base three
      const float *a = own + corner + row * cols, *b = others + corner + row * cols;
      return a[0] + 3 * a[1] + 9 * a[2] + 2 * (b[0] + 3 * b[1] + 9 * b[2]);
    };
    // What is no board (NaN, cells that both hold) is some case or other.
    const float number = three(0) + 27 * three(1) + 729 * three(2);
    const int which = number > 0 ? static_cast<int>(std::min(number, kCases - 1.0f)) : 0;
    rows[tile] = table_.data() + static_cast<size_t>((open[corner] > 0 ? kCases : 0) + which) * stride_;
  }
}

void MosaicNet::answer(const float* planes, int count, float* policy, float* value) const {
  constexpr int kTogether = 24;
  const int tiles = shape_.tiles(), cells = shape_.cells();
  thread_local std::vector<float> features, hidden, last, heads;
  thread_local std::vector<const float*> rows;
  features.resize(static_cast<size_t>(kTogether) * hidden_.inputs);
  hidden.resize(static_cast<size_t>(kTogether) * hidden_.outputs);
  last.resize(static_cast<size_t>(kTogether) * last_.outputs);
  heads.resize(static_cast<size_t>(kTogether) * heads_.outputs);
  rows.resize(static_cast<size_t>(kTogether) * tiles);
  for (int done = 0; done < count; done += kTogether) {
    const int boards = std::min(kTogether, count - done);
    float* to = features.data();
    for (int b = 0; b < boards; ++b) {
      const float** mine = rows.data() + b * tiles;
      look_up(planes + (done + b) * this->planes(), mine);
      for (int tile = 0; tile < tiles; ++tile) to = std::copy_n(mine[tile], shape_.features, to);
    }
    hidden_(features.data(), boards, hidden.data(), true);
    last_(hidden.data(), boards, last.data(), true);
    heads_(last.data(), boards, heads.data(), false);
    for (int b = 0; b < boards; ++b) {
      const float *out = heads.data() + b * heads_.outputs, *const *mine = rows.data() + b * tiles;
      float* logits = policy + (done + b) * actions();
      for (size_t action = 0; action < actions(); ++action) {
        const auto [cell, tile, inside] = places_[action];
        logits[action] = out[cell] + mine[tile][inside];
      }
      value[done + b] = value_of({out[cells], out[cells + 1], out[cells + 2]});
    }
  }
}

}  // namespace tesuji
