"""NoGo by drawn positions: what is forbidden, to whom, and who has lost."""

import random

import numpy as np
import pytest
from boards import board, chain, check_planes, drawn, exchanged, neighbours, owners, place, where

import tesuji

NOGO5 = tesuji.game("nogo5")


def refusal(state: tesuji.State, move: str) -> str:
    """Why a move is refused; it must not be among the legal ones either."""
    assert move not in state.moves()
    with pytest.raises(tesuji.IllegalMove) as caught:
        state.play(move)
    return str(caught.value)


def both_ways(drawing: str) -> list[tesuji.State]:
    """The drawing with First to move, and with the players exchanged: First then has one stone more, at the star."""
    return [place(NOGO5, drawing.replace("*", "."), 0), place(NOGO5, exchanged(drawing).replace("*", "X"), 1)]


# ── Forbidden moves. Stones that bear on nothing make the counts fit. ──

CAPTURES = {
    "a stone in the centre": (
        "c2",
        """
        O...O
        ..X..
        .XOX.
        .....
        *....
        """,
    ),
    "a stone at the edge": (
        "a2",
        """
        ....O
        X....
        OX...
        .....
        ...*.
        """,
    ),
    "a stone in the corner": (
        "a2",
        """
        .....
        ...*.
        .....
        .....
        OX...
        """,
    ),
    "a stone in the far corner": (
        "d5",
        """
        ....O
        ....X
        .....
        .*...
        .....
        """,
    ),
    "a chain with a bend": (
        "c1",
        """
        O...O
        .XX.O
        XOOX.
        .XOX.
        *....
        """,
    ),
    "two chains at once": (
        "c1",
        """
        O.*.O
        .....
        .....
        .X.X.
        XO.OX
        """,
    ),
    "from a point without a liberty": (
        "a1",
        """
        O...*
        .....
        XX...
        OOX..
        .OX..
        """,
    ),
    "while joining a chain that breathes": (
        "b1",
        """
        *...O
        .....
        .....
        X....
        O.X..
        """,
    ),
}


@pytest.mark.parametrize(("move", "drawing"), CAPTURES.values(), ids=CAPTURES.keys())
def test_capture_is_forbidden(move: str, drawing: str) -> None:
    """Nobody may take the last liberty of the other's chain, wherever it lies."""
    for state in both_ways(drawing):
        assert "capture" in refusal(state, move)


SUICIDES = {
    "a stone in the corner": (
        "a1",
        """
        X...X
        *....
        .....
        O....
        .O...
        """,
    ),
    "a stone in the centre": (
        "c3",
        """
        XX.XX
        ..O..
        .O.O.
        ..O..
        *....
        """,
    ),
    "a chain that fills its last liberty": (
        "c1",
        """
        X...X
        ...*.
        .....
        OOO..
        XX.O.
        """,
    ),
    "two chains that meet in their last liberty": (
        "b1",
        """
        X...X
        ...*.
        .....
        OOO..
        X.XO.
        """,
    ),
}


@pytest.mark.parametrize(("move", "drawing"), SUICIDES.values(), ids=SUICIDES.keys())
def test_suicide_is_forbidden(move: str, drawing: str) -> None:
    """Nobody may leave his own chain without a liberty."""
    for state in both_ways(drawing):
        assert "without a liberty" in refusal(state, move)


def test_two_chains_may_meet_where_one_still_breathes() -> None:
    """As above, but the chain at c1 has a second liberty at d1."""
    for state in both_ways(
        """
        X....
        ...*.
        .....
        OOO..
        X.X..
        """
    ):
        assert "b1" in state.moves()
        assert "b1" not in state.play("b1").moves()


def test_the_last_but_one_liberty_may_be_taken() -> None:
    """Taking a liberty is no capture while the chain has another."""
    for state in both_ways(
        """
        *...O
        .....
        .XO..
        .....
        ....X
        """
    ):
        assert {"c4", "c2", "d3"} <= set(state.moves())


def test_taken_points_are_refused() -> None:
    """A stone stands there: the sentence says that, not more."""
    state = NOGO5.replay("c3 d4")
    assert "taken" in refusal(state, "c3")
    assert "taken" in refusal(state, "d4")


# ── Points for both, for one, for nobody ──


@pytest.mark.parametrize("mover", [0, 1])
def test_a_point_forbidden_to_both(mover: int) -> None:
    """At b1 each would take the last liberty of the other: a1 of First, c1 of Second."""
    drawing = """
        ....O
        .....
        .....
        O.X..
        X.OX.
    """
    state = place(NOGO5, drawing if mover == 0 else drawing.replace("....O", "....."), mover)
    assert "capture" in refusal(state, "b1")
    assert np.ravel(state.ownership())[NOGO5.parse("b1")] == 0


@pytest.mark.parametrize("mover", [0, 1])
def test_a_point_forbidden_to_one(mover: int) -> None:
    """First's eye at a1 stays First's point: Second would have no liberty there."""
    drawing = """
        ...OO
        .....
        .....
        X....
        .X...
    """
    state = place(NOGO5, drawing if mover == 0 else drawing.replace("...OO", "....O"), mover)
    assert ("a1" in state.moves()) == (mover == 0)
    alone = owners(".....\n" * 4 + "X....")
    assert np.array_equal(state.ownership(), alone)  # everywhere else both may play, or there is a stone


# ── The end ──


def test_first_loses_who_cannot_move() -> None:
    """Three moves each. At b2 First would take his own last liberty; a3 and a1 are left to Second alone."""
    drawing = """
        .OX
        O.X
        .OX
    """
    state = place(tesuji.game("nogo3"), drawing, 0)
    assert state.legal() == []
    assert state.result == -1
    assert np.array_equal(state.ownership(), owners("O..\n...\nO.."))
    with pytest.raises(tesuji.IllegalMove, match="over"):
        state.play("a3")


def test_second_loses_who_cannot_move() -> None:
    """At a2 Second would join three stones without a liberty, First would capture two; c3 is as forbidden to both."""
    drawing = """
        OX.
        .XO
        OXX
    """
    state = place(tesuji.game("nogo3"), drawing, 1)
    assert state.legal() == []
    assert state.result == 1
    assert not np.any(state.ownership())


@pytest.mark.parametrize("name", ["nogo3", "nogo4", "nogo5", "nogo6", "nogo7", "nogo9"])
def test_nobody_draws(name: str) -> None:
    """At the end the mover, whoever it is, has lost."""
    for seed in range(20):
        state = tesuji.game(name).random(seed)
        assert state.result == (-1 if state.to_play == 0 else 1)


# ── The rules once more, slowly: what drawings do not reach ──


def allowed(board: list[str], cell: int, mark: str, size: int) -> bool:
    """Whether a stone leaves every chain at hand with a liberty: its own, and those beside it."""
    then = [*board[:cell], mark, *board[cell + 1 :]]
    return all(chain(then, near, size)[1] for near in [cell, *neighbours(cell, size)] if then[near] != ".")


@pytest.mark.parametrize(("name", "games"), [("nogo3", 10), ("nogo5", 5), ("nogo7", 2)])
def test_random_games_agree_with_flood_fill(name: str, games: int) -> None:
    """Legal moves of both players, and so the owners, of whole games."""
    game = tesuji.game(name)
    size, cells = game.rows, game.rows**2
    choices = random.Random(2)
    for _ in range(games):
        state = game.start()
        while True:
            glyphs = list("".join(state.glyphs()))
            empty = [cell for cell in range(cells) if glyphs[cell] == "."]
            legal = [{cell for cell in empty if allowed(glyphs, cell, mark, size)} for mark in "XO"]
            assert state.legal() == sorted(legal[state.to_play])
            alone = [(cell in legal[0]) - (cell in legal[1]) for cell in range(cells)]
            assert np.ravel(state.ownership()).tolist() == alone
            if state.result is not None:
                break
            state = state.play(choices.choice(state.legal()))
        assert state.legal() == []


# ── Planes ──


@pytest.mark.parametrize("mover", [0, 1], ids=["First to move", "Second to move"])
def test_planes(mover: int) -> None:
    """Every plane of one position, from both sides. The star is one more stone of First when Second is to move."""
    shown = """
        .X.*.
        X.OO.
        .XXO.
        .O..X
        OX.O.
    """.replace("*", ".X"[mover])
    liberties = """
        .3.*.
        3.##.
        .33#.
        .2..3
        11.3.
    """.replace("*", ".2"[mover])  # of the chain at each stone; Second's large chain has five or six
    # F: First alone may play there, S: Second alone, B: both.
    points = """
        F.B*B
        .B..B
        B...B
        S.BB.
        ..F.B
    """.replace("*", "B."[mover])
    own, other, mine, theirs = ("X", "O", "FB", "SB") if mover == 0 else ("O", "X", "SB", "FB")
    last, before = ("b2", "b1") if mover == 0 else ("b1", "b2")
    without = shown.replace(".O..X", "....X").replace("OX.O.", "O..O.")
    state = place(NOGO5, without, mover).play(before).play(last)
    assert board(state) == drawn(shown)

    def chains(glyph: str, count: str) -> str:
        pairs = zip(where(shown, glyph), where(liberties, count), strict=True)
        return "".join("\n" if a == "\n" else "#" if a == b == "#" else "." for a, b in pairs)

    at = {"b2": ".....\n" * 3 + ".#...\n.....", "b1": ".....\n" * 4 + ".#..."}
    check_planes(
        state,
        {
            "own stones": where(shown, own),
            "other's stones": where(shown, other),
            "legal moves": where(points, mine),
            "cells where the other could play, were it his move": where(points, theirs),
            "own chains with one liberty": chains(own, "1"),
            "other's chains with one liberty": chains(other, "1"),
            "own chains with two liberties": chains(own, "2"),
            "other's chains with two liberties": chains(other, "2"),
            "last move": at[last],
            "move before it": at[before],
        },
    )
    check_planes(
        state,
        {
            "all stones": where(shown, "XO"),
            "Second's stones": where(shown, "O"),
            "First's stones": where(shown, "X"),
            "First to move (all or none)": 1.0 - mover,
        },
        "paper",
    )


def test_a_drawing_that_no_play_reaches_is_refused() -> None:
    """The helper of these tests must not draw what cannot be: counts that do not fit, or a chain without a liberty."""
    game = tesuji.game("nogo3")
    for drawing in ["X..\n...\n...", "OX.\nX..\n..O", "X..\n...\n..", "X..\n..o\n..."]:
        with pytest.raises(ValueError, match=r"no legal play|no drawing"):
            place(game, drawing, to_play=0)
