// A whole residual net in one kernel: a block of threads takes a few boards, keeps all their activations in shared
// memory, and streams the weights of layer after layer past them.
//
// `fused.py` compiles it for one net, with these sizes given: ROWS, COLS, PLANES (of bits), SCALARS, CHANNELS (a multiple of
// 16), BLOCKS, POLICY and VALUE (channels of the heads, together at most CHANNELS), HIDDEN, ACTIONS, OFF_BOARD; and BOARDS
// and WARPS of a block of threads.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short half;  // the bits of one

constexpr int kCells = ROWS * COLS;
constexpr int kRows = BOARDS * kCells;               // of activations, a row a cell
constexpr int kTiles = (kRows + 15) / 16;            // of 16 rows; after them comes one row of zeros
constexpr int kMine = (kTiles + WARPS - 1) / WARPS;  // tiles of a warp
constexpr int kPitch = CHANNELS * 2 + 16;            // bytes of a row: 16 more, so that rows begin in different banks
constexpr int kColumns = CHANNELS / 8;               // tiles of 8 columns
constexpr int kPlaneWords = (kCells + 63) / 64;
constexpr int kWords = PLANES * kPlaneWords + (SCALARS + 1) / 2;
constexpr int kStem = (PLANES + SCALARS + 15) / 16 * 16;  // channels of the input, with zeros up to a multiple of 16
constexpr int kThreads = 32 * WARPS;
constexpr int kActivations = (kTiles * 16 + 1) * kPitch;
constexpr int kSlab = CHANNELS * kPitch;  // bytes of the weights of one tap
static_assert(kStem <= CHANNELS, "the planes must not be more than the channels");

__device__ __forceinline__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void load4(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ float to_float(half bits) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
  return f;
}

/// Two numbers as halves in one word, the first in the lower part.
__device__ __forceinline__ u32 to_halves(float first, float second) {
  u32 both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

/// Starts to bring the weights of one tap, [CHANNELS][kInputs], into shared memory.
template <int kInputs>
__device__ __forceinline__ void fetch(const half* weights, u32 slab) {
  constexpr int kChunks = kInputs / 8;  // of 16 bytes, in a row
  for (int i = threadIdx.x; i < CHANNELS * kChunks; i += kThreads) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slab + i / kChunks * kPitch + i % kChunks * 16),
                 "l"(weights + i * 8));
  }
  asm volatile("cp.async.commit_group;");
}

/// What a thread must know of the rows that it loads for one of its warp's tiles.
struct Tile {
  u32 base;    // its row, in bytes from the first
  u32 inside;  // bit t: the neighbour at tap t lies on the board
};

/// One convolution of kTaps (9 or 1) from `in` to `out`, with bias and relu; with kAdd what `out` held is added before
/// that. The first tap's weights are on their way into slab `turn`; when it ends, those after the last tap are.
template <int kInputs, int kTaps, bool kAdd, bool kLast = false>
__device__ __forceinline__ void convolve(u32 in, char* out, const half*& weights, const float*& bias, u32 slabs, int& turn,
                                         const Tile (&tiles)[kMine]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sums[kMine][kColumns][4];
#pragma unroll
  for (int m = 0; m < kMine; ++m)
#pragma unroll
    for (int n = 0; n < kColumns; ++n)
#pragma unroll
      for (int k = 0; k < 4; ++k) sums[m][n][k] = 0;

  const u32 zeros = in + kTiles * 16 * kPitch;
#pragma unroll 1
  for (int tap = 0; tap < kTaps; ++tap) {
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();  // this tap's weights are there, and nobody reads the other slab any more
    const u32 slab = slabs + turn * kSlab + (lane % 8 + lane / 16 * 8) * kPitch + lane / 8 % 2 * 16;
    turn ^= 1;
    weights += CHANNELS * kInputs;
    if (tap + 1 < kTaps)
      fetch<kInputs>(weights, slabs + turn * kSlab);
    else if (!kLast)
      fetch<CHANNELS>(weights, slabs + turn * kSlab);  // of the next convolution
    const int shift = kTaps == 1 ? 0 : ((tap / 3 - 1) * COLS + tap % 3 - 1) * kPitch;
    const int at = kTaps == 1 ? 4 : tap;
#pragma unroll
    for (int k = 0; k < kInputs / 16; ++k) {
      u32 a[kMine][4];
#pragma unroll
      for (int m = 0; m < kMine; ++m) {
        const u32 row = tiles[m].inside >> at & 1 ? in + tiles[m].base + shift : zeros;
        load4(a[m], row + lane / 16 * 16 + k * 32);
      }
#pragma unroll
      for (int n = 0; n < kColumns / 2; ++n) {
        u32 b[4];
        load4(b, slab + n * 16 * kPitch + k * 32);
#pragma unroll
        for (int m = 0; m < kMine; ++m) {
          multiply(sums[m][2 * n], a[m], b[0], b[1]);
          multiply(sums[m][2 * n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }
#pragma unroll
  for (int m = 0; m < kMine; ++m) {
    const int tile = warp + m * WARPS;
    if (tile >= kTiles) break;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const int column = n * 8 + lane % 4 * 2;
      const float b0 = bias[column], b1 = bias[column + 1];
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        u32* const to = reinterpret_cast<u32*>(out + (tile * 16 + lane / 4 + part * 8) * kPitch + column * 2);
        float x = sums[m][n][2 * part] + b0, y = sums[m][n][2 * part + 1] + b1;
        if (kAdd) {
          const u32 before = *to;
          x += to_float(before & 0xffff);
          y += to_float(before >> 16);
        }
        *to = to_halves(fmaxf(x, 0.0f), fmaxf(y, 0.0f));
      }
    }
  }
  bias += CHANNELS;
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    answer(const u64* planes, int positions, const half* weights, const float* bias, const float* dense,
           const int* order, float* policy, float* value) {
  extern __shared__ __align__(128) char memory[];
  char* const x = memory;
  char* const y = memory + kActivations;
  const u32 x_at = shared_address(x), y_at = shared_address(y), slabs = shared_address(memory + 2 * kActivations);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * BOARDS;
  int turn = 0;
  fetch<kStem>(weights, slabs);

  Tile tiles[kMine];
#pragma unroll
  for (int m = 0; m < kMine; ++m) {
    const int row = (warp + m * WARPS) * 16 + lane % 16;
    tiles[m].base = row * kPitch;
    tiles[m].inside = 0;
    if (row < kRows) {
      const int cell = row % kCells, r = cell / COLS, c = cell % COLS;
      for (int tap = 0; tap < 9; ++tap) {
        const int rr = r + tap / 3 - 1, cc = c + tap % 3 - 1;
        if (rr >= 0 && rr < ROWS && cc >= 0 && cc < COLS) tiles[m].inside |= 1u << tap;
      }
    }
  }
  for (int i = threadIdx.x; i < kPitch / 4; i += kThreads) {
    reinterpret_cast<u32*>(x + kTiles * 16 * kPitch)[i] = 0;
    reinterpret_cast<u32*>(y + kTiles * 16 * kPitch)[i] = 0;
  }

  // Step 1. Unpack: bits and scalars become channels.
  for (int i = threadIdx.x; i < kTiles * 16 * (kStem / 2); i += kThreads) {
    const int row = i / (kStem / 2), channel = i % (kStem / 2) * 2, board = row / kCells, cell = row % kCells;
    float v[2] = {0, 0};
    if (row < kRows && first + board < positions) {
      const u64* const words = planes + static_cast<u64>(first + board) * kWords;
      for (int k = 0; k < 2; ++k) {
        const int c = channel + k;
        if (c < PLANES)
          v[k] = static_cast<float>(words[c * kPlaneWords + cell / 64] >> (cell % 64) & 1);
        else if (c < PLANES + SCALARS)
          v[k] = reinterpret_cast<const float*>(words + PLANES * kPlaneWords)[c - PLANES];
      }
    }
    *reinterpret_cast<u32*>(y + row * kPitch + channel * 2) = to_halves(v[0], v[1]);
  }

  // Step 2. The trunk.
  convolve<kStem, 9, false>(y_at, x, weights, bias, slabs, turn, tiles);
#pragma unroll 1
  for (int block = 0; block < BLOCKS; ++block) {
    convolve<CHANNELS, 9, false>(x_at, y, weights, bias, slabs, turn, tiles);
    convolve<CHANNELS, 9, true>(y_at, x, weights, bias, slabs, turn, tiles);
  }

  // Step 3. The heads' features: policy channels first, then value channels.
  convolve<CHANNELS, 1, false, true>(x_at, y, weights, bias, slabs, turn, tiles);

  // Step 4. Means and maxima of the value channels, [BOARDS][2 · VALUE], in x, which nobody needs now.
  float* const pooled = reinterpret_cast<float*>(x);
  float* const hidden = pooled + BOARDS * 2 * VALUE;
  for (int i = threadIdx.x; i < BOARDS * VALUE; i += kThreads) {
    const int board = i / VALUE, c = i % VALUE;
    float sum = 0, most = 0;  // after relu nothing is below 0
    for (int cell = 0; cell < kCells; ++cell) {
      const float v = to_float(*reinterpret_cast<const half*>(y + (board * kCells + cell) * kPitch + (POLICY + c) * 2));
      sum += v;
      most = fmaxf(most, v);
    }
    pooled[board * 2 * VALUE + c] = sum / kCells;
    pooled[board * 2 * VALUE + VALUE + c] = most;
  }
  __syncthreads();

  // Step 5. Dense layers: hidden [2 · VALUE][HIDDEN], value [3][HIDDEN], off board [OFF_BOARD][HIDDEN], cells [POLICY],
  // each followed by its biases.
  const float* const w_hidden = dense;
  const float* const w_value = w_hidden + HIDDEN * (2 * VALUE + 1);
  const float* const w_off = w_value + 3 * (HIDDEN + 1);
  const float* const w_cells = w_off + OFF_BOARD * (HIDDEN + 1);
  for (int i = threadIdx.x; i < BOARDS * HIDDEN; i += kThreads) {
    const int board = i / HIDDEN, unit = i % HIDDEN;
    float sum = w_hidden[HIDDEN * 2 * VALUE + unit];
    for (int c = 0; c < 2 * VALUE; ++c) sum += w_hidden[c * HIDDEN + unit] * pooled[board * 2 * VALUE + c];
    hidden[i] = fmaxf(sum, 0.0f);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BOARDS * ACTIONS; i += kThreads) {
    const int board = i / ACTIONS, action = i % ACTIONS;
    if (first + board >= positions) break;
    const int place = order[action];
    float sum;
    if (place < kCells) {
      sum = w_cells[POLICY];
      const half* const row = reinterpret_cast<const half*>(y + (board * kCells + place) * kPitch);
      for (int c = 0; c < POLICY; ++c) sum += w_cells[c] * to_float(row[c]);
    } else {
      sum = w_off[OFF_BOARD * HIDDEN + place - kCells];
      for (int u = 0; u < HIDDEN; ++u) sum += w_off[(place - kCells) * HIDDEN + u] * hidden[board * HIDDEN + u];
    }
    policy[static_cast<u64>(first + board) * ACTIONS + action] = sum;
  }
  for (int board = threadIdx.x; board < BOARDS && first + board < positions; board += kThreads) {
    float logits[3];
    for (int k = 0; k < 3; ++k) {
      logits[k] = w_value[3 * HIDDEN + k];
      for (int u = 0; u < HIDDEN; ++u) logits[k] += w_value[k * HIDDEN + u] * hidden[board * HIDDEN + u];
    }
    const float most = fmaxf(logits[0], fmaxf(logits[1], logits[2]));
    const float win = expf(logits[0] - most), draw = expf(logits[1] - most), loss = expf(logits[2] - most);
    value[first + board] = (win - loss) / (win + draw + loss);
  }
}
