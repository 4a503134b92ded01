// Dots and Boxes: a move draws an edge; who completes a box owns it and moves again.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
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
  static constexpr int kVersion = 1;
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
  static constexpr std::array kScalars = {"mover's lead, as a share of the boxes"};
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

  uint64_t hash() const {
    uint64_t h = mix(mover_);
    for (const auto word : drawn_.words) h = mix(h ^ word);
    for (const auto& boxes : owned_) {
      for (const auto word : boxes.words) h = mix(h + word);
    }
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
