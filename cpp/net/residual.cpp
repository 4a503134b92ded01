#include "residual.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "product.hpp"
#include "vector.hpp"

namespace tesuji {

namespace {

constexpr size_t kCache = 300'000;  // bytes of a processor's nearest large cache to be used

// ── Winograd's matrices ─────────────────────────────────────────────────────────────────────────────────────────────
// Polynomials are multiplied through their values at points: 0, 1, −1, 2 and infinity for tiles of 3; −2 too for 4.

template <int kTile>
struct Winograd;

template <>
struct Winograd<3> {
  static constexpr int kIn[5][5] = {
      {2, -1, -2, 1, 0}, {0, -2, -1, 1, 0}, {0, 2, -3, 1, 0}, {0, -1, 0, 1, 0}, {0, 2, -1, -2, 1}};
  static constexpr int kOut[3][5] = {{1, 1, 1, 1, 0}, {0, 1, -1, 2, 0}, {0, 1, 1, 4, 1}};
  static constexpr double kWeights[5][3] = {
      {1. / 2, 0, 0}, {-1. / 2, -1. / 2, -1. / 2}, {-1. / 6, 1. / 6, -1. / 6}, {1. / 6, 1. / 3, 2. / 3}, {0, 0, 1}};
};

template <>
struct Winograd<4> {
  static constexpr int kIn[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                                    {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  static constexpr int kOut[4][6] = {
      {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
  static constexpr double kWeights[6][3] = {{1. / 4, 0, 0},
                                            {-1. / 6, -1. / 6, -1. / 6},
                                            {-1. / 6, 1. / 6, -1. / 6},
                                            {1. / 24, 1. / 12, 1. / 6},
                                            {1. / 24, -1. / 12, 1. / 6},
                                            {0, 0, 1}};
};

/// Row `kRow` of a matrix of small numbers times vectors that lie `step` apart.
template <const auto& kMatrix, int kRow, size_t... kCol>
[[gnu::always_inline]] inline Vector times(const Vector* v, int step, std::index_sequence<kCol...>) {
  Vector sum{};
  (..., [&] {
    constexpr int factor = kMatrix[kRow][kCol];
    if constexpr (factor == 1) {
      sum += v[kCol * step];
    } else if constexpr (factor == -1) {
      sum -= v[kCol * step];
    } else if constexpr (factor != 0) {
      sum += v[kCol * step] * static_cast<float>(factor);
    }
  }());
  return sum;
}
/// The whole matrix: `to` gets a vector a row, `to_step` apart.
template <const auto& kMatrix, int kCols, size_t... kRow>
[[gnu::always_inline]] inline void all_times(const Vector* v, int step, Vector* to, int to_step,
                                             std::index_sequence<kRow...>) {
  (..., (to[kRow * to_step] = times<kMatrix, kRow>(v, step, std::make_index_sequence<kCols>{})));
}

// ── The inner loops ─────────────────────────────────────────────────────────────────────────────────────────────────
// Each is compiled twice, for processors with AVX2 and for all others (see `Loops`).

/// Carries a tile's cells over: from a board with `pitch` floats a row into sums that lie `apart` floats apart.
template <int kTile>
[[gnu::always_inline]] inline void carry_over(const float* from, int pitch, int channels, float* to, size_t apart) {
  constexpr int n = kTile + 2;
  using All = std::make_index_sequence<n>;
  for (int c = 0; c < channels; c += kLanes) {
    Vector cells[n], half[n][n], sums[n];
    for (int row = 0; row < n; ++row) {
      for (int col = 0; col < n; ++col) cells[col] = load(from + row * pitch + col * channels + c);
      all_times<Winograd<kTile>::kIn, n>(cells, 1, half[row], 1, All{});
    }
    for (int col = 0; col < n; ++col) {
      all_times<Winograd<kTile>::kIn, n>(&half[0][col], n, sums, 1, All{});
      for (int row = 0; row < n; ++row) store(to + (row * n + col) * apart + c, sums[row]);
    }
  }
}

/// Carries a tile back, adds the bias and what runs beside, and writes what is positive of so many rows and columns.
template <int kTile>
[[gnu::always_inline]] inline void carry_back(const float* from, size_t apart, int channels, const float* bias,
                                              const float* beside, float* to, int pitch, int rows, int cols) {
  constexpr int n = kTile + 2;
  for (int c = 0; c < channels; c += kLanes) {
    Vector sums[n], half[n][kTile], cells[kTile];
    for (int row = 0; row < n; ++row) {
      for (int col = 0; col < n; ++col) sums[col] = load(from + (row * n + col) * apart + c);
      all_times<Winograd<kTile>::kOut, n>(sums, 1, half[row], 1, std::make_index_sequence<kTile>{});
    }
    const Vector add = load(bias + c);
    for (int col = 0; col < cols; ++col) {
      all_times<Winograd<kTile>::kOut, n>(&half[0][col], kTile, cells, 1, std::make_index_sequence<kTile>{});
      for (int row = 0; row < rows; ++row) {
        Vector v = cells[row] + add;
        if (beside) v += load(beside + row * pitch + col * channels + c);
        store(to + row * pitch + col * channels + c, v > 0 ? v : Vector{});
      }
    }
  }
}

struct Loops {
  void (*carry_over[2])(const float*, int, int, float*, size_t);  // tiles of 3, of 4
  void (*carry_back[2])(const float*, size_t, int, const float*, const float*, float*, int, int, int);
};

// clang-format off
#define TESUJI_LOOPS(NAME, TARGET)                                                                                     \
  struct NAME {                                                                                                        \
    TARGET static void over3(const float* a, int b, int c, float* d, size_t e) { carry_over<3>(a, b, c, d, e); }       \
    TARGET static void over4(const float* a, int b, int c, float* d, size_t e) { carry_over<4>(a, b, c, d, e); }       \
    TARGET static void back3(const float* a, size_t b, int c, const float* d, const float* e, float* f, int g, int h,  \
                             int i) { carry_back<3>(a, b, c, d, e, f, g, h, i); }                                      \
    TARGET static void back4(const float* a, size_t b, int c, const float* d, const float* e, float* f, int g, int h,  \
                             int i) { carry_back<4>(a, b, c, d, e, f, g, h, i); }                                      \
    static constexpr Loops kLoops{{over3, over4}, {back3, back4}};                                                     \
  };
// clang-format on

TESUJI_LOOPS(Plain, )
#if defined(__x86_64__)
TESUJI_LOOPS(Avx2, TESUJI_AVX2)
#endif

const Loops& loops() {
#if defined(__x86_64__)
  if (has_avx2()) return Avx2::kLoops;
#endif
  return Plain::kLoops;
}

}  // namespace

struct ResidualNet::Room {
  // Boards, zero where nobody writes: around them, and in the planes that fill up the last eight.
  std::vector<float> planes, straight, inner;
  // Written before they are read.
  std::vector<float>&over, &products, &features;
};

const char* ResidualNet::why_not(const NetShape& s) {
  if (s.rows < 1 || s.cols < 1 || s.rows > 64 || s.cols > 64 || s.planes < 1 || s.planes > 512) return "its boards";
  if (s.channels < 1 || s.channels % kColumns || s.channels > 1024 || s.blocks < 0) return "its channels";
  if (s.policy < 1 || s.value < 1 || (s.policy + s.value) % kColumns || s.hidden < 1) return "its heads";
  return "";
}

ResidualNet::ResidualNet(NetShape shape, const std::vector<std::span<const float>>& weights)
    : shape_(std::move(shape)) {
  if (const char* reason = why_not(shape_); *reason) throw std::invalid_argument(std::string(reason) + " do not fit");
  const auto tiles = [&](int tile) { return ((shape_.rows + tile - 1) / tile) * ((shape_.cols + tile - 1) / tile); };
  tile_ = 25 * tiles(3) <= 36 * tiles(4) ? 3 : 4;
  down_ = (shape_.rows + tile_ - 1) / tile_;
  across_ = (shape_.cols + tile_ - 1) / tile_;
  const size_t board = 2 * sizeof(float) * (tile_ + 2) * (tile_ + 2) * down_ * across_ * shape_.channels;
  boards_ = static_cast<int>(std::max(size_t{1}, kCache / board));

  Weights given(weights);
  const int c = shape_.channels;
  for (int i = 0; i <= 2 * shape_.blocks; ++i) {
    const int inputs = i == 0 ? shape_.planes : c;
    const auto of = given.take(static_cast<size_t>(c) * inputs * 9), bias = given.take(c);
    convolutions_.push_back(carry(of, bias, inputs, c));
  }
  const auto policy = given.take(static_cast<size_t>(shape_.policy) * c), policy_bias = given.take(shape_.policy);
  cells_ = given.list(shape_.policy);
  cells_bias_ = given.take(1)[0];
  const auto value = given.take(static_cast<size_t>(shape_.value) * c), value_bias = given.take(shape_.value);
  hidden_ = given.list(static_cast<size_t>(shape_.hidden) * 2 * shape_.value);
  hidden_bias_ = given.list(shape_.hidden);
  value_ = given.list(static_cast<size_t>(3) * shape_.hidden);
  value_bias_ = given.list(3);
  if (shape_.off_board > 0) {
    off_board_ = given.list(static_cast<size_t>(shape_.off_board) * shape_.hidden);
    off_board_bias_ = given.list(shape_.off_board);
  }
  given.end();
  const int features = shape_.policy + shape_.value;
  features_.resize(static_cast<size_t>(features) * c);
  lay_out(
      features, c,
      [&](int o, int i) { return o < shape_.policy ? policy[o * c + i] : value[(o - shape_.policy) * c + i]; },
      features_.data());
  features_bias_.assign(policy_bias.begin(), policy_bias.end());
  features_bias_.insert(features_bias_.end(), value_bias.begin(), value_bias.end());
  for (const int logit : shape_.order) {
    if (logit < 0 || logit >= shape_.cells() + shape_.off_board)
      throw std::invalid_argument("the order of actions does not fit the shape");
  }
}

ResidualNet::Convolution ResidualNet::carry(std::span<const float> weights, std::span<const float> bias, int inputs,
                                            int outputs) const {
  const int n = tile_ + 2, padded = up_to(inputs, kLanes);
  Convolution made{
      padded, std::vector<float>(static_cast<size_t>(n) * n * padded * outputs), {bias.begin(), bias.end()}};
  const auto* g = tile_ == 3 ? Winograd<3>::kWeights : Winograd<4>::kWeights;
  for (int row = 0; row < n; ++row) {
    for (int col = 0; col < n; ++col) {
      const auto at = [&](int output, int input) {
        if (input >= inputs) return 0.0f;
        const float* w = &weights[(static_cast<size_t>(output) * inputs + input) * 9];
        double sum = 0;
        for (int i = 0; i < 9; ++i) sum += g[row][i / 3] * g[col][i % 3] * w[i];
        return static_cast<float>(sum);
      };
      lay_out(outputs, padded, at, made.carried.data() + static_cast<size_t>(row * n + col) * padded * outputs);
    }
  }
  return made;
}

void ResidualNet::convolve(Room& room, const Convolution& conv, int boards, const float* in, float* out,
                           const float* beside) const {
  const Loops& run = loops();
  const int n = tile_ + 2, c = shape_.channels, tiles = down_ * across_, all = boards * tiles, kind = tile_ - 3;
  const size_t apart_in = static_cast<size_t>(all) * conv.inputs, apart_out = static_cast<size_t>(all) * c;
  const int pitch_in = padded_cols() * conv.inputs, pitch_out = padded_cols() * c;
  for (int t = 0; t < all; ++t) {
    const int row = t % tiles / across_ * tile_, col = t % across_ * tile_;
    const float* from = in + t / tiles * board_size(conv.inputs) + row * pitch_in + col * conv.inputs;
    run.carry_over[kind](from, pitch_in, conv.inputs, room.over.data() + static_cast<size_t>(t) * conv.inputs,
                         apart_in);
  }
  for (int sum = 0; sum < n * n; ++sum) {
    multiply(room.over.data() + sum * apart_in, all, conv.inputs,
             conv.carried.data() + static_cast<size_t>(sum) * conv.inputs * c, c,
             room.products.data() + sum * apart_out);
  }
  for (int t = 0; t < all; ++t) {
    const int row = t % tiles / across_ * tile_, col = t % across_ * tile_;
    const size_t at = t / tiles * board_size(c) + (row + 1) * pitch_out + (col + 1) * c;
    run.carry_back[kind](room.products.data() + static_cast<size_t>(t) * c, apart_out, c, conv.bias.data(),
                         beside ? beside + at : nullptr, out + at, pitch_out, std::min(tile_, shape_.rows - row),
                         std::min(tile_, shape_.cols - col));
  }
}

/// Planes of boards, one after the other, to boards of cells with all planes side by side.
void ResidualNet::read(Room& room, const float* planes, int boards) const {
  const int channels = up_to(shape_.planes, kLanes);
  for (int b = 0; b < boards; ++b) {
    float* board = room.planes.data() + b * board_size(channels);
    for (int p = 0; p < shape_.planes; ++p) {
      for (int row = 0; row < shape_.rows; ++row) {
        float* to = board + (static_cast<size_t>(row + 1) * padded_cols() + 1) * channels + p;
        for (int col = 0; col < shape_.cols; ++col, to += channels) *to = *planes++;
      }
    }
  }
}

/// The heads, of one board.
void ResidualNet::judge(Room& room, const float* x, float* policy, Chances* chances) const {
  const int c = shape_.channels, features = shape_.policy + shape_.value, cells = shape_.cells();
  for (int row = 0; row < shape_.rows; ++row) {
    multiply(x + (static_cast<size_t>(row + 1) * padded_cols() + 1) * c, shape_.cols, c, features_.data(), features,
             room.features.data() + static_cast<size_t>(row) * shape_.cols * features);
  }
  thread_local std::vector<float> pooled, hidden, logits;
  pooled.assign(2 * shape_.value, 0);
  hidden.resize(shape_.hidden);
  logits.resize(cells + shape_.off_board);
  for (int cell = 0; cell < cells; ++cell) {
    const float* f = room.features.data() + static_cast<size_t>(cell) * features;
    float sum = cells_bias_;
    for (int i = 0; i < shape_.policy; ++i) sum += std::max(f[i] + features_bias_[i], 0.0f) * cells_[i];
    logits[cell] = sum;
    for (int i = 0; i < shape_.value; ++i) {
      const float v = std::max(f[shape_.policy + i] + features_bias_[shape_.policy + i], 0.0f);
      pooled[i] += v;
      pooled[shape_.value + i] = std::max(pooled[shape_.value + i], v);
    }
  }
  for (int i = 0; i < shape_.value; ++i) pooled[i] /= static_cast<float>(cells);
  const auto dense = [](const std::vector<float>& in, const std::vector<float>& weights, const std::vector<float>& bias,
                        float* out) {
    const float* w = weights.data();
    for (size_t o = 0; o < bias.size(); ++o) {
      float sum = bias[o];
      for (const float v : in) sum += v * *w++;
      out[o] = sum;
    }
  };
  dense(pooled, hidden_, hidden_bias_, hidden.data());
  for (float& h : hidden) h = std::max(h, 0.0f);
  std::array<float, 3> wdl;
  dense(hidden, value_, value_bias_, wdl.data());
  dense(hidden, off_board_, off_board_bias_, logits.data() + cells);
  for (size_t action = 0; action < shape_.order.size(); ++action) policy[action] = logits[shape_.order[action]];
  *chances = chances_of(wdl);
}

void ResidualNet::answer(const float* planes, int count, float* policy, Chances* chances) const {
  const int c = shape_.channels, n = tile_ + 2, first = up_to(shape_.planes, kLanes), widest = std::max(c, first);
  const int most = std::min(boards_, count);
  const size_t sums = static_cast<size_t>(n) * n * most * down_ * across_;
  const auto scratch = [](std::vector<float>& room, size_t size) -> std::vector<float>& {
    if (room.size() < size) room.resize(size);
    return room;
  };
  thread_local std::vector<float> over, products, features;
  Room room{std::vector<float>(most * board_size(first)),
            std::vector<float>(most * board_size(c)),
            std::vector<float>(most * board_size(c)),
            scratch(over, sums * widest),
            scratch(products, sums * c),
            scratch(features, size_t(shape_.cells()) * (shape_.policy + shape_.value))};
  for (int done = 0; done < count; done += boards_) {
    const int boards = std::min(boards_, count - done);
    read(room, planes + static_cast<size_t>(done) * shape_.planes * shape_.cells(), boards);
    convolve(room, convolutions_[0], boards, room.planes.data(), room.straight.data(), nullptr);
    for (int block = 0; block < shape_.blocks; ++block) {
      convolve(room, convolutions_[1 + 2 * block], boards, room.straight.data(), room.inner.data(), nullptr);
      convolve(room, convolutions_[2 + 2 * block], boards, room.inner.data(), room.straight.data(),
               room.straight.data());
    }
    for (int b = 0; b < boards; ++b)
      judge(room, room.straight.data() + b * board_size(c), policy + (done + b) * shape_.order.size(),
            chances + done + b);
  }
}

}  // namespace tesuji
