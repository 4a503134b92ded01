#include "mosaic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "../core/memory.hpp"

namespace tesuji {

namespace {

constexpr int kMost = 256;        // outputs of a layer over hidden units
constexpr size_t kFetched = 256;  // bytes of a row that are asked for; the processor sees what is wanted then

constexpr float kStep = 1.0f / 1024;  // of rows and hidden units, which are thus below 32

int16_t in_steps(float number) {
  return static_cast<int16_t>(std::lround(std::clamp(number / kStep, -32767.0f, 32767.0f)));
}

}  // namespace

template <class At>
MosaicNet::Dense::Dense(int inputs, int outputs, At at, std::span<const float> bias)
    : inputs(inputs), outputs(up_to(outputs, kColumns)), bias(bias.begin(), bias.end()) {
  this->bias.resize(this->outputs);
  weights.resize(static_cast<size_t>(inputs) * this->outputs / kColumns);
  lay_out(
      this->outputs, inputs, [&](int output, int input) { return output < outputs ? at(output, input) : 0.0f; },
      weights[0].numbers.data());
}

template <class At>
MosaicNet::Whole::Whole(int inputs, int outputs, At at, std::span<const float> bias)
    : inputs(inputs), outputs(up_to(outputs, kColumns)), scale(this->outputs), bias(bias.begin(), bias.end()) {
  this->bias.resize(this->outputs);
  weights.resize(static_cast<size_t>(inputs) * this->outputs / WholeLine::kSize);
  int16_t* to = weights[0].numbers.data();
  for (int output = 0; output < outputs; ++output) {
    // As fine as can be while no sum leaves its 32 bits, whatever the units.
    float sum = 1e-9f, most = 1e-9f;
    for (int input = 0; input < inputs; ++input) {
      sum += std::abs(at(output, input));
      most = std::max(most, std::abs(at(output, input)));
    }
    const float steps = std::min((65535 - static_cast<float>(inputs)) / sum, 32767 / most);
    scale[output] = kStep / steps;
    for (int input = 0; input < inputs; ++input) {
      const size_t block = static_cast<size_t>(output / kColumns) * inputs + input / kTogether * kTogether;
      to[block * kColumns + output % kColumns * kTogether + input % kTogether] =
          static_cast<int16_t>(std::lround(at(output, input) * steps));
    }
  }
}

void MosaicNet::Whole::operator()(const int16_t* units, std::span<const uint16_t> places, float* out) const {
  std::array<int32_t, kMost> sums;
  multiply_whole(units, places.data(), static_cast<int>(places.size()), inputs, weights[0].numbers.data(), outputs,
                 sums.data());
  for (int i = 0; i < outputs; ++i) out[i] = static_cast<float>(sums[i]) * scale[i] + bias[i];
}

void MosaicNet::Dense::operator()(const float* units, std::span<const uint16_t> places, float* out, bool relu) const {
  multiply_some(units, places.data(), static_cast<int>(places.size()), inputs, weights[0].numbers.data(), outputs, out);
  for (int i = 0; i < outputs; ++i) out[i] += bias[i];
  if (relu) {
    for (int i = 0; i < outputs; ++i) out[i] = std::max(out[i], 0.0f);
  }
}

MosaicNet::MosaicNet(MosaicShape shape, const std::vector<std::span<const float>>& weights) : shape_(std::move(shape)) {
  const MosaicShape& s = shape_;
  if (s.down < 1 || s.across < 1 || s.down > 16 || s.across > 16) throw std::invalid_argument("its boards do not fit");
  for (const int units : {s.first, s.features, s.hidden, s.last}) {
    if (units < kColumns || units % kColumns || units > 4096) throw std::invalid_argument("its units do not fit");
  }
  if (s.hidden % 32 || s.last > kMost) throw std::invalid_argument("its units do not fit");
  for (const auto& part : weights) {  // whole numbers would hide it
    if (!std::ranges::all_of(part, [](float w) { return std::isfinite(w); }))
      throw std::invalid_argument("its weights are no numbers");
  }
  const int tiles = s.tiles(), cols = 3 * s.across;
  const auto cell_at = [&](int tile, int i) {
    return (tile / s.across * 3 + i / 3) * cols + tile % s.across * 3 + i % 3;
  };
  std::vector<int> action_at(s.cells(), -1);
  for (size_t action = 0; action < s.order.size(); ++action) {
    if (s.order[action] < 0 || s.order[action] >= s.cells())
      throw std::invalid_argument("the order of actions does not fit the shape");
    action_at[s.order[action]] = static_cast<int>(action);
  }
  for (int tile = 0; tile < tiles; ++tile) {
    auto& actions = at_.emplace_back();
    for (int i = 0; i < 9; ++i) actions[i] = action_at[cell_at(tile, i)];
  }

  Weights given(weights);
  const auto size = [](int a, int b) { return static_cast<size_t>(a) * b; };
  const auto dense = [&](int inputs, int outputs) {
    const auto w = given.take(size(outputs, inputs)), bias = given.take(outputs);
    return Dense(inputs, outputs, [&](int output, int input) { return w[size(output, inputs) + input]; }, bias);
  };
  first_ = dense(27, s.first);
  features_ = dense(s.first, s.features);
  inside_ = dense(s.first, 9);
  // torch has the features of all small boards side by side, feature by feature.
  const auto hidden = given.take(size(s.hidden, s.features * tiles));
  for (const float bias : given.take(s.hidden)) hidden_bias_.push_back(in_steps(bias));
  const auto policy = given.take(size(s.cells(), s.hidden)), policy_bias = given.take(s.cells());
  for (int tile = 0; tile < tiles; ++tile) {
    hidden_.emplace_back(
        s.features, s.hidden,
        [&](int output, int input) { return hidden[size(output, s.features * tiles) + size(input, tiles) + tile]; },
        std::span<const float>());
    std::array<float, 9> bias;
    for (int i = 0; i < 9; ++i) bias[i] = policy_bias[cell_at(tile, i)];
    policy_.emplace_back(
        s.hidden, 9, [&](int output, int input) { return policy[size(cell_at(tile, output), s.hidden) + input]; },
        bias);
  }
  const auto last = given.take(size(s.last, s.hidden)), last_bias = given.take(s.last);
  last_ =
      Whole(s.hidden, s.last, [&](int output, int input) { return last[size(output, s.hidden) + input]; }, last_bias);
  value_ = dense(s.last, 3);
  given.end();
  all_.resize(std::max({27, s.first, s.features, s.last}));
  std::iota(all_.begin(), all_.end(), uint16_t{0});
  rows_ = std::vector<std::atomic<const int16_t*>>(size(tiles, 2 * kCases));
}

const int16_t* MosaicNet::row(int tile, const Tile& seen) const {
  const int number = kTernary[seen.own] + 2 * kTernary[seen.others & ~seen.own];
  auto& place = rows_[(2 * static_cast<size_t>(tile) + seen.open) * kCases + number];
  if (const int16_t* known = place.load(std::memory_order_acquire)) return known;
  auto made = worked_out(tile, seen);
  const std::lock_guard lock(keeping_);
  if (const int16_t* known = place.load(std::memory_order_relaxed)) return known;  // another thread was faster
  kept_.push_back(std::move(made));
  const int16_t* known = kept_.back()[0].numbers.data();
  place.store(known, std::memory_order_release);
  return known;
}

std::vector<WholeLine> MosaicNet::worked_out(int tile, const Tile& seen) const {
  std::array<float, 27> planes;
  for (int i = 0; i < 9; ++i) {
    planes[i] = static_cast<float>(seen.own >> i & 1);
    planes[9 + i] = static_cast<float>((seen.others & ~seen.own) >> i & 1);
    planes[18 + i] = seen.open ? 1.0f : 0.0f;
  }
  std::vector<float> first(first_.outputs), features(features_.outputs);
  std::vector<WholeLine> row(shape_.hidden / WholeLine::kSize + 1);  // what is added to the hidden units; nine logits
  std::vector<float> adds(shape_.hidden);
  std::array<float, kColumns> inside;
  first_(planes.data(), {all_.data(), planes.size()}, first.data(), true);
  features_(first.data(), {all_.data(), first.size()}, features.data(), true);
  hidden_[tile](features.data(), {all_.data(), features.size()}, adds.data());
  inside_(first.data(), {all_.data(), first.size()}, inside.data());
  std::transform(adds.begin(), adds.end(), row[0].numbers.data(), in_steps);
  std::transform(inside.begin(), inside.end(), row.back().numbers.data(), in_steps);
  return row;
}

template <class TileAt>
void MosaicNet::answer_tiles(TileAt tile_at, int count, float* policy, Chances* chances) const {
  const int hidden = shape_.hidden, tiles = shape_.tiles();
  thread_local std::vector<int16_t> units;
  thread_local std::vector<uint16_t> places;
  units.resize(hidden);
  places.resize(hidden / kTogether + 16);
  /// Of one position: its rows, and where one may play.
  struct Looked {
    std::vector<const int16_t*> rows;
    std::vector<int> open;
  };
  // Rows lie anywhere in many megabytes: those of the next board are under way while this one is at work.
  thread_local Looked now, next;
  const auto look_up = [&](int board) {
    next.rows.clear();
    next.open.clear();
    for (int tile = 0; tile < tiles; ++tile) {
      const Tile found = tile_at(board, tile);
      next.rows.push_back(row(tile, found));
      prefetch(next.rows.back(), kFetched);
      if (found.open) next.open.push_back(tile);
    }
  };
  if (count > 0) look_up(0);
  for (int board = 0; board < count; ++board, policy += actions()) {
    std::swap(now, next);
    if (board + 1 < count) look_up(board + 1);
    const int active = add_rows(hidden_bias_.data(), now.rows.data(), tiles, hidden, units.data(), places.data());
    const std::span<const uint16_t> groups(places.data(), active);
    std::array<float, kMost> out;
    std::fill_n(policy, actions(), 0.0f);
    for (const int tile : now.open) {
      policy_[tile](units.data(), groups, out.data());
      const int16_t* inside = now.rows[tile] + hidden;
      for (int i = 0; i < 9; ++i) {
        if (at_[tile][i] >= 0) policy[at_[tile][i]] = out[i] + kStep * inside[i];
      }
    }
    last_(units.data(), groups, out.data());
    for (int i = 0; i < last_.outputs; ++i) out[i] = std::max(out[i], 0.0f);
    std::array<float, kColumns> wdl;
    value_(out.data(), {all_.data(), static_cast<size_t>(last_.outputs)}, wdl.data());
    chances[board] = chances_of({wdl[0], wdl[1], wdl[2]});
  }
}

void MosaicNet::answer(const float* planes, int count, float* policy, Chances* chances) const {
  const int cells = shape_.cells(), cols = 3 * shape_.across;
  const auto tile_at = [&](int board, int tile) {
    const float* own = planes + static_cast<size_t>(board) * this->planes() + tile / shape_.across * 3 * cols +
                       tile % shape_.across * 3;
    Tile seen{0, 0, own[2 * cells] > 0};
    for (int i = 0; i < 9; ++i) {
      const int at = i / 3 * cols + i % 3;
      seen.own |= unsigned{own[at] > 0} << i;
      seen.others |= unsigned{own[cells + at] > 0} << i;
    }
    return seen;
  };
  answer_tiles(tile_at, count, policy, chances);
}

void MosaicNet::answer_packed(const Encoding& encoding, const uint64_t* rows, int count, float* policy,
                              Chances* chances) const {
  const int cols = 3 * shape_.across, words = encoding.plane_words();
  const size_t pitch = encoding.packed_words();
  const auto three = [](const uint64_t* plane, int first) {  // bits, which may lie in two words
    const int word = first / 64, bit = first % 64;
    return static_cast<unsigned>(plane[word] >> bit | (bit > 61 ? plane[word + 1] << (64 - bit) : 0)) & 7;
  };
  const auto tile_at = [&](int board, int tile) {
    const uint64_t* own = rows + static_cast<size_t>(board) * pitch;
    const int first = tile / shape_.across * 3 * cols + tile % shape_.across * 3;
    const auto nine = [&](const uint64_t* plane) {
      return three(plane, first) | three(plane, first + cols) << 3 | three(plane, first + 2 * cols) << 6;
    };
    return Tile{nine(own), nine(own + words), three(own + 2 * words, first) != 0};
  };
  answer_tiles(tile_at, count, policy, chances);
}

}  // namespace tesuji
