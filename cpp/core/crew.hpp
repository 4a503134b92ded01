// A few threads that share out numbered work, many times a second.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
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

  /// Calls job(from, to, thread) for the ranges of `chunk` numbers that make up 0 … count−1, each on some thread;
  /// returns when all are done.
  template <class Job>
  void share(int count, int chunk, Job&& job) {
    using Called = std::remove_reference_t<Job>;
    run(
        count, chunk,
        [](const void* context, int from, int to, int thread) {
          (*static_cast<Called*>(const_cast<void*>(context)))(from, to, thread);
        },
        std::addressof(job));
  }

 private:
  using Call = void (*)(const void* context, int from, int to, int thread);

  std::vector<std::thread> threads_;
  // The work of this round. It is read only by who has taken a chunk, and changes only when all chunks are done.
  Call call_ = nullptr;
  const void* context_ = nullptr;
  int count_ = 0, chunk_ = 1;
  uint32_t chunks_ = 0;
  alignas(64) std::atomic<uint64_t> left_{0};   // round << 32 | chunks that nobody has taken yet
  alignas(64) std::atomic<uint32_t> done_{0};   // chunks of this round
  alignas(64) std::atomic<uint32_t> round_{0};  // what the threads wait for
  std::atomic<bool> over_{false};

  void run(int count, int chunk, Call, const void* context);
  void work(int thread);
  bool take(int thread);
};

}  // namespace tesuji
