#include "product.hpp"

#include <algorithm>
#include <cmath>

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

using Products = void (*)(const float*, int, int, const float*, int, float*);

#if defined(__x86_64__)
TESUJI_AVX2 void products_avx2(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  products<8, 6>(in, rows, inputs, weights, outputs, out);
}
[[gnu::target("avx512f")]] void products_avx512(const float* in, int rows, int inputs, const float* weights,
                                                int outputs, float* out) {
  products<16, 12>(in, rows, inputs, weights, outputs, out);
}
#endif
void products_plain(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  products<4, 2>(in, rows, inputs, weights, outputs, out);
}

Products best_products() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return products_avx512;
  if (has_avx2()) return products_avx2;
#endif
  return products_plain;
}

}  // namespace

void multiply(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  static const Products kProducts = best_products();
  kProducts(in, rows, inputs, weights, outputs, out);
}

float value_of(std::array<float, 3> wdl) {
  const float most = std::max({wdl[0], wdl[1], wdl[2]});
  for (float& w : wdl) w = std::exp(w - most);
  return (wdl[0] - wdl[2]) / (wdl[0] + wdl[1] + wdl[2]);
}

}  // namespace tesuji
