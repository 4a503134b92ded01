// The list of games: one line each. docs/adding-a-game.md says what a new line needs.
#pragma once

#include <vector>

#include "../core/any.hpp"

namespace tesuji {

/// Every game, in the order in which people meet them.
const std::vector<AnyGame>& all_games();

}  // namespace tesuji
