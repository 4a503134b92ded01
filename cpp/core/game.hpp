// THE concept. A game is one regular C++ value (a default-constructed one is the start) that supplies what stands in
// `Game` below; everything else is derived from that (any.hpp, laws.cpp). docs/adding-a-game.md walks through an
// example.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bits.hpp"
#include "grid.hpp"
#include "random.hpp"

namespace tesuji {

/// +1 First won, 0 drawn, −1 Second won.
enum class Result : int8_t { second = -1, draw = 0, first = 1, ongoing = 2 };

/// The result of a finished game whose margin is First's minus Second's.
constexpr Result result_of(auto margin) {
  return margin > 0 ? Result::first : margin < 0 ? Result::second : Result::draw;
}

/// The look on a screen: stones on crossings, marks in cells, edges between dots.
enum class Look { crossings, cells, edges };

/// A number among the rules, such as komi: set at the start of a game, the same to its end.
struct Number {
  const char* name;
  double initial, least, most, step;
  const char* meaning;
};

/// Input of a network: binary planes, a bit a cell, and scalars that the network spreads over a plane each. A new one
/// is all zero.
class Planes {
 public:
  Planes(uint64_t* words, int planes, int cells, float* scalars, int scalar_count)
      : words_(words), stride_((cells + 63) / 64), scalars_(scalars) {
    std::fill_n(words, planes * stride_, uint64_t{0});
    std::fill_n(scalars, scalar_count, 0.0f);
  }
  void set(int plane, int cell) { words_[plane * stride_ + cell / 64] |= uint64_t{1} << (cell % 64); }
  /// Sets a last move's cell; −1 (there was none, or it was a pass) sets nothing.
  void set_if(int plane, int cell) {
    if (cell >= 0) set(plane, cell);
  }
  template <int N>
  void put(int plane, const Bits<N>& cells) {
    for (int i = 0; i < Bits<N>::kWords; ++i) words_[plane * stride_ + i] = cells.words[i];
  }
  void scalar(int which, double value) { scalars_[which] = static_cast<float>(value); }

 private:
  uint64_t* words_;
  int stride_;
  float* scalars_;
};

/// What is known for certain of a result, for First: it lies between `low` and `high`.
struct Bounds {
  int8_t low = -1, high = 1;

  static constexpr Bounds of(int result) { return {static_cast<int8_t>(result), static_cast<int8_t>(result)}; }

  bool proven() const { return low == high; }
  bool open() const { return (low == -1) & (high == 1); }  // nothing is known
  /// The same from a player's side: what he is sure of, and what he may still hope for.
  int sure(int player) const { return player == 0 ? low : -high; }
  int hope(int player) const { return player == 0 ? high : -low; }
  /// Both of what two sources know.
  Bounds operator&(Bounds other) const { return {std::max(low, other.low), std::min(high, other.high)}; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// What a game knows for sure of a position without a search: of the result if both play their best.
struct Verdict {
  Bounds bounds;
  int plies = 0;  // to the end, of what is proven; 0: it cannot tell
  int move = -1;  // one that leads to what is proven; −1: it knows none
};

template <class G>
concept Game = std::regular<G> && requires(const G state, G next, Planes& out, int action, int cell) {
  // What it is: raise the version when rules or planes change, so that old nets are refused.
  { G::kVersion } -> std::convertible_to<int>;
  // How it lies on a grid. `locate` is the hinge: policy layout, symmetries, move names and clicks derive from it.
  { G::kGrid } -> std::convertible_to<Grid>;
  { G::kSymmetry } -> std::convertible_to<Symmetry>;
  { G::kLook } -> std::convertible_to<Look>;
  // It gives an action's cell, the same in every position, or −1 for a move off the board (a pass). No two share a
  // cell.
  { G::locate(action) } -> std::same_as<int>;
  // How large it is.
  { G::kActions } -> std::convertible_to<int>;
  { G::kMaxPlies } -> std::convertible_to<int>;
  // The rules. `play` is given legal actions only.
  { state.to_play() } -> std::same_as<int>;              // 0 First, 1 Second; either at the end
  { state.legal() } -> std::same_as<Bits<G::kActions>>;  // none exactly at the end
  next.play(action);
  { state.result() } -> std::same_as<Result>;
  // What a network sees, from the mover's side: the names of its planes and scalars, and their writer.
  { *std::ranges::begin(G::kPlanes) } -> std::convertible_to<const char*>;
  { std::ranges::size(G::kScalars) } -> std::convertible_to<size_t>;
  state.encode(out);
  // What a person sees: a character a cell; '.' where a move may go.
  { state.glyph(cell) } -> std::same_as<char>;
};

// clang-format off
// What a game may supply besides, each found by its name (a misspelt one is not found, and nobody complains):
//   double score() const                     First's margin as the board stands
//   void ownership(int8_t* cells) const      owner of each cell as the board stands: +1 First, −1 Second, 0 nobody
//   static bool ownable(int cell)            whether a cell can have an owner (default: all)
//   Bits<cells> line() const                 cells of the row that won, for people; none before and where no row decides
//   uint64_t hash() const                    equal for equal states; of all that bears on the rest of the game
//   static std::string to_text(int action)   move texts other than the names of cells, and how to read them:
//   static std::optional<int> parse(std::string_view), kTextHelp
//   kHashForgets = true                      the hash leaves out something that does bear on it, such as superko's history
//   double heuristic() const                 a guess at First's value, within (−1, 1), before the end: for alpha-beta
//   bool candidates(Bits<kActions>&) const   before the end, writes the legal moves worth looking at, at least one;
//                                            returns whether a best move is surely among them
//   kForcing = true                          candidates may be a single sure move: ask also at the horizon of a search,
//                                            and in the tree
//   Verdict verdict() const                  before the end, what it knows for sure of the rest, cheaply: for the tree
//   const char* objection(int action) const  why an illegal action is illegal, for people
//   int playout(Random&)                     a random game to the end, returning its plies, faster than the derived one,
//   kWisePlayout = true                      and, where it says so, wiser than uniform play
//   int random_legal(Random&) const          a uniformly random legal action, faster than listing them all
//   kTransposes = true                       orders of moves often lead to equal states: a search shares their nodes
//   kNumbers, number(int), set_number(int, double)       numbers among the rules
//   kPaperPlanes, void encode_paper(Planes&) const       a paper's own encoding
//   kBlock                                   rules are drawn between blocks of that many cells
//   void encode_boards(Planes&) const        of blocks of 3 × 3: own marks, other's marks (all cells of a block that is
//                                            won), all cells of blocks to play in; what a net of the architecture
//                                            mosaic sees
// clang-format on

/// Plays uniformly random legal moves to the end; returns how many.
template <Game G>
int play_uniformly(G& state, Random& random) {
  int plies = 0;
  if constexpr (requires { state.random_legal(random); }) {
    for (; state.result() == Result::ongoing; ++plies) state.play(state.random_legal(random));
  } else {
    for (auto legal = state.legal(); legal.any(); legal = state.legal(), ++plies) {
      state.play(legal.nth(random.below(legal.count())));
    }
  }
  return plies;
}

/// A number of move sequences: how many of exactly `depth` plies begin here.
template <Game G>
uint64_t perft(const G& state, int depth) {
  if (depth == 0) return 1;
  const auto legal = state.legal();
  if (depth == 1) return legal.count();
  uint64_t sum = 0;
  legal.each([&](int action) {
    G next = state;
    next.play(action);
    sum += perft(next, depth - 1);
  });
  return sum;
}

}  // namespace tesuji
