"""Tesuji (手筋): learns board games by playing itself, and plays them with you.

The modules, in the order in which data flows:
"""

from tesuji._core import IllegalMove, State
from tesuji.games import Game, game, games  # rules: C++ behind one type for all games
from tesuji.players import Line, Player, Thought, player  # something that chooses moves

__all__ = ["Game", "IllegalMove", "Line", "Player", "State", "Thought", "game", "games", "player"]
__version__ = "0.1.0"
