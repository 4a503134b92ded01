// Stones, chains and liberties on an N × N board: a part that Go and NoGo have.
#pragma once

#include <array>
#include <type_traits>

#include "../core/game.hpp"

namespace tesuji {

template <int N>
class Stones {
 public:
  static constexpr int kCells = N * N;
  using Cells = Bits<kCells>;

  const Cells& of(int player) const { return of_[player]; }
  Cells empty() const { return ~(of_[0] | of_[1]); }
  bool is_empty(int cell) const { return colour_[cell] == kEmpty; }

  /// What a stone at an empty cell would meet.
  struct Meeting {
    bool breathes;  // it, or the chain that it joins, has a liberty without any capture
    bool captures;  // it takes the last liberty of a chain of the other
  };
  Meeting meeting(int player, int cell) const {
    Meeting m{false, false};
    for (const int n : kNeighbours[cell]) {
      const int colour = colour_[n];
      if (colour == kEmpty) {
        m.breathes = true;
      } else if (colour < 2) {
        const bool atari = chains_[head_[n]].atari();
        m.breathes |= colour == player && !atari;
        m.captures |= colour != player && atari;
      }
    }
    return m;
  }

  /// What a stone of each player at an empty cell would meet, in one look.
  struct Side : Meeting {
    bool beside_own, beside_empty;
  };
  std::array<Side, 2> meetings(int cell) const {
    std::array<Side, 2> sides{};
    for (const int n : kNeighbours[cell]) {
      const int colour = colour_[n];
      if (colour == kEmpty) {
        sides[0].breathes = sides[1].breathes = true;
        sides[0].beside_empty = sides[1].beside_empty = true;
      } else if (colour < 2) {
        const bool atari = chains_[head_[n]].atari();
        sides[colour].beside_own = true;
        sides[colour].breathes |= !atari;
        sides[1 - colour].captures |= atari;
      }
    }
    return sides;
  }

  /// The stones of each player whose chains have one liberty.
  std::array<Cells, 2> atari() const {
    std::array<Cells, 2> found{};
    for (int player = 0; player < 2; ++player) {
      of_[player].each([&](int cell) {
        if (chains_[head_[cell]].atari()) found[player].set(cell);
      });
    }
    return found;
  }

  /// How many stones of a player could be captured at once.
  int in_atari(int player) const {
    int count = 0;
    of_[player].each([&](int cell) { count += chains_[head_[cell]].atari(); });
    return count;
  }

  /// Whether a stone at an empty cell has a liberty in the end: it breathes, or makes room by capturing.
  bool lives(int player, int cell) const {
    if ((kBeside[cell] & empty()).any()) return true;
    for (const int n : kNeighbours[cell]) {
      if (colour_[n] < 2 && (colour_[n] == player) != chains_[head_[n]].atari()) return true;
    }
    return false;
  }

  /// The empty cells where a stone of `player` lives.
  Cells living(int player) const {
    const Cells open = empty();
    Cells cells = open & spread(open);  // beside an empty cell; few others are left to look at
    (open & ~cells).each([&](int cell) {
      if (lives(player, cell)) cells.set(cell);
    });
    return cells;
  }

  /// Puts a stone on an empty cell; removes the other's chains that lose their last liberty, calling `removed(cell)`
  /// for each stone.
  template <class Removed>
  void place(int player, int cell, Removed removed) {
    // Step 1. The stone stands alone, and takes a liberty from every neighbour.
    colour_[cell] = static_cast<uint8_t>(player);
    of_[player].set(cell);
    head_[cell] = next_[cell] = static_cast<Index>(cell);
    Chain alone{};
    for (const int n : kNeighbours[cell]) {
      // No branch: what is no stone has the chain that nobody reads, and what is not empty adds nothing.
      chains_[head_[n]].lose(cell);
      if (colour_[n] == kEmpty) alone.gain(n);
    }
    chains_[cell] = alone;
    // Step 2. It joins its own chains, and the other's that cannot breathe leave the board.
    for (const int n : kNeighbours[cell]) {
      if (colour_[n] == player) {
        if (head_[n] != head_[cell]) join(head_[cell], head_[n]);
      } else if (colour_[n] == 1 - player && chains_[head_[n]].links == 0) {
        remove(n, removed);
      }
    }
  }

  template <class Visit>
  void each_of_chain(int cell, Visit visit) const {
    int at = cell;
    do {
      visit(at);
      at = next_[at];
    } while (at != cell);
  }

  /// Calls `visit(cell)` for every stone of every chain that a stone of `player` at `cell` would capture.
  template <class Visit>
  void each_captured(int player, int cell, Visit visit) const {
    std::array<int, 4> seen{-1, -1, -1, -1};
    int count = 0;
    for (const int n : kNeighbours[cell]) {
      if (colour_[n] != 1 - player || !chains_[head_[n]].atari()) continue;
      const int head = head_[n];
      if (head == seen[0] || head == seen[1] || head == seen[2]) continue;
      seen[count++] = head;
      each_of_chain(n, visit);
    }
  }

  /// levels[player][k]: the stones of chains with exactly k + 1 liberties, for k = 0 … 2.
  std::array<std::array<Cells, 3>, 2> by_liberties() const {
    std::array<std::array<Cells, 3>, 2> levels{};
    const Cells open = empty();
    for (int player = 0; player < 2; ++player) {
      of_[player].each([&](int cell) {
        if (head_[cell] != cell || chains_[cell].links > 4 * 3) return;  // no cell has more than four links
        Cells chain;
        each_of_chain(cell, [&](int stone) { chain.set(stone); });
        if (const int count = (spread(chain) & open).count(); count <= 3) levels[player][count - 1] |= chain;
      });
    }
    return levels;
  }

  /// Whether a cell is an eye of `player` that no sensible player fills: own stones (or the rim) at its sides, and at
  /// its corners at most one of the other's stones, none at the rim.
  bool is_eye(int player, int cell) const {
    if ((kBeside[cell] & ~of_[player]).any()) return false;
    int others = kNeighbours[cell][3] == kCells;  // a rim counts as one
    for (const int d : kDiagonals[cell]) others += colour_[d] == 1 - player;
    return others < 2;
  }

  /// The empty cells and stones of `player` that are joined to a stone of `player` through empty cells.
  Cells reach(int player) const {
    const Cells open = empty();
    Cells reached = of_[player];
    for (Cells wider;; reached = wider) {
      wider = reached | (spread(reached) & open);
      if (wider == reached) return reached;
    }
  }

  /// The cells beside a set of cells.
  static constexpr Cells spread(const Cells& cells) {
    return cells.template up<N>() | cells.template down<N>() | (cells & ~kLastCol).template up<1>() |
           (cells & ~kFirstCol).template down<1>();
  }

  char glyph(int cell) const { return of_[0].test(cell) ? 'X' : of_[1].test(cell) ? 'O' : '.'; }

  uint64_t hash() const {
    uint64_t h = 0;
    for (int player = 0; player < 2; ++player) of_[player].each([&](int cell) { h ^= key(player, cell); });
    return h;
  }
  /// The random number of a stone; a position's hash is the exclusive or of its stones'.
  static constexpr uint64_t key(int player, int cell) { return kKeys[player][cell]; }

  // The stones say all; how chains are linked depends on the order of play and bears on nothing.
  friend bool operator==(const Stones& a, const Stones& b) { return a.of_ == b.of_; }

 private:
  using Index = std::conditional_t<(kCells < 256), uint8_t, uint16_t>;
  enum : uint8_t { kEmpty = 2, kRim = 3 };

  // Liberties are counted by links (a pair of a stone and an empty neighbour), with the sum and the sum of squares of
  // the empty cells' numbers: by Cauchy and Schwarz, links · squares = sum² exactly when all links lead to one cell.
  struct Chain {
    using Sum = std::conditional_t<(N <= 13), uint16_t, uint32_t>;
    uint16_t links;
    Sum sum;
    uint32_t squares;
    void gain(int cell) {
      ++links;
      sum = static_cast<Sum>(sum + cell);
      squares += static_cast<uint32_t>(cell * cell);
    }
    void lose(int cell) {
      --links;
      sum = static_cast<Sum>(sum - cell);
      squares -= static_cast<uint32_t>(cell * cell);
    }
    bool atari() const { return uint64_t{links} * squares == uint64_t{sum} * sum; }
  };

  static constexpr std::array<uint8_t, kCells + 1> kBare = [] {
    std::array<uint8_t, kCells + 1> bare{};
    bare.fill(kEmpty);
    bare[kCells] = kRim;
    return bare;
  }();

  static constexpr std::array<Index, kCells + 1> kNoHeads = [] {
    std::array<Index, kCells + 1> heads{};
    heads.fill(kCells);
    return heads;
  }();

  std::array<uint8_t, kCells + 1> colour_ = kBare;  // player, empty, or (last) the rim that every outside neighbour is
  std::array<Index, kCells + 1> head_ = kNoHeads;   // the cell that keeps the chain's counts; kCells where no stone is
  std::array<Index, kCells> next_{};                // the chain's stones, a ring
  std::array<Chain, kCells + 1> chains_{};          // by head
  std::array<Cells, 2> of_{};

  void join(int a, int b) {
    // The shorter would be cheaper to relabel, but the new stone's chain `a` is almost always it.
    int at = a;
    do {
      head_[at] = static_cast<Index>(b);
      at = next_[at];
    } while (at != a);
    const Index tail = next_[a];
    next_[a] = next_[b];
    next_[b] = tail;
    chains_[b].links += chains_[a].links;
    chains_[b].sum += chains_[a].sum;
    chains_[b].squares += chains_[a].squares;
  }

  template <class Removed>
  void remove(int cell, Removed removed) {
    const int player = colour_[cell];
    each_of_chain(cell, [&](int stone) {
      colour_[stone] = kEmpty;
      head_[stone] = kCells;
      of_[player].reset(stone);
      removed(stone);
    });
    each_of_chain(cell, [&](int stone) {
      for (const int n : kNeighbours[stone]) chains_[head_[n]].gain(stone);
    });
  }

  /// kNeighbours[cell]: the cells beside it; outside the board, the rim (number kCells), last.
  static constexpr auto kNeighbours = [] {
    std::array<std::array<Index, 4>, kCells> all{};
    for (int cell = 0; cell < kCells; ++cell) {
      int count = 0;
      all[cell].fill(kCells);
      if (cell >= N) all[cell][count++] = static_cast<Index>(cell - N);
      if (cell % N > 0) all[cell][count++] = static_cast<Index>(cell - 1);
      if (cell % N < N - 1) all[cell][count++] = static_cast<Index>(cell + 1);
      if (cell < kCells - N) all[cell][count++] = static_cast<Index>(cell + N);
    }
    return all;
  }();
  static constexpr auto kBeside = [] {
    std::array<Cells, kCells> all{};
    for (int cell = 0; cell < kCells; ++cell) {
      for (const int n : kNeighbours[cell]) {
        if (n != kCells) all[cell].set(n);
      }
    }
    return all;
  }();
  static constexpr auto kDiagonals = [] {
    std::array<std::array<Index, 4>, kCells> all{};
    for (int cell = 0; cell < kCells; ++cell) {
      int count = 0;
      all[cell].fill(kCells);
      for (const int down : {-1, 1}) {
        for (const int right : {-1, 1}) {
          const int row = cell / N + down, col = cell % N + right;
          if (0 <= row && row < N && 0 <= col && col < N) all[cell][count++] = static_cast<Index>(row * N + col);
        }
      }
    }
    return all;
  }();
  static constexpr Cells kFirstCol = [] {
    Cells cells;
    for (int row = 0; row < N; ++row) cells.set(row * N);
    return cells;
  }();
  static constexpr Cells kLastCol = [] {
    Cells cells;
    for (int row = 0; row < N; ++row) cells.set(row * N + N - 1);
    return cells;
  }();
  static constexpr auto kKeys = [] {
    std::array<std::array<uint64_t, kCells>, 2> keys{};
    for (int i = 0; i < 2 * kCells; ++i) keys[i / kCells][i % kCells] = mix(static_cast<uint64_t>(i));
    return keys;
  }();
};

}  // namespace tesuji
