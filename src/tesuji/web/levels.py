"""Levels: named opponents, from beginner to strongest.

A level is a player: fewer visits and a higher temperature make it weaker. It never plays a bad move on purpose: it
looks at less, and chooses among the moves that it likes. ``levels.toml`` has the players of each game with ratings that
``tesuji levels GAME`` measured; a game that is not there has the ladder below, not measured.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tesuji._core import Game

__all__ = ["DEFAULT", "NAMES", "Level", "levels"]

NAMES = ("seedling", "novice", "casual", "club", "strong", "expert", "strongest")
DEFAULT = "casual"

# Visits for each action that a game has, so that a large board is looked at as thoroughly as a small one; temperature.
_LADDER = ((1.0, 1.0), (2.0, 0.7), (5.0, 0.5), (15.0, 0.3), (50.0, 0.2), (150.0, 0.1))

_FILE = Path(__file__).with_name("levels.toml")


@dataclass(frozen=True, slots=True)
class Level:
    """A named player; its rating is 0 for uniformly random play."""

    name: str
    player: str
    rating: float | None = None
    error: float | None = None  # 95 %

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "rating": self.rating, "error": self.error, "player": self.player}


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}


def levels(game: Game) -> list[Level]:
    """The levels of a game, the weakest first."""
    if found := _file().get(game.name):
        return [Level(name=name, **found[name]) for name in NAMES]
    return ladder(game)


def ladder(game: Game) -> list[Level]:
    """The levels of a game that nobody measured."""
    texts = [f"mcts:visits={round(share * game.actions)},temperature={t:g}" for share, t in _LADDER]
    return [Level(name, text) for name, text in zip(NAMES, [*texts, "mcts:seconds=0.8"], strict=True)]
