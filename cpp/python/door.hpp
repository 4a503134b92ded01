// What the parts of the door share: games and states as Python holds them, and arguments read with a sentence for what
// is wrong.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <limits>

#include "../core/any.hpp"
#include "../games/all.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesuji {

template <class T>
using Array = nb::ndarray<nb::numpy, T>;

template <class T>
Array<T> make_array(std::vector<T> values, std::vector<size_t> shape) {
  auto* owner = new std::vector<T>(std::move(values));
  nb::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array<T>(owner->data(), shape.size(), shape.data(), free);
}

[[noreturn]] inline void refuse_type(const std::string& sentence, nb::handle given) {
  throw nb::type_error((sentence + ", not " + nb::cast<std::string>(given.type().attr("__name__"))).c_str());
}

/// A text of Python; nothing where it holds halves of characters, which no encoding writes.
inline std::optional<std::string> text_of(nb::handle given, const char* sentence) {
  if (!PyUnicode_Check(given.ptr())) refuse_type(sentence, given);
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size)) return std::string(text, size);
  PyErr_Clear();
  return std::nullopt;
}

/// A text as Python shows it, at most the beginning: one line, and only what prints.
inline std::string shown(nb::handle text) {
  const bool is_long = nb::len(text) > 30;
  const nb::object start = is_long ? nb::object(text[nb::slice(0, 30, 1)]) : nb::borrow(text);
  return nb::cast<std::string>(nb::repr(start)) + (is_long ? "…" : "");
}

/// A number argument, whole or not.
inline double real(const std::string& what, nb::handle given) {
  if (PyBool_Check(given.ptr()) || !PyNumber_Check(given.ptr())) refuse_type(what + " must be a number", given);
  const double value = PyFloat_AsDouble(given.ptr());
  if (!PyErr_Occurred()) return value;
  const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError);
  PyErr_Clear();
  if (too_large) throw std::invalid_argument(what + " is too large a number");
  refuse_type(what + " must be a number", given);
}

/// Names with commas between them.
template <class List, class Name>
std::string listed(const List& list, Name name) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + std::string(name(item));
  return text.empty() ? "none" : text;
}

/// An integer of Python within bounds, and its text; nothing where it is out of them. What is no integer throws a
/// sentence.
inline std::pair<std::optional<long long>, std::string> bounded(nb::handle given, const std::string& sentence,
                                                                long long least, long long most) {
  if (PyBool_Check(given.ptr()) || !PyIndex_Check(given.ptr())) refuse_type(sentence, given);
  const nb::object index = nb::steal(PyNumber_Index(given.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  const std::string text = overflow ? "too large a number" : std::to_string(value);
  if (overflow || value < least || value > most) return {std::nullopt, text};
  return {value, text};
}

/// An integer argument.
inline long long whole(const char* what, nb::handle given, long long least, long long most) {
  const auto [value, text] = bounded(given, std::string(what) + " must be a whole number", least, most);
  if (value) return *value;
  throw std::invalid_argument(std::string(what) + " is " + text + ": give a whole number from " +
                              std::to_string(least) + " to " + std::to_string(most));
}
inline uint64_t seed_of(nb::handle given) {
  return static_cast<uint64_t>(whole("seed", given, 0, std::numeric_limits<long long>::max()));
}
inline int64_t games_of(nb::handle given) { return whole("games", given, 0, 1'000'000'000); }

/// Calls `step` without the interpreter's lock until it says that all is done; Ctrl-C stops it between two calls.
template <class Step>
void run_interruptibly(Step step) {
  for (bool more = true; more;) {
    {
      nb::gil_scoped_release unlocked;
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      do more = step();
      while (more && std::chrono::steady_clock::now() < until);
    }
    if (more && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

/// A game with its rule numbers set: what `tesuji.game(…)` gives.
struct PyGame {
  const AnyGame* table;
  std::vector<double> numbers;

  PyGame(nb::handle name, nb::handle given) : table(nullptr) {
    const auto text = text_of(name, "a game is named by a text");
    for (const AnyGame& game : all_games()) {
      if (game.spec.name == text) table = &game;
    }
    if (!table) throw std::invalid_argument("there is no game " + shown(name));
    for (const Number& number : spec().numbers) numbers.push_back(number.initial);
    if (!nb::isinstance<nb::dict>(given)) refuse_type("rule numbers are given as a dict", given);
    for (const auto& [key, value] : nb::cast<nb::dict>(given)) {
      const auto key_text = text_of(key, "a rule number is named by a text");
      size_t which = 0;
      while (which < numbers.size() && key_text != spec().numbers[which].name) ++which;
      if (which == numbers.size()) {
        throw std::invalid_argument(spec().name + " has no rule number " + shown(key) + ": it has " +
                                    listed(spec().numbers, [](const Number& n) { return n.name; }));
      }
      numbers[which] = real(*key_text, value);
      table->check_number(static_cast<int>(which), numbers[which]);
    }
  }
  const Spec& spec() const { return table->spec; }
  AnyState start() const { return AnyState(*table, numbers); }
  std::map<std::string, double> number_map() const {
    std::map<std::string, double> map;
    for (size_t i = 0; i < numbers.size(); ++i) map[spec().numbers[i].name] = numbers[i];
    return map;
  }
  const Encoding& encoding(nb::handle name) const {
    const auto text = text_of(name, "an encoding is named by a text");
    for (const Encoding& e : spec().encodings) {
      if (e.name == text) return e;
    }
    throw std::invalid_argument(spec().name + " has no encoding " + shown(name) + ": it has " +
                                listed(spec().encodings, [](const Encoding& e) { return e.name; }));
  }
  int symmetry(nb::handle given) const {
    return static_cast<int>(whole("symmetry", given, 0, count(spec().symmetry) - 1));
  }
  bool operator==(const PyGame& o) const { return table == o.table && numbers == o.numbers; }
};

/// A state, and the actions that led to it.
struct PyState {
  PyGame game;
  AnyState state;
  std::vector<int> history;

  explicit PyState(const PyGame& g) : game(g), state(g.start()) {}

  void play(int action) {
    state.play(action);
    history.push_back(action);
  }
};

/// The action that a text or an integer names.
inline int to_action(const PyGame& game, nb::handle move) {
  if (PyUnicode_Check(move.ptr())) {
    const auto text = text_of(move, "");
    const auto action = text ? game.table->parse(game.spec(), *text) : std::nullopt;
    if (!action) game.table->refuse_text(shown(move));
    return *action;
  }
  const int actions = game.spec().actions;
  const auto [value, text] = bounded(move, "a move is a text or an integer action", 0, actions - 1);
  if (value) return static_cast<int>(*value);
  throw IllegalMove("action " + text + " is out of range: " + game.spec().name + " has actions 0 to " +
                    std::to_string(actions - 1));
}

/// The moves of a list, or of a text with blanks or (where a move has blanks) commas between them.
inline std::vector<nb::object> split_moves(nb::handle moves) {
  std::vector<nb::object> list;
  if (!PyUnicode_Check(moves.ptr())) {
    const bool iterable = PyObject_HasAttrString(moves.ptr(), "__iter__") && !PyBytes_Check(moves.ptr());
    if (!iterable) refuse_type("moves are a list or a text", moves);
    for (nb::handle move : nb::iter(moves)) list.push_back(nb::borrow(move));
    return list;
  }
  const auto text = nb::cast<nb::str>(moves);
  const bool commas = nb::cast<bool>(text.attr("__contains__")(","));
  for (nb::handle part : nb::iter(commas ? text.attr("split")(",") : text.attr("split")())) {
    nb::object move = part.attr("strip")();
    if (nb::len(move) > 0) list.push_back(move);
  }
  return list;
}

inline PyState replay(const PyGame& game, nb::handle moves) {
  PyState state(game);
  int number = 0;
  for (const nb::object& move : split_moves(moves)) {
    ++number;
    try {
      state.play(to_action(game, move));
    } catch (const IllegalMove& refusal) {
      throw IllegalMove("move " + std::to_string(number) + ": " + refusal.what());
    } catch (const std::invalid_argument& refusal) {
      throw std::invalid_argument("move " + std::to_string(number) + ": " + refusal.what());
    }
  }
  return state;
}

// ── The parts, a file each ──
void bind_games(nb::module_&);
void bind_search(nb::module_&);
void bind_table(nb::module_&);
void bind_exact(nb::module_&);
void bind_alphabeta(nb::module_&);
void bind_selfplay(nb::module_&);
void bind_net(nb::module_&);

struct SearchSettings;
/// Settings by the names of `tesuji.SearchSettings`, which has checked them.
SearchSettings read_search_settings(const nb::dict&);

}  // namespace tesuji
