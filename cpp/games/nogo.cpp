// NoGo: its boards.
#include "nogo.hpp"

#include "all.hpp"

namespace tesuji {

std::vector<AnyGame> nogo_games() {
  return {
      any_game<NoGo<3>>("nogo3", "NoGo 3×3"), any_game<NoGo<4>>("nogo4", "NoGo 4×4"),
      any_game<NoGo<5>>("nogo5", "NoGo 5×5"), any_game<NoGo<6>>("nogo6", "NoGo 6×6"),
      any_game<NoGo<7>>("nogo7", "NoGo 7×7"), any_game<NoGo<9>>("nogo9", "NoGo 9×9"),
  };
}

}  // namespace tesuji
