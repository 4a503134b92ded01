// The tree that every search grows: nodes and edges in two growing arrays, by index. It knows no rules and chooses
// nothing.
//
// Values belong to First, everywhere in here; they turn to the mover's side only where a move is chosen (choose.hpp)
// and at the network's border (search.cpp). Who moves is asked of the game; plies are never counted for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tesuji {

/// What is known for certain of a result, for First: it lies between `low` and `high`.
struct Bounds {
  int8_t low = -1, high = 1;

  bool proven() const { return low == high; }
  bool open() const { return (low == -1) & (high == 1); }  // nothing is known
  /// The same from a player's side: what he is sure of, and what he may still hope for.
  int sure(int player) const { return player == 0 ? low : -high; }
  int hope(int player) const { return player == 0 ? high : -low; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

struct Edge {
  float prior;
  float value = 0;  // mean for First over the visits; 0 before the first
  uint32_t visits = 0;
  int32_t child = -1;  // node; −1 before the first visit
  int16_t action;
  uint16_t pending = 0;  // visits under way, not yet answered
  Bounds bounds;
  uint16_t plies = 0;  // to the end, where proven
};

struct Node {
  double sum = 0;  // of values for First
  uint32_t visits = 0;
  int32_t first_edge = 0;
  uint16_t edges = 0;  // 0 before it is expanded
  uint16_t tried = 0;  // edges that were ever followed
  uint16_t plies = 0;  // to the end, where proven
  Bounds bounds;
  uint8_t to_play = 0;
  bool awaited = false;  // an evaluator is at work on it
  float own_value = 0;   // what the evaluator said, for First

  double mean() const { return visits ? sum / visits : 0.0; }
  bool expanded() const { return edges > 0; }
};

class Tree {
 public:
  /// A tree of at most so many bytes.
  explicit Tree(size_t memory) : memory_(memory) {}

  static constexpr int kRoot = 0;

  void clear();
  bool empty() const { return nodes_.empty(); }
  /// Whether another node with so many edges may be too much.
  bool full(size_t edges) const;
  size_t bytes() const {
    return nodes_.size() * sizeof(Node) + edges_.size() * sizeof(Edge) + by_key_.size() * sizeof(Place);
  }

  Node& node(int i) { return nodes_[i]; }
  const Node& node(int i) const { return nodes_[i]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  std::span<Edge> edges(const Node& n) { return {edges_.data() + n.first_edge, n.edges}; }
  std::span<const Edge> edges(const Node& n) const { return {edges_.data() + n.first_edge, n.edges}; }

  /// A new node; with a key, the node that the same key was given before.
  int add_node(int to_play);
  int add_node(int to_play, uint64_t key, bool& is_new);
  /// Gives a node its edges, without priors.
  std::span<Edge> expand(int node, std::span<const int> actions);

  /// One visit of value `value` (for First) to the child of an edge, which came from `parent`.
  struct Step {
    int node, edge;
  };
  void backup(std::span<const Step> path, int leaf, double value);
  /// Takes what is known of the child over to the edge, and what follows from it to the parent. Whether anything
  /// changed.
  bool prove(int parent, Edge& edge);

  /// Keeps what lies under one edge of the root, which becomes the root; forgets the rest.
  void advance(int child);

 private:
  size_t memory_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  // Open addressing: a power of two of places, at most half of them taken; node −1 is a free place.
  struct Place {
    uint64_t key;
    int32_t node = -1;
  };
  std::vector<Place> by_key_;
  size_t keys_ = 0;

  Place& place(uint64_t key);
};

}  // namespace tesuji
