// NoGo: stones as in Go, but nobody may capture, nor take his own chain's last liberty; who cannot move loses.
#pragma once

#include <array>
#include <cmath>

#include "stones.hpp"

namespace tesuji {

template <int N>
class NoGo {
  using Cells = Bits<N * N>;

 public:
  static constexpr int kVersion = 1;
  static constexpr Grid kGrid{.rows = N, .cols = N, .skips_i = true};
  static constexpr Symmetry kSymmetry = Symmetry::square;
  static constexpr Look kLook = Look::crossings;
  static constexpr int kActions = N * N;
  static constexpr int kMaxPlies = N * N;
  static constexpr int locate(int action) { return action; }

  int to_play() const { return mover_; }
  Cells legal() const { return legal_for(mover_, stones_.atari()); }

  void play(int action) {
    stones_.place(mover_, action, [](int) {});
    mover_ = 1 - mover_;
    before_ = last_;
    last_ = static_cast<int16_t>(action);
  }

  Result result() const {
    const Cells open = stones_.empty();
    for (int i = 0; i < Cells::kWords; ++i) {
      for (uint64_t word = open.words[i]; word; word &= word - 1) {
        if (allowed(mover_, 64 * i + std::countr_zero(word))) return Result::ongoing;
      }
    }
    return mover_ == 0 ? Result::second : Result::first;
  }

  /// Of each empty cell: who alone could still play there.
  void ownership(int8_t* cells) const {
    const auto atari = stones_.atari();
    const Cells first = legal_for(0, atari), second = legal_for(1, atari);
    for (int cell = 0; cell < N * N; ++cell) cells[cell] = static_cast<int8_t>(first.test(cell) - second.test(cell));
  }

  /// Cells where one player alone may move are moves in reserve; who has more of them outlasts the other. A cell that
  /// his stones alone surround counts once more, as the other can never play there.
  double heuristic() const {
    int reserve = 0, shared = 0;
    stones_.empty().each([&](int cell) {
      const auto [first, second] = stones_.meetings(cell);
      const bool free[2] = {first.breathes && !first.captures, second.breathes && !second.captures};
      reserve += free[0] - free[1];
      shared += free[0] && free[1];
      if (!first.beside_empty) reserve += !second.beside_own - !first.beside_own;
    });
    const double lead = reserve / (1.5 + 0.1 * shared);
    return lead / (1 + std::abs(lead));
  }

  static constexpr std::array kPlanes = {
      "own stones",
      "other's stones",
      "legal moves",
      "cells where the other could play, were it his move",
      "own chains with one liberty",
      "other's chains with one liberty",
      "own chains with two liberties",
      "other's chains with two liberties",
      "last move",
      "move before it",
  };
  static constexpr std::array<const char*, 0> kScalars{};
  void encode(Planes& out) const {
    const int other = 1 - mover_;
    const auto levels = stones_.by_liberties();
    out.put(0, stones_.of(mover_));
    out.put(1, stones_.of(other));
    const std::array atari = {levels[0][0], levels[1][0]};
    out.put(2, legal_for(mover_, atari));
    out.put(3, legal_for(other, atari));
    for (int k = 0; k < 2; ++k) {
      out.put(4 + 2 * k, levels[mover_][k]);
      out.put(5 + 2 * k, levels[other][k]);
    }
    out.set_if(8, last_);
    out.set_if(9, before_);
  }

  // Study N: the board, white stones, black stones, side to move.
  static constexpr std::array kPaperPlanes = {"all stones", "Second's stones", "First's stones",
                                              "First to move (all or none)"};
  void encode_paper(Planes& out) const {
    out.put(0, stones_.of(0) | stones_.of(1));
    out.put(1, stones_.of(1));
    out.put(2, stones_.of(0));
    if (mover_ == 0) out.put(3, Cells::all());
  }

  char glyph(int cell) const { return stones_.glyph(cell); }
  const char* objection(int action) const {
    if (!stones_.is_empty(action)) return "that point is taken";
    return stones_.meeting(mover_, action).captures ? "it would capture"
                                                    : "it would leave its own chain without a liberty";
  }
  uint64_t hash() const { return stones_.hash() ^ mover_; }

  int playout(Random& random) {
    // A cell once forbidden to a player stays so (nothing is ever captured): each draws from a deck of his own that
    // only shrinks.
    std::array<Deck<N * N>, 2> decks{Deck<N * N>(stones_.empty()), Deck<N * N>(stones_.empty())};
    for (int plies = 0;;) {
      auto& deck = decks[mover_];
      if (deck.size() == 0) return plies;
      const int cell = deck.draw(random);
      if (!stones_.is_empty(cell) || !allowed(mover_, cell)) continue;
      play(cell);
      ++plies;
    }
  }

  friend bool operator==(const NoGo&, const NoGo&) = default;

 private:
  Stones<N> stones_;
  uint8_t mover_ = 0;
  int16_t last_ = -1, before_ = -1;

  bool allowed(int player, int cell) const {
    const auto [breathes, captures] = stones_.meeting(player, cell);
    return breathes && !captures;
  }
  /// Where a stone has a liberty, its own or that of a chain it joins, and captures nothing; all cells at once.
  Cells legal_for(int player, const std::array<Cells, 2>& atari) const {
    const Cells open = stones_.empty(), safe = stones_.of(player) & ~atari[player];
    return open & stones_.spread(open | safe) & ~stones_.spread(atari[1 - player]);
  }
};

}  // namespace tesuji
