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

/// Waits until a number is another than `old`: awake for a while, for the next round is often near, and waking a thread
/// may take longer than a round; then asleep.
void await_change(const std::atomic<uint32_t>& number, uint32_t old, std::chrono::microseconds awake) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (number.load(std::memory_order_acquire) != old) return;
      pause();
    }
  } while (std::chrono::steady_clock::now() - start < awake);
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

bool Crew::take(Task& task, int thread) {
  // Who looks late finds nothing left, or a chunk of later work, which is as good.
  uint64_t left = task.left.load(std::memory_order_acquire);
  do {
    if (static_cast<uint32_t>(left) == 0) return false;
  } while (!task.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire));
  const uint32_t chunks = task.chunks;
  const int from = static_cast<int>(chunks - static_cast<uint32_t>(left)) * task.chunk;
  task.call(task.context, from, std::min(from + task.chunk, task.count), thread);
  if (task.done.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) task.done.notify_one();
  return true;
}

Crew::Task* Crew::oldest() {
  Task* found = nullptr;
  uint32_t first = 0;
  for (Task& task : tasks_) {
    const uint64_t left = task.left.load(std::memory_order_acquire);
    if (static_cast<uint32_t>(left) == 0) continue;
    const auto ticket = static_cast<uint32_t>(left >> 32);
    if (!found || static_cast<int32_t>(ticket - first) < 0) {  // as a difference: tickets may wrap around
      found = &task;
      first = ticket;
    }
  }
  return found;
}

void Crew::work(int thread) {
  while (true) {
    const uint32_t seen = round_.load(std::memory_order_acquire);
    if (over_) return;
    if (Task* task = oldest()) {
      while (take(*task, thread)) {
      }
    } else {
      await_change(round_, seen, std::chrono::microseconds(200));
    }
  }
}

Crew::Task* Crew::begin(int count, int chunk, Call call, const void* context) {
  if (count <= 0) return nullptr;
  Task* mine = nullptr;
  if (!threads_.empty() && count > chunk) {
    for (Task& task : tasks_) {
      if (!task.used.exchange(true, std::memory_order_acquire)) {
        mine = &task;
        break;
      }
    }
  }
  if (!mine) {  // nobody to share with, or more work under way than places: it is done now
    call(context, 0, count, 0);
    return nullptr;
  }
  mine->call = call;
  mine->context = context;
  mine->count = count;
  mine->chunk = chunk;
  mine->chunks = static_cast<uint32_t>((count + chunk - 1) / chunk);
  mine->done.store(0, std::memory_order_relaxed);
  const uint32_t ticket = round_.fetch_add(1, std::memory_order_acq_rel) + 1;
  mine->left.store(uint64_t{ticket} << 32 | mine->chunks, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);  // not before there is something to take
  round_.notify_all();
  return mine;
}

void Crew::finish(Task* task) {
  if (!task) return;
  for (uint32_t done; (done = task->done.load(std::memory_order_acquire)) != task->chunks;)
    await_change(task->done, done, std::chrono::microseconds(1000));
  task->used.store(false, std::memory_order_release);
}

}  // namespace tesuji
