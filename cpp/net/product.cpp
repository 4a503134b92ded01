#include "product.hpp"

#include <algorithm>
#include <cmath>

#include "vector.hpp"

namespace tesuji {

namespace {

/// `kRows` rows of [rows, inputs] times [inputs, 16].
template <int kRows>
[[gnu::always_inline]] inline void product(const float* rows, int inputs, const float* columns, float* to, int pitch) {
  Vector sum[kRows][2] = {};
  for (int k = 0; k < inputs; ++k) {
    const Vector left = load(columns + k * kColumns), right = load(columns + k * kColumns + kLanes);
#pragma GCC unroll 6
    for (int row = 0; row < kRows; ++row) {
      const float x = rows[row * inputs + k];
      sum[row][0] += left * x;
      sum[row][1] += right * x;
    }
  }
#pragma GCC unroll 6
  for (int row = 0; row < kRows; ++row) {
    store(to + row * pitch, sum[row][0]);
    store(to + row * pitch + kLanes, sum[row][1]);
  }
}

[[gnu::always_inline]] inline void products(const float* in, int rows, int inputs, const float* weights, int outputs,
                                            float* out) {
  for (int at = 0; at < outputs; at += kColumns, weights += inputs * kColumns) {
    int row = 0;
    for (; row + 6 <= rows; row += 6) product<6>(in + row * inputs, inputs, weights, out + row * outputs + at, outputs);
    const float* rest = in + row * inputs;
    float* to = out + row * outputs + at;
    switch (rows - row) {
      case 5: product<5>(rest, inputs, weights, to, outputs); break;
      case 4: product<4>(rest, inputs, weights, to, outputs); break;
      case 3: product<3>(rest, inputs, weights, to, outputs); break;
      case 2: product<2>(rest, inputs, weights, to, outputs); break;
      case 1: product<1>(rest, inputs, weights, to, outputs); break;
    }
  }
}

#if defined(__x86_64__)
TESUJI_AVX2 void products_avx2(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
  products(in, rows, inputs, weights, outputs, out);
}
#endif

}  // namespace

void multiply(const float* in, int rows, int inputs, const float* weights, int outputs, float* out) {
#if defined(__x86_64__)
  if (has_avx2()) return products_avx2(in, rows, inputs, weights, outputs, out);
#endif
  products(in, rows, inputs, weights, outputs, out);
}

float value_of(std::array<float, 3> wdl) {
  const float most = std::max({wdl[0], wdl[1], wdl[2]});
  for (float& w : wdl) w = std::exp(w - most);
  return (wdl[0] - wdl[2]) / (wdl[0] + wdl[1] + wdl[2]);
}

}  // namespace tesuji
