#include "search.hpp"

#include <algorithm>
#include <cmath>

namespace tesuji {

const char* stop_name(Stop stop) {
  switch (stop) {
    case Stop::running: return "running";
    case Stop::visits: return "visits";
    case Stop::seconds: return "seconds";
    case Stop::share: return "share";
    case Stop::proven: return "proven";
    case Stop::only: return "only";
    case Stop::full: return "full";
  }
  return "";
}

namespace {

/// Room for a list by option or by word, which every search of a thread uses in turn.
template <class T>
T* scratch(size_t size) {
  thread_local std::vector<T> room;
  if (room.size() < size) room.resize(size);
  return room.data();
}

}  // namespace

Search::Search(AnyState root, const SearchSettings& settings, uint64_t seed)
    : root_(std::move(root)), settings_(settings), random_(seed), tree_(settings.memory) {
  set_root(-1);
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
  set_root(kept);
}

void Search::play(int action, bool keep) {
  int kept = -1;
  for (const Edge& e : tree_.edges(tree_.node(Tree::kRoot))) {
    if (keep && e.action == action) kept = e.child;
  }
  root_.game().play(root_.get(), action);
  set_root(kept);
}

void Search::set_root(int kept) {
  // Leaves that were never answered have no priors: such a tree cannot be kept.
  // Nor can one whose draws were worth something else.
  const auto draw = static_cast<float>(root_.to_play() == 0 ? settings_.draw : -settings_.draw);
  if (kept >= 0 && count_ == 0 && tree_.node(kept).expanded() && tree_.draw() == draw) {
    tree_.advance(kept);
    if (tree_.node(Tree::kRoot).raw) soften(Tree::kRoot);
  } else {
    tree_.clear();
    tree_.set_draw(draw);
    tree_.add_node(root_.to_play());
    set_result(Tree::kRoot, root_);
    set_verdict(Tree::kRoot, root_);
  }
  count_ = 0;
  clean_.clear();
  begin(settings_.visits, noise_);
}

void Search::begin(int visits, bool noise) {
  settings_.visits = visits;
  noise_ = noise;
  if (count_ > 0) return set_root(-1);
  if (!clean_.empty()) {
    tree_.set_priors(Tree::kRoot, clean_priors());
    clean_.clear();
  }
  gumbel_.clear();
  stop_ = Stop::running;
  drawn_ = false;
  ticks_ = 0;
  next_checkpoint_ = settings_.checkpoint;
  started_ = std::chrono::steady_clock::now();
  check_limits();
}

void Search::extend(int visits, double seconds) {
  settings_.seconds = seconds;
  begin(visits, noise_);
}

// ── Step 1. Select: walk down by the choosing rule until a node that was not yet evaluated.
// ─────────────────────────────

bool Search::select(Walk& walk, bool grow) {
  const AnyGame& game = root_.game();
  walk.path.clear();
  if (tree_.full(game.spec.actions)) {
    stop_ = Stop::full;
    return false;
  }
  game.assign(walk.state.get(), root_.get());
  int& at = walk.leaf = Tree::kRoot;
  while (true) {
    if (tree_.node(at).awaited) return false;  // another walk waits for its answer
    if (tree_.node(at).bounds.proven()) break;
    if (!tree_.node(at).expanded()) {
      // A leaf gets its options when it is met again: most are met once, and options are what costs memory.
      if (grow && tree_.node(at).visits == 0 && at != Tree::kRoot) break;
      expand(walk);
      // Before an evaluator's answer they get them while the state is at hand; it then needs no rules. An only move is
      // followed at once, but not from the root: so no game goes by without a question.
      if (!grow && !(settings_.candidates && tree_.node(at).options == 1 && at != Tree::kRoot)) break;
      // Without a policy the order decides between equals: a random one prefers nothing. UCT draws as it goes.
      if (settings_.choose.rule != Rule::uct) {
        const auto actions = tree_.actions(tree_.node(at));
        for (size_t i = actions.size(); i > 1; --i)
          std::swap(actions[i - 1], actions[random_.below(static_cast<int>(i))]);
      }
      if (at == Tree::kRoot) prepare_root();
    }
    if (tree_.node(at).raw) soften(at);
    int chosen = at == Tree::kRoot && settings_.choose.rule == Rule::gumbel
                     ? gumbel_.choose(tree_, settings_.choose)
                     : choose_inside(tree_, at, settings_.choose, random_);
    if (chosen >= tree_.node(at).opened) chosen = tree_.open(at, chosen);
    Edge& edge = tree_.edges(tree_.node(at))[chosen];
    ++edge.pending;
    walk.path.push_back({at, chosen});
    game.play(walk.state.get(), edge.action);
    if (edge.child >= 0) {
      at = edge.child;
      continue;
    }
    bool is_new = true;
    at = edge.child = settings_.transpositions ? tree_.add_node(walk.state.to_play(), walk.state.hash(), is_new)
                                               : tree_.add_node(walk.state.to_play());
    if (is_new) {
      set_result(at, walk.state);
      set_verdict(at, walk.state);
    }
  }
  return true;
}

void Search::set_result(int node, const AnyState& state) {
  const Result result = state.result();
  if (result == Result::ongoing) return;
  tree_.node(node).bounds = Bounds::of(static_cast<int>(result));
}

void Search::set_verdict(int node, const AnyState& state) {
  if (tree_.node(node).bounds.proven()) return;
  Bounds& bounds = tree_.node(node).bounds;
  int plies = 0;
  if (settings_.candidates && root_.game().verdict) {
    const Verdict verdict = root_.game().verdict(state.get());
    bounds = verdict.bounds;
    plies = verdict.plies;
  }
  if (node == Tree::kRoot) {
    if (bounds.proven()) bounds = {};
  } else if (settings_.solve > 0 && !bounds.proven()) {
    if (settings_.notes && !notes_) notes_ = exact::notes_for(root_.game());
    if (const auto result = exact::settle(state, settings_.solve, notes_.get())) bounds = Bounds::of(*result);
  }
  if (bounds.proven()) tree_.node(node).plies = plies ? static_cast<uint16_t>(plies) : kFar;
}

// ── Step 2. Expand: the leaf gets its options; their priors come with the evaluator's answer. ───────────────────────

void Search::expand(const Walk& walk) {
  const size_t words = root_.spec().words();
  uint64_t* moves = scratch<uint64_t>(words);
  const AnyGame& game = root_.game();
  const bool enough = settings_.candidates && game.spec.forcing && game.candidates(walk.state.get(), moves);
  if (!enough) game.legal(walk.state.get(), moves);
  if (settings_.candidates && walk.leaf == Tree::kRoot && game.verdict) {
    if (const int sure = game.verdict(walk.state.get()).move; sure >= 0) {
      std::fill_n(moves, words, 0);
      moves[sure / 64] |= uint64_t{1} << (sure % 64);
    }
  }
  tree_.expand(walk.leaf, {moves, words});
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
  if (!select(walk, true)) return;
  if (Node& leaf = tree_.node(walk.leaf); !leaf.bounds.proven()) {
    if (inner == Inner::uniform) {
      leaf.own_value = 0;
    } else {
      const AnyGame& game = root_.game();
      const auto played = [&](AnyState& state) {
        game.playout(state.get(), random_);
        const auto result = static_cast<int8_t>(game.result(state.get()));
        return static_cast<double>(tree_.worth({result, result}));
      };
      double sum = 0;
      for (int i = 1; i < rollouts; ++i) {
        AnyState end = walk.state;
        sum += played(end);
      }
      leaf.own_value = static_cast<float>((sum + played(walk.state)) / rollouts);
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

void Search::lend(AnyState state) {
  if (waiting_.empty()) {
    waiting_.push_back({std::move(state), {}, 0});
  } else {
    waiting_[0].state = std::move(state);
  }
}

void Search::fetch(int stage) const {
  constexpr size_t kState = 1536;  // bytes of the largest states that are always copied; what follows is long history
  switch (stage) {
    case 0: return prefetch(this, sizeof *this);
    case 1:
      prefetch(root_.get(), std::min(root_.game().bytes, kState));
      tree_.fetch_node(Tree::kRoot);
      gumbel_.fetch();
      return prefetch(waiting_.data(), sizeof(Walk));
    case 2:
      tree_.fetch_edges(Tree::kRoot);
      if (count_ == 0) return;
      tree_.fetch_node(waiting_[0].leaf);
      return prefetch(waiting_[0].path.data(), sizeof(Tree::Step));
    case 3:
      if (count_ == 0) return;
      tree_.fetch_options(waiting_[0].leaf);
      for (const auto& step : waiting_[0].path) tree_.fetch_node(step.node);
  }
}

void Search::deliver(int i, const float* logits, double value, double drawn) {
  if (i >= count_) return;  // another search has begun since
  const Walk& walk = waiting_[i];
  Node& leaf = tree_.node(walk.leaf);
  leaf.awaited = false;
  // The network speaks for the mover; here the value turns to First's side. Who cannot win any more draws instead.
  double first = leaf.to_play == 0 ? value : -value;
  const double lost = (1 - drawn - first) / 2, won = (1 - drawn + first) / 2;
  if (leaf.bounds.high == 0) {
    first = -lost;
    drawn += won;
  } else if (leaf.bounds.low == 0) {
    first = won;
    drawn += lost;
  }
  leaf.own_value = static_cast<float>(first + tree_.draw() * drawn);
  tree_.set_logits(walk.leaf, logits);
  if (walk.leaf == Tree::kRoot) soften(walk.leaf);
  settle(walk);
}

void Search::soften(int node) {
  const auto logits = tree_.priors(tree_.node(node));
  float* priors = scratch<float>(logits.size() + 3);
  const auto scale = static_cast<float>(1 / settings_.prior_temperature);
  std::transform(logits.begin(), logits.end(), priors, [&](float logit) { return scale * logit; });
  softmax(priors, logits.size());
  tree_.set_priors(node, {priors, logits.size()});
}

void Search::end_delivery() { count_ = 0; }

void Search::prepare_root() {
  const Node& root = tree_.node(Tree::kRoot);
  if (drawn_ || !root.expanded() || root.awaited) return;
  drawn_ = true;
  if (noise_ && settings_.noise_weight > 0 && settings_.choose.rule != Rule::gumbel) {  // which has its own
    const auto actions = tree_.actions(root);
    std::vector<float> priors(tree_.priors(root).begin(), tree_.priors(root).end());
    clean_.resize(root_.spec().actions);
    for (size_t i = 0; i < priors.size(); ++i) clean_[actions[i]] = priors[i];
    add_noise(priors, settings_.noise_concentration, settings_.noise_weight, random_);
    tree_.set_priors(Tree::kRoot, priors);
  }
  if (settings_.choose.rule == Rule::gumbel) {
    const int left = std::max(1, settings_.visits - static_cast<int>(root.visits));
    gumbel_.begin(tree_, settings_.choose, left, noise_ && settings_.gumbel_noise, random_);
  }
}

std::vector<float> Search::clean_priors() const {
  const Node& root = tree_.node(Tree::kRoot);
  const auto now = tree_.priors(root);
  std::vector<float> priors(now.begin(), now.end());
  if (!clean_.empty()) {
    const auto actions = tree_.actions(root);
    for (size_t i = 0; i < priors.size(); ++i) priors[i] = clean_[actions[i]];
  }
  return priors;
}

void Search::check_limits() {
  if (done()) return;
  const Node& root = tree_.node(Tree::kRoot);
  if (root.bounds.proven()) {
    stop_ = Stop::proven;
  } else if (settings_.candidates && root.options == 1 && root.visits > 1) {
    stop_ = Stop::only;
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
  if (!root.expanded()) return -1;
  const int best =
      settings_.choose.rule == Rule::gumbel ? gumbel_.best(tree_, settings_.choose) : best_option(tree_, root);
  return tree_.actions(root)[best];
}

int Search::played_action(double temperature, Random& random) const {
  const Node& root = tree_.node(Tree::kRoot);
  const int best = best_action();
  if (temperature <= 0 || settings_.choose.rule == Rule::gumbel || root.bounds.sure(root.to_play) > 0) return best;
  const auto edges = tree_.edges(root);
  uint32_t most = 0;
  for (const Edge& e : edges) most = std::max(most, e.visits);
  const auto weight = [&](const Edge& e) {
    if (e.visits == 0 || e.bounds.hope(root.to_play) < 0) return 0.0;
    return std::pow(static_cast<double>(e.visits) / most, 1 / temperature);
  };
  double left = 0;
  for (const Edge& e : edges) left += weight(e);
  left *= random.real();
  for (const Edge& e : edges) {
    if (weight(e) > 0 && (left -= weight(e)) < 0) return e.action;
  }
  return best;
}

double Search::root_value() const {
  const Node& root = tree_.node(Tree::kRoot);
  if (root.bounds.proven()) return root.bounds.low;
  if (settings_.choose.rule != Rule::gumbel || !root.expanded()) return root.mean();
  // Gumbel's first rounds look at many moves that nobody would play: a mean over all visits makes too little of the
  // position. What counts is what the policy that it recommends is worth, as far as it was looked at.
  std::vector<float> improved;
  improved_policy(tree_, Tree::kRoot, settings_.choose, tree_.priors(root), improved);
  double sum = 0, whole = 0;
  const auto edges = tree_.edges(root);
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].visits == 0) continue;
    sum += improved[i] * edges[i].value;
    whole += improved[i];
  }
  return whole > 0 ? sum / whole : root.mean();
}

Result Search::proven() const {
  const Bounds& bounds = tree_.node(Tree::kRoot).bounds;
  return bounds.proven() ? static_cast<Result>(bounds.low) : Result::ongoing;
}

void Search::target(std::vector<std::pair<uint16_t, float>>& out) const {
  out.clear();
  const Node& root = tree_.node(Tree::kRoot);
  if (!root.expanded()) return;
  std::vector<float> weights;
  policy_target(tree_, Tree::kRoot, settings_.choose, clean_priors(), weights);
  constexpr float kLeast = 1e-4f;
  const auto actions = tree_.actions(root);
  float sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] < kLeast) continue;
    sum += weights[i];
    out.emplace_back(actions[i], weights[i]);
  }
  for (auto& [action, weight] : out) weight /= sum;
}

std::vector<MoveReport> Search::report() const {
  const Node& root = tree_.node(Tree::kRoot);
  if (!root.expanded()) return {};
  std::vector<float> improved;
  improved_policy(tree_, Tree::kRoot, settings_.choose, tree_.priors(root), improved);
  std::vector<MoveReport> moves;
  for (size_t i = 0; i < improved.size(); ++i) {
    Edge e{.prior = tree_.priors(root)[i], .action = tree_.actions(root)[i]};
    if (i < root.opened) e = tree_.edges(root)[i];
    MoveReport move{e.action, e.visits, e.value, e.prior, improved[i], e.bounds, {e.action}};
    for (int at = e.child; at >= 0 && tree_.node(at).expanded() && move.line.size() < 100;) {
      const Node& node = tree_.node(at);
      const int best = best_option(tree_, node);
      if (best >= node.opened || tree_.edges(node)[best].visits == 0) break;
      move.line.push_back(tree_.edges(node)[best].action);
      at = tree_.edges(node)[best].child;
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
