// Exact values: what best play by both leads to, or an honest "unknown" when a limit is met first.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../core/any.hpp"

namespace tesuji::exact {

/// What a solver found. Everything here is First's, except `plies` and `best`, which are the mover's to follow.
struct Solution {
  std::optional<int> result;     // +1, 0, −1; nothing: unknown
  std::optional<double> margin;  // First's final score, where the game has one and the solver knows it
  std::optional<int> plies;      // to the end, by shortest win and longest loss
  std::vector<int> best;         // actions that keep all of the above; none at the end of a game
  bool complete = true;          // whether `best` holds all of them
  int64_t nodes = 0;
  std::string unknown;  // why the result is unknown: a sentence without its full stop
};

/// Thrown inside a solver when a limit is met; what it holds is the sentence.
struct OutOfBudget {
  std::string sentence;
};

/// Nodes and seconds that a solver may spend. `poll` is called every few milliseconds and may throw.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  Budget(int64_t nodes, double seconds, std::function<void()> poll)
      : most_(nodes), seconds_(seconds), poll_(std::move(poll)) {
    until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    next_check_ = std::min<int64_t>(most_, kStride);
  }

  /// Counts a node.
  void spend() {
    if (++spent_ >= next_check_) check();
  }
  int64_t spent() const { return spent_; }
  int64_t left() const { return most_ - spent_; }

  /// Looks at the clock and at the limits now.
  void check();

  /// Lets whoever waits interrupt; what is made once for all positions is bound by no limit of one.
  void poll() const { poll_(); }

  /// Ends the search for now at so many nodes, whatever the limit; −1: the limit alone counts.
  void pause_at(int64_t nodes) {
    pause_ = nodes;
    next_check_ = spent_;
  }

 private:
  static constexpr int64_t kStride = 4096;
  int64_t most_, spent_ = 0, next_check_, pause_ = -1;
  double seconds_;
  Clock::time_point until_;
  std::function<void()> poll_;
};

using Solver = Solution (*)(const AnyState&, Budget&);

/// What a settler learned on the way, for the next positions of the same search.
struct Notes {
  virtual ~Notes() = default;
};
using Settler = std::optional<int> (*)(const AnyState&, Budget&, Notes*);

/// Solves a position with the given solver, or else with that of its game: all that `tesuji solve` does.
Solution solve(const AnyState&, Budget&, Solver solver = nullptr);

/// About how many nodes it takes to settle a position. Infinity: nobody here can tell, so that it is not worth a try.
double effort(const AnyState&);

/// The result of best play, +1, 0, −1 for First, and nothing more. It gives up after so many nodes, and does not even
/// begin where the effort is larger.
std::optional<int> settle(const AnyState&, int64_t nodes, Notes* = nullptr);
/// For positions of a game, where its settler takes any; without them it begins anew with each.
std::unique_ptr<Notes> notes_for(const AnyGame&);

// ── The solvers, a file each. A solver is given an ongoing game, and throws OutOfBudget; a settler may also answer
// nothing, which is cheaper. ──
Solution solve_dots(const AnyState&, Budget&);
Solution search_dots(const AnyState&, Budget&);  // without the table, whatever the size; free openings only
std::optional<int> settle_dots(const AnyState&, Budget&, Notes*);
double dots_effort(const AnyState&);
template <int N>
Solution solve_nogo(const AnyState&, Budget&);
template <int N, int K>
Solution solve_gomoku(const AnyState&, Budget&);
template <int N, int K>
std::optional<int> settle_gomoku(const AnyState&, Budget&, Notes*);
double gomoku_effort(const AnyState&);
Solution solve_ultimate(const AnyState&, Budget&);
std::optional<int> settle_ultimate(const AnyState&, Budget&, Notes*);
std::unique_ptr<Notes> ultimate_notes();
double ultimate_effort(const AnyState&);
/// Any game, by nothing but its rules: alpha-beta without memory.
Solution solve_plainly(const AnyState&, Budget&);

/// [2^edges]: the best margin for the mover over the rest of the game, for every set of drawn edges of a board of Dots
/// and Boxes. Built once a process, then shared. Null where the board has more than 24 edges.
std::shared_ptr<const std::vector<int8_t>> dots_margins(const Spec&, Budget&);

/// From the mover's +1, 0, −1 to First's.
inline int for_first(int mover, int value) { return mover == 0 ? value : -value; }

/// Fills in the result and the best moves of a game that is won, drawn or lost: `value(action)` gives the mover's +1,
/// 0, −1. Once a win is known the other moves may cost as much again as all before them; then `complete` says that some
/// are missing.
template <class Value>
void list_best(Solution& solution, Budget& budget, const std::vector<int>& actions, int mover, Value value) {
  constexpr int kWin = 1;
  int best = -2;
  bool paused = false;
  for (const int action : actions) {
    try {
      const int v = value(action);
      if (v > best) solution.best.clear();
      if (v >= best) solution.best.push_back(action);
      best = std::max(best, v);
    } catch (const OutOfBudget&) {
      if (best < kWin) throw;
      solution.complete = false;
      break;
    }
    if (best == kWin && !paused) budget.pause_at(2 * budget.spent() + 1'000'000);
    paused = best == kWin;
  }
  std::sort(solution.best.begin(), solution.best.end());
  solution.result = for_first(mover, best);
}

}  // namespace tesuji::exact
