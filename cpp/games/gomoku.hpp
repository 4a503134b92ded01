// Gomoku, freestyle: K or more stones in a row, column or diagonal win; a full board is a draw.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

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

  [[gnu::always_inline]] inline void play(int action) {  // a call costs random games 5–10 %
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

  /// The stones of the rows that won.
  Bits<N * N> line() const {
    Bits<N * N> cells;
    for (int cell = 0; cell < N * N; ++cell) {
      for (const Direction direction : {kRow, kCol, kDown, kUp}) {
        const auto [line, at] = place(direction, cell / N, cell % N);
        for (int player = 0; player < 2; ++player) {
          unsigned starts = runs<1>(lines_[player][direction][line]), stones = 0;
          for (; starts; starts &= starts - 1) stones |= ((1u << K) - 1) << std::countr_zero(starts);
          if (stones >> at & 1) cells.set(cell);
        }
      }
    }
    return cells;
  }

  /// Counts the windows of K cells that one player alone has stones in, by how many they are.
  double heuristic() const {
    constexpr auto kWorth = [] {  // [stones in the window]
      std::array<double, K> worth{};
      for (int k = 1; k < K; ++k) worth[k] = k == 1 ? 1 : 4 * worth[k - 1];
      return worth;
    }();
    std::array<double, 2> sum{};
    std::array<int, 2> fours{}, open_threes{};
    each_word([&](int direction, int at, const std::array<uint64_t, 2>& stones) {
      for (int player = 0; player < 2; ++player) {
        const Windows w = windows(direction, at, stones[player], stones[1 - player]);
        for (int k = 1; k < K; ++k) sum[player] += kWorth[k] * std::popcount(w.open & w.holding(k));
        fours[player] += std::popcount(w.open & w.holding(K - 1));
        open_threes[player] += std::popcount(open_three(w, stones[player] | stones[1 - player]));
      }
    });
    // Who moves completes his row, or stops the other's; then makes an open four, or stops the other's.
    const int mover = to_play(), side = mover == 0 ? 1 : -1;
    if (fours[mover]) return 0.99 * side;
    if (fours[1 - mover] > 1) return -0.98 * side;
    double lead = (sum[mover] - sum[1 - mover]) / (10 * kWorth[K - 2]) + 0.15;
    if (!fours[1 - mover] && open_threes[mover]) lead += 6;
    if (open_threes[1 - mover] > 1 && !open_threes[mover]) lead -= 3;
    return 0.97 * side * lead / (1 + std::abs(lead));
  }

  /// A move that wins, else those that stop the other from winning at once, are all there is; else the cells near a
  /// stone are worth looking at.
  static constexpr bool kForcing = true;
  bool candidates(Bits<N * N>& moves) const {
    for (const int player : {to_play(), 1 - to_play()}) {
      moves = completions(player);
      if (moves.none()) continue;
      moves = Bits<N * N>::single(moves.nth(0));  // which of them is all one: it wins, or cannot stop the others
      return true;
    }
    std::array<unsigned, N + 4> near{};  // by row, two rows of rim at each side
    constexpr unsigned kWhole = (1u << N) - 1;
    for (int row = 0; row < N; ++row) {
      const unsigned taken = lines_[0][kRow][row] | lines_[1][kRow][row];
      near[row + 2] = taken | taken << 1 | taken << 2 | taken >> 1 | taken >> 2;
    }
    bool all = true;
    for (int row = 0; row < N; ++row) {
      const unsigned free = kWhole & ~(lines_[0][kRow][row] | lines_[1][kRow][row]);
      const unsigned worth = (near[row] | near[row + 1] | near[row + 2] | near[row + 3] | near[row + 4]) & free;
      all &= worth == free;
      for (unsigned cols = worth; cols; cols &= cols - 1) moves.set(row * N + std::countr_zero(cols));
    }
    if (plies_ == 0 && N > 5) moves.set(N / 2 * N + N / 2);
    if (moves.any()) return all;
    moves = legal();
    return true;
  }

  /// The mover wins where he can make K − 1 in a row again and again, each time leaving the other a single answer,
  /// until there are two cells to complete. Looks at so many positions at most.
  Verdict verdict() const {
    int left = kPositions, move = -1;
    const int plies = force(left, move);
    if (plies == 0) return {};
    return {Bounds::of(to_play() == 0 ? 1 : -1), plies, move};
  }

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

  // Several lines fit a word, side by side. Windows are named by the bit of their first cell; one that would reach into
  // the next line is none (kStarts).
  static constexpr int kWidth = 8 * sizeof(Line), kPerWord = 64 / kWidth;
  static constexpr int kWordCount = (2 * N - 1 + kPerWord - 1) / kPerWord;
  using Packed = std::array<uint64_t, kWordCount>;

  static Packed pack(const std::array<Line, 2 * N - 1>& lines) {
    static_assert(std::endian::native == std::endian::little);
    Packed words{};
    std::memcpy(words.data(), lines.data(), sizeof(lines));
    return words;
  }
  template <class Visit>
  void each_word(Visit visit) const {
    for (int direction = 0; direction < 4; ++direction) {
      const Packed first = pack(lines_[0][direction]), second = pack(lines_[1][direction]);
      for (int at = 0; at < kWordCount; ++at) {
        if (first[at] | second[at]) visit(direction, at, std::array{first[at], second[at]});
      }
    }
  }

  struct Windows {
    uint64_t open;            // without a stone of the other's
    uint64_t one, two, four;  // bits of how many own stones they hold
    uint64_t holding(int k) const { return (k & 1 ? one : ~one) & (k & 2 ? two : ~two) & (k & 4 ? four : ~four); }
  };
  static Windows windows(int direction, int at, uint64_t own, uint64_t others) {
    static_assert(K < 8);
    Windows w{0, 0, 0, 0};
    uint64_t blocked = 0;
    for (int i = 0; i < K; ++i) {
      const uint64_t stone = own >> i, carry = w.one & stone;
      w.one ^= stone;
      w.four |= w.two & carry;
      w.two ^= carry;
      blocked |= others >> i;
    }
    w.open = starts()[direction][at] & ~blocked;
    return w;
  }
  /// Where an empty cell begins K cells of which K − 2 are own stones, the first and the last but one are not, and the
  /// next is free as well: filled, they make K − 1 with both ends open.
  static uint64_t open_three(const Windows& w, uint64_t taken) {
    return w.open & w.open >> 1 & w.holding(K - 2) & ~taken & ~(taken >> K) & w.holding(K - 2) >> 1;
  }

  static const std::array<Packed, 4>& starts() {
    static const auto kStarts = [] {
      std::array<Packed, 4> packed;
      for (int direction = 0; direction < 4; ++direction) {
        std::array<Line, 2 * N - 1> lines{};
        for (int cell = 0; cell < N * N; ++cell) {
          const int row = cell / N, col = cell % N;
          const auto [line, at] = place(static_cast<Direction>(direction), row, col);
          lines[line] = static_cast<Line>(lines[line] | 1u << at);  // every cell of the line
        }
        for (auto& line : lines) line = static_cast<Line>(runs<1>(line));
        packed[direction] = pack(lines);
      }
      return packed;
    }();
    return kStarts;
  }

  /// The first free cell at or after a bit of a word of lines, counted in the word's bits; and the board's cell there.
  static int free_bit(uint64_t own, int bit) { return bit + std::countr_one(own >> bit); }
  static int cell_at(int direction, int at, int bit) {
    const int line = at * kPerWord + bit / kWidth, along = bit % kWidth;
    const int row = direction == kRow    ? line
                    : direction == kCol  ? along
                    : direction == kDown ? line + along - (N - 1)
                                         : line - along;
    return row * N + (direction == kCol ? line : along);
  }

  /// Every cell that completes K in a row for a player.
  Bits<N * N> completions(int player) const {
    Bits<N * N> cells;
    each_word([&](int direction, int at, const std::array<uint64_t, 2>& stones) {
      const uint64_t own = stones[player];
      const Windows w = windows(direction, at, own, stones[1 - player]);
      for (uint64_t found = w.open & w.holding(K - 1); found; found &= found - 1)
        cells.set(cell_at(direction, at, free_bit(own, std::countr_zero(found))));
    });
    return cells;
  }

  /// Plies to the mover's win by moves that must be answered, and the first of them; 0: none was found. Takes one from
  /// `left` for every position it looks at.
  static constexpr int kPositions = 64;
  int force(int& left, int& move) const {
    --left;
    const int mover = to_play();
    struct Pair {
      int16_t one, other;  // two cells that complete K together
    };
    std::array<Pair, 48> pairs;
    size_t count = 0;
    Bits<N * N> mine, others;  // cells that complete K
    each_word([&](int direction, int at, const std::array<uint64_t, 2>& stones) {
      const uint64_t own = stones[mover];
      const Windows w = windows(direction, at, own, stones[1 - mover]);
      for (uint64_t found = w.open & w.holding(K - 1); found; found &= found - 1)
        mine.set(cell_at(direction, at, free_bit(own, std::countr_zero(found))));
      for (uint64_t found = w.open & w.holding(K - 2); found && count < pairs.size(); found &= found - 1) {
        const int one = free_bit(own, std::countr_zero(found)), other = free_bit(own, one + 1);
        pairs[count++] = {static_cast<int16_t>(cell_at(direction, at, one)),
                          static_cast<int16_t>(cell_at(direction, at, other))};
      }
      const Windows theirs = windows(direction, at, stones[1 - mover], own);
      for (uint64_t found = theirs.open & theirs.holding(K - 1); found; found &= found - 1)
        others.set(cell_at(direction, at, free_bit(stones[1 - mover], std::countr_zero(found))));
    });
    if (mine.any()) {
      move = mine.nth(0);
      return 1;
    }
    const int threats = others.count();
    if (threats > 1) return 0;
    Bits<N * N> tried;
    for (size_t i = 0; i < count; ++i) {
      for (const auto [here, answer] : {pairs[i], Pair{pairs[i].other, pairs[i].one}}) {
        if (tried.test(here) || (threats == 1 && !others.test(here))) continue;
        if (left <= 0) return 0;
        tried.set(here);
        Gomoku next = *this;
        next.play(here);
        next.play(answer);
        if (next.result_ != Result::ongoing) continue;
        int after;
        if (const int plies = next.force(left, after)) {
          move = here;
          return plies + 2;
        }
      }
    }
    return 0;
  }

  /// The line of a direction that a cell lies on, and the cell's bit in it.
  static constexpr std::pair<int, int> place(Direction direction, int row, int col) {
    switch (direction) {
      case kRow: return {row, col};
      case kCol: return {col, row};
      case kDown: return {row - col + N - 1, col};
      case kUp: return {row + col, col};
    }
    return {};
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
