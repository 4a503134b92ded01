#include "exact.hpp"

#include <map>

namespace tesuji::exact {
namespace {

/// Which solver knows which game; the others are solved plainly.
const std::map<std::string, Solver, std::less<>>& solvers() {
  static const std::map<std::string, Solver, std::less<>> list = {
      {"dots1", solve_dots},
      {"dots1x2", solve_dots},
      {"dots2", solve_dots},
      {"dots2x3", solve_dots},
      {"dots3", solve_dots},
      {"dots3-paper", solve_dots},
      {"dots3x4", solve_dots},
      {"dots4", solve_dots},
      {"dots5", solve_dots},
      {"nogo3", solve_nogo<3>},
      {"nogo4", solve_nogo<4>},
      {"nogo5", solve_nogo<5>},
      {"nogo6", solve_nogo<6>},
      {"nogo7", solve_nogo<7>},
      {"nogo9", solve_nogo<9>},
      {"gomoku3", solve_gomoku<3, 3>},
      {"gomoku6x4", solve_gomoku<6, 4>},
      {"gomoku8", solve_gomoku<8, 5>},
      {"gomoku15", solve_gomoku<15, 5>},
      {"ultimate", solve_ultimate},
      {"ultimate-count", solve_ultimate},
  };
  return list;
}

}  // namespace

void Budget::check() {
  poll_();
  if (spent_ >= most_) throw OutOfBudget{"the limit of " + std::to_string(most_) + " nodes was met"};
  if (Clock::now() >= until_) throw OutOfBudget{"the limit of " + number_text(seconds_) + " s was met"};
  if (pause_ >= 0 && spent_ >= pause_) throw OutOfBudget{"the search was told to pause"};
  next_check_ = std::min(most_, spent_ + kStride);
}

Solution solve(const AnyState& state, Budget& budget, Solver solver) {
  Solution solution;
  try {
    if (const Result result = state.result(); result != Result::ongoing) {
      solution.result = static_cast<int>(result);
      solution.plies = 0;
      if (state.game().score) solution.margin = state.game().score(state.get());
    } else {
      const auto own = solvers().find(state.spec().name);
      if (!solver) solver = own == solvers().end() ? solve_plainly : own->second;
      solution = solver(state, budget);
    }
  } catch (const OutOfBudget& out) {
    solution = {};
    solution.complete = false;
    solution.unknown = out.sentence;
  }
  solution.nodes = budget.spent();
  return solution;
}

}  // namespace tesuji::exact
