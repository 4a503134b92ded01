"""How GTP names the points of a board: a column letter (I is skipped, in every game) and a row from the bottom."""

import re

from tesuji._core import Game

__all__ = ["COLOURS", "COLUMNS", "has_vertices", "vertices"]

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
COLOURS = "BW"  # First's and Second's


def has_vertices(game: Game) -> bool:
    """Whether GTP has words for a game: Go, NoGo and Gomoku."""
    return re.fullmatch(r"(go|nogo|gomoku)\d+(x\d+)?", game.name) is not None and game.rows == game.cols


def vertices(game: Game) -> list[str]:
    """[actions]: the name of each; a move off the board is PASS."""
    names = []
    for action in range(game.actions):
        cell = game.locate(action)
        row, col = divmod(cell or 0, game.cols)
        names.append("PASS" if cell is None else f"{COLUMNS[col]}{game.rows - row}")
    return names
