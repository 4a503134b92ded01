"""The tables of GAMES.md: how many move sequences there are, and who wins."""

import math
from collections.abc import Callable, Hashable
from functools import cache
from operator import itemgetter

import numpy as np
import pytest
from boards import board
from numpy.typing import NDArray

import tesuji

# ── How many move sequences there are ──

PERFT = {
    "ultimate": [81, 720, 6336, 55080, 473256],
    "ultimate-count": [81, 720, 6336, 55080, 473256],
    "gomoku8": [64, 4032, 249984],
    "gomoku6x4": [36, 1260, 42840, 1413720],
    "gomoku3": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "nogo3": [9, 72, 496, 2832, 12768, 41328],
    "nogo5": [25, 600, 13792],
    "dots3": [24, 552, 12144, 255024],
    "dots2": [12, 132, 1320, 11880, 95040, 665280],
    "dots5": [60, 3540, 205320],
    "go9": [82, 6643, 531522],
    "go5": [26, 651, 15650, 361041],
    "go19": [362, 130683],
}


@pytest.mark.parametrize(
    ("name", "depth", "count"), [(name, i, count) for name, row in PERFT.items() for i, count in enumerate(row, 1)]
)
def test_perft(name: str, depth: int, count: int) -> None:
    """Of exactly so many plies: games that ended earlier do not count."""
    assert tesuji.game(name).perft(depth) == count


def test_perft_by_hand() -> None:
    """A full count, from any state: the longest games of Tic-Tac-Toe, and a count from the middle and from the end."""
    game = tesuji.game("gomoku3")
    assert game.perft(0) == 1
    assert game.perft(10) == 0
    middle = game.replay("b2 a3")
    assert middle.perft(3) == math.perm(7, 3)
    assert middle.perft(3) == sum(middle.play(action).perft(2) for action in middle.legal())
    ended = game.replay("a3 a2 b3 b2 c3")
    assert (ended.perft(0), ended.perft(1)) == (1, 0)


def test_perft_of_the_papers_opening() -> None:
    """24 first moves, of which each closes its class to the reply: 8·16 + 4·20 + 8·16 + 4·20."""
    game = tesuji.game("dots3-paper")
    assert [game.perft(depth) for depth in (1, 2, 3)] == [24, 416, 416 * 22]


# ── Who wins ──


def solver(key: Callable[[tesuji.State], Hashable] = board) -> Callable[[tesuji.State], int]:
    """A function that gives First's result with best play by both. States say who moves: nothing here counts plies.

    `key` says what the rest of a game depends on: a drawing tells who moves too, where nobody passes.
    """
    known: dict[Hashable, int] = {}

    def solve(state: tesuji.State) -> int:
        if state.result is not None:
            return state.result
        at = key(state)
        if at not in known:
            side = 1 if state.to_play == 0 else -1
            best = -side
            # Moves that leave the other few replies come first: they decide soonest.
            for after in sorted(map(state.play, state.legal()), key=lambda after: len(after.legal())):
                best = side * max(side * best, side * solve(after))
                if best == side:
                    break
            known[at] = best
        return known[at]

    return solve


def up_to_symmetry(game: tesuji.Game) -> Callable[[tesuji.State], Hashable]:
    """A key for games of stones: the least of the board's symmetric images."""
    images = [itemgetter(*game.permutation(symmetry).tolist()) for symmetry in range(game.symmetries)]

    def key(state: tesuji.State) -> Hashable:
        glyphs = "".join(state.glyphs())
        return min(image(glyphs) for image in images)

    return key


def test_tic_tac_toe_is_a_draw() -> None:
    """Whatever the first move; but an edge in answer to a corner loses."""
    start, solve = tesuji.game("gomoku3").start(), solver()
    assert solve(start) == 0
    assert {solve(start.play(action)) for action in start.legal()} == {0}
    assert solve(start.play("a3").play("b3")) == 1
    assert solve(start.play("a3").play("b2")) == 0


def test_nogo3_is_firsts() -> None:
    """By every opening."""
    start, solve = tesuji.game("nogo3").start(), solver()
    assert [solve(start.play(action)) for action in start.legal()] == [1] * 9


def test_nogo4_is_seconds() -> None:
    """By every opening; to b2 the reply c3 wins."""
    game = tesuji.game("nogo4")
    start, solve = game.start(), solver(up_to_symmetry(game))
    assert [solve(start.play(action)) for action in start.legal()] == [-1] * 16
    assert solve(start.play("b2").play("c3")) == -1


# ── Dots and Boxes: every set of edges ──


def box_masks(game: tesuji.Game) -> list[int]:
    """The edges of each box as bits, found by play: draw all edges but one, and see which boxes nobody owns."""
    boxes = dict.fromkeys(np.flatnonzero(game.ownable()).tolist(), 0)
    for edge in range(game.actions):
        state = game.replay([other for other in range(game.actions) if other != edge])
        for box in boxes:
            if np.ravel(state.ownership())[box] == 0:
                boxes[box] |= 1 << edge
    return list(boxes.values())


def best_margins(game: tesuji.Game) -> NDArray[np.int8]:
    """[2^edges]: the best margin for the mover over the rest of the game, for every set of drawn edges.

    A set depends only on sets with one edge more: layer by layer from the full one down, each layer at once.
    """
    edges, boxes = game.actions, box_masks(game)
    assert [box.bit_count() for box in boxes] == [4] * len(boxes)
    margins = np.zeros(1 << edges, np.int8)
    drawn = np.zeros(1, np.uint8)
    for _ in range(edges):
        drawn = np.concatenate([drawn, drawn + np.uint8(1)])
    layers = np.split(np.argsort(drawn, kind="stable").astype(np.uint32), np.cumsum(np.bincount(drawn))[:-1])
    for layer in layers[-2::-1]:
        best = np.full(len(layer), -127, np.int8)
        for edge in range(edges):
            bit = np.uint32(1 << edge)
            free = np.flatnonzero(layer & bit == 0)
            after = layer[free] | bit
            made = np.zeros(len(free), np.int8)
            for box in boxes:
                if box >> edge & 1:
                    made += after & np.uint32(box) == box
            rest = margins[after]
            best[free] = np.maximum(best[free], np.where(made > 0, made + rest, -rest))
        margins[layer] = best
    return margins


def best_margin(game: tesuji.Game) -> int:
    """First's best margin, by plain search of the game's own states: a check of the programme above."""

    @cache
    def rest(state: tesuji.State) -> float:
        """First's gain over what he has."""
        sign = 1 if state.to_play == 0 else -1
        values = [after.score - state.score + rest(after) for after in map(state.play, state.legal())]
        return sign * max(sign * value for value in values) if values else 0

    return int(rest(game.start()))


@pytest.mark.parametrize(("name", "margin"), [("dots1", -1), ("dots1x2", 0), ("dots2", 2), ("dots2x3", -2)])
def test_small_boards_of_dots(name: str, margin: int) -> None:
    """First minus Second with best play."""
    assert best_margins(tesuji.game(name))[0] == margin


@pytest.mark.parametrize(("name", "margin"), [("dots1", -1), ("dots1x2", 0), ("dots2", 2)])
def test_small_boards_of_dots_by_search(name: str, margin: int) -> None:
    """The same by our states, in which a player moves again after a box."""
    assert best_margin(tesuji.game(name)) == margin


@pytest.fixture(scope="module")
def dots3() -> NDArray[np.int8]:
    return best_margins(tesuji.game("dots3"))


def test_dots3_is_seconds_by_three(dots3: NDArray[np.int8]) -> None:
    """6 boxes to 3, whatever the first move."""
    assert dots3[0] == -3
    assert [int(dots3[1 << edge]) for edge in range(24)] == [3] * 24


def test_dots3_positive_margins(dots3: NDArray[np.int8]) -> None:
    """Of the 2²⁴ sets of edges, so many are good for the mover."""
    assert np.count_nonzero(dots3 > 0) == 13_894_652


def test_the_papers_rule_does_not_help_first(dots3: NDArray[np.int8]) -> None:
    """Second still wins by 3 after every first move, with a reply outside its class."""
    start = tesuji.game("dots3-paper").start()
    for edge in start.legal():
        replies = start.play(edge).legal()
        assert len(replies) in (16, 20)
        assert max(-int(dots3[1 << edge | 1 << reply]) for reply in replies) == 3


def test_dots3_margins_agree_with_play(dots3: NDArray[np.int8]) -> None:
    """Along random games: a state's margin is the best over its moves, of the boxes that our game gives for each."""
    game = tesuji.game("dots3")
    for seed in range(20):
        state, drawn = game.start(), 0
        for action in game.random(seed).history:
            side = 1 if state.to_play == 0 else -1
            values = []
            for move in state.legal():
                after = state.play(move)
                stays = 1 if after.to_play == state.to_play else -1
                values.append(side * (after.score - state.score) + stays * int(dots3[drawn | 1 << move]))
            assert dots3[drawn] == max(values)
            state, drawn = state.play(action), drawn | 1 << action
