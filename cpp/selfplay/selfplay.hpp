// Self-play: many endless games at once. Every game always has just one leaf that waits for a network, so every batch
// is full and has the same size; a game that ends makes place for a new one on the spot.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core/crew.hpp"
#include "../core/record.hpp"
#include "../search/search.hpp"

namespace tesuji {

struct SelfPlaySettings {
  SearchSettings search;  // of a full search

  // Playout caps: a share of the plies gets a full search, which is learned from; the rest a fast one without noise.
  double full_share = 1.0;
  int fast_visits = 16;

  // Choice of the move, by visits (PUCT): the temperature halves from its first to its final value every so many plies.
  double temperature = 1.0, final_temperature = 0.1, temperature_plies = 10;

  // Variety: a share of the games begins with 1 … opening_plies random moves.
  double opening_share = 0;
  int opening_plies = 0;
  // A share of the games has its rule numbers (komi) moved by a normal draw of that spread, in their steps.
  double vary_share = 0;
  std::vector<double> vary;  // by number; empty: none

  // Giving up: a mover whose value was below −resign for so many of his plies running. Some games are played out
  // nevertheless, to see how often that would have been wrong.
  double resign = 0;  // 0: never
  int resign_plies = 3;
  double resign_checked = 0.1;

  // What a solver finds out within so many nodes is what a position is worth, and ends the game. Some games are played
  // on nevertheless, so that the network sees what comes then.
  int64_t solve = 0;  // 0: nobody is asked
  double play_on = 0.1;

  bool reuse = true;  // the part of the tree that the move leads to serves the next search
};

/// Totals since the beginning.
struct SelfPlayCounters {
  int64_t games = 0, plies = 0, positions = 0, simulations = 0, evaluations = 0;
  int64_t first_wins = 0, draws = 0;
  int64_t resigned = 0, solved = 0;
  int64_t resign_checked = 0, resign_wrong = 0;  // of the games played out nevertheless
  double value_error = 0;                        // sum over the plies of |value − result|

  SelfPlayCounters& operator+=(const SelfPlayCounters&);
};

class SelfPlay {
 public:
  SelfPlay(const AnyGame&, std::vector<double> numbers, const Encoding&, const SelfPlaySettings&, int games,
           uint64_t seed, std::shared_ptr<Crew>);
  SelfPlay(const SelfPlay&) = delete;
  ~SelfPlay();

  int games() const { return static_cast<int>(seats_.size()); }
  /// Takes the answers to the leaves of the last step (logits [games][actions], values [games] for the movers), grows
  /// every tree to its next leaf, and writes those leaves' packed planes. The first step takes no answers.
  /// The crew does that while the caller goes on; `end_step` returns when it is done. Between the two nothing else
  /// may be asked of the games, and the arrays must stay.
  void begin_step(const float* logits, const float* values, uint64_t* planes);
  void end_step();
  bool waiting() const { return waiting_; }  // for answers

  /// Frames of the games that ended since the last call.
  std::vector<uint8_t> take();
  SelfPlayCounters counters() const;
  /// What new games write into their records as their net.
  void set_net(uint32_t steps) { net_ = steps; }
  void set_resign(double value) { settings_.resign = value; }

  const Encoding& encoding() const { return *encoding_; }
  const AnyGame& game() const { return *game_; }

 private:
  struct Seat;
  struct Finished {
    int seat;
    std::vector<uint8_t> frame;
  };
  /// What begin_step asks of the crew.
  struct Step {
    SelfPlay* group = nullptr;
    const float* logits = nullptr;
    const float* values = nullptr;
    uint64_t* planes = nullptr;
    void operator()(int from, int to, int thread) const;
  };
  struct alignas(128) Desk {  // what one thread writes to
    SelfPlayCounters counters;
    std::vector<Finished> finished;
    std::vector<std::pair<uint16_t, float>> target;
    std::optional<AnyState> room;  // where its searches walk, in turn
  };

  const AnyGame* game_;
  const Encoding* encoding_;
  std::vector<double> numbers_;
  SelfPlaySettings settings_;
  uint32_t net_ = 0;
  bool waiting_ = false, growing_ = false;
  Step step_;
  Crew::Task* task_ = nullptr;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Desk> desks_;
  std::vector<uint8_t> frames_;
  std::shared_ptr<Crew> crew_;

  void new_game(Seat&);
  void next_leaf(Seat&, Desk&);
  void count(Seat&, Desk&);
  void move(Seat&, Desk&);
  void begin_search(Seat&);
  Result ask_solver(Seat&);
  void write_ply(Seat&, Desk&, int action);
  bool gives_up(Seat&);
  void finish(Seat&, Desk&, Result, Ending);
};

}  // namespace tesuji
