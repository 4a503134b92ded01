"""Review: the moves of a game judged, each by what it gave away.

Positions near the end are solved where that is quick, from the last one back; the others are searched. A move's loss is
how much worse the position after it is for the mover than the one before it, in [0, 2]. Where both are known for
certain, the verdict is exact: the move keeps the result, or gives it away.
"""

import math
import time
from typing import Any

from tesuji._core import Game, State
from tesuji.analysis import Analysis
from tesuji.exact import solve
from tesuji.web.work import Steps

__all__ = ["accuracy", "reviewing", "verdict"]

_SEARCH_SECONDS = 0.4  # for a position, at most
_SEARCH_VISITS = 20_000
_SOLVE_SECONDS = 0.1
_GIVE_UP = 3  # positions in a row that the solver did not know
_GROW = 0.05  # seconds between looks at the clock
_TELL = 0.3  # seconds between two reports

# The least loss of each verdict.
_VERDICTS = ((0.5, "blunder"), (0.2, "mistake"), (0.08, "inaccuracy"), (0.02, "good"), (0.0, "best"))


def verdict(loss: float, *, best: bool) -> str:
    """A word for a move that a search judged."""
    return "best" if best else next(word for least, word in _VERDICTS if loss >= least)


def accuracy(losses: list[float]) -> float | None:
    """In per cent: 100 where nothing was given away; a loss of 0.2 (a tenth of the range) counts two thirds."""
    if not losses:
        return None
    return round(100 * math.fsum(math.exp(-2 * loss) for loss in losses) / len(losses), 1)


def reviewing(game: Game, actions: list[int], *, seconds: float, memory: int) -> Steps:
    """Reports of the review of a game, as far as it has come; the last one is done."""
    states = [game.start()]
    for action in actions:
        states.append(states[-1].play(action))
    book = _Book(game, actions, states)
    told = 0.0

    # Step 1. The end is known, and perhaps more of the last positions.
    unknown = 0
    for ply in range(len(states) - 1, -1, -1):
        if states[ply].result is not None:
            book.know(ply, float(states[ply].result or 0), None, exact=True)
            continue
        found = solve(states[ply], seconds=_SOLVE_SECONDS)
        yield None
        if found.result is None:
            unknown += 1
            if unknown == _GIVE_UP:
                break
            continue
        unknown = 0
        book.know(ply, float(found.result), {game.parse(move) for move in found.best}, exact=True)
        if time.perf_counter() - told > _TELL:
            told = time.perf_counter()
            yield book.report(done=False)

    # Step 2. The others are searched, in the order of the game, so that what the tree knows is kept.
    left = [ply for ply, value in enumerate(book.values) if value is None]
    share = min(_SEARCH_SECONDS, seconds / max(1, len(left)))
    analysis = Analysis(game, memory=memory)
    for ply in left:
        analysis.look(states[ply])
        until = time.perf_counter() + share
        while True:
            thought = analysis.grow(seconds=min(_GROW, share), visits=_SEARCH_VISITS)
            if analysis.finished or analysis.visits >= _SEARCH_VISITS or time.perf_counter() >= until:
                break
            yield None
        assert thought.value is not None
        book.know(ply, thought.value, {thought.action}, exact=thought.proven is not None)
        if time.perf_counter() - told > _TELL:
            told = time.perf_counter()
            yield book.report(done=False)
        else:
            yield None
    yield book.report(done=True)


class _Book:
    """What is known so far."""

    def __init__(self, game: Game, actions: list[int], states: list[State]) -> None:
        self._game = game
        self._actions = actions
        self._movers = [state.to_play for state in states]
        self.values: list[float | None] = [None] * len(states)  # for First
        self._best: list[set[int]] = [set() for _ in states]
        self._exact = [False] * len(states)

    def know(self, ply: int, value: float, best: set[int] | None, *, exact: bool) -> None:
        self.values[ply] = value
        self._best[ply] = best or set()
        self._exact[ply] = exact

    def report(self, *, done: bool) -> dict[str, Any]:
        moves = [self._judged(ply) for ply in range(len(self._actions)) if self._known(ply)]
        sides = [[m["loss"] for m in moves if self._movers[m["ply"] - 1] == side] for side in (0, 1)]
        return {
            "progress": [sum(value is not None for value in self.values), len(self.values)],
            "values": [None if value is None else round(value, 4) for value in self.values],
            "moves": moves,
            "accuracy": [accuracy(losses) for losses in sides],
            "done": done,
        }

    def _known(self, ply: int) -> bool:
        return self.values[ply] is not None and self.values[ply + 1] is not None

    def _judged(self, ply: int) -> dict[str, Any]:
        """The move after so many plies."""
        before, after = self.values[ply], self.values[ply + 1]
        assert before is not None
        assert after is not None
        action, mover = self._actions[ply], self._movers[ply]
        side = 1 if mover == 0 else -1
        exact = self._exact[ply] and self._exact[ply + 1]
        among = action in self._best[ply]
        loss = min(2.0, max(0.0, side * (before - after)))
        if among and not exact:
            loss = 0.0
        best = action if among else min(self._best[ply], default=action)
        word = ("gives" if loss else "keeps") if exact else verdict(loss, best=among)
        return {
            "ply": ply + 1,
            "action": action,
            "text": self._game.text(action),
            "mover": mover,
            "best": best,
            "best_text": self._game.text(best),
            "loss": round(loss, 4),
            "exact": exact,
            "verdict": word,
        }
