// Go: area score, suicide forbidden, positional superko (no move recreates an earlier whole-board position).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "stones.hpp"

namespace tesuji {

template <int N>
class Go {
  using Cells = Bits<N * N>;

 public:
  static constexpr int kVersion = 1;
  static constexpr Grid kGrid{.rows = N, .cols = N, .skips_i = true};
  static constexpr Symmetry kSymmetry = Symmetry::square;
  static constexpr Look kLook = Look::crossings;
  static constexpr int kPass = N * N;
  static constexpr int kActions = N * N + 1;
  static constexpr int kMaxPlies = 4 * N * N;  // far beyond what players with a purpose need
  static constexpr int locate(int action) { return action == kPass ? -1 : action; }

  static constexpr std::array kNumbers = {
      Number{"komi", N == 9 ? 7.0 : 7.5, 0, N * N, 0.5, "points that Second gets for moving second"}};
  double number(int) const { return komi_; }
  void set_number(int, double value) { komi_ = static_cast<float>(value); }

  int to_play() const { return mover_; }

  Bits<kActions> legal() const {
    Bits<kActions> moves;
    if (over()) return moves;
    const Cells cells = allowed();
    std::copy(cells.words.begin(), cells.words.end(), moves.words.begin());
    moves.set(kPass);
    return moves;
  }

  void play(int action) {
    ++plies_;
    before_ = last_;
    last_ = static_cast<int16_t>(action);
    if (action == kPass) {
      ++passes_;
    } else {
      passes_ = 0;
      const int other = 1 - mover_;
      stones_.place(mover_, action, [&](int cell) {
        lost_[other].set(cell);
        position_ ^= stones_.key(other, cell);
      });
      position_ ^= stones_.key(mover_, action);
      history_.add(position_);
    }
    mover_ = 1 - mover_;
  }

  Result result() const { return over() ? result_of(score()) : Result::ongoing; }

  double score() const {
    const auto [first, second] = areas();
    return first.count() - second.count() - komi_;
  }
  void ownership(int8_t* cells) const {
    const auto [first, second] = areas();
    for (int cell = 0; cell < N * N; ++cell) cells[cell] = static_cast<int8_t>(first.test(cell) - second.test(cell));
  }

  /// A guess at the area: every cell to whose stones are nearer, what can be captured at once to the other, and a
  /// little for liberties.
  double heuristic() const {
    const Cells open = stones_.empty();
    std::array<Cells, 2> near{stones_.of(0), stones_.of(1)};
    Cells left = open;
    for (int step = 0; step < N && left.any(); ++step) {
      const Cells first = Stones<N>::spread(near[0]) & left, second = Stones<N>::spread(near[1]) & left;
      near[0] |= first & ~second;
      near[1] |= second & ~first;
      left &= ~(first | second);
    }
    const auto liberties = [&](int player) { return (Stones<N>::spread(stones_.of(player)) & open).count(); };
    const int side = mover_ == 0 ? 1 : -1;
    double lead = near[0].count() - near[1].count() - komi_ + 0.15 * (liberties(0) - liberties(1));
    // The mover captures; the other may still escape.
    lead += side * (1.7 * stones_.in_atari(1 - mover_) - 0.5 * stones_.in_atari(mover_));
    lead = (lead + side) / N;
    return lead / (1 + std::abs(lead));
  }

  /// Everything but filling one's own eyes.
  bool candidates(Bits<kActions>& moves) const {
    moves.set(kPass);
    stones_.empty().each([&](int cell) {
      if (!stones_.is_eye(mover_, cell) && allowed(cell)) moves.set(cell);
    });
    return false;
  }

  static constexpr std::array kPlanes = {
      "own stones",
      "other's stones",
      "legal moves (pass apart)",
      "own chains with one liberty",
      "other's chains with one liberty",
      "own chains with two liberties",
      "other's chains with two liberties",
      "own chains with three liberties",
      "other's chains with three liberties",
      "mover's area, were the game to end now",
      "other's area, were the game to end now",
      "last move",
      "move before it",
  };
  static constexpr std::array kScalars = {"komi in the mover's favour, in units of 10 points",
                                          "1 if the other has just passed"};
  void encode(Planes& out) const {
    const int other = 1 - mover_;
    const auto levels = stones_.by_liberties();
    out.put(0, stones_.of(mover_));
    out.put(1, stones_.of(other));
    put_legal(out, 2);
    for (int k = 0; k < 3; ++k) {
      out.put(3 + 2 * k, levels[mover_][k]);
      out.put(4 + 2 * k, levels[other][k]);
    }
    const auto areas = this->areas();
    out.put(9, areas[mover_]);
    out.put(10, areas[other]);
    put_last(out, 11);
    out.scalar(0, (mover_ == 1 ? komi_ : -komi_) / 10);
    out.scalar(1, passes_ == 1);
  }

  // Study W: seven planes.
  static constexpr std::array kPaperPlanes = {"own stones",
                                              "other's stones",
                                              "empty points",
                                              "last move",
                                              "move before it",
                                              "legal moves",
                                              "First to move (all or none)"};
  void encode_paper(Planes& out) const {
    out.put(0, stones_.of(mover_));
    out.put(1, stones_.of(1 - mover_));
    out.put(2, stones_.empty());
    put_last(out, 3);
    put_legal(out, 5);
    if (mover_ == 0) out.put(6, Cells::all());
  }

  char glyph(int cell) const { return stones_.glyph(cell); }
  const char* objection(int action) const {
    if (!stones_.is_empty(action)) return "that point is taken";
    if (!stones_.lives(mover_, action)) return "it would be suicide";
    return "it would recreate an earlier position (superko)";
  }

  static constexpr bool kHashForgets = true;  // what superko forbids, and how near the longest game is
  uint64_t hash() const { return mix(position_ + static_cast<uint64_t>(2 * komi_)) ^ (2 * passes_ + mover_); }

  /// A sensible random game: nobody fills his own eyes, and who has no other move passes.
  static constexpr bool kWisePlayout = true;
  int playout(Random& random) {
    const int before = plies_;
    while (!over()) play(random_sensible(random));
    return plies_ - before;
  }
  int random_legal(Random& random) const {
    const Cells open = stones_.empty();
    const int count = open.count();
    while (true) {
      const int k = random.below(count + 1);
      if (k == count) return kPass;
      if (const int cell = open.nth(k); allowed(cell)) return cell;
    }
  }

  friend bool operator==(const Go&, const Go&) = default;

 private:
  /// The positions so far, by hash. Copies only what it holds.
  class History {
   public:
    History() { add(0); }  // the empty board
    History(const History& o) { *this = o; }
    History& operator=(const History& o) {
      count_ = o.count_;
      std::copy_n(o.positions_.begin(), count_, positions_.begin());
      return *this;
    }
    void add(uint64_t position) { positions_[count_++] = position; }
    bool has(uint64_t position) const {
      uint64_t found = 0;
      for (int i = 0; i < count_; ++i) found |= positions_[i] == position;
      return found != 0;
    }
    friend bool operator==(const History& a, const History& b) {
      return std::equal(a.positions_.begin(), a.positions_.begin() + a.count_, b.positions_.begin(),
                        b.positions_.begin() + b.count_);
    }

   private:
    int count_ = 0;
    std::array<uint64_t, kMaxPlies + 1> positions_;
  };

  Stones<N> stones_;
  uint64_t position_ = 0;        // hash of the stones
  std::array<Cells, 2> lost_{};  // where a player's stones were ever captured
  float komi_ = static_cast<float>(kNumbers[0].initial);
  int16_t plies_ = 0;
  int16_t last_ = -1, before_ = -1;
  uint8_t mover_ = 0, passes_ = 0;
  History history_;

  bool over() const { return passes_ == 2 || plies_ >= kMaxPlies; }

  /// A stone that recreates a position stood there in that position, and was captured since: elsewhere there is nothing
  /// to look up.
  bool repeats(int cell) const {
    if (!lost_[mover_].test(cell)) return false;
    uint64_t position = position_ ^ stones_.key(mover_, cell);
    stones_.each_captured(mover_, cell, [&](int stone) { position ^= stones_.key(1 - mover_, stone); });
    return history_.has(position);
  }
  bool allowed(int cell) const { return stones_.lives(mover_, cell) && !repeats(cell); }
  Cells allowed() const {
    Cells cells = stones_.living(mover_);
    (cells & lost_[mover_]).each([&](int cell) {
      if (repeats(cell)) cells.reset(cell);
    });
    return cells;
  }

  /// Of each player: his stones, and the empty cells that only his stones reach.
  std::array<Cells, 2> areas() const {
    const Cells first = stones_.reach(0), second = stones_.reach(1);
    return {first & ~second, second & ~first};
  }

  int random_sensible(Random& random) const {
    Cells open = stones_.empty();
    for (int left = open.count(); left > 0; --left) {
      const int cell = open.nth(random.below(left));
      if (!stones_.is_eye(mover_, cell) && allowed(cell)) return cell;
      open.reset(cell);
    }
    return kPass;
  }

  void put_legal(Planes& out, int plane) const {
    if (!over()) out.put(plane, allowed());
  }
  void put_last(Planes& out, int plane) const {
    for (const int action : {last_, before_}) out.set_if(plane++, action < 0 ? -1 : locate(action));
  }
};

}  // namespace tesuji
