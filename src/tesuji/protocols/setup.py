"""Positions that other programs tell otherwise than we do: stones without moves, and a side that moves twice.

Our states come about by moves alone, and in these games the sides alternate: here moves are found that lead there.
"""

from collections.abc import Sequence
from itertools import zip_longest

from tesuji._core import Game, State

__all__ = ["pass_of", "placed", "turned"]


def pass_of(game: Game) -> int | None:
    """The action that is a pass, where there is one."""
    last = game.actions - 1
    return last if game.locate(last) is None else None


def turned(state: State, side: int) -> State:
    """The state with that side to play: where there is a pass, who is left out has passed. ValueError elsewhere."""
    game, history = state.game, state.history
    gap = pass_of(game)
    if state.result is not None:
        if history[-2:] != [gap, gap]:
            raise ValueError("the game is over")
        # Two passes ended it, and yet it goes on: as if they had not been.
        history = history[:-2]
        state = game.replay(history)
    if state.to_play == side:
        return state
    if gap is None:
        raise ValueError(f"it is {('Black', 'White')[state.to_play]}'s turn: in {game.name} the sides alternate")
    # A second pass in a row would end the game: then neither has been.
    return game.replay(history[:-1]) if history[-1:] == [gap] else state.play(gap)


def placed(game: Game, first: Sequence[int], second: Sequence[int], to_play: int | None = None) -> State:
    """A state with these actions of First and of Second on the board, in which ``to_play`` (default: any) moves.

    Where the game has a pass, passes fill the gaps: so handicaps are played. ValueError where no moves lead there.
    """
    gap = pass_of(game)
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
