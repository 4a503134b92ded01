// Self-play and its records: planes go out and answers come in through arrays that the caller owns.
#include "../selfplay/selfplay.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "../selfplay/samples.hpp"
#include "door.hpp"

namespace tesuji {
namespace {

/// Settings by the names of `tesuji.SelfPlaySettings`, which has checked them.
SelfPlaySettings read_selfplay(const nb::dict& given, const PyGame& game) {
  SelfPlaySettings s;
  s.search = read_search_settings(given);
  const auto read = [&](const char* name, auto& field) {
    field = nb::cast<std::decay_t<decltype(field)>>(given[name]);
  };
  read("full_share", s.full_share);
  read("fast_visits", s.fast_visits);
  read("temperature", s.temperature);
  read("final_temperature", s.final_temperature);
  read("temperature_plies", s.temperature_plies);
  read("opening_share", s.opening_share);
  read("opening_plies", s.opening_plies);
  read("vary_share", s.vary_share);
  read("resign", s.resign);
  read("resign_plies", s.resign_plies);
  read("resign_checked", s.resign_checked);
  read("solve", s.solve);
  read("solve_leaves", s.search.solve);
  read("play_on", s.play_on);
  read("reuse", s.reuse);
  const auto spreads = nb::cast<std::map<std::string, double>>(given["vary"]);
  for (const Number& number : game.spec().numbers) {
    const auto found = spreads.find(number.name);
    s.vary.push_back(found == spreads.end() ? 0 : found->second);
  }
  for (const auto& [name, spread] : spreads) {
    const auto& numbers = game.spec().numbers;
    if (std::none_of(numbers.begin(), numbers.end(), [&](const Number& n) { return name == n.name; }))
      throw std::invalid_argument(game.spec().name + " has no rule number " + name + " to vary: it has " +
                                  listed(numbers, [](const Number& n) { return n.name; }));
  }
  return s;
}

template <class T>
using Buffer = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

/// The memory of an array that must have a shape.
template <class T>
T* memory(const Buffer<T>& array, const char* what, std::vector<size_t> shape) {
  bool fits = array.ndim() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = array.shape(i) == shape[i];
  if (fits) return array.data();
  throw std::invalid_argument(std::string(what) + " must be an array of shape [" +
                              listed(shape, [](size_t n) { return std::to_string(n); }) + "] in row order");
}

struct PySelfPlay {
  PyGame game;
  SelfPlay selfplay;

  PySelfPlay(const PyGame& g, const Encoding& encoding, const SelfPlaySettings& s, int games, uint64_t seed,
             std::shared_ptr<Crew> crew)
      : game(g), selfplay(*g.table, g.numbers, encoding, s, games, seed, std::move(crew)) {}
};

struct PyWindow {
  PyGame game;
  Window window;
};

std::span<const uint8_t> bytes_of(const nb::bytes& given) {
  return {reinterpret_cast<const uint8_t*>(given.c_str()), given.size()};
}

nb::bytes to_bytes(const std::vector<uint8_t>& given) { return nb::bytes(given.data(), given.size()); }

nb::dict record_dict(const PyGame& game, const Record& record) {
  nb::list actions, visits, values, proven, policies;
  for (const auto& ply : record.plies) {
    actions.append(ply.action);
    visits.append(ply.visits);
    values.append(ply.value);
    proven.append(ply.proven == Result::ongoing ? nb::none() : nb::object(nb::int_(static_cast<int>(ply.proven))));
    nb::dict policy;
    for (const auto& [action, share] : ply.policy) policy[nb::int_(action)] = share / double{Record::kWhole};
    policies.append(policy);
  }
  nb::dict numbers;
  for (size_t i = 0; i < record.numbers.size() && i < game.spec().numbers.size(); ++i) {
    numbers[game.spec().numbers[i].name] = record.numbers[i];
  }
  nb::dict all;
  all["numbers"] = numbers;
  all["result"] = static_cast<int>(record.result);
  all["ending"] = ending_name(record.ending);
  all["net"] = record.net;
  all["actions"] = actions;
  all["visits"] = visits;
  all["values"] = values;
  all["proven"] = proven;
  all["policies"] = policies;
  return all;
}

}  // namespace

void bind_selfplay(nb::module_& m) {
  nb::class_<Crew>(m, "Crew", "Threads of the core that share out work.")
      .def(
          "__init__",
          [](Crew* self, nb::handle threads) { new (self) Crew(static_cast<int>(whole("threads", threads, 1, 1024))); },
          "threads"_a, nb::sig("def __init__(self, threads: int) -> None"))
      .def_prop_ro("threads", &Crew::threads);

  nb::class_<PySelfPlay>(m, "SelfPlay", "Many endless games in step: `tesuji.SelfPlay` drives it.")
      .def(
          "__init__",
          [](PySelfPlay* self, const PyGame& game, nb::handle encoding, const nb::dict& settings, nb::handle games,
             nb::handle seed, std::shared_ptr<Crew> crew) {
            new (self) PySelfPlay(game, game.encoding(encoding), read_selfplay(settings, game),
                                  static_cast<int>(whole("games", games, 1, 1 << 20)), seed_of(seed), std::move(crew));
          },
          "game"_a, "encoding"_a, "settings"_a, "games"_a, "seed"_a, "crew"_a,
          nb::sig("def __init__(self, game: Game, encoding: str, settings: dict[str, object], games: int, seed: int, "
                  "crew: Crew) -> None"))
      .def("__len__", [](const PySelfPlay& s) { return s.selfplay.games(); })
      .def_prop_ro(
          "positions", [](const PySelfPlay& s) { return s.selfplay.counters().positions; },
          "To learn from, since the beginning.")
      .def(
          "begin_step",
          [](PySelfPlay& s, const Buffer<const float>& policy, const Buffer<const float>& value,
             const Buffer<uint64_t>& planes) {
            const auto games = static_cast<size_t>(s.selfplay.games());
            const Spec& spec = s.game.spec();
            const float* logits = memory(policy, "policy", {games, static_cast<size_t>(spec.actions)});
            const float* values = memory(value, "value", {games});
            uint64_t* out =
                memory(planes, "planes", {games, static_cast<size_t>(s.selfplay.encoding().packed_words())});
            nb::gil_scoped_release unlocked;
            s.selfplay.begin_step(logits, values, out);
          },
          "policy"_a, "value"_a, "planes"_a,
          nb::sig("def begin_step(self, policy: numpy.typing.NDArray[numpy.float32], value: "
                  "numpy.typing.NDArray[numpy.float32], planes: numpy.typing.NDArray[numpy.uint64]) -> None"),
          "Takes the answers to the last leaves (none at the first step) and writes the planes of the next, while the "
          "caller goes on; the arrays must stay until end_step.")
      .def(
          "end_step", [](PySelfPlay& s) { s.selfplay.end_step(); }, nb::call_guard<nb::gil_scoped_release>(),
          "Returns when the planes are written.")
      .def(
          "take", [](PySelfPlay& s) { return to_bytes(s.selfplay.take()); },
          "Frames of the games that ended since the last call.")
      .def(
          "set_net", [](PySelfPlay& s, uint32_t steps) { s.selfplay.set_net(steps); }, "steps"_a)
      .def(
          "set_resign", [](PySelfPlay& s, double value) { s.selfplay.set_resign(value); }, "value"_a)
      .def(
          "counters",
          [](const PySelfPlay& s) {
            const SelfPlayCounters c = s.selfplay.counters();
            nb::dict all;
            all["games"] = c.games;
            all["plies"] = c.plies;
            all["positions"] = c.positions;
            all["simulations"] = c.simulations;
            all["evaluations"] = c.evaluations;
            all["first_wins"] = c.first_wins;
            all["draws"] = c.draws;
            all["resigned"] = c.resigned;
            all["solved"] = c.solved;
            all["resign_checked"] = c.resign_checked;
            all["resign_wrong"] = c.resign_wrong;
            all["value_error"] = c.value_error;
            return all;
          },
          nb::sig("def counters(self) -> dict[str, float]"), "Totals since the beginning.");

  nb::class_<PyWindow>(m, "Window", "The records to learn from: `tesuji.replay.Window` is built on it.")
      .def(
          "__init__",
          [](PyWindow* self, const PyGame& game, nb::handle encoding, double value_mix, double value_plies) {
            new (self) PyWindow{game, Window(*game.table, game.encoding(encoding), value_mix, value_plies)};
          },
          "game"_a, "encoding"_a, "value_mix"_a, "value_plies"_a,
          nb::sig("def __init__(self, game: Game, encoding: str, value_mix: float, value_plies: float) -> None"))
      .def_prop_ro("games", [](const PyWindow& w) { return w.window.games(); })
      .def_prop_ro("positions", [](const PyWindow& w) { return w.window.positions(); })
      .def_prop_ro(
          "net", [](const PyWindow& w) { return w.window.net(); },
          "The steps of training behind the nets of its games, on average.")
      .def_prop_ro(
          "digest", [](const PyWindow& w) { return w.window.digest(); },
          "Stands for the contents: equal records in equal order give equal ones.")
      .def(
          "append",
          [](PyWindow& w, const nb::bytes& frames, Crew& crew) {
            const auto bytes = bytes_of(frames);
            nb::gil_scoped_release unlocked;
            w.window.append(bytes, crew);
          },
          "frames"_a, "crew"_a)
      .def(
          "trim", [](PyWindow& w, int64_t positions) { w.window.trim(positions); }, "positions"_a)
      .def(
          "sample",
          [](const PyWindow& w, nb::handle seed, Crew& crew, const Buffer<uint64_t>& planes,
             const Buffer<float>& policy, const Buffer<float>& wdl, const Buffer<float>& score,
             const Buffer<int8_t>& ownership, const Buffer<float>& aux_weight) {
            const Spec& spec = w.game.spec();
            if (planes.ndim() == 0 || planes.shape(0) == 0) throw std::invalid_argument("a batch has samples");
            const size_t n = planes.shape(0);
            const uint64_t seed_number = seed_of(seed);
            const BatchArrays out{
                memory(planes, "planes", {n, static_cast<size_t>(w.window.encoding().packed_words())}),
                memory(policy, "policy", {n, static_cast<size_t>(spec.actions)}),
                memory(wdl, "wdl", {n, 3}),
                memory(score, "score", {n}),
                memory(ownership, "ownership", {n, static_cast<size_t>(spec.grid.cells())}),
                memory(aux_weight, "aux_weight", {n})};
            nb::gil_scoped_release unlocked;
            w.window.sample(static_cast<int>(n), seed_number, crew, out);
          },
          "seed"_a, "crew"_a, "planes"_a, "policy"_a, "wdl"_a, "score"_a, "ownership"_a, "aux_weight"_a,
          nb::sig("def sample(self, seed: int, crew: Crew, planes: numpy.typing.NDArray[numpy.uint64], policy: "
                  "numpy.typing.NDArray[numpy.float32], wdl: numpy.typing.NDArray[numpy.float32], score: "
                  "numpy.typing.NDArray[numpy.float32], ownership: numpy.typing.NDArray[numpy.int8], aux_weight: "
                  "numpy.typing.NDArray[numpy.float32]) -> None"),
          "Fills the arrays with positions, each as likely as any other.");

  m.def(
      "scan_frames",
      [](const nb::bytes& frames) {
        FrameReader reader(bytes_of(frames));
        Record record;
        int64_t games = 0, positions = 0;
        while (reader.next(record)) {
          ++games;
          positions += record.positions();
        }
        return nb::make_tuple(reader.read(), games, positions);
      },
      "frames"_a, nb::sig("def scan_frames(frames: bytes) -> tuple[int, int, int]"),
      "Of the whole, sound frames at the start: bytes, games, positions.");
  m.def(
      "read_frames",
      [](const PyGame& game, const nb::bytes& frames) {
        FrameReader reader(bytes_of(frames));
        Record record;
        nb::list all;
        while (reader.next(record)) all.append(record_dict(game, record));
        return all;
      },
      "game"_a, "frames"_a, nb::sig("def read_frames(game: Game, frames: bytes) -> list[dict[str, object]]"),
      "The records in frames, each a dict.");
}

}  // namespace tesuji
