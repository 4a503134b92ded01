// The laws that every game obeys, checked by random play. `tesuji check-game` runs them for people who add a game.
#pragma once

#include <string>
#include <vector>

#include "any.hpp"

namespace tesuji {

/// Plays `games` random games; a sentence for each law that was seen broken, none where all hold.
std::vector<std::string> broken_laws(const AnyGame&, int games, uint64_t seed);

}  // namespace tesuji
