#include "mosaic.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "../core/memory.hpp"

namespace tesuji {

namespace {

constexpr size_t kFetched = 256;  // bytes of a row that are asked for; the processor sees what is wanted then

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
  hidden_bias_ = given.list(s.hidden);
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
  last_ = dense(s.hidden, s.last);
  value_ = dense(s.last, 3);
  given.end();
  all_.resize(std::max({27, s.first, s.features, s.last}));
  std::iota(all_.begin(), all_.end(), uint16_t{0});
  rows_ = std::vector<std::atomic<const float*>>(size(tiles, 2 * kCases));
}

const float* MosaicNet::row(int tile, const Tile& seen) const {
  const int number = kTernary[seen.own] + 2 * kTernary[seen.others & ~seen.own];
  auto& place = rows_[(2 * static_cast<size_t>(tile) + seen.open) * kCases + number];
  if (const float* known = place.load(std::memory_order_acquire)) return known;
  auto made = worked_out(tile, seen);
  const std::lock_guard lock(keeping_);
  if (const float* known = place.load(std::memory_order_relaxed)) return known;  // another thread was faster
  kept_.push_back(std::move(made));
  const float* known = kept_.back()[0].numbers.data();
  place.store(known, std::memory_order_release);
  return known;
}

std::vector<Line> MosaicNet::worked_out(int tile, const Tile& seen) const {
  std::array<float, 27> planes;
  for (int i = 0; i < 9; ++i) {
    planes[i] = static_cast<float>(seen.own >> i & 1);
    planes[9 + i] = static_cast<float>((seen.others & ~seen.own) >> i & 1);
    planes[18 + i] = seen.open ? 1.0f : 0.0f;
  }
  std::vector<float> first(first_.outputs), features(features_.outputs);
  std::vector<Line> row(shape_.hidden / kColumns + 1);  // what is added to the hidden units, then nine logits
  first_(planes.data(), {all_.data(), 27}, first.data(), true);
  features_(first.data(), {all_.data(), first.size()}, features.data(), true);
  hidden_[tile](features.data(), {all_.data(), features.size()}, row[0].numbers.data());
  inside_(first.data(), {all_.data(), first.size()}, row.back().numbers.data());
  return row;
}

template <class TileAt>
void MosaicNet::answer_tiles(TileAt tile_at, int count, float* policy, Chances* chances) const {
  const int units = shape_.hidden, tiles = shape_.tiles();
  thread_local std::vector<Line> hidden, last;
  thread_local std::vector<uint16_t> places;
  thread_local std::vector<const float*> rows, next_rows;
  thread_local std::vector<int> open, next_open;
  hidden.resize(units / kColumns);
  last.resize(last_.outputs / kColumns);
  places.resize(units);
  rows.resize(tiles);
  next_rows.resize(tiles);
  // Rows lie anywhere in many megabytes: those of the next board are under way while this one is at work.
  const auto look_up = [&](int board) {
    next_open.clear();
    for (int tile = 0; tile < tiles; ++tile) {
      const Tile found = tile_at(board, tile);
      next_rows[tile] = row(tile, found);
      prefetch(next_rows[tile], kFetched);
      if (found.open) next_open.push_back(tile);
    }
  };
  float *seen = hidden[0].numbers.data(), *judged = last[0].numbers.data();
  if (count > 0) look_up(0);
  for (int board = 0; board < count; ++board, policy += actions()) {
    std::swap(rows, next_rows);
    std::swap(open, next_open);
    if (board + 1 < count) look_up(board + 1);
    const int active = add_rows(hidden_bias_.data(), rows.data(), tiles, units, seen, places.data());
    const std::span<const uint16_t> positive(places.data(), active);
    std::array<float, kColumns> out;
    std::fill_n(policy, actions(), 0.0f);
    for (const int tile : open) {
      policy_[tile](seen, positive, out.data());
      for (int i = 0; i < 9; ++i) {
        if (at_[tile][i] >= 0) policy[at_[tile][i]] = out[i] + rows[tile][units + i];
      }
    }
    last_(seen, positive, judged, true);
    value_(judged, {all_.data(), static_cast<size_t>(last_.outputs)}, out.data());
    chances[board] = chances_of({out[0], out[1], out[2]});
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
