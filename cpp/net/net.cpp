#include "net.hpp"

#include <algorithm>
#include <vector>

namespace tesuji {

void CpuNet::answer_packed(const Encoding& encoding, const uint64_t* rows, int count, float* policy,
                           Chances* chances) const {
  constexpr int kTogether = 32;  // more would push the net's numbers out of the processor's caches
  thread_local std::vector<float> unpacked;
  unpacked.resize(kTogether * planes());
  for (int done = 0; done < count; done += kTogether) {
    const int boards = std::min(kTogether, count - done);
    for (int i = 0; i < boards; ++i)
      encoding.unpack(rows + static_cast<size_t>(done + i) * encoding.packed_words(), unpacked.data() + i * planes());
    answer(unpacked.data(), boards, policy + done * actions(), chances + done);
  }
}

}  // namespace tesuji
