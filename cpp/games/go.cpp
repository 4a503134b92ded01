// Go: its boards.
#include "go.hpp"

#include "all.hpp"

namespace tesuji {

std::vector<AnyGame> go_games() {
  return {
      any_game<Go<3>>("go3", "Go 3×3"), any_game<Go<5>>("go5", "Go 5×5"),     any_game<Go<7>>("go7", "Go 7×7"),
      any_game<Go<9>>("go9", "Go 9×9"), any_game<Go<13>>("go13", "Go 13×13"), any_game<Go<19>>("go19", "Go 19×19"),
  };
}

}  // namespace tesuji
