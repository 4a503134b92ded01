"""How far a match has come, on stderr: a bar where that is a terminal, lines now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tesuji.records import GameRecord

__all__ = ["clock", "progress"]

_EVERY = 10.0  # seconds between lines

Tell = Callable[[Mapping[int, GameRecord], int], None]


@contextmanager
def progress(describe: Callable[[Mapping[int, GameRecord]], str]) -> Iterator[Tell]:
    """A watcher for a match; ``describe`` says in a few words how it stands."""
    if not sys.stderr.isatty():
        yield _lines(describe)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        MofNCompleteColumn(),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)
        said = 0.0

        def tell(records: Mapping[int, GameRecord], total: int) -> None:
            nonlocal said
            now = time.monotonic()
            if now - said > 0.5:  # describing many games takes a while
                said = now
                bar.update(task, description=describe(records))
            bar.update(task, completed=min(len(records), total), total=total)

        yield tell


def _lines(describe: Callable[[Mapping[int, GameRecord]], str]) -> Tell:
    begun = said = time.monotonic()
    before: int | None = None  # games that were there when we began

    def tell(records: Mapping[int, GameRecord], total: int) -> None:
        nonlocal said, before
        now = time.monotonic()
        if before is None:
            before = len(records)
            if before:
                print(f"{before} of {total} games were played before", file=sys.stderr, flush=True)
            return
        if now - said >= _EVERY:
            said = now
            done = len(records)
            left = (now - begun) / max(1, done - before) * (total - done)
            print(
                f"{done} of {total} games, {clock(left)} left, {describe(records)}",
                file=sys.stderr,
                flush=True,
            )

    return tell


def clock(seconds: float) -> str:
    """Such as 1:02:03."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
