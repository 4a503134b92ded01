// The tree that every search grows: nodes, their options and the edges that were followed, in growing arrays, by index.
// It knows no rules and chooses nothing.
//
//   node ──▶ options  [open │ the others]   every legal move: an action and a prior, 6 bytes
//              edges  [open]                what is known of the moves that were followed, in the same order
//
// Most options of most nodes are never followed, and differ in nothing but the prior.
//
// Values belong to First, everywhere in here; they turn to the mover's side only where a move is chosen (choose.hpp)
// and at the network's border (search.cpp). Who moves is asked of the game; plies are never counted for it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../core/game.hpp"
#include "../core/memory.hpp"

namespace tesuji {

/// Plies to a proven result whose distance nobody knows.
constexpr uint16_t kFar = 10'000;

/// An option that was opened, to be followed.
struct Edge {
  float prior = 0;
  float value = 0;  // mean for First over the visits; 0 before the first
  uint32_t visits = 0;
  int32_t child = -1;  // node; −1 before the first visit
  uint16_t action = 0;
  uint16_t pending = 0;  // visits under way, not yet answered
  Bounds bounds{};
  uint16_t plies = 0;  // to the end, where proven
};

struct Node {
  double sum = 0;  // of values for First
  uint32_t visits = 0;
  int32_t first_option = 0;
  int32_t first_edge = 0;
  uint16_t options = 0;  // 0 before it is expanded
  uint16_t opened = 0;   // the first so many options, which have an edge
  uint16_t plies = 0;    // to the end, where proven
  Bounds bounds;
  uint8_t to_play = 0;
  bool awaited : 1 = false;  // an evaluator is at work on it
  bool raw : 1 = false;      // its options have logits where priors are to be
  uint16_t best = 0;         // of the unopened options the one of largest prior; no unopened one: to be looked for
  float best_prior = 0;      // its prior, or more
  float own_value = 0;       // what the evaluator said, for First

  double mean() const { return visits ? sum / visits : 0.0; }
  bool expanded() const { return options > 0; }
};

class Tree {
 public:
  /// A tree of at most so many bytes.
  explicit Tree(size_t memory) : memory_(memory) { free_.fill(-1); }

  static constexpr int kRoot = 0;

  void clear();
  /// What a draw is worth, for First: 0, unless who searches puts a price on it.
  float draw() const { return draw_; }
  void set_draw(float value) { draw_ = value; }
  /// What a proven result is worth, for First.
  float worth(Bounds proven) const { return proven.low ? proven.low : draw_; }
  bool empty() const { return nodes_.empty(); }
  /// Whether another walk may be too much, where a node has at most so many options.
  bool full(size_t options) const;
  size_t bytes() const {
    return nodes_.size() * sizeof(Node) + edges_.size() * sizeof(Edge) +
           actions_.size() * (sizeof(uint16_t) + sizeof(float)) + by_key_.size() * sizeof(Place);
  }

  Node& node(int i) { return nodes_[i]; }
  const Node& node(int i) const { return nodes_[i]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  /// Plies from the root to the farthest node; and of a visit on average, to where it ended.
  struct Depth {
    int most = 0;
    double mean = 0;
  };
  Depth depth() const;
  std::span<Edge> edges(const Node& n) { return {edges_.data() + n.first_edge, n.opened}; }
  std::span<const Edge> edges(const Node& n) const { return {edges_.data() + n.first_edge, n.opened}; }
  std::span<uint16_t> actions(const Node& n) { return {actions_.data() + n.first_option, n.options}; }
  std::span<const uint16_t> actions(const Node& n) const { return {actions_.data() + n.first_option, n.options}; }
  std::span<const float> priors(const Node& n) const { return {priors_.data() + n.first_option, n.options}; }

  /// A new node; with a key, the node that the same key was given before.
  int add_node(int to_play);
  int add_node(int to_play, uint64_t key, bool& is_new);
  /// Gives a node its options, a set of actions in words of bits. All have the same prior.
  void expand(int node, std::span<const uint64_t> actions);
  /// Gives priors to options, in their order.
  void set_priors(int node, std::span<const float> priors);
  /// Gives them logits for now, of those over all actions.
  void set_logits(int node, const float* logits);
  /// The unopened option of largest prior; there is one.
  int best_unopened(Node& n) {
    if (n.best < n.opened || n.best >= n.options) find_best(n);
    return n.best;
  }
  int best_unopened(Node n) const {
    if (n.best < n.opened || n.best >= n.options) find_best(n);
    return n.best;
  }
  /// Gives an unopened option an edge; it changes places with the first unopened one. The edge's number.
  int open(int node, int option);

  /// One visit of value `value` (for First) to the child of an edge, which came from `parent`.
  struct Step {
    int node, edge;
  };
  void backup(std::span<const Step> path, int leaf, double value);
  /// Takes what is known of the child over to the edge, and what follows from it to the parent. Whether anything
  /// changed.
  bool prove(int parent, Edge& edge);

  /// Asks the memory for a node; once that is there, for its edges, and for the first bytes of its options.
  void fetch_node(int node) const { prefetch(&nodes_[node], sizeof(Node)); }
  void fetch_edges(int node) const {
    prefetch(edges_.data() + nodes_[node].first_edge, edges(nodes_[node]).size_bytes());
  }
  void fetch_options(int node) const {
    const Node& n = nodes_[node];
    prefetch(actions_.data() + n.first_option, n.options * sizeof(uint16_t));
    prefetch(priors_.data() + n.first_option, n.options * sizeof(float));
  }

  /// Keeps what lies under one edge of the root, which becomes the root; forgets the rest.
  void advance(int child);

 private:
  size_t memory_;
  float draw_ = 0;
  std::vector<Node> nodes_;
  // A node's edges lie together in a block of 1, 2, 4, … places; one that is full moves to the next size.
  std::vector<Edge> edges_;
  std::array<int32_t, 17> free_;  // by size: the first block that is free; its first edge's `child` is the next
  std::vector<uint16_t> actions_;
  std::vector<float> priors_;
  // Open addressing: a power of two of places, at most half of them taken; node −1 is a free place.
  struct Place {
    uint64_t key;
    int32_t node = -1;
  };
  std::vector<Place> by_key_;
  size_t keys_ = 0;

  Place& place(uint64_t key);
  int32_t take_block(int size);
  void find_best(Node&) const;
};

}  // namespace tesuji
