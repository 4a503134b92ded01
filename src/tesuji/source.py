"""Where the games of a run come from: self-play on this machine, another run's folder, or other machines
(``cluster``)."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tesuji import _core
from tesuji.machine import cores

if TYPE_CHECKING:  # looking at a run needs none of these
    from tesuji.config import Config, Crowd
    from tesuji.evaluate import Evaluator, Lane
    from tesuji.nets import Net
    from tesuji.selfplay import SelfPlaySettings

__all__ = ["FRAME_HEAD", "Here", "Pupil", "Source", "here"]

FRAME_HEAD = 8
"""Bytes before a record among frames: its length (little-endian) and its checksum."""

_CHUNK = 1 << 20  # bytes of another run's games that are read at once
_GLANCE = 0.2  # seconds between looks for new ones


class Source(Protocol):
    """Plays the games that a run learns from."""

    beside: bool
    """Whether games go on while the learner trains."""

    ended: bool
    """Whether there will be no more games."""

    @property
    def positions(self) -> int:
        """Made since the beginning, to learn from."""

    @property
    def at_work(self) -> int:
        """Nets that answer at once."""

    def play(self, *, positions: int, seconds: float, stop: Callable[[], bool]) -> bytes:
        """Frames of games that ended, once there are so many more positions, after so many seconds, or on ``stop``."""

    def arrived(self, *, positions: float) -> bytes:
        """Frames of games that ended while nobody asked, of about so many positions at most."""

    def acknowledge(self, flush: Callable[[], None]) -> None:
        """All frames that were handed over are in their file; ``flush`` makes sure that they outlive the machine."""

    def publish(self, net: "Net", steps: int) -> None:
        """From now on this net plays, which has so many steps of training behind it."""

    def counters(self) -> dict[str, float]:
        """Totals since the beginning: those of self-play, ``slots`` and ``seconds_busy`` of its nets."""

    def facts(self) -> dict[str, Any]:
        """What else there is to tell, now."""

    def close(self) -> None:
        """Plays no more."""


class Here:
    """Self-play on this machine: a net, its lanes and the games in them."""

    beside = False
    ended = False

    def __init__(
        self,
        evaluator: "Evaluator",
        settings: "SelfPlaySettings",
        crowd: "Crowd",
        *,
        encoding: str,
        threads: int,
        steps: int,
        seed: int,
    ) -> None:
        from tesuji.evaluate import OnnxEvaluator
        from tesuji.selfplay import SelfPlay, shares

        on_cpu = isinstance(evaluator, OnnxEvaluator)
        lanes = shares(crowd.games, crowd.lanes or (threads if on_cpu else 3))
        self._evaluator: Any = evaluator
        self._lanes = [_CountedLane(evaluator.lane(share)) for share in lanes]
        self._selfplay = SelfPlay(
            evaluator.game, self._lanes, settings, encoding=encoding, threads=1 if on_cpu else threads, seed=seed
        )
        self._selfplay.set_net(steps)
        self.at_work = len(lanes) if on_cpu else 1

    @property
    def positions(self) -> int:
        """Those of games under way among them."""
        return self._selfplay.positions

    def play(self, *, positions: int, seconds: float, stop: Callable[[], bool]) -> bytes:
        return self._selfplay.play(positions=positions, seconds=seconds, stop=stop)

    def arrived(self, *, positions: float) -> bytes:
        return b""

    def acknowledge(self, flush: Callable[[], None]) -> None:
        """A save flushes soon enough for games that nobody else counts."""

    def publish(self, net: "Net | bytes", steps: int) -> None:
        """``net`` is whatever the evaluator can be updated with."""
        self._evaluator.update(net)
        self._selfplay.set_net(steps)

    def counters(self) -> dict[str, float]:
        return self._selfplay.counters() | {
            "slots": sum(lane.slots for lane in self._lanes),
            "seconds_busy": self._evaluator.busy,
        }

    def facts(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """There is nothing to end: games go on only while they are asked to."""


def here(config: "Config", net: "Net", *, steps: int, seed: int) -> Here:
    """All of this machine plays."""
    from tesuji.evaluate import evaluator

    return Here(
        evaluator(net, net.game, config.run.device, kernel=config.run.kernel),
        config.selfplay,
        config.crowd,
        encoding=config.run.encoding,
        threads=config.crowd.threads or cores(),
        steps=steps,
        seed=seed,
    )


class Pupil:
    """Nobody plays: the games are those of another run, its teacher, in their order; also while it makes them."""

    beside = False
    at_work = 1

    def __init__(self, name: str, files: Callable[[], list[Path]], teaching: Callable[[], bool], had: int) -> None:
        """``files`` lists the teacher's files of games; ``teaching``: whether there may be more soon; ``had``: how many
        games the run has of it already."""
        self._files, self._teaching = files, teaching
        self._file, self._at = 0, 0  # where to read on
        self.positions = 0
        self.ended = False
        self._began = time.perf_counter()
        while had > 0:
            frames, games, _ = self._read()
            if not frames:
                raise ValueError(f"{name} has fewer games than were learned from it: put them back, or begin a new run")
            if games > had:
                self._at -= len(frames) - _frames_end(frames, had)
            had -= games

    def _read(self) -> tuple[bytes, int, int]:
        """The next whole frames, how many games they hold and how many positions."""
        files = self._files()
        while self._file < len(files):
            size = _CHUNK
            while True:
                with files[self._file].open("rb") as file:
                    file.seek(self._at)
                    data = file.read(size)
                sound, games, positions = _core.scan_frames(data)
                if sound or len(data) < size:
                    break
                size *= 2  # of a single game
            self._at += sound
            if sound:
                return data[:sound], games, positions
            if self._file + 1 == len(files):
                break
            self._file, self._at = self._file + 1, 0
        return b"", 0, 0

    def play(self, *, positions: int, seconds: float, stop: Callable[[], bool]) -> bytes:
        until = time.perf_counter() + seconds
        parts: list[bytes] = []
        while positions > 0 and not stop() and time.perf_counter() < until:
            teaching = self._teaching()
            frames, _, more = self._read()
            if frames:
                parts.append(frames)
                positions -= more
                self.positions += more
            elif teaching:
                time.sleep(_GLANCE)
            else:
                self.ended = True
                break
        return b"".join(parts)

    def arrived(self, *, positions: float) -> bytes:
        return b""

    def acknowledge(self, flush: Callable[[], None]) -> None:
        """The teacher keeps them."""

    def publish(self, net: "Net | bytes", steps: int) -> None:
        """It does not play."""

    def counters(self) -> dict[str, float]:
        """How games went is the teacher's to tell."""
        return {"positions": self.positions, "seconds": time.perf_counter() - self._began}

    def facts(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """There is nothing to end."""


def _frames_end(frames: bytes, games: int) -> int:
    """Where the first so many frames end."""
    at = 0
    for _ in range(games):
        at += FRAME_HEAD + int.from_bytes(frames[at : at + 4], "little")
    return at


class _CountedLane:
    """A lane that knows how many answers it was asked for, empty places among them."""

    def __init__(self, lane: "Lane") -> None:
        self.planes, self.policy, self.value = lane.planes, lane.policy, lane.value
        self.wait = lane.wait
        self._submit = lane.submit
        self.slots = 0

    def submit(self) -> None:
        self.slots += len(self.value)
        self._submit()
