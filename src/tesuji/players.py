"""Players: something that looks at a state and chooses a move.

A player is named by a text: ``random``, ``flat:playouts=2000``.
"""

import difflib
import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tesuji._core import Game, State

__all__ = ["Player", "Thought", "player"]


@dataclass(frozen=True, slots=True)
class Thought:
    """What a player saw."""

    action: int
    move: str  # the action's text
    value: float | None  # in [−1, 1], for First; None where the player has no opinion
    visits: dict[int, int]  # how often each action was looked at


class Player(Protocol):
    """Chooses moves in one game."""

    def think(self, state: State) -> Thought:
        """A move for the side to play. The game must not be over."""


class Random:
    """Plays any legal move, each as likely as the others."""

    def __init__(self, game: Game, *, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def think(self, state: State) -> Thought:
        _check_ongoing(state)
        action = self._random.choice(state.legal())
        return Thought(action, state.game.text(action), None, {action: 1})


class Flat:
    """Plays random games after every legal move, and the move that won most: no tree, so it sees one ply ahead."""

    def __init__(self, game: Game, *, playouts: int = 2000, seed: int = 0) -> None:
        if playouts < 1:
            raise ValueError(f"playouts is {playouts}: give at least 1")
        self._playouts = playouts
        self._random = random.Random(seed)

    def think(self, state: State) -> Thought:
        _check_ongoing(state)
        legal = state.legal()
        share = -(-self._playouts // len(legal))
        side = 1 if state.to_play == 0 else -1
        values = {}
        for action in legal:
            after = state.play(action)
            values[action] = after.playouts(share, seed=self._random.getrandbits(63)).mean()
        best = max(legal, key=lambda action: side * values[action])
        return Thought(best, state.game.text(best), float(values[best]), dict.fromkeys(legal, share))


_PLAYERS: dict[str, Callable[..., Player]] = {"random": Random, "flat": Flat}


def player(text: str, game: Game, *, seed: int = 0) -> Player:
    """The player that a text names, such as ``random`` or ``flat:playouts=2000``."""
    name, _, options = text.partition(":")
    if name not in _PLAYERS:
        near = difflib.get_close_matches(name, _PLAYERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_PLAYERS)}"
        raise ValueError(f"there is no player {name!r}: {hint}")
    make = _PLAYERS[name]
    known = {key for key, p in inspect.signature(make).parameters.items() if p.kind is p.KEYWORD_ONLY}
    settings = {"seed": seed}
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        if key not in known:
            raise ValueError(f"{name} has no option {key!r}: it has {', '.join(sorted(known))}")
        try:
            settings[key] = int(value)
        except ValueError:
            raise ValueError(f"{key} of {name} must be a whole number, not {value!r}") from None
    return make(game, **settings)


def _check_ongoing(state: State) -> None:
    if state.result is not None:
        raise ValueError("there is nothing to think about: the game is over")
