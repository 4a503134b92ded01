// Gomoku: whether one player, the attacker, can force K in a row within so many of his own moves; the other only
// defends. Asked with growing numbers for both players, this finds the result and the shortest win.
//
// Two things keep the tree small. A stone is never a drawback: where the defender holds after passing, he holds. And
// where the attacker would win after a pass by fours alone (moves that each force one reply), only replies that touch
// that line of play, or that make a four of the defender's on the way, can help.
//
// Long wins are found by threats: the attacker plays only fours, and moves after which he would win by fours. That
// proves wins many moves away in few nodes, but neither the shortest nor that there is none.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "../../core/bits.hpp"
#include "exact.hpp"
#include "table.hpp"

namespace tesuji::exact {
namespace {

template <int N, int K>
class GomokuSolver {
  static constexpr int kCells = N * N;
  static constexpr int kWindows = 2 * N * (N - K + 1) + 2 * (N - K + 1) * (N - K + 1);

 public:
  using Cells = Bits<kCells>;
  using Windows = Bits<kWindows>;

  explicit GomokuSolver(Budget& budget) : budget_(budget) { owner_.fill(-1); }

  /// Places a stone that does not win.
  void play(int player, int cell) {
    const int other = 1 - player;
    owner_[cell] = static_cast<int8_t>(player);
    --empty_;
    toggle(player, cell);
    for (const int w : kWindowsAt[cell]) {
      if (w < 0) break;
      auto& mine = stones_[player][w];
      const int theirs = stones_[other][w];
      if (theirs == 0) {
        lines_[player][mine].reset(w);
        lines_[player][mine + 1].set(w);
        if (mine + 1 == K - 1) change_goal(player, gap(w), 1);
      }
      if (mine == 0) {
        lines_[other][theirs].reset(w);
        if (theirs == K - 1) change_goal(other, cell, -1);
      }
      ++mine;
    }
  }
  void undo(int player, int cell) {
    const int other = 1 - player;
    for (const int w : kWindowsAt[cell]) {
      if (w < 0) break;
      auto& mine = stones_[player][w];
      const int theirs = stones_[other][w];
      --mine;
      if (mine == 0) {
        lines_[other][theirs].set(w);
        if (theirs == K - 1) change_goal(other, cell, 1);
      }
      if (theirs == 0) {
        lines_[player][mine + 1].reset(w);
        lines_[player][mine].set(w);
        if (mine + 1 == K - 1) change_goal(player, gap(w), -1);
      }
    }
    toggle(player, cell);
    ++empty_;
    owner_[cell] = -1;
  }

  int empty() const { return empty_; }
  /// Cells that complete a player's line.
  const Cells& goals(int player) const { return goals_[player]; }

  /// Whether the attacker, to move, wins by at most `moves` moves of his.
  bool attacks(int attacker, int moves) {
    const int defender = 1 - attacker;
    if (goals_[attacker].any()) return moves >= 1;
    if (moves < missing(attacker) || goals_[defender].count() > 1) return false;
    Known known = recall(attacker, Question::attacks);
    if (moves >= known.wins) return true;
    if (moves <= known.fails) return false;
    budget_.spend();
    const int64_t before = budget_.spent();
    bool won = false;
    if (goals_[defender].any()) {
      won = after_attack(attacker, goals_[defender].nth(0), moves);
    } else {
      Line line;
      won = fours(attacker, moves, line);
      if (!won && moves > 2) {
        std::array<int16_t, kCells> cells;
        const int count = list(attacker, cells, nullptr);
        for (int i = 0; i < count && !won; ++i) won = after_attack(attacker, cells[i], moves);
      }
    }
    remember(attacker, Question::attacks, moves, won, budget_.spent() - before);
    return won;
  }

  /// Whether the attacker wins by at most `moves` moves of his when the defender is to move.
  bool breaks(int attacker, int moves) {
    const int defender = 1 - attacker;
    if (goals_[defender].any() || moves < missing(attacker)) return false;
    const int goals = goals_[attacker].count();
    if (goals > 1) return true;
    if (goals == 1) return after_defence(attacker, goals_[attacker].nth(0), moves);
    if (empty_ == 0) return false;
    Known known = recall(attacker, Question::breaks);
    if (moves >= known.wins) return true;
    if (moves <= known.fails) return false;
    budget_.spend();
    const int64_t before = budget_.spent();

    Line line;
    Cells zone;
    const bool by_fours = fours(attacker, moves, line);
    bool won = by_fours || attacks(attacker, moves);  // the defender passes
    if (won) {
      if (by_fours) zone = disturbing(defender, line);
      std::array<int16_t, kCells> cells;
      const int count = list(defender, cells, by_fours ? &zone : nullptr);
      for (int i = 0; i < count && won; ++i) won = after_defence(attacker, cells[i], moves);
    }
    remember(attacker, Question::breaks, moves, won, budget_.spent() - before);
    return won;
  }

  /// Whether the attacker, to move, wins by threats, at most `threats` of them before the fours that end the game; the
  /// move that begins it.
  bool forces(int attacker, int threats, int* first = nullptr) {
    const int defender = 1 - attacker;
    Line line;
    if (fours(attacker, kCells, line)) {
      if (first) *first = line.first;
      return true;
    }
    if (goals_[defender].count() > 1) return false;
    if (threats == 0) {
      cut_short_ = true;
      return false;
    }
    const Known known = recall(attacker, Question::forces);
    if (threats >= known.wins && !first) return true;
    if (threats <= known.fails) return false;
    budget_.spend();
    const int64_t before = budget_.spent();
    Cells cells = goals_[defender];  // where there is one, there is no choice
    if (cells.none()) {
      (lines_[attacker][K - 3] | lines_[attacker][K - 2]).each([&](int w) { add_empty(w, cells); });
    }
    bool won = false;
    std::array<int16_t, kCells> order;
    const int count = list(attacker, order, &cells);
    for (int i = 0; i < count && !won; ++i) {
      play(attacker, order[i]);
      won = forced(attacker, threats - 1);
      undo(attacker, order[i]);
      if (won && first) *first = order[i];
    }
    remember(attacker, Question::forces, threats, won, budget_.spent() - before);
    return won;
  }

  /// Whether more threats than were allowed might have changed an answer since this was last asked.
  bool was_cut_short() { return std::exchange(cut_short_, false); }

  /// Whether the attacker threatens to win by fours, and after every reply wins by so many further threats.
  bool forced(int attacker, int threats) {
    const int defender = 1 - attacker;
    if (goals_[defender].any()) return false;
    const Cells& goals = goals_[attacker];
    if (goals.count() > 1) return true;
    const auto after = [&](int cell) {
      play(defender, cell);
      const bool won = forces(attacker, threats);
      undo(defender, cell);
      return won;
    };
    if (goals.any()) return after(goals.nth(0));
    Line line;
    if (!fours(attacker, kCells, line)) return false;
    const Cells zone = disturbing(defender, line);
    std::array<int16_t, kCells> order;
    const int count = list(defender, order, &zone);
    for (int i = 0; i < count; ++i) {
      if (!after(order[i])) return false;
    }
    return true;
  }

  bool after_attack(int attacker, int cell, int moves) {
    play(attacker, cell);
    const bool won = breaks(attacker, moves - 1);
    undo(attacker, cell);
    return won;
  }
  bool after_defence(int attacker, int cell, int moves) {
    play(1 - attacker, cell);
    const bool won = attacks(attacker, moves);
    undo(1 - attacker, cell);
    return won;
  }

 private:
  struct Key {
    std::array<uint64_t, 2> hash_words{};
    bool operator==(const Key&) const = default;
    uint64_t hash() const { return hash_words[0]; }
  };
  struct Known {
    int16_t wins = 1000, fails = 0;  // the least number of moves known to win, the largest known not to
  };
  /// A win by fours: the attacker's cells, the first of them, and those on which the defender must answer.
  struct Line {
    Cells attack, answer;
    int first = -1;
  };
  /// What the memory knows of a position.
  enum class Question : uint8_t { attacks, breaks, fours, forces };

  Budget& budget_;
  Table<Key, Known> known_;
  std::array<int8_t, kCells> owner_;
  std::array<std::array<int8_t, kWindows>, 2> stones_{};  // of a player in each window of K cells
  // The windows without the other's stones that hold so many of a player's.
  std::array<std::array<Windows, K + 1>, 2> lines_{{{Windows::all()}, {Windows::all()}}};
  std::array<std::array<int8_t, kCells>, 2> goal_counts_{};
  std::array<Cells, 2> goals_{};
  std::array<std::array<uint64_t, 2>, 8> hashes_{};  // under each symmetry; 128 bits each
  int empty_ = kCells;
  bool cut_short_ = false;

  static constexpr auto kNumbers = [] {
    std::array<std::array<std::array<uint64_t, 2>, kCells>, 2> numbers{};
    for (uint64_t i = 0; i < 2 * kCells; ++i) numbers[i % 2][i / 2] = {mix(i), mix(~i)};
    return numbers;
  }();
  static constexpr auto kCarried = [] {
    constexpr Grid grid{.rows = N, .cols = N};
    std::array<std::array<int16_t, 8>, kCells> carried{};
    for (int cell = 0; cell < kCells; ++cell) {
      for (int s = 0; s < 8; ++s) carried[cell][s] = static_cast<int16_t>(grid.carry(s, cell));
    }
    return carried;
  }();
  static constexpr auto kWindowCells = [] {
    std::array<std::array<int16_t, K>, kWindows> windows{};
    int count = 0;
    for (int row = 0; row < N; ++row) {
      for (int col = 0; col < N; ++col) {
        for (const auto& [down, right] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
          const int last_row = row + down * (K - 1), last_col = col + right * (K - 1);
          if (last_row >= N || last_col >= N || last_col < 0) continue;
          for (int i = 0; i < K; ++i) windows[count][i] = static_cast<int16_t>((row + down * i) * N + col + right * i);
          ++count;
        }
      }
    }
    return windows;
  }();
  /// The windows that hold each cell, ended by −1.
  static constexpr auto kWindowsAt = [] {
    std::array<std::array<int16_t, 4 * K + 1>, kCells> at{};
    for (auto& windows : at) windows.fill(-1);
    std::array<int, kCells> count{};
    for (int w = 0; w < kWindows; ++w) {
      for (const int cell : kWindowCells[w]) at[cell][count[cell]++] = static_cast<int16_t>(w);
    }
    return at;
  }();

  /// The empty cell of a window that has but one.
  int gap(int w) const {
    for (const int cell : kWindowCells[w]) {
      if (owner_[cell] < 0) return cell;
    }
    return -1;
  }
  void add_empty(int w, Cells& cells) const {
    for (const int cell : kWindowCells[w]) {
      if (owner_[cell] < 0) cells.set(cell);
    }
  }
  void change_goal(int player, int cell, int by) {
    auto& count = goal_counts_[player][cell];
    count = static_cast<int8_t>(count + by);
    count > 0 ? goals_[player].set(cell) : goals_[player].reset(cell);
  }
  void toggle(int player, int cell) {
    for (int s = 0; s < 8; ++s) {
      const auto& number = kNumbers[player][kCarried[cell][s]];
      hashes_[s][0] ^= number[0];
      hashes_[s][1] ^= number[1];
    }
  }
  /// Stones that the attacker's fullest line lacks; many where he has no line left.
  int missing(int player) const {
    for (int have = K - 1; have >= 0; --have) {
      if (lines_[player][have].any()) return K - have;
    }
    return 1000;
  }

  Key key(int attacker, Question question) const {
    auto least = hashes_[0];
    for (const auto& hash : hashes_) least = std::min(least, hash);
    least[0] ^= mix(1000 + 2 * static_cast<uint64_t>(question) + static_cast<uint64_t>(attacker));
    return {least};
  }
  Known recall(int attacker, Question question) const {
    const Known* known = known_.find(key(attacker, question));
    return known ? *known : Known{};
  }
  void remember(int attacker, Question question, int moves, bool won, int64_t work) {
    Known known = recall(attacker, question);
    if (won) {
      known.wins = static_cast<int16_t>(std::min<int>(known.wins, moves));
    } else {
      known.fails = static_cast<int16_t>(std::max<int>(known.fails, moves));
    }
    known_.put(key(attacker, question), known, static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(work))));
  }

  /// Whether the attacker, to move, wins by fours alone, and a set of cells that holds such a line.
  bool fours(int attacker, int moves, Line& line) {
    const int defender = 1 - attacker;
    if (goals_[attacker].any()) {
      line.first = goals_[attacker].nth(0);
      line.attack.set(line.first);
      return moves >= 1;
    }
    if (moves < 2 || lines_[attacker][K - 2].none() || goals_[defender].count() > 1) return false;
    if (moves <= recall(attacker, Question::fours).fails) return false;
    budget_.spend();
    const int64_t before = budget_.spent();
    Cells cells;
    lines_[attacker][K - 2].each([&](int w) { add_empty(w, cells); });
    if (goals_[defender].any()) cells &= goals_[defender];
    for (; cells.any(); cells.reset(cells.nth(0))) {
      const int cell = cells.nth(0);
      play(attacker, cell);
      bool won = false;
      const Cells goals = goals_[attacker];
      if (goals.count() > 1) {
        won = true;
        line.answer |= goals;
      } else if (moves > 2) {
        const int answer = goals.nth(0);
        play(defender, answer);
        won = fours(attacker, moves - 1, line);
        undo(defender, answer);
        if (won) line.answer.set(answer);
      }
      undo(attacker, cell);
      if (won) {
        line.first = cell;
        line.attack.set(cell);
        return true;
      }
    }
    remember(attacker, Question::fours, moves, false, budget_.spent() - before);
    return false;
  }

  /// The defender's replies that could upset a line of fours: on its cells, or where the stone makes, together with
  /// the answers to come, a line of his that lacks one stone at most.
  Cells disturbing(int defender, const Line& line) const {
    Cells cells = line.attack | line.answer;
    lines_[defender][K - 2].each([&](int w) { add_empty(w, cells); });
    line.answer.each([&](int answer) {
      for (const int w : kWindowsAt[answer]) {
        if (w < 0) break;
        if (stones_[1 - defender][w] != 0) continue;
        int filled = 0;
        for (const int cell : kWindowCells[w]) filled += owner_[cell] == defender || line.answer.test(cell);
        if (filled >= K - 2) add_empty(w, cells);
      }
    });
    return cells;
  }

  /// Empty cells (of a zone) that bear on any line, those on the fullest lines first.
  int list(int player, std::array<int16_t, kCells>& cells, const Cells* zone) const {
    std::array<int, kCells> weight;
    int count = 0;
    for (int cell = 0; cell < kCells; ++cell) {
      if (owner_[cell] >= 0 || (zone && !zone->test(cell))) continue;
      int sum = 0;
      for (const int w : kWindowsAt[cell]) {
        if (w < 0) break;
        const int mine = stones_[player][w], theirs = stones_[1 - player][w];
        if (theirs == 0) sum += 2 << (3 * mine);
        if (mine == 0) sum += 1 << (3 * theirs);
      }
      if (sum == 0) continue;
      weight[cell] = sum;
      cells[count++] = static_cast<int16_t>(cell);
    }
    std::stable_sort(cells.begin(), cells.begin() + count, [&](int a, int b) { return weight[a] > weight[b]; });
    return count;
  }
};

template <int N, int K>
std::unique_ptr<GomokuSolver<N, K>> set_up(const AnyState& state, Budget& budget) {
  auto solver = std::make_unique<GomokuSolver<N, K>>(budget);
  for (int cell = 0; cell < N * N; ++cell) {
    const char glyph = state.game().glyph(state.get(), cell);
    if (glyph != '.') solver->play(glyph == 'X' ? 0 : 1, cell);
  }
  return solver;
}

/// The mover's +1, 0, −1, and in how many moves of the winner's; all that are left, where nobody wins.
template <class Solver>
std::pair<int, int> outcome(Solver& solver, int mover) {
  const int most = (solver.empty() + 1) / 2;
  for (int moves = 1; moves <= most; ++moves) {
    if (solver.attacks(mover, moves)) return {1, moves};
    if (solver.breaks(1 - mover, moves)) return {-1, moves};
  }
  return {0, most};
}

/// A result that threats have proven, +1 or −1 for the mover, and where he wins his move; 0: they prove nothing.
struct ByThreats {
  int value = 0, first = -1;
};

/// Spends a half of the budget at most.
template <int N, int K>
ByThreats by_threats(const AnyState& state, Budget& budget) {
  constexpr int64_t kMostNodes = 1'000'000;
  const int mover = state.to_play();
  const auto solver = set_up<N, K>(state, budget);
  ByThreats found;
  budget.pause_at(budget.spent() + std::min(kMostNodes, budget.left() / 2));
  try {
    for (int threats = 0; found.value == 0; ++threats) {
      if (solver->forces(mover, threats, &found.first)) found.value = 1;
      if (found.value == 0 && solver->forced(1 - mover, threats)) found.value = -1;
      if (!solver->was_cut_short()) break;
    }
  } catch (const OutOfBudget&) {
  }
  budget.pause_at(-1);
  return found;
}

}  // namespace

/// A win by threats is found fast, and another seldom: it is always worth a try.
double gomoku_effort(const AnyState&) { return 1000; }

template <int N, int K>
Solution solve_gomoku(const AnyState& state, Budget& budget) {
  const int mover = state.to_play(), other = 1 - mover;
  const ByThreats threats = by_threats<N, K>(state, budget);
  const auto solver = set_up<N, K>(state, budget);
  Solution solution;
  const auto legal = state.legal();
  // Adds the moves that keep what is known; the first is needed, the others are welcome while they are cheap.
  const auto list = [&](auto keeps) {
    try {
      for (const int cell : legal) {
        if (!keeps(cell)) continue;
        solution.best.push_back(cell);
        if (solution.best.size() == 1) budget.pause_at(2 * budget.spent() + 1'000'000);
      }
    } catch (const OutOfBudget&) {
      if (solution.best.empty()) throw;
      solution.complete = false;
    }
  };

  try {
    const auto [value, moves] = outcome(*solver, mover);
    solution.result = for_first(mover, value);
    solution.plies = value == 0 ? solver->empty() : 2 * moves - (value > 0);
    if (value > 0) {
      list([&, moves = moves](int cell) {
        return moves == 1 ? solver->goals(mover).test(cell) : solver->after_attack(mover, cell, moves);
      });
    } else {
      const int held = moves - (value < 0);  // for so many of the other's moves
      list([&](int cell) { return !solver->after_defence(other, cell, held); });
    }
  } catch (const OutOfBudget&) {
    if (threats.value == 0) throw;
    // Who wins is known, and how, but not how soon.
    solution = {};
    solution.result = for_first(mover, threats.value);
    solution.best = threats.value > 0 ? std::vector{threats.first} : legal;
    solution.complete = threats.value < 0;
  }
  return solution;
}

template <int N, int K>
std::optional<int> settle_gomoku(const AnyState& state, Budget& budget, Notes*) {
  const int mover = state.to_play();
  const int value = by_threats<N, K>(state, budget).value;
  return for_first(mover, value ? value : outcome(*set_up<N, K>(state, budget), mover).first);
}

template Solution solve_gomoku<3, 3>(const AnyState&, Budget&);
template Solution solve_gomoku<6, 4>(const AnyState&, Budget&);
template Solution solve_gomoku<8, 5>(const AnyState&, Budget&);
template Solution solve_gomoku<15, 5>(const AnyState&, Budget&);
template std::optional<int> settle_gomoku<3, 3>(const AnyState&, Budget&, Notes*);
template std::optional<int> settle_gomoku<6, 4>(const AnyState&, Budget&, Notes*);
template std::optional<int> settle_gomoku<8, 5>(const AnyState&, Budget&, Notes*);
template std::optional<int> settle_gomoku<15, 5>(const AnyState&, Budget&, Notes*);

}  // namespace tesuji::exact
