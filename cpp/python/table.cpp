// The door to learned tables. What crosses it is the table's memory itself; files are Python's.
#include "../search/table.hpp"

#include "door.hpp"

namespace tesuji {

namespace {

TableModel model_of(nb::handle given) {
  const auto text = text_of(given, "a model is named by a text");
  if (text == "free") return TableModel::free;
  if (text == "greedy") return TableModel::greedy;
  throw std::invalid_argument("there is no model " + shown(given) + ": there are free, greedy");
}

const PyGame& game_of(nb::handle given) {
  if (!nb::isinstance<PyGame>(given)) refuse_type("a table is of a tesuji.Game", given);
  return nb::cast<const PyGame&>(given);
}

}  // namespace

void bind_table(nb::module_& m) {
  nb::class_<DotsTable>(m, "DotsTable", "Visits and wins of every set of edges of Dots and Boxes.")
      .def(
          "__init__",
          [](DotsTable* self, nb::handle game, nb::handle model) {
            new (self) DotsTable(*game_of(game).table, model_of(model));
          },
          "game"_a.none(), "model"_a.none(), nb::sig("def __init__(self, game: Game, model: str) -> None"))
      .def(
          "train",
          [](DotsTable& t, nb::handle given_end, double exploration, nb::handle given_seed, nb::handle given) {
            const uint64_t seed = seed_of(given_seed);
            const int threads = static_cast<int>(whole("threads", given, 1, 256));
            const int64_t end = whole("end", given_end, t.trained(), DotsTable::kMostGames);
            nb::gil_scoped_release unlocked;
            const TableTally tally = t.train(end, exploration, seed, threads);
            return std::vector<int64_t>{tally.first, tally.drawn, tally.second, tally.plies};
          },
          "end"_a.none(), "exploration"_a, "seed"_a.none(), "threads"_a.none(),
          nb::sig("def train(self, end: int, exploration: float, seed: int, threads: int) -> list[int]"),
          "Plays the games up to this number; First's wins, draws, Second's wins, plies.")
      .def_prop_rw("trained", &DotsTable::trained, &DotsTable::set_trained, "How many games it was trained with.")
      .def_prop_ro(
          "words",
          [](nb::handle self) {
            auto& t = nb::cast<DotsTable&>(self);
            const size_t shape[] = {t.states()};
            return nb::ndarray<nb::numpy, uint64_t>(t.words(), 1, shape, self);
          },
          nb::sig("def words(self) -> numpy.typing.NDArray[numpy.uint64]"),
          "[2^edges], the memory itself: visits in the low half of a word, wins in the high half.");
  m.def(
      "dots_boxes", [](nb::handle game) { return DotsBoard(*game_of(game).table).boxes; }, "game"_a.none(),
      nb::sig("def dots_boxes(game: Game) -> list[int]"), "The four edges of each box, as a set of bits.");
}

}  // namespace tesuji
