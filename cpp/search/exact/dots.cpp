// Dots and Boxes. The rest of a game depends on the drawn edges alone: not on who owns what, nor on who moves.
//
// Boards of up to 24 edges (3×3) are solved whole, by a table of all sets of edges. Larger ones are searched from where
// they stand, by alpha-beta over margins, with what can be proven about taking boxes:
//
//   Let b be a box with one edge e left, and c the box behind e, if any. Any move that completes nothing, other than
//   c's only other edge, is better played after e: a box more, and the same position for the other. Hence e can be
//   taken at once unless c has exactly two edges left. Then the box behind c decides:
//     - it has two left as well: taking e is still right (handing over b and c can wait for the last two boxes),
//       except where the chain is closed at both ends and four boxes long;
//     - so that only the last two boxes of a chain, and the last four of a loop, are ever a choice: to take them, or to
//       hand them over by the edge in their middle's stead and let the other open what follows.
//   Several such choices at once are taken one after another: only the last one left can be handed over.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "exact.hpp"
#include "table.hpp"

namespace tesuji::exact {
namespace {

/// The edges of each box, read off the grid on which dots, edges and boxes lie.
struct DotsBoard {
  using Edges = uint64_t;
  int edges, rows, cols;
  std::vector<Edges> boxes;                  // the four edges of each box
  std::vector<std::array<int, 2>> boxes_at;  // the boxes beside each edge; −1: none

  explicit DotsBoard(const Spec& spec) : edges(spec.actions), rows(spec.grid.rows / 2), cols(spec.grid.cols / 2) {
    boxes_at.assign(edges, {-1, -1});
    for (int box = 0; box < rows * cols; ++box) {
      const int cell = (2 * (box / cols) + 1) * spec.grid.cols + 2 * (box % cols) + 1;
      boxes.push_back(0);
      for (const int step : {-spec.grid.cols, -1, 1, spec.grid.cols}) {
        const int edge = spec.action_at[cell + step];
        boxes.back() |= bit(edge);
        boxes_at[edge][boxes_at[edge][0] >= 0] = box;
      }
    }
  }

  static Edges bit(int edge) { return Edges{1} << edge; }
  Edges all() const { return bit(edges) - 1; }

  /// How many boxes an edge completes.
  int made(Edges drawn, int edge) const {
    int count = 0;
    for (const int box : boxes_at[edge]) count += box >= 0 && (boxes[box] & ~(drawn | bit(edge))) == 0;
    return count;
  }

  Edges drawn(const AnyState& state) const {
    Edges set = 0;
    for (int edge = 0; edge < edges; ++edge) {
      if (state.game().glyph(state.get(), state.spec().locate[edge]) != '.') set |= bit(edge);
    }
    return set;
  }
};

constexpr int kTableEdges = 24;

/// Every set of edges, from the full one down: a set depends only on larger ones.
std::vector<int8_t> build_margins(const DotsBoard& board, Budget& budget) {
  struct Edge {
    uint32_t bit;
    std::array<uint32_t, 2> rest;  // the other three edges of each box beside it; a bit that no set has: no box
  };
  std::vector<Edge> edges;
  for (int e = 0; e < board.edges; ++e) {
    edges.push_back({uint32_t{1} << e, {~uint32_t{0}, ~uint32_t{0}}});
    for (int i = 0; i < 2; ++i) {
      if (const int box = board.boxes_at[e][i]; box >= 0)
        edges.back().rest[i] = static_cast<uint32_t>(board.boxes[box] & ~DotsBoard::bit(e));
    }
  }
  const auto all = static_cast<uint32_t>(board.all());
  std::vector<int8_t> margins(size_t{all} + 1);
  for (uint32_t drawn = all; drawn-- > 0;) {
    if (drawn % (1 << 16) == 0) budget.poll();
    int best = -128;
    for (uint32_t left = all & ~drawn; left; left &= left - 1) {
      const Edge& edge = edges[std::countr_zero(left)];
      const int made = ((drawn & edge.rest[0]) == edge.rest[0]) + ((drawn & edge.rest[1]) == edge.rest[1]);
      const int rest = margins[drawn | edge.bit];
      best = std::max(best, made ? made + rest : -rest);
    }
    margins[drawn] = static_cast<int8_t>(best);
  }
  return margins;
}

/// A board with what a search of it looks up: made once a process.
struct DotsMap : DotsBoard {
  std::vector<std::array<std::array<Edges, 256>, 8>> carry;  // [symmetry][byte of a set][its value]: the image
  std::vector<Edges> rims;                                   // two edges of a box at the rim: either is as good

  explicit DotsMap(const Spec& spec) : DotsBoard(spec) {
    for (int s = 0; s < count(spec.symmetry); ++s) {
      auto& bytes = carry.emplace_back();
      for (int edge = 0; edge < edges; ++edge) {
        for (unsigned byte = 0; byte < 256; ++byte) {
          if (byte >> (edge % 8) & 1) bytes[edge / 8][byte] |= bit(spec.carry(s, edge));
        }
      }
    }
    for (int box = 0; box < rows * cols; ++box) {
      Edges rim = 0;
      for (Edges rest = boxes[box]; rest; rest &= rest - 1) {
        const int edge = std::countr_zero(rest);
        if (boxes_at[edge][1] < 0) rim |= bit(edge);
      }
      if (std::popcount(rim) == 2) rims.push_back(rim);
    }
  }

  static const DotsMap& of(const Spec& spec) {
    static std::mutex mutex;
    static std::map<std::string, DotsMap, std::less<>> maps;
    const std::lock_guard lock(mutex);
    const auto found = maps.find(spec.name);
    return found != maps.end() ? found->second : maps.emplace(spec.name, spec).first->second;
  }
};

/// Alpha-beta over margins of the rest of the game, for the mover. Sets are of the edges that are left.
class DotsSolver {
  using Edges = DotsBoard::Edges;

 public:
  DotsSolver(const DotsMap& map, Budget& budget) : board_(map), budget_(budget) {}

  /// Whether the mover gets at least so much more than the other from what is left.
  bool reaches(Edges left, int margin) { return search(left, margin - 1, margin) >= margin; }

  /// The sign of what the mover, who leads by so much, ends with: +1, 0, −1.
  int outcome(Edges left, int lead) {
    if (reaches(left, 1 - lead)) return 1;
    const bool even = (count_open_boxes(left) + lead) % 2 == 0;  // boxes that are left all get an owner
    return even && reaches(left, -lead) ? 0 : -1;
  }

  /// The best margin: the bounds close in from both sides, each search asking one question.
  int margin(Edges left) {
    int low = -127, high = 127, guess = 0;
    while (low < high) {
      const int beta = guess == low ? guess + 1 : guess;
      guess = search(left, beta - 1, beta);
      (guess < beta ? high : low) = guess;
    }
    return guess;
  }

  /// The best margin, if it lies between the bounds; else a bound on it beyond them.
  int search(Edges left, int alpha, int beta) {
    if (left == 0) return 0;
    budget_.spend();
    left = tidy(left);
    const int unowned = count_open_boxes(left);
    if (-unowned >= beta) return -unowned;
    if (unowned <= alpha) return unowned;
    const Edges key_set = canonical(left);
    Bounds bounds{static_cast<int8_t>(-unowned), static_cast<int8_t>(unowned)};
    if (const Bounds* known = known_.find({key_set})) bounds = *known;
    if (bounds.low >= beta || bounds.low == bounds.high) return bounds.low;
    if (bounds.high <= alpha) return bounds.high;
    alpha = std::max<int>(alpha, bounds.low);
    beta = std::min<int>(beta, bounds.high);

    const int64_t before = budget_.spent();
    std::array<int8_t, 64> moves;
    const int count = choose(left, moves);
    int best = -127;
    for (int i = 0; i < count && best < beta; ++i)
      best = std::max(best, value(left, moves[i], std::max(alpha, best), beta));
    // What is no better than alpha is an upper bound, what reaches beta a lower one.
    if (best < beta) bounds.high = static_cast<int8_t>(best);
    if (best > alpha) bounds.low = static_cast<int8_t>(best);
    known_.put({key_set}, bounds,
               static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(budget_.spent() - before))));
    return best;
  }

  /// The margin of a move, with the bounds of `search`.
  int value(Edges left, int edge, int alpha, int beta) {
    const int made = board_.made(board_.all() & ~left, edge);
    const Edges next = left & ~DotsBoard::bit(edge);
    return made ? made + search(next, alpha - made, beta - made) : -search(next, -beta, -alpha);
  }

 private:
  struct Key {
    Edges left = 0;
    bool operator==(const Key&) const = default;
    uint64_t hash() const { return mix(left); }
  };
  struct Bounds {
    int8_t low, high;
  };

  const DotsMap& board_;
  Budget& budget_;
  Table<Key, Bounds, size_t{1} << 24> known_;

  int degree(Edges left, int box) const { return std::popcount(left & board_.boxes[box]); }
  int count_open_boxes(Edges left) const {
    int open = 0;
    for (const Edges box : board_.boxes) open += (box & left) != 0;
    return open;
  }
  /// The box on the other side of an edge, or −1.
  int behind(int edge, int box) const {
    const auto& [a, b] = board_.boxes_at[edge];
    return a == box ? b : a;
  }

  /// Of a corner's two outer edges the first is drawn first.
  Edges tidy(Edges left) const {
    for (const Edges rim : board_.rims) {
      const Edges here = left & rim;
      if (here && here != rim) left = (left & ~rim) | (rim & (rim - 1));
    }
    return left;
  }

  /// The least of the images under symmetries.
  Edges canonical(Edges left) const {
    if (std::popcount(left) < kSymmetric) return left;
    Edges least = left;
    for (size_t s = 1; s < board_.carry.size(); ++s) {
      Edges image = 0;
      for (int i = 0; i < 8; ++i) image |= board_.carry[s][i][left >> (8 * i) & 255];
      least = std::min(least, tidy(image));
    }
    return least;
  }
  static constexpr int kSymmetric = 12;

  /// The moves among which a best one is, likely ones first.
  int choose(Edges left, std::array<int8_t, 64>& moves) const {
    int count = 0;
    std::array<std::array<int8_t, 2>, 64> choices;  // an edge to take, and the one that hands over instead
    int open_choices = 0;
    for (size_t b = 0; b < board_.boxes.size(); ++b) {
      const int box = static_cast<int>(b);
      if (degree(left, box) != 1) continue;
      const int take = std::countr_zero(left & board_.boxes[box]);
      const int second = behind(take, box);
      moves[0] = static_cast<int8_t>(take);
      if (second < 0 || degree(left, second) != 2) return 1;
      const int hand = std::countr_zero(left & board_.boxes[second] & ~DotsBoard::bit(take));
      const int third = behind(hand, second);
      const int third_degree = third < 0 ? 0 : degree(left, third);
      if (third_degree == 1) return 1;
      if (third_degree == 2) {
        const int beyond = std::countr_zero(left & board_.boxes[third] & ~DotsBoard::bit(hand));
        const int fourth = behind(beyond, third);
        if (fourth < 0 || degree(left, fourth) != 1) return 1;
        if (fourth < box) continue;  // a loop of four is met from both ends
      }
      choices[open_choices++] = {static_cast<int8_t>(take), static_cast<int8_t>(hand)};
    }
    if (open_choices == 1) {
      moves[0] = choices[0][0];
      moves[1] = choices[0][1];
      return 2;
    }
    if (open_choices > 1) {
      for (int i = 0; i < open_choices; ++i) moves[count++] = choices[i][0];
      return count;
    }
    return quiet(left, moves);
  }

  /// Where there is nothing to take: moves that give nothing away, then one for each chain and loop, the shortest
  /// first.
  int quiet(Edges left, std::array<int8_t, 64>& moves) const {
    struct Move {
      int8_t edge;
      int given;
    };
    std::array<Move, 64> found;
    int count = 0;
    Edges todo = left;
    uint64_t lengths_seen = 0, loops_seen = 0;
    // Chains: boxes with two edges left, joined. Every edge of a long one leads to the same; of two boxes the middle
    // edge is best, for it leaves no choice.
    uint64_t seen = 0;
    for (size_t b = 0; b < board_.boxes.size(); ++b) {
      if (seen >> b & 1 || degree(left, static_cast<int>(b)) != 2) continue;
      Edges chain = 0;
      int length = 0, ends_at_rim = 0, middle = -1;
      std::array<int, 64> stack;
      int top = 0;
      stack[top++] = static_cast<int>(b);
      seen |= uint64_t{1} << b;
      int inner = 0;
      while (top > 0) {
        const int box = stack[--top];
        ++length;
        for (Edges rest = left & board_.boxes[box]; rest; rest &= rest - 1) {
          const int edge = std::countr_zero(rest);
          chain |= DotsBoard::bit(edge);
          const int next = behind(edge, box);
          if (next < 0) {
            ++ends_at_rim;
          } else if (degree(left, next) == 2) {
            ++inner;
            middle = edge;
            if (!(seen >> next & 1)) {
              seen |= uint64_t{1} << next;
              stack[top++] = next;
            }
          }
        }
      }
      todo &= ~chain;
      const bool loop = inner == 2 * length;
      // Loose chains and loops of equal length are as good as each other.
      if (loop) {
        if (loops_seen >> length & 1) continue;
        loops_seen |= uint64_t{1} << length;
      } else if (ends_at_rim == 2) {
        if (lengths_seen >> length & 1) continue;
        lengths_seen |= uint64_t{1} << length;
      }
      found[count++] = {static_cast<int8_t>(length == 2 ? middle : std::countr_zero(chain)),
                        loop ? length + 1 : length};
    }
    for (; todo; todo &= todo - 1) {
      const int edge = std::countr_zero(todo);
      bool twin = false;
      for (const Edges rim : board_.rims)
        twin |= (left & rim) == rim && rim >> edge & 1 && (rim & (rim - 1)) != DotsBoard::bit(edge);
      if (twin) continue;
      found[count++] = {static_cast<int8_t>(edge), 0};
    }
    std::stable_sort(found.begin(), found.begin() + count,
                     [](const Move& a, const Move& b) { return a.given < b.given; });
    for (int i = 0; i < count; ++i) moves[i] = found[i].edge;
    return count;
  }
};

/// Solves by the table. The paper's rule bears on the second ply alone: for that one, legal moves are asked for; after
/// it a set of edges says all.
int look_up(const AnyState& state, const DotsBoard& board, const std::vector<int8_t>& table, std::vector<int>* best) {
  const auto drawn = board.drawn(state);
  const auto legal = state.legal();
  if (!best && static_cast<int>(legal.size()) + std::popcount(drawn) == board.edges) return table[drawn];
  int most = -127;
  for (const int edge : legal) {
    AnyState next = state;
    next.game().play(next.get(), edge);
    const int made = board.made(drawn, edge);
    // Where the game ends early, it goes on to the end all the same.
    const int rest =
        next.result() == Result::ongoing ? look_up(next, board, table, nullptr) : table[drawn | DotsBoard::bit(edge)];
    const int value = made ? made + rest : -rest;
    if (best && value > most) best->clear();
    if (best && value >= most) best->push_back(edge);
    most = std::max(most, value);
  }
  return most;
}

}  // namespace

std::shared_ptr<const std::vector<int8_t>> dots_margins(const Spec& spec, Budget& budget) {
  static std::mutex mutex;
  static std::map<std::pair<int, int>, std::shared_ptr<const std::vector<int8_t>>> tables;
  if (spec.actions > kTableEdges) return nullptr;
  const std::lock_guard lock(mutex);
  const DotsBoard board(spec);
  auto& table = tables[{board.rows, board.cols}];
  if (!table) table = std::make_shared<const std::vector<int8_t>>(build_margins(board, budget));
  return table;
}

Solution search_dots(const AnyState& state, Budget& budget) {
  const DotsMap& board = DotsMap::of(state.spec());
  DotsSolver solver(board, budget);
  Solution solution;
  const auto left = board.all() & ~board.drawn(state);
  const auto score = static_cast<int>(state.game().score(state.get()));
  const int lead = for_first(state.to_play(), score);
  const auto keeps = [&](int edge, int margin) { return solver.value(left, edge, margin - 1, margin) >= margin; };
  const auto legal = state.legal();
  // Who wins comes first, with a move that is enough for it (any, if it is the other): with few nodes that may be all.
  const int outcome = solver.outcome(left, lead);
  solution.result = for_first(state.to_play(), outcome);
  solution.best = legal;
  if (outcome >= 0) {
    const int enough = outcome - lead;
    solution.best = {*std::find_if(legal.begin(), legal.end(), [&](int edge) { return keeps(edge, enough); })};
  }
  // With an early end the number of plies is open.
  if (state.game().number(state.get(), 0) == 0) solution.plies = std::popcount(left);
  // Then by how much.
  std::vector<int> best;
  try {
    const int margin = solver.margin(left);
    for (const int edge : legal) {
      if (!keeps(edge, margin)) continue;
      best.push_back(edge);
      if (best.size() > 1) continue;
      solution.margin = score + for_first(state.to_play(), margin);
      budget.pause_at(2 * budget.spent() + 1'000'000);
    }
  } catch (const OutOfBudget&) {
    solution.complete = outcome < 0 && best.empty();
  }
  if (!best.empty()) solution.best = std::move(best);
  return solution;
}

/// Who wins, and nothing more.
std::optional<int> settle_dots(const AnyState& state, Budget& budget, Notes*) {
  const DotsMap& board = DotsMap::of(state.spec());
  const int lead = for_first(state.to_play(), static_cast<int>(state.game().score(state.get())));
  return for_first(state.to_play(), DotsSolver(board, budget).outcome(board.all() & ~board.drawn(state), lead));
}

/// By edges that are left, and those among them that give nothing away: fitted to games of dots4 and dots5, where it is
/// off by a factor of three, as a rule. Small boards have their table, and `exact`, who plays by it.
double dots_effort(const AnyState& state) {
  const DotsMap& board = DotsMap::of(state.spec());
  if (board.edges <= kTableEdges) return std::numeric_limits<double>::infinity();
  const auto left = board.all() & ~board.drawn(state);
  int safe = 0;
  for (auto rest = left; rest; rest &= rest - 1) {
    const auto& beside = board.boxes_at[std::countr_zero(rest)];
    safe += std::all_of(beside.begin(), beside.end(),
                        [&](int box) { return box < 0 || std::popcount(left & board.boxes[box]) >= 3; });
  }
  return std::exp2(0.5 + 0.32 * std::popcount(left) + 0.35 * safe);
}

Solution solve_dots(const AnyState& state, Budget& budget) {
  const auto table = dots_margins(state.spec(), budget);
  if (!table) return search_dots(state, budget);
  const DotsBoard board(state.spec());
  Solution solution;
  const int best = look_up(state, board, *table, &solution.best);
  solution.margin = state.game().score(state.get()) + for_first(state.to_play(), best);
  solution.result = static_cast<int>(result_of(*solution.margin));
  if (state.game().number(state.get(), 0) == 0) solution.plies = board.edges - std::popcount(board.drawn(state));
  return solution;
}

}  // namespace tesuji::exact
