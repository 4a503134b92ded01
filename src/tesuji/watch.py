"""Watchers of a run: a panel where stderr is a terminal, lines now and then elsewhere, and TensorBoard."""

import contextlib
import importlib.util
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tesuji.progress import clock
from tesuji.run import Watcher

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["arena_text", "sparkline", "watching"]

_EVERY = 10.0  # seconds between lines
_CURVES = (
    ("loss", "loss"),
    ("policy", "policy_loss"),
    ("value", "value_loss"),
    ("entropy", "policy_entropy"),
)
_BARS = "▁▂▃▄▅▆▇█"


@contextlib.contextmanager
def watching(tensorboard: Path | None = None) -> Iterator[Watcher]:
    """All that watches `tesuji train`."""
    with contextlib.ExitStack() as stack:
        watchers: list[Watcher] = []
        if sys.stderr.isatty():
            watchers.append(stack.enter_context(_panel()))
        else:
            watchers.append(_Lines())
        if tensorboard is not None and importlib.util.find_spec("tensorboard") is not None:
            watchers.append(stack.enter_context(_board(tensorboard)))

        def tell(event: str, facts: Mapping[str, Any]) -> None:
            for watcher in watchers:
                watcher(event, facts)

        yield tell


def sparkline(values: Sequence[float], width: int = 24) -> str:
    """A small curve of the last values."""
    last = list(values)[-width:]
    low, high = min(last, default=0.0), max(last, default=0.0)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] for value in last)


def arena_text(line: Mapping[str, Any]) -> str:
    """A measurement in a line: "+310 ± 80 Elo; random 10–0–0, mcts:visits=1000 6–1–3"."""
    rating = "" if line["rating"] is None else f"{line['rating']:+.0f} ± {line['error']:.0f} Elo; "
    against = [f"{_name(m['opponent'])} {m['wins']}–{m['draws']}–{m['losses']}" for m in line["matches"]]
    return rating + ", ".join(against)


def _name(opponent: int | str) -> str:
    return f"net {opponent}" if isinstance(opponent, int) else opponent


def _counts(facts: Mapping[str, Any]) -> str:
    return f"{facts['games']:,} games, {facts['positions']:,} positions, {facts['steps']:,} steps"


def _cluster(facts: Mapping[str, Any]) -> str:
    """Who plays, where a cluster does: "4 of 5 workers on 2 nodes, 31 games/s, 12 steps behind, resting 3%"."""
    if "nodes" not in facts:
        return ""
    there, wanted, nodes = facts["workers"], facts["workers_wanted"], facts["nodes"]
    parts = [f"{there if there == wanted else f'{there} of {wanted}'} workers on {nodes} node{'s' * (nodes != 1)}"]
    for key, form in (
        ("games_per_second", "{:.1f} games/s"),
        ("lag", "{:.0f} steps behind"),
        ("resting", "resting {:.0%}"),
    ):
        if facts[key] is not None:
            parts.append(form.format(facts[key]))
    return ", ".join(parts)


def _left(minutes: float | None, facts: Mapping[str, Any]) -> str:
    return "" if minutes is None else f"{clock(60 * (minutes - facts['session_minutes']))} left"


class _Lines:
    """For logs."""

    def __init__(self) -> None:
        self._said = 0.0
        self._minutes: float | None = None
        self._line: Mapping[str, Any] = {}

    def __call__(self, event: str, facts: Mapping[str, Any]) -> None:
        if event == "begin":
            self._minutes = facts["limit"]
            verb = "goes on with" if facts["games"] else "begins"
            self._say(f"{facts['folder']} {verb} {facts['game']}: {_counts(facts)}")
        elif event == "note":
            self._say(facts["text"])
        elif event == "arena":
            self._say(f"arena: {arena_text(facts)}")
        elif event == "end":
            self._say(
                f"{'stopped' if facts['asked'] else 'done'} after {facts['minutes']:.1f} minutes: {_counts(facts)}"
            )
        elif event == "round":
            self._line = facts
        if event in ("playing", "training", "match") and time.monotonic() - self._said >= _EVERY:
            losses = ", ".join(f"{name} {self._line[key]:.3f}" for name, key in _CURVES if key in self._line)
            parts = [
                f"{facts['minutes']:.1f} min",
                _left(self._minutes, facts),
                _counts(facts),
                _cluster(facts),
                losses,
            ]
            self._say(", ".join(filter(None, parts)))

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _panel() -> Iterator[Watcher]:
    """A panel that stays in its place; notes go above it."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    shown = Panel()
    with Live(shown.picture(), console=console, refresh_per_second=4, auto_refresh=False) as live:
        drawn = 0.0

        def tell(event: str, facts: Mapping[str, Any]) -> None:
            nonlocal drawn
            shown.tell(event, facts)
            if event == "note":
                live.console.print(facts["text"], markup=False)
            # Training tells of every step: drawing each would cost more than the step.
            if event not in ("training", "playing", "match") or time.monotonic() - drawn > 0.25:
                drawn = time.monotonic()
                live.update(shown.picture(), refresh=True)

        yield tell


class Panel:
    """What the panel knows, and its picture."""

    def __init__(self) -> None:
        self._title = "tesuji"
        self._minutes: float | None = None
        self._now: Mapping[str, Any] = {}
        self._doing = "starting"
        self._line: Mapping[str, Any] = {}
        self._curves: dict[str, list[float]] = {key: [] for _, key in _CURVES}
        self._arena: list[str] = []

    def tell(self, event: str, facts: Mapping[str, Any]) -> None:
        if "session_minutes" in facts:
            self._now = facts
        if event == "begin":
            self._title, self._minutes = f"{facts['game']} in {facts['folder']}", facts["limit"]
        elif event == "round":
            self._line = facts
            for _, key in _CURVES:
                if key in facts:
                    self._curves[key].append(facts[key])
        elif event == "arena":
            self._arena = [*self._arena, f"{facts['steps']:,} steps: {arena_text(facts)}"][-3:]
        if event in ("playing", "training"):
            self._doing = event
        elif event == "match":
            self._doing = f"match against {facts['opponent']}, {facts['games']} of {facts['of']}"

    def picture(self) -> "RenderableType":
        from rich import box
        from rich.panel import Panel as Frame
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        rows = Table.grid(padding=(0, 2))
        if self._now:
            now, line = self._now, self._line
            if self._minutes:
                done = min(1.0, now["session_minutes"] / self._minutes)
                rows.add_row("time", ProgressBar(total=1.0, completed=done, width=40), _left(self._minutes, now))
            rows.add_row("made", Text(_counts(now)), f"round {now['round']}, {now['minutes']:.1f} min")
            for name, key in _CURVES:
                if self._curves[key]:
                    rows.add_row(name, Text(sparkline(self._curves[key], 40)), f"{self._curves[key][-1]:.3f}")
            speeds = [
                f"{line[key]:,.0f} {word}"
                for key, word in (
                    ("evaluations_per_second", "evaluations/s"),
                    ("positions_per_second", "positions/s"),
                    ("samples_per_second", "samples/s"),
                )
                if line.get(key)
            ]
            if speeds:
                busy = f"device {line['device_busy']:.0%} busy" if line.get("device_busy") is not None else ""
                rows.add_row("speed", Text(", ".join(speeds)), busy)
            if there := _cluster(now):
                rows.add_row("cluster", Text(there), "")
            if line.get("length") is not None:
                games = f"{line['length']:.1f} plies, First scores {line['first_score']:.0%}, {line['draws']:.0%} drawn"
                rows.add_row("games", Text(games), f"window {now['window']:,}")
            for number, text in enumerate(self._arena):
                rows.add_row("" if number else "arena", Text(text), "")
        rows.add_row("now", Text(self._doing), "Ctrl-C saves and stops")
        return Frame(rows, title=Text(self._title), box=box.ROUNDED, expand=False)


@contextlib.contextmanager
def _board(folder: Path) -> Iterator[Watcher]:
    """Numbers for `tensorboard --logdir`."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer: EventFileWriter | None = None

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        nonlocal writer
        if event not in ("round", "arena"):
            return
        writer = writer or EventFileWriter(str(folder))
        values = [
            Summary.Value(tag=f"{event}/{key}", simple_value=float(value))
            for key, value in facts.items()
            if isinstance(value, int | float) and key not in ("time", "steps")
        ]
        writer.add_event(Event(wall_time=facts["time"], step=facts["steps"], summary=Summary(value=values)))

    try:
        yield tell
    finally:
        if writer is not None:
            writer.close()
