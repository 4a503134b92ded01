// Exact solvers. src/tesuji/exact.py makes dataclasses of what is found here.
#include "../search/exact/exact.hpp"

#include "door.hpp"

namespace tesuji {
namespace {

struct Interrupted {};

/// Runs a solver without the interpreter's lock; Ctrl-C ends it.
template <class Work>
auto with_budget(nb::handle given_nodes, nb::handle given_seconds, Work work) {
  const int64_t nodes = whole("nodes", given_nodes, 1, std::numeric_limits<long long>::max());
  const double seconds = real("seconds", given_seconds);
  if (!(seconds > 0 && seconds <= 1e6)) throw std::invalid_argument("seconds must lie above 0 and at most at 1000000");
  try {
    nb::gil_scoped_release unlocked;
    exact::Budget budget(nodes, seconds, [] {
      nb::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) throw Interrupted{};
    });
    return work(budget);
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

nb::dict solve(const PyState& s, nb::handle nodes, nb::handle seconds, bool table) {
  const auto solution = with_budget(nodes, seconds, [&](exact::Budget& budget) {
    const bool search = !table && s.game.spec().look == Look::edges;
    return exact::solve(s.state, budget, search ? exact::search_dots : nullptr);
  });
  nb::dict found;
  found["result"] = nb::cast(solution.result);
  found["margin"] = nb::cast(solution.margin);
  found["plies"] = nb::cast(solution.plies);
  found["best"] = nb::cast(solution.best);
  found["complete"] = nb::cast(solution.complete);
  found["nodes"] = nb::cast(solution.nodes);
  found["unknown"] = solution.unknown.empty() ? nb::object(nb::none()) : nb::object(nb::cast(solution.unknown));
  return found;
}

std::optional<int> settle(const PyState& s, nb::handle nodes) {
  const int64_t most = whole("nodes", nodes, 1, std::numeric_limits<long long>::max());
  nb::gil_scoped_release unlocked;
  return exact::settle(s.state, most);
}

Array<const int8_t> dots_margins(const PyGame& game) {
  if (game.spec().look != Look::edges)
    throw std::invalid_argument(game.spec().name + " has no table of margins: only Dots and Boxes has");
  using Margins = std::shared_ptr<const std::vector<int8_t>>;
  const Margins margins = with_budget(nb::int_(1'000'000), nb::int_(1'000'000),
                                      [&](exact::Budget& budget) { return exact::dots_margins(game.spec(), budget); });
  if (!margins)
    throw std::invalid_argument(game.spec().name + " is too large for a table of margins: it has " +
                                std::to_string(game.spec().actions) + " edges, and 24 is the most");
  auto* owner = new Margins(margins);
  nb::capsule release(owner, [](void* p) noexcept { delete static_cast<Margins*>(p); });
  const size_t size = margins->size();
  return Array<const int8_t>(margins->data(), 1, &size, release);
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.def("solve", &solve, "state"_a, nb::kw_only(), "nodes"_a.none(), "seconds"_a.none(), "table"_a = true,
        nb::sig("def solve(state: State, *, nodes: int, seconds: float, table: bool = True) -> dict[str, typing.Any]"),
        "What best play by both leads to; tesuji.exact.solve says it in a better form. table=False searches Dots and "
        "Boxes where a table would know.");
  m.def("settle", &settle, "state"_a, "nodes"_a, nb::sig("def settle(state: State, nodes: int) -> int | None"),
        "The result of best play and nothing more, or None where so many nodes do not tell.");
  m.def(
      "effort", [](const PyState& s) { return exact::effort(s.state); }, "state"_a,
      "About how many nodes it takes to settle a position; infinity where no solver is worth a try.");
  m.def("dots_margins", &dots_margins, "game"_a,
        nb::sig("def dots_margins(game: Game) -> numpy.typing.NDArray[numpy.int8]"),
        "[2^edges]: the best margin for the mover over the rest of a game of Dots and Boxes, for every set of drawn "
        "edges (edge e is bit e). Shared and read-only.");
}

}  // namespace tesuji
