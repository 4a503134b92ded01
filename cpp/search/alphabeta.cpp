#include "alphabeta.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace tesuji {
namespace {

using Clock = std::chrono::steady_clock;

// Scores are the mover's. A win is worth kWin less the plies from the root to it, so that the shortest win and the
// longest loss are best; what lies between −kDecided and kDecided comes from a heuristic, or is a draw (0).
using Score = int32_t;
constexpr Score kWin = 2'000'000, kDecided = kWin - 10'000, kHeuristic = 1'000'000, kInfinite = kWin + 1;
constexpr int kMaxPly = 250;  // of a line, forced moves (which cost no depth) among them

constexpr bool is_decided(Score score) { return score > kDecided || score < -kDecided; }

enum Bound : uint8_t { kLower = 1, kUpper = 2, kExact = 3 };

constexpr size_t kBuckets = size_t{1} << 19;
constexpr int kPerBucket = 4;  // sixteen bytes each: a line of the cache

}  // namespace

// What is known of a position. Go's superko is the one thing that a hash leaves out (see `kHashForgets`): two paths to
// the same stones share an entry although their histories may forbid different moves later. Such a value can be wrong,
// as in every Go program that does this; a move of the root never is, as it comes from the rules; and of such a game no
// result is called proven.
struct AlphaBeta::Entry {
  uint64_t key;
  Score score;  // wins and losses count from this position, not from the root
  int16_t action;
  uint8_t depth;
  uint8_t bound : 2;
  uint8_t complete : 1;  // no heuristic had a part in it: the bound holds for the game played to its end
  uint8_t age : 5;
};

/// One search.
class AlphaBeta::Run {
 public:
  Run(const AnyGame& game, Entry* table, uint8_t age, const AlphaBetaLimits& limits,
      const std::function<bool()>& interrupted)
      : game_(game),
        spec_(game.spec),
        limits_(limits),
        interrupted_(interrupted),
        table_(table),
        age_(age),
        began_(Clock::now()),
        history_(2 * spec_.actions, 0) {}

  AlphaBetaThought think(const AnyState& root) {
    frame(0, root);
    AlphaBetaThought thought;
    thought.effort.assign(spec_.actions, 0);
    effort_ = &thought.effort;
    const int side = root.to_play() == 0 ? 1 : -1;
    for (int depth = 1; depth <= std::min(limits_.depth, kMaxPly); ++depth) {
      iteration_ = depth;
      root_best_ = -1;
      const auto [score, complete] = search(0, depth, -kInfinite, kInfinite);
      // What an unfinished iteration found is worth having: it looks at the best move of the one before first.
      if (root_best_ >= 0) {
        thought.action = root_best_;
        thought.line.assign(root_line_.begin(), root_line_.end());
        thought.value = side * value(root_score_);
        thought.plies_to_end = is_decided(root_score_) ? kWin - std::abs(root_score_) : 0;
      }
      if (stopped_) break;
      thought.depth = depth;
      const bool proven = complete || is_decided(score);
      if (proven && !spec_.hash_forgets) thought.proven = score > 0 ? side : score < 0 ? -side : 0;
      // A win is known: deeper iterations look for a shorter one, until there can be none.
      if (proven && depth >= thought.plies_to_end) break;
      for (auto& h : history_) h /= 2;
      if (limits_.seconds && root_moves_ == 1) break;  // nothing to choose
    }
    if (thought.action < 0) thought.action = thought.line.emplace_back(first_move(root));
    lengthen(thought, root);
    thought.nodes = nodes_;
    return thought;
  }

 private:
  struct Found {
    Score score;
    bool complete;
  };
  struct Move {
    int action;
    int64_t rank;
  };
  /// What a ply of the line under search needs.
  struct Frame {
    AnyState state, next;  // the position; and room for one after it
    std::vector<Move> moves;
    std::vector<uint64_t> words, rest;
    std::vector<int> line;
    std::array<int, 2> killers{-1, -1};
  };

  const AnyGame& game_;
  const Spec& spec_;
  const AlphaBetaLimits& limits_;
  const std::function<bool()>& interrupted_;
  Entry* table_;
  const uint8_t age_;
  const Clock::time_point began_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<int64_t> history_;  // [player][action]: how well a move did elsewhere
  uint64_t nodes_ = 0;
  bool stopped_ = false;
  int iteration_ = 0;

  int root_best_ = -1;
  Score root_score_ = 0;
  size_t root_moves_ = 0;
  std::vector<int> root_line_;
  std::vector<uint64_t>* effort_ = nullptr;

  Frame& frame(int ply, const AnyState& like) {
    while (static_cast<int>(frames_.size()) <= ply) {
      const auto words = static_cast<size_t>(spec_.words());
      frames_.push_back(std::make_unique<Frame>(
          Frame{like, like, {}, std::vector<uint64_t>(words), std::vector<uint64_t>(words), {}}));
    }
    return *frames_[ply];
  }

  static double value(Score score) {
    if (is_decided(score)) return score > 0 ? 1 : -1;
    return static_cast<double>(score) / kHeuristic;
  }

  int first_move(const AnyState& root) {
    const int best = game_.hash ? recall(game_.hash(root.get()), 0).action : -1;
    return best >= 0 && root.is_legal(best) ? best : root.legal()[0];
  }

  /// Where the table gave an answer, the line ends early: it goes on as long as the table has moves for it.
  void lengthen(AlphaBetaThought& thought, const AnyState& root) {
    AnyState at = root;
    for (const int action : thought.line) at.play(action);
    const size_t most = thought.plies_to_end ? static_cast<size_t>(thought.plies_to_end) : 20;
    while (thought.line.size() < most && game_.hash) {
      const int next = recall(game_.hash(at.get()), 0).action;
      if (next < 0 || !at.is_legal(next)) break;
      at.play(thought.line.emplace_back(next));
    }
  }

  bool out_of_time() {
    if (nodes_ >= limits_.nodes) return true;
    if (nodes_ % 1024 != 0) return false;
    if (limits_.seconds && std::chrono::duration<double>(Clock::now() - began_).count() >= *limits_.seconds)
      return true;
    return interrupted_();
  }

  // ── The table ──

  struct Recalled {
    Score score = 0;
    int action = -1, depth = -1;
    uint8_t bound = 0;
    bool complete = false;
  };

  Entry* bucket(uint64_t key) { return table_ + (mix(key) & (kBuckets - 1)) * kPerBucket; }

  Recalled recall(uint64_t key, int ply) {
    const Entry* bucket = this->bucket(key);
    for (int i = 0; i < kPerBucket; ++i) {
      const Entry& e = bucket[i];
      if (e.key != key || e.age != age_) continue;
      const Score score = e.score > kDecided ? e.score - ply : e.score < -kDecided ? e.score + ply : e.score;
      return {score, e.action, e.depth, e.bound, e.complete != 0};
    }
    return {};
  }

  void remember(uint64_t key, int ply, int depth, Score score, Bound bound, bool complete, int action) {
    Entry* bucket = this->bucket(key);
    Entry* poorest = bucket;
    for (int i = 0; i < kPerBucket; ++i) {
      Entry& e = bucket[i];
      if (e.age != age_ || e.key == key) {
        poorest = &e;
        break;
      }
      if (e.depth < poorest->depth) poorest = &e;
    }
    if (is_decided(score)) score += score > 0 ? ply : -ply;
    *poorest = {key,      score, static_cast<int16_t>(action), static_cast<uint8_t>(std::clamp(depth, 0, 255)), bound,
                complete, age_};
  }

  // ── The search ──

  /// A finished game, to the player who would be to move.
  static Score final_score(Result result, int mover, int ply) {
    if (result == Result::draw) return 0;
    return (result == Result::first) == (mover == 0) ? kWin - ply : ply - kWin;
  }

  /// What the game thinks of a position that is not finished, to its mover.
  Score evaluate(const void* state, int mover) {
    double value = 0;
    if (game_.heuristic) {
      value = game_.heuristic(state);
    } else if (game_.score) {
      const double score = game_.score(state);
      value = score / (10 + std::abs(score));
    }
    const auto scaled = static_cast<Score>(value * (kHeuristic - 1));
    return mover == 0 ? scaled : -scaled;
  }

  /// The score of a position to its mover, as far as it lies between alpha and beta; outside, a bound of it.
  Found search(int ply, int depth, Score alpha, Score beta) {
    Frame& here = frame(ply, frames_[0]->state);
    const void* state = here.state.get();
    here.line.clear();

    // Step 1. The end of the game, of time, and of the shortest win that could still matter.
    const int mover = game_.to_play(state);
    ++nodes_;
    if (const Result result = game_.result(state); result != Result::ongoing)
      return {final_score(result, mover, ply), true};
    if (out_of_time()) {
      stopped_ = true;
      return {0, false};
    }
    if (ply > 0) {
      alpha = std::max(alpha, ply - kWin);
      beta = std::min(beta, kWin - ply - 1);
      if (alpha >= beta) return {alpha, true};
    }

    // Step 2. The horizon. A single move that is surely best costs no depth, so that no exchange of forced moves is cut
    // in two.
    bool enough = true;
    const bool leaf = depth <= 0 || ply >= kMaxPly;
    if (leaf && (!spec_.forcing || ply >= kMaxPly)) return {evaluate(state, mover), false};
    if (leaf || spec_.forcing) {
      enough = list_moves(here);
      if (enough && here.moves.size() == 1 && ply < kMaxPly) {
        depth = std::max(depth, 0) + 1;
      } else if (leaf) {
        return {evaluate(state, mover), false};
      }
    }

    // Step 3. What the table knows. A bound that holds for the whole game is good at any depth, on the side of its
    // result: of a win, that it is one (not that there is no shorter), of a loss likewise.
    const uint64_t key = game_.hash ? game_.hash(state) : 0;
    const Recalled known = game_.hash ? recall(key, ply) : Recalled{};
    if (ply > 0 && known.bound) {
      const bool deep = known.depth >= depth;
      const bool from_below = (known.bound & kLower) && (deep || (known.complete && known.score >= 0));
      const bool from_above = (known.bound & kUpper) && (deep || (known.complete && known.score <= 0));
      if (from_below && from_above) return {known.score, known.complete};
      if (from_below && known.score >= beta) return {known.score, known.complete};
      if (from_above && known.score <= alpha) return {known.score, known.complete};
    }

    // Step 4. The moves, those that promise most first.
    if (!spec_.forcing) enough = list_moves(here);
    rank_moves(here, mover, depth, ply, known.action);
    if (ply == 0) root_moves_ = here.moves.size();

    // Step 5. Look at each; the first with the whole window, the others with an empty one unless they surprise.
    Score best = -kInfinite;
    int best_action = here.moves[0].action;
    bool all_complete = true, best_complete = false;
    const Score floor = alpha;
    const size_t listed = here.moves.size();
    for (size_t i = 0;; ++i) {
      if (i == here.moves.size()) {
        // The moves that the game thought worth looking at all lose: now the others too, lest a loss be called proven
        // that is none.
        if (enough || best > -kDecided) break;
        enough = true;
        list_rest(here);
        if (i == here.moves.size()) break;
      }
      const int action = here.moves[i].action;
      const uint64_t before = nodes_;
      Frame& child = frame(ply + 1, here.state);
      game_.assign(child.state.get(), here.state.get());
      game_.play(child.state.get(), action);
      const bool again = game_.to_play(child.state.get()) == mover;  // as after completing a box
      const auto look = [&](int depth, Score low, Score high) -> Found {
        if (again) return search(ply + 1, depth, low, high);
        const Found found = search(ply + 1, depth, -high, -low);
        return {-found.score, found.complete};
      };
      Found found;
      if (i == 0) {
        found = look(depth - 1, alpha, beta);
      } else {
        // Late moves are first looked at one ply less deep, unless the end is in reach.
        const bool reduce = depth >= 3 && i >= 4 && i < listed && depth < static_cast<int>(listed) &&
                            !is_decided(alpha) && !is_decided(beta) && !again;
        found = look(depth - 1 - reduce, alpha, alpha + 1);
        if (reduce && found.score > alpha && !stopped_) found = look(depth - 1, alpha, alpha + 1);
        if (found.score > alpha && found.score < beta && !stopped_) found = look(depth - 1, alpha, beta);
      }
      if (stopped_) return {0, false};
      if (ply == 0) (*effort_)[action] += nodes_ - before;
      all_complete &= found.complete;
      if (found.score > best) {
        best = found.score;
        best_action = action;
        best_complete = found.complete;
        if (best > alpha) {
          alpha = best;
          here.line.assign(1, action);
          here.line.insert(here.line.end(), child.line.begin(), child.line.end());
        }
        if (ply == 0) {
          root_best_ = action;
          root_score_ = best;
          root_line_ = here.line;
        }
        if (best >= beta) break;
      }
    }

    // Step 6. Remember.
    const Bound bound = best >= beta ? kLower : best > floor ? kExact : kUpper;
    const bool complete = is_decided(best) || (bound == kLower ? best_complete : all_complete && enough);
    if (bound == kLower) {
      history_[mover * spec_.actions + best_action] += int64_t{depth} * depth;
      if (here.killers[0] != best_action) here.killers = {best_action, here.killers[0]};
    }
    if (game_.hash) remember(key, ply, depth, best, bound, complete, best_action);
    return {best, complete};
  }

  /// Lists the moves worth looking at; whether a best one is surely among them.
  bool list_moves(Frame& here) {
    bool enough = true;
    if (game_.candidates) {
      enough = game_.candidates(here.state.get(), here.words.data());
    } else {
      game_.legal(here.state.get(), here.words.data());
    }
    here.moves.clear();
    add_moves(here, here.words);
    return enough;
  }
  /// Adds the legal moves that are not listed yet.
  void list_rest(Frame& here) {
    game_.legal(here.state.get(), here.rest.data());
    for (size_t i = 0; i < here.rest.size(); ++i) here.rest[i] &= ~here.words[i];
    add_moves(here, here.rest);
  }
  static void add_moves(Frame& here, const std::vector<uint64_t>& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      for (uint64_t word = words[i]; word; word &= word - 1)
        here.moves.push_back({static_cast<int>(64 * i) + std::countr_zero(word), 0});
    }
  }

  void rank_moves(Frame& here, int mover, int depth, int ply, int from_table) {
    if (here.moves.size() == 1) return;
    // Where much is to be searched, what the game thinks of the position after a move says more than history does.
    const bool look_ahead = depth >= 2;
    for (Move& move : here.moves) {
      if (move.action == from_table) {
        move.rank = int64_t{1} << 60;
        continue;
      }
      move.rank = history_[mover * spec_.actions + move.action];
      if (look_ahead) {
        void* next = here.next.get();
        game_.assign(next, here.state.get());
        game_.play(next, move.action);
        const int after = game_.to_play(next);
        const Result result = game_.result(next);
        const Score score = result == Result::ongoing ? evaluate(next, after) : final_score(result, after, ply + 1);
        move.rank = (after == mover ? score : -score) + std::min<int64_t>(move.rank, kHeuristic / 20);
        if (move.action == here.killers[0] || move.action == here.killers[1]) move.rank += kHeuristic / 10;
      } else if (move.action == here.killers[0] || move.action == here.killers[1]) {
        move.rank += int64_t{1} << 50;
      }
    }
    std::stable_sort(here.moves.begin(), here.moves.end(),
                     [](const Move& a, const Move& b) { return a.rank > b.rank; });
  }
};

AlphaBeta::AlphaBeta(const AnyGame& game) : game_(game) {}
AlphaBeta::~AlphaBeta() = default;

AlphaBetaThought AlphaBeta::think(const AnyState& state, const AlphaBetaLimits& limits,
                                  const std::function<bool()>& interrupted) {
  static_assert(sizeof(Entry) == 16);
  if (!table_) table_ = std::make_unique<Entry[]>(kBuckets * kPerBucket);
  if (++age_ == 32) {  // ages are used up: begin anew
    std::fill_n(table_.get(), kBuckets * kPerBucket, Entry{});
    age_ = 1;
  }
  return Run(game_, table_.get(), age_, limits, interrupted).think(state);
}

}  // namespace tesuji
