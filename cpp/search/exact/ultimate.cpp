// Ultimate Tic-Tac-Toe, towards its end: alpha-beta with a memory of positions.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "exact.hpp"
#include "table.hpp"

namespace tesuji::exact {
namespace {

constexpr unsigned kFull = 0x1ff;
constexpr int kAnywhere = 9;
constexpr std::array<unsigned, 8> kLines = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};

/// By a set of cells: whether it has a line, and the cells that would complete one.
struct Lines {
  std::array<bool, 512> has{};
  std::array<uint16_t, 512> wins{};
};
constexpr Lines kLinesOf = [] {
  Lines lines;
  for (unsigned set = 0; set < 512; ++set) {
    for (const unsigned line : kLines) {
      lines.has[set] |= (set & line) == line;
      const unsigned missing = line & ~set;
      if ((missing & (missing - 1)) == 0) lines.wins[set] = static_cast<uint16_t>(lines.wins[set] | missing);
    }
  }
  return lines;
}();
constexpr const auto& kHasLine = kLinesOf.has;
constexpr const auto& kWins = kLinesOf.wins;

class UltimateSolver {
 public:
  /// [0] is the mover's side. Cells and boards are bits, by rows.
  struct Position {
    std::array<std::array<uint16_t, 9>, 2> marks{};
    std::array<uint16_t, 2> won{};
    uint16_t drawn = 0;
    int8_t target = kAnywhere;

    unsigned decided() const { return won[0] | won[1] | drawn; }
    unsigned free(int board) const { return kFull & ~(marks[0][board] | marks[1][board]); }
  };

  UltimateSolver(bool counts, Budget& budget) : counts_(counts), budget_(budget) {}

  static Position after(const Position& p, int board, int inner) {
    Position next = p;
    auto& mine = next.marks[0][board];
    mine = static_cast<uint16_t>(mine | 1u << inner);
    if (kHasLine[mine]) {
      next.won[0] = static_cast<uint16_t>(next.won[0] | 1u << board);
    } else if (next.free(board) == 0) {
      next.drawn = static_cast<uint16_t>(next.drawn | 1u << board);
    }
    next.target = static_cast<int8_t>(next.decided() >> inner & 1 ? kAnywhere : inner);
    std::swap(next.marks[0], next.marks[1]);
    std::swap(next.won[0], next.won[1]);
    return next;
  }

  /// The mover's result, if it lies between the bounds; else a bound on it beyond them.
  int search(const Position& p, int alpha, int beta) {
    if (kHasLine[p.won[1]]) return -1;
    if (p.decided() == kFull) {
      if (!counts_) return 0;
      const int lead = std::popcount(p.won[0]) - std::popcount(p.won[1]);
      return (lead > 0) - (lead < 0);
    }
    budget_.spend();
    Bounds bounds{-1, 1};
    if (!counts_) {
      // Who has no open line left cannot win any more.
      if (!can_win(p, 0)) bounds.high = 0;
      if (!can_win(p, 1)) bounds.low = 0;
    }
    const Key key = key_of(p);
    if (const Bounds* known = known_.find(key)) bounds = *known;
    if (bounds.low >= beta || bounds.low == bounds.high) return bounds.low;
    if (bounds.high <= alpha) return bounds.high;
    alpha = std::max<int>(alpha, bounds.low);
    beta = std::min<int>(beta, bounds.high);

    const int64_t before = budget_.spent();
    const unsigned open = kFull & ~p.decided(), crown = kWins[p.won[0]] & open;
    const unsigned boards = p.target == kAnywhere ? open : 1u << p.target;
    std::array<uint16_t, 81> moves;  // what it promises, its board, its cell: the least comes first
    int count = 0;
    const auto threats = threats_of(p, open);
    for (unsigned rest = boards; rest; rest &= rest - 1) {
      const int board = std::countr_zero(rest);
      const unsigned wins = kWins[p.marks[0][board]] & p.free(board);
      if (wins && crown >> board & 1) return 1;
      for (unsigned cells = p.free(board); cells; cells &= cells - 1) {
        const int inner = std::countr_zero(cells);
        // Won boards first; then what leaves the other the least freedom.
        const int cost = 64 - (wins >> inner & 1 ? 20 : 0) + threats[inner];
        moves[count++] = static_cast<uint16_t>(cost << 8 | board << 4 | inner);
      }
    }
    std::sort(moves.begin(), moves.begin() + count);
    int best = -1;
    for (int i = 0; i < count && best < beta; ++i) {
      const Position next = after(p, moves[i] >> 4 & 15, moves[i] & 15);
      best = std::max(best, -search(next, -beta, -std::max(alpha, best)));
    }
    if (best < beta) bounds.high = static_cast<int8_t>(best);
    if (best > alpha) bounds.low = static_cast<int8_t>(best);
    known_.put(key, bounds, static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(budget_.spent() - before))));
    return best;
  }

 private:
  struct Key {
    std::array<uint64_t, 3> words{};
    bool operator==(const Key&) const = default;
    uint64_t hash() const { return mix(words[0] ^ mix(words[1] ^ mix(words[2]))); }
  };
  struct Bounds {
    int8_t low, high;
  };

  bool counts_;
  Budget& budget_;
  Table<Key, Bounds> known_;

  static bool can_win(const Position& p, int side) {
    const unsigned closed = p.won[1 - side] | p.drawn;
    return std::any_of(kLines.begin(), kLines.end(), [&](unsigned line) { return (line & closed) == 0; });
  }

  /// Three boards a word. What lies inside a decided board no longer matters.
  static Key key_of(const Position& p) {
    Key key;
    for (int board = 0; board < 9; ++board) {
      uint64_t cells = p.marks[0][board] | uint64_t{p.marks[1][board]} << 9;
      if (p.won[0] >> board & 1) cells = kFull;
      if (p.won[1] >> board & 1) cells = uint64_t{kFull} << 9;
      if (p.drawn >> board & 1) cells = kFull | uint64_t{kFull} << 9;
      key.words[board / 3] |= cells << (18 * (board % 3));
    }
    key.words[2] |= static_cast<uint64_t>(p.target) << 54;
    return key;
  }

  /// What the other may do, by the cell that sends him: more is worse for the mover.
  static std::array<int8_t, 9> threats_of(const Position& p, unsigned open) {
    std::array<int8_t, 9> threats;
    const unsigned crown = kWins[p.won[1]] & open;
    int8_t worst = 15;  // of a free choice
    for (unsigned rest = open; rest; rest &= rest - 1) {
      const int board = std::countr_zero(rest);
      const unsigned wins = kWins[p.marks[1][board]] & p.free(board);
      threats[board] = static_cast<int8_t>(!wins                ? 0
                                           : crown >> board & 1 ? 60
                                                                : std::min(10 * std::popcount(wins), 40));
      worst = std::max<int8_t>(worst, threats[board]);
    }
    for (unsigned rest = kFull & ~open; rest; rest &= rest - 1) threats[std::countr_zero(rest)] = worst;
    return threats;
  }
};

int board_of(int cell) { return cell / 27 * 3 + cell % 9 / 3; }
int inner_of(int cell) { return cell / 9 % 3 * 3 + cell % 3; }

/// A state as its small boards show it: own marks, the other's (all cells of a board that is won), boards to play in.
struct Boards {
  std::array<uint64_t, 3 * Bits<81>::kWords> words;

  explicit Boards(const AnyState& state) { state.encode_packed(state.spec().encodings.back(), words.data()); }
  Bits<81> plane(int i) const { return {{words[2 * i], words[2 * i + 1]}}; }
  int free() const { return 81 - std::popcount(words[0] | words[2]) - std::popcount(words[1] | words[3]); }
};

UltimateSolver::Position position_of(const AnyState& state) {
  const Boards boards(state);
  UltimateSolver::Position root;
  for (int side = 0; side < 2; ++side) {
    boards.plane(side).each([&](int cell) {
      auto& marks = root.marks[side][board_of(cell)];
      marks = static_cast<uint16_t>(marks | 1u << inner_of(cell));
    });
  }
  for (int board = 0; board < 9; ++board) {
    for (int side = 0; side < 2; ++side) {
      if (kHasLine[root.marks[side][board]]) root.won[side] = static_cast<uint16_t>(root.won[side] | 1u << board);
    }
    if (root.free(board) == 0 && !(root.decided() >> board & 1))
      root.drawn = static_cast<uint16_t>(root.drawn | 1u << board);
  }
  const unsigned open = kFull & ~root.decided();
  unsigned sent = 0;
  boards.plane(2).each([&](int cell) { sent |= 1u << board_of(cell); });
  root.target = static_cast<int8_t>(sent == open ? kAnywhere : std::countr_zero(sent));
  return root;
}

bool counts(const AnyState& state) { return state.spec().name == "ultimate-count"; }

}  // namespace

Solution solve_ultimate(const AnyState& state, Budget& budget) {
  const int mover = state.to_play();
  const auto root = position_of(state);
  UltimateSolver solver(counts(state), budget);
  Solution solution;
  list_best(solution, budget, state.legal(), mover, [&](int cell) {
    return -solver.search(UltimateSolver::after(root, board_of(cell), inner_of(cell)), -1, 1);
  });
  return solution;
}

int settle_ultimate(const AnyState& state, Budget& budget) {
  return for_first(state.to_play(), UltimateSolver(counts(state), budget).search(position_of(state), -1, 1));
}

/// By free cells of boards that are not decided: fitted to games between networks, where it is off by a factor of four.
double ultimate_effort(const AnyState& state) {
  static const auto kEfforts = [] {
    std::array<double, 82> efforts;
    for (size_t free = 0; free < efforts.size(); ++free)
      efforts[free] = std::exp2(1 + 0.58 * static_cast<double>(free));
    return efforts;
  }();
  return kEfforts[Boards(state).free()];
}

}  // namespace tesuji::exact
