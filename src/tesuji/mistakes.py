"""Mistakes: the moves of a match judged by the exact solvers. A mistake gives away value that was there."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tesuji._core import State
from tesuji.exact import Solution, solve
from tesuji.records import GameRecord

__all__ = ["Account", "judge"]


@dataclass(slots=True)
class Account:
    """One player's book: how many moves were judged, and how many of them gave something away."""

    moves: int = 0  # judged
    unknown: int = 0  # that the solvers could not judge within the limit
    lost_result: int = 0  # a win made a draw or a loss, a draw made a loss
    margins: int = 0  # of the judged, those whose margins are known too
    lost_margin: int = 0  # of these, those that gave boxes away

    @property
    def rate(self) -> float | None:
        """The share of the judged moves that gave a result away."""
        return self.lost_result / self.moves if self.moves else None

    @property
    def margin_rate(self) -> float | None:
        """The share that gave boxes away, of those whose margins are known."""
        return self.lost_margin / self.margins if self.margins else None


def judge(
    records: Mapping[int, GameRecord],
    *,
    seconds: float = 30.0,
    watch: Callable[[int, int], None] | None = None,
) -> dict[tuple[str, int], Account]:
    """The accounts of both players, by label and side (0 First, 1 Second). ``seconds`` is the limit of one position.

    A position is solved once, however many games went through it.
    """
    solved: dict[State, Solution] = {}

    def of(state: State) -> Solution:
        if state not in solved:
            solved[state] = solve(state, seconds=seconds)
        return solved[state]

    accounts = {(label, side): Account() for record in records.values() for label in record.players for side in (0, 1)}
    for number, record in enumerate(records.values()):
        if watch:
            watch(number, len(records))
        states = record.states()
        for before, after in itertools.pairwise(states):
            player = before.to_play
            account = accounts[(record.first, record.second)[player], player]
            side = 1 if player == 0 else -1
            best, now = of(before), of(after)
            if best.result is None or now.result is None:
                account.unknown += 1
                continue
            account.moves += 1
            account.lost_result += side * now.result < side * best.result
            if best.margin is not None and now.margin is not None:
                account.margins += 1
                account.lost_margin += side * now.margin < side * best.margin
    return accounts
