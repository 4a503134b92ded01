#include "crew.hpp"

#include <algorithm>
#include <chrono>

namespace tesuji {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until a number is another than `old`: awake for a moment, for the next round is often near; then asleep.
void await_change(const std::atomic<uint32_t>& number, uint32_t old) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (number.load(std::memory_order_acquire) != old) return;
      pause();
    }
  } while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(20));
  number.wait(old, std::memory_order_acquire);
}

}  // namespace

Crew::Crew(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

Crew::~Crew() {
  over_ = true;
  ++round_;
  round_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool Crew::take(int thread) {
  // Who wakes late finds nothing left, or a chunk of a later round, which is as good.
  uint64_t left = left_.load(std::memory_order_acquire);
  do {
    if (static_cast<uint32_t>(left) == 0) return false;
  } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire));
  const uint32_t chunks = chunks_;
  const int from = static_cast<int>(chunks - static_cast<uint32_t>(left)) * chunk_;
  call_(context_, from, std::min(from + chunk_, count_), thread);
  if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) done_.notify_one();
  return true;
}

void Crew::work(int thread) {
  for (uint32_t seen = 0;;) {
    await_change(round_, seen);
    seen = round_.load(std::memory_order_acquire);
    if (over_) return;
    while (take(thread)) {
    }
  }
}

void Crew::run(int count, int chunk, Call call, const void* context) {
  if (count <= 0) return;
  if (threads_.empty() || count <= chunk) return call(context, 0, count, 0);
  call_ = call;
  context_ = context;
  count_ = count;
  chunk_ = chunk;
  chunks_ = static_cast<uint32_t>((count + chunk - 1) / chunk);
  done_.store(0, std::memory_order_relaxed);
  const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  left_.store(uint64_t{round} << 32 | chunks_, std::memory_order_release);
  round_.store(round, std::memory_order_release);
  round_.notify_all();
  while (take(0)) {
  }
  for (uint32_t done; (done = done_.load(std::memory_order_acquire)) != chunks_;) await_change(done_, done);
}

}  // namespace tesuji
