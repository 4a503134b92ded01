#include "search.hpp"

#include <algorithm>

namespace tesuji {

const char* stop_name(Stop stop) {
  switch (stop) {
    case Stop::running: return "running";
    case Stop::visits: return "visits";
    case Stop::seconds: return "seconds";
    case Stop::share: return "share";
    case Stop::proven: return "proven";
    case Stop::full: return "full";
  }
  return "";
}

Search::Search(AnyState root, const SearchSettings& settings, uint64_t seed)
    : root_(std::move(root)), settings_(settings), random_(seed), tree_(settings.memory), words_(root_.spec().words()) {
  restart(root_, {});
}

void Search::restart(AnyState root, const std::vector<int>& moves_since) {
  int kept = tree_.empty() || moves_since.empty() ? -1 : Tree::kRoot;
  for (const int action : moves_since) {
    if (kept < 0) break;
    int next = -1;
    for (const Edge& e : tree_.edges(tree_.node(kept))) {
      if (e.action == action) next = e.child;
    }
    kept = next;
  }
  root_ = std::move(root);
  if (kept >= 0 && tree_.node(kept).expanded()) {
    tree_.advance(kept);
  } else {
    tree_.clear();
    tree_.add_node(root_.to_play());
    set_result(Tree::kRoot, root_);
  }
  begin();
}

void Search::begin() {
  stop_ = Stop::running;
  drawn_ = false;
  ticks_ = 0;
  count_ = 0;
  next_checkpoint_ = settings_.checkpoint;
  started_ = std::chrono::steady_clock::now();
  check_limits();
}

// ── Step 1. Select: walk down by the choosing rule until a node that was not yet evaluated.
// ─────────────────────────────

bool Search::select(Walk& walk, bool grow) {
  const AnyGame& game = root_.game();
  game.assign(walk.state.get(), root_.get());
  walk.path.clear();
  int& at = walk.leaf = Tree::kRoot;
  while (true) {
    if (tree_.node(at).awaited) return false;  // another walk waits for its answer
    if (tree_.node(at).bounds.proven()) break;
    if (!tree_.node(at).expanded()) {
      // A leaf gets its edges when it is met again: most are met once, and edges are what costs memory.
      if (!grow || (tree_.node(at).visits == 0 && at != Tree::kRoot)) break;
      expand(walk, nullptr);
      if (done()) break;
      if (at == Tree::kRoot) prepare_root();
    }
    const Node& node = tree_.node(at);
    const auto edges = tree_.edges(node);
    const int chosen = at == Tree::kRoot && settings_.choose.rule == Rule::gumbel
                           ? gumbel_.choose(node, edges, settings_.choose)
                           : choose_inside(node, edges, settings_.choose);
    Edge& edge = edges[chosen];
    ++edge.pending;
    walk.path.push_back({at, chosen});
    game.play(walk.state.get(), edge.action);
    if (edge.child >= 0) {
      at = edge.child;
      continue;
    }
    ++tree_.node(at).tried;
    bool is_new = true;
    at = edge.child = settings_.transpositions ? tree_.add_node(walk.state.to_play(), walk.state.hash(), is_new)
                                               : tree_.add_node(walk.state.to_play());
    if (!is_new) continue;
    set_result(at, walk.state);
    break;
  }
  return true;
}

void Search::set_result(int node, const AnyState& state) {
  const Result result = state.result();
  if (result == Result::ongoing) return;
  const auto value = static_cast<int8_t>(result);
  tree_.node(node).bounds = {value, value};
}

// ── Step 2. Expand: the leaf gets its edges, with priors. ───────────────────────────────────────────────────────────

void Search::expand(const Walk& walk, const float* logits) {
  root_.game().legal(walk.state.get(), words_.data());
  actions_.clear();
  for (size_t i = 0; i < words_.size(); ++i) {
    for (uint64_t w = words_[i]; w; w &= w - 1) actions_.push_back(static_cast<int>(64 * i) + std::countr_zero(w));
  }
  if (!logits) {
    // Without a policy the order decides between equals: a random one prefers nothing.
    for (size_t i = actions_.size(); i > 1; --i)
      std::swap(actions_[i - 1], actions_[random_.below(static_cast<int>(i))]);
  }
  if (tree_.full(actions_.size())) {
    stop_ = Stop::full;
    return;
  }
  const auto edges = tree_.expand(walk.leaf, actions_);
  if (logits) {
    set_priors(edges, logits);
  } else {
    for (Edge& e : edges) e.prior = 1.0f / static_cast<float>(edges.size());
  }
}

// ── Step 3. Backup: in tree.cpp, together with the proofs. ──────────────────────────────────────────────────────────

void Search::release(const Walk& walk) {
  for (const auto& step : walk.path) --tree_.edges(tree_.node(step.node))[step.edge].pending;
}

void Search::settle(const Walk& walk) {
  release(walk);
  tree_.backup(walk.path, walk.leaf, tree_.node(walk.leaf).own_value);
  check_limits();
}

void Search::simulate(Inner inner, int rollouts) {
  if (done()) return;
  if (waiting_.empty()) waiting_.push_back({root_, {}, 0});
  Walk& walk = waiting_[0];
  prepare_root();
  select(walk, true);
  if (Node& leaf = tree_.node(walk.leaf); !leaf.bounds.proven()) {
    if (inner == Inner::uniform) {
      leaf.own_value = 0;
    } else {
      const AnyGame& game = root_.game();
      double sum = 0;
      for (int i = 1; i < rollouts; ++i) {
        AnyState end = walk.state;
        game.playout(end.get(), random_);
        sum += static_cast<double>(game.result(end.get()));
      }
      game.playout(walk.state.get(), random_);
      leaf.own_value = static_cast<float>((sum + static_cast<double>(game.result(walk.state.get()))) / rollouts);
    }
  }
  settle(walk);
}

int Search::collect() {
  prepare_root();
  count_ = 0;
  // A bounded number of tries: walks that end at proven nodes are settled at once, and may do so for long.
  for (int tries = 0; tries < 64 * settings_.leaves && count_ < settings_.leaves && !done(); ++tries) {
    if (static_cast<int>(waiting_.size()) <= count_) waiting_.push_back({root_, {}, 0});
    Walk& walk = waiting_[count_];
    if (!select(walk, false)) {
      release(walk);
      break;
    }
    Node& leaf = tree_.node(walk.leaf);
    if (leaf.bounds.proven()) {
      settle(walk);
      prepare_root();
    } else {
      leaf.awaited = true;
      ++count_;
    }
  }
  return count_;
}

void Search::deliver(int i, const float* logits, double value) {
  const Walk& walk = waiting_[i];
  Node& leaf = tree_.node(walk.leaf);
  leaf.awaited = false;
  // The network speaks for the mover; here the value turns to First's side.
  leaf.own_value = static_cast<float>(leaf.to_play == 0 ? value : -value);
  expand(walk, logits);
  settle(walk);
}

void Search::end_delivery() { count_ = 0; }

void Search::prepare_root() {
  Node& root = tree_.node(Tree::kRoot);
  if (drawn_ || !root.expanded()) return;
  drawn_ = true;
  const auto edges = tree_.edges(root);
  if (settings_.noise_weight > 0) add_noise(edges, settings_.noise_concentration, settings_.noise_weight, random_);
  if (settings_.choose.rule == Rule::gumbel)
    gumbel_.begin(edges, settings_.choose, std::max(1, settings_.visits - 1), random_);
}

void Search::check_limits() {
  if (done()) return;
  const Node& root = tree_.node(Tree::kRoot);
  if (root.bounds.proven()) {
    stop_ = Stop::proven;
  } else if (root.visits >= static_cast<uint32_t>(settings_.visits)) {
    stop_ = Stop::visits;
  } else if (settings_.seconds > 0 && (++ticks_ & 15) == 0) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    if (spent >= settings_.seconds) stop_ = Stop::seconds;
  }
  if (!done() && next_checkpoint_ && root.visits >= next_checkpoint_) {
    next_checkpoint_ += settings_.checkpoint;
    uint32_t most = 0;
    for (const Edge& e : tree_.edges(root)) most = std::max(most, e.visits);
    if (most > settings_.share * root.visits) stop_ = Stop::share;
  }
}

// ── What was found ──────────────────────────────────────────────────────────────────────────────────────────────────

int Search::best_action() const {
  const Node& root = tree_.node(Tree::kRoot);
  const auto edges = tree_.edges(root);
  if (edges.empty()) return -1;
  const int best =
      settings_.choose.rule == Rule::gumbel ? gumbel_.best(root, edges, settings_.choose) : best_edge(root, edges);
  return edges[best].action;
}

std::vector<MoveReport> Search::report() const {
  const Node& root = tree_.node(Tree::kRoot);
  const auto edges = tree_.edges(root);
  if (edges.empty()) return {};
  const auto improved = improved_policy(root, edges, settings_.choose);
  std::vector<MoveReport> moves;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge& e = edges[i];
    MoveReport move{e.action, e.visits, e.value, e.prior, improved[i], e.bounds, e.plies, {e.action}};
    for (int at = e.child; at >= 0 && tree_.node(at).expanded() && move.line.size() < 100;) {
      const auto further = tree_.edges(tree_.node(at));
      const Edge& next = further[best_edge(tree_.node(at), further)];
      if (next.visits == 0) break;
      move.line.push_back(next.action);
      at = next.child;
    }
    moves.push_back(std::move(move));
  }
  const int best = best_action();
  std::sort(moves.begin(), moves.end(), [&](const MoveReport& a, const MoveReport& b) {
    if ((a.action == best) != (b.action == best)) return a.action == best;
    if (a.visits != b.visits) return a.visits > b.visits;
    return a.action < b.action;
  });
  return moves;
}

}  // namespace tesuji
