"""Go by drawn positions: captures, suicide, ko and superko, the end and the score."""

import random

import numpy as np
import pytest
from boards import board, chain, check_planes, drawn, exchanged, neighbours, owners, place, side_by_side, where

import tesuji

GO5 = tesuji.game("go5", komi=0)


def refusal(state: tesuji.State, move: str) -> str:
    """Why a move is refused; it must not be among the legal ones either."""
    assert move not in state.moves()
    with pytest.raises(tesuji.IllegalMove) as caught:
        state.play(move)
    return str(caught.value)


# ── Captures ──

CAPTURES = {
    "a stone in the centre": (
        "c2",
        """
        .....   .....
        ..X..   ..X..
        .XOX.   .X.X.
        .....   ..X..
        .....   .....
        """,
    ),
    "a stone at the edge": (
        "a2",
        """
        .....   .....
        X....   X....
        OX...   .X...
        .....   X....
        .....   .....
        """,
    ),
    "a stone in the corner": (
        "a2",
        """
        .....   .....
        .....   .....
        .....   .....
        .....   X....
        OX...   .X...
        """,
    ),
    "a stone in the far corner": (
        "d5",
        """
        ....O   ...X.
        ....X   ....X
        .....   .....
        .....   .....
        .....   .....
        """,
    ),
    "a chain with a bend": (
        "c1",
        """
        .....   .....
        .XX..   .XX..
        XOOX.   X..X.
        .XOX.   .X.X.
        .....   ..X..
        """,
    ),
    "a chain along the edge": (
        "a1",
        """
        OX...   .X...
        OX...   .X...
        OX...   .X...
        OX...   .X...
        .....   X....
        """,
    ),
    "nothing, for the chain still breathes": (
        "e5",
        """
        OOOO.   OOOOX
        O.XO.   O.XO.
        OOOO.   OOOO.
        XXXX.   XXXX.
        .....   .....
        """,
    ),
    "two chains at once": (
        "c1",
        """
        .....   .....
        .....   .....
        .....   .....
        .X.X.   .X.X.
        XO.OX   X.X.X
        """,
    ),
    "two chains of one shape, of which one has another liberty": (
        "c1",
        """
        .....   .....
        .....   .....
        .....   .....
        .X...   .X...
        XO.OX   X.XOX
        """,
    ),
    "four chains from a point without a liberty": (
        "c3",
        """
        ..X..   ..X..
        .XOX.   .X.X.
        XO.OX   X.X.X
        .XOX.   .X.X.
        ..X..   ..X..
        """,
    ),
    "what looks like suicide in the corner": (
        "a1",
        """
        .....   .....
        .....   .....
        XX...   XX...
        OOX..   ..X..
        .OX..   X.X..
        """,
    ),
    "a whole board but one point": (
        "a1",
        """
        OOOOO   .....
        OOOOO   .....
        OOOOO   .....
        OOOOO   .....
        .OOOO   X....
        """,
    ),
}


@pytest.mark.parametrize(("move", "drawing"), CAPTURES.values(), ids=CAPTURES.keys())
@pytest.mark.parametrize("mover", [0, 1], ids=["by First", "by Second"])
def test_captures(move: str, drawing: str, mover: int) -> None:
    """A chain leaves the board with its last liberty, and only then; the same with the players exchanged."""
    before, after = side_by_side(exchanged(drawing) if mover else drawing)
    assert board(place(GO5, before, mover).play(move)) == after


def test_captured_points_can_be_played_again() -> None:
    """The liberties that a capture gives back count: the capturing chain and a new stone breathe through them."""
    state = place(
        GO5,
        """
        .....
        .....
        .....
        OX...
        OX...
        """,
    )
    state = state.play("a3")
    assert board(state).endswith(".X...\n.X...")
    assert "a1" in state.moves()  # Second's stone would breathe at a2
    assert "suicide" in refusal(state.play("a1").play("pass"), "a2")


def test_snapback() -> None:
    """First throws a stone in; who captures it stands in atari himself, and superko does not protect him."""
    state = place(
        GO5,
        """
        .....
        .....
        XXX..
        OOX..
        ..X..
        """,
    )
    state = state.play("a1").play("b1")
    assert board(state).endswith("OOX..\n.OX..")
    state = state.play("a1")
    assert board(state).endswith("..X..\nX.X..")


# ── Suicide ──

SUICIDES = {
    "a stone in the corner": (
        "a1",
        """
        .....
        .....
        .....
        O....
        .O...
        """,
    ),
    "a stone in the centre": (
        "c3",
        """
        .....
        ..O..
        .O.O.
        ..O..
        .....
        """,
    ),
    "a stone at the edge": (
        "e3",
        """
        .....
        ....O
        ...O.
        ....O
        .....
        """,
    ),
    "a chain that fills its last liberty": (
        "c1",
        """
        .....
        .....
        .....
        OOO..
        XX.O.
        """,
    ),
    "two chains that meet in their last liberty": (
        "b1",
        """
        .....
        .....
        .....
        OOO..
        X.XO.
        """,
    ),
    "a board full of one's own stones": (
        "e1",
        """
        XXXXX
        XXXXX
        XXXXX
        XXXXX
        XXXX.
        """,
    ),
}


@pytest.mark.parametrize(("move", "drawing"), SUICIDES.values(), ids=SUICIDES.keys())
def test_suicide_is_refused(move: str, drawing: str) -> None:
    """Nobody may take the last liberty of his own chain without capturing."""
    assert "suicide" in refusal(place(GO5, drawing, 0), move)
    assert "suicide" in refusal(place(GO5, exchanged(drawing), 1), move)


def test_joining_a_chain_that_breathes_is_no_suicide() -> None:
    """Of the two chains that meet, one has a liberty elsewhere."""
    state = place(
        GO5,
        """
        .....
        .....
        .....
        OOO..
        X.X..
        """,
    )
    assert "b1" in state.moves()


def test_taken_points_are_refused() -> None:
    """Own stones and the other's are taken alike, and the sentence says so."""
    state = GO5.replay("c3 d4")
    assert "taken" in refusal(state, "c3")
    assert "taken" in refusal(state, "d4")


# ── Ko and superko ──

KO = """
    .....
    .XO..
    XO.O.
    .XO..
    .....
"""


def test_ko_is_refused_at_once_and_allowed_after_a_threat() -> None:
    """Retaking at once recreates the position; after a threat and its answer the board differs."""
    taken = place(GO5, KO).play("c3")
    assert board(taken) == drawn(KO).replace("XO.O.", "X.XO.")
    assert "superko" in refusal(taken, "b3")
    retaken = taken.play("e1").play("e5").play("b3")
    assert board(retaken).splitlines()[2] == "XO.O."
    assert "superko" in refusal(retaken, "c3")
    assert "c3" in retaken.play("a1").play("a5").moves()


def test_a_capture_of_two_is_no_ko() -> None:
    """Where two stones were taken, retaking one of them makes a new position."""
    state = place(
        GO5,
        """
        .....
        XXO..
        OO.O.
        XXO..
        .....
        """,
    )
    state = state.play("c3")
    assert board(state).splitlines()[2] == "..XO."
    state = state.play("b3")
    assert board(state).splitlines()[2] == ".O.O."


# Each block of three rows is a ko. First holds the upper two (Second takes at b8, b5), Second the lowest (First at c2).
TRIPLE_KO = """
    .XO......
    X.XO.....
    .XO......
    .XO......
    X.XO.....
    .XO......
    .XO......
    XO.O.....
    .XO......
"""


def test_triple_ko_ends_by_superko() -> None:
    """Each takes another ko in turn; the sixth take would close the cycle, though no ko is retaken at once."""
    start = place(tesuji.game("go9"), TRIPLE_KO, to_play=1)
    state = start
    for move in ["b8", "c2", "b5", "c8", "b2"]:
        assert move in state.moves()
        state = state.play(move)
        assert board(state) != board(start)
    assert "superko" in refusal(state, "c5")
    assert "c5" in state.play("j1").play("j9").play("pass").moves()  # with more stones it is another position


def test_sending_two_returning_one() -> None:
    """A cycle of three plies, after which the *other* is to move: positional superko forbids it all the same."""
    sent = """
        .....
        .....
        .....
        XXO..
        .O.O.
    """
    start = place(GO5, sent, to_play=1)
    state = start.play("a1").play("c1")
    assert board(state).splitlines()[4] == "..XO."
    assert "superko" in refusal(state, "b1")


def test_passes_do_not_lift_superko() -> None:
    """Two kos. A pass changes who is to move, not the position: the board of the start may not come again."""
    two = """
        .XO....
        X.XO...
        .XO....
        .......
        .XO....
        XO.O...
        .XO....
    """
    state = place(tesuji.game("go7"), two, to_play=1)
    state = state.play("b6").play("c2")
    assert "superko" in refusal(state, "b2")
    state = state.play("pass").play("c6")
    assert "superko" in refusal(state, "b2")  # the start
    assert "superko" in refusal(state, "b6")  # the position before the pass
    assert "superko" not in refusal(state, "c2")  # taken: a plainer reason comes first
    assert "b2" in state.play("g4").play("g1").moves()


def test_the_empty_board_is_an_earlier_position_that_no_move_recreates() -> None:
    """A pass at the start leaves the empty board, and every point stays playable."""
    assert GO5.replay("pass").legal() == list(range(26))


# ── Seki, score and the end ──

SEKI = """
    XXXOO
    XXXOO
    XX.OO
    XXOOO
    XX.OO
"""


@pytest.mark.parametrize("mover", [0, 1])
def test_in_seki_both_may_move_and_the_shared_liberties_are_nobodys(mover: int) -> None:
    """Who moves first loses all; both moves are legal nevertheless, and the score counts stones alone."""
    state = place(GO5, SEKI, mover)
    assert state.moves() == ["c3", "c1", "pass"]
    assert state.score == 12 - 11
    assert np.array_equal(state.ownership(), owners(SEKI))
    lost = state.play("c3").play("c1")
    assert set(board(lost)) == {"XO"[1 - mover], ".", "\n"}


def test_dead_stones_and_dame_count_as_they_stand() -> None:
    """Second's stone at a3 is lost, but until it is captured it counts, and spoils First's four points beside it."""
    standing = """
        .X.O.
        .X.O.
        OX.O.
        .X.O.
        .X.O.
    """
    state = place(GO5, standing)
    assert state.play("pass").play("pass").score == 5 - 11
    captured = state.play("a4").play("pass").play("a2").play("pass").play("pass")
    assert captured.score == 10 - 10
    assert captured.result == 0
    assert np.array_equal(captured.ownership(), owners("XX.OO\n" * 5))


@pytest.mark.parametrize(("komi", "result"), [(0, 1), (24.5, 1), (25, 0)])
def test_komi_decides_and_a_whole_number_can_draw(komi: float, result: int) -> None:
    """One stone owns all 25 points; komi is taken off."""
    state = tesuji.game("go5", komi=komi).replay("c3 pass pass")
    assert (state.score, state.result) == (25 - komi, result)


def test_komi_is_seconds() -> None:
    """On an empty board nothing but komi counts."""
    assert (tesuji.game("go5").replay("pass pass").score, tesuji.game("go5").replay("pass pass").result) == (-7.5, -1)
    assert tesuji.game("go9").replay("pass pass").score == -7
    assert tesuji.game("go9", komi=5.5).replay("pass pass").score == -5.5
    assert GO5.replay("pass pass").result == 0


def test_two_passes_end_the_game() -> None:
    """They must follow each other: a move between them starts the count again."""
    state = GO5.replay("c3 pass b2 pass")
    assert state.result is None
    assert "pass" in state.moves()
    ended = state.play("pass")
    assert ended.result == 1
    assert ended.legal() == []
    with pytest.raises(tesuji.IllegalMove, match="over"):
        ended.play("a1")


def test_the_bound_ends_the_game() -> None:
    """36 plies on 3×3 without two passes in a row: the last one ends it, by score. (Found by random search.)"""
    game = tesuji.game("go3", komi=0)
    state = game.replay(
        "a1 b1 a3 a2 c1 c2 c3 a1 b2 b3 pass c3 pass c1 pass a3 b2 c3 "
        "c1 a3 b1 c2 a1 b3 a2 a3 c2 b3 c3 b3 a3 b3 b1 a2 c1 c3"
    )
    assert len(state.history) == game.max_plies == 4 * 9
    assert game.replay(state.history[:-1]).result is None
    assert state.legal() == []
    assert board(state) == ".OO\nO..\n.XX"
    assert (state.score, state.result) == (2 - 4, -1)  # a3 is Second's as well; the others border on both


# ── The rules once more, slowly: what drawings do not reach ──


def after(board: str, cell: int, mark: str, size: int) -> str:
    """The board after a stone; nothing where it would be suicide."""
    then = list(board)
    then[cell] = mark
    for near in neighbours(cell, size):
        if then[near] not in (".", mark):
            stones, liberties = chain(then, near, size)
            for stone in stones if not liberties else ():
                then[stone] = "."
    return "".join(then) if chain(then, cell, size)[1] else ""


def area(board: str, cell: int, size: int) -> int:
    """Whose a point is: +1, −1, or 0."""
    joined, _ = chain(board, cell, size)
    seen = {board[near] for one in joined for near in neighbours(one, size)} - {"."}
    owner = seen if board[cell] == "." else {board[cell]}
    return {"X": 1, "O": -1}[owner.pop()] if len(owner) == 1 else 0


@pytest.mark.parametrize(("name", "games"), [("go3", 30), ("go5", 4), ("go7", 1)])
def test_random_games_agree_with_flood_fill(name: str, games: int) -> None:
    """Legal moves, boards, owners and scores of long games, by flood fill and a set of all earlier boards."""
    game = tesuji.game(name)
    size, cells = game.rows, game.rows**2
    choices = random.Random(1)
    repetitions = 0
    for _ in range(games):
        state, stones = game.start(), "." * cells
        earlier = {stones}
        while state.result is None:
            boards = {
                cell: after(stones, cell, "XO"[state.to_play], size) for cell in range(cells) if stones[cell] == "."
            }
            repetitions += len(earlier.intersection(boards.values()))
            legal = [cell for cell, then in boards.items() if then and then not in earlier]
            assert state.legal() == [*legal, cells]
            action = choices.choice(legal or [cells])  # passing only where nothing else is left makes games long
            state, stones = state.play(action), boards.get(action, stones)
            assert "".join(state.glyphs()) == stones
            earlier.add(stones)
            areas = [area(stones, cell, size) for cell in range(cells)]
            assert np.ravel(state.ownership()).tolist() == areas
            assert state.score == sum(areas) - game.numbers["komi"]
    assert repetitions > 0, "the games must meet superko to test it"


# ── Planes ──

SHOWN = """
    .XO.X
    XOX.O
    O..X.
    XX.OO
    .OX.O
"""
LIBERTIES = """
    .11.1
    112.2
    1..3.
    33.33
    .12.3
"""


def both(glyph: str, count: str) -> str:
    """Where SHOWN has a glyph and LIBERTIES a count."""
    pairs = zip(where(SHOWN, glyph), where(LIBERTIES, count), strict=True)
    return "".join("#" if a == b == "#" else "\n" if a == "\n" else "." for a, b in pairs)


@pytest.mark.parametrize("mover", [0, 1], ids=["First to move", "Second to move"])
def test_planes(mover: int) -> None:
    """Every plane of one position, from both sides: First may not play a5, Second may not play a1 (suicide)."""
    game = tesuji.game("go5", komi=6.5)
    own, other = "XO" if mover == 0 else "OX"
    moves = ["c1", "b1"] if mover == 0 else ["b1", "c1"]
    state = place(game, SHOWN.replace(".OX.O", "....O"), mover)
    for move in moves:
        state = state.play(move)
    assert board(state) == drawn(SHOWN)
    assert state.to_play == mover
    legal = where(SHOWN, ".")
    legal = "." + legal[1:] if mover == 0 else legal[:-5] + "." + legal[-4:]
    areas = {"X": "#" + where(SHOWN, "X")[1:], "O": where(SHOWN, "O")}  # a5 is First's
    last, before = (game.text(action) for action in (state.history[-1], state.history[-2]))
    at = {"b1": ".....\n" * 4 + ".#...", "c1": ".....\n" * 4 + "..#.."}
    tesuji_planes: dict[str, str | float] = {
        "own stones": where(SHOWN, own),
        "other's stones": where(SHOWN, other),
        "legal moves (pass apart)": legal,
        "own chains with one liberty": both(own, "1"),
        "other's chains with one liberty": both(other, "1"),
        "own chains with two liberties": both(own, "2"),
        "other's chains with two liberties": both(other, "2"),
        "own chains with three liberties": both(own, "3"),
        "other's chains with three liberties": both(other, "3"),
        "mover's area, were the game to end now": areas[own],
        "other's area, were the game to end now": areas[other],
        "last move": at[last],
        "move before it": at[before],
        "komi in the mover's favour, in units of 10 points": -0.65 if mover == 0 else 0.65,
        "1 if the other has just passed": 0.0,
    }
    check_planes(state, tesuji_planes)
    paper: dict[str, str | float] = {
        "own stones": where(SHOWN, own),
        "other's stones": where(SHOWN, other),
        "empty points": where(SHOWN, "."),
        "last move": at[last],
        "move before it": at[before],
        "legal moves": legal,
        "First to move (all or none)": 1.0 - mover,
    }
    check_planes(state, paper, "paper")


def test_planes_after_a_pass() -> None:
    """A pass is no cell: its plane is empty, a scalar tells of it, and the move before it is still seen."""
    state = tesuji.game("go5").replay("c3 pass")
    planes = dict(zip(state.game.plane_names(), state.planes(), strict=True))
    assert planes["last move"].sum() == 0
    assert planes["move before it"].sum() == planes["move before it"][2, 2] == 1
    assert planes["1 if the other has just passed"].min() == 1
    assert planes["own chains with three liberties"].sum() == 0  # the stone has four
    assert planes["mover's area, were the game to end now"].min() == 1
