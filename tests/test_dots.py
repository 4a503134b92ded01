"""Dots and Boxes by drawn positions: who owns a box, who moves again, and when it is over."""

import numpy as np
import pytest
from boards import board, check_planes, drawn, where

import tesuji

DOTS3 = tesuji.game("dots3")

# The edges of the boxes of 3×3 by GAMES.md's numbering; box 0 is at the top left.
#
#     +  0  +  1  +  2  +
#     3     4     5     6
#     +  7  +  8  +  9  +
#    10    11    12    13
#     + 14  + 15  + 16  +
#    17    18    19    20
#     + 21  + 22  + 23  +
BOXES = [
    {0, 3, 4, 7},
    {1, 4, 5, 8},
    {2, 5, 6, 9},
    {7, 10, 11, 14},
    {8, 11, 12, 15},
    {9, 12, 13, 16},
    {14, 17, 18, 21},
    {15, 18, 19, 22},
    {16, 19, 20, 23},
]
# The orbits of the square's symmetries: dots3-paper's classes.
CLASSES = [{0, 2, 3, 6, 17, 20, 21, 23}, {1, 10, 13, 22}, {4, 5, 7, 9, 14, 16, 18, 19}, {8, 11, 12, 15}]


# ── The numbering ──


@pytest.mark.parametrize("box", range(9))
def test_each_box_has_its_four_edges(box: int) -> None:
    """Whichever edge comes last, it completes this box, and until then nobody owns it."""
    for last in BOXES[box]:
        state = DOTS3.replay(sorted(BOXES[box] - {last}))
        assert not np.any(state.ownership())
        owner = np.zeros((7, 7), np.int8)
        owner[2 * (box // 3) + 1, 2 * (box % 3) + 1] = -1  # the fourth ply is Second's
        assert np.array_equal(state.play(last).ownership(), owner)


def test_every_edge_lies_on_the_grid_of_dots_edges_and_boxes() -> None:
    """By rows from the top, where one coordinate is odd and the other even."""
    expected = [row * 7 + col for row in range(7) for col in range(7) if row % 2 != col % 2]
    assert [DOTS3.locate(edge) for edge in range(24)] == expected


def test_texts() -> None:
    """A number, or h or v with row and column from 0 at the top left."""
    across = [f"h {row} {col}" for row in range(4) for col in range(3)]
    down = [f"v {row} {col}" for row in range(3) for col in range(4)]
    assert [DOTS3.parse(text) for text in across] == [0, 1, 2, 7, 8, 9, 14, 15, 16, 21, 22, 23]
    assert [DOTS3.parse(text) for text in down] == [3, 4, 5, 6, 10, 11, 12, 13, 17, 18, 19, 20]
    assert [DOTS3.text(edge) for edge in range(24)] == [str(edge) for edge in range(24)]
    assert DOTS3.replay("h 0 0, v 2 3, 8").history == [0, 20, 8]


@pytest.mark.parametrize("name", ["dots1", "dots1x2", "dots2", "dots2x3", "dots3", "dots3x4", "dots4", "dots5"])
def test_texts_of_other_sizes(name: str) -> None:
    """Horizontal and vertical texts name every edge once; one row or column further there is none."""
    game = tesuji.game(name)
    rows, cols = game.rows // 2, game.cols // 2
    across = [f"h {row} {col}" for row in range(rows + 1) for col in range(cols)]
    down = [f"v {row} {col}" for row in range(rows) for col in range(cols + 1)]
    assert sorted(game.parse(text) for text in across + down) == list(range(game.actions))
    for text in [f"h {rows + 1} 0", f"h 0 {cols}", f"v {rows} 0", f"v 0 {cols + 1}"]:
        with pytest.raises(ValueError, match="is not a move"):
            game.parse(text)


@pytest.mark.parametrize(
    "text",
    ["24", "-1", "-0", "+1", "1.5", "1e1", "0x1", "h", "v 0", "h 0 0 0", "h -0 0", "h 0,0", "x 0 0", "h a b", "a1"],
)
def test_what_is_no_edge_is_refused(text: str) -> None:
    """A number is digits and nothing else."""
    with pytest.raises(ValueError, match="is not a move"):
        DOTS3.parse(text)


# ── Boxes and turns ──


def test_no_box_passes_the_turn() -> None:
    """An edge that completes nothing is the other's turn."""
    states = [DOTS3.replay(moves) for moves in ["", "0", "0 8", "0 8 23"]]
    assert [state.to_play for state in states] == [0, 1, 0, 1]


def test_a_box_gives_another_move() -> None:
    """Second completes the box at the top left and stays on move, as after a second box; the next edge passes it on."""
    state = DOTS3.replay("0 3 4 7")
    assert (state.to_play, state.score) == (1, -1)
    state = state.play(1).play(5)
    assert state.to_play == 1
    state = state.play(8)
    assert (state.to_play, state.score) == (1, -2)
    assert state.play(23).to_play == 0


def test_one_edge_can_complete_two_boxes() -> None:
    """Edge 4 lies between the first two boxes; both go to First, with one more move."""
    state = DOTS3.replay("0 3 7 1 5 8")
    assert (state.to_play, state.score) == (0, 0)
    state = state.play(4)
    assert board(state) == drawn(
        """
        +-+-+.+
        |X|X| .
        +-+-+.+
        . . . .
        +.+.+.+
        . . . .
        +.+.+.+
        """
    )
    assert (state.to_play, state.score) == (0, 2)


@pytest.mark.parametrize("seed", range(20))
def test_the_mover_changes_exactly_without_a_box(seed: int) -> None:
    """In whole games; and the last edge, which always completes a box, ends the game."""
    state = DOTS3.start()
    for action in DOTS3.random(seed).history:
        after = state.play(action)
        gained = (after.score or 0) - (state.score or 0)
        assert (after.to_play != state.to_play) == (gained == 0)
        assert gained == 0 or (gained > 0) == (state.to_play == 0)
        state = after
    assert gained != 0
    assert np.count_nonzero(state.ownership()) == 9
    assert (state.legal(), state.result) == ([], np.sign(state.score))


def test_there_is_no_move_after_the_last_box() -> None:
    """The last edge makes a box, but there is nothing left to draw: it is over, whoever is said to be on move."""
    state = tesuji.game("dots1").replay("0 1 2 3")
    assert (state.result, state.score, state.legal()) == (-1, -1, [])
    with pytest.raises(tesuji.IllegalMove, match="over"):
        state.play(0)


def test_a_drawn_edge_is_refused() -> None:
    """An edge is drawn once."""
    with pytest.raises(tesuji.IllegalMove, match="drawn"):
        DOTS3.replay("8").play(8)


def test_equal_scores_draw() -> None:
    """Possible with an even number of boxes: two each, eight each. (Found by random search.)"""
    two = tesuji.game("dots2").replay("5 9 10 0 1 6 8 7 11 4 3 2")
    assert board(two) == drawn(
        """
        +-+-+
        |X|X|
        +-+-+
        |O|O|
        +-+-+
        """
    )
    assert (two.score, two.result) == (0, 0)
    four = tesuji.game("dots4").replay(
        "7 26 38 34 11 37 14 16 0 1 13 3 33 6 4 19 27 17 18 36 39 12 10 22 28 29 20 31 21 8 9 25 2 15 24 5 23 35 30 32"
    )
    assert (four.score, four.result) == (0, 0)


# ── Ending early ──


@pytest.mark.parametrize(
    ("name", "moves", "score"),
    [
        ("dots2", "5 10 7 9 4 8 1 11 6 3", -3),
        ("dots2", "6 0 9 7 10 11 8 2 3 5", 3),
        ("dots3", "12 5 4 18 14 21 8 7 6 1 15 9 17 10 3 11 0", -5),
        ("dots3", "16 12 5 13 17 21 15 18 11 7 20 10 8 9 22 2 19 14", 5),
        ("dots2x3", "3 15 14 9 0 12 10 11 4 16 8 13 7", 4),
    ],
)
def test_early_end(name: str, moves: str, score: int) -> None:
    """It ends with the box that makes more than half, edges being left; without the option it goes on."""
    game = tesuji.game(name, early_end=1)
    state = game.replay(moves)
    assert (state.score, state.result, state.legal()) == (score, np.sign(score), [])
    assert len(state.history) < game.actions
    assert game.replay(state.history[:-1]).result is None
    free = tesuji.game(name).replay(moves)
    assert free.result is None
    assert len(free.legal()) == game.actions - len(state.history)


def test_exactly_half_does_not_end_early() -> None:
    """Two of four boxes may still end in a draw."""
    state = tesuji.game("dots2", early_end=1).replay("0 1 2 4 7 9 10 11 3 5 6")
    assert state.score == -2
    assert (state.result, state.legal()) == (None, [8])
    assert state.play(8).result == -1


# ── The paper's rule ──


def test_the_classes_are_the_orbits() -> None:
    """What the rule calls alike is what the symmetries of the board carry to each other."""
    for edge in range(24):
        orbit = {int(DOTS3.permutation(symmetry)[edge]) for symmetry in range(DOTS3.symmetries)}
        assert orbit in CLASSES


@pytest.mark.parametrize("edge", range(24))
def test_the_papers_rule(edge: int) -> None:
    """Second's first move may not lie in the class of First's; from the third ply on all is free."""
    game = tesuji.game("dots3-paper")
    every = set(range(24))
    forbidden = next(orbit for orbit in CLASSES if edge in orbit)
    state = game.start().play(edge)
    assert game.start().legal() == sorted(every)
    assert state.legal() == sorted(every - forbidden)
    for copy in forbidden - {edge}:
        with pytest.raises(tesuji.IllegalMove, match="first move"):
            state.play(copy)
    for reply in state.legal():
        assert state.play(reply).legal() == sorted(every - {edge, reply})


def test_the_free_game_has_no_such_rule() -> None:
    """In dots3 every edge answers every edge."""
    for edge in range(24):
        assert len(DOTS3.start().play(edge).legal()) == 23


# ── Planes ──


@pytest.mark.parametrize(("name", "moves"), [("dots3", ""), ("dots3", "11"), ("dots3-paper", "11")])
def test_planes(name: str, moves: str) -> None:
    """Every plane of a position with Second to move, and of the next one with First to move; Second leads by a box."""
    state = tesuji.game(name).replay(f"0 4 3 7 23 20 19 16 1 5 10 8 {moves}")
    shown = """
        +-+-+.+
        |O|O| .
        +-+-+.+
        | * . .
        +.+.+-+
        . . |X|
        +.+.+-+
    """.replace("*", "|" if moves else ".")
    # Of a box that nobody owns: its edges that are drawn.
    counts = """
        .......
        .....1.
        .......
        .A.B.1.
        .......
        .0.1...
        .......
    """
    counts = counts.replace("A", "3").replace("B", "2") if moves else counts.replace("A", "2").replace("B", "1")
    assert board(state) == drawn(shown)
    own, other = "XO" if moves else "OX"
    assert state.to_play == (0 if moves else 1)
    check_planes(
        state,
        {
            "drawn edges": where(shown, "-|"),
            "legal moves": where(shown, "."),
            "own boxes": where(shown, own),
            "other's boxes": where(shown, other),
            "boxes with no edge yet": where(counts, "0"),
            "boxes with one edge": where(counts, "1"),
            "boxes with two edges": where(counts, "2"),
            "boxes with three edges (to be taken)": where(counts, "3"),
            "mover's lead, as a share of the boxes": np.float32(-1 / 9 if moves else 1 / 9),
            "1 where an odd number of turns is left, but for double boxes": float(bool(moves)),
        },
    )


def test_the_legal_plane_shows_the_papers_rule() -> None:
    """After First's corner edge 0 its class is closed to Second, and to nobody afterwards."""
    game = tesuji.game("dots3-paper")
    plane = game.plane_names().index("legal moves")
    cells = [game.locate(edge) for edge in range(24)]
    for state in [game.replay("0"), game.replay("0 1")]:
        shown = np.flatnonzero(state.planes()[plane].ravel()).tolist()
        assert shown == [cells[edge] for edge in state.legal()]


def test_boxes_alone_can_be_owned() -> None:
    """Dots and edges have no owner."""
    assert where("\n".join("".join(map(str, row)) for row in DOTS3.ownable()), "1") == drawn(
        """
        .......
        .#.#.#.
        .......
        .#.#.#.
        .......
        .#.#.#.
        .......
        """
    )


def test_lead_counts_for_the_mover() -> None:
    """In random games a plane is the mover's share of the lead, whoever moves, and the last counts what is left."""
    for seed in range(5):
        moves = DOTS3.random(seed).history
        for plies in range(len(moves)):
            state = DOTS3.replay(moves[:plies])
            lead = (state.score or 0) * (1 if state.to_play == 0 else -1)
            planes = state.planes()
            assert np.all(planes[-2] == np.float32(lead / 9))
            made = np.count_nonzero(state.ownership())
            assert np.all(planes[-1] == (24 - plies + 9 - made) % 2)
