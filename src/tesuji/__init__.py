# ruff: noqa: I001 (the order tells the architecture)
"""Tesuji (手筋): learns board games by playing itself, and plays them with you.

The modules, in the order in which data flows:
"""

from tesuji.games import Game, State, IllegalMove, game, games  # rules: C++ behind one type for all games
from tesuji.search import Leaves, Search, SearchSettings  # trees, and the leaves that a network answers
from tesuji.thought import Line, Thought  # what a player saw
from tesuji.players import Player, player  # something that chooses moves
from tesuji.exact import Solution, solve  # what best play leads to, where that can be known
from tesuji.arena import Match, Tournament, match, tournament  # players against each other, measured
from tesuji.run import Run  # learning by self-play, in a folder

__all__ = [
    "Game",
    "IllegalMove",
    "Leaves",
    "Line",
    "Match",
    "Player",
    "Run",
    "Search",
    "SearchSettings",
    "Solution",
    "State",
    "Thought",
    "Tournament",
    "game",
    "games",
    "match",
    "player",
    "solve",
    "tournament",
]
__version__ = "0.1.0"
