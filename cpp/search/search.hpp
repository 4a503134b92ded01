// One position's search: select, expand, backup, over a tree that is kept between moves.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "../core/any.hpp"
#include "choose.hpp"
#include "exact/exact.hpp"

namespace tesuji {

struct SearchSettings {
  ChooseSettings choose;
  // Limits: whichever is met first.
  int visits = 1000;   // of the root, those kept from the last move among them
  double seconds = 0;  // 0: no limit
  // The paper's dynamic stop: at visits `checkpoint`, twice that, and so on, when the best move has more than `share`
  // of them.
  int checkpoint = 0;  // 0: never
  double share = 0.8;
  double prior_temperature = 1;  // an evaluator's logits are divided by it: above 1 its favourites count for less
  double noise_weight = 0;       // of Dirichlet noise in the root's priors
  double noise_concentration = 0.3;
  bool gumbel_noise = true;     // Gumbel: whether chance has a say at the root; learning needs it, playing does not
  int leaves = 1;               // visits under way at once in one tree
  bool transpositions = false;  // equal states share a node
  // What the game is sure of is believed: only those moves are looked at among which is a best one, a single one is
  // followed without asking the evaluator (except from the root), and its verdict ends a walk.
  bool candidates = false;
  double draw = 0;                  // what a draw is worth to who moves at the root
  int solve = 0;                    // nodes that an exact solver may spend on a leaf; 0: nobody is asked
  bool notes = false;               // whether the solver keeps what it learned at a leaf for the next ones
  size_t memory = size_t{1} << 30;  // bytes of the tree
};

/// How a search ended.
enum class Stop { running, visits, seconds, share, proven, only, full };
const char* stop_name(Stop);

/// What is known of one move at the root.
struct MoveReport {
  int action;
  uint32_t visits;
  double value, prior;  // value for First
  double improved;      // the policy that the search recommends
  Bounds bounds;
  std::vector<int> line;  // the moves that follow, this one first
};

class Search {
 public:
  Search(AnyState root, const SearchSettings&, uint64_t seed);

  /// Starts anew from a state; keeps the part of the tree that its last moves lead to, where there is one.
  void restart(AnyState root, const std::vector<int>& moves_since);
  /// Plays a legal move on the root, and goes on as after `restart`; `keep`: with the part of the tree it leads to.
  void play(int action, bool keep = true);
  /// Begins another search over the tree as it stands: the clock, so many visits, and noise at the root or none
  /// (neither Dirichlet's nor Gumbel's).
  void begin(int visits, bool noise);
  /// Goes on over the tree as it stands, up to so many visits of the root and for so many seconds (0: no limit).
  void extend(int visits, double seconds);

  const AnyState& root() const { return root_; }
  const Tree& tree() const { return tree_; }
  bool done() const { return stop_ != Stop::running; }
  Stop stop() const { return stop_; }
  uint32_t visits() const { return tree_.node(Tree::kRoot).visits; }

  // ── Evaluators inside the core ──
  enum class Inner { uniform, rollout };
  /// One simulation, answered on the spot.
  void simulate(Inner, int rollouts);

  // ── Evaluators outside: leaves go out, answers come back in the same order ──
  /// Walks to new leaves, at most `settings.leaves`; how many wait for an answer. 0: the search is done.
  int collect();
  const AnyState& leaf(int i) const { return waiting_[i].state; }
  /// Lends the first walk a state to walk with, and takes it back when its leaf needs none any more: who serves many
  /// searches in turn has one for all, which stays near.
  void lend(AnyState);
  AnyState take_back() { return std::move(waiting_[0].state); }
  /// Asks the memory for what `deliver` and `collect` will begin with. Each stage looks at what the one before asked
  /// for, so that a while should lie between them; stage 0 is about the object itself.
  static constexpr int kStages = 4;
  void fetch(int stage) const;
  /// Policy logits over all actions; value for the leaf's mover, and the chance of a draw.
  void deliver(int i, const float* logits, double value, double drawn = 0);
  /// After all are delivered.
  void end_delivery();

  // ── What was found ──
  int best_action() const;
  /// The move to play: the best; with a temperature, by chance in proportion to visits^(1/temperature), where no win is
  /// proven and something else than proven losses is there. Gumbel's chance lies in its noise: it plays the best.
  int played_action(double temperature, Random&) const;
  /// What the position is worth, for First: the mean over visits; after Gumbel, of the moves that it recommends.
  double root_value() const;
  /// The result, where the search has proven it.
  Result proven() const;
  /// What a network is to learn here: actions and weights, which add up to 1. Those below 1e−4 are left out.
  void target(std::vector<std::pair<uint16_t, float>>& out) const;
  std::vector<MoveReport> report() const;  // best first

 private:
  struct Walk {
    AnyState state;
    std::vector<Tree::Step> path;
    int leaf = 0;
  };

  AnyState root_;
  SearchSettings settings_;
  Random random_;
  Tree tree_;
  std::unique_ptr<exact::Notes> notes_;
  GumbelRoot gumbel_;
  Stop stop_ = Stop::running;
  bool noise_ = true;   // whether this search has noise at the root
  bool drawn_ = false;  // and whether it was drawn
  uint32_t next_checkpoint_ = 0;
  std::chrono::steady_clock::time_point started_;
  std::vector<Walk> waiting_;  // [leaves], the first `count_` in use
  int count_ = 0;
  int ticks_ = 0;
  std::vector<float> clean_;  // [actions] the root's priors before Dirichlet's noise; empty: there is none

  /// Whether the walk found a leaf, and gave it its options. `grow`: options are given on the way, without an
  /// evaluator's policy, and a leaf has none.
  bool select(Walk&, bool grow);
  void expand(const Walk&);
  /// Turns a node's logits into priors. Most nodes are met once, and nothing is ever chosen there: who is met again,
  /// and the root, need them.
  void soften(int node);
  void set_result(int node, const AnyState&);
  /// Believes the game's verdict, and what an exact solver finds. The root needs options: its moves show what is
  /// proven.
  void set_verdict(int node, const AnyState&);
  void settle(const Walk&);
  void release(const Walk&);
  void set_root(int kept);
  void prepare_root();
  std::vector<float> clean_priors() const;
  void check_limits();
};

}  // namespace tesuji
