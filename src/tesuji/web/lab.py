"""The Lab: runs of training, listed, watched, started and stopped. Learning happens in a process of its own.

All that is read and written lies in one folder; a run is named by its folder there.
"""

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tesuji import _core
from tesuji._core import Game, State
from tesuji.games import game as game_of
from tesuji.run import Folder

__all__ = ["Lab", "Seen"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
_ROWS = 300  # that are sent at once
_MOST_MINUTES = 24 * 60


@dataclass(slots=True)
class Seen:
    """What a person who watches a run was told already."""

    metrics: int = 0
    arena: int = 0
    game: tuple[Path, int] | None = None


class Lab:
    """The runs in a folder. Its methods read and write files: they are called in the threads that work."""

    def __init__(self, runs: Path, most: int = 1) -> None:
        """``most``: runs that may be under way at once."""
        self._runs = runs
        self._most = most
        self._lock = threading.Lock()
        self._started: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def runs(self) -> list[dict[str, Any]]:
        """All runs, the newest first."""
        found = [self._runs / name for name in _names(self._runs)]
        begun = [folder for path in found if (folder := Folder(path)).begun]
        begun.sort(key=lambda folder: -folder.config.stat().st_mtime)
        return [self._facts(folder) for folder in begun]

    def start(self, game: str, minutes: float, run: str | None = None) -> str:
        """Begins a run, or goes on with one; its name."""
        if importlib.util.find_spec("torch") is None:
            raise ValueError("learning needs the package torch: pip install 'tesuji[train]'")
        if not 0 < minutes <= _MOST_MINUTES:
            raise ValueError(f"minutes is {minutes:g}: give a number above 0 and at most {_MOST_MINUTES}")
        found = game_of(game)
        with self._lock:
            alive = [name for name, (process, _) in self._started.items() if process.poll() is None]
            if len(alive) >= self._most:
                raise ValueError(f"{alive[0]} is learning already: stop it first, or wait until it is done")
            name = self._fresh_name(found) if run is None else run
            path = self._path(name)
            self._runs.mkdir(parents=True, exist_ok=True)
            words = tempfile.TemporaryFile()  # noqa: SIM115 (kept as long as the process)
            process = subprocess.Popen(
                [sys.executable, "-m", "tesuji.cli", "train", game, "--run", str(path), "--minutes", f"{minutes:g}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=words,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C comes to us alone, and we tell it
            )
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, 10)  # people who play come first
            self._started[name] = process, words
        return name

    def stop(self, run: str) -> None:
        """Asks a run that was started here to save and end."""
        with self._lock:
            process = self._started[run][0] if run in self._started else None
        if process is None or process.poll() is not None:
            raise ValueError(f"{run[:60]} was not started here, or has ended: nothing is to be stopped")
        process.send_signal(signal.SIGTERM)

    def watch(self, run: str, seen: Seen) -> dict[str, Any]:
        """How a run stands, and what is new since the last look; the newest game is None where it is the same."""
        folder = Folder(self._path(run))
        with self._lock:
            ours = run in self._started
        if not (folder.begun or ours):
            raise ValueError(f"there is no run {run[:60]!r}")
        first = seen.metrics == 0
        metrics, arena = folder.metrics(), folder.arena()
        if len(metrics) < seen.metrics:  # a run that died does its last rounds again
            seen.metrics, first = 0, True
        told = self._facts(folder) | {
            "run": run,
            "first": first,
            "game": None,
            "trouble": self._last_words(run),
            "metrics": _thinned(metrics[seen.metrics :]),
            "arena": arena if first else arena[seen.arena :],
        }
        seen.metrics, seen.arena = len(metrics), len(arena)
        frame, place = folder.newest_frame(seen.game)
        if place is not None and place != seen.game:
            seen.game = place
            manifest = folder.manifest()
            records = _core.read_frames(Game(manifest["game"], manifest["numbers"]), frame)
            if records:
                told["game"] = _shown(manifest["game"], records[-1])
        return told

    def close(self, patience: float = 10.0) -> None:
        """Asks all runs that were started here to save and end, and waits a little for that."""
        with self._lock:
            started = [process for process, _ in self._started.values() if process.poll() is None]
        for process in started:
            process.send_signal(signal.SIGTERM)
        until = time.monotonic() + patience
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, until - time.monotonic()))
        for _, words in self._started.values():
            words.close()

    # ── Inside ──

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:60]!r} is no name of a run: give small letters, digits and hyphens")
        path = self._runs / name
        if not path.resolve().is_relative_to(self._runs.resolve()):
            raise ValueError(f"{name} lies outside of the folder of runs")
        return path

    def _fresh_name(self, game: Game) -> str:
        number = 1
        while (self._runs / f"{game.name}-{number}").exists() or f"{game.name}-{number}" in self._started:
            number += 1
        return f"{game.name}-{number}"

    def _alive(self, folder: Folder) -> bool:
        with self._lock:
            started = self._started.get(folder.path.name)
        return (started is not None and started[0].poll() is None) or folder.learning()

    def _last_words(self, name: str) -> str | None:
        """Why a run that was started here failed."""
        with self._lock:
            started = self._started.get(name)
        if started is None or started[0].poll() in (None, 0, 130, -signal.SIGTERM):
            return None
        words = started[1]
        words.seek(0)
        lines = words.read()[-2000:].decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("tesuji: ")[:300] if lines else f"it ended with code {started[0].poll()}"

    def _facts(self, folder: Folder) -> dict[str, Any]:
        last = folder.last_metrics()
        try:
            manifest = folder.manifest()
        except ValueError:
            manifest = {}
        return {
            "name": folder.path.name,
            "game": manifest.get("game"),
            "numbers": manifest.get("numbers"),
            "created": manifest.get("created"),
            "preset": manifest.get("preset"),
            "minutes": last.get("minutes", 0),
            "games": last.get("games", 0),
            "steps": last.get("steps", 0),
            "alive": self._alive(folder),
        }


def _names(runs: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(runs) if entry.is_dir() and _NAME.fullmatch(entry.name)]
    except FileNotFoundError:
        return []


def _thinned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most so many rows, evenly chosen; the last is among them."""
    if len(rows) <= _ROWS:
        return rows
    step = len(rows) / _ROWS
    return [rows[int((i + 1) * step) - 1] for i in range(_ROWS)]


def _shown(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """A game of self-play for a board that knows no rules."""
    game = Game(name, record["numbers"])
    states = [game.start()]
    for action in record["actions"]:
        states.append(states[-1].play(action))
    shows_owners = game.owned and game.look != "crossings"  # boxes and small boards; who owns a point is in doubt
    return {
        "name": name,
        "numbers": game.numbers,
        "owners": [_cells(state) for state in states] if shows_owners else None,
        "net": record["net"],
        "result": record["result"],
        "ending": record["ending"],
        "actions": record["actions"],
        "moves": [game.text(action) for action in record["actions"]],
        "values": [round(value, 3) for value in record["values"]],
        "glyphs": [state.glyphs() for state in states],
    }


def _cells(state: State) -> list[int]:
    owners = state.ownership()
    assert owners is not None
    found: list[int] = owners.ravel().tolist()
    return found
