#include "table.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tesuji {

// ── The board ───────────────────────────────────────────────────────────────────────────────────────────────────────

DotsBoard::DotsBoard(const AnyGame& game) {
  const Spec& spec = game.spec;
  if (spec.look != Look::edges) throw std::invalid_argument(spec.name + " is not a game of Dots and Boxes");
  if (spec.actions > 64) throw std::invalid_argument(spec.name + " has more than 64 edges");
  edges = spec.actions;
  all = ~uint64_t{0} >> (64 - edges);
  boxes_at.resize(edges);
  std::vector<int> found(edges);
  for (int cell = 0; cell < spec.grid.cells(); ++cell) {
    if (spec.grid.row(cell) % 2 == 0 || spec.grid.col(cell) % 2 == 0) continue;
    uint64_t sides = 0;
    for (const int step : {-spec.grid.cols, -1, 1, spec.grid.cols}) {
      const int edge = spec.action_at[cell + step];
      sides |= uint64_t{1} << edge;
      const auto box = static_cast<uint8_t>(boxes.size());
      boxes_at[edge][1] = box;
      if (found[edge]++ == 0) boxes_at[edge][0] = box;
    }
    boxes.push_back(sides);
  }
  const std::vector<double> numbers = [&] {
    std::vector<double> initial;
    for (const Number& number : spec.numbers) initial.push_back(number.initial);
    return initial;
  }();
  for (int edge = 0; edge < edges; ++edge) {
    AnyState state(game, numbers);
    state.play(edge);
    uint64_t legal = 0;
    for (const int reply : state.legal()) legal |= uint64_t{1} << reply;
    replies.push_back(legal);
  }
}

// ── Memory ──────────────────────────────────────────────────────────────────────────────────────────────────────────

DotsTable::DotsTable(const AnyGame& game, TableModel model) : board_(game), model_(model) {
  if (board_.edges > kMostEdges) {
    throw std::invalid_argument(game.spec.name + " has " + std::to_string(board_.edges) +
                                " edges: a table holds boards of at most " + std::to_string(kMostEdges));
  }
  // Accesses are scattered over the whole table: with small pages nearly each would miss the processor's page cache
  // too.
  constexpr size_t kHugePage = size_t{1} << 21;
  const size_t bytes = states() * sizeof(uint64_t);
  // Cleared by calloc, which for so large a block means: untouched, fresh from the system.
  memory_.reset(std::calloc(bytes + kHugePage, 1));
  if (!memory_) throw std::bad_alloc();
  void* start = memory_.get();
  size_t room = bytes + kHugePage;
  words_ = static_cast<uint64_t*>(std::align(kHugePage, bytes, start, room));
#ifdef __linux__
  madvise(words_, bytes, MADV_HUGEPAGE);
#endif
}

// ── Training ────────────────────────────────────────────────────────────────────────────────────────────────────────

namespace {

constexpr uint64_t kVisit = 1, kWin = uint64_t{1} << 32;
// A set of children, filled up to a whole number of vectors.
constexpr int kPadded = 24;
constexpr int kLane = 8;
// A filler: one visit, and so few wins that it is never chosen.
constexpr uint64_t kNever = kVisit | uint64_t{0x80000000u} << 32;

/// Where v + C·√(ln N / n) is largest, all `count` children having been visited; of equal ones the first.
/// `words` is filled up with kNever to a multiple of kLane.
int best_child(const uint64_t* words, int count, double exploration) {
  const int padded = (count + kLane - 1) / kLane * kLane;
  int64_t total = 0;
  for (int i = 0; i < padded; ++i) total += static_cast<int32_t>(words[i]);
  const float scale =
      static_cast<float>(exploration) * std::sqrt(std::log(static_cast<float>(total - (padded - count))));
  // A score is (w + scale·√n) / n. Scores of real children are not negative, and such floats are ordered as their bits
  // are when read as whole numbers: the largest is found without a branch a child.
  alignas(32) int32_t keys[kPadded];
  for (int i = 0; i < padded; ++i) {
    const auto n = static_cast<float>(static_cast<int32_t>(words[i]));
    const auto w = static_cast<float>(static_cast<int32_t>(words[i] >> 32));
    const float score = (w + scale * std::sqrt(n)) / n;
    std::memcpy(&keys[i], &score, sizeof score);
  }
  int32_t best = keys[0];
  for (int i = 0; i < padded; ++i) best = std::max(best, keys[i]);
  int at = 0;
  while (keys[at] != best) ++at;
  return at;
}

}  // namespace

/// Plays games of one thread. The table is far larger than the caches, so several games are played by turns: while one
/// waits for its children to come from memory, the others move.
///
/// A visit is counted when the state is reached and a win at the end of the game. Games under way at the same time
/// thereby see each other's visits and go different ways, as they would one after the other.
struct DotsTable::Trainer {
  static constexpr int kSlots = 16;
  static constexpr int kBlock = 64;  // game numbers that a thread draws at once

  struct Slot {
    uint32_t drawn, takeable, choices;
    uint8_t mover, plies;
    std::array<uint8_t, 2> boxes;
    Random random{0};
    std::array<uint32_t, kMostEdges> path;  // the states made; the top bit says by whom
  };

  const DotsBoard& board;
  uint64_t* words;
  const bool greedy;
  const double exploration;
  const uint64_t seed;
  std::atomic<int64_t>& next;
  const int64_t end;
  int64_t block_begin = 0, block_end = 0;
  TableTally tally{};

  template <bool kShared>
  void add(uint32_t state, uint64_t amount) {
    std::atomic_ref<uint64_t> word(words[state]);
    if constexpr (kShared) {
      word.fetch_add(amount, std::memory_order_relaxed);
    } else {
      word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
  }

  /// Begins the next game; false where there is none.
  bool begin(Slot& slot) {
    if (block_begin == block_end) {
      block_begin = next.fetch_add(kBlock, std::memory_order_relaxed);
      block_end = std::min(block_begin + kBlock, end);
      if (block_begin >= end) {
        block_begin = block_end;
        return false;
      }
    }
    slot.drawn = slot.takeable = 0;
    slot.mover = slot.plies = 0;
    slot.boxes = {};
    slot.random = Random(seed ^ mix(static_cast<uint64_t>(block_begin++)));
    look_ahead(slot);
    return true;
  }

  /// Sets the choices of the player to move and fetches their words.
  void look_ahead(Slot& slot) {
    slot.choices = static_cast<uint32_t>(board.all) & ~slot.drawn;
    if (slot.plies == 1) slot.choices &= static_cast<uint32_t>(board.replies[std::countr_zero(slot.drawn)]);
    if (greedy && slot.takeable) slot.choices = slot.takeable;
    for (uint32_t left = slot.choices; left; left &= left - 1) __builtin_prefetch(&words[slot.drawn | (left & -left)]);
  }

  /// One ply; false at the end of the game.
  template <bool kShared>
  bool step(Slot& slot) {
    const uint32_t edge = choose(slot);
    slot.drawn |= edge;
    slot.takeable &= ~edge;
    add<kShared>(slot.drawn, kVisit);
    slot.path[slot.plies++] = slot.drawn | static_cast<uint32_t>(slot.mover) << 31;

    // What the edge completes, and what it lets the next mover take.
    const auto [one, other] = board.boxes_at[std::countr_zero(edge)];
    int made = 0;
    for (int i = 0; i < (one == other ? 1 : 2); ++i) {
      const auto missing = static_cast<uint32_t>(board.boxes[i ? other : one]) & ~slot.drawn;
      made += missing == 0;
      if ((missing & (missing - 1)) == 0) slot.takeable |= missing;
    }
    slot.boxes[slot.mover] = static_cast<uint8_t>(slot.boxes[slot.mover] + made);
    const bool majority = 2 * slot.boxes[slot.mover] > static_cast<int>(board.boxes.size());
    if (majority || slot.drawn == board.all) {
      finish<kShared>(slot);
      return false;
    }
    slot.mover ^= made == 0;
    look_ahead(slot);
    return true;
  }

  uint32_t choose(Slot& slot) {
    uint32_t left = slot.choices;
    if ((left & (left - 1)) == 0) return left;
    alignas(32) uint64_t seen[kPadded + kLane];
    uint32_t edges[kPadded];
    uint32_t fresh = 0;
    int count = 0;
    for (; left; left &= left - 1, ++count) {
      const uint32_t edge = left & -left;
      const uint64_t word = std::atomic_ref<uint64_t>(words[slot.drawn | edge]).load(std::memory_order_relaxed);
      edges[count] = edge;
      seen[count] = word;
      fresh |= static_cast<uint32_t>(word) == 0 ? edge : 0;
    }
    // n = 0 makes the score infinite: one of those, each as likely as the others.
    if (fresh) return uint32_t{1} << nth_bit(fresh, slot.random.below(std::popcount(fresh)));
    for (int i = 0; i < kLane; ++i) seen[count + i] = kNever;
    return edges[best_child(seen, count, exploration)];
  }

  template <bool kShared>
  void finish(const Slot& slot) {
    tally.plies += slot.plies;
    if (slot.boxes[0] == slot.boxes[1]) {
      ++tally.drawn;  // nobody is credited
      return;
    }
    const uint32_t winner = slot.boxes[1] > slot.boxes[0];
    ++(winner ? tally.second : tally.first);
    for (int i = 0; i < slot.plies; ++i) {
      if (slot.path[i] >> 31 == winner) add<kShared>(slot.path[i] & 0x7fffffffu, kWin);
    }
  }

  template <bool kShared>
  void run() {
    std::array<Slot, kSlots> slots;
    int active = 0;
    while (active < kSlots && begin(slots[active])) ++active;
    while (active > 0) {
      for (int i = 0; i < active;) {
        if (step<kShared>(slots[i]) || begin(slots[i])) {
          ++i;
        } else {
          slots[i] = slots[--active];
        }
      }
    }
  }
};

TableTally DotsTable::train(int64_t end, double exploration, uint64_t seed, int threads) {
  std::atomic<int64_t> next = trained_;
  const auto trainer = [&] {
    return Trainer{board_, words(), model_ == TableModel::greedy, exploration, mix(seed), next, end};
  };
  TableTally sum;
  const auto gather = [&](const TableTally& part) {
    sum.first += part.first;
    sum.drawn += part.drawn;
    sum.second += part.second;
    sum.plies += part.plies;
  };
  if (threads == 1) {
    Trainer alone = trainer();
    alone.run<false>();
    gather(alone.tally);
  } else {
    std::vector<Trainer> trainers;
    for (int i = 0; i < threads; ++i) trainers.push_back(trainer());
    {
      std::vector<std::jthread> team;
      for (Trainer& one : trainers) team.emplace_back([&one] { one.run<true>(); });
    }
    for (const Trainer& one : trainers) gather(one.tally);
  }
  words_[0] += static_cast<uint64_t>(end - trained_);  // every game begins at the empty board, which nobody made
  trained_ = end;
  return sum;
}

}  // namespace tesuji
