// Alpha-beta: the classical opponent. One engine for every game: principal variation search with iterative deepening, a
// transposition table, and what a game says of a position (`heuristic`) and of its moves (`candidates`).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "../core/any.hpp"

namespace tesuji {

/// When to stop: at the first of these that is reached. Depth and nodes alone make a search that is the same on every
/// machine.
struct AlphaBetaLimits {
  int depth = 1000;
  uint64_t nodes = ~uint64_t{0};
  std::optional<double> seconds;
};

struct AlphaBetaThought {
  int action = -1;
  double value = 0;           // in [−1, 1], for First
  std::optional<int> proven;  // the result with best play, where the search knows it for certain
  int plies_to_end = 0;       // of a won or lost game: the plies to its end
  int depth = 0;              // the deepest iteration that was finished
  uint64_t nodes = 0;
  std::vector<int> line;         // the principal variation, the action first
  std::vector<uint64_t> effort;  // [actions] nodes spent on each move of the root
};

class AlphaBeta {
 public:
  explicit AlphaBeta(const AnyGame&);
  ~AlphaBeta();

  /// A move for the side to play; the game must not be over. `interrupted` is asked every thousand nodes or so; once it
  /// says yes, the best move so far is returned.
  AlphaBetaThought think(const AnyState&, const AlphaBetaLimits&, const std::function<bool()>& interrupted);

 private:
  struct Entry;
  class Run;

  const AnyGame& game_;
  std::unique_ptr<Entry[]> table_;  // kept between searches for its memory alone: no search reads another's entries
  uint8_t age_ = 0;
};

}  // namespace tesuji
