"""Exact values: what best play by both leads to. The solvers are in ``cpp/search/exact``; see docs/solvers.md."""

import random
import time
from dataclasses import dataclass

from numpy import int8
from numpy.typing import NDArray

from tesuji import _core
from tesuji._core import Game, State
from tesuji.players import check_ongoing
from tesuji.thought import Line, Thought

__all__ = ["Exact", "Solution", "margins", "solve", "thought"]

NODES = 1_000_000_000
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Solution:
    """What best play by both leads to, or why that is unknown."""

    result: int | None  # +1 First wins, 0 drawn, −1 Second wins; None: unknown
    margin: float | None  # First's final score, where the solver knows it
    plies: int | None  # to the end, by shortest win and longest loss, where the solver knows it
    best: tuple[str, ...]  # moves that keep all of the above: at least one, none at the end of a game
    complete: bool  # whether `best` holds all such moves
    nodes: int  # positions looked at
    seconds: float
    unknown: str | None = None  # the limit that was met, where the result is unknown


def solve(state: State, *, nodes: int = NODES, seconds: float = SECONDS) -> Solution:
    """Solves a position, or says which limit was met first."""
    if not isinstance(state, State):
        raise TypeError(f"a state of a game is solved, not {type(state).__name__}")
    start = time.perf_counter()
    found = _core.solve(state, nodes=nodes, seconds=seconds)
    best = tuple(state.game.text(action) for action in found.pop("best"))
    return Solution(best=best, seconds=time.perf_counter() - start, **found)


def margins(game: Game) -> NDArray[int8]:
    """[2^edges]: the best margin for the mover over the rest of a game of Dots and Boxes (up to 3×3), by drawn edges.

    Edge e is bit e of the index. The array is shared and read-only.
    """
    return _core.dots_margins(game)


def thought(state: State, found: Solution, move: str) -> Thought:
    """What a player saw who knows the solution, and chose one of its best moves."""
    assert found.result is not None
    return Thought(
        state.game.parse(move),
        move,
        float(found.result),
        visits={state.game.parse(text): 1 for text in found.best},
        lines=tuple(Line((text,), float(found.result), 1) for text in found.best),
        proven=found.result,
        plies=found.plies,
        seconds=found.seconds,
        nodes=found.nodes,
    )


class Exact:
    """Plays perfectly, or refuses where it does not know: a best move, the same each time or, with a seed, any of them.

    In Dots and Boxes it keeps the margin; elsewhere it wins soonest and loses latest where the solver knows how.
    """

    def __init__(self, game: Game, *, nodes: int = NODES, seconds: float = SECONDS, seed: int = 0) -> None:
        if nodes < 1:
            raise ValueError(f"nodes is {nodes}: give at least 1")
        if not 0 < seconds <= 1e6:
            raise ValueError(f"seconds is {seconds:g}: give more than 0, and at most 1000000")
        self._nodes, self._seconds = nodes, seconds
        self._random = random.Random(seed) if seed else None

    def think(self, state: State) -> Thought:
        check_ongoing(state)
        found = solve(state, nodes=self._nodes, seconds=self._seconds)
        if found.result is None:
            raise ValueError(f"exact does not know this position: {found.unknown}")
        return thought(state, found, self._random.choice(found.best) if self._random else found.best[0])
