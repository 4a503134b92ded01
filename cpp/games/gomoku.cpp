// Gomoku: its boards.
#include "gomoku.hpp"

#include "all.hpp"

namespace tesuji {

std::vector<AnyGame> gomoku_games() {
  return {
      any_game<Gomoku<3, 3>>("gomoku3", "Tic-Tac-Toe (Gomoku 3×3, three in a row)"),
      any_game<Gomoku<6, 4>>("gomoku6x4", "Gomoku 6×6, four in a row"),
      any_game<Gomoku<8, 5>>("gomoku8", "Gomoku 8×8"),
      any_game<Gomoku<15, 5>>("gomoku15", "Gomoku 15×15"),
  };
}

}  // namespace tesuji
