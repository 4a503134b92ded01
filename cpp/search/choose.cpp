#include "choose.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace tesuji {
namespace {

float side_of(const Node& node) { return node.to_play == 0 ? 1.0f : -1.0f; }

// Four numbers in one register, on every machine we know.
using Four = float __attribute__((vector_size(16)));
using FourInts = int32_t __attribute__((vector_size(16)));

/// e^x for x ≤ 0, off by less than one part in a million. The same on every machine, which std::exp need not be.
Four exp_of(Four x) {
  x = x < -87.0f ? Four{-87.0f, -87.0f, -87.0f, -87.0f} : x;
  // x = n · ln 2 + r: adding 1.5 · 2²³ rounds to a whole number, which then stands in the low bits.
  constexpr float kRound = 12582912.0f;
  const Four rounded = x * 1.44269504f + kRound;
  const Four n = rounded - kRound;
  const Four r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Four power = r * (1.0f / 720) + 1.0f / 120;
  power = power * r + 1.0f / 24;
  power = power * r + 1.0f / 6;
  power = power * r + 0.5f;
  power = power * r + 1.0f;
  power = power * r + 1.0f;
  const FourInts exponent = std::bit_cast<FourInts>(rounded) - 0x4b400000 + 127;
  const FourInts bits = exponent << 23;
  return power * std::bit_cast<Four>(bits);
}
float exp_of(float x) { return exp_of(Four{x})[0]; }

/// Value for the mover, with visits under way counted as lost: so that the next visit goes elsewhere.
float value_for_mover(const Edge& e, float side) {
  if (e.pending == 0) return side * e.value;
  const auto visits = static_cast<float>(e.visits), pending = static_cast<float>(e.pending);
  return (side * e.value * visits - pending) / (visits + pending);
}

// 1 / √n, and 1 for 0: asked of every edge of every node on the way.
const auto kInverseRoots = [] {
  std::array<float, 1024> roots{1};
  for (size_t i = 1; i < roots.size(); ++i) roots[i] = 1 / std::sqrt(static_cast<float>(i));
  return roots;
}();
float inverse_root(uint32_t n) {
  return n < kInverseRoots.size() ? kInverseRoots[n] : 1 / std::sqrt(static_cast<float>(n));
}

/// Whether an edge can still lead to more than the mover is already sure of.
bool worth_a_visit(const Node& node, const Edge& e) {
  return e.bounds.open() || (!e.bounds.proven() && e.bounds.hope(node.to_play) > node.bounds.sure(node.to_play));
}

/// The option of most merit among those that are worth a visit. A node that is not proven has one. `unopened` gives
/// the merit of an unopened option by its prior.
template <class Merit, class Unopened>
int best_by(Tree& tree, Node& node, Merit merit, Unopened unopened) {
  const auto edges = tree.edges(node);
  int best = -1;
  float most = -1e30f;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!worth_a_visit(node, edges[i])) continue;
    if (const float m = merit(edges[i]); m > most) {
      most = m;
      best = static_cast<int>(i);
    }
  }
  // The largest prior is looked for only where it can win.
  if (node.opened < node.options && unopened(node.best_prior) > most) {
    const int option = tree.best_unopened(node);
    if (unopened(node.best_prior) > most) return option;
  }
  return best < 0 ? best_option(tree, node) : best;
}

int choose_uct(Tree& tree, Node& node, const ChooseSettings& s, Random& random) {
  // Each option once, in random order; then by value and curiosity.
  if (node.opened < node.options) return node.opened + random.below(node.options - node.opened);
  const float side = side_of(node);
  const auto c = static_cast<float>(s.c * std::sqrt(std::log(static_cast<double>(std::max(1u, node.visits)))));
  return best_by(
      tree, node, [&](const Edge& e) { return value_for_mover(e, side) + c * inverse_root(e.visits + e.pending); },
      [](float) { return 0.0f; });
}

int choose_puct(Tree& tree, Node& node, const ChooseSettings& s) {
  const float side = side_of(node);
  const double mean = node.visits ? node.mean() : node.own_value;
  const auto unvisited = static_cast<float>(side * mean - s.fpu);
  const auto c = static_cast<float>(s.c * std::sqrt(static_cast<double>(std::max(1u, node.visits))));
  return best_by(
      tree, node,
      [&](const Edge& e) {
        const uint32_t visits = e.visits + e.pending;
        const float q = visits == 0 ? unvisited : value_for_mover(e, side);
        return q + c * e.prior / static_cast<float>(1 + visits);
      },
      [&](float prior) { return unvisited + c * prior; });
}

/// Completed Q: values for the mover, what has no visit at the mixed value; scaled to stand beside logits.
struct Completed {
  float side, scale, mixed;
  float visits = 0, prior_sum = 0;  // of what was visited
  const Tree& tree;

  Completed(const Tree& tree, const Node& node, const ChooseSettings& s) : side(side_of(node)), tree(tree) {
    float most = 0, weighted = 0;
    for (const Edge& e : tree.edges(node)) {
      const auto n = static_cast<float>(e.visits + e.pending);
      if (n == 0) continue;
      visits += n;
      most = std::max(most, n);
      prior_sum += e.prior;
      weighted += e.prior * value_for_mover(e, side);
    }
    scale = static_cast<float>((s.c_visit + most) * s.c_scale / 2);
    const float own = side * node.own_value;
    mixed = scaled(visits > 0 ? (own + visits * weighted / std::max(prior_sum, 1e-12f)) / (1 + visits) : own);
  }
  float scaled(float value) const { return scale * (value + 1); }
  float of(const Edge& e) const {
    if (e.bounds.proven()) return scaled(side * tree.worth(e.bounds));
    return e.visits + e.pending > 0 ? scaled(value_for_mover(e, side)) : mixed;
  }
};

int choose_gumbel(Tree& tree, Node& node, const ChooseSettings& s) {
  if (node.opened == 0) return tree.best_unopened(node);
  // policy' = prior · e^σ / sum, where all that is not open has the same σ; the largest σ is taken off against
  // overflow.
  const auto edges = tree.edges(node);
  const Completed completed(tree, node, s);
  float most = completed.mixed, open = 0;
  for (const Edge& e : edges) {
    most = std::max(most, completed.of(e));
    open += e.prior;
  }
  const float unopened = exp_of(completed.mixed - most);
  float sum = std::max(0.0f, 1 - open) * unopened;
  for (const Edge& e : edges) sum += e.prior * exp_of(completed.of(e) - most);
  const float share = 1 / std::max(sum, 1e-30f), lag = 1 / (1 + completed.visits);
  return best_by(
      tree, node,
      [&](const Edge& e) {
        return e.prior * exp_of(completed.of(e) - most) * share - static_cast<float>(e.visits + e.pending) * lag;
      },
      [&](float prior) { return prior * unopened * share; });
}

/// Whether a is to be played rather than b.
bool better(const Tree& tree, const Node& node, const Edge& a, const Edge& b) {
  const int player = node.to_play;
  const float side = side_of(node);
  const auto rank = [&](const Edge& e) {
    return !e.bounds.proven() ? 0 : e.bounds.sure(player) > 0 ? 1 : e.bounds.sure(player) < 0 ? -1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  if (rank(a) > 0 && a.plies != b.plies) return a.plies < b.plies;
  if (rank(a) < 0 && a.plies != b.plies) return a.plies > b.plies;
  // A proven draw is taken unless the other promises more.
  if (a.bounds.proven() != b.bounds.proven()) {
    const bool a_drawn = a.bounds.proven();
    const bool more = side * (a_drawn ? b : a).value > side * tree.draw() && !node.bounds.proven();
    return a_drawn != more;
  }
  if (a.visits != b.visits) return a.visits > b.visits;
  if (a.visits == 0) return a.prior > b.prior;
  return side * a.value > side * b.value;
}

bool lost(const Node& node, const Edge& e) { return e.bounds.hope(node.to_play) < 0; }

}  // namespace

int choose_inside(Tree& tree, int index, const ChooseSettings& s, Random& random) {
  Node& node = tree.node(index);
  switch (s.rule) {
    case Rule::uct: return choose_uct(tree, node, s, random);
    case Rule::puct: return choose_puct(tree, node, s);
    case Rule::gumbel: return choose_gumbel(tree, node, s);
  }
  return 0;
}

int best_option(const Tree& tree, const Node& node) {
  const auto edges = tree.edges(node);
  Edge best;
  int number = -1;
  if (node.opened < node.options) {
    number = tree.best_unopened(node);
    best.prior = tree.priors(node)[number];
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    if (number >= 0 && !better(tree, node, edges[i], best)) continue;
    best = edges[i];
    number = static_cast<int>(i);
  }
  return number;
}

// ── Gumbel's root ───────────────────────────────────────────────────────────────────────────────────────────────────

void GumbelRoot::begin(Tree& tree, const ChooseSettings& s, int simulations, bool noise, Random& random) {
  const Node& root = tree.node(Tree::kRoot);
  const auto priors = tree.priors(root);
  // Noise + logit is −log(E / prior) with E exponential: the smallest quotients come first.
  struct Draw {
    float quotient;
    int option;
  };
  thread_local std::vector<Draw> draws;
  draws.clear();
  for (int option = 0; option < root.options; ++option) {
    const double e = noise ? -std::log(random.real()) : 1.0;
    draws.push_back({static_cast<float>(e / std::max(priors[option], 1e-30f)), option});
  }
  const int considered = std::min({s.considered, static_cast<int>(root.options), simulations});
  std::partial_sort(draws.begin(), draws.begin() + considered, draws.end(), [](const Draw& a, const Draw& b) {
    return a.quotient != b.quotient ? a.quotient < b.quotient : a.option < b.option;
  });
  candidates_.clear();
  for (int i = 0; i < considered; ++i) {
    int edge = draws[i].option;
    if (const int first = root.opened; edge >= first) {
      tree.open(Tree::kRoot, edge);
      for (int k = i + 1; k < considered; ++k) {
        if (draws[k].option == first) draws[k].option = edge;  // the two have changed places
      }
      edge = first;
    }
    candidates_.push_back({-std::log(draws[i].quotient), edge, tree.edges(root)[edge].visits, 0});
  }
  // Sequential halving: all considered get the same visits, then the better half, and so on; the budget is spent evenly
  // over the rounds. The last two share what is left.
  rounds_.clear();
  const double count = std::max(1.0, std::ceil(std::log2(considered)));
  uint32_t done = 0, level = 0;
  for (uint32_t left = considered;; left = std::max(2u, left / 2)) {
    rounds_.push_back({done, left, level});
    if (left <= 2) break;
    const auto each = std::max(1u, static_cast<uint32_t>(simulations / (count * left)));
    done += each * left;
    level += each;
  }
}

int GumbelRoot::choose(Tree& tree, const ChooseSettings& s) {
  Node& root = tree.node(Tree::kRoot);
  const auto edges = tree.edges(root);
  // Step 1. The level that is being filled.
  uint32_t done = 0;
  for (Candidate& c : candidates_) done += c.spent = edges[c.edge].visits + edges[c.edge].pending - c.before;
  size_t round = rounds_.size() - 1;
  while (rounds_[round].first > done) --round;
  const uint32_t level = rounds_[round].level + (done - rounds_[round].first) / rounds_[round].considered;
  // Step 2. Who stands there. A proof may have emptied it: then the nearest one above serves, or else below.
  const auto distance = [&](const Candidate& c) {
    return c.spent >= level ? c.spent - level : 0x80000000u + level - c.spent;
  };
  const Candidate* best = nullptr;
  uint32_t least = 0;
  bool alone = true, tried = false;  // any of them, by this search or before
  for (const Candidate& c : candidates_) {
    if ((best && distance(c) > least) || !worth_a_visit(root, edges[c.edge])) continue;
    alone = !best || distance(c) < least;
    tried = (!alone && tried) || c.spent + c.before > 0;
    if (!alone) continue;
    best = &c;
    least = distance(c);
  }
  if (!best) return choose_gumbel(tree, root, s);  // all considered are settled: the others have their turn
  // Step 3. Of several, whom merit and value put first. Without a visit all are worth the same, and merit falls.
  if (alone || !tried) return best->edge;
  const Completed completed(tree, root, s);
  const auto merit = [&](const Candidate& c) { return c.merit + completed.of(edges[c.edge]); };
  float most = merit(*best);
  for (const Candidate* c = best + 1; c != candidates_.data() + candidates_.size(); ++c) {
    if (distance(*c) != least || !worth_a_visit(root, edges[c->edge])) continue;
    if (const float m = merit(*c); m > most) {
      most = m;
      best = c;
    }
  }
  return best->edge;
}

int GumbelRoot::best(const Tree& tree, const ChooseSettings& s) const {
  const Node& root = tree.node(Tree::kRoot);
  const auto edges = tree.edges(root);
  if (root.bounds.proven()) return best_option(tree, root);
  const Completed completed(tree, root, s);
  const Candidate* best = nullptr;
  const auto rank = [&](const Candidate& c) {
    return std::pair(edges[c.edge].visits - c.before, c.merit + completed.of(edges[c.edge]));
  };
  for (const Candidate& c : candidates_) {
    if (lost(root, edges[c.edge])) continue;  // while something else is open
    if (!best || rank(c) > rank(*best)) best = &c;
  }
  return best ? best->edge : best_option(tree, root);
}

// ── Policies ────────────────────────────────────────────────────────────────────────────────────────────────────────

void improved_policy(const Tree& tree, int index, const ChooseSettings& s, std::span<const float> priors,
                     std::vector<float>& out) {
  const Node& node = tree.node(index);
  const auto edges = tree.edges(node);
  const Completed completed(tree, node, s);
  double most = completed.mixed, sum = 0;
  for (const Edge& e : edges) most = std::max<double>(most, completed.of(e));
  const double unopened = std::exp(completed.mixed - most);
  out.resize(node.options);
  for (size_t i = 0; i < out.size(); ++i) {
    const double weight = i < edges.size() ? std::exp(completed.of(edges[i]) - most) : unopened;
    out[i] = static_cast<float>(std::max(priors[i], 1e-12f) * weight);
    sum += out[i];
  }
  for (float& p : out) p = static_cast<float>(p / sum);
}

void policy_target(const Tree& tree, int index, const ChooseSettings& s, std::span<const float> priors,
                   std::vector<float>& out) {
  const Node& node = tree.node(index);
  const auto edges = tree.edges(node);
  const bool all_lost = node.bounds.hope(node.to_play) < 0;
  if (node.bounds.sure(node.to_play) > 0) {
    out.assign(node.options, 0.0f);
    out[best_option(tree, node)] = 1;
    return;
  }
  uint32_t most = 0;
  for (const Edge& e : edges) most = std::max(most, lost(node, e) && !all_lost ? 0 : e.visits);
  if (s.rule == Rule::gumbel) {
    improved_policy(tree, index, s, priors, out);
  } else if (most == 0) {
    out.assign(priors.begin(), priors.end());
  } else {
    out.assign(node.options, 0.0f);
    for (size_t i = 0; i < edges.size(); ++i) out[i] = static_cast<float>(edges[i].visits);
  }
  if (!all_lost) {
    for (size_t i = 0; i < edges.size(); ++i) {
      if (lost(node, edges[i])) out[i] = 0;
    }
  }
  if (s.rule == Rule::puct && most > 0) {
    // The most visited sets the mark; the others keep so many visits that curiosity would not lift them over it.
    const float side = side_of(node);
    const auto c = static_cast<float>(s.c * std::sqrt(static_cast<double>(std::max(1u, node.visits))));
    const size_t top = std::max_element(out.begin(), out.end()) - out.begin();
    const float mark = side * edges[top].value + c * priors[top] / (1 + out[top]);
    for (size_t i = 0; i < edges.size(); ++i) {
      if (i == top) continue;
      const float short_of = mark - side * edges[i].value;
      if (short_of > 0) out[i] = std::min(out[i], std::max(0.0f, c * priors[i] / short_of - 1));
      if (out[i] <= 1 && most > 1) out[i] = 0;
    }
  }
  double sum = 0;
  for (const float p : out) sum += p;
  if (!(sum > 0)) {  // everything that is not lost has no weight at all
    out[best_option(tree, node)] = 1;
    sum = 1;
  }
  for (float& p : out) p = static_cast<float>(p / sum);
}

void softmax(float* out, size_t count) {
  for (size_t i = count; i % 4; ++i) out[i] = -1e30f;
  const auto four = [&](size_t i) {
    Four x;
    std::copy_n(out + i, 4, reinterpret_cast<float*>(&x));
    return x;
  };
  const auto put = [&](size_t i, Four x) { std::copy_n(reinterpret_cast<const float*>(&x), 4, out + i); };
  Four largest = Four{} - 1e30f, sums{};
  for (size_t i = 0; i < count; i += 4) {
    const Four x = four(i);
    largest = x > largest ? x : largest;
  }
  const float most = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  for (size_t i = 0; i < count; i += 4) {
    const Four x = exp_of(four(i) - most);
    put(i, x);
    sums += x;
  }
  const float share = 1 / (sums[0] + sums[1] + sums[2] + sums[3]);
  for (size_t i = 0; i < count; i += 4) put(i, four(i) * share);
}

void add_noise(std::span<float> priors, double concentration, double weight, Random& random) {
  // A Dirichlet draw is a normalised list of gamma draws; Marsaglia and Tsang's method, boosted below one.
  const auto gamma = [&](double shape) {
    const double d = shape + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = random.normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(random.real()) < 0.5 * x * x + d - d * v + d * std::log(v))
        return d * v * std::pow(random.real(), 1 / shape);
    }
  };
  std::vector<double> draws(priors.size());
  double sum = 0;
  for (double& draw : draws) sum += draw = gamma(concentration);
  if (!(sum > 0)) return;
  for (size_t i = 0; i < priors.size(); ++i) {
    priors[i] = static_cast<float>((1 - weight) * priors[i] + weight * draws[i] / sum);
  }
}

}  // namespace tesuji
