// NoGo: who can still move when the other cannot. Sets of cells are words; legality is found for all cells at once.
//
// What makes it fast is a normal form. A cell forbidden to a player stays so, since nothing is ever captured. Hence
//   - a cell forbidden to both is empty for ever, and the chains beside it are safe: they never lose that liberty;
//   - a cell that is one player's for ever, whatever happens around it, is a spare move and nothing else: it is taken
//     off the board and counted. Spare moves of the two cancel (they are the integers of combinatorial game theory).
// Positions with equal open cells, unsafe chains, safe neighbourhoods and spare moves are one position.
#include <algorithm>
#include <array>
#include <bit>

#include "exact.hpp"
#include "table.hpp"

namespace tesuji::exact {
namespace {

template <int N>
class NoGoSolver {
 public:
  using Cells =
      std::conditional_t<(N * N <= 32), uint32_t, std::conditional_t<(N * N <= 64), uint64_t, unsigned __int128>>;

  /// A position in normal form. Everything is the mover's side.
  struct Position {
    Cells own = 0, other = 0;              // stones, spare cells filled among them
    Cells own_legal = 0, other_legal = 0;  // spare cells are not among them
    Cells own_safe = 0, other_safe = 0;    // stones of chains that breathe for ever
    int spare = 0;                         // own spare moves minus the other's
  };

  explicit NoGoSolver(Budget& budget) : budget_(budget) {}

  static Position position(Cells own, Cells other, int spare) {
    for (;;) {
      const Cells empty = kAll & ~(own | other);
      const Chains mine = look(own, empty), theirs = look(other, empty);
      // A move is legal where it takes no chain's last liberty, and breathes: beside an empty cell, or beside an own
      // chain that has a liberty to spare.
      const Cells open = near(empty);
      const Cells a = empty & ~theirs.last & (open | near(mine.spare));
      const Cells b = empty & ~mine.last & (open | near(theirs.spare));
      const Cells dead = empty & ~(a | b), by_dead = near(dead);
      const Cells own_safe = joined(own & by_dead, own), other_safe = joined(other & by_dead, other);
      // A spare cell: the other can never play there nor beside it, none of his unsafe chains is near, and the stone
      // will breathe for ever.
      const Cells own_spare = a & ~b & (by_dead | near(own_safe)) & ~near(b | (other & ~other_safe));
      const Cells other_spare = b & ~a & (by_dead | near(other_safe)) & ~near(a | (own & ~own_safe));
      if ((own_spare | other_spare) == 0) return {own, other, a, b, own_safe, other_safe, spare};
      own |= own_spare;
      other |= other_spare;
      spare += size(own_spare) - size(other_spare);
    }
  }

  /// The position after the mover's move, seen by the other.
  static Position after(const Position& p, int cell) { return position(p.other, p.own | bit(cell), -p.spare); }

  /// Whether the mover wins.
  bool wins(const Position& p) {
    if (const auto sure = count_moves(p)) return *sure;
    budget_.spend();
    const Key key = key_of(p);
    if (const bool* known = known_.find(key)) return *known;
    const int64_t before = budget_.spent();

    // Where one of the other's stones has no answer at the opposite point, that answer is tried before anything else is
    // looked at.
    const Cells opposite = carried(kHalfTurn, p.other) & ~p.own & p.own_legal;
    if (opposite && (opposite & (opposite - 1)) == 0 && !wins(after(p, first(opposite)))) {
      known_.put(key, true, static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(budget_.spent() - before))));
      return true;
    }

    struct Child {
      Position position;
      Key key;
      int order;
    };
    std::array<Child, N * N> children;
    int count = 0;
    bool won = false;
    for (Cells rest = p.own_legal; rest && !won; rest &= rest - 1) {
      const Position next = after(p, first(rest));
      if (const auto sure = count_moves(next)) {
        won = !*sure;
        continue;
      }
      const Key next_key = key_of(next);
      if (const bool* known = known_.find(next_key)) {
        won = !*known;
        continue;
      }
      children[count++] = {next, next_key, promise(next)};
    }
    if (!won) {
      std::sort(children.begin(), children.begin() + count,
                [](const Child& a, const Child& b) { return a.order < b.order; });
      for (int i = 0; i < count && !won; ++i) won = !wins(children[i].position);
    }
    // A spare move is the last resort.
    if (!won && p.spare > 0) {
      Position next{p.other, p.own, p.other_legal, p.own_legal, p.other_safe, p.own_safe, -(p.spare - 1)};
      won = !wins(next);
    }
    known_.put(key, won, static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(budget_.spent() - before))));
    return won;
  }

  /// Less is better for him who just moved: few moves for the other, many for himself, and above all stones that answer
  /// the other's at the opposite point (the centre is its own): measured on 4×4, that leaves a tenth of the positions.
  static int promise(const Position& next) {
    constexpr Cells kCentre = N % 2 == 1 ? Cells{1} << (N * N / 2) : 0;
    return size(next.own_legal) - size(next.other_legal) + 2 * next.spare -
           4 * size((next.own | kCentre) & carried(kHalfTurn, next.other));
  }

  static Cells bit(int cell) { return Cells{1} << cell; }
  static int size(Cells cells) {
    if constexpr (sizeof(Cells) <= 8) {
      return std::popcount(cells);
    } else {
      return std::popcount(static_cast<uint64_t>(cells)) + std::popcount(static_cast<uint64_t>(cells >> 64));
    }
  }

 private:
  /// All that the rest of the game depends on.
  struct Key {
    Cells open = 0;                          // cells that somebody may play
    Cells own = 0, other = 0;                // stones of unsafe chains
    Cells own_breath = 0, other_breath = 0;  // open cells where a stone would breathe for ever
    int8_t spare = 0;
    auto operator<=>(const Key&) const = default;
    uint64_t hash() const {
      uint64_t h = static_cast<uint8_t>(spare);
      for (const Cells cells : {open, own, other, own_breath, other_breath}) {
        h = mix(h ^ static_cast<uint64_t>(cells));
        if constexpr (sizeof(Cells) > 8) h = mix(h ^ static_cast<uint64_t>(cells >> 64));
      }
      return h;
    }
  };
  struct Chains {
    Cells last;   // the only liberties of chains that have but one
    Cells spare;  // the stones of chains that have more
  };

  Budget& budget_;
  Table<Key, bool, size_t{1} << 23> known_;

  static constexpr Cells kAll = static_cast<Cells>((((Cells{1} << (N * N - 1)) - 1) << 1) | 1);
  static constexpr Cells kLeft = [] {
    Cells cells = 0;
    for (int row = 0; row < N; ++row) cells |= Cells{1} << (row * N);
    return cells;
  }();
  static constexpr Cells kRight = kLeft << (N - 1);

  static int first(Cells cells) {
    if constexpr (sizeof(Cells) <= 8) {
      return std::countr_zero(cells);
    } else {
      const auto low = static_cast<uint64_t>(cells);
      return low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<uint64_t>(cells >> 64));
    }
  }
  /// The cells beside some cell of a set.
  static Cells near(Cells cells) {
    return ((cells & ~kRight) << 1 | (cells & ~kLeft) >> 1 | cells << N | cells >> N) & kAll;
  }
  /// All of `within` that is joined to `seed`.
  static Cells joined(Cells seed, Cells within) {
    for (;;) {
      const Cells more = (seed | near(seed)) & within;
      if (more == seed) return seed;
      seed = more;
    }
  }

  static Chains look(Cells stones, Cells empty) {
    Chains found{0, 0};
    while (stones) {
      const Cells chain = joined(stones & (~stones + 1), stones);
      const Cells liberties = near(chain) & empty;
      if ((liberties & (liberties - 1)) == 0) {
        found.last |= liberties;
      } else {
        found.spare |= chain;
      }
      stones &= ~chain;
    }
    return found;
  }

  /// Moves that a player has for certain besides spare ones: an empty cell among own stones alone can never be the
  /// other's (he would capture or not breathe), and of k such cells joined by own chains k − 1 can be filled.
  static int sure_moves(Cells own, Cells open) {
    Cells eyes = open & ~near(kAll & ~own);
    int sum = 0;
    while (eyes) {
      const Cells group = joined(eyes & (~eyes + 1), own | eyes) & eyes;
      sum += size(group) - 1;
      eyes &= ~group;
    }
    return sum;
  }

  /// Who wins, where counting tells: no player ever gets a move that is not legal for him now.
  static std::optional<bool> count_moves(const Position& p) {
    const int own_most = size(p.own_legal), other_most = size(p.other_legal);
    // The mover's first move may take a cell from the other, which is no eye, so that all sure moves remain.
    const bool shared = (p.own_legal & p.other_legal) != 0;
    if (p.spare + sure_moves(p.own, p.own_legal) + shared > other_most - shared) return true;
    if (sure_moves(p.other, p.other_legal) - p.spare >= own_most) return false;
    return std::nullopt;
  }

  /// Positions that a symmetry carries to each other share a key while much is open.
  static Key key_of(const Position& p) {
    const Cells open = p.own_legal | p.other_legal, by_dead = near(kAll & ~(p.own | p.other | open));
    const Key key{open,
                  p.own & ~p.own_safe,
                  p.other & ~p.other_safe,
                  open & (by_dead | near(p.own_safe)),
                  open & (by_dead | near(p.other_safe)),
                  static_cast<int8_t>(p.spare)};
    if (size(open) < kSymmetric) return key;
    Key least = key;
    for (int s = 1; s < 8; ++s) {
      Key image{.open = carried(s, key.open), .spare = key.spare};
      if (image.open > least.open) continue;
      image.own = carried(s, key.own);
      image.other = carried(s, key.other);
      image.own_breath = carried(s, key.own_breath);
      image.other_breath = carried(s, key.other_breath);
      least = std::min(least, image);
    }
    return least;
  }
  static constexpr int kSymmetric = 10;
  static constexpr int kHalfTurn = 3;  // the symmetry's number
  static Cells carried(int s, Cells cells) {
    Cells image = 0;
    for (; cells; cells &= cells - 1) image |= bit(kCarry[s][first(cells)]);
    return image;
  }
  static constexpr auto kCarry = [] {
    std::array<std::array<uint8_t, N * N>, 8> to{};
    constexpr Grid grid{.rows = N, .cols = N};
    for (int s = 0; s < 8; ++s) {
      for (int cell = 0; cell < N * N; ++cell) to[s][cell] = static_cast<uint8_t>(grid.carry(s, cell));
    }
    return to;
  }();
};

}  // namespace

template <int N>
Solution solve_nogo(const AnyState& state, Budget& budget) {
  using Solver = NoGoSolver<N>;
  typename Solver::Cells own = 0, other = 0;
  const int mover = state.to_play();
  for (int cell = 0; cell < N * N; ++cell) {
    const char glyph = state.game().glyph(state.get(), cell);
    if (glyph != '.') (glyph == (mover == 0 ? 'X' : 'O') ? own : other) |= Solver::bit(cell);
  }
  Solver solver(budget);
  Solution solution;
  // Every legal move is played on the true board: the root alone keeps its spare cells as they are.
  auto actions = state.legal();
  const auto next = [&](int action) { return Solver::position(other, own | Solver::bit(action), 0); };
  std::stable_sort(actions.begin(), actions.end(),
                   [&](int a, int b) { return Solver::promise(next(a)) < Solver::promise(next(b)); });
  list_best(solution, budget, actions, mover, [&](int action) { return solver.wins(next(action)) ? -1 : 1; });
  return solution;
}

template Solution solve_nogo<3>(const AnyState&, Budget&);
template Solution solve_nogo<4>(const AnyState&, Budget&);
template Solution solve_nogo<5>(const AnyState&, Budget&);
template Solution solve_nogo<6>(const AnyState&, Budget&);
template Solution solve_nogo<7>(const AnyState&, Budget&);
template Solution solve_nogo<9>(const AnyState&, Budget&);

}  // namespace tesuji::exact
