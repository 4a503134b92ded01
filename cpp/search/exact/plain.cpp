// Any game, by nothing but its rules: deeper and deeper, without memory. Where earlier positions bear on what is legal
// (superko in Go), a memory of positions would be wrong.
#include "exact.hpp"

namespace tesuji::exact {
namespace {

/// What is known of a result, First's.
struct Range {
  int low, high;

  bool known() const { return low == high; }
  /// Takes in a move of the side (+1 First, −1 Second) that chooses.
  void improve(int side, const Range& move) {
    low = side * std::max(side * low, side * move.low);
    high = side * std::max(side * high, side * move.high);
  }
};

Range search(const AnyState& state, int depth, Budget& budget) {
  budget.spend();
  if (const Result result = state.result(); result != Result::ongoing)
    return {static_cast<int>(result), static_cast<int>(result)};
  if (depth == 0) return {-1, 1};
  const int side = state.to_play() == 0 ? 1 : -1;
  Range best{-side, -side};
  const auto actions = state.legal();
  // From the last action: a pass, where there is one, soonest shows how the board stands.
  for (auto action = actions.rbegin(); action != actions.rend(); ++action) {
    AnyState next = state;
    next.game().play(next.get(), *action);
    best.improve(side, search(next, depth - 1, budget));
    if (best.known() && best.low == side) break;
  }
  return best;
}

}  // namespace

Solution solve_plainly(const AnyState& state, Budget& budget) {
  const int side = state.to_play() == 0 ? 1 : -1;
  const auto actions = state.legal();
  std::vector<Range> ranges(actions.size(), {-1, 1});
  std::vector<int> depths(actions.size());  // at which each became known
  for (int depth = 1;; ++depth) {
    Range best{-side, -side};
    for (size_t i = 0; i < actions.size(); ++i) {
      if (!ranges[i].known()) {
        AnyState next = state;
        next.game().play(next.get(), actions[i]);
        ranges[i] = search(next, depth - 1, budget);
        depths[i] = depth;
      }
      best.improve(side, ranges[i]);
    }
    if (!best.known()) continue;
    Solution solution;
    solution.result = best.low;
    // No shallower search knew: a win is the shortest, and a loss put off the longest is this one.
    if (best.low != 0) solution.plies = depth;
    for (size_t i = 0; i < actions.size(); ++i) {
      if (!ranges[i].known()) {
        solution.complete &= best.low != 0;
      } else if (ranges[i].low == best.low && (best.low == 0 || depths[i] == depth)) {
        solution.best.push_back(actions[i]);
      }
    }
    return solution;
  }
}

}  // namespace tesuji::exact
