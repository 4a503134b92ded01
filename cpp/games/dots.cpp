// Dots and Boxes: its boards and rules.
#include "dots.hpp"

#include "all.hpp"

namespace tesuji {

std::vector<AnyGame> dots_games() {
  return {
      any_game<Dots<1, 1>>("dots1", "Dots and Boxes, one box"),
      any_game<Dots<1, 2>>("dots1x2", "Dots and Boxes 1×2"),
      any_game<Dots<2, 2>>("dots2", "Dots and Boxes 2×2"),
      any_game<Dots<2, 3>>("dots2x3", "Dots and Boxes 2×3"),
      any_game<Dots<3, 3>>("dots3", "Dots and Boxes 3×3"),
      any_game<Dots<3, 3, DotsOpening::paper>>("dots3-paper", "Dots and Boxes 3×3, Second may not copy the first move"),
      any_game<Dots<3, 4>>("dots3x4", "Dots and Boxes 3×4"),
      any_game<Dots<4, 4>>("dots4", "Dots and Boxes 4×4"),
      any_game<Dots<5, 5>>("dots5", "Dots and Boxes 5×5"),
  };
}

}  // namespace tesuji
