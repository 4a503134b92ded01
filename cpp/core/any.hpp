// A game behind a table of function pointers, and its states as owned values: what all other rooms use.
// Sizes and names are read at run time from the spec, so that a game may also come from elsewhere than a header.
#pragma once

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "game.hpp"

namespace tesuji {

/// A move that the rules do not allow here.
struct IllegalMove : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// One way to show a state to a network.
///
/// Packed, a position is a row of words: first the planes, `plane_words` each (bit c % 64 of word c / 64 is cell c),
/// then the scalars as floats, two a word with the low half first, padded with zero.
struct Encoding {
  static constexpr int kMaxScalars = 16;

  std::string name;
  int cells;
  std::vector<std::string> planes, scalars;
  void (*write)(const void* state, Planes& out);

  int channels() const { return static_cast<int>(planes.size() + scalars.size()); }
  int plane_words() const { return (cells + 63) / 64; }
  int packed_words() const {
    return static_cast<int>(planes.size()) * plane_words() + static_cast<int>(scalars.size() + 1) / 2;
  }
  /// From a packed row to channels of a plane each, [channels][cells].
  void unpack(const uint64_t* row, float* out) const;
};

/// What a game is, in words and sizes.
struct Spec {
  std::string name, title;
  int version;
  Grid grid;
  Symmetry symmetry;
  Look look;
  int block;  // cells between the rules of the drawing; 0: none
  int actions, max_plies;
  std::vector<int> locate;          // [actions] cell or −1
  std::vector<int> action_at;       // [cells] action or −1
  std::vector<Encoding> encodings;  // the first is ours; then a paper's, and that of small boards, where there are
  std::vector<Number> numbers;
  std::vector<bool> ownable;  // [cells]; empty: the game has no ownership
  bool scored;
  bool wise_playout;  // playouts are not uniform play
  bool transposes;    // equal states often come about by other orders of moves
  bool forcing;       // candidates may be a single sure move
  bool hash_forgets;  // the hash leaves out something that bears on the rest of the game, such as superko's history

  int words() const { return (actions + 63) / 64; }  // of a set of actions
  int cell_words() const { return (grid.cells() + 63) / 64; }
  /// Where symmetry number `s` carries an action. A move off the board stays.
  int carry(int s, int action) const { return locate[action] < 0 ? action : action_at[grid.carry(s, locate[action])]; }
};

struct AnyGame {
  Spec spec;
  size_t bytes, alignment;  // of a state

  void (*start)(void* state, std::span<const double> numbers);
  void (*copy)(void* state, const void* from);
  void (*assign)(void* state, const void* from);
  void (*destroy)(void* state);
  bool (*equal)(const void*, const void*);
  uint64_t (*hash)(const void*);  // null where the game has none

  int (*to_play)(const void*);
  void (*legal)(const void*, uint64_t* words);
  void (*play)(void* state, int action);
  Result (*result)(const void*);
  double (*score)(const void*);                      // null where the game has none
  void (*ownership)(const void*, int8_t* cells);     // null where the game has none
  void (*line)(const void*, uint64_t* words);        // cells of the row that won; null where the game has none
  double (*number)(const void*, int which);          // null where the game has none
  double (*heuristic)(const void*);                  // null where the game has none
  bool (*candidates)(const void*, uint64_t* words);  // null where the game has none
  Verdict (*verdict)(const void*);                   // null where the game has none
  char (*glyph)(const void*, int cell);
  const char* (*objection)(const void*, int action);  // null where the game gives no reasons

  std::string (*to_text)(const Spec&, int action);
  std::optional<int> (*parse)(const Spec&, std::string_view);
  std::string (*text_help)(const Spec&);

  int (*playout)(void* state, Random&);
  int (*play_uniformly)(void* state, Random&);
  int (*random_legal)(const void* state, Random&);  // null where the game has no short cut
  uint64_t (*perft)(const void*, int depth);

  /// The text of an action of this game.
  std::string text(int action) const { return to_text(spec, action); }
  /// The action that a text names. Throws a sentence where it names none.
  int action(std::string_view text) const;
  /// Throws that sentence, for a text that the caller made fit to be shown.
  [[noreturn]] void refuse_text(const std::string& shown) const;
  /// Throws a sentence where a rule number is out of its bounds or between its steps.
  void check_number(int which, double value) const;
};

/// A state of some game: a value. `play` checks; what a search does many times goes through the table.
class AnyState {
 public:
  AnyState(const AnyGame& game, std::span<const double> numbers) : AnyState(game) { game.start(state_, numbers); }
  AnyState(const AnyState& o) : AnyState(*o.game_) { game_->copy(state_, o.state_); }
  AnyState(AnyState&& o) noexcept : game_(o.game_), state_(std::exchange(o.state_, nullptr)) {}
  AnyState& operator=(AnyState o) noexcept {
    std::swap(game_, o.game_);
    std::swap(state_, o.state_);
    return *this;
  }
  ~AnyState() {
    if (!state_) return;
    game_->destroy(state_);
    ::operator delete(state_, std::align_val_t{game_->alignment});
  }

  const AnyGame& game() const { return *game_; }
  const Spec& spec() const { return game_->spec; }
  void* get() { return state_; }
  const void* get() const { return state_; }

  int to_play() const { return game_->to_play(state_); }
  Result result() const { return game_->result(state_); }
  uint64_t hash() const;
  std::vector<int> legal() const;
  bool is_legal(int action) const;
  /// Plays a move; one that is out of range or not legal throws a sentence and changes nothing.
  void play(int action);
  /// Channels of a plane each, [channels][rows][cols], planes before scalars.
  void encode(const Encoding&, float* out) const;
  /// The same packed: `encoding.packed_words()` words.
  void encode_packed(const Encoding&, uint64_t* row) const;
  /// The board in characters.
  std::string diagram() const;

  friend bool operator==(const AnyState& a, const AnyState& b) {
    return a.game_ == b.game_ && a.game_->equal(a.state_, b.state_);
  }

 private:
  explicit AnyState(const AnyGame& game)
      : game_(&game), state_(::operator new(game.bytes, std::align_val_t{game.alignment})) {}

  const AnyGame* game_;
  void* state_;
};

/// Turns a second of a loop of fixed work, over so many seconds: how fast this core is right now.
double calibrate(double seconds);

/// A number as people write it: 7, 7.5.
std::string number_text(double);
/// "First" or "Second".
const char* player_name(int player);

// Defaults for what a game need not supply.
std::string cell_text(const Spec&, int action);
std::optional<int> parse_cell(const Spec&, std::string_view);
std::string cell_help(const Spec&);

/// The functions of a table, for a game that is a type.
template <Game G>
struct Erased {
  static const G& in(const void* p) { return *static_cast<const G*>(p); }
  static G& in(void* p) { return *static_cast<G*>(p); }

  static void start(void* p, std::span<const double> numbers) {
    G& state = *new (p) G();
    if constexpr (requires { G::kNumbers; }) {
      for (size_t i = 0; i < numbers.size(); ++i) state.set_number(static_cast<int>(i), numbers[i]);
    }
  }
  static void legal(const void* p, uint64_t* words) {
    const auto moves = in(p).legal();
    std::copy(moves.words.begin(), moves.words.end(), words);
  }
  static void line(const void* p, uint64_t* words) {
    const auto cells = in(p).line();
    std::copy(cells.words.begin(), cells.words.end(), words);
  }
  static bool candidates(const void* p, uint64_t* words) {
    Bits<G::kActions> moves;
    const bool enough = in(p).candidates(moves);
    std::copy(moves.words.begin(), moves.words.end(), words);
    return enough;
  }
  static int playout(void* p, Random& random) {
    if constexpr (requires(G g) { g.playout(random); }) {
      return in(p).playout(random);
    } else {
      return tesuji::play_uniformly(in(p), random);
    }
  }
  static std::vector<std::string> names(const auto& list) { return {std::begin(list), std::end(list)}; }

  static Spec spec(std::string name, std::string title) {
    Spec s{};
    s.name = std::move(name);
    s.title = std::move(title);
    s.version = G::kVersion;
    s.grid = G::kGrid;
    s.symmetry = G::kSymmetry;
    s.look = G::kLook;
    if constexpr (requires { G::kBlock; }) s.block = G::kBlock;
    s.actions = G::kActions;
    s.max_plies = G::kMaxPlies;
    s.action_at.assign(s.grid.cells(), -1);
    for (int action = 0; action < s.actions; ++action) {
      s.locate.push_back(G::locate(action));
      if (const int cell = s.locate.back(); 0 <= cell && cell < s.grid.cells()) s.action_at[cell] = action;
    }
    static_assert(std::ranges::size(G::kScalars) <= Encoding::kMaxScalars);
    s.encodings.push_back({"tesuji", s.grid.cells(), names(G::kPlanes), names(G::kScalars),
                           [](const void* p, Planes& out) { in(p).encode(out); }});
    if constexpr (requires { G::kPaperPlanes; }) {
      s.encodings.push_back({"paper", s.grid.cells(), names(G::kPaperPlanes), {}, [](const void* p, Planes& out) {
                               in(p).encode_paper(out);
                             }});
    }
    if constexpr (requires(const G g, Planes& out) { g.encode_boards(out); }) {
      static_assert(G::kBlock == 3);
      s.encodings.push_back({"boards",
                             s.grid.cells(),
                             {"own marks", "other's marks", "small boards to play in"},
                             {},
                             [](const void* p, Planes& out) { in(p).encode_boards(out); }});
    }
    if constexpr (requires { G::kNumbers; }) s.numbers.assign(G::kNumbers.begin(), G::kNumbers.end());
    if constexpr (requires(int8_t* cells, const G g) { g.ownership(cells); }) {
      for (int cell = 0; cell < s.grid.cells(); ++cell) {
        if constexpr (requires { G::ownable(cell); }) {
          s.ownable.push_back(G::ownable(cell));
        } else {
          s.ownable.push_back(true);
        }
      }
    }
    s.scored = requires(const G g) { g.score(); };
    s.wise_playout = requires { G::kWisePlayout; };
    s.transposes = requires { G::kTransposes; };
    s.forcing = requires { G::kForcing; };
    s.hash_forgets = requires { G::kHashForgets; };
    return s;
  }
};

/// The table of a game that is a type.
template <Game G>
AnyGame any_game(std::string name, std::string title) {
  using E = Erased<G>;
  AnyGame t{};
  t.spec = E::spec(std::move(name), std::move(title));
  t.bytes = sizeof(G);
  t.alignment = alignof(G);
  t.start = E::start;
  t.copy = [](void* p, const void* from) { new (p) G(E::in(from)); };
  t.assign = [](void* p, const void* from) { E::in(p) = E::in(from); };
  t.destroy = [](void* p) { E::in(p).~G(); };
  t.equal = [](const void* p, const void* q) { return E::in(p) == E::in(q); };
  if constexpr (requires(const G g) { g.hash(); }) t.hash = [](const void* p) { return E::in(p).hash(); };

  t.to_play = [](const void* p) { return E::in(p).to_play(); };
  t.legal = E::legal;
  t.play = [](void* p, int action) { E::in(p).play(action); };
  t.result = [](const void* p) { return E::in(p).result(); };
  if constexpr (requires(const G g) { g.score(); })
    t.score = [](const void* p) { return static_cast<double>(E::in(p).score()); };
  if constexpr (requires(const G g, int8_t* cells) { g.ownership(cells); }) {
    t.ownership = [](const void* p, int8_t* cells) { E::in(p).ownership(cells); };
  }
  if constexpr (requires(const G g) { g.line(); }) t.line = E::line;
  if constexpr (requires { G::kNumbers; }) t.number = [](const void* p, int which) { return E::in(p).number(which); };
  if constexpr (requires(const G g) { g.heuristic(); })
    t.heuristic = [](const void* p) { return E::in(p).heuristic(); };
  if constexpr (requires(const G g, Bits<G::kActions>& moves) { g.candidates(moves); }) t.candidates = E::candidates;
  if constexpr (requires(const G g) { g.verdict(); }) t.verdict = [](const void* p) { return E::in(p).verdict(); };
  t.glyph = [](const void* p, int cell) { return E::in(p).glyph(cell); };
  if constexpr (requires(const G g, int action) { g.objection(action); }) {
    t.objection = [](const void* p, int action) { return E::in(p).objection(action); };
  }

  if constexpr (requires(int action) { G::to_text(action); }) {
    t.to_text = [](const Spec&, int action) { return G::to_text(action); };
    t.parse = [](const Spec&, std::string_view text) { return G::parse(text); };
    t.text_help = [](const Spec&) { return std::string(G::kTextHelp); };
  } else {
    t.to_text = cell_text;
    t.parse = parse_cell;
    t.text_help = cell_help;
  }

  t.playout = E::playout;
  t.play_uniformly = [](void* p, Random& random) { return tesuji::play_uniformly(E::in(p), random); };
  if constexpr (requires(const G g, Random random) { g.random_legal(random); }) {
    t.random_legal = [](const void* p, Random& random) { return E::in(p).random_legal(random); };
  }
  t.perft = [](const void* p, int depth) { return tesuji::perft(E::in(p), depth); };
  return t;
}

}  // namespace tesuji
