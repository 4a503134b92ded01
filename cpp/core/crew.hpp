// A few threads that share out numbered work, many times a second.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tesuji {

class Crew {
 public:
  /// The caller of `share` is one of the threads.
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  using Call = void (*)(const void* context, int from, int to, int thread);
  /// Work under way. Its plain members are read only by who has taken a chunk, and change only when all are done.
  struct alignas(128) Task {
    std::atomic<bool> used{false};
    Call call = nullptr;
    const void* context = nullptr;
    int count = 0, chunk = 1;
    uint32_t chunks = 0;
    // ticket << 32 | chunks that nobody has taken yet. A smaller ticket came before.
    alignas(64) std::atomic<uint64_t> left{0};
    alignas(64) std::atomic<uint32_t> done{0};  // chunks
  };

  /// Calls job(from, to, thread) for the ranges of `chunk` numbers that make up 0 … count−1, each on some thread;
  /// returns when all are done.
  template <class Job>
  void share(int count, int chunk, const Job& job) {
    Task* const task = start(count, chunk, job);
    while (task && take(*task, 0)) {
    }
    finish(task);
  }

  /// The same, but the caller has other things to do until it calls `finish`; until then the job must live. The crew
  /// does first what came first, and goes on to the next without waiting for the last chunks of the one before.
  template <class Job>
  Task* start(int count, int chunk, const Job& job) {
    return begin(
        count, chunk,
        [](const void* context, int from, int to, int thread) {
          (*static_cast<const Job*>(context))(from, to, thread);
        },
        std::addressof(job));
  }
  /// Returns when all is done.
  void finish(Task*);

 private:
  std::vector<std::thread> threads_;
  std::array<Task, 8> tasks_;
  // Counts up with all new work: what the threads wait for, and where tickets come from.
  alignas(64) std::atomic<uint32_t> round_{0};
  std::atomic<bool> over_{false};

  Task* begin(int count, int chunk, Call, const void* context);
  void work(int thread);
  static bool take(Task&, int thread);
  Task* oldest();
};

}  // namespace tesuji
