// Many trees, one batch of leaves: the border with networks. Each tree stays single-threaded; threads share out the
// trees.
#pragma once

#include <memory>

#include "../core/crew.hpp"
#include "../net/net.hpp"
#include "search.hpp"

namespace tesuji {

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
  /// Answers: logits [leaves][actions], and chances [leaves] for the movers.
  void deliver(const float* logits, const Chances*);
  /// Searches with an evaluator inside the core, `simulations` more in each tree; whether any is still running.
  bool simulate(Search::Inner, int rollouts, int simulations);
  /// Searches with a net on the CPU, one batch more; whether any is still running.
  bool step(const CpuNet&, const Encoding&);

 private:
  std::vector<std::unique_ptr<Search>> searches_;
  std::vector<int> counts_;      // [searches] leaves of each
  std::vector<int> first_leaf_;  // [searches + 1] of the batch
  // Of the batch, where a net is asked here.
  std::vector<uint64_t> packed_;
  std::vector<float> logits_;
  std::vector<Chances> chances_;
  Crew crew_;

  /// Calls job(search, its number) for every search.
  template <class Job>
  void each(Job job);
};

}  // namespace tesuji
