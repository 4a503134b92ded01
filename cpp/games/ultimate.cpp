// Ultimate Tic-Tac-Toe: its variants.
#include "ultimate.hpp"

#include "all.hpp"

namespace tesuji {

std::vector<AnyGame> ultimate_games() {
  return {
      any_game<Ultimate<UltimateTie::draw>>("ultimate", "Ultimate Tic-Tac-Toe"),
      any_game<Ultimate<UltimateTie::count>>("ultimate-count", "Ultimate Tic-Tac-Toe, ties broken by boards won"),
  };
}

}  // namespace tesuji
