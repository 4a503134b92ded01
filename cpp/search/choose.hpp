// How a search chooses an edge: each rule is a function of a node, never another tree.
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
  double fpu = 0.2;      // PUCT: an edge without a visit is worth its node's mean less this for the mover
  double c_visit = 50;   // Gumbel: how much values count beside priors,
  double c_scale = 1.0;  //         (c_visit + most visits) · c_scale
  int considered = 16;   // Gumbel: how many actions the root considers
};

/// The edge to follow from a node inside the tree. It never follows what cannot better what is already sure.
int choose_inside(const Node&, std::span<const Edge>, const ChooseSettings&);

/// Gumbel's root: sequential halving over the actions that noise and priors put first.
class GumbelRoot {
 public:
  /// Draws the noise for a search of so many simulations.
  void begin(std::span<const Edge>, const ChooseSettings&, int simulations, Random&);
  int choose(const Node&, std::span<const Edge>, const ChooseSettings&) const;
  /// The action to play at the end: the best of the most visited.
  int best(const Node&, std::span<const Edge>, const ChooseSettings&) const;

 private:
  std::vector<float> noise_;        // by edge
  std::vector<uint32_t> schedule_;  // of each simulation: the visits of those considered

  float merit(size_t edge, std::span<const Edge>, const std::vector<float>& completed) const;
};

/// The policy that a search recommends for learning, by edge: priors improved by the values that were found.
std::vector<float> improved_policy(const Node&, std::span<const Edge>, const ChooseSettings&);

/// Sets the priors of edges from a network's logits over all actions.
void set_priors(std::span<Edge>, const float* logits);
/// Mixes Dirichlet noise of that concentration into priors.
void add_noise(std::span<Edge>, double concentration, double weight, Random&);

/// The edge of the best move: proven wins first (the shortest), proven losses last (the longest), else the most
/// visited.
int best_edge(const Node&, std::span<const Edge>);

}  // namespace tesuji
