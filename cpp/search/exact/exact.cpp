#include "exact.hpp"

#include <limits>
#include <map>

namespace tesuji::exact {
namespace {

struct Knowledge {
  Solver solve;
  Settler settle = nullptr;  // the result alone, where that is cheaper
  double (*effort)(const AnyState&) = nullptr;
  std::unique_ptr<Notes> (*notes)() = nullptr;
};

/// Which solver knows which game; the others are solved plainly.
const std::map<std::string, Knowledge, std::less<>>& solvers() {
  static const std::map<std::string, Knowledge, std::less<>> list = [] {
    std::map<std::string, Knowledge, std::less<>> all = {
        {"nogo3", {solve_nogo<3>}},
        {"nogo4", {solve_nogo<4>}},
        {"nogo5", {solve_nogo<5>}},
        {"nogo6", {solve_nogo<6>}},
        {"nogo7", {solve_nogo<7>}},
        {"nogo9", {solve_nogo<9>}},
        {"gomoku3", {solve_gomoku<3, 3>, settle_gomoku<3, 3>, gomoku_effort}},
        {"gomoku6x4", {solve_gomoku<6, 4>, settle_gomoku<6, 4>, gomoku_effort}},
        {"gomoku8", {solve_gomoku<8, 5>, settle_gomoku<8, 5>, gomoku_effort}},
        {"gomoku15", {solve_gomoku<15, 5>, settle_gomoku<15, 5>, gomoku_effort}},
    };
    for (const char* name :
         {"dots1", "dots1x2", "dots2", "dots2x3", "dots3", "dots3-paper", "dots3x4", "dots4", "dots5"})
      all[name] = {solve_dots, settle_dots, dots_effort};
    for (const char* name : {"ultimate", "ultimate-count"})
      all[name] = {solve_ultimate, settle_ultimate, ultimate_effort, ultimate_notes};
    return all;
  }();
  return list;
}

const Knowledge* knowledge(const AnyGame& game) {
  // A search asks for every leaf, and is about one game.
  thread_local const AnyGame* last = nullptr;
  thread_local const Knowledge* known = nullptr;
  if (last != &game) {
    last = &game;
    const auto found = solvers().find(last->spec.name);
    known = found == solvers().end() ? nullptr : &found->second;
  }
  return known;
}

}  // namespace

void Budget::check() {
  poll_();
  if (spent_ >= most_) throw OutOfBudget{"the limit of " + std::to_string(most_) + " nodes was met"};
  if (Clock::now() >= until_) throw OutOfBudget{"the limit of " + number_text(seconds_) + " s was met"};
  if (pause_ >= 0 && spent_ >= pause_) throw OutOfBudget{"the search was told to pause"};
  next_check_ = std::min(most_, spent_ + kStride);
  if (pause_ >= 0) next_check_ = std::min(next_check_, pause_);
}

Solution solve(const AnyState& state, Budget& budget, Solver solver) {
  Solution solution;
  try {
    if (const Result result = state.result(); result != Result::ongoing) {
      solution.result = static_cast<int>(result);
      solution.plies = 0;
      if (state.game().score) solution.margin = state.game().score(state.get());
    } else {
      const Knowledge* own = knowledge(state.game());
      if (!solver) solver = own ? own->solve : solve_plainly;
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

double effort(const AnyState& state) {
  const Knowledge* own = knowledge(state.game());
  return own && own->effort ? own->effort(state) : std::numeric_limits<double>::infinity();
}

std::unique_ptr<Notes> notes_for(const AnyGame& game) {
  const Knowledge* own = knowledge(game);
  return own && own->notes ? own->notes() : nullptr;
}

std::optional<int> settle(const AnyState& state, int64_t nodes, Notes* notes) {
  if (const Result result = state.result(); result != Result::ongoing) return static_cast<int>(result);
  if (!(effort(state) <= static_cast<double>(nodes))) return {};
  try {
    Budget budget(nodes, 1e6, [] {});
    return knowledge(state.game())->settle(state, budget, notes);
  } catch (const OutOfBudget&) {
    return {};
  }
}

}  // namespace tesuji::exact
