// Products of matrices, the inner loop of every net on the CPU.
#pragma once

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "net.hpp"

namespace tesuji {

constexpr int kColumns = 16;  // outputs of a product that are worked on together

/// [rows, inputs] times weights [outputs / 16][inputs][16] → [rows, outputs].
void multiply(const float* in, int rows, int inputs, const float* weights, int outputs, float* out);

/// One row, of which all is 0 but what stands at some places, times weights [outputs / 16][inputs][16] → [outputs].
void multiply_some(const float* in, const uint16_t* places, int count, int inputs, const float* weights, int outputs,
                   float* out);

// Whole numbers of 16 bits, which take half the room and give the same on every processor. Units are multiplied in
// groups of `kTogether`, and of these only those in which one is above 0.

constexpr int kTogether = 2;

/// What is positive of a sum of rows and a first one, and which groups hold any of it, ascending; how many these are.
/// A sum stops at the largest number there is. `size` is a multiple of 32; `places` has room for 16 more than there can
/// be groups.
int add_rows(const int16_t* first, const int16_t* const* rows, int count, int size, int16_t* units, uint16_t* places);
/// Units times weights [outputs / 16][inputs / 2][16][2] → [outputs], where groups alone count that stand at places.
void multiply_whole(const int16_t* units, const uint16_t* places, int count, int inputs, const int16_t* weights,
                    int outputs, int32_t* out);

/// Both, in the ways that this processor can go, the fastest last.
struct WholeProducts {
  decltype(&tesuji::add_rows) add_rows;
  decltype(&multiply_whole) multiply;
};
std::vector<WholeProducts> whole_products();

/// Numbers that the processor fetches at once.
struct alignas(64) Line {
  std::array<float, kColumns> numbers;
};
struct alignas(64) WholeLine {
  static constexpr int kSize = 32;
  std::array<int16_t, kSize> numbers;
};

constexpr int up_to(int number, int multiple) { return (number + multiple - 1) / multiple * multiple; }

/// Of [outputs, inputs] the blocks of 16 outputs, input by input, as `multiply` wants them.
template <class At>
void lay_out(int outputs, int inputs, At at, float* to) {
  for (int block = 0; block < outputs; block += kColumns) {
    for (int input = 0; input < inputs; ++input) {
      for (int i = 0; i < kColumns; ++i) *to++ = at(block + i, input);
    }
  }
}

/// Of the logits of win, draw and loss.
Chances chances_of(std::array<float, 3> wdl);

/// Hands out a net's weights one by one, and refuses those that have another size than the net's shape wants.
class Weights {
 public:
  explicit Weights(const std::vector<std::span<const float>>& given) : given_(given) {}
  std::span<const float> take(size_t size) {
    if (next_ >= given_.size() || given_[next_].size() != size)
      throw std::invalid_argument("the weights do not fit the shape: number " + std::to_string(next_));
    return given_[next_++];
  }
  std::vector<float> list(size_t size) {
    const auto taken = take(size);
    return {taken.begin(), taken.end()};
  }
  void end() const {
    if (next_ != given_.size()) throw std::invalid_argument("the weights do not fit the shape: there are too many");
  }

 private:
  const std::vector<std::span<const float>>& given_;
  size_t next_ = 0;
};

}  // namespace tesuji
