"""Drawn boards: X is First's, O is Second's, a point is empty; row 1 is the last line, as on the screen."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tesuji import Game, State


def drawn(drawing: str) -> str:
    """A drawing without its margins, to compare with `board` or `picture`."""
    return "\n".join(line.strip() for line in drawing.strip().splitlines())


def side_by_side(drawing: str) -> list[str]:
    """Drawings that stand side by side, with blanks between them."""
    return ["\n".join(rows) for rows in zip(*(line.split() for line in drawn(drawing).splitlines()), strict=True)]


def exchanged(drawing: str) -> str:
    """A drawing with First's stones and Second's exchanged."""
    return drawing.translate(str.maketrans("XO", "OX"))


def board(state: State) -> str:
    """The rows of glyphs of a state, as a drawing."""
    return "\n".join(state.glyphs())


def picture(plane: NDArray[np.float32]) -> str:
    """A binary plane as a drawing: # is 1, a point is 0."""
    assert set(np.unique(plane)) <= {0, 1}, "a plane holds zeros and ones"
    return "\n".join("".join("#" if value else "." for value in row) for row in plane)


def where(drawing: str, glyphs: str) -> str:
    """A drawing of # where the given one has one of these glyphs."""
    return "\n".join("".join("#" if glyph in glyphs else "." for glyph in line) for line in drawn(drawing).splitlines())


def owners(drawing: str) -> NDArray[np.int8]:
    """A drawing as an ownership: +1 for X, −1 for O, 0 elsewhere."""
    values = [[{"X": 1, "O": -1}.get(glyph, 0) for glyph in line] for line in drawn(drawing).splitlines()]
    return np.array(values, dtype=np.int8)


def place(game: Game, drawing: str, to_play: int = 0) -> State:
    """A state that shows the drawing, reached by legal play.

    Where the chains of a drawing breathe, so do those of every part of it (a chain of the part is whole, or beside a
    cell that is still empty): in Go and NoGo any order is legal. In Gomoku the last move alone may complete a line:
    hence each stone of the last mover is tried as the last.
    """
    cells = "".join(drawn(drawing).split())
    if len(cells) != game.rows * game.cols or set(cells) - set("XO."):
        raise ValueError(f"that is no drawing of {game.rows} × {game.cols} cells of X, O and .")
    stones = {
        player: [game.text(cell) for cell, glyph in enumerate(cells) if glyph == mark]
        for player, mark in enumerate("XO")
    }
    for last in stones[1 - to_play] or [None]:
        try:
            state = game.replay(_order(stones, to_play, last))
        except ValueError:  # an illegal move, or a pass where there is none
            continue
        if "".join(state.glyphs()) == cells and state.to_play == to_play:
            return state
    raise ValueError(f"no legal play of {game.name} leads to\n{drawn(drawing)}")


def _order(stones: Mapping[int, list[str]], to_play: int, last: str | None) -> list[str]:
    """The stones in alternating order, `last` at the end, with passes where a player has none left.

    It is made from the end backwards, so that the passes fall to the beginning, never two in a row.
    """
    left = {player: sorted(moves, key=lambda move: move == last) for player, moves in stones.items()}
    backwards = []
    player = 1 - to_play
    while left[0] or left[1]:
        backwards.append(left[player].pop() if left[player] else "pass")
        player = 1 - player
    if player == 0:  # the earliest ply would be Second's
        backwards.append("pass")
    return backwards[::-1]


def chain(board: Sequence[str], cell: int, size: int) -> tuple[set[int], set[int]]:
    """The cells joined to a cell that hold the same glyph, and of a chain of stones its liberties: plain flood fill."""
    stones, liberties, todo = {cell}, set(), [cell]
    while todo:
        for near in neighbours(todo.pop(), size):
            if board[near] == board[cell] and near not in stones:
                stones.add(near)
                todo.append(near)
            elif board[near] == ".":
                liberties.add(near)
    return stones, liberties


def neighbours(cell: int, size: int) -> list[int]:
    """The cells beside a cell of a square board."""
    row, col = divmod(cell, size)
    beside = [(row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)]
    return [r * size + c for r, c in beside if 0 <= r < size and 0 <= c < size]


def check_planes(state: State, expected: Mapping[str, str | float], encoding: str = "tesuji") -> None:
    """Asserts every plane of an encoding by name: against a drawing of # and ., or against a number that fills it."""
    names = state.game.plane_names(encoding)
    planes = state.planes(encoding)
    assert planes.dtype == np.float32
    assert planes.shape == (len(names), state.game.rows, state.game.cols)
    assert sorted(names) == sorted(expected)
    for name, plane in zip(names, planes, strict=True):
        want = expected[name]
        if isinstance(want, str):
            assert picture(plane) == drawn(want), name
        else:
            assert np.array_equal(plane, np.full_like(plane, want)), name
