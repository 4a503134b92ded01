// A fixed set of small integers: cells of a board, or actions of a game.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace tesuji {

/// The position of set bit number `k` (from 0, lowest first) of `word`; `word` has more than `k` bits set.
inline int nth_bit(uint64_t word, int k) {
#if defined(__BMI2__)
  return std::countr_zero(_pdep_u64(uint64_t{1} << k, word));
#else
  // Halve the search five times: how many bits lie in the lower half?
  int at = 0;
  for (int width = 32; width >= 2; width /= 2) {
    const int below = std::popcount(word & ((uint64_t{1} << width) - 1));
    const bool above = k >= below;
    k -= above ? below : 0;
    at += above ? width : 0;
    word >>= above ? width : 0;
  }
  return at + ((word & 1) && k == 0 ? 0 : 1);
#endif
}

/// A set of nine (a bit each) as a number of base three: twice another set's added, it names a board of 3 × 3 cells.
inline constexpr auto kTernary = [] {
  std::array<uint16_t, 512> numbers{};
  for (unsigned set = 0; set < 512; ++set) {
    int digit = 1;
    for (int i = 0; i < 9; ++i, digit *= 3) numbers[set] = static_cast<uint16_t>(numbers[set] + (set >> i & 1) * digit);
  }
  return numbers;
}();

/// By a byte: which of its bits are set, lowest first; what follows is of no account.
inline constexpr auto kBitsOf = [] {
  std::array<std::array<uint8_t, 8>, 256> bits{};
  for (int byte = 0; byte < 256; ++byte) {
    for (int bit = 0, at = 0; bit < 8; ++bit) {
      if (byte >> bit & 1) bits[byte][at++] = static_cast<uint8_t>(bit);
    }
  }
  return bits;
}();

/// A subset of 0 … N−1. A plain value; loops over it run upwards.
template <int N>
struct Bits {
  static constexpr int kWords = (N + 63) / 64;
  static constexpr uint64_t kLastWord = N % 64 ? (uint64_t{1} << (N % 64)) - 1 : ~uint64_t{0};

  std::array<uint64_t, kWords> words{};

  static constexpr Bits all() {
    Bits b;
    for (auto& w : b.words) w = ~uint64_t{0};
    b.words[kWords - 1] = kLastWord;
    return b;
  }
  static constexpr Bits single(int i) {
    Bits b;
    b.set(i);
    return b;
  }

  constexpr void set(int i) { words[i / 64] |= uint64_t{1} << (i % 64); }
  constexpr void reset(int i) { words[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  constexpr bool test(int i) const { return words[i / 64] >> (i % 64) & 1; }

  constexpr int count() const {
    int n = 0;
    for (const auto w : words) n += std::popcount(w);
    return n;
  }
  constexpr bool any() const {
    uint64_t seen = 0;
    for (const auto w : words) seen |= w;
    return seen != 0;
  }
  constexpr bool none() const { return !any(); }

  /// Member number `k` (from 0, lowest first); the set has more than `k` members.
  int nth(int k) const {
    int i = 0;
    if constexpr (kWords > 1) {
      for (int here; k >= (here = std::popcount(words[i])); ++i) k -= here;
    }
    return 64 * i + nth_bit(words[i], k);
  }

  template <class Visit>
  constexpr void each(Visit visit) const {
    for (int i = 0; i < kWords; ++i) {
      for (uint64_t w = words[i]; w; w &= w - 1) visit(64 * i + std::countr_zero(w));
    }
  }

  constexpr Bits& operator|=(const Bits& o) {
    for (int i = 0; i < kWords; ++i) words[i] |= o.words[i];
    return *this;
  }
  constexpr Bits& operator&=(const Bits& o) {
    for (int i = 0; i < kWords; ++i) words[i] &= o.words[i];
    return *this;
  }
  friend constexpr Bits operator|(Bits a, const Bits& b) { return a |= b; }
  friend constexpr Bits operator&(Bits a, const Bits& b) { return a &= b; }
  constexpr Bits operator~() const {
    Bits b;
    for (int i = 0; i < kWords; ++i) b.words[i] = ~words[i];
    b.words[kWords - 1] &= kLastWord;
    return b;
  }

  /// Every member moved up by S; what passes N−1 falls off.
  template <int S>
  constexpr Bits up() const {
    static_assert(0 < S && S < 64);
    Bits b;
    for (int i = kWords - 1; i > 0; --i) b.words[i] = words[i] << S | words[i - 1] >> (64 - S);
    b.words[0] = words[0] << S;
    b.words[kWords - 1] &= kLastWord;
    return b;
  }
  /// Every member moved down by S; what passes 0 falls off.
  template <int S>
  constexpr Bits down() const {
    static_assert(0 < S && S < 64);
    Bits b;
    for (int i = 0; i + 1 < kWords; ++i) b.words[i] = words[i] >> S | words[i + 1] << (64 - S);
    b.words[kWords - 1] = words[kWords - 1] >> S;
    return b;
  }

  friend constexpr bool operator==(const Bits& a, const Bits& b) {
    uint64_t differ = 0;  // a loop of few words, where the default would call memcmp
    for (int i = 0; i < kWords; ++i) differ |= a.words[i] ^ b.words[i];
    return differ == 0;
  }
};

}  // namespace tesuji
