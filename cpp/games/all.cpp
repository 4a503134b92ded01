// The list of games: one line each, in the order in which people meet them. docs/adding-a-game.md says what a new line
// needs.
#include "all.hpp"

#include "dots.hpp"
#include "go.hpp"
#include "gomoku.hpp"
#include "nogo.hpp"
#include "ultimate.hpp"

namespace tesuji {

const std::vector<AnyGame>& all_games() {
  static const std::vector<AnyGame> games = {
      any_game<Ultimate<UltimateTie::draw>>("ultimate", "Ultimate Tic-Tac-Toe"),
      any_game<Ultimate<UltimateTie::count>>("ultimate-count", "Ultimate Tic-Tac-Toe, ties broken by boards won"),
      any_game<Gomoku<3, 3>>("gomoku3", "Tic-Tac-Toe (Gomoku 3×3, three in a row)"),
      any_game<Gomoku<6, 4>>("gomoku6x4", "Gomoku 6×6, four in a row"),
      any_game<Gomoku<8, 5>>("gomoku8", "Gomoku 8×8"),
      any_game<Gomoku<15, 5>>("gomoku15", "Gomoku 15×15"),
      any_game<NoGo<3>>("nogo3", "NoGo 3×3"),
      any_game<NoGo<4>>("nogo4", "NoGo 4×4"),
      any_game<NoGo<5>>("nogo5", "NoGo 5×5"),
      any_game<NoGo<6>>("nogo6", "NoGo 6×6"),
      any_game<NoGo<7>>("nogo7", "NoGo 7×7"),
      any_game<NoGo<9>>("nogo9", "NoGo 9×9"),
      any_game<Dots<1, 1>>("dots1", "Dots and Boxes, one box"),
      any_game<Dots<1, 2>>("dots1x2", "Dots and Boxes 1×2"),
      any_game<Dots<2, 2>>("dots2", "Dots and Boxes 2×2"),
      any_game<Dots<2, 3>>("dots2x3", "Dots and Boxes 2×3"),
      any_game<Dots<3, 3>>("dots3", "Dots and Boxes 3×3"),
      any_game<Dots<3, 3, DotsOpening::paper>>("dots3-paper", "Dots and Boxes 3×3, Second may not copy the first move"),
      any_game<Dots<3, 4>>("dots3x4", "Dots and Boxes 3×4"),
      any_game<Dots<4, 4>>("dots4", "Dots and Boxes 4×4"),
      any_game<Dots<5, 5>>("dots5", "Dots and Boxes 5×5"),
      any_game<Go<3>>("go3", "Go 3×3"),
      any_game<Go<5>>("go5", "Go 5×5"),
      any_game<Go<7>>("go7", "Go 7×7"),
      any_game<Go<9>>("go9", "Go 9×9"),
      any_game<Go<13>>("go13", "Go 13×13"),
      any_game<Go<19>>("go19", "Go 19×19"),
  };
  return games;
}

}  // namespace tesuji
