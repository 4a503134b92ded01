// A record: one finished game of self-play as it lies on disk. Moves and what the searches said of them, never planes:
// so it stays small, and useful when a network's input changes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "game.hpp"

namespace tesuji {

/// How a game ended.
enum class Ending : uint8_t {
  played,    // to the end of the rules
  resigned,  // the mover gave up
  solved,    // the rest was known
};
const char* ending_name(Ending);

struct Record {
  struct Ply {
    uint16_t action = 0;
    uint16_t visits = 0;              // of the search behind it; 0: an opening move that nobody searched
    float value = 0;                  // that the search found, for First
    Result proven = Result::ongoing;  // what the search proved; ongoing: nothing
    // What the search recommends, by action, in shares of `kWhole`; empty where it was too short to learn from.
    std::vector<std::pair<uint16_t, uint16_t>> policy;
  };
  static constexpr int kWhole = 65535;

  std::vector<double> numbers;  // of the rules
  Result result = Result::ongoing;
  Ending ending = Ending::played;
  uint32_t net = 0;  // the steps of training behind the net that began the game
  std::vector<Ply> plies;

  /// Positions to learn from.
  int positions() const;
};

// ── Frames: records on the way to a disk and back. Each is its length, a checksum, and the record; a file that was cut
// off in the middle of one still yields all those before it. ──

void write_frame(const Record&, std::vector<uint8_t>& out);

/// The CRC-32 that zip files use.
uint32_t crc32(std::span<const uint8_t>);

class FrameReader {
 public:
  explicit FrameReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  /// The next record; false at the end, and before bytes that are no whole, sound frame.
  bool next(Record&);
  /// Bytes of whole, sound frames so far.
  size_t read() const { return at_; }
  uint32_t checksum() const { return checksum_; }  // of the last record

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint32_t checksum_ = 0;
};

}  // namespace tesuji
