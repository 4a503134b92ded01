// Gomoku, freestyle: K or more stones in a row, column or diagonal win; a full board is a draw.
#pragma once

#include <algorithm>
#include <array>

#include "../core/game.hpp"

namespace tesuji {

template <int N, int K>
class Gomoku {
  static_assert(3 <= K && K <= N && N <= 16);

 public:
  static constexpr int kVersion = 1;
  static constexpr Grid kGrid{.rows = N, .cols = N};
  static constexpr Symmetry kSymmetry = Symmetry::square;
  static constexpr Look kLook = Look::crossings;
  static constexpr int kActions = N * N;
  static constexpr int kMaxPlies = N * N;
  static constexpr int locate(int action) { return action; }

  int to_play() const { return plies_ % 2; }
  Bits<N * N> legal() const { return result_ == Result::ongoing ? ~(stones(0) | stones(1)) : Bits<N * N>{}; }

  void play(int action) {
    const int player = to_play(), row = action / N, col = action % N;
    ++plies_;
    before_ = last_;
    last_ = static_cast<int16_t>(action);
    // The four lines through the cell, each with the bit of its column (of its row in a column).
    const bool run = add(player, kRow, row, col) | add(player, kCol, col, row) |
                     add(player, kDown, row - col + N - 1, col) | add(player, kUp, row + col, col);
    if (run) {
      result_ = player == 0 ? Result::first : Result::second;
    } else if (plies_ == N * N) {
      result_ = Result::draw;
    }
  }

  Result result() const { return result_; }

  static constexpr std::array kPlanes = {"own stones", "other's stones", "legal moves (empty cells)", "last move",
                                         "move before it"};
  static constexpr std::array<const char*, 0> kScalars{};
  void encode(Planes& out) const {
    out.put(0, stones(to_play()));
    out.put(1, stones(1 - to_play()));
    out.put(2, legal());
    out.set_if(3, last_);
    out.set_if(4, before_);
  }

  // Study G: the board from the mover's side, nothing more.
  static constexpr std::array kPaperPlanes = {"own stones", "other's stones"};
  void encode_paper(Planes& out) const {
    out.put(0, stones(to_play()));
    out.put(1, stones(1 - to_play()));
  }

  char glyph(int cell) const {
    const int row = cell / N, col = cell % N;
    return lines_[0][kRow][row] >> col & 1 ? 'X' : lines_[1][kRow][row] >> col & 1 ? 'O' : '.';
  }
  const char* objection(int) const { return "that cell is taken"; }

  uint64_t hash() const {
    uint64_t h = 0;
    for (int row = 0; row < N; ++row)
      h = mix(h ^ (uint64_t{lines_[0][kRow][row]} << 32 | uint64_t{lines_[1][kRow][row]} << 8));
    return h;
  }

  int playout(Random& random) {
    const int before = plies_;
    if (result_ == Result::ongoing) {
      for (Deck<N * N> deck(legal()); result_ == Result::ongoing;) play(deck.draw(random));
    }
    return plies_ - before;
  }

  friend bool operator==(const Gomoku&, const Gomoku&) = default;

 private:
  using Line = std::conditional_t<(N <= 8), uint8_t, uint16_t>;
  enum Direction { kRow, kCol, kDown, kUp };

  // lines_[player][direction][line]: the player's stones on one line of the board, a bit each.
  std::array<std::array<std::array<Line, 2 * N - 1>, 4>, 2> lines_{};
  int16_t plies_ = 0;
  int16_t last_ = -1, before_ = -1;
  Result result_ = Result::ongoing;

  /// Adds a stone to one line; whether that line now holds K in a row.
  bool add(int player, Direction direction, int line, int at) {
    auto& stones = lines_[player][direction][line];
    stones = static_cast<Line>(stones | 1u << at);
    return runs<1>(stones) != 0;
  }

  /// Where K in a row begin, of a line in which `starts` says where `kLength` in a row begin.
  template <int kLength>
  static constexpr unsigned runs(unsigned starts) {
    if constexpr (kLength == K) {
      return starts;
    } else {
      constexpr int kStep = std::min(kLength, K - kLength);
      return runs<kLength + kStep>(starts & starts >> kStep);
    }
  }

  Bits<N * N> stones(int player) const {
    Bits<N * N> cells;
    for (int row = 0; row < N; ++row) {
      const uint64_t line = lines_[player][kRow][row];
      const int at = row * N;
      cells.words[at / 64] |= line << (at % 64);
      if (at % 64 + N > 64) cells.words[at / 64 + 1] |= line >> (64 - at % 64);
    }
    return cells;
  }
};

}  // namespace tesuji
