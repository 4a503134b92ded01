"""Matches on many machines: the very games that one machine plays."""

import functools
import itertools
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tesuji import arena, players
from tesuji.cluster.connection import connected, ray_module
from tesuji.games import game as game_of
from tesuji.records import GameRecord

__all__ = ["match"]

_LOOK = 0.25  # seconds between looks at the clock and the signals
_ROOM = 10.0  # seconds without a game under way before we say that we wait
_TRIES = 4  # of a game whose process dies


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def match(
    first: str,
    second: str,
    *,
    address: str | None = None,
    workers: int | None = None,
    say: Callable[[str], None] = _to_stderr,
    **options: Any,
) -> arena.Match:
    """As ``arena.match``, with its games played on the cluster at ``address``, ``workers`` at once; None: one a CPU.

    The games are the same as on one machine. Files of players (``net:PATH``) travel to where they are needed. ``say``
    is told, once, where games wait for room.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}: give at least 1")
    with connected(address, cpus=workers or 0) as ray:
        at_once = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        return arena.match(first, second, elsewhere=lambda jobs: _spread(ray, jobs, at_once, say), **options)


def _spread(
    ray: Any, jobs: Iterator[arena.Job], at_once: int, say: Callable[[str], None]
) -> Generator[GameRecord, None, None]:
    """Records in the order in which games finish. Ray plays a game again whose node died."""
    play = ray.remote(num_cpus=1, max_retries=_TRIES - 1, num_returns="streaming")(_play_there)
    files: dict[str, list[Any]] = {}
    asked: dict[Any, arena.Job] = {}  # by the stream of what comes of them
    begun: set[Any] = set()
    heard, said = time.monotonic(), False
    try:
        while True:
            for job in itertools.islice(jobs, at_once - len(asked)):
                for text in job.players.values():
                    path = players.read(text)[1].get("path")
                    if path and text not in files:
                        files[text] = [Path(path).name, ray.put(Path(path).read_bytes())]
                asked[play.remote(job, {text: files[text] for text in job.players.values() if text in files})] = job
            if not asked:
                return
            ready, _ = ray.wait(list(asked), num_returns=1, timeout=_LOOK)
            if not ready:
                if not begun and not said and time.monotonic() - heard > _ROOM:
                    said = True
                    say("no CPU of the cluster is free for a game: the match goes on when one is")
                continue
            (stream,) = ready
            heard = time.monotonic()
            try:
                record = ray.get(next(stream))
            except ray.exceptions.RayTaskError as trouble:
                raise RuntimeError(
                    f"game {asked[stream].number} cannot be played on the cluster: {trouble.cause}"
                ) from None
            except ray.exceptions.RayError:
                raise RuntimeError(
                    f"the process that played game {asked[stream].number} died {_TRIES} times: "
                    "the match stops, and its finished games are kept"
                ) from None
            if record is None:
                begun.add(stream)
                continue
            del asked[stream]
            begun.discard(stream)
            yield record
    finally:
        for stream in asked:
            ray.cancel(stream, force=True)


def _play_there(job: arena.Job, files: Mapping[str, Sequence[Any]]) -> Iterator[GameRecord | None]:
    """One game, on whatever machine: None when it begins, then its record, which names the players as they were named
    to us."""
    yield None
    texts = dict(job.players)
    for label, text in job.players.items():
        if text in files:
            name, content = files[text]
            texts[label] = text.replace(players.read(text)[1]["path"], str(_local(name, content)), 1)
    for text in texts.values():
        _check(text, job.game)
    yield replace(arena.played(replace(job, players=texts)), players=job.players)


@functools.cache
def _check(text: str, game: str) -> None:
    """A player that cannot be on this machine is no loss of a game."""
    try:
        who = players.player(text, game_of(game))
    except Exception as trouble:
        raise ValueError(f"{text.partition(':')[0]} cannot play on the node {platform.node()}: {trouble}") from None
    close = getattr(who, "close", None)
    if close is not None:
        close()


_folder: tempfile.TemporaryDirectory[str] | None = None  # of this process, for files that came with games


def _local(name: str, content: Any) -> Path:
    """The file that a reference leads to, in a folder of this process."""
    global _folder
    _folder = _folder or tempfile.TemporaryDirectory(prefix="tesuji-")
    path = Path(_folder.name, content.hex(), name)
    if not path.exists():
        path.parent.mkdir()
        path.write_bytes(ray_module().get(content))
    return path
