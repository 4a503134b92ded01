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

/// Of the small boards and of whose move it is what bears on the rest of the game. Cells and boards are bits, by rows.
class Position {
 public:
  // Three small boards a word, nine bits of First's marks and nine of Second's each; then where the mover is sent, and
  // who he is. A won board is all his who won it, a drawn one all of both: how they came to it no longer matters.
  struct Key {
    std::array<uint64_t, 3> words{};
    bool operator==(const Key&) const = default;
    uint64_t hash() const { return mix(words[0] ^ mix(words[1] ^ mix(words[2]))); }
  };

  /// `target`: the small board to play in, or kAnywhere.
  Position(const std::array<std::array<uint16_t, 9>, 2>& marks, int target, int mover) {
    for (int board = 0; board < 9; ++board) {
      for (int side = 0; side < 2; ++side) put(board, side, marks[side][board]);
      for (int side = 0; side < 2; ++side) {
        if (has_open_line(board, side)) reach_[side] |= static_cast<uint16_t>(1u << board);
      }
      decide(board, kHasLine[marks[1][board]] ? 1 : 0);
    }
    send(target, mover);
  }

  const Key& key() const { return key_; }
  int mover() const { return static_cast<int>(key_.words[2] >> (kTargetAt + 4) & 1); }
  int target() const { return static_cast<int>(key_.words[2] >> kTargetAt & 15); }
  unsigned marks(int side, int board) const { return key_.words[board / 3] >> shift(board, side) & kFull; }
  unsigned free(int board) const { return kFull & ~(marks(0, board) | marks(1, board)); }
  unsigned won(int side) const { return won_[side]; }
  unsigned decided() const { return won_[0] | won_[1] | drawn_; }
  /// Whether a side may still win: a line of small boards that are his, or in which he has an open line.
  bool can_win(int side) const { return kHasLine[reach_[side]]; }

  Position after(int board, int inner) const {
    Position next = *this;
    const int side = mover();
    next.key_.words[board / 3] |= uint64_t{1} << (shift(board, side) + inner);
    if (!next.has_open_line(board, 1 - side)) next.reach_[1 - side] &= static_cast<uint16_t>(~(1u << board));
    next.decide(board, side);
    next.send(inner, 1 - side);
    return next;
  }

 private:
  static constexpr int kTargetAt = 54;
  Key key_;
  std::array<uint16_t, 2> won_{}, reach_{};  // [side]: boards that are his; those that are or may become his
  uint16_t drawn_ = 0;

  static constexpr int shift(int board, int side) { return 18 * (board % 3) + 9 * side; }
  void put(int board, int side, uint64_t cells) { key_.words[board / 3] |= cells << shift(board, side); }
  bool has_open_line(int board, int side) const { return kHasLine[kFull & ~marks(1 - side, board)]; }
  /// Takes notice of a board that the side has won, or that is full.
  void decide(int board, int side) {
    const auto bit = static_cast<uint16_t>(1u << board);
    if (kHasLine[marks(side, board)]) {
      won_[side] |= bit;
      reach_[1 - side] &= static_cast<uint16_t>(~bit);
      key_.words[board / 3] &= ~(uint64_t{kFull} << shift(board, 1 - side));
      put(board, side, kFull);
    } else if (free(board) == 0) {
      drawn_ |= bit;
      for (const int of : {0, 1}) put(board, of, kFull);
    }
  }
  void send(int target, int mover) {
    const int to = target == kAnywhere || (decided() >> target & 1) ? kAnywhere : target;
    const uint64_t boards = key_.words[2] & ((uint64_t{1} << kTargetAt) - 1);
    key_.words[2] = boards | static_cast<uint64_t>(16 * mover + to) << kTargetAt;
  }
};

/// What is known of the mover's result.
struct Known {
  int8_t low = -1, high = 1;
};

/// Positions that were looked at: of one question, or of all leaves of a search.
template <size_t kMost>
using Memory = Table<Position::Key, Known, kMost>;

template <class Memory>
class UltimateSolver {
 public:
  /// Beyond its budget it throws; one that gives up answers kUnknown instead.
  static constexpr int kUnknown = 2;

  UltimateSolver(bool counts, bool gives_up, Budget& budget, Memory& known)
      : counts_(counts), gives_up_(gives_up), budget_(budget), known_(known) {}

  /// The mover's result, if it lies between the bounds; else a bound on it beyond them.
  int search(const Position& p, int alpha, int beta) {
    const int mover = p.mover(), other = 1 - mover;
    if (kHasLine[p.won(other)]) return -1;
    const unsigned open = kFull & ~p.decided();
    Known bounds;
    if (!counts_) {
      if (!p.can_win(mover)) bounds.high = 0;
      if (!p.can_win(other)) bounds.low = 0;
    } else if (!open) {
      const int lead = std::popcount(p.won(mover)) - std::popcount(p.won(other));
      return (lead > 0) - (lead < 0);
    }
    const auto decides = [&] { return bounds.low >= beta || bounds.high <= alpha || bounds.low == bounds.high; };
    const auto decision = [&]() -> int { return bounds.low >= beta ? bounds.low : bounds.high; };
    if (decides()) return decision();
    if (gives_up_ && budget_.left() <= 1) return kUnknown;
    budget_.spend();

    const unsigned crown = kWins[p.won(mover)] & open;
    const unsigned boards = p.target() == kAnywhere ? open : 1u << p.target();
    for (unsigned rest = boards & crown; rest; rest &= rest - 1) {
      const int board = std::countr_zero(rest);
      if (kWins[p.marks(mover, board)] & p.free(board)) return 1;
    }
    if (const Known* known = known_.find(p.key())) {
      bounds = *known;
      if (decides()) return decision();
    }
    alpha = std::max<int>(alpha, bounds.low);
    beta = std::min<int>(beta, bounds.high);

    const int64_t before = budget_.spent();
    std::array<uint16_t, 81> moves;  // what it promises, its board, its cell: the least comes first
    int count = 0;
    const auto threats = threats_of(p, open);
    for (unsigned rest = boards; rest; rest &= rest - 1) {
      const int board = std::countr_zero(rest);
      const unsigned wins = kWins[p.marks(mover, board)] & p.free(board);
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
      const int reply = search(p.after(moves[i] >> 4 & 15, moves[i] & 15), -beta, -std::max(alpha, best));
      if (reply == kUnknown) return kUnknown;
      best = std::max(best, -reply);
    }
    if (best < beta) bounds.high = static_cast<int8_t>(best);
    if (best > alpha) bounds.low = static_cast<int8_t>(best);
    known_.put(p.key(), bounds, static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(budget_.spent() - before))));
    return best;
  }

 private:
  bool counts_, gives_up_;
  Budget& budget_;
  Memory& known_;

  /// What the other may do, by the cell that sends him: more is worse for the mover.
  static std::array<int8_t, 9> threats_of(const Position& p, unsigned open) {
    const int other = 1 - p.mover();
    std::array<int8_t, 9> threats;
    const unsigned crown = kWins[p.won(other)] & open;
    int8_t worst = 15;  // of a free choice
    for (unsigned rest = open; rest; rest &= rest - 1) {
      const int board = std::countr_zero(rest);
      const unsigned wins = kWins[p.marks(other, board)] & p.free(board);
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

Position position_of(const AnyState& state) {
  const Boards boards(state);
  const int mover = state.to_play();
  std::array<std::array<uint16_t, 9>, 2> marks{};
  for (int side = 0; side < 2; ++side) {
    boards.plane(side == mover ? 0 : 1).each([&](int cell) {
      auto& own = marks[side][board_of(cell)];
      own = static_cast<uint16_t>(own | 1u << inner_of(cell));
    });
  }
  unsigned sent = 0;
  boards.plane(2).each([&](int cell) { sent |= 1u << board_of(cell); });
  return {marks, std::has_single_bit(sent) ? std::countr_zero(sent) : kAnywhere, mover};
}

bool counts(const AnyState& state) { return state.spec().name == "ultimate-count"; }

/// What the leaves of one search have shown: so much that it stays near the processor.
struct UltimateNotes : Notes {
  Memory<size_t{1} << 16> known;
};

}  // namespace

std::unique_ptr<Notes> ultimate_notes() { return std::make_unique<UltimateNotes>(); }

Solution solve_ultimate(const AnyState& state, Budget& budget) {
  const int mover = state.to_play();
  const Position root = position_of(state);
  Memory<size_t{1} << 22> known;
  UltimateSolver solver(counts(state), false, budget, known);
  Solution solution;
  list_best(solution, budget, state.legal(), mover,
            [&](int cell) { return -solver.search(root.after(board_of(cell), inner_of(cell)), -1, 1); });
  return solution;
}

std::optional<int> settle_ultimate(const AnyState& state, Budget& budget, Notes* notes) {
  thread_local UltimateNotes own;
  if (!notes) own.known.forget();
  auto& known = notes ? static_cast<UltimateNotes&>(*notes).known : own.known;
  UltimateSolver solver(counts(state), true, budget, known);
  const int result = solver.search(position_of(state), -1, 1);
  if (result == solver.kUnknown) return {};
  return for_first(state.to_play(), result);
}

/// By free cells of boards that are not decided: fitted to games between networks, where three of four need less.
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
