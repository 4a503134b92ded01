"""Openings for matches: varied, distinct up to symmetry, and not already decided.

Random play is a weak judge of that. Where it fails (most random openings of Gomoku are won for whom they favour), the
game has a book: openings that a strong player called even, in ``books/GAME.txt``, made by ``tools/book.py``.
"""

import random
from collections.abc import Iterator
from pathlib import Path

from tesuji._core import Game, State

__all__ = ["book", "default_plies", "form", "openings"]

_TRIES = 60  # positions looked at for one opening before the demands are lowered
_PLAYOUTS = 200
_BOUND = 0.35  # how far the mean result of random play may lie from that at the start


def default_plies(game: Game) -> int:
    """How many random plies suit a game of that size."""
    return 2 if game.actions < 30 else 4 if game.actions < 100 else 6


def book(game: Game, seed: int) -> tuple[str, ...]:
    """The openings of a game's book as texts, in an order by chance; none where it has no book."""
    path = Path(__file__).parent / "books" / f"{game.name}.txt"
    if not path.is_file():
        return ()
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    random.Random(f"book {seed}").shuffle(lines)
    return tuple(lines)


def openings(game: Game, plies: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Openings without end, as moves; the same for the same seed.

    An opening is a number of random plies on the board. It is fresh (no symmetry carries it to an earlier one) and
    balanced (random play from it goes about as from the start) where that can be had; else it is the least used and
    best balanced of those tried. A small game has few openings, and they come again.
    """
    chance = random.Random(f"openings {seed}")
    usual = _mean(game.start())
    used: dict[object, int] = {}
    leans: dict[object, float] = {}
    while True:
        best: tuple[int, float] | None = None
        chosen: tuple[State, object] | None = None
        for attempt in range(_TRIES):
            # The last tries are shorter, in case that many plies always end the game.
            state = _random_plies(game, min(plies, _TRIES - 1 - attempt), chance)
            if state.result is not None:
                continue
            key = form(state)
            if key not in leans:
                leans[key] = abs(_mean(state) - usual)
            rank = used.get(key, 0), leans[key]
            if best is None or rank < best:
                best, chosen = rank, (state, key)
            if rank[0] == 0 and rank[1] <= _BOUND:
                chosen = state, key
                break
        assert chosen is not None  # the last attempt is the start itself
        state, key = chosen
        used[key] = used.get(key, 0) + 1
        yield tuple(game.text(action) for action in state.history)


def _random_plies(game: Game, plies: int, chance: random.Random) -> State:
    """A state after random moves on the board: a pass is no opening."""
    state = game.start()
    for _ in range(plies):
        actions = [action for action in state.legal() if game.locate(action) is not None]
        if not actions:
            break
        state = state.play(chance.choice(actions))
    return state


def _mean(state: State) -> float:
    return float(state.playouts(_PLAYOUTS, seed=1).mean())


def form(state: State) -> object:
    """Equal for states that a symmetry carries to each other, by what is on the board and may be played next."""
    images = (state.carried(symmetry) for symmetry in range(state.game.symmetries))
    return min(("".join(image.glyphs()), image.to_play, tuple(image.legal())) for image in images)
