// NoGo: who can still move when the other cannot. Sets of cells are words; what a move changes is found beside it
// alone.
//
// What makes it fast is a normal form. A cell forbidden to a player stays so, since nothing is ever captured. Hence
//   - a cell forbidden to both is empty for ever, and the chains beside it are safe: they never lose that liberty;
//   - a cell that is one player's for ever, whatever happens around it, is a spare move and nothing else: it is taken
//     off the board and counted. Spare moves of the two cancel (they are the integers of combinatorial game theory).
// Positions with equal open cells, unsafe chains, safe neighbourhoods and spare moves are one position.
//
// And the search learns from what it has solved which moves to try first: see `Judge`.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "exact.hpp"
#include "table.hpp"

namespace tesuji::exact {
namespace {

template <int N>
class NoGoSolver {
 public:
  using Cells =
      std::conditional_t<(N * N <= 32), uint32_t, std::conditional_t<(N * N <= 64), uint64_t, unsigned __int128>>;

  /// A player's stones.
  struct Side {
    Cells stones = 0;  // spare cells filled among them
    Cells atari = 0;   // the stones of chains that have but one liberty
    Cells last = 0;    // those liberties
    Cells safe = 0;    // the stones of chains that breathe for ever
    Cells legal = 0;   // where he may move; spare cells are not among them
    Cells unsafe() const { return stones & ~safe; }
  };
  /// A position in normal form.
  struct Position {
    Side own, other;  // the mover's, and the other's
    Cells dead = 0;   // empty cells forbidden to both
    int spare = 0;    // own spare moves minus the other's
  };

  explicit NoGoSolver(Budget& budget) : budget_(budget) {
    constexpr Grid grid{.rows = N, .cols = N};
    for (int s = 0; s < 8; ++s) {
      for (int cell = 0; cell < N * N; ++cell) {
        for (unsigned byte = 0; byte < 256; ++byte) {
          if (byte >> (cell % 8) & 1) carry_[s][cell / 8][byte] |= bit(grid.carry(s, cell));
        }
      }
    }
  }

  /// The position of given stones.
  static Position position(Cells own, Cells other) {
    Position p;
    p.own.stones = own;
    p.other.stones = other;
    const Cells empty = kAll & ~(own | other);
    for (Side* side : {&p.own, &p.other}) look(*side, side->stones, empty);
    settle(p);
    return p;
  }

  /// The position after the mover's move, seen by the other.
  static Position after(const Position& p, Cells cell) {
    Position next{p.other, p.own, p.dead, -p.spare};
    place(next.other, next.own, cell, kAll & ~(p.own.stones | p.other.stones | cell));
    settle(next);
    return next;
  }

  /// Whether the mover wins.
  bool wins(const Position& p) {
    if (const auto sure = count_moves(p)) return *sure;
    const Key key = key_of(p);
    if (const bool* known = known_.find(key)) return *known;
    return search(p, key);
  }

  /// Less is better for him who just moved.
  float promise(const Position& next) const { return judge_.weigh(next, opposite(next)); }

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
    Cells open = 0;            // cells that somebody may play
    Cells own = 0, other = 0;  // stones of unsafe chains, and open cells where a stone would breathe for ever
    int8_t spare = 0;
    auto operator<=>(const Key&) const = default;
    uint64_t hash() const {
      uint64_t h = static_cast<uint8_t>(spare);
      for (const Cells cells : {open, own, other}) {
        h = mix(h ^ static_cast<uint64_t>(cells));
        if constexpr (sizeof(Cells) > 8) h = mix(h ^ static_cast<uint64_t>(cells >> 64));
      }
      return h;
    }
  };

  /// How likely the mover's win looks: a sum of weights, one for what lies on each square of 2 × 2 cells, one for the
  /// lead in moves, and one for the other's stones that answer at the opposite point. Each solved position moves its
  /// weights a little towards its truth, as logistic regression does.
  class Judge {
   public:
    Judge() {
      for (int lead = 0; lead < kLeads; ++lead) leads_[lead] = 0.3F * static_cast<float>(lead - kLeads / 2);
      for (int stones = 0; stones <= N * N; ++stones) {
        for (int answers = 0; answers <= stones; ++answers)
          answers_[stones][answers] = static_cast<float>(stones - answers);
      }
    }

    /// `answers`: how many of the other's stones stand opposite to the mover's.
    float weigh(const Position& p, int answers) const {
      float sum = leads_[lead(p)] + answers_[size(p.other.stones)][answers];
      each_square(p, [&](int square, unsigned content) { sum += squares_[square][content]; });
      return sum;
    }
    void learn(const Position& p, int answers, bool won) {
      const float guess = 1 / (1 + std::exp(-weigh(p, answers)));
      const float step = kRate * (static_cast<float>(won) - guess);
      leads_[lead(p)] += 4 * step;
      answers_[size(p.other.stones)][answers] += 4 * step;
      each_square(p, [&](int square, unsigned content) { squares_[square][content] += step; });
    }

   private:
    static constexpr float kRate = 0.05F;
    static constexpr int kLeads = 4 * N * N + 1, kSquares = (N - 1) * (N - 1);
    std::array<float, kLeads> leads_;
    std::array<std::array<float, N * N + 1>, N * N + 1> answers_{};
    std::vector<std::array<float, 4096>> squares_ = std::vector<std::array<float, 4096>>(kSquares);

    static int lead(const Position& p) {
      return std::clamp(size(p.own.legal) - size(p.other.legal) + 2 * p.spare + kLeads / 2, 0, kLeads - 1);
    }
    /// A cell is dead, open to both, or one player's: his cell, his stone, or his safe stone. That takes three bits.
    template <class Visit>
    static void each_square(const Position& p, Visit visit) {
      const Cells both = p.own.legal & p.other.legal, own = p.own.legal & ~both, other = p.other.legal & ~both;
      const Cells x = p.own.unsafe() | both | p.other.safe | other, y = p.other.unsafe() | both | own | other,
                  z = p.own.safe | p.other.safe | own | other;
      int square = 0;
      for (int row = 0; row + 1 < N; ++row) {
        for (int col = 0; col + 1 < N; ++col) {
          const int at = row * N + col;
          const auto four = [at](Cells cells) {
            const auto two = [](Cells c) { return static_cast<unsigned>(c) & 3; };
            return two(cells >> at) | two(cells >> (at + N)) << 2;
          };
          visit(square++, four(x) | four(y) << 4 | four(z) << 8);
        }
      }
    }
  };

  Budget& budget_;
  Table<Key, bool, size_t{1} << 27> known_;
  Judge judge_;
  /// [symmetry][byte of a set][its bits]: where they are carried.
  std::vector<std::array<std::array<Cells, 256>, (N * N + 7) / 8>> carry_ =
      std::vector<std::array<std::array<Cells, 256>, (N * N + 7) / 8>>(8);

  bool search(const Position& p, const Key& key) {
    budget_.spend();
    const int64_t before = budget_.spent();
    struct Child {
      Position position;
      Key key;
      float promise;
    };
    std::array<Child, N * N> children;
    std::array<int, N * N> order;
    int count = 0;
    bool won = false;
    for (Cells rest = p.own.legal; rest && !won; rest &= rest - 1) {
      const Position next = after(p, lowest(rest));
      if (const auto sure = count_moves(next)) {
        won = !*sure;
        continue;
      }
      const Key next_key = key_of(next);
      if (const bool* known = known_.find(next_key)) {
        won = !*known;
        continue;
      }
      children[count] = {next, next_key, promise(next)};
      order[count] = count;
      ++count;
    }
    if (!won) {
      std::sort(order.begin(), order.begin() + count,
                [&](int a, int b) { return children[a].promise < children[b].promise; });
      for (int i = 0; i < count && !won; ++i) {
        const Child& child = children[order[i]];
        const bool* known = known_.find(child.key);
        won = known ? !*known : !search(child.position, child.key);
      }
    }
    // A spare move is the last resort.
    if (!won && p.spare > 0) won = !wins({p.other, p.own, p.dead, -(p.spare - 1)});
    judge_.learn(p, opposite(p), won);
    known_.put(key, won, static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(budget_.spent() - before))));
    return won;
  }

  static constexpr Cells kAll = static_cast<Cells>((((Cells{1} << (N * N - 1)) - 1) << 1) | 1);
  static constexpr Cells kLeft = [] {
    Cells cells = 0;
    for (int row = 0; row < N; ++row) cells |= Cells{1} << (row * N);
    return cells;
  }();
  static constexpr Cells kRight = kLeft << (N - 1);

  static Cells lowest(Cells cells) { return cells & (~cells + 1); }
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

  /// Finds which of the chains of some stones have but one liberty.
  static void look(Side& side, Cells stones, Cells empty) {
    while (stones) {
      const Cells chain = joined(lowest(stones), side.stones), liberties = near(chain) & empty;
      if ((liberties & (liberties - 1)) == 0) {
        side.atari |= chain;
        side.last |= liberties;
      }
      stones &= ~chain;
    }
  }

  /// Puts a stone; `empty` are the cells that are empty after it. Nobody captures, so that a chain in atari stays so
  /// unless a stone joins it at its last liberty.
  static void place(Side& side, Side& against, Cells cell, Cells empty) {
    side.stones |= cell;
    side.last &= ~cell;
    side.atari &= ~joined(cell, side.stones);
    look(side, cell, empty);
    look(against, near(cell) & against.stones & ~against.atari, empty);
  }

  /// Finds the legal moves and the safe chains, and plays the spare moves.
  static void settle(Position& p) {
    for (;;) {
      Cells empty = kAll & ~(p.own.stones | p.other.stones);
      // A move is legal where it takes no chain's last liberty, and breathes: beside an empty cell, or beside an own
      // chain that has a liberty to spare.
      const Cells open = near(empty);
      p.own.legal = empty & ~p.other.last & (open | near(p.own.stones & ~p.own.atari));
      p.other.legal = empty & ~p.own.last & (open | near(p.other.stones & ~p.other.atari));
      p.dead = empty & ~(p.own.legal | p.other.legal);
      const Cells by_dead = near(p.dead);
      for (Side* side : {&p.own, &p.other}) side->safe = joined(side->stones & by_dead, side->stones);
      const Cells own = spare_cells(p.own, p.other, by_dead), other = spare_cells(p.other, p.own, by_dead);
      if ((own | other) == 0) return;
      p.spare += size(own) - size(other);
      empty &= ~(own | other);
      for (Cells rest = own; rest; rest &= rest - 1) place(p.own, p.other, lowest(rest), empty);
      for (Cells rest = other; rest; rest &= rest - 1) place(p.other, p.own, lowest(rest), empty);
    }
  }
  /// A spare cell: the other can never play there nor beside it, none of his unsafe chains is near, and the stone will
  /// breathe for ever.
  static Cells spare_cells(const Side& side, const Side& against, Cells by_dead) {
    return side.legal & ~against.legal & (by_dead | near(side.safe)) & ~near(against.legal | against.unsafe());
  }

  /// Moves that a player has for certain besides spare ones: an empty cell among own stones alone can never be the
  /// other's (he would capture or not breathe), and of k such cells joined by own chains k − 1 can be filled.
  static int sure_moves(Cells own, Cells open) {
    Cells eyes = open & ~near(kAll & ~own);
    int sum = 0;
    while (eyes) {
      const Cells group = joined(lowest(eyes), own | eyes) & eyes;
      sum += size(group) - 1;
      eyes &= ~group;
    }
    return sum;
  }

  /// Who wins, where counting tells: no player ever gets a move that is not legal for him now.
  static std::optional<bool> count_moves(const Position& p) {
    const int own_most = size(p.own.legal), other_most = size(p.other.legal);
    // The mover's first move may take a cell from the other, which is no eye, so that all sure moves remain.
    const bool shared = (p.own.legal & p.other.legal) != 0;
    if (p.spare + sure_moves(p.own.stones, p.own.legal) + shared > other_most - shared) return true;
    if (sure_moves(p.other.stones, p.other.legal) - p.spare >= own_most) return false;
    return std::nullopt;
  }

  /// Positions that a symmetry carries to each other share a key while much is open.
  Key key_of(const Position& p) const {
    const Cells open = p.own.legal | p.other.legal, by_dead = near(p.dead);
    const auto side = [&](const Side& s) { return s.unsafe() | (s.legal & (by_dead | near(s.safe))); };
    const Key key{open, side(p.own), side(p.other), static_cast<int8_t>(p.spare)};
    if (size(open) < kSymmetric) return key;
    Key least = key;
    for (int s = 1; s < 8; ++s) {
      Key image{.open = carried(s, key.open), .spare = key.spare};
      if (image.open > least.open) continue;
      image.own = carried(s, key.own);
      image.other = carried(s, key.other);
      least = std::min(least, image);
    }
    return least;
  }
  static constexpr int kSymmetric = 10;
  static constexpr int kHalfTurn = 3;  // the symmetry's number
  Cells carried(int s, Cells cells) const {
    Cells image = 0;
    for (size_t i = 0; i < carry_[s].size(); ++i) image |= carry_[s][i][static_cast<uint8_t>(cells >> (8 * i))];
    return image;
  }
  /// How many of the other's stones stand opposite to the mover's. The centre is opposite to itself.
  int opposite(const Position& p) const {
    constexpr Cells kCentre = N % 2 == 1 ? Cells{1} << (N * N / 2) : 0;
    return size((p.own.stones | kCentre) & carried(kHalfTurn, p.other.stones));
  }
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
  const auto next = [&](int action) { return Solver::position(other, own | Solver::bit(action)); };
  std::stable_sort(actions.begin(), actions.end(),
                   [&](int a, int b) { return solver.promise(next(a)) < solver.promise(next(b)); });
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
