"""A readable transcript of one random game.

One a game is kept under ``tests/playthroughs`` and compared by a test: a change of rules shows as a difference.
"""

from collections.abc import Iterator

from tesuji._core import Game, State

__all__ = ["playthrough"]


def playthrough(game: Game, seed: int) -> str:
    """The transcript of the random game of that seed."""
    return "\n".join(_lines(game, seed)) + "\n"


def _lines(game: Game, seed: int) -> Iterator[str]:
    end = game.random(seed)
    moves = [game.text(action) for action in end.history]
    yield f"# {game.title} ({game.name}, version {game.version})"
    yield f"grid {game.rows} × {game.cols}, look {game.look}, {game.symmetries} symmetries"
    yield f"actions {game.actions}, longest game {game.max_plies}, rule numbers {game.numbers}"
    for encoding in game.encodings:
        yield f"planes ({encoding})"
        yield from (f"  {number:2} {name}" for number, name in enumerate(game.plane_names(encoding)))
    yield ""
    yield f"seed {seed}, {len(moves)} plies"
    for start in range(0, len(moves), 20):
        yield f"  {start + 1:4}  " + " ".join(moves[start : start + 20])

    state, plies = game.start(), 0
    shown = {0, 1, len(moves) // 2, len(moves) - 1, len(moves)}
    while True:
        if plies in shown:
            yield ""
            yield f"## After {plies} plies" + (f": {moves[plies - 1]}" if plies else "")
            yield from _position(state, planes=plies in (len(moves) // 2, len(moves) - 1))
        if plies == len(moves):
            return
        state = state.play(moves[plies])
        plies += 1


def _position(state: State, *, planes: bool) -> Iterator[str]:
    yield from str(state).splitlines()
    legal = state.moves()
    yield f"{len(legal)} legal: " + " ".join(legal if len(legal) <= 100 else [*legal[:50], "…", *legal[-50:]])
    yield f"result {state.result}, score {state.score}, hash {hash(state) % 2**64:016x}"
    owners = state.ownership()
    if owners is not None and owners.any():
        yield "owners"
        yield from ("  " + "".join(".XO"[int(cell)] for cell in row) for row in owners)
    if planes:
        for encoding in state.game.encodings:
            yield f"planes ({encoding})"
            yield from _planes(state, encoding)


def _planes(state: State, encoding: str) -> Iterator[str]:
    """Planes side by side, as many as fit; one that is a single number is shown as that number."""
    drawn: list[list[str]] = []
    for number, plane in enumerate(state.planes(encoding)):
        if (plane == plane[0, 0]).all():
            yield f"  {number:2} all {plane[0, 0]:g}"
        else:
            width = max(plane.shape[1], 4)
            drawn.append(
                [f"{number:2}".ljust(width), *("".join(".1"[int(cell)] for cell in row).ljust(width) for row in plane)]
            )
    across = max(1, 110 // (state.game.cols + 2))
    for start in range(0, len(drawn), across):
        for row in zip(*drawn[start : start + across], strict=True):
            yield "  " + "  ".join(row).rstrip()
