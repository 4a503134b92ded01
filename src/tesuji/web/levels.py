"""Levels: named opponents, from beginner to strongest.

A level is a player: fewer visits and a higher temperature make it weaker. It never plays a bad move on purpose: it
looks at less, and chooses among the moves that it likes. ``levels.toml`` has the players of each game with ratings that
``tesuji levels GAME`` measured; a game that is not there has the ladder below, not measured.
"""

import contextlib
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tesuji._core import Game
from tesuji.records import GameRecord, write_safely

__all__ = ["DEFAULT", "NAMES", "Level", "Measured", "levels", "measure", "write"]

NAMES = ("seedling", "novice", "casual", "club", "strong", "expert", "strongest")
DEFAULT = "casual"

# Visits for each action that a game has, so that a large board is looked at as thoroughly as a small one; temperature.
_LADDER = ((1, 1.0), (3, 0.5), (10, 0.35), (40, 0.25), (150, 0.15), (500, 0.05))
# Above the weak ones of these, where the net is the best player: its first thought is more than a beginner enjoys. It
# takes some visits for a temperature to have a choice.
_NET_LADDER = ("net:visits=8,temperature=1", "net:visits=24,temperature=0.5", "net:visits=100,temperature=0.1")
_NET_BEST = "net:visits=400,seconds=5"
_FAST_NET_BEST = "net:visits=150000,seconds=5,fast=1"
# Visits times plies of the longest game: about a sixth of a second. On large boards the whole ladder is drawn together.
_MOST = 3_000_000

_FILE = Path(__file__).with_name("levels.toml")
_HEADING = """# The levels of the games: a player, and its rating as `tesuji levels GAME --write` measured it.
# Uniformly random play has the rating 0; the error is half of a 95 % interval.
"""


@dataclass(frozen=True, slots=True)
class Level:
    """A named player; uniformly random play has the rating 0."""

    name: str
    player: str
    rating: float | None = None
    error: float | None = None  # 95 %

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "rating": self.rating, "error": self.error, "player": self.player}


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def levels(game: Game) -> list[Level]:
    """The levels of a game, the weakest first."""
    if found := _file().get(game.name):
        return [Level(name=name, **found[name]) for name in NAMES]
    return ladder(game)


def ladder(game: Game) -> list[Level]:
    """The levels of a game as they are before anybody measured them."""
    from tesuji.analysis import best_player
    from tesuji.netplayer import has_net

    shrink = min(1.0, _MOST / game.max_plies / (_LADDER[-1][0] * game.actions))
    visits = [
        max(2, round(share * shrink ** (i / (len(_LADDER) - 1)) * game.actions)) for i, (share, _) in enumerate(_LADDER)
    ]
    texts = [f"mcts:visits={n},temperature={t:g}" for n, (_, t) in zip(visits, _LADDER, strict=True)]
    best = best_player(game)
    if best.startswith("mcts"):  # by visits too, so that a busy machine does not weaken it
        best = f"mcts:visits={4 * visits[-1]},seconds=5"
    elif best == "net":
        texts = [*texts[: -len(_NET_LADDER)], *_NET_LADDER]
        best = _FAST_NET_BEST if has_net(game, fast=True) else _NET_BEST
    return [Level(name, text) for name, text in zip(NAMES, [*texts, best], strict=True)]


# ── Measuring ──


class _Enough(Exception):  # noqa: N818 (no error)
    """A match has used its time."""


Measured = Callable[[str, str, int, float], None]
"""Is told of a match that has ended: who played whom, how many games, and the score of the second."""


def measure(
    game: Game, *, games: int = 20, seconds: float = 60.0, seed: int = 1, watch: Measured | None = None
) -> list[Level]:
    """The levels of a game with ratings from matches of each against the next, the first against random play.

    ``seconds``: for a match; it is broken off then, but not before its first pair of games.
    """
    from tesuji import arena
    from tesuji.ratings import bradley_terry

    found = levels(game)
    names = ["random", *(level.name for level in found)]
    texts = ["random", *(level.player for level in found)]
    points = [[0.0] * len(texts) for _ in texts]
    for i in range(len(found)):
        until = time.monotonic() + seconds
        finished: dict[int, GameRecord] = {}

        def look(records: Mapping[int, GameRecord], total: int, until: float = until, out: Any = finished) -> None:
            out.clear()
            out.update(records)
            if time.monotonic() > until and {1, 2} <= set(records):
                raise _Enough

        with contextlib.suppress(_Enough):
            arena.match(texts[i], texts[i + 1], game=game, games=games, seed=seed + i, watch=look)
        played = arena.match_of(game, (texts[i], texts[i + 1]), finished.values())
        score = played.losses + played.draws / 2
        points[i + 1][i] += score
        points[i][i + 1] += len(finished) - score
        if watch is not None:
            watch(names[i], names[i + 1], len(finished), score / len(finished))
    rated = bradley_terry(points, prior=0.1)  # weak: a level has few games, and all with its neighbours
    return [
        replace(level, rating=float(round(rating.elo - rated[0].elo)), error=float(round(rating.error)))
        for level, rating in zip(found, rated[1:], strict=True)
    ]


def write(game: Game, measured: list[Level], command: str) -> Path:
    """Keeps measured levels in the file; the other games stay as they are."""
    tables = dict(_file())
    tables[game.name] = {"measured": command} | {
        level.name: {"player": level.player, "rating": level.rating, "error": level.error} for level in measured
    }
    text = _HEADING
    for name, table in sorted(tables.items()):
        text += f'\n["{name}"]\nmeasured = "{table["measured"]}"\n'
        for level in NAMES:
            fields = table[level]
            text += (
                f'{level:9} = {{ player = "{fields["player"]}", rating = {fields["rating"]:g}, '
                f"error = {fields['error']:g} }}\n"
            )
    write_safely(_FILE, text)
    _file.cache_clear()
    return _FILE
