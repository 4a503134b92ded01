// Eight floats side by side, and code that is compiled twice: for processors with AVX2 and for all others.
#pragma once

namespace tesuji {

constexpr int kLanes = 8;

using Vector [[gnu::vector_size(kLanes * sizeof(float)), gnu::may_alias, gnu::aligned(4)]] = float;

[[gnu::always_inline]] inline Vector load(const float* at) { return *reinterpret_cast<const Vector*>(at); }
[[gnu::always_inline]] inline void store(float* at, Vector v) { *reinterpret_cast<Vector*>(at) = v; }

#if defined(__x86_64__)
#define TESUJI_AVX2 [[gnu::target("avx2,fma")]]
inline bool has_avx2() {
  static const bool kHas = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return kHas;
}
inline bool has_avx512() {
  static const bool kHas = has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  return kHas;
}
#endif

}  // namespace tesuji
