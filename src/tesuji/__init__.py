"""Tesuji (手筋): learns board games by playing itself, and plays them with you.

The modules, in the order in which data flows:
"""

from tesuji._core import IllegalMove, State
from tesuji.games import Game, game, games  # rules: C++ behind one type for all games
from tesuji.players import Player, player  # something that chooses moves
from tesuji.search import Leaves, Search, SearchSettings  # trees, and the leaves that a network answers
from tesuji.thought import Line, Thought  # what a player saw

__all__ = [
    "Game",
    "IllegalMove",
    "Leaves",
    "Line",
    "Player",
    "Search",
    "SearchSettings",
    "State",
    "Thought",
    "game",
    "games",
    "player",
]
__version__ = "0.1.0"
