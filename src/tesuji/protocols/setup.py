"""Positions that are told as stones on a board, without the moves that led there.

Our states come about by moves alone: here moves are looked for that lead to the stones.
"""

from collections.abc import Sequence
from itertools import zip_longest

from tesuji._core import Game, State

__all__ = ["placed"]


def placed(game: Game, first: Sequence[int], second: Sequence[int], to_play: int | None = None) -> State:
    """A state with these actions of First and of Second on the board, in which ``to_play`` (default: any) moves.

    Where the game has a pass, passes fill the gaps: so handicaps are played. ValueError where no moves lead there.
    """
    has_pass = game.locate(game.actions - 1) is None
    gap = game.actions - 1 if has_pass else None
    moves: list[int | None] = []
    for mine, theirs in zip_longest(first, second):
        moves += [gap if mine is None else mine, gap if theirs is None else theirs]
    if moves and len(first) > len(second):
        moves.pop()  # it is Second's turn
    if to_play is not None and len(moves) % 2 != to_play:
        moves.append(gap)
    if None in moves:
        counts = f"{len(first)} stones of First and {len(second)} of Second"
        raise ValueError(f"{counts} cannot come about by turns: {game.name} has no pass")
    state = game.start()
    for move in moves:
        assert move is not None
        state = state.play(move)
    wanted = {(side, action) for side, actions in enumerate((first, second)) for action in actions}
    shown = "".join(state.glyphs())
    for side, action in wanted:
        cell = game.locate(action)
        if cell is not None and shown[cell] != "XO"[side]:
            raise ValueError(
                f"the stones cannot be placed one by one: the one at {game.text(action)} would be captured"
            )
    return state
