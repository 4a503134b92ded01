// A net on the CPU: planes in, answers out. Its weights do not change; several threads may ask at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/any.hpp"

namespace tesuji {

/// What a net expects of the rest of a game, for the mover.
struct Chances {
  float value;  // P(win) − P(loss)
  float draw;   // P(draw)
};

class CpuNet {
 public:
  virtual ~CpuNet() = default;

  virtual size_t planes() const = 0;  // floats a board: planes × cells
  virtual size_t actions() const = 0;
  /// Of `count` boards, planes [count, planes, rows, cols] → logits [count, actions] and chances [count].
  virtual void answer(const float* planes, int count, float* policy, Chances*) const = 0;
  /// The same of packed planes.
  virtual void answer_packed(const Encoding&, const uint64_t* rows, int count, float* policy, Chances*) const;
};

}  // namespace tesuji
