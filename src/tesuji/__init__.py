"""Tesuji (手筋): learns board games by playing itself, and plays them with you.

The modules, in the order in which data flows:
"""

from tesuji._core import IllegalMove, State
from tesuji.arena import Match, Tournament, match, tournament  # players against each other, measured
from tesuji.games import Game, game, games  # rules: C++ behind one type for all games
from tesuji.players import Player, player  # something that chooses moves
from tesuji.search import Leaves, Search, SearchSettings  # trees, and the leaves that a network answers
from tesuji.thought import Line, Thought  # what a player saw

__all__ = [
    "Game",
    "IllegalMove",
    "Leaves",
    "Line",
    "Match",
    "Player",
    "Search",
    "SearchSettings",
    "State",
    "Thought",
    "Tournament",
    "game",
    "games",
    "match",
    "player",
    "tournament",
]
__version__ = "0.1.0"
