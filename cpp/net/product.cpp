#include "product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../core/bits.hpp"
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

// ── Whole numbers ──

int16_t saturated(int sum) { return static_cast<int16_t>(std::clamp(sum, -32768, 32767)); }

int pairs_plain(const int16_t* first, const int16_t* const* rows, int count, int size, int16_t* units,
                uint16_t* places) {
  int found = 0;
  for (int at = 0; at < size; at += kTogether) {
    bool any = false;
    for (int i = at; i < at + kTogether; ++i) {
      int16_t sum = first[i];
      for (int row = 0; row < count; ++row) sum = saturated(sum + rows[row][i]);
      units[i] = std::max<int16_t>(sum, 0);
      any |= units[i] > 0;
    }
    if (any) places[found++] = static_cast<uint16_t>(at / kTogether);
  }
  return found;
}

void whole_plain(const int16_t* units, const uint16_t* places, int count, int inputs, const int16_t* weights,
                 int outputs, int32_t* out) {
  for (int at = 0; at < outputs; at += kColumns, weights += static_cast<size_t>(inputs) * kColumns) {
    std::fill_n(out + at, kColumns, 0);
    for (int k = 0; k < count; ++k) {
      const int16_t* group = units + kTogether * places[k];
      const int16_t* w = weights + static_cast<size_t>(kTogether) * kColumns * places[k];
      for (int i = 0; i < kColumns; ++i) {
        for (int j = 0; j < kTogether; ++j) out[at + i] += group[j] * w[kTogether * i + j];
      }
    }
  }
}

#if defined(__x86_64__)
int pair_at(const int16_t* units, int place) {
  int pair;
  std::memcpy(&pair, units + kTogether * place, sizeof pair);
  return pair;
}

TESUJI_AVX2 int pairs_avx2(const int16_t* first, const int16_t* const* rows, int count, int size, int16_t* units,
                           uint16_t* places) {
  const auto at_place = [](const int16_t* from) __attribute__((target("avx2,fma"))) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  };
  int found = 0;
  for (int at = 0; at < size; at += 16) {
    __m256i sum = at_place(first + at);
    for (int i = 0; i < count; ++i) sum = _mm256_adds_epi16(sum, at_place(rows[i] + at));
    sum = _mm256_max_epi16(sum, _mm256_setzero_si256());
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(units + at), sum);
    // Eight places are written, of which as many count as there are groups.
    const __m256i none = _mm256_cmpeq_epi32(sum, _mm256_setzero_si256());
    const unsigned mask = ~_mm256_movemask_ps(_mm256_castsi256_ps(none)) & 255u;
    const __m128i bits = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBitsOf[mask].data())));
    const __m128i number = _mm_add_epi16(bits, _mm_set1_epi16(static_cast<int16_t>(at / kTogether)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(places + found), number);
    found += std::popcount(mask);
  }
  return found;
}

TESUJI_AVX2 void whole_avx2(const int16_t* units, const uint16_t* places, int count, int inputs, const int16_t* weights,
                            int outputs, int32_t* out) {
  for (int at = 0; at < outputs; at += kColumns, weights += static_cast<size_t>(inputs) * kColumns) {
    __m256i sum[2] = {};
    for (int k = 0; k < count; ++k) {
      const __m256i pair = _mm256_set1_epi32(pair_at(units, places[k]));
      const auto* w = reinterpret_cast<const __m256i*>(weights + static_cast<size_t>(kTogether) * kColumns * places[k]);
      for (int part = 0; part < 2; ++part)
        sum[part] = _mm256_add_epi32(sum[part], _mm256_madd_epi16(pair, _mm256_loadu_si256(w + part)));
    }
    for (int part = 0; part < 2; ++part)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at + 8 * part), sum[part]);
  }
}

#define TESUJI_AVX512BW [[gnu::target("avx512f,avx512bw")]]
TESUJI_AVX512BW int pairs_avx512(const int16_t* first, const int16_t* const* rows, int count, int size, int16_t* units,
                                 uint16_t* places) {
  int found = 0;
  __m512i number = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (int at = 0; at < size; at += 32) {
    __m512i sum = _mm512_loadu_si512(first + at);
    for (int i = 0; i < count; ++i) sum = _mm512_adds_epi16(sum, _mm512_loadu_si512(rows[i] + at));
    sum = _mm512_max_epi16(sum, _mm512_setzero_si512());
    _mm512_storeu_si512(units + at, sum);
    // Sixteen places are written, of which as many count as there are groups.
    const __mmask16 mask = _mm512_test_epi32_mask(sum, sum);
    const __m256i packed = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(mask, number));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(places + found), packed);
    found += std::popcount(unsigned{mask});
    number = _mm512_add_epi32(number, _mm512_set1_epi32(16));
  }
  return found;
}

TESUJI_AVX512BW void whole_avx512(const int16_t* units, const uint16_t* places, int count, int inputs,
                                  const int16_t* weights, int outputs, int32_t* out) {
  constexpr int kSums = 4;  // so that no sum waits for the one before
  for (int at = 0; at < outputs; at += kColumns, weights += static_cast<size_t>(inputs) * kColumns) {
    __m512i sum[kSums] = {};
    const auto add = [&](__m512i& to, int place) __attribute__((always_inline, target("avx512f,avx512bw"))) {
      const __m512i w = _mm512_loadu_si512(weights + static_cast<size_t>(kTogether) * kColumns * place);
      to = _mm512_add_epi32(to, _mm512_madd_epi16(_mm512_set1_epi32(pair_at(units, place)), w));
    };
    int k = 0;
    for (; k + kSums <= count; k += kSums) {
#pragma GCC unroll 4
      for (int i = 0; i < kSums; ++i) add(sum[i], places[k + i]);
    }
    for (; k < count; ++k) add(sum[0], places[k]);
    const __m512i all = _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3]));
    _mm512_storeu_si512(out + at, all);
  }
}
#endif

// ── For every processor ──

void products_plain(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  products<4, 2>(in, rows, inputs, weights, outputs, out);
}
void some_plain(const float* in, const uint16_t* places, int count, int inputs, const float* weights, int outputs,
                float* out) {
  some<4>(in, places, count, inputs, weights, outputs, out);
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
TESUJI_AVX512 void products_avx512(const float* in, int rows, int inputs, const float* weights, int outputs,
                                   float* out) {
  products<16, 12>(in, rows, inputs, weights, outputs, out);
}
TESUJI_AVX512 void some_avx512(const float* in, const uint16_t* places, int count, int inputs, const float* weights,
                               int outputs, float* out) {
  some<16>(in, places, count, inputs, weights, outputs, out);
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
  if (has_avx512()) return avx512;
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

std::vector<WholeProducts> whole_products() {
  std::vector<WholeProducts> all = {{pairs_plain, whole_plain}};
#if defined(__x86_64__)
  if (has_avx2()) all.push_back({pairs_avx2, whole_avx2});
  if (has_avx512()) all.push_back({pairs_avx512, whole_avx512});
#endif
  return all;
}

int add_rows(const int16_t* first, const int16_t* const* rows, int count, int size, int16_t* units, uint16_t* places) {
  static const auto kAdd = whole_products().back().add_rows;
  return kAdd(first, rows, count, size, units, places);
}

void multiply_whole(const int16_t* units, const uint16_t* places, int count, int inputs, const int16_t* weights,
                    int outputs, int32_t* out) {
  static const auto kMultiply = whole_products().back().multiply;
  kMultiply(units, places, count, inputs, weights, outputs, out);
}

Chances chances_of(std::array<float, 3> wdl) {
  const float most = std::max({wdl[0], wdl[1], wdl[2]});
  for (float& w : wdl) w = std::exp(w - most);
  const float sum = wdl[0] + wdl[1] + wdl[2];
  return {(wdl[0] - wdl[2]) / sum, wdl[1] / sum};
}

}  // namespace tesuji
