// A residual net on the CPU: the whole of it, from planes to answers, by Winograd's convolutions.
//
// A 3×3 convolution of a tile of M × M cells takes 9·M² multiplications a channel; carried over to (M + 2)² sums of
// cells it takes (M + 2)²: of 81 are left 25 (M = 3), of 144 are left 36 (M = 4). What is left are products of
// matrices, one for each of the sums:
//
//   planes ─▶ [ carry over ─▶ products ─▶ carry back, bias, relu ] ─▶ … ─▶ heads
//
// Boards go through the whole net a few at a time, so that their numbers stay in the processor's nearest cache.
#pragma once

#include <span>
#include <vector>

#include "net.hpp"

namespace tesuji {

/// How a net is built: as `residual` of nets.py, without pooling in its blocks.
struct NetShape {
  int rows, cols, planes;
  int channels, blocks;
  int policy, value, hidden;  // channels of the heads' features, and the units of the value's hidden layer
  int off_board;              // logits that stand at no cell
  std::vector<int> order;     // by action: its logit, of the cells' and then those off the board

  int cells() const { return rows * cols; }
};

class ResidualNet : public CpuNet {
 public:
  /// What stands in the way of a shape, in words; empty where nothing does.
  static const char* why_not(const NetShape&);

  /// Weights and biases with their norms folded in, as torch lays them out ([outputs, inputs, 3, 3]): the first
  /// convolution's, two of each block, then policy features, policy cells, value features, hidden, value (win, draw,
  /// loss), and off the board where there are such moves. Throws a sentence where one has another size.
  ResidualNet(NetShape, const std::vector<std::span<const float>>& weights);

  size_t planes() const override { return static_cast<size_t>(shape_.planes) * shape_.cells(); }
  size_t actions() const override { return shape_.order.size(); }
  void answer(const float* planes, int count, float* policy, Chances*) const override;

 private:
  struct Convolution {
    int inputs;                  // a multiple of 8
    std::vector<float> carried;  // [sum][outputs / 16][inputs][16]
    std::vector<float> bias;
  };
  struct Room;  // of one thread, for a few boards

  NetShape shape_;
  int tile_, across_, down_, boards_;  // cells a tile; tiles a board; boards at a time
  std::vector<Convolution> convolutions_;
  std::vector<float> features_, features_bias_;  // of both heads, policy's first: [outputs / 16][channels][16]
  std::vector<float> cells_, hidden_, hidden_bias_, value_, off_board_;
  float cells_bias_;
  std::vector<float> value_bias_, off_board_bias_;

  int padded_rows() const { return tile_ * down_ + 2; }
  int padded_cols() const { return tile_ * across_ + 2; }
  size_t board_size(int channels) const { return static_cast<size_t>(padded_rows()) * padded_cols() * channels; }
  Convolution carry(std::span<const float> weights, std::span<const float> bias, int inputs, int outputs) const;
  void convolve(Room&, const Convolution&, int boards, const float* in, float* out, const float* beside) const;
  void read(Room&, const float* planes, int boards) const;
  void judge(Room&, const float* x, float* policy, Chances*) const;
};

}  // namespace tesuji
