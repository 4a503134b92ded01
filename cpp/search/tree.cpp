#include "tree.hpp"

#include <algorithm>
#include <utility>

namespace tesuji {

void Tree::clear() {
  nodes_.clear();
  edges_.clear();
  by_key_.clear();
  keys_ = 0;
}

bool Tree::full(size_t edges) const { return bytes() + sizeof(Node) + edges * sizeof(Edge) > memory_; }

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

std::span<Edge> Tree::expand(int node, std::span<const int> actions) {
  nodes_[node].first_edge = static_cast<int32_t>(edges_.size());
  nodes_[node].edges = static_cast<uint16_t>(actions.size());
  for (const int action : actions) {
    edges_.emplace_back();
    edges_.back().action = static_cast<int16_t>(action);
  }
  return edges(nodes_[node]);
}

void Tree::backup(std::span<const Step> path, int leaf, double value) {
  Node& last = nodes_[leaf];
  if (last.bounds.proven()) value = last.bounds.low;
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
    if (parent.bounds.proven()) value = parent.bounds.low;
    ++parent.visits;
    parent.sum += value;
  }
}

bool Tree::prove(int parent, Edge& edge) {
  const Node& child = nodes_[edge.child];
  Node& node = nodes_[parent];
  edge.bounds = child.bounds;
  edge.plies = child.plies;
  if (edge.bounds.proven()) edge.value = edge.bounds.low;

  // The mover gets the best of his edges: sure of the best that one makes sure, and hoping for the best that one
  // allows.
  const int player = node.to_play;
  int sure = -1, hope = -1;
  for (const Edge& e : edges(node)) {
    sure = std::max(sure, e.bounds.sure(player));
    hope = std::max(hope, e.bounds.hope(player));
  }
  const Bounds bounds = player == 0 ? Bounds{static_cast<int8_t>(sure), static_cast<int8_t>(hope)}
                                    : Bounds{static_cast<int8_t>(-hope), static_cast<int8_t>(-sure)};
  // The shortest win; else, of what is proven best, the longest.
  uint16_t plies = 0;
  if (bounds.proven()) {
    for (const Edge& e : edges(node)) {
      if (!e.bounds.proven() || e.bounds.sure(player) != sure) continue;
      const auto through = static_cast<uint16_t>(e.plies + 1);
      plies = plies == 0 ? through : sure > 0 ? std::min(plies, through) : std::max(plies, through);
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
  std::vector<Node> nodes;
  std::vector<Edge> kept;
  for (size_t i = 0; i < order.size(); ++i) {
    Node node = nodes_[order[i]];
    const auto from = edges(node);
    node.first_edge = static_cast<int32_t>(kept.size());
    for (Edge edge : from) {
      if (edge.child >= 0) {
        if (moved[edge.child] < 0) {
          moved[edge.child] = static_cast<int>(order.size());
          order.push_back(edge.child);
        }
        edge.child = moved[edge.child];
      }
      kept.push_back(edge);
    }
    nodes.push_back(node);
  }
  nodes_ = std::move(nodes);
  edges_ = std::move(kept);
  keys_ = 0;
  const auto before = std::exchange(by_key_, std::vector<Place>(by_key_.size()));
  for (const Place& p : before) {
    if (p.node < 0 || moved[p.node] < 0) continue;
    place(p.key) = {p.key, moved[p.node]};
    ++keys_;
  }
}

}  // namespace tesuji
