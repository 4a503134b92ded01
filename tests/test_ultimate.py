"""Ultimate Tic-Tac-Toe by drawn positions: where one must play, what a small board is worth, and the end."""

import numpy as np
import pytest
from boards import board, check_planes, drawn, owners, picture, where

import tesuji

ULTIMATE = tesuji.game("ultimate")
COUNT = tesuji.game("ultimate-count")

# Cells of small board 0 … 8 (by rows from the top left), each by rows.
CELLS = [[(3 * (b // 3) + inner // 3) * 9 + 3 * (b % 3) + inner % 3 for inner in range(9)] for b in range(9)]


def in_boards(state: tesuji.State) -> set[int]:
    """The small boards in which there are legal moves."""
    return {b for b in range(9) if set(CELLS[b]) & set(state.legal())}


def boards_of(drawing: str) -> str:
    """A drawing of small boards, a character each, as a drawing of their cells."""
    return "\n".join("".join(3 * glyph for glyph in line) for line in drawing.split() for _ in range(3))


def joined(marks: str, won: str, whole: str) -> str:
    """Marks outside of small boards that are won, and those boards that are whole."""
    rows = zip(drawn(marks).split(), boards_of(won).split(), drawn(whole).split(), strict=True)
    return "\n".join(
        "".join(all_of if decided == "#" else mark for mark, decided, all_of in zip(*row, strict=True)) for row in rows
    )


# ── Where one must play ──


def test_first_may_open_anywhere() -> None:
    """81 cells."""
    assert ULTIMATE.start().legal() == list(range(81))


@pytest.mark.parametrize("b", range(9))
@pytest.mark.parametrize("inner", range(9))
def test_the_cell_names_the_small_board(b: int, inner: int) -> None:
    """Within an open board the reply is any free cell of it, and nothing else."""
    state = ULTIMATE.start().play(CELLS[b][inner])
    assert state.legal() == sorted(set(CELLS[inner]) - {CELLS[b][inner]})
    elsewhere = CELLS[(inner + 1) % 9][8 - inner]
    if elsewhere != CELLS[b][inner]:
        with pytest.raises(tesuji.IllegalMove, match="another small board"):
            state.play(elsewhere)


# First has just won the centre board by its centre cell, which sends Second there.
#
#     . . . | . . . | . . .
#     . O . | . . . | . . .
#     . . . | . . . | . . .
#     ------+-------+------
#     . . . | X     | . . .
#     . O . | X X X | . O .
#     . . . |       | . . .
#     ------+-------+------
#     . . . | . . . | . . .
TO_WON = "d5 b5 d6 b8 f5 h5 e5"


def test_sent_to_a_won_board_one_may_choose() -> None:
    """Any free cell of the other eight, none of the won board."""
    state = ULTIMATE.replay(TO_WON)
    taken = {ULTIMATE.parse(move) for move in ["b8", "b5", "h5"]}
    assert state.legal() == sorted(set(range(81)) - set(CELLS[4]) - taken)
    with pytest.raises(tesuji.IllegalMove, match="decided"):
        state.play("e4")
    with pytest.raises(tesuji.IllegalMove, match="taken"):
        state.play("e5")
    assert np.array_equal(state.ownership(), owners(boards_of("... .X. ...")))


def test_a_won_board_stays_closed() -> None:
    """Whoever is sent there later has the same choice, and no line in it is made twice."""
    state = ULTIMATE.replay(TO_WON).play("b2")  # the centre of the lower left board
    assert in_boards(state) == set(range(9)) - {4}


# First has just filled the upper middle board, in which nobody has a line, and sends Second there.
#
#     O X X | O X X | O O X
#     O X . | X O O |   O O
#     . O . | O O X |   X O
#     ------+-------+------
#     . O . | X X X | X X X
#     X . O |       |
#     . . O |       |   X
#     ------+-------+------
#     . O . | X X O | . X O
#     X O . | . . O | . . .
#     . . . | . . . | X . .
TO_DRAWN = (
    "f9 i8 i6 h9 d8 b6 f7 i3 h7 f3 i9 h8 e6 e8 f6 g9 c9 i7 g1 b2 d6 a8 "
    "a5 c4 h3 f8 h4 f2 g6 b7 d3 a9 b9 d7 a2 c5 h6 e7 e3 d9 b8 b3 e9"
)


def test_sent_to_a_drawn_board_one_may_choose() -> None:
    """A full board is decided too; with it three won ones are closed."""
    state = ULTIMATE.replay(TO_DRAWN)
    assert set("".join(board(state).splitlines()[row][3:6] for row in range(3))) == {"X", "O"}
    assert in_boards(state) == {0, 3, 6, 7, 8}
    free = {cell for cell, glyph in enumerate("".join(state.glyphs())) if glyph == "."}
    assert state.legal() == sorted(free)
    assert np.array_equal(state.ownership(), owners(boards_of("..O .XX ...")))


# ── What a small board is worth ──


def test_a_full_board_with_a_line_is_won() -> None:
    """First's h2 is the ninth mark of the lower right board, and makes the diagonal g1 h2 i3: won, not drawn."""
    moves = "f4 h1 d2 c6 h7 e2 f6 h9 e9 f8 i4 i2 h6 e7 d3 b7 d1 b1 i3 i7 i1 h3 f7 g3 a9 c7 g1 c1 g2 c4 h2"
    state = ULTIMATE.replay(moves)
    lower_right = [line[6:9] for line in board(state).splitlines()[6:]]
    assert lower_right == ["OOX", "XXO", "XOX"]
    before = ULTIMATE.replay(state.history[:-1])
    assert np.array_equal(before.ownership(), owners(boards_of("... ... .X.")))
    assert np.array_equal(state.ownership(), owners(boards_of("... ... .XX")))
    planes = dict(zip(ULTIMATE.plane_names(), state.planes(), strict=True))
    assert planes["small boards drawn"].sum() == 0


def test_lines_win_small_boards_and_the_game() -> None:
    """In random games a board is owned exactly by who has a line in it, and so the game; all eight lines occur."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    met: set[tuple[str, tuple[int, int, int]]] = set()

    def winners(what: str, marks: list[int]) -> set[int]:
        made = [line for line in lines if marks[line[0]] == marks[line[1]] == marks[line[2]] != 0]
        met.update((what, line) for line in made)
        return {marks[line[0]] for line in made}

    for seed in range(200):
        state = ULTIMATE.random(seed)
        marks = owners(board(state).replace(" ", "_")).ravel()
        owned = np.ravel(state.ownership())
        for cells in CELLS:
            assert len({int(owned[cell]) for cell in cells}) == 1
            assert winners("small", [int(marks[cell]) for cell in cells]) == {int(owned[cells[0]])} - {0}
        large = [int(owned[cells[0]]) for cells in CELLS]
        assert winners("large", large) == {state.result} - {0}
        made = {board for line in lines if large[line[0]] == large[line[1]] == large[line[2]] != 0 for board in line}
        assert set(state.line()) == {cell for board in made for cell in CELLS[board]}
    assert len(met) == 16


# ── The end ──


@pytest.mark.parametrize(
    ("moves", "boards", "result"),
    [
        (
            "d4 a2 b4 d1 b3 d9 c8 h5 f5 g5 b5 f6 i7 i1 h1 d3 a7 b2 e5 f4 h3 d7 c2 i5 a4 "
            "c3 h7 e2 d5 a5 c4 g1 a1 b1 e3 f9 g7 a3 b9 d8 b7 f1 g3 c7 i2 c1 h2 a9 b8",
            "XOX XXO OOX",
            1,
        ),
        (
            "i7 g1 c1 g2 b5 e4 e3 f9 i8 g4 b2 e6 f8 i5 i4 i3 i9 e5 f1 i1 i2 h6 "
            "e9 d7 b1 e2 c2 h4 f2 h5 f3 e8 b7 a9 b9 a4 a1 c6 b6 g3 b8 c5 a6 c4",
            "XOX OOO XXO",
            -1,
        ),
    ],
)
def test_the_last_open_board_can_win_the_game(moves: str, boards: str, result: int) -> None:
    """Eight boards are decided without a line; the ninth makes one, and the owners show it."""
    for game in (ULTIMATE, COUNT):
        state = game.replay(moves)
        before = game.replay(state.history[:-1])
        assert before.result is None
        assert len(in_boards(before)) == 1
        assert (state.result, state.legal()) == (result, [])
        assert np.array_equal(state.ownership(), owners(boards_of(boards)))
        with pytest.raises(tesuji.IllegalMove, match="over"):
            state.play(state.history[0])


@pytest.mark.parametrize(
    ("moves", "counted"),
    [
        (
            "h8 d4 c2 i6 h9 d9 a7 a2 c4 g1 b3 f9 g9 c9 i7 h1 f2 h6 f7 i3 b7 d3 "
            "c7 h2 f5 h4 f1 e9 e5 f6 e6 d2 a4 c1 a5 b5 e4 e2 f3 a3 b4 b2 i5 g6",
            1,
        ),
        (
            "i3 h7 d3 b7 e2 f4 h3 e8 d4 a3 a9 a8 c6 g9 c9 g8 c5 h4 f1 g2 a4 b3 e9 f7 i2 "
            "i5 h6 d9 b9 c3 i9 g7 h5 e4 c4 i1 g1 i6 d6 g5 h2 f6 g4 d5 e6 g6 f5 i4 e5",
            0,
        ),
        (
            "f4 h3 d8 b5 d6 a7 a1 c2 i4 h2 f5 g5 a6 c8 g6 b8 f6 h8 f9 g9 a9 c9 g8 b4 e1 "
            "d3 b3 d7 a3 b6 e7 d2 a2 f3 g7 i5 h6 f8 i6 i7 g3 i1 g1 d1 f7 h1 e8 d9 e9",
            -1,
        ),
    ],
)
def test_all_boards_decided_without_a_line(moves: str, counted: int) -> None:
    """A draw; `ultimate-count` gives it to who won more boards. (Found by random search.)"""
    state = ULTIMATE.replay(moves)
    assert (state.result, state.legal()) == (0, [])
    assert ULTIMATE.replay(state.history[:-1]).result is None
    assert COUNT.replay(moves).result == counted
    boards = int(np.sum(state.ownership())) // 9
    assert np.sign(boards) == counted


def test_a_line_wins_before_the_others_are_decided() -> None:
    """Most games end so; then nothing may be played, though cells are free."""
    state = ULTIMATE.random(1)
    assert state.result in (1, -1)
    assert "." in board(state)
    assert state.legal() == []


# ── Planes ──


def leading_to(state: tesuji.State) -> dict[str, str]:
    """What cells lead to, cell by cell, from the marks and the owners of small boards alone."""
    mover = 1 if state.to_play == 0 else -1
    marks = [[{"X": 1, "O": -1}.get(glyph, 0) for glyph in row] for row in state.glyphs()]
    owners = [[int(state.ownership()[3 * i, 3 * k]) for k in range(3)] for i in range(3)]
    blank = [
        ["." in "".join(row[3 * k : 3 * k + 3] for row in state.glyphs()[3 * i : 3 * i + 3]) for k in range(3)]
        for i in range(3)
    ]
    lines = [[(i, k) for k in range(3)] for i in range(3)] + [[(i, k) for i in range(3)] for k in range(3)]
    lines += [[(i, i) for i in range(3)], [(i, 2 - i) for i in range(3)]]

    def completes(three, at, player):
        """Whether a player's mark there makes a line of a board of three by three."""
        return any(at in line and all(three[i][k] == player for i, k in line if (i, k) != at) for line in lines)

    def small(i, k):
        return [row[3 * k : 3 * k + 3] for row in marks[3 * i : 3 * i + 3]]

    def wins(row, col, player):
        return completes(small(row // 3, col // 3), (row % 3, col % 3), player)

    free = [(r, c) for r in range(9) for c in range(9) if state.glyphs()[r][c] == "."]
    open_boards = [(i, k) for i in range(3) for k in range(3) if blank[i][k]]
    crowns = {player: [b for b in open_boards if completes(owners, b, player)] for player in (1, -1)}
    his = {(r // 3, c // 3) for r, c in free if wins(r, c, -mover)}
    last = his & set(crowns[-mover])

    def sent(row, col, boards):
        target = (row % 3, col % 3)
        return target in boards if target in open_boards else bool(boards)

    def drawing(cells):
        return "\n".join("".join("#" if (r, c) in cells else "." for c in range(9)) for r in range(9))

    def whole(boards):
        return drawing({(r, c) for r in range(9) for c in range(9) if (r // 3, c // 3) in boards})

    return {
        "cells that win a small board for the mover": drawing({(r, c) for r, c in free if wins(r, c, mover)}),
        "cells that win a small board for the other": drawing({(r, c) for r, c in free if wins(r, c, -mover)}),
        "small boards that would win the game for the mover": whole(crowns[mover]),
        "small boards that would win the game for the other": whole(crowns[-mover]),
        "cells that send the other anywhere": drawing({(r, c) for r, c in free if (r % 3, c % 3) not in open_boards}),
        "cells that send the other where he wins a small board": drawing({(r, c) for r, c in free if sent(r, c, his)}),
        "cells that send the other where he wins the game": drawing({(r, c) for r, c in free if sent(r, c, last)}),
    }


def test_planes_of_what_cells_lead_to() -> None:
    """In random games; each of these planes is seen with cells and without."""
    names = ULTIMATE.plane_names()
    seen: dict[str, set[bool]] = {}
    for seed in range(12):
        moves = ULTIMATE.random(seed).history
        for plies in range(0, len(moves), 3):
            state = ULTIMATE.replay(moves[:plies])
            planes = state.planes()
            for name, want in leading_to(state).items():
                plane = planes[names.index(name)]
                assert drawn(want) == picture(plane), (name, str(state))
                seen.setdefault(name, set()).add(bool(plane.any()))
    assert all(kinds == {True, False} for kinds in seen.values()), seen


def test_planes() -> None:
    """Every plane of one position with Second to move, and of the next one with First to move."""
    state = ULTIMATE.replay(TO_DRAWN)
    shown = board(state).replace(" ", "_")
    check_planes(
        state,
        {
            "own marks": where(shown, "O"),
            "other's marks": where(shown, "X"),
            "small boards that the mover won": boards_of("..# ... ..."),
            "small boards that the other won": boards_of("... .## ..."),
            "small boards drawn": boards_of(".#. ... ..."),
            "legal moves": where(shown, "."),
            "last move": "....#....\n" + ".........\n" * 8,
            **leading_to(state),
        },
    )
    marks = {"own marks": where(shown, "O"), "other's marks": where(shown, "X")}
    check_planes(state, marks, "paper")
    check_planes(
        state,
        {
            "own marks": joined(where(shown, "O"), "..# .## ...", boards_of("..# ... ...")),
            "other's marks": joined(where(shown, "X"), "..# .## ...", boards_of("... .## ...")),
            "small boards to play in": boards_of("#.. #.. ###"),
        },
        "boards",
    )

    state = state.play("f1")  # wins the lower middle board, and sends First to the lower right one
    shown = board(state).replace(" ", "_")
    check_planes(
        state,
        {
            "own marks": where(shown, "X"),
            "other's marks": where(shown, "O"),
            "small boards that the mover won": boards_of("... .## ..."),
            "small boards that the other won": boards_of("..# ... .#."),
            "small boards drawn": boards_of(".#. ... ..."),
            "legal moves": ".........\n" * 6 + "......#..\n......###\n.......##",
            "last move": ".........\n" * 8 + ".....#...",
            **leading_to(state),
        },
    )
    marks = {"own marks": where(shown, "X"), "other's marks": where(shown, "O")}
    check_planes(state, marks, "paper")
    check_planes(
        state,
        {
            "own marks": joined(where(shown, "X"), "..# .## .#.", boards_of("... .## ...")),
            "other's marks": joined(where(shown, "O"), "..# .## .#.", boards_of("..# ... .#.")),
            "small boards to play in": boards_of("... ... ..#"),
        },
        "boards",
    )
