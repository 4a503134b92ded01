// Dots and Boxes: a move draws an edge; who completes a box owns it and moves again.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "../core/game.hpp"

namespace tesuji {

/// `paper`: Second's first move may not be a symmetric image of First's (study D).
enum class DotsOpening { free, paper };

template <int R, int C, DotsOpening kOpening = DotsOpening::free>
class Dots {
  static_assert(1 <= R && R <= 9 && 1 <= C && C <= 9);
  static constexpr int kBoxes = R * C;
  static constexpr int kEdges = R * (C + 1) + C * (R + 1);
  using Edges = Bits<kEdges>;
  using Boxes = Bits<kBoxes>;

 public:
  static constexpr int kVersion = 2;
  // Dots, edges and boxes lie on one grid, so that a quarter turn carries horizontal edges to vertical ones by itself:
  //
  //     row 0:  dot  edge  dot  edge  dot
  //     row 1:  edge box   edge box   edge
  //     row 2:  dot  edge  dot  …
  static constexpr Grid kGrid{.rows = 2 * R + 1, .cols = 2 * C + 1};
  static constexpr Symmetry kSymmetry = R == C ? Symmetry::square : Symmetry::rectangle;
  static constexpr Look kLook = Look::edges;
  static constexpr int kActions = kEdges;
  static constexpr int kMaxPlies = kEdges;
  // Row by row from the top, the grid's cells of which one coordinate is odd: the paper's numbering.
  static constexpr int locate(int action) { return kCellOf[action]; }
  static constexpr bool kTransposes = true;

  static constexpr std::array kNumbers = {
      Number{"early_end", 0, 0, 1, 1, "1: the game ends once a player owns more than half of the boxes"}};
  double number(int) const { return early_end_; }
  void set_number(int, double value) { early_end_ = value != 0; }

  int to_play() const { return mover_; }

  Edges legal() const {
    if (result() != Result::ongoing) return {};
    Edges moves = ~drawn_;
    if constexpr (kOpening == DotsOpening::paper) {
      if (drawn_.count() == 1) moves &= ~kOrbit[drawn_.nth(0)];
    }
    return moves;
  }

  void play(int action) {
    drawn_.set(action);
    const Boxes made = completed(action);
    owned_[mover_] |= made;
    mover_ ^= made.none();
  }

  Result result() const {
    const int first = owned_[0].count(), second = owned_[1].count();
    const bool over = drawn_ == Edges::all() || (early_end_ && 2 * std::max(first, second) > kBoxes);
    return over ? result_of(first - second) : Result::ongoing;
  }
  double score() const { return owned_[0].count() - owned_[1].count(); }

  void ownership(int8_t* cells) const {
    for (int cell = 0; cell < kGrid.cells(); ++cell) cells[cell] = 0;
    for (int box = 0; box < kBoxes; ++box)
      cells[box_cell(box)] = static_cast<int8_t>(owned_[0].test(box) - owned_[1].test(box));
  }
  static constexpr bool ownable(int cell) { return kGrid.row(cell) % 2 == 1 && kGrid.col(cell) % 2 == 1; }

  /// Plays the game to its end in thought: the mover takes what he can, safe edges are drawn until there are none, then
  /// chains are opened from the shortest on, and who takes one may leave its last two boxes (of a loop four) to keep
  /// the other opening.
  double heuristic() const {
    Edges drawn = drawn_;
    // Step 1. Take what can be taken.
    int gain = 0, last_chain = 0;
    for (int box = 0; box < kBoxes; ++box) {
      int chain = 0;
      for (int at = box; at >= 0 && missing(drawn, at).count() == 1; ++chain) {
        const int edge = missing(drawn, at).nth(0);
        drawn.set(edge);
        at = beyond(edge, at);
        if (at >= 0 && missing(drawn, at).none()) ++chain, at = -1;
      }
      gain += chain;
      last_chain = std::max(last_chain, chain);
    }
    // Step 2. Draw safe edges.
    int safe = 0;
    (~drawn).each([&](int edge) {
      for (const int box : kBoxesAt[edge]) {
        if (missing(drawn, box).count() <= 2) return;
      }
      drawn.set(edge);
      ++safe;
    });
    // Step 3. The chains that are left, and what they are worth to the player who must open one.
    std::array<int, kBoxes + 1> chains;  // lengths; loops are negative
    int count = 0, left = 0;
    each_chain(drawn, [&](int length, bool loop, int) { chains[count++] = loop ? -length : length; });
    for (int box = 0; box < kBoxes; ++box) left += missing(drawn, box).count() > 2;
    for (int i = 1; i < count; ++i) {
      for (int k = i; k > 0 && std::abs(chains[k]) < std::abs(chains[k - 1]); --k) std::swap(chains[k], chains[k - 1]);
    }
    if (left > 0) {  // boxes between chains fall to the last one
      if (count == 0) chains[count++] = 0;
      chains[count - 1] += chains[count - 1] < 0 ? -left : left;
    }
    double open = 0;
    for (int i = count - 1; i >= 0; --i) {
      const int length = std::abs(chains[i]), price = chains[i] < 0 ? 8 : 4;
      const double take_all = length + open;
      open = -(length > 2 ? std::max(take_all, length - price - open) : take_all);
    }
    // Step 4. The more safe edges, the less their parity is sure.
    double rest = (safe % 2 == 0 ? open : -open) * (safe == 0 ? 1.0 : std::max(0.1, 0.8 - 0.08 * safe));
    if (last_chain >= 2) rest = std::max(rest, -4 - rest);
    const double lead = (score() + (mover_ == 0 ? 1 : -1) * (gain + rest)) / 2;
    return lead / (1 + std::abs(lead));
  }

  /// Moves of which the others are no better than copies (checked by tests against plain search):
  /// - A box that can be taken is taken, except that the last two of a chain may be left to the other by drawing the
  ///   edge behind them (so may the last four of a loop, by drawing the edge between them).
  /// - Else: of the edges of a chain, one; of a chain of two, the one between them, for then the other must take both.
  /// - Of a corner's two outer edges, one.
  static constexpr bool kForcing = true;
  bool candidates(Edges& moves) const {
    if constexpr (kOpening == DotsOpening::paper) {
      if (drawn_.count() == 1) {
        moves = legal();
        return true;
      }
    }
    int left_by = -1;  // the edge that leaves two boxes or four
    bool several = false;
    for (int box = 0; box < kBoxes; ++box) {
      if (missing(drawn_, box).count() != 1) continue;
      const int take = missing(drawn_, box).nth(0);
      const int leave = leaves(take, box);
      if (leave < 0) {
        moves = Edges::single(take);
        return true;
      }
      moves.set(take);
      several |= left_by >= 0 && left_by != leave;
      left_by = leave;
    }
    if (left_by >= 0) {
      if (!several) {
        moves = Edges::single(moves.nth(0));
        moves.set(left_by);
      }
      return true;
    }
    moves = ~drawn_;
    for (int box = 0; box < kBoxes; ++box) {
      const Edges outer = kOuterOf[box] & ~drawn_;
      if (outer.any()) moves &= ~outer | Edges::single(outer.nth(0));
    }
    Edges of_chains, openings;
    for (int box = 0; box < kBoxes; ++box) {
      const Edges open = missing(drawn_, box);
      if (open.count() == 2) of_chains |= open;
    }
    each_chain(drawn_, [&](int, bool, int opening) { openings.set(opening); });
    moves = (moves & ~of_chains) | openings;
    return true;
  }

  /// Where nothing but chains and loops is left, whole ones, it is known what they are worth to who must open one: he
  /// opens each in turn, and the other takes it all and must open the next, or leaves the last two boxes (of a loop
  /// four) and does not.
  Verdict verdict() const {
    if (drawn_.count() < kEdges / 4) return {};
    for (int box = 0; box < kBoxes; ++box) {
      const int open = missing(drawn_, box).count();
      if (open != 0 && open != 2) return {};
    }
    struct Kind {
      int length, price, count;  // price: what is given up by leaving some; count: how many there are
    };
    std::array<Kind, kBoxes> kinds;
    int kind_count = 0;
    each_chain(drawn_, [&](int length, bool loop, int) {
      const int price = loop ? 8 : length > 2 ? 4 : 0;
      for (int k = 0; k < kind_count; ++k) {
        if (kinds[k].length == length && kinds[k].price == price) {
          ++kinds[k].count;
          return;
        }
      }
      kinds[kind_count++] = {length, price, 1};
    });
    // Every set of them has a number: of each kind so many, in digits. Smaller sets come first.
    int sets = 1;
    for (int k = 0; k < kind_count; ++k) sets *= kinds[k].count + 1;
    std::array<int8_t, 1024> worth;
    if (sets > static_cast<int>(worth.size())) return {};
    worth[0] = 0;
    for (int set = 1; set < sets; ++set) {
      int best = -kBoxes, digit = 1;
      for (int k = 0; k < kind_count; ++k) {
        const Kind& kind = kinds[k];
        if (set / digit % (kind.count + 1) > 0) {
          const int rest = worth[set - digit], all = kind.length + rest;
          best = std::max(best, -(kind.price ? std::max(all, kind.length - kind.price - rest) : all));
        }
        digit *= kind.count + 1;
      }
      worth[set] = static_cast<int8_t>(best);
    }
    const double margin = score() + (mover_ == 0 ? 1 : -1) * worth[sets - 1];
    return {Bounds::of(static_cast<int>(result_of(margin))), (~drawn_).count()};
  }

  static constexpr std::array kPlanes = {
      "drawn edges",
      "legal moves",
      "own boxes",
      "other's boxes",
      "boxes with no edge yet",
      "boxes with one edge",
      "boxes with two edges",
      "boxes with three edges (to be taken)",
  };
  static constexpr std::array kScalars = {
      "mover's lead, as a share of the boxes",
      "1 where an odd number of turns is left, but for double boxes",
  };
  void encode(Planes& out) const {
    drawn_.each([&](int edge) { out.set(0, locate(edge)); });
    legal().each([&](int edge) { out.set(1, locate(edge)); });
    for (int box = 0; box < kBoxes; ++box) {
      const int cell = box_cell(box);
      if (owned_[mover_].test(box)) {
        out.set(2, cell);
      } else if (owned_[1 - mover_].test(box)) {
        out.set(3, cell);
      } else {
        out.set(4 + (drawn_ & kEdgesOf[box]).count(), cell);
      }
    }
    out.scalar(0, (mover_ == 0 ? score() : -score()) / kBoxes);
    // A turn ends with an edge that makes no box, so edges left less boxes left are turns, and more by one for each two
    // boxes made by one edge. Who runs out of safe edges is a matter of odd and even, which a network cannot count.
    out.scalar(1, ((~drawn_).count() + kBoxes - (owned_[0] | owned_[1]).count()) % 2);
  }

  char glyph(int cell) const {
    const int row = kGrid.row(cell), col = kGrid.col(cell);
    if (row % 2 == 0 && col % 2 == 0) return '+';
    if (row % 2 == 1 && col % 2 == 1) {
      const int box = row / 2 * C + col / 2;
      return owned_[0].test(box) ? 'X' : owned_[1].test(box) ? 'O' : ' ';
    }
    return !drawn_.test(kEdgeOf[cell]) ? '.' : row % 2 == 0 ? '-' : '|';
  }

  static std::string to_text(int action) { return std::to_string(action); }
  static constexpr auto kTextHelp = "an edge's number, or h ROW COL or v ROW COL counted from 0 at the top left";
  static std::optional<int> parse(std::string_view text) {
    if (text.empty() || (text[0] != 'h' && text[0] != 'v')) {
      const auto edge = read(text);
      return text.empty() && edge && *edge < kEdges ? edge : std::nullopt;
    }
    const bool across = text[0] == 'h';
    text.remove_prefix(1);
    const auto row = read(text), col = read(text);
    if (!row || !col || !text.empty() || *row >= R + across || *col >= C + !across) return std::nullopt;
    return kEdgeOf[(2 * *row + !across) * kGrid.cols + 2 * *col + across];
  }

  const char* objection(int action) const {
    return drawn_.test(action) ? "that edge is drawn"
                               : "it mirrors or turns First's first move, which this rule forbids";
  }

  /// Which boxes a player owns bears on nothing, only how many.
  uint64_t hash() const {
    uint64_t h = mix(mover_ + 2 * static_cast<uint64_t>(owned_[0].count()));
    for (const auto word : drawn_.words) h = mix(h ^ word);
    return h;
  }

  int playout(Random& random) {
    int plies = 0;
    const auto over = [&] { return early_end_ && result() != Result::ongoing; };
    if constexpr (kOpening == DotsOpening::paper) {
      for (; drawn_.count() < 2; ++plies) {
        const auto moves = legal();
        play(moves.nth(random.below(moves.count())));
      }
    }
    for (Deck<kEdges> deck(~drawn_); deck.size() > 0 && !over(); ++plies) play(deck.draw(random));
    return plies;
  }

  friend bool operator==(const Dots&, const Dots&) = default;

 private:
  Edges drawn_;
  std::array<Boxes, 2> owned_;
  uint8_t mover_ = 0;
  bool early_end_ = false;

  static Edges missing(const Edges& drawn, int box) { return kEdgesOf[box] & ~drawn; }
  /// The box at the other side of an edge; −1 outside.
  static int beyond(int edge, int box) {
    const auto [a, b] = kBoxesAt[edge];
    return a == b ? -1 : a == box ? b : a;
  }
  /// With `take` the box can be taken, and others after it. Where they are the last that can be left to the other, the
  /// edge that does so; else −1.
  int leaves(int take, int box) const {
    const int second = beyond(take, box);
    if (second < 0 || missing(drawn_, second).count() != 2) return -1;
    const int leave = other_edge(second, take), third = beyond(leave, second);
    if (third < 0) return leave;
    const int open = missing(drawn_, third).count();
    if (open != 2) return open > 2 ? leave : -1;
    const int fourth = beyond(other_edge(third, leave), third);
    return fourth >= 0 && missing(drawn_, fourth).count() == 1 ? leave : -1;
  }
  /// The edge that a box of two missing edges lacks besides this one.
  int other_edge(int box, int edge) const {
    Edges open = missing(drawn_, box);
    open.reset(edge);
    return open.nth(0);
  }

  /// Calls `visit(length, loop, opening)` for every chain: boxes of two missing edges, joined through these. `opening`
  /// is the edge to open it by.
  template <class Visit>
  static void each_chain(const Edges& drawn, Visit visit) {
    Boxes seen;
    for (int box = 0; box < kBoxes; ++box) {
      if (seen.test(box) || missing(drawn, box).count() != 2) continue;
      const Edges open = missing(drawn, box);
      const int ends[2] = {open.nth(0), open.nth(1)};
      seen.set(box);
      int length = 1, joint = ends[0];
      bool loop = false;
      for (const int end : ends) {
        int at = box, edge = end;
        while (true) {
          at = beyond(edge, at);
          if (at < 0) break;
          Edges next = missing(drawn, at);
          if (next.count() != 2) break;
          if (seen.test(at)) {
            loop = true;
            break;
          }
          seen.set(at);
          ++length;
          joint = edge;
          next.reset(edge);
          edge = next.nth(0);
        }
        if (loop) break;
      }
      visit(length, loop, joint);
    }
  }

  /// The boxes that an edge just drawn completes: none, one or two.
  Boxes completed(int edge) const {
    Boxes made;
    for (const int box : kBoxesAt[edge]) {
      const bool whole = (drawn_ & kEdgesOf[box]) == kEdgesOf[box];
      made.words[box / 64] |= uint64_t{whole} << (box % 64);
    }
    return made;
  }

  /// Takes a number, and the blanks before it, off the front of a text.
  static std::optional<int> read(std::string_view& text) {
    while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || text[0] == '-') return std::nullopt;
    text.remove_prefix(end - text.data());
    return number;
  }

  static constexpr int box_cell(int box) { return (2 * (box / C) + 1) * kGrid.cols + 2 * (box % C) + 1; }

  static constexpr auto kCellOf = [] {
    std::array<int, kEdges> cells{};
    int edge = 0;
    for (int cell = 0; cell < kGrid.cells(); ++cell) {
      if (kGrid.row(cell) % 2 != kGrid.col(cell) % 2) cells[edge++] = cell;
    }
    return cells;
  }();
  static constexpr auto kEdgeOf = [] {
    std::array<int, kGrid.cells()> edges{};
    for (int edge = 0; edge < kEdges; ++edge) edges[kCellOf[edge]] = edge;
    return edges;
  }();
  static constexpr auto kEdgesOf = [] {
    std::array<Edges, kBoxes> edges{};
    for (int box = 0; box < kBoxes; ++box) {
      for (const int step : {-kGrid.cols, -1, 1, kGrid.cols}) edges[box].set(kEdgeOf[box_cell(box) + step]);
    }
    return edges;
  }();
  /// A box's edges on the rim.
  static constexpr auto kOuterOf = [] {
    std::array<Edges, kBoxes> outer{};
    for (int box = 0; box < kBoxes; ++box) {
      kEdgesOf[box].each([&](int edge) {
        const int row = kGrid.row(kCellOf[edge]), col = kGrid.col(kCellOf[edge]);
        if (row == 0 || col == 0 || row == kGrid.rows - 1 || col == kGrid.cols - 1) outer[box].set(edge);
      });
    }
    return outer;
  }();
  /// The two boxes at an edge; at the rim the one box twice.
  static constexpr auto kBoxesAt = [] {
    std::array<std::array<uint8_t, 2>, kEdges> boxes{};
    for (int edge = 0; edge < kEdges; ++edge) {
      int found = 0;
      for (int box = 0; box < kBoxes; ++box) {
        if (!kEdgesOf[box].test(edge)) continue;
        boxes[edge][1] = static_cast<uint8_t>(box);
        if (found++ == 0) boxes[edge][0] = static_cast<uint8_t>(box);
      }
    }
    return boxes;
  }();
  /// The edges that some symmetry of the board carries an edge to.
  static constexpr auto kOrbit = [] {
    std::array<Edges, kEdges> orbits{};
    for (int edge = 0; edge < kEdges; ++edge) {
      for (int s = 0; s < count(kSymmetry); ++s) orbits[edge].set(kEdgeOf[kGrid.carry(s, kCellOf[edge])]);
    }
    return orbits;
  }();
};

}  // namespace tesuji
