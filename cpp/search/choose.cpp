#include "choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tesuji {
namespace {

float side_of(const Node& node) { return node.to_play == 0 ? 1.0f : -1.0f; }

/// Value for the mover, with visits under way counted as lost: so that the next visit goes elsewhere.
float value_for_mover(const Edge& e, float side) {
  if (e.pending == 0) return side * e.value;
  const auto visits = static_cast<float>(e.visits), pending = static_cast<float>(e.pending);
  return (side * e.value * visits - pending) / (visits + pending);
}

/// 1 / √n; small numbers from a table, for it is asked of every edge of every node on the way.
float inverse_root(uint32_t n) {
  static const auto table = [] {
    std::array<float, 1024> roots{};
    for (size_t i = 1; i < roots.size(); ++i) roots[i] = 1 / std::sqrt(static_cast<float>(i));
    return roots;
  }();
  return n < table.size() ? table[n] : 1 / std::sqrt(static_cast<float>(n));
}

/// Whether an edge can still lead to more than the mover is already sure of.
bool worth_a_visit(const Node& node, const Edge& e) {
  return !e.bounds.proven() && e.bounds.hope(node.to_play) > node.bounds.sure(node.to_play);
}

/// The edge of most merit among those that are worth a visit. A node that is not proven has one.
template <class Merit>
int best_by(const Node& node, std::span<const Edge> edges, Merit merit) {
  int best = -1;
  float most = -1e30f;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].bounds.open() && !worth_a_visit(node, edges[i])) continue;
    if (const float m = merit(edges[i]); m > most) {
      most = m;
      best = static_cast<int>(i);
    }
  }
  return best < 0 ? best_edge(node, edges) : best;
}

int choose_uct(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) {
  // Each edge once, in their order, which is random (search.cpp); then by value and curiosity.
  if (node.tried < node.edges) return node.tried;
  const float side = side_of(node);
  const auto c = static_cast<float>(s.c * std::sqrt(std::log(static_cast<double>(std::max(1u, node.visits)))));
  return best_by(node, edges,
                 [&](const Edge& e) { return value_for_mover(e, side) + c * inverse_root(e.visits + e.pending); });
}

int choose_puct(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) {
  const float side = side_of(node);
  const double mean = node.visits ? node.mean() : node.own_value;
  const auto unvisited = static_cast<float>(side * mean - s.fpu);
  const auto c = static_cast<float>(s.c * std::sqrt(static_cast<double>(std::max(1u, node.visits))));
  return best_by(node, edges, [&](const Edge& e) {
    const uint32_t visits = e.visits + e.pending;
    const float q = visits == 0 ? unvisited : value_for_mover(e, side);
    return q + c * e.prior / static_cast<float>(1 + visits);
  });
}

double logit(const Edge& e) { return std::log(std::max(e.prior, 1e-12f)); }

/// σ(completed Q) by edge: values in [0, 1] for the mover, unvisited edges at the mixed value, scaled beside logits.
std::vector<float> completed_values(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) {
  const float side = side_of(node);
  double visits = 0, most = 0, prior_sum = 0, weighted = 0;
  for (const Edge& e : edges) {
    const double n = e.visits + e.pending;
    visits += n;
    most = std::max(most, n);
    if (n > 0) {
      prior_sum += e.prior;
      weighted += e.prior * value_for_mover(e, side);
    }
  }
  const double own = side * node.own_value;
  const double mixed = visits > 0 ? (own + visits * weighted / std::max(prior_sum, 1e-12)) / (1 + visits) : own;
  std::vector<float> completed(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge& e = edges[i];
    const double q = e.bounds.proven()          ? e.bounds.sure(node.to_play)
                     : e.visits + e.pending > 0 ? value_for_mover(e, side)
                                                : mixed;
    completed[i] = static_cast<float>((s.c_visit + most) * s.c_scale * (q + 1) / 2);
  }
  return completed;
}

int choose_gumbel(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) {
  const auto policy = improved_policy(node, edges, s);
  double visits = 0;
  for (const Edge& e : edges) visits += e.visits + e.pending;
  return best_by(node, edges,
                 [&](const Edge& e) { return policy[&e - edges.data()] - (e.visits + e.pending) / (1 + visits); });
}

}  // namespace

int choose_inside(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) {
  switch (s.rule) {
    case Rule::uct: return choose_uct(node, edges, s);
    case Rule::puct: return choose_puct(node, edges, s);
    case Rule::gumbel: return choose_gumbel(node, edges, s);
  }
  return 0;
}

std::vector<float> improved_policy(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) {
  auto policy = completed_values(node, edges, s);
  float most = -1e30f;
  for (size_t i = 0; i < edges.size(); ++i) {
    policy[i] += static_cast<float>(logit(edges[i]));
    most = std::max(most, policy[i]);
  }
  float sum = 0;
  for (float& p : policy) sum += p = std::exp(p - most);
  for (float& p : policy) p /= sum;
  return policy;
}

void GumbelRoot::begin(std::span<const Edge> edges, const ChooseSettings& s, int simulations, Random& random) {
  noise_.resize(edges.size());
  for (float& g : noise_) {
    const double u = (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
    g = static_cast<float>(-std::log(-std::log(u)));
  }
  // Sequential halving: all considered get the same visits, then the better half, and so on; the budget is spent evenly
  // over the rounds.
  int considered = std::min<int>(s.considered, static_cast<int>(edges.size()));
  const double rounds = std::max(1.0, std::ceil(std::log2(std::max(considered, 1))));
  schedule_.clear();
  std::vector<uint32_t> visits(considered, 0);
  while (static_cast<int>(schedule_.size()) < simulations) {
    const int each = considered <= 1 ? simulations : std::max(1, static_cast<int>(simulations / (rounds * considered)));
    for (int i = 0; i < each && static_cast<int>(schedule_.size()) < simulations; ++i) {
      for (int k = 0; k < considered; ++k) schedule_.push_back(visits[k]++);
    }
    considered = std::max(considered > 1 ? 2 : 1, considered / 2);
  }
}

float GumbelRoot::merit(size_t edge, std::span<const Edge> edges, const std::vector<float>& completed) const {
  return noise_[edge] + static_cast<float>(logit(edges[edge])) + completed[edge];
}

int GumbelRoot::choose(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) const {
  const auto completed = completed_values(node, edges, s);
  uint32_t done = 0;
  for (const Edge& e : edges) done += e.visits + e.pending;
  uint32_t level = schedule_.empty() ? 0 : schedule_[std::min<size_t>(done, schedule_.size() - 1)];
  // A tree that was kept from the last move, or a proof, may have emptied a level: then the nearest one above serves.
  for (uint32_t most = level;; ++level) {
    int best = -1;
    for (size_t i = 0; i < edges.size(); ++i) {
      const uint32_t visits = edges[i].visits + edges[i].pending;
      most = std::max(most, visits);
      if (visits != level || edges[i].bounds.proven()) continue;
      if (best < 0 || merit(i, edges, completed) > merit(best, edges, completed)) best = static_cast<int>(i);
    }
    if (best >= 0) return best;
    if (level > most) return best_edge(node, edges);
  }
}

int GumbelRoot::best(const Node& node, std::span<const Edge> edges, const ChooseSettings& s) const {
  const int proven = best_edge(node, edges);
  if (node.bounds.proven() || noise_.size() != edges.size()) return proven;
  const auto completed = completed_values(node, edges, s);
  int best = -1;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].bounds.hope(node.to_play) < 0) continue;  // a proven loss, while something else is open
    if (best < 0 || edges[i].visits > edges[best].visits ||
        (edges[i].visits == edges[best].visits && merit(i, edges, completed) > merit(best, edges, completed))) {
      best = static_cast<int>(i);
    }
  }
  return best < 0 ? proven : best;
}

void set_priors(std::span<Edge> edges, const float* logits) {
  float most = -1e30f;
  for (const Edge& e : edges) most = std::max(most, logits[e.action]);
  float sum = 0;
  for (Edge& e : edges) sum += e.prior = std::exp(logits[e.action] - most);
  for (Edge& e : edges) e.prior /= sum;
}

void add_noise(std::span<Edge> edges, double concentration, double weight, Random& random) {
  // A Dirichlet draw is a normalised list of gamma draws; Marsaglia and Tsang's method, boosted below one.
  const auto unit = [&] { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; };
  const auto normal = [&] { return std::sqrt(-2 * std::log(unit())) * std::cos(6.283185307179586 * unit()); };
  const auto gamma = [&](double shape) {
    const double d = shape + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(unit()) < 0.5 * x * x + d - d * v + d * std::log(v))
        return d * v * std::pow(unit(), 1 / shape);
    }
  };
  std::vector<double> draws(edges.size());
  double sum = 0;
  for (double& draw : draws) sum += draw = gamma(concentration);
  if (!(sum > 0)) return;
  for (size_t i = 0; i < edges.size(); ++i) {
    edges[i].prior = static_cast<float>((1 - weight) * edges[i].prior + weight * draws[i] / sum);
  }
}

int best_edge(const Node& node, std::span<const Edge> edges) {
  const int player = node.to_play;
  const float side = side_of(node);
  const auto better = [&](const Edge& a, const Edge& b) {
    const auto rank = [&](const Edge& e) {
      return !e.bounds.proven() ? 0 : e.bounds.sure(player) > 0 ? 1 : e.bounds.sure(player) < 0 ? -1 : 0;
    };
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    if (rank(a) > 0 && a.plies != b.plies) return a.plies < b.plies;
    if (rank(a) < 0 && a.plies != b.plies) return a.plies > b.plies;
    // A proven draw is taken unless the other promises more.
    if (a.bounds.proven() != b.bounds.proven()) {
      const bool a_drawn = a.bounds.proven();
      const bool more = side * (a_drawn ? b : a).value > 0 && !node.bounds.proven();
      return a_drawn != more;
    }
    if (a.visits != b.visits) return a.visits > b.visits;
    if (a.visits == 0) return a.prior > b.prior;
    return side * a.value > side * b.value;
  };
  int best = 0;
  for (size_t i = 1; i < edges.size(); ++i) {
    if (better(edges[i], edges[best])) best = static_cast<int>(i);
  }
  return best;
}

}  // namespace tesuji
