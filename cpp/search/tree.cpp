#include "tree.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "../core/bits.hpp"

namespace tesuji {

void Tree::clear() {
  nodes_.clear();
  edges_.clear();
  free_.fill(-1);
  actions_.clear();
  priors_.clear();
  by_key_.clear();
  keys_ = 0;
}

bool Tree::full(size_t options) const {
  // A node, its options, a block of edges of twice the size, and a table of keys of twice the size.
  size_t more = sizeof(Node) + options * (sizeof(uint16_t) + sizeof(float) + 2 * sizeof(Edge));
  if (keys_ > 0 && 2 * (keys_ + 1) > by_key_.size()) more += by_key_.size() * sizeof(Place);
  return bytes() + more > memory_;
}

int Tree::add_node(int to_play) {
  nodes_.emplace_back();
  nodes_.back().to_play = static_cast<uint8_t>(to_play);
  return size() - 1;
}

int Tree::add_node(int to_play, uint64_t key, bool& is_new) {
  if (2 * (keys_ + 1) > by_key_.size()) {
    const auto before = std::exchange(by_key_, std::vector<Place>(std::max<size_t>(1024, 2 * by_key_.size())));
    for (const Place& p : before) {
      if (p.node >= 0) place(p.key) = p;
    }
  }
  Place& found = place(key);
  is_new = found.node < 0;
  if (is_new) {
    found = {key, size()};
    ++keys_;
    add_node(to_play);
  }
  return found.node;
}

Tree::Place& Tree::place(uint64_t key) {
  const size_t mask = by_key_.size() - 1;
  size_t at = key & mask;
  while (by_key_[at].node >= 0 && by_key_[at].key != key) at = (at + 1) & mask;
  return by_key_[at];
}

void Tree::expand(int node, std::span<const uint64_t> actions) {
  Node& n = nodes_[node];
  n.first_option = static_cast<int32_t>(actions_.size());
  int count = 0;
  for (const uint64_t word : actions) count += std::popcount(word);
  n.options = static_cast<uint16_t>(count);
  // Eight places a byte are written, of which as many count as it has bits.
  actions_.resize(actions_.size() + count + 8);
  uint16_t* out = actions_.data() + n.first_option;
  for (size_t i = 0; i < actions.size(); ++i) {
    int first = static_cast<int>(64 * i);
    for (uint64_t w = actions[i]; w; w >>= 8, first += 8) {
      const auto& bits = kBitsOf[w & 255];
      for (int k = 0; k < 8; ++k) out[k] = static_cast<uint16_t>(first + bits[k]);
      out += std::popcount(w & 255);
    }
  }
  actions_.resize(actions_.size() - 8);
  n.best_prior = 1 / static_cast<float>(n.options);
  priors_.resize(actions_.size(), n.best_prior);
}

void Tree::set_priors(int node, std::span<const float> priors) {
  Node& n = nodes_[node];
  std::copy(priors.begin(), priors.end(), priors_.begin() + n.first_option);
  for (int i = 0; i < n.opened; ++i) edges_[n.first_edge + i].prior = priors[i];
  // The best of them is looked for when it is asked for: most leaves are met once.
  n.best = n.options;
  n.best_prior = 1;
  n.raw = false;
}

void Tree::set_logits(int node, const float* logits) {
  Node& n = nodes_[node];
  const uint16_t* actions = actions_.data() + n.first_option;
  float* out = priors_.data() + n.first_option;
  for (int i = 0; i < n.options; ++i) out[i] = logits[actions[i]];
  n.raw = true;
}

void Tree::find_best(Node& n) const {
  const float* priors = priors_.data() + n.first_option;
  // Four running maxima, which compilers keep in one register.
  std::array<float, 4> most{-1, -1, -1, -1};
  int i = n.opened;
  for (; i + 4 <= n.options; i += 4) {
    for (int k = 0; k < 4; ++k) most[k] = priors[i + k] > most[k] ? priors[i + k] : most[k];
  }
  for (; i < n.options; ++i) most[0] = std::max(most[0], priors[i]);
  n.best_prior = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  n.best = static_cast<uint16_t>(std::find(priors + n.opened, priors + n.options - 1, n.best_prior) - priors);
}

int32_t Tree::take_block(int size) {
  const int32_t block = free_[size];
  if (block >= 0) {
    free_[size] = edges_[block].child;
    return block;
  }
  edges_.resize(edges_.size() + (size_t{1} << size));
  return static_cast<int32_t>(edges_.size() - (size_t{1} << size));
}

int Tree::open(int node, int option) {
  Node& n = nodes_[node];
  const int at = n.opened;
  // Step 1. The option goes to the end of the open ones.
  const size_t from = n.first_option + option, to = n.first_option + at;
  std::swap(actions_[from], actions_[to]);
  std::swap(priors_[from], priors_[to]);
  n.best = static_cast<uint16_t>(n.best == option ? 0 : n.best == at ? option : n.best);
  // Step 2. Its edge goes there too.
  if (at == 0) {
    n.first_edge = take_block(0);
  } else if (std::has_single_bit(static_cast<unsigned>(at))) {
    const int size = std::countr_zero(static_cast<unsigned>(at));
    const int32_t block = take_block(size + 1);
    std::copy_n(edges_.begin() + n.first_edge, at, edges_.begin() + block);
    edges_[n.first_edge].child = std::exchange(free_[size], n.first_edge);
    n.first_edge = block;
  }
  edges_[n.first_edge + at] = {.prior = priors_[to], .action = actions_[to]};
  return n.opened++;
}

void Tree::backup(std::span<const Step> path, int leaf, double value) {
  Node& last = nodes_[leaf];
  if (last.bounds.proven()) value = worth(last.bounds);
  ++last.visits;
  last.sum += value;
  bool news = !last.bounds.open();
  for (size_t i = path.size(); i-- > 0;) {
    Node& parent = nodes_[path[i].node];
    Edge& edge = edges_[parent.first_edge + path[i].edge];
    ++edge.visits;
    edge.value = static_cast<float>(nodes_[edge.child].mean());
    if (news) news = prove(path[i].node, edge);
    // What is proven is worth just that, whatever the visits before the proof said.
    if (parent.bounds.proven()) value = worth(parent.bounds);
    ++parent.visits;
    parent.sum += value;
  }
}

bool Tree::prove(int parent, Edge& edge) {
  const Node& child = nodes_[edge.child];
  Node& node = nodes_[parent];
  edge.bounds = child.bounds;
  edge.plies = child.plies;
  if (edge.bounds.proven()) edge.value = worth(edge.bounds);

  // The mover gets the best of his edges: sure of the best that one makes sure, and hoping for the best that one
  // allows.
  const int player = node.to_play;
  int sure = -1, hope = node.opened < node.options ? 1 : -1;
  for (const Edge& e : edges(node)) {
    sure = std::max(sure, e.bounds.sure(player));
    hope = std::max(hope, e.bounds.hope(player));
  }
  const Bounds chosen = player == 0 ? Bounds{static_cast<int8_t>(sure), static_cast<int8_t>(hope)}
                                    : Bounds{static_cast<int8_t>(-hope), static_cast<int8_t>(-sure)};
  const Bounds bounds = chosen & node.bounds;  // which may know what no edge does
  // The shortest win; else, of what is proven best, the longest.
  uint16_t plies = 0;
  if (bounds.proven()) {
    for (const Edge& e : edges(node)) {
      if (e.bounds != bounds) continue;
      const auto through = static_cast<uint16_t>(e.plies + 1);
      plies = plies == 0 ? through : bounds.sure(player) > 0 ? std::min(plies, through) : std::max(plies, through);
    }
  }
  const bool changed = bounds != node.bounds || plies != node.plies;
  node.bounds = bounds;
  node.plies = plies;
  return changed;
}

void Tree::advance(int child) {
  // Walk from the new root, breadth first, and give what is met its new place.
  std::vector<int> moved(nodes_.size(), -1), order{child};
  moved[child] = 0;
  Tree kept(memory_);
  kept.draw_ = draw_;
  kept.nodes_.reserve(nodes_.capacity());
  kept.edges_.reserve(edges_.capacity());
  kept.actions_.reserve(actions_.capacity());
  kept.priors_.reserve(priors_.capacity());
  for (size_t i = 0; i < order.size(); ++i) {
    Node node = nodes_[order[i]];
    const auto from = edges(node);
    const auto actions = this->actions(node);
    const auto priors = this->priors(node);
    node.first_option = static_cast<int32_t>(kept.actions_.size());
    kept.actions_.insert(kept.actions_.end(), actions.begin(), actions.end());
    kept.priors_.insert(kept.priors_.end(), priors.begin(), priors.end());
    if (!from.empty()) node.first_edge = kept.take_block(std::bit_width(from.size() - 1));
    for (size_t k = 0; k < from.size(); ++k) {
      Edge& edge = kept.edges_[node.first_edge + k] = from[k];
      if (edge.child < 0) continue;
      if (moved[edge.child] < 0) {
        moved[edge.child] = static_cast<int>(order.size());
        order.push_back(edge.child);
      }
      edge.child = moved[edge.child];
    }
    kept.nodes_.push_back(node);
  }
  kept.by_key_.resize(by_key_.size());
  for (const Place& p : by_key_) {
    if (p.node < 0 || moved[p.node] < 0) continue;
    kept.place(p.key) = {p.key, moved[p.node]};
    ++kept.keys_;
  }
  *this = std::move(kept);
}

Tree::Depth Tree::depth() const {
  Depth found;
  if (empty()) return found;
  std::vector<char> seen(nodes_.size(), 0);
  std::vector<int> level{kRoot}, next;
  seen[kRoot] = 1;
  uint64_t below = 0;  // visits of all nodes but the root: a visit counts once a ply
  for (int plies = 0; !level.empty(); ++plies) {
    found.most = plies;
    next.clear();
    for (const int at : level) {
      for (const Edge& edge : edges(nodes_[at])) {
        below += edge.visits;
        if (edge.child < 0 || seen[edge.child]) continue;
        seen[edge.child] = 1;
        next.push_back(edge.child);
      }
    }
    std::swap(level, next);
  }
  if (const uint32_t visits = nodes_[kRoot].visits) found.mean = static_cast<double>(below) / visits;
  return found;
}

}  // namespace tesuji
