#include "forest.hpp"

#include <algorithm>

namespace tesuji {

Crew::Crew(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begin_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool Crew::take(std::unique_lock<std::mutex>& lock) {
  if (next_ >= count_) return false;
  const int number = next_++;
  const auto* job = job_;
  lock.unlock();
  (*job)(number);
  lock.lock();
  return true;
}

void Crew::work() {
  std::unique_lock lock(mutex_);
  for (uint64_t seen = 0;;) {
    begin_.wait(lock, [&] { return over_ || round_ != seen; });
    if (over_) return;
    seen = round_;
    ++busy_;
    while (take(lock)) {
    }
    --busy_;
    end_.notify_all();
  }
}

void Crew::share(int count, const std::function<void(int)>& job) {
  if (threads_.empty() || count <= 1) {
    for (int i = 0; i < count; ++i) job(i);
    return;
  }
  std::unique_lock lock(mutex_);
  job_ = &job;
  count_ = count;
  next_ = 0;
  ++round_;
  begin_.notify_all();
  while (take(lock)) {
  }
  end_.wait(lock, [&] { return busy_ == 0; });
}

Forest::Forest(std::vector<AnyState> roots, const SearchSettings& settings, uint64_t seed, int threads)
    : first_leaf_(roots.size() + 1, 0), crew_(threads) {
  for (auto& root : roots)
    searches_.push_back(std::make_unique<Search>(std::move(root), settings, mix(seed + searches_.size())));
}

int Forest::collect() {
  std::vector<int> counts(size());
  crew_.share(size(), [&](int i) {
    // A round may end at proven nodes alone: go on until there is a leaf, or the search is done.
    do counts[i] = searches_[i]->done() ? 0 : searches_[i]->collect();
    while (counts[i] == 0 && !searches_[i]->done());
  });
  for (int i = 0; i < size(); ++i) first_leaf_[i + 1] = first_leaf_[i] + counts[i];
  return first_leaf_.back();
}

void Forest::encode(const Encoding& encoding, float* out) {
  if (searches_.empty()) return;
  const size_t row = static_cast<size_t>(encoding.channels()) * searches_[0]->root().spec().grid.cells();
  crew_.share(size(), [&](int i) {
    for (int leaf = first_leaf_[i]; leaf < first_leaf_[i + 1]; ++leaf) {
      searches_[i]->leaf(leaf - first_leaf_[i]).encode(encoding, out + leaf * row);
    }
  });
}

void Forest::deliver(const float* logits, const float* values) {
  if (searches_.empty()) return;
  const size_t actions = searches_[0]->root().spec().actions;
  crew_.share(size(), [&](int i) {
    for (int leaf = first_leaf_[i]; leaf < first_leaf_[i + 1]; ++leaf) {
      searches_[i]->deliver(leaf - first_leaf_[i], logits + leaf * actions, values[leaf]);
    }
    searches_[i]->end_delivery();
  });
  std::fill(first_leaf_.begin(), first_leaf_.end(), 0);
}

bool Forest::simulate(Search::Inner inner, int rollouts, int simulations) {
  std::vector<char> running(size());
  crew_.share(size(), [&](int i) {
    for (int n = 0; n < simulations && !searches_[i]->done(); ++n) searches_[i]->simulate(inner, rollouts);
    running[i] = !searches_[i]->done();
  });
  return std::any_of(running.begin(), running.end(), [](char r) { return r; });
}

}  // namespace tesuji
