// How a search chooses an option of a node: each rule is a function of a node, never another tree.
//
// Options are numbered as in the tree: those below `node.opened` have an edge, the others are to be opened. The others
// differ in nothing but the prior, so that only the one of largest prior is ever looked at.
#pragma once

#include <span>
#include <vector>

#include "../core/random.hpp"
#include "tree.hpp"

namespace tesuji {

enum class Rule { uct, puct, gumbel };

struct ChooseSettings {
  Rule rule = Rule::puct;
  double c = 1.5;        // how much the unknown attracts: c_puct, or UCT's constant
  double fpu = 0.2;      // PUCT: an option without a visit is worth its node's mean less this for the mover
  double c_visit = 50;   // Gumbel: how much values count beside priors,
  double c_scale = 1.0;  //         (c_visit + most visits) · c_scale
  int considered = 16;   // Gumbel: how many actions the root considers
};

/// The option to follow from a node inside the tree. It never follows what cannot better what is already sure.
int choose_inside(Tree&, int node, const ChooseSettings&, Random&);

/// Gumbel's root: sequential halving over the actions that noise and priors put first.
class GumbelRoot {
 public:
  /// Opens what is to be considered in a search of so many simulations; without `noise` the largest priors.
  void begin(Tree&, const ChooseSettings&, int simulations, bool noise, Random&);
  /// Forgets the candidates: another root.
  void clear() { candidates_.clear(); }
  int choose(Tree&, const ChooseSettings&);
  /// Asks the memory for the candidates.
  void fetch() const { prefetch(candidates_.data(), candidates_.size() * sizeof(Candidate)); }
  /// The option to play at the end: the best of the most visited.
  int best(const Tree&, const ChooseSettings&) const;

 private:
  struct Candidate {
    float merit;  // noise + logit
    int edge;
    uint32_t before;  // visits that it had at the beginning
    uint32_t spent;   // since then
  };
  struct Round {
    uint32_t first, considered, level;  // of simulations; of candidates; visits of each before the round
  };
  std::vector<Candidate> candidates_;  // best first
  std::vector<Round> rounds_;
};

/// The policy that a search recommends, by option: priors improved by the values that were found.
void improved_policy(const Tree&, int node, const ChooseSettings&, std::span<const float> priors,
                     std::vector<float>& out);
/// What a network is to learn from a search, by option; adds up to 1. Gumbel: the improved policy. PUCT: shares of
/// visits, less those that it would not have spent had it known the values it found. What is won takes all; what is
/// lost gets nothing while there is anything else.
void policy_target(const Tree&, int node, const ChooseSettings&, std::span<const float> priors,
                   std::vector<float>& out);

/// Priors from logits, in place. There is room for three numbers more.
void softmax(float* numbers, size_t count);
/// Mixes Dirichlet noise of that concentration into priors.
void add_noise(std::span<float> priors, double concentration, double weight, Random&);

/// The best move: proven wins first (the shortest), proven losses last (the longest), else the most visited.
int best_option(const Tree&, const Node&);

}  // namespace tesuji
