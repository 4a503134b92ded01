"""Gomoku by drawn positions: which rows of stones win, and which do not."""

from collections.abc import Iterator
from functools import cache

import pytest
from boards import board, check_planes, drawn, place, where

import tesuji

# Name, stones in a row that win.
GAMES = [("gomoku3", 3), ("gomoku6x4", 4), ("gomoku8", 5), ("gomoku15", 5)]


def lines(size: int, length: int) -> Iterator[list[int]]:
    """Every straight line of so many cells: along rows, columns and both diagonals."""
    for down, right in [(0, 1), (1, 0), (1, 1), (1, -1)]:
        for row in range(size):
            for col in range(size):
                if row + down * (length - 1) < size and 0 <= col + right * (length - 1) < size:
                    yield [(row + i * down) * size + col + i * right for i in range(length)]


@cache
def winning_sets(size: int, length: int) -> list[set[int]]:
    return [set(line) for line in lines(size, length)]


def played(game: tesuji.Game, stones: list[int], by: int) -> tesuji.State:
    """The state after a player has put these stones, the other as many as must be, too few or too scattered to win."""
    wins = winning_sets(game.rows, dict(GAMES)[game.name])
    others: list[int] = []
    for cell in range(game.actions):
        if len(others) == len(stones) - 1 + by:
            break
        if cell not in stones and not any(line <= {*others, cell} for line in wins):
            others.append(cell)
    first, second = (stones, others) if by == 0 else (others, stones)
    moves = [move for pair in zip(first, [*second, -1], strict=False) for move in pair]
    return game.replay(moves[: len(first) + len(second)])


@pytest.mark.parametrize(("name", "length"), GAMES)
@pytest.mark.parametrize("player", [0, 1], ids=["First", "Second"])
def test_every_line_wins_with_its_last_stone(name: str, length: int, player: int) -> None:
    """All lines of the board, at edges and corners too, and not a stone earlier."""
    game = tesuji.game(name)
    every = list(lines(game.rows, length))
    size = game.rows
    assert len(every) == 2 * size * (size - length + 1) + 2 * (size - length + 1) ** 2
    if name == "gomoku15":
        every = every[:: 1 if player == 0 else 7]  # many, and alike
    for line in every:
        state = played(game, line, player)
        assert state.result == (1 if player == 0 else -1)
        assert state.legal() == []
        assert state.line() == sorted(line)
        assert game.replay(state.history[:-1]).result is None
        assert game.replay(state.history[:-1]).line() == []
        with pytest.raises(tesuji.IllegalMove, match="over"):
            state.play(0)


@pytest.mark.parametrize(("name", "length"), GAMES)
def test_no_line_goes_round_the_edge(name: str, length: int) -> None:
    """From a row's end to the next row's beginning, from a column's foot to the next head, and along diagonals."""
    game = tesuji.game(name)
    size, cells = game.rows, game.rows**2
    straight = {frozenset(line) for line in lines(size, length)}
    rows = list(range(cells))
    columns = [row * size + col for col in range(size) for row in range(size)]
    wrapped = set()
    for order, step in [(rows, 1), (rows, size - 1), (rows, size), (rows, size + 1), (columns, 1)]:
        for begin in range(cells):
            line = frozenset(order[(begin + i * step) % cells] for i in range(length))
            if len(line) == length and line not in straight:
                wrapped.add(line)
    assert len(wrapped) > 4 * (length - 1)
    for line in list(wrapped)[:: 1 if size < 15 else 5]:
        assert played(game, sorted(line), 0).result is None


def test_one_stone_too_few_does_not_win() -> None:
    """Four in each direction on the board of five in a row, each hemmed in or not."""
    state = place(
        tesuji.game("gomoku8"),
        """
        XXXXOOOO
        O.OO....
        X..X...X
        X...X.X.
        X....X..
        X...X.X.
        O.......
        OOOO.OOO
        """,
    )
    assert state.result is None
    assert [move for move in state.moves() if state.play(move).result == 1] == ["d2", "h2"]


@pytest.mark.parametrize("gap", ["XXX.XX", "XX.XXX", "XXXX.X", "X.XXXX"])
def test_six_in_a_row_win(gap: str) -> None:
    """Freestyle: an overline is as good as five."""
    state = place(tesuji.game("gomoku8"), f"........\n.{gap}.\nO.O.O.O.\n........\n.O......" + "\n........" * 3)
    assert state.result is None
    state = state.play("bcdefg"[gap.index(".")] + "7")
    assert board(state).splitlines()[1] == ".XXXXXX."
    assert state.result == 1
    assert state.line() == [9, 10, 11, 12, 13, 14]


def test_nine_in_a_row_win() -> None:
    """The longest overline there can be: four on each side of the last stone."""
    row = "...XXXX.XXXX..."
    other = "O.O.O.O.O.O.O.O"
    state = place(tesuji.game("gomoku15"), "\n".join([other, row] + ["." * 15] * 13), to_play=0)
    assert state.play("h14").result == 1


def test_two_lines_at_once_win() -> None:
    """One stone may complete a row and a column; it is one win like any other."""
    state = place(
        tesuji.game("gomoku6x4"),
        """
        .XXX..
        X.....
        X..O.O
        X.....
        .O.O.O
        .O....
        """,
    )
    assert state.play("a6").result == 1
    assert state.play("e6").result == 1
    assert state.play("a2").result == 1
    assert state.play("f6").result is None


DRAWS = {
    "gomoku3": """
        XOX
        XOO
        OXX
    """,
    "gomoku6x4": """
        XXOOXX
        OOXXOO
        XXOOXX
        OOXXOO
        XXOOXX
        OOXXOO
    """,
    "gomoku8": """
        XXOOXXOO
        OOXXOOXX
        XXOOXXOO
        OOXXOOXX
        XXOOXXOO
        OOXXOOXX
        XXOOXXOO
        OOXXOOXX
    """,
}


@pytest.mark.parametrize(("name", "drawing"), DRAWS.items(), ids=DRAWS.keys())
def test_a_full_board_without_a_line_is_drawn(name: str, drawing: str) -> None:
    """Only the last stone ends it."""
    game = tesuji.game(name)
    state = place(game, drawing, to_play=game.actions % 2)
    assert state.result == 0
    assert state.legal() == []
    assert game.replay(state.history[:-1]).result is None


@pytest.mark.parametrize(
    ("name", "drawing", "result"),
    [
        (
            "gomoku3",
            """
            XOO
            OXX
            XOX
            """,
            1,
        ),
        (
            "gomoku6x4",
            """
            XXOOXX
            OOXXOO
            XXOOXX
            OOXXOO
            XXOOXX
            OOOOXX
            """,
            -1,
        ),
    ],
)
def test_the_last_cell_can_win(name: str, drawing: str, result: int) -> None:
    """A line that the last stone of a full board completes is a win, not a draw."""
    game = tesuji.game(name)
    state = place(game, drawing, to_play=game.actions % 2)
    assert len(state.history) == game.actions
    assert state.result == result


def test_taken_cells_are_refused() -> None:
    """Nothing else is ever forbidden before the end."""
    state = tesuji.game("gomoku8").replay("d4 e5")
    assert len(state.legal()) == 62
    for move in ["d4", "e5"]:
        with pytest.raises(tesuji.IllegalMove, match="taken"):
            state.play(move)


def test_columns_do_not_skip_the_letter_i() -> None:
    """Unlike Go: column nine of fifteen is i, the last is o."""
    game = tesuji.game("gomoku15")
    assert game.text(8) == "i15"
    assert game.text(224) == "o1"


@pytest.mark.parametrize("mover", [0, 1], ids=["First to move", "Second to move"])
def test_planes(mover: int) -> None:
    """Every plane of one position, from both sides; the last moves are f1 and a6."""
    earlier = """
        .....*
        .XO...
        .OX...
        ......
        ...X..
        ......
    """.replace("*", "O."[mover])
    shown = f"X{drawn(earlier)[1:-1]}O"
    corners = {"f1": "......\n" * 5 + ".....#", "a6": "#.....\n" + "......\n" * 5}
    last, before = ("f1", "a6") if mover == 0 else ("a6", "f1")
    state = place(tesuji.game("gomoku6x4"), earlier, mover).play(before).play(last)
    assert board(state) == drawn(shown)
    own, other = "XO" if mover == 0 else "OX"
    check_planes(
        state,
        {
            "own stones": where(shown, own),
            "other's stones": where(shown, other),
            "legal moves (empty cells)": where(shown, "."),
            "last move": corners[last],
            "move before it": corners[before],
        },
    )
    check_planes(state, {"own stones": where(shown, own), "other's stones": where(shown, other)}, "paper")


def test_planes_at_the_start_and_at_the_end() -> None:
    """Before the first move there is no last one; after the end there are no legal ones."""
    game = tesuji.game("gomoku3")
    empty, full, none = "###\n###\n###", "###\n##.\n...", "...\n...\n..."
    names = game.plane_names()
    check_planes(game.start(), dict(zip(names, [none, none, empty, none, none], strict=True)))
    won = game.replay("a3 a2 b3 b2 c3")
    assert where(board(won), "XO") == full
    seconds, firsts = where(board(won), "O"), where(board(won), "X")
    check_planes(won, dict(zip(names, [seconds, firsts, none, "..#\n...\n...", "...\n.#.\n..."], strict=True)))
