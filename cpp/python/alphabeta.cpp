// Alpha-beta, and what games tell it, under the names that Python's players use.
#include "../search/alphabeta.hpp"

#include <mutex>

#include "door.hpp"

namespace tesuji {
namespace {

/// An engine for one game. Its table serves one search at a time.
struct PyAlphaBeta {
  PyGame game;
  AlphaBeta engine;
  std::mutex busy;

  explicit PyAlphaBeta(const PyGame& g) : game(g), engine(*g.table) {}
};

nb::dict think(PyAlphaBeta& self, const PyState& s, std::optional<int> depth, std::optional<int64_t> nodes,
               std::optional<double> seconds) {
  if (s.game.table != self.game.table)
    throw std::invalid_argument("this player plays " + self.game.spec().name + ", not " + s.game.spec().name);
  if (s.state.result() != Result::ongoing)
    throw std::invalid_argument("there is nothing to think about: the game is over");
  AlphaBetaLimits limits;
  if (depth) limits.depth = *depth;
  if (nodes) limits.nodes = static_cast<uint64_t>(*nodes);
  limits.seconds = seconds;
  AlphaBetaThought thought;
  bool signalled = false;
  {
    nb::gil_scoped_release unlocked;
    const std::lock_guard lock(self.busy);
    auto next_look = std::chrono::steady_clock::now();
    thought = self.engine.think(s.state, limits, [&] {
      const auto now = std::chrono::steady_clock::now();
      if (now < next_look) return signalled;
      next_look = now + std::chrono::milliseconds(50);
      nb::gil_scoped_acquire locked;
      return signalled = PyErr_CheckSignals() != 0;
    });
  }
  if (signalled) throw nb::python_error();
  nb::dict visits;
  for (size_t action = 0; action < thought.effort.size(); ++action) {
    if (thought.effort[action] > 0) visits[nb::int_(action)] = thought.effort[action];
  }
  nb::dict found;
  found["action"] = thought.action;
  found["value"] = thought.value;
  found["proven"] = thought.proven;
  found["plies_to_end"] = thought.plies_to_end;
  found["depth"] = thought.depth;
  found["nodes"] = thought.nodes;
  found["line"] = thought.line;
  found["visits"] = visits;
  return found;
}

}  // namespace

void bind_alphabeta(nb::module_& m) {
  nb::class_<PyAlphaBeta>(m, "AlphaBeta", "The engine behind the player of that name.")
      .def(nb::init<const PyGame&>(), "game"_a)
      .def(
          "think", &think, "state"_a, nb::kw_only(), "depth"_a = nb::none(), "nodes"_a = nb::none(),
          "seconds"_a = nb::none(),
          nb::sig("def think(self, state: State, *, depth: int | None = None, nodes: int | None = None, seconds: float "
                  "| None = None) -> dict[str, typing.Any]"),
          "action, value (First's), proven, plies_to_end, depth, nodes, line and visits; stops at the first limit.");
  m.def(
      "heuristic",
      [](const PyState& s) -> std::optional<double> {
        if (!s.game.table->heuristic) return std::nullopt;
        return s.game.table->heuristic(s.state.get());
      },
      "state"_a, "The game's guess at First's value, within (−1, 1); None where it has none.");
  m.def(
      "candidates",
      [](const PyState& s) -> std::pair<std::vector<int>, bool> {
        if (!s.game.table->candidates || s.state.result() != Result::ongoing) return {s.state.legal(), true};
        std::vector<uint64_t> words(s.game.spec().words());
        const bool enough = s.game.table->candidates(s.state.get(), words.data());
        std::vector<int> actions;
        for (int action = 0; action < s.game.spec().actions; ++action) {
          if (words[action / 64] >> (action % 64) & 1) actions.push_back(action);
        }
        return {actions, enough};
      },
      "state"_a, "The moves worth looking at, and whether a best one is surely among them.");
  m.def(
      "verdict",
      [](const PyState& s) -> std::optional<std::tuple<int, int, int, std::optional<int>>> {
        if (!s.game.table->verdict || s.state.result() != Result::ongoing) return std::nullopt;
        const auto [bounds, plies, move] = s.game.table->verdict(s.state.get());
        if (bounds.open()) return std::nullopt;
        return std::tuple<int, int, int, std::optional<int>>(bounds.low, bounds.high, plies,
                                                             move < 0 ? std::nullopt : std::optional(move));
      },
      "state"_a,
      "What the game knows for sure without a search: the least and the most that First's result can be with best "
      "play, plies to the end (0: unknown), a move that leads there or None; None where it can tell nothing.");
}

}  // namespace tesuji
