// Samples: records replayed into batches to learn from, each seen through a random symmetry of its game.
#pragma once

#include <deque>

#include "../core/any.hpp"
#include "../core/crew.hpp"
#include "../core/record.hpp"

namespace tesuji {

/// Where a batch of n samples is written. Everything is seen from the side of the position's mover.
struct BatchArrays {
  uint64_t* planes;   // [n][packed words]
  float* policy;      // [n][actions], shares
  float* wdl;         // [n][3]: win, draw, loss
  float* score;       // [n]: the final margin, where the game has one
  int8_t* ownership;  // [n][cells]: +1 the mover's … −1 the other's
  float* aux_weight;  // [n]: 1 where score and ownership are known, else 0
};

/// The records to learn from, the newest ones; it holds them in memory, decoded.
class Window {
 public:
  /// `value_mix`: the share of what the searches said in the value to learn; the rest is the outcome. That is a mean
  /// over the searches from the position on, `value_plies` of them on average (1: its own alone), each later one
  /// counting less by the same factor; after the last of them stands the outcome.
  Window(const AnyGame&, const Encoding&, double value_mix, double value_plies);

  /// Adds records. One that does not replay by the rules throws a sentence, and nothing is added.
  void append(std::span<const uint8_t> frames, Crew&);
  /// Drops the oldest games until at most so many positions are left.
  void trim(int64_t positions);

  int64_t games() const { return static_cast<int64_t>(played_.size()); }
  int64_t positions() const { return end_ - begin_; }
  /// The steps of training behind the nets of its games, on average.
  double net() const;
  /// A number that stands for the contents: equal records in equal order give equal ones.
  uint64_t digest() const;

  /// Draws positions, each as likely as any other.
  void sample(int n, uint64_t seed, Crew&, const BatchArrays&) const;

  const AnyGame& game() const { return *game_; }
  const Encoding& encoding() const { return *encoding_; }

 private:
  struct Position {
    uint16_t ply;
    float value;  // what the searches from here on said, for First
    bool proven;
    Result outcome;               // what was proven first from here on, or else came of the game
    uint32_t policy, policy_end;  // its part of `policies`
  };
  struct Played {
    int64_t first;  // number of its first position, counted from the first ever
    uint32_t checksum, net;
    bool played_out;
    float score;
    std::vector<double> numbers;
    std::vector<uint16_t> actions;
    std::vector<int8_t> ownership;
    std::vector<Position> positions;
    std::vector<std::pair<uint16_t, uint16_t>> policies;
  };

  const AnyGame* game_;
  const Encoding* encoding_;
  double value_mix_, value_plies_;
  std::vector<std::vector<uint16_t>> carried_;  // [symmetries][actions]: where each carries an action
  std::deque<Played> played_;
  int64_t begin_ = 0, end_ = 0;  // numbers of positions
  double net_sum_ = 0;

  /// What is wrong with a record, in words; nothing where it was decoded.
  std::string decode(const Record&, Played&) const;
  void write(const Played&, const Position&, int symmetry, int row, const BatchArrays&) const;
};

}  // namespace tesuji
