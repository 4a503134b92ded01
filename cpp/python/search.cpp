// Searches: one forest, whose leaves are answered inside the core (rollouts) or by a network outside.
#include "../search/forest.hpp"

#include <chrono>
#include <cmath>

#include "door.hpp"

namespace tesuji {

SearchSettings read_search_settings(const nb::dict& given) {
  SearchSettings s;
  std::string rule = "puct";
  const auto read = [&](const char* name, auto& field) {
    if (given.contains(name)) field = nb::cast<std::decay_t<decltype(field)>>(given[name]);
  };
  read("rule", rule);
  read("c", s.choose.c);
  read("fpu", s.choose.fpu);
  read("c_visit", s.choose.c_visit);
  read("c_scale", s.choose.c_scale);
  read("considered", s.choose.considered);
  read("visits", s.visits);
  read("seconds", s.seconds);
  read("checkpoint", s.checkpoint);
  read("share", s.share);
  read("prior_temperature", s.prior_temperature);
  read("noise_weight", s.noise_weight);
  read("noise_concentration", s.noise_concentration);
  read("gumbel_noise", s.gumbel_noise);
  read("leaves", s.leaves);
  read("transpositions", s.transpositions);
  read("candidates", s.candidates);
  read("draw", s.draw);
  read("solve", s.solve);
  read("notes", s.notes);
  read("memory", s.memory);
  s.choose.rule = rule == "uct" ? Rule::uct : rule == "gumbel" ? Rule::gumbel : Rule::puct;
  return s;
}

namespace {

struct PyForest {
  PyGame game;
  Forest forest;
  int waiting = 0;  // leaves that were handed out and not yet answered

  PyForest(const PyGame& g, std::vector<AnyState> roots, const SearchSettings& s, uint64_t seed, int threads)
      : game(g), forest(std::move(roots), s, seed, threads) {}

  void check(int i) const {
    if (i < 0 || i >= forest.size()) throw std::invalid_argument("there is no tree " + std::to_string(i));
  }
};

using Answers = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

Answers answers(nb::handle given, const char* what, std::vector<size_t> shape) {
  Answers array;
  bool fits = nb::try_cast(given, array, false) && array.ndim() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = array.shape(i) == shape[i];
  if (fits) return array;
  std::string wanted;
  for (const size_t n : shape) wanted += (wanted.empty() ? "" : ", ") + std::to_string(n);
  throw std::invalid_argument(std::string(what) + " must be a float32 array of shape [" + wanted + "] in row order");
}

void check_numbers(const Answers& array, const char* what) {
  for (size_t i = 0; i < array.size(); ++i) {
    if (!std::isfinite(array.data()[i]))
      throw std::invalid_argument(std::string(what) + " holds what is no number (NaN or infinite)");
  }
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<PyForest>(m, "Forest", "Many searches in step: `tesuji.Search` and the players are built on it.")
      .def(
          "__init__",
          [](PyForest* self, const PyGame& game, const std::vector<PyState*>& states, const nb::dict& settings,
             nb::handle seed, int threads) {
            std::vector<AnyState> roots;
            for (const PyState* state : states) {
              if (!(state->game == game))
                throw std::invalid_argument("a state of another game cannot be searched here");
              roots.push_back(state->state);
            }
            new (self) PyForest(game, std::move(roots), read_search_settings(settings), seed_of(seed), threads);
          },
          "game"_a, "states"_a, "settings"_a, "seed"_a, "threads"_a,
          nb::sig("def __init__(self, game: Game, states: list[State], settings: dict[str, object], seed: int, "
                  "threads: int) -> None"))
      .def("__len__", [](const PyForest& f) { return f.forest.size(); })
      .def(
          "collect",
          [](PyForest& f) {
            if (f.waiting) throw std::invalid_argument("the leaves before were not answered");
            nb::gil_scoped_release unlocked;
            return f.waiting = f.forest.collect();
          },
          "Grows every tree to new leaves; how many wait for an answer.")
      .def(
          "planes",
          [](PyForest& f, nb::handle encoding_name) {
            const Encoding& encoding = f.game.encoding(encoding_name);
            const Grid& grid = f.game.spec().grid;
            const std::vector<size_t> shape{static_cast<size_t>(f.waiting), static_cast<size_t>(encoding.channels()),
                                            static_cast<size_t>(grid.rows), static_cast<size_t>(grid.cols)};
            std::vector<float> values(shape[0] * shape[1] * shape[2] * shape[3]);
            {
              nb::gil_scoped_release unlocked;
              f.forest.encode(encoding, values.data());
            }
            return make_array(std::move(values), shape);
          },
          "encoding"_a = "tesuji",
          nb::sig("def planes(self, encoding: str = 'tesuji') -> numpy.typing.NDArray[numpy.float32]"),
          "[leaves, planes, rows, cols]: what a network sees of the waiting leaves.")
      .def(
          "deliver",
          [](PyForest& f, nb::handle policy, nb::handle value) {
            const auto leaves = static_cast<size_t>(f.waiting);
            const Answers logits = answers(policy, "policy", {leaves, static_cast<size_t>(f.game.spec().actions)});
            const Answers values = answers(value, "value", {leaves});
            check_numbers(logits, "policy");
            check_numbers(values, "value");
            f.waiting = 0;
            nb::gil_scoped_release unlocked;
            std::vector<Chances> chances(leaves);
            for (size_t i = 0; i < leaves; ++i) chances[i] = {values.data()[i], 0};
            f.forest.deliver(logits.data(), chances.data());
          },
          "policy"_a.none(), "value"_a.none(),
          nb::sig("def deliver(self, policy: numpy.typing.NDArray[numpy.float32], value: "
                  "numpy.typing.NDArray[numpy.float32]) -> None"),
          "Logits [leaves, actions] and values [leaves], each for the leaf's mover.")
      .def(
          "run",
          [](PyForest& f, nb::handle evaluator, int rollouts, double seconds) {
            const auto text = text_of(evaluator, "an evaluator is named by a text");
            if (text != "rollout" && text != "uniform")
              throw std::invalid_argument("there is no evaluator " + shown(evaluator) +
                                          ": there are rollout and uniform");
            const auto inner = text == "rollout" ? Search::Inner::rollout : Search::Inner::uniform;
            const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
            bool more = true;
            run_interruptibly([&] {
              more = f.forest.simulate(inner, rollouts, 64);
              return more && std::chrono::steady_clock::now() < until;
            });
            return !more;
          },
          "evaluator"_a.none(), "rollouts"_a = 1, "seconds"_a = 1e9,
          nb::sig("def run(self, evaluator: str, rollouts: int = 1, seconds: float = 1e9) -> bool"),
          "Searches with an evaluator of the core ('rollout' or 'uniform') for at most so many seconds; whether all "
          "searches have ended.")
      .def(
          "run_net",
          [](PyForest& f, const CpuNet& net, nb::handle encoding_name, double seconds) {
            if (f.waiting) throw std::invalid_argument("the leaves before were not answered");
            const Encoding& encoding = f.game.encoding(encoding_name);
            const Spec& spec = f.game.spec();
            if (net.planes() != static_cast<size_t>(encoding.channels()) * spec.grid.cells() ||
                net.actions() != static_cast<size_t>(spec.actions))
              throw std::invalid_argument("the net is for another game or other planes");
            const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
            bool more = true;
            run_interruptibly([&] {
              more = f.forest.step(net, encoding);
              return more && std::chrono::steady_clock::now() < until;
            });
            return !more;
          },
          "net"_a, "encoding"_a, "seconds"_a,
          nb::sig("def run_net(self, net: CpuNet, encoding: str, seconds: float) -> bool"),
          "Searches with a net of the core for at most so many seconds; whether all searches have ended.")
      .def(
          "restart",
          [](PyForest& f, int tree, const PyState& state, const std::vector<int>& moves_since) {
            f.check(tree);
            f.forest.search(tree).restart(state.state, moves_since);
          },
          "tree"_a, "state"_a, "moves_since"_a,
          "Another search in that tree; what the moves since its root lead to is kept.")
      .def(
          "extend",
          [](PyForest& f, int tree, int visits, double seconds) {
            f.check(tree);
            f.forest.search(tree).extend(visits, seconds);
          },
          "tree"_a, "visits"_a, "seconds"_a,
          "Goes on in that tree, up to so many visits of its root and for so many seconds (0: no limit).")
      .def(
          "report",
          [](const PyForest& f, int tree) {
            f.check(tree);
            nb::list moves;
            for (const MoveReport& r : f.forest.search(tree).report()) {
              std::optional<int> proven;
              if (r.bounds.proven()) proven = r.bounds.low;
              moves.append(nb::make_tuple(r.action, r.visits, r.value, r.prior, r.improved, proven, r.line));
            }
            return moves;
          },
          "tree"_a,
          nb::sig("def report(self, tree: int) -> list[tuple[int, int, float, float, float, int | None, list[int]]]"),
          "The root's moves, best first: action, visits, value for First, prior, improved policy, proven result, line.")
      .def(
          "root",
          [](const PyForest& f, int tree) {
            f.check(tree);
            const Search& s = f.forest.search(tree);
            const Node& root = s.tree().node(Tree::kRoot);
            std::optional<int> proven, plies;
            if (root.bounds.proven()) proven = root.bounds.low;
            if (proven && root.plies < kFar) plies = root.plies;
            return nb::make_tuple(root.visits, s.root_value(), proven, plies, stop_name(s.stop()), s.tree().size(),
                                  s.tree().bytes());
          },
          "tree"_a, nb::sig("def root(self, tree: int) -> tuple[int, float, int | None, int | None, str, int, int]"),
          "Of the root: visits, value for First, proven result, plies to it where known, what ended the search, nodes, "
          "bytes.")
      .def(
          "depth",
          [](const PyForest& f, int tree) {
            f.check(tree);
            const Tree::Depth found = f.forest.search(tree).tree().depth();
            return nb::make_tuple(found.most, found.mean);
          },
          "tree"_a, nb::sig("def depth(self, tree: int) -> tuple[int, float]"),
          "Plies from a tree's root to its farthest node, and of a visit on average.");
}

}  // namespace tesuji
