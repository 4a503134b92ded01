// The list of games, in the order in which people meet them. docs/adding-a-game.md says what a new line needs.
#include "all.hpp"

namespace tesuji {

const std::vector<AnyGame>& all_games() {
  static const std::vector<AnyGame> games = [] {
    std::vector<AnyGame> all;
    for (const auto& family : std::initializer_list<std::vector<AnyGame>>{
             ultimate_games(),
             gomoku_games(),
             nogo_games(),
             dots_games(),
             go_games(),
         })
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return games;
}

}  // namespace tesuji
