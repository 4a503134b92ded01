// Random numbers: small, fast, the same on every machine for the same seed.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "bits.hpp"

namespace tesuji {

/// Scrambles a number: equal inputs give equal outputs, near inputs give unrelated ones.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A counter whose 128-bit square-like product is folded: one multiplication a number.
class Random {
 public:
  explicit Random(uint64_t seed) : counter_(mix(seed)) {}

  uint64_t next() {
    counter_ += 0xa0761d6478bd642fu;
    const auto product = static_cast<unsigned __int128>(counter_) * (counter_ ^ 0xe7037ed1a0b428dbu);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  /// 0 … n−1. Each value's chance is off by less than n / 2³².
  int below(int n) { return static_cast<int>((next() >> 32) * static_cast<uint64_t>(n) >> 32); }
  /// Between 0 and 1, never either.
  double real() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  /// From the normal distribution.
  double normal() {
    const double size = std::sqrt(-2 * std::log(real()));
    return size * std::cos(6.283185307179586 * real());
  }

 private:
  uint64_t counter_;
};

/// Cards 0 … N−1 drawn at random without putting back.
template <int N>
class Deck {
 public:
  using Card = std::conditional_t<(N <= 256), uint8_t, uint16_t>;

  explicit Deck(const Bits<N>& cards) {
    if (cards == Bits<N>::all()) {
      cards_ = kSorted;
      size_ = N;
    } else {
      cards.each([&](int card) { cards_[size_++] = static_cast<Card>(card); });
    }
  }
  int size() const { return size_; }
  int draw(Random& random) {
    const int at = random.below(size_);
    const int card = cards_[at];
    cards_[at] = cards_[--size_];
    return card;
  }

 private:
  static constexpr int kRoom = 64 * Bits<N>::kWords;  // so that compilers see that every set of bits fits
  static constexpr std::array<Card, kRoom> kSorted = [] {
    std::array<Card, kRoom> cards{};
    for (int i = 0; i < N; ++i) cards[i] = static_cast<Card>(i);
    return cards;
  }();
  std::array<Card, kRoom> cards_;
  int size_ = 0;
};

}  // namespace tesuji
