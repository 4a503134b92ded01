// Games and their states under the names that users type. No rules here, and no loops that could live in the core.

#include "../core/laws.hpp"
#include "door.hpp"

namespace tesuji {
namespace {

uint64_t count_sequences(const AnyState& state, nb::handle given) {
  const int depth = static_cast<int>(whole("depth", given, 0, 30));
  if (depth == 0) return 1;
  // A count that no machine finishes is refused before it begins.
  const auto legal = state.legal();
  double most = 1;
  for (int i = 0; i < depth; ++i)
    most *= std::max<double>(1, static_cast<double>(legal.size()) - (legal.size() < 64 ? i : 0));
  if (most > 1e12)
    throw std::invalid_argument("depth " + std::to_string(depth) +
                                " is too deep here: there may be more than 10^12 move sequences");
  uint64_t sum = 0;
  size_t i = 0;
  if (legal.empty()) return 0;
  run_interruptibly([&] {
    AnyState next = state;
    next.game().play(next.get(), legal[i]);
    sum += next.game().perft(next.get(), depth - 1);
    return ++i < legal.size();
  });
  return sum;
}

Array<int8_t> random_results(const AnyState& state, nb::handle given_games, nb::handle seed, bool uniform) {
  const int64_t games = games_of(given_games);
  std::vector<int8_t> results(games);
  Random random(seed_of(seed));
  AnyState scratch = state;
  const AnyGame& game = state.game();
  const auto playout = uniform ? game.play_uniformly : game.playout;
  int64_t i = 0;
  if (games > 0) {
    run_interruptibly([&] {
      for (const int64_t until = std::min(games, i + 64); i < until; ++i) {
        game.assign(scratch.get(), state.get());
        playout(scratch.get(), random);
        results[i] = static_cast<int8_t>(game.result(scratch.get()));
      }
      return i < games;
    });
  }
  return make_array(std::move(results), {static_cast<size_t>(games)});
}

/// For First: who owns each cell at the end of random games, on average.
std::optional<Array<float>> random_ownership(const AnyState& state, nb::handle given_games, nb::handle seed) {
  const int64_t games = whole("games", given_games, 1, 1'000'000'000);
  const AnyGame& game = state.game();
  if (!game.ownership) return std::nullopt;
  const Grid& grid = game.spec.grid;
  std::vector<int64_t> sums(grid.cells(), 0);
  std::vector<int8_t> owners(grid.cells());
  Random random(seed_of(seed));
  AnyState scratch = state;
  int64_t i = 0;
  run_interruptibly([&] {
    for (const int64_t until = std::min(games, i + 64); i < until; ++i) {
      game.assign(scratch.get(), state.get());
      game.playout(scratch.get(), random);
      game.ownership(scratch.get(), owners.data());
      for (size_t cell = 0; cell < sums.size(); ++cell) sums[cell] += owners[cell];
    }
    return i < games;
  });
  std::vector<float> means(sums.size());
  for (size_t cell = 0; cell < sums.size(); ++cell)
    means[cell] = static_cast<float>(static_cast<double>(sums[cell]) / static_cast<double>(games));
  return make_array(std::move(means), {static_cast<size_t>(grid.rows), static_cast<size_t>(grid.cols)});
}

/// Random games for `seconds`, and their plies: what `tesuji bench rules` counts.
std::pair<int64_t, int64_t> time_playouts(const PyGame& game, nb::handle given, nb::handle seed, bool uniform) {
  const double seconds = real("seconds", given);
  if (!(seconds > 0 && seconds <= 3600)) throw std::invalid_argument("seconds must lie above 0 and at most at 3600");
  const AnyState start = game.start();
  AnyState scratch = start;
  Random random(seed_of(seed));
  const auto playout = uniform ? game.table->play_uniformly : game.table->playout;
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int64_t games = 0, plies = 0;
  run_interruptibly([&] {
    for (int i = 0; i < 16; ++i, ++games) {
      game.table->assign(scratch.get(), start.get());
      plies += playout(scratch.get(), random);
    }
    return std::chrono::steady_clock::now() < until;
  });
  return {games, plies};
}

PyState random_state(const PyGame& game, nb::handle seed, nb::handle plies) {
  const long long most = plies.is_none() ? game.spec().max_plies : whole("plies", plies, 0, 1'000'000);
  PyState state(game);
  Random random(seed_of(seed));
  for (long long i = 0; i < most; ++i) {
    const auto legal = state.state.legal();
    if (legal.empty()) break;
    state.play(legal[random.below(static_cast<int>(legal.size()))]);
  }
  return state;
}

nb::object planes_of(const PyState& s, nb::handle encoding_name, nb::object out) {
  const Encoding& encoding = s.game.encoding(encoding_name);
  const Grid& grid = s.game.spec().grid;
  const std::vector<size_t> shape{static_cast<size_t>(encoding.channels()), static_cast<size_t>(grid.rows),
                                  static_cast<size_t>(grid.cols)};
  if (out.is_none()) {
    std::vector<float> values(shape[0] * shape[1] * shape[2]);
    s.state.encode(encoding, values.data());
    return nb::cast(make_array(std::move(values), shape));
  }
  nb::ndarray<float, nb::c_contig, nb::device::cpu> array;
  bool fits = nb::try_cast(out, array, false) && array.ndim() == 3;
  for (int i = 0; fits && i < 3; ++i) fits = array.shape(i) == shape[i];
  if (!fits) {
    throw std::invalid_argument("out must be a writable float32 array of shape [" + std::to_string(shape[0]) + ", " +
                                std::to_string(shape[1]) + ", " + std::to_string(shape[2]) + "] in row order");
  }
  s.state.encode(encoding, array.data());
  return out;
}

nb::object unpack(const PyGame& game, nb::handle packed, nb::handle encoding_name, nb::object out) {
  const Encoding& encoding = game.encoding(encoding_name);
  const Grid& grid = game.spec().grid;
  const auto words = static_cast<size_t>(encoding.packed_words());
  nb::ndarray<const uint64_t, nb::c_contig, nb::device::cpu> rows;
  if (!nb::try_cast(packed, rows, false) || rows.ndim() != 2 || rows.shape(1) != words) {
    throw std::invalid_argument("packed must be a uint64 array of shape [positions, " + std::to_string(words) +
                                "] in row order");
  }
  const size_t count = rows.shape(0), channels = encoding.channels(), cells = grid.cells();
  std::vector<float> values;
  float* target = nullptr;
  if (out.is_none()) {
    values.resize(count * channels * cells);
    target = values.data();
  } else {
    nb::ndarray<float, nb::c_contig, nb::device::cpu> array;
    const std::array<size_t, 4> shape{count, channels, static_cast<size_t>(grid.rows), static_cast<size_t>(grid.cols)};
    bool fits = nb::try_cast(out, array, false) && array.ndim() == 4;
    for (int i = 0; fits && i < 4; ++i) fits = array.shape(i) == shape[i];
    if (!fits) {
      throw std::invalid_argument("out must be a writable float32 array of shape [" + std::to_string(count) + ", " +
                                  std::to_string(channels) + ", " + std::to_string(grid.rows) + ", " +
                                  std::to_string(grid.cols) + "] in row order");
    }
    target = array.data();
  }
  {
    nb::gil_scoped_release unlocked;
    for (size_t i = 0; i < count; ++i) encoding.unpack(rows.data() + i * words, target + i * channels * cells);
  }
  if (!out.is_none()) return out;
  return nb::cast(
      make_array(std::move(values), {count, channels, static_cast<size_t>(grid.rows), static_cast<size_t>(grid.cols)}));
}

}  // namespace

void bind_games(nb::module_& m) {
  nb::exception<IllegalMove>(m, "IllegalMove", PyExc_ValueError).attr("__doc__") =
      "A move that the rules do not allow here.";

  nb::class_<PyGame>(m, "Game", "A game with its rule numbers set. A value: equal if name and numbers are.")
      .def(nb::init<nb::handle, nb::handle>(), "name"_a.none(), "numbers"_a.none() = nb::dict(),
           nb::sig("def __init__(self, name: str, numbers: dict[str, float] = {}) -> None"))
      .def_prop_ro("name", [](const PyGame& g) { return g.spec().name; })
      .def_prop_ro(
          "title", [](const PyGame& g) { return g.spec().title; }, "The game's name for people.")
      .def_prop_ro(
          "version", [](const PyGame& g) { return g.spec().version; }, "Raised when rules or planes change.")
      .def_prop_ro("rows", [](const PyGame& g) { return g.spec().grid.rows; })
      .def_prop_ro("cols", [](const PyGame& g) { return g.spec().grid.cols; })
      .def_prop_ro(
          "look",
          [](const PyGame& g) { return std::array{"crossings", "cells", "edges"}[static_cast<int>(g.spec().look)]; },
          "'crossings', 'cells' or 'edges'.")
      .def_prop_ro(
          "block", [](const PyGame& g) { return g.spec().block; },
          "Cells between the rules of the drawing; 0 where there are none.")
      .def_prop_ro(
          "actions", [](const PyGame& g) { return g.spec().actions; }, "How many actions there are.")
      .def_prop_ro(
          "max_plies", [](const PyGame& g) { return g.spec().max_plies; }, "No game is longer.")
      .def_prop_ro("numbers", &PyGame::number_map, "The rule numbers, such as komi.")
      .def_prop_ro(
          "number_ranges",
          [](const PyGame& g) {
            nb::dict ranges;
            for (const Number& n : g.spec().numbers)
              ranges[n.name] = nb::make_tuple(n.initial, n.least, n.most, n.step, n.meaning);
            return ranges;
          },
          nb::sig("def number_ranges(self) -> dict[str, tuple[float, float, float, float, str]]"),
          "Of each rule number: its default, the least, the most, the step between, and what it means.")
      .def_prop_ro(
          "symmetries", [](const PyGame& g) { return count(g.spec().symmetry); },
          "How many symmetries the game has, the identity among them.")
      .def_prop_ro(
          "scored", [](const PyGame& g) { return g.spec().scored; }, "Whether states have a score.")
      .def_prop_ro(
          "owned", [](const PyGame& g) { return !g.spec().ownable.empty(); }, "Whether states have an ownership.")
      .def_prop_ro(
          "transposes", [](const PyGame& g) { return g.spec().transposes; },
          "Whether equal states often come about by other orders of moves.")
      .def_prop_ro(
          "wise_playouts", [](const PyGame& g) { return g.spec().wise_playout; },
          "Whether playouts are wiser than uniformly random play.")
      .def_prop_ro(
          "encodings",
          [](const PyGame& g) {
            std::vector<std::string> names;
            for (const Encoding& e : g.spec().encodings) names.push_back(e.name);
            return names;
          },
          "The names that planes(…) takes: 'tesuji'; 'paper' where a study has its own; 'boards' of small boards.")
      .def(
          "plane_names",
          [](const PyGame& g, nb::handle encoding) {
            auto names = g.encoding(encoding).planes;
            const auto& scalars = g.encoding(encoding).scalars;
            names.insert(names.end(), scalars.begin(), scalars.end());
            return names;
          },
          "encoding"_a.none() = "tesuji", nb::sig("def plane_names(self, encoding: str = 'tesuji') -> list[str]"),
          "What each plane shows, in order.")
      .def(
          "packed_words", [](const PyGame& g, nb::handle encoding) { return g.encoding(encoding).packed_words(); },
          "encoding"_a.none() = "tesuji", nb::sig("def packed_words(self, encoding: str = 'tesuji') -> int"),
          "How many 64-bit words a packed position has.")
      .def(
          "scalar_count", [](const PyGame& g, nb::handle encoding) { return g.encoding(encoding).scalars.size(); },
          "encoding"_a.none() = "tesuji", nb::sig("def scalar_count(self, encoding: str = 'tesuji') -> int"),
          "How many of the planes, the last ones, are a number spread over a whole plane.")
      .def("unpack", &unpack, "packed"_a.none(), "encoding"_a.none() = "tesuji", "out"_a.none() = nb::none(),
           nb::sig("def unpack(self, packed: numpy.typing.NDArray[numpy.uint64], encoding: str = 'tesuji', "
                   "out: numpy.typing.NDArray[numpy.float32] | None = None) -> numpy.typing.NDArray[numpy.float32]"),
           "[positions, planes, rows, cols] of packed positions [positions, packed_words].")
      .def(
          "ownable",
          [](const PyGame& g) {
            const auto& spec = g.spec();
            std::vector<uint8_t> cells(spec.grid.cells(), 0);
            std::copy(spec.ownable.begin(), spec.ownable.end(), cells.begin());
            return make_array(std::move(cells),
                              {static_cast<size_t>(spec.grid.rows), static_cast<size_t>(spec.grid.cols)});
          },
          "[rows, cols]: 1 where a cell can have an owner.")
      .def(
          "start", [](const PyGame& g) { return PyState(g); }, "The state before the first move.")
      .def("replay", &replay, "moves"_a.none(),
           nb::sig("def replay(self, moves: str | collections.abc.Iterable[int | str]) -> State"),
           "The state after the moves: a list, or a text such as 'e5 c3'.")
      .def("random", &random_state, "seed"_a.none(), "plies"_a.none() = nb::none(),
           nb::sig("def random(self, seed: int, plies: int | None = None) -> State"),
           "A state after uniformly random legal moves: so many plies, or to the end.")
      .def(
          "parse",
          [](const PyGame& g, nb::handle text) {
            if (!PyUnicode_Check(text.ptr())) refuse_type("a move is read from a text", text);
            return to_action(g, text);
          },
          "text"_a.none(), nb::sig("def parse(self, text: str) -> int"), "The action that a text names.")
      .def(
          "text", [](const PyGame& g, nb::handle action) { return g.table->text(to_action(g, action)); },
          "action"_a.none(), nb::sig("def text(self, action: int | str) -> str"), "The text of an action.")
      .def(
          "locate",
          [](const PyGame& g, nb::handle action) -> std::optional<int> {
            const int cell = g.spec().locate[to_action(g, action)];
            return cell < 0 ? std::nullopt : std::optional(cell);
          },
          "action"_a.none(), nb::sig("def locate(self, action: int | str) -> int | None"),
          "The action's cell, by rows from the top left; None off the board.")
      .def(
          "permutation",
          [](const PyGame& g, nb::handle given) {
            const int symmetry = g.symmetry(given);
            std::vector<int32_t> to(g.spec().actions);
            for (int action = 0; action < g.spec().actions; ++action) to[action] = g.spec().carry(symmetry, action);
            return make_array(std::move(to), {static_cast<size_t>(g.spec().actions)});
          },
          "symmetry"_a.none(), nb::sig("def permutation(self, symmetry: int) -> numpy.typing.NDArray[numpy.int32]"),
          "[actions]: where a symmetry carries each action.")
      .def(
          "perft", [](const PyGame& g, nb::handle depth) { return count_sequences(g.start(), depth); },
          "depth"_a.none(), nb::sig("def perft(self, depth: int) -> int"),
          "How many move sequences of that length there are.")
      .def(
          "playouts",
          [](const PyGame& g, nb::handle games, nb::handle seed, bool uniform) {
            return random_results(g.start(), games, seed, uniform);
          },
          "games"_a.none(), nb::kw_only(), "seed"_a.none() = 0, "uniform"_a = false,
          nb::sig("def playouts(self, games: int, *, seed: int = 0, uniform: bool = False) -> "
                  "numpy.typing.NDArray[numpy.int8]"),
          "[games]: results of random games from the start.")
      .def("time_playouts", &time_playouts, "seconds"_a.none(), nb::kw_only(), "seed"_a.none() = 0, "uniform"_a = false,
           nb::sig(
               "def time_playouts(self, seconds: float, *, seed: int = 0, uniform: bool = False) -> tuple[int, int]"),
           "Random games for so many seconds: their number and their plies.")
      .def(
          "broken_laws",
          [](const PyGame& g, nb::handle given_games, nb::handle given_seed) {
            const int games = static_cast<int>(games_of(given_games));
            const uint64_t seed = seed_of(given_seed);
            nb::gil_scoped_release unlocked;
            return broken_laws(*g.table, games, seed);
          },
          "games"_a.none() = 20, nb::kw_only(), "seed"_a.none() = 0,
          nb::sig("def broken_laws(self, games: int = 20, *, seed: int = 0) -> list[str]"),
          "A sentence for each law of games that random play shows broken.")
      .def(
          "__eq__",
          [](const PyGame& g, nb::handle o) { return nb::isinstance<PyGame>(o) && g == nb::cast<const PyGame&>(o); },
          nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const PyGame& g) { return nb::hash(nb::make_tuple(g.spec().name, nb::tuple(nb::cast(g.numbers)))); })
      .def("__repr__",
           [](const PyGame& g) {
             std::string out = "tesuji.game('" + g.spec().name + "'";
             for (size_t i = 0; i < g.numbers.size(); ++i) {
               const Number& number = g.spec().numbers[i];
               if (g.numbers[i] != number.initial) out += ", " + (number.name + ("=" + number_text(g.numbers[i])));
             }
             return out + ")";
           })
      .def(
          "__reduce__",
          [](nb::handle self) {
            const auto& g = nb::cast<const PyGame&>(self);
            return nb::make_tuple(self.type(), nb::make_tuple(g.spec().name, g.number_map()));
          },
          nb::sig("def __reduce__(self) -> tuple[type[Game], tuple[object, ...]]"));

  nb::class_<PyState>(m, "State", "A state of a game. A value: play gives a new one.")
      .def(
          "__init__",
          [](PyState* self, nb::handle game, nb::handle moves) {
            if (!nb::isinstance<PyGame>(game)) refuse_type("a state is of a tesuji.Game", game);
            new (self) PyState(replay(nb::cast<const PyGame&>(game), moves));
          },
          "game"_a.none(), "moves"_a.none() = nb::tuple(),
          nb::sig("def __init__(self, game: Game, moves: str | collections.abc.Iterable[int | str] = ()) -> None"))
      .def_prop_ro("game", [](const PyState& s) { return s.game; })
      .def_prop_ro(
          "history", [](const PyState& s) { return s.history; }, "The actions that led here.")
      .def_prop_ro(
          "to_play", [](const PyState& s) { return s.state.to_play(); }, "0 First, 1 Second.")
      .def_prop_ro(
          "result",
          [](const PyState& s) -> std::optional<int> {
            const Result r = s.state.result();
            return r == Result::ongoing ? std::nullopt : std::optional(static_cast<int>(r));
          },
          "+1 First won, 0 drawn, −1 Second won; None while the game goes on.")
      .def_prop_ro(
          "score",
          [](const PyState& s) -> std::optional<double> {
            return s.game.table->score ? std::optional(s.game.table->score(s.state.get())) : std::nullopt;
          },
          "First's margin as the board stands; None where the game has none.")
      .def(
          "ownership",
          [](const PyState& s) -> std::optional<Array<int8_t>> {
            const auto& spec = s.game.spec();
            if (!s.game.table->ownership) return std::nullopt;
            std::vector<int8_t> cells(spec.grid.cells());
            s.game.table->ownership(s.state.get(), cells.data());
            return make_array(std::move(cells),
                              {static_cast<size_t>(spec.grid.rows), static_cast<size_t>(spec.grid.cols)});
          },
          "[rows, cols]: +1 First's, −1 Second's, 0 nobody's, as the board stands; None where the game has none.")
      .def(
          "legal", [](const PyState& s) { return s.state.legal(); }, "The legal actions, ascending; none at the end.")
      .def(
          "moves",
          [](const PyState& s) {
            std::vector<std::string> texts;
            for (const int action : s.state.legal()) texts.push_back(s.game.table->text(action));
            return texts;
          },
          "The legal moves, as texts.")
      .def(
          "play",
          [](const PyState& s, nb::handle move) {
            PyState next = s;
            next.play(to_action(s.game, move));
            return next;
          },
          "move"_a.none(), nb::sig("def play(self, move: int | str) -> State"),
          "The state after a move, which is a text or an action.")
      .def("planes", &planes_of, "encoding"_a.none() = "tesuji", "out"_a.none() = nb::none(),
           nb::sig("def planes(self, encoding: str = 'tesuji', out: numpy.typing.NDArray[numpy.float32] | None = None) "
                   "-> numpy.typing.NDArray[numpy.float32]"),
           "[planes, rows, cols]: what a network sees, from the mover's side.")
      .def(
          "packed",
          [](const PyState& s, nb::handle encoding_name) {
            const Encoding& encoding = s.game.encoding(encoding_name);
            std::vector<uint64_t> row(encoding.packed_words());
            s.state.encode_packed(encoding, row.data());
            const size_t words = row.size();
            return make_array(std::move(row), {words});
          },
          "encoding"_a.none() = "tesuji",
          nb::sig("def packed(self, encoding: str = 'tesuji') -> numpy.typing.NDArray[numpy.uint64]"),
          "[packed_words]: the same packed, a bit a cell.")
      .def(
          "glyphs",
          [](const PyState& s) {
            const auto& grid = s.game.spec().grid;
            std::vector<std::string> rows;
            for (int row = 0; row < grid.rows; ++row) {
              rows.emplace_back();
              for (int col = 0; col < grid.cols; ++col)
                rows.back() += s.game.table->glyph(s.state.get(), row * grid.cols + col);
            }
            return rows;
          },
          "A character a cell, a text a row.")
      .def(
          "line",
          [](const PyState& s) {
            std::vector<int> cells;
            if (!s.game.table->line) return cells;
            std::vector<uint64_t> words(s.game.spec().cell_words());
            s.game.table->line(s.state.get(), words.data());
            for (int cell = 0; cell < s.game.spec().grid.cells(); ++cell) {
              if (words[cell / 64] >> (cell % 64) & 1) cells.push_back(cell);
            }
            return cells;
          },
          "The cells of the row that won; none where no row decides.")
      .def(
          "diagram", [](const PyState& s) { return s.state.diagram(); }, "The board in characters.")
      .def(
          "carried",
          [](const PyState& s, nb::handle given) {
            const int symmetry = s.game.symmetry(given);
            PyState image(s.game);
            for (const int action : s.history) image.play(s.game.spec().carry(symmetry, action));
            return image;
          },
          "symmetry"_a.none(), nb::sig("def carried(self, symmetry: int) -> State"),
          "The state that the same game leads to when a symmetry carries every move.")
      .def(
          "perft", [](const PyState& s, nb::handle depth) { return count_sequences(s.state, depth); }, "depth"_a.none(),
          nb::sig("def perft(self, depth: int) -> int"), "How many move sequences of that length begin here.")
      .def(
          "playouts",
          [](const PyState& s, nb::handle games, nb::handle seed, bool uniform) {
            return random_results(s.state, games, seed, uniform);
          },
          "games"_a.none(), nb::kw_only(), "seed"_a.none() = 0, "uniform"_a = false,
          nb::sig("def playouts(self, games: int, *, seed: int = 0, uniform: bool = False) -> "
                  "numpy.typing.NDArray[numpy.int8]"),
          "[games]: results of random games from here.")
      .def(
          "expected_ownership",
          [](const PyState& s, nb::handle games, nb::handle seed) { return random_ownership(s.state, games, seed); },
          "games"_a.none(), nb::kw_only(), "seed"_a.none() = 0,
          nb::sig("def expected_ownership(self, games: int, *, seed: int = 0) -> "
                  "numpy.typing.NDArray[numpy.float32] | None"),
          "[rows, cols] in [−1, 1], for First: who owns each cell at the end of random games from here, on average; "
          "None where the game has none.")
      .def(
          "__eq__",
          [](const PyState& s, nb::handle o) {
            if (!nb::isinstance<PyState>(o)) return false;
            const auto& other = nb::cast<const PyState&>(o);
            return s.game == other.game && s.state == other.state;
          },
          nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const PyState& s) { return static_cast<int64_t>(s.state.hash()); })
      .def("__str__",
           [](const PyState& s) {
             const Result r = s.state.result();
             const char* line = r == Result::ongoing
                                    ? (s.state.to_play() == 0 ? "First (X) to play" : "Second (O) to play")
                                : r == Result::draw  ? "Drawn"
                                : r == Result::first ? "First (X) won"
                                                     : "Second (O) won";
             return s.state.diagram() + line;
           })
      .def("__repr__",
           [](const PyState& s) {
             std::string moves;
             for (const int action : s.history) moves += (moves.empty() ? "" : " ") + s.game.table->text(action);
             return nb::cast<std::string>(nb::repr(nb::cast(s.game))) + ".replay('" + moves + "')";
           })
      .def(
          "__reduce__",
          [](nb::handle self) {
            const auto& s = nb::cast<const PyState&>(self);
            return nb::make_tuple(self.type(), nb::make_tuple(s.game, s.history));
          },
          nb::sig("def __reduce__(self) -> tuple[type[State], tuple[object, ...]]"));

  m.def(
      "calibrate",
      [](double seconds) {
        nb::gil_scoped_release unlocked;
        return calibrate(seconds);
      },
      "seconds"_a, "Turns a second of a loop of fixed work: how fast this core is right now.");
  m.def(
      "game_names",
      [] {
        std::vector<std::string> names;
        for (const AnyGame& game : all_games()) names.push_back(game.spec.name);
        return names;
      },
      "The names of all games.");
}

}  // namespace tesuji
