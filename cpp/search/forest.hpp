// Many trees, one batch of leaves: the border with networks. Each tree stays single-threaded; threads share out the
// trees.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "search.hpp"

namespace tesuji {

/// A few threads that share out numbered jobs.
class Crew {
 public:
  explicit Crew(int threads);
  ~Crew();
  /// Calls job(0) … job(count − 1), each once, on some thread; returns when all are done.
  void share(int count, const std::function<void(int)>& job);

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int)>* job_ = nullptr;
  int count_ = 0, next_ = 0, busy_ = 0;
  uint64_t round_ = 0;
  bool over_ = false;

  void work();
  bool take(std::unique_lock<std::mutex>&);
};

class Forest {
 public:
  Forest(std::vector<AnyState> roots, const SearchSettings&, uint64_t seed, int threads);

  int size() const { return static_cast<int>(searches_.size()); }
  Search& search(int i) { return *searches_[i]; }
  const Search& search(int i) const { return *searches_[i]; }

  /// Grows every tree to new leaves; how many wait for an answer in all. 0: every search is done.
  int collect();
  /// Writes the leaves' planes, [leaves][channels][rows][cols]; before `deliver`.
  void encode(const Encoding&, float* out);
  /// Answers: logits [leaves][actions], values [leaves] for the movers.
  void deliver(const float* logits, const float* values);
  /// Searches with an evaluator inside the core, `simulations` more in each tree; whether any is still running.
  bool simulate(Search::Inner, int rollouts, int simulations);

 private:
  std::vector<std::unique_ptr<Search>> searches_;
  std::vector<int> first_leaf_;  // [searches + 1] of the batch
  Crew crew_;
};

}  // namespace tesuji
