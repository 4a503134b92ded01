#include "laws.hpp"

#include <cmath>
#include <map>
#include <set>

namespace tesuji {
namespace {

/// All that can be seen of a state.
struct View {
  int to_play;
  std::vector<int> legal;
  Result result;
  uint64_t hash;
  std::vector<uint64_t> planes;  // of every encoding, packed
  std::vector<float> scalars;
  double score = 0;
  std::vector<int8_t> owners;

  explicit View(const AnyState& state, uint64_t filling = 0)
      : to_play(state.to_play()), legal(state.legal()), result(state.result()), hash(state.hash()) {
    const Spec& spec = state.spec();
    for (const Encoding& encoding : spec.encodings) {
      const int count = static_cast<int>(encoding.planes.size()),
                scalar_count = static_cast<int>(encoding.scalars.size());
      // The writer must not depend on what the buffer held.
      std::vector<uint64_t> words(count * spec.cell_words(), filling);
      std::vector<float> values(scalar_count, filling ? NAN : 0.0f);
      Planes out(words.data(), count, spec.grid.cells(), values.data(), scalar_count);
      encoding.write(state.get(), out);
      planes.insert(planes.end(), words.begin(), words.end());
      scalars.insert(scalars.end(), values.begin(), values.end());
    }
    if (state.game().score) score = state.game().score(state.get());
    if (state.game().ownership) {
      owners.assign(spec.grid.cells(), 9);
      state.game().ownership(state.get(), owners.data());
    }
  }
  bool operator==(const View&) const = default;

  /// What symmetry number `s` makes of it. (A hash is carried to nothing in particular.)
  View carried(int s, const Spec& spec) const {
    View v = *this;
    v.hash = 0;
    for (int& action : v.legal) action = spec.carry(s, action);
    std::sort(v.legal.begin(), v.legal.end());
    const int stride = spec.cell_words();
    std::fill(v.planes.begin(), v.planes.end(), 0);
    for (size_t plane = 0; plane < planes.size() / stride; ++plane) {
      for (int cell = 0; cell < spec.grid.cells(); ++cell) {
        if (planes[plane * stride + cell / 64] >> (cell % 64) & 1) {
          const int to = spec.grid.carry(s, cell);
          v.planes[plane * stride + to / 64] |= uint64_t{1} << (to % 64);
        }
      }
    }
    for (size_t cell = 0; cell < owners.size(); ++cell)
      v.owners[spec.grid.carry(s, static_cast<int>(cell))] = owners[cell];
    return v;
  }
};

class Inspector {
 public:
  Inspector(const AnyGame& game, uint64_t seed) : game_(game), spec_(game.spec), random_(seed) {}

  std::vector<std::string> inspect(int games) {
    // Each stage relies on the ones before it: on cells that exist, then on symmetries that carry actions to actions.
    the_sizes();
    if (broken_.empty()) {
      the_texts();
      the_symmetries();
      the_numbers();
    }
    const bool sound = broken_.empty();
    for (int i = 0; i < games && sound; ++i) one_game(i);
    if (sound && !broken_.contains(kEnds)) {
      playouts(games);
      if (!spec_.wise_playout) fast_is_uniform(50 * games);
    }
    std::vector<std::string> sentences;
    for (const auto& [law, where] : broken_) sentences.push_back(where.empty() ? law : law + " (" + where + ")");
    return sentences;
  }

 private:
  static constexpr auto kEnds = "a game ends by its bound";

  const AnyGame& game_;
  const Spec& spec_;
  Random random_;
  std::map<std::string, std::string> broken_;  // law → where it was first seen broken
  std::vector<int> moves_;                     // of the game being played

  void law(bool holds, const std::string& sentence) {
    if (holds || broken_.contains(sentence)) return;
    std::string where;
    for (const int move : moves_) where += (where.empty() ? "after " : " ") + game_.text(move);
    broken_[sentence] = where;
  }

  AnyState start() const { return AnyState(game_, {}); }

  // ── What does not depend on a position ──

  void the_sizes() {
    law(spec_.actions > 0 && spec_.max_plies > 0 && spec_.grid.cells() > 0,
        "a game has actions, cells and a longest game");
    law(spec_.grid.rows <= 26 && spec_.grid.cols <= 25, "a grid has at most 26 rows and 25 columns");
    law(spec_.symmetry != Symmetry::square || spec_.grid.rows == spec_.grid.cols,
        "only a square grid has the symmetries of the square");
    std::set<int> cells;
    for (const int cell : spec_.locate) {
      law(cell >= -1 && cell < spec_.grid.cells(), "locate gives a cell of the grid, or −1");
      law(cell < 0 || cells.insert(cell).second, "no two actions lie on the same cell");
    }
    law(start().result() == Result::ongoing, "a game does not begin at its end");
    law(start().to_play() == 0, "First moves first");
  }

  void the_texts() {
    std::set<std::string> seen;
    for (int action = 0; action < spec_.actions; ++action) {
      const std::string text = game_.text(action);
      law(seen.insert(text).second, "no two actions have the same text");
      law(game_.parse(spec_, text) == action, "an action's text is read back as that action");
      law(!text.empty() && text.find_first_of(" ,\n\t") == std::string::npos, "an action's text is one word");
    }
    for (const char* junk :
         {"",    " ",   "a",       "a0",     "a00",  "z99", "1a",       "-1",    "99999999999999999999",
          "a1 ", " a1", "a1a",     "a01",    "a1\n", "i",   "\xff\xfe", "passs", "h",
          "v",   "h 0", "h 9 9 9", "v -1 0", "1.5",  "0x1", "+1"}) {
      const auto action = game_.parse(spec_, junk);
      law(!action || (*action >= 0 && *action < spec_.actions), "what is no move is not read as one");
    }
    try {
      (void)game_.action("no such move");
      law(false, "what is no move is refused with a sentence");
    } catch (const std::invalid_argument&) {
    }
  }

  void the_symmetries() {
    for (int s = 0; s < count(spec_.symmetry); ++s) {
      std::set<int> to;
      for (int action = 0; action < spec_.actions; ++action) {
        const int carried = spec_.carry(s, action);
        law(carried >= 0 && carried < spec_.actions, "a symmetry carries actions to actions");
        law(to.insert(carried).second, "a symmetry carries no two actions to the same one");
      }
    }
  }

  void the_numbers() {
    for (size_t i = 0; i < spec_.numbers.size(); ++i) {
      const int which = static_cast<int>(i);
      const double initial = spec_.numbers[i].initial;
      try {
        game_.check_number(which, initial);
      } catch (const std::invalid_argument&) {
        law(false, "a rule number's initial value is among its values");
      }
      law(game_.number(start().get(), which) == initial, "a state begins with the initial rule numbers");
      std::vector<double> numbers;
      for (const Number& n : spec_.numbers) numbers.push_back(n.initial);
      numbers[i] = spec_.numbers[i].least;
      law(game_.number(AnyState(game_, numbers).get(), which) == numbers[i], "a rule number can be set");
    }
  }

  // ── One random game ──

  void one_game(int number) {
    moves_.clear();
    AnyState state = start();
    const int s = 1 + number % std::max(1, count(spec_.symmetry) - 1);
    bool mirrored = s < count(spec_.symmetry);
    AnyState mirror = start();
    while (true) {
      const View view(state);
      one_position(state, view);
      if (mirrored) {
        View expected = view.carried(s, spec_), seen(mirror);
        seen.hash = 0;
        mirrored = seen == expected;
        law(mirrored, "a symmetric game looks symmetric: legal moves, planes, score, owners and result");
      }
      if (view.legal.empty()) break;
      if (static_cast<int>(moves_.size()) >= spec_.max_plies) {
        law(false, kEnds);
        break;
      }
      const int action = view.legal[random_.below(static_cast<int>(view.legal.size()))];
      const AnyState before = state;
      state.play(action);
      law(View(before) == view, "a copy does not change when the original is played on");
      law(!(before == state), "a move changes the state");
      if (mirrored) mirror.play(spec_.carry(s, action));
      moves_.push_back(action);
    }
    AnyState again = start();
    bool same = true;
    for (const int action : moves_) {
      same = same && again.is_legal(action);
      if (same) again.play(action);
    }
    law(same && again == state && View(again) == View(state), "the same moves give the same state");
  }

  void one_position(AnyState& state, const View& view) {
    law(view.to_play == 0 || view.to_play == 1, "First or Second is to move");
    law(view.legal.empty() == (view.result != Result::ongoing), "there are legal moves exactly until the end");
    for (const int action : view.legal) law(action < spec_.actions, "legal moves are in range");
    law(View(state, ~uint64_t{0}) == view, "an encoding writes every element, and looking changes nothing");
    for (const float value : view.scalars)
      law(std::isfinite(value) && std::abs(value) <= 100, "scalars are small numbers");
    const int tail = spec_.grid.cells() % 64;
    for (size_t i = spec_.cell_words() - 1; tail && i < view.planes.size(); i += spec_.cell_words())
      law(view.planes[i] >> tail == 0, "planes have cells of the grid only");
    for (size_t cell = 0; cell < view.owners.size(); ++cell) {
      law(view.owners[cell] >= -1 && view.owners[cell] <= 1, "an owner is First, Second or nobody");
      law(view.owners[cell] == 0 || spec_.ownable[cell], "only an ownable cell has an owner");
    }
    for (int cell = 0; cell < spec_.grid.cells(); ++cell) {
      const char glyph = game_.glyph(state.get(), cell);
      law(glyph >= ' ' && glyph <= '~', "a glyph is a printable character");
    }
    if (game_.heuristic && view.result == Result::ongoing)
      law(std::abs(game_.heuristic(state.get())) < 1, "a heuristic lies between −1 and 1");
    if (game_.candidates && view.result == Result::ongoing) {
      std::vector<uint64_t> words(spec_.words());
      game_.candidates(state.get(), words.data());
      int count = 0;
      for (size_t i = 0; i < words.size(); ++i) {
        for (uint64_t word = words[i]; word; word &= word - 1, ++count) {
          const int action = static_cast<int>(64 * i) + std::countr_zero(word);
          law(std::binary_search(view.legal.begin(), view.legal.end(), action), "candidates are legal moves");
        }
      }
      law(count > 0, "there is a candidate before the end");
    }
    if (game_.verdict && view.result == Result::ongoing) {
      const Verdict verdict = game_.verdict(state.get());
      law(verdict.move < 0 || std::binary_search(view.legal.begin(), view.legal.end(), verdict.move),
          "the move of a verdict is legal");
    }
    if (game_.score && view.result != Result::ongoing)
      law(result_of(view.score) == view.result, "the score's sign is the result");
    if (game_.random_legal && !view.legal.empty() && view.legal.size() < 12) short_cut_is_uniform(state, view);
    refusals(state, view);
  }

  /// Of so many draws every legal move gets about its share, and no other move gets any.
  void short_cut_is_uniform(const AnyState& state, const View& view) {
    constexpr int kShare = 200;
    std::map<int, int> drawn;
    for (size_t i = 0; i < kShare * view.legal.size(); ++i) ++drawn[game_.random_legal(state.get(), random_)];
    bool even = drawn.size() == view.legal.size();
    for (const int action : view.legal) even = even && std::abs(drawn[action] - kShare) < kShare / 2;
    law(even, "random_legal gives every legal move the same chance");
  }

  void refusals(AnyState& state, const View& view) {
    std::vector<int> tries{-1, spec_.actions, 1 << 30, -(1 << 30)};
    for (int i = 0; i < 4; ++i) tries.push_back(random_.below(spec_.actions));
    for (const int action : tries) {
      if (std::binary_search(view.legal.begin(), view.legal.end(), action)) continue;
      try {
        state.play(action);
        law(false, "an illegal action is refused");
      } catch (const IllegalMove& refusal) {
        law(std::string(refusal.what()).size() > 10, "a refusal is a sentence");
      }
    }
    law(View(state) == view, "a refused action changes nothing");
  }

  // ── Fast random games ──

  void playouts(int games) {
    moves_.clear();
    for (int i = 0; i < games; ++i) {
      AnyState state = start();
      for (int plies = random_.below(4); plies > 0 && !state.legal().empty(); --plies) state.play(state.legal()[0]);
      AnyState other = state;
      const int plies = i % 2 ? game_.playout(state.get(), random_) : game_.play_uniformly(state.get(), random_);
      law(plies <= spec_.max_plies, "a playout ends by the bound");
      law(state.result() != Result::ongoing && state.legal().empty(), "a playout ends the game");
      game_.assign(other.get(), state.get());
      law(other == state, "a state can be overwritten");
      const View view(state);
      law(game_.playout(state.get(), random_) == 0 && View(state) == view, "at the end a playout does nothing");
    }
  }

  /// Fast playouts must be distributed as uniform play: mean result and mean length agree within five standard errors.
  void fast_is_uniform(int games) {
    const AnyState from = start();
    AnyState state = from;
    struct Sums {
      double sum = 0, squares = 0;
      void add(double x) { sum += x, squares += x * x; }
    } result[2], length[2];
    for (int uniform = 0; uniform < 2; ++uniform) {
      for (int i = 0; i < games; ++i) {
        game_.assign(state.get(), from.get());
        length[uniform].add(uniform ? game_.play_uniformly(state.get(), random_) : game_.playout(state.get(), random_));
        result[uniform].add(static_cast<double>(state.result()));
      }
    }
    for (const auto& s : {result, length}) {
      const double variance = s[0].squares + s[1].squares - (s[0].sum * s[0].sum + s[1].sum * s[1].sum) / games;
      law(std::abs(s[0].sum - s[1].sum) <= 5 * std::sqrt(std::max(0.0, variance)) + 1e-9,
          "fast playouts are distributed as uniform play");
    }
  }
};

}  // namespace

std::vector<std::string> broken_laws(const AnyGame& game, int games, uint64_t seed) {
  return Inspector(game, seed).inspect(games);
}

}  // namespace tesuji
