// The list of games: one line each. docs/adding-a-game.md says what a new line needs.
#pragma once

#include <vector>

#include "../core/any.hpp"

namespace tesuji {

/// Every game, in the order in which people meet them.
const std::vector<AnyGame>& all_games();

// Games of many sizes have a file each, so that they are compiled side by side.
std::vector<AnyGame> ultimate_games();
std::vector<AnyGame> gomoku_games();
std::vector<AnyGame> nogo_games();
std::vector<AnyGame> dots_games();
std::vector<AnyGame> go_games();

}  // namespace tesuji
