#include "product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "vector.hpp"

namespace tesuji {

namespace {

template <int kSize>
using Floats [[gnu::vector_size(kSize * sizeof(float)), gnu::may_alias, gnu::aligned(4)]] = float;

/// `kRows` rows of [rows, inputs] times [inputs, 16], in vectors of `kSize` floats.
template <int kSize, int kRows>
[[gnu::always_inline]] inline void product(const float* rows, int inputs, const float* columns, float* to, int pitch) {
  using V = Floats<kSize>;
  constexpr int kParts = kColumns / kSize;
  V sum[kRows][kParts] = {};
  for (int k = 0; k < inputs; ++k) {
    V column[kParts];
    for (int part = 0; part < kParts; ++part)
      column[part] = *reinterpret_cast<const V*>(columns + k * kColumns + part * kSize);
#pragma GCC unroll 12
    for (int row = 0; row < kRows; ++row) {
      const float x = rows[row * inputs + k];
#pragma GCC unroll 2
      for (int part = 0; part < kParts; ++part) sum[row][part] += column[part] * x;
    }
  }
#pragma GCC unroll 12
  for (int row = 0; row < kRows; ++row) {
    for (int part = 0; part < kParts; ++part) *reinterpret_cast<V*>(to + row * pitch + part * kSize) = sum[row][part];
  }
}

/// The same of at most `kRows` rows.
template <int kSize, int kRows>
[[gnu::always_inline]] inline void rest(int rows, const float* in, int inputs, const float* columns, float* to,
                                        int pitch) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return product<kSize, kRows>(in, inputs, columns, to, pitch);
    rest<kSize, kRows - 1>(rows, in, inputs, columns, to, pitch);
  }
}

/// `kRows` rows at a time: as many as a processor has room for in its registers.
template <int kSize, int kRows>
[[gnu::always_inline]] inline void products(const float* in, int rows, int inputs, const float* weights, int outputs,
                                            float* out) {
  for (int at = 0; at < outputs; at += kColumns, weights += inputs * kColumns) {
    int row = 0;
    for (; row + kRows <= rows; row += kRows)
      product<kSize, kRows>(in + row * inputs, inputs, weights, out + row * outputs + at, outputs);
    rest<kSize, kRows - 1>(rows - row, in + row * inputs, inputs, weights, out + row * outputs + at, outputs);
  }
}

/// Places of one row times [inputs, 16]: four sums, so that no addition waits for the one before.
template <int kSize>
[[gnu::always_inline]] inline void some(const float* in, const uint16_t* places, int count, int inputs,
                                        const float* weights, int outputs, float* out) {
  using V = Floats<kSize>;
  constexpr int kParts = kColumns / kSize, kSums = 4;
  for (int at = 0; at < outputs; at += kColumns, weights += static_cast<size_t>(inputs) * kColumns) {
    V sum[kSums][kParts] = {};
    const auto add = [&](int which, int place) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part)
        sum[which][part] += *reinterpret_cast<const V*>(weights + place * kColumns + part * kSize) * in[place];
    };
    int k = 0;
    for (; k + kSums <= count; k += kSums) {
#pragma GCC unroll 4
      for (int i = 0; i < kSums; ++i) add(i, places[k + i]);
    }
    for (; k < count; ++k) add(0, places[k]);
    for (int part = 0; part < kParts; ++part) {
      *reinterpret_cast<V*>(out + at + part * kSize) = (sum[0][part] + sum[1][part]) + (sum[2][part] + sum[3][part]);
    }
  }
}

/// `mask_of(v)`: a bit for each number of a vector that is above 0.
template <int kSize, class MaskOf>
[[gnu::always_inline]] inline int sums(const float* first, const float* const* rows, int count, int size, float* out,
                                       uint16_t* positive, MaskOf mask_of) {
  using V = Floats<kSize>;
  int found = 0;
  for (int at = 0; at < size; at += kSize) {
    V sum = *reinterpret_cast<const V*>(first + at);
    for (int i = 0; i < count; ++i) sum += *reinterpret_cast<const V*>(rows[i] + at);
    *reinterpret_cast<V*>(out + at) = sum > 0 ? sum : V{};
    for (unsigned mask = mask_of(sum); mask; mask &= mask - 1)
      positive[found++] = static_cast<uint16_t>(at + std::countr_zero(mask));
  }
  return found;
}

void products_plain(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  products<4, 2>(in, rows, inputs, weights, outputs, out);
}
void some_plain(const float* in, const uint16_t* places, int count, int inputs, const float* weights, int outputs,
                float* out) {
  some<4>(in, places, count, inputs, weights, outputs, out);
}
int sums_plain(const float* first, const float* const* rows, int count, int size, float* out, uint16_t* positive) {
  return sums<4>(first, rows, count, size, out, positive, [](Floats<4> v) {
    return unsigned{v[0] > 0} | unsigned{v[1] > 0} << 1 | unsigned{v[2] > 0} << 2 | unsigned{v[3] > 0} << 3;
  });
}
#if defined(__x86_64__)
#define TESUJI_AVX512 [[gnu::target("avx512f")]]
TESUJI_AVX2 void products_avx2(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  products<8, 6>(in, rows, inputs, weights, outputs, out);
}
TESUJI_AVX2 void some_avx2(const float* in, const uint16_t* places, int count, int inputs, const float* weights,
                           int outputs, float* out) {
  some<8>(in, places, count, inputs, weights, outputs, out);
}
TESUJI_AVX2 int sums_avx2(const float* first, const float* const* rows, int count, int size, float* out,
                          uint16_t* positive) {
  return sums<8>(first, rows, count, size, out, positive, [](Floats<8> v) __attribute__((target("avx2,fma"))) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GT_OQ)));
  });
}
TESUJI_AVX512 void products_avx512(const float* in, int rows, int inputs, const float* weights, int outputs,
                                   float* out) {
  products<16, 12>(in, rows, inputs, weights, outputs, out);
}
TESUJI_AVX512 void some_avx512(const float* in, const uint16_t* places, int count, int inputs, const float* weights,
                               int outputs, float* out) {
  some<16>(in, places, count, inputs, weights, outputs, out);
}
TESUJI_AVX512 int sums_avx512(const float* first, const float* const* rows, int count, int size, float* out,
                              uint16_t* positive) {
  return sums<16>(first, rows, count, size, out, positive, [](Floats<16> v) __attribute__((target("avx512f"))) {
    return unsigned{_mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_GT_OQ)};
  });
}
#define TESUJI_FAST(function) function
#else
#define TESUJI_FAST(function) nullptr
#endif

/// Of one function for every processor, for those with AVX2, and for those with AVX-512 (null: there is none) the best.
template <class Function>
Function* best_of(Function* plain, [[maybe_unused]] std::type_identity_t<Function>* avx2,
                  [[maybe_unused]] std::type_identity_t<Function>* avx512) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return avx512;
  if (has_avx2()) return avx2;
#endif
  return plain;
}

}  // namespace

void multiply(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  static const auto kMultiply = best_of(products_plain, TESUJI_FAST(products_avx2), TESUJI_FAST(products_avx512));
  kMultiply(in, rows, inputs, weights, outputs, out);
}

void multiply_some(const float* in, const uint16_t* places, int count, int inputs, const float* weights, int outputs,
                   float* out) {
  static const auto kMultiply = best_of(some_plain, TESUJI_FAST(some_avx2), TESUJI_FAST(some_avx512));
  kMultiply(in, places, count, inputs, weights, outputs, out);
}

int add_rows(const float* first, const float* const* rows, int count, int size, float* out, uint16_t* positive) {
  static const auto kAdd = best_of(sums_plain, TESUJI_FAST(sums_avx2), TESUJI_FAST(sums_avx512));
  return kAdd(first, rows, count, size, out, positive);
}

Chances chances_of(std::array<float, 3> wdl) {
  const float most = std::max({wdl[0], wdl[1], wdl[2]});
  for (float& w : wdl) w = std::exp(w - most);
  const float sum = wdl[0] + wdl[1] + wdl[2];
  return {(wdl[0] - wdl[2]) / sum, wdl[1] / sum};
}

}  // namespace tesuji
