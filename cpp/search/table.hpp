// Study D: a learned Monte-Carlo table of Dots and Boxes. A state is the set of drawn edges alone, so that a board of E
// edges has 2^E of them, and each has one word: how often it was reached, and how often the player who made it won.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "../core/any.hpp"

namespace tesuji {

/// The boxes of a game of Dots and Boxes as sets of edges, and what its rules say about the second ply.
struct DotsBoard {
  int edges = 0;
  uint64_t all = 0;
  std::vector<uint64_t> boxes;                   // [boxes] the four edges of each
  std::vector<std::array<uint8_t, 2>> boxes_at;  // [edges] the boxes at an edge; at the rim the one box twice
  std::vector<uint64_t> replies;                 // [edges] the legal replies to a first move

  /// Read off the spec and the rules; a game that is not Dots and Boxes, or has more than 64 edges, throws a sentence.
  explicit DotsBoard(const AnyGame& game);
};

/// `greedy`: who can take a box does.
enum class TableModel { free, greedy };

/// How training games ended.
struct TableTally {
  int64_t first = 0, drawn = 0, second = 0, plies = 0;
};

class DotsTable {
 public:
  static constexpr int kMostEdges = 24;
  static constexpr int64_t kMostGames = 2'000'000'000;  // a count is 32 bits, and read as a signed number

  DotsTable(const AnyGame& game, TableModel model);

  /// [2^edges], by the set of drawn edges: the count in the low half, the wins in the high half.
  uint64_t* words() { return words_; }
  size_t states() const { return size_t{1} << board_.edges; }
  /// How many games it was trained with. Kept here, so that no signal comes between the games and their number.
  int64_t trained() const { return trained_; }
  void set_trained(int64_t games) { trained_ = games; }

  /// Plays whole games numbered `trained()` … `end`−1 and credits their states. A game's random choices follow from
  /// `seed` and its number; with one thread the same calls give the same table.
  TableTally train(int64_t end, double exploration, uint64_t seed, int threads);

 private:
  struct Trainer;

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };

  DotsBoard board_;
  TableModel model_;
  int64_t trained_ = 0;
  std::unique_ptr<void, Free> memory_;
  uint64_t* words_;  // within it, at the start of a large page
};

}  // namespace tesuji
