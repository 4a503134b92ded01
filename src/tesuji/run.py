"""A run: a folder, and the loop that learns in it. This module alone knows where things lie.

    runs/go9/
      config.toml      all settings, resolved
      manifest.json    what this is, when and where it began
      games/           000000.rec …: records of self-play, only ever appended to
      nets/            00012000.safetensors: a network after so many steps, and .onnx to play with
      state/           00000041.state: weights, optimizer, counters; the last two saves
      metrics.jsonl    a line a round            arena.jsonl    a line a measurement of strength

A process may die at any moment. Games on disk are frames with a checksum: a torn tail is cut off. All else is written
beside its place, flushed and renamed. What training owes is told by the games on disk and the steps in the saved state,
so the steps that a death cost are done again.
"""

import contextlib
import errno
import fcntl
import json
import math
import os
import platform
import shlex
import signal
import sys
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import tesuji
from tesuji import _core, arena, config
from tesuji.config import Config
from tesuji.games import game as game_of
from tesuji.machine import cores
from tesuji.ratings import Rating, bradley_terry
from tesuji.records import GameRecord, write_safely
from tesuji.source import FRAME_HEAD, Pupil, here

if TYPE_CHECKING:  # torch is needed to learn, not to look
    from tesuji.nets import Net
    from tesuji.source import Source

__all__ = ["Folder", "Run", "Watcher", "ratings"]

Watcher = Callable[[str, Mapping[str, Any]], None]
"""Is told what happens, with facts: begin, playing, training, round, match, arena, saved, note, end."""

_SLICE = 1.0  # seconds of self-play between looks at the clock, the disk and the signals
_FILE_LIMIT = 1 << 26  # bytes, after which games go into the next file
_MAGIC = b"tesuji state 1\n"

# A run that has begun keeps these.
_FIXED = ("net.", "train.optimizer", "train.average", "run.encoding", "run.seed", "run.start", "run.teacher")


# ── The folder ──


class Folder:
    """The files of a run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config = self.path / "config.toml"
        self.tensorboard = self.path / "tensorboard"
        self._manifest = self.path / "manifest.json"
        self._games = self.path / "games"
        self._nets = self.path / "nets"
        self._state = self.path / "state"
        self._metrics = self.path / "metrics.jsonl"
        self._arena = self.path / "arena.jsonl"

    @property
    def begun(self) -> bool:
        return self.config.exists()

    def check(self) -> Self:
        """Refuses what is no run."""
        if not self.begun:
            raise ValueError(f"there is no run in {self.path}: `tesuji train GAME --run {self.path}` begins one")
        return self

    def begin(self, settings: Config, manifest: Mapping[str, Any]) -> None:
        """Makes the folder; with its last file, the settings, there is a run."""
        for folder in (self.path, self._games, self._nets, self._state):
            folder.mkdir(parents=True, exist_ok=True)
        write_safely(self._manifest, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        self.write_config(settings)

    def write_config(self, settings: Config) -> None:
        write_safely(self.config, config.text(settings))

    def manifest(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise ValueError(f"{self._manifest} is missing or damaged") from None
        return found

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process a run."""
        known = {"config.toml", "manifest.json", "games", "nets", "state", "lock", "manifest.json.new"}
        if self.path.is_dir() and not self.begun and not {entry.name for entry in self.path.iterdir()} <= known:
            raise ValueError(f"{self.path} holds other things: give a new folder, or an empty one")
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(f"another process is learning in {self.path}: stop it first") from None
            yield

    def learning(self) -> bool:
        """Whether a process is learning here."""
        try:
            with (self.path / "lock").open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    # Games

    def game_files(self) -> list[Path]:
        return sorted(self._games.glob("[0-9]*.rec"))

    def game_file(self, number: int) -> Path:
        return self._games / f"{number:06}.rec"

    def last_frames(self, size: int = 1 << 22) -> bytes:
        """The newest games: at least so many bytes, where there are as many."""
        parts: list[bytes] = []
        for path in reversed(self.game_files()):
            data = path.read_bytes()
            parts.insert(0, data[: _core.scan_frames(data)[0]])
            if sum(map(len, parts)) >= size:
                break
        return b"".join(parts)

    def newest_frame(self, since: tuple[Path, int] | None = None) -> tuple[bytes, tuple[Path, int] | None]:
        """The frame of the newest game, perhaps torn, and its place: given back, it shortens the next search."""
        for path in reversed(self.game_files()):
            at = since[1] if since is not None and since[0] == path else 0
            size, found = path.stat().st_size, -1
            with path.open("rb") as file:
                while at + FRAME_HEAD <= size:
                    file.seek(at)
                    end = at + FRAME_HEAD + int.from_bytes(file.read(4), "little")
                    if end > size:
                        break
                    found, at = at, end
                if found >= 0:
                    file.seek(found)
                    return file.read(at - found), (path, found)
        return b"", None

    # Nets

    def net(self, steps: int, suffix: str = ".safetensors") -> Path:
        return self._nets / f"{steps:08}{suffix}"

    def nets(self) -> list[int]:
        """Steps of the networks that are there."""
        return sorted(int(path.stem) for path in self._nets.glob("[0-9]*.safetensors"))

    def newest_net(self) -> Path:
        if not self.check().nets():
            raise ValueError(f"{self.path} has no network yet: let it learn first")
        return self.net(self.nets()[-1])

    # State

    def write_state(self, number: int, content: bytes) -> None:
        path = self._state / f"{number:08}.state"
        write_safely(path, _MAGIC + zlib.crc32(content).to_bytes(4, "little") + content)
        for old in self._states()[:-2]:
            old.unlink()

    def read_states(self) -> Iterator[tuple[int, bytes | None]]:
        """The saves, the newest first; None for a damaged one."""
        for path in reversed(self._states()):
            data = path.read_bytes()
            head, content = data[: len(_MAGIC) + 4], data[len(_MAGIC) + 4 :]
            sound = head == _MAGIC + zlib.crc32(content).to_bytes(4, "little")
            yield int(path.stem), content if sound else None

    @property
    def saved(self) -> bool:
        """Whether there is a save, sound or not."""
        return bool(self._states())

    def _states(self) -> list[Path]:
        return sorted(self._state.glob("[0-9]*.state"))

    # Lines

    def metrics(self) -> list[dict[str, Any]]:
        return _read_lines(self._metrics)

    def last_metrics(self) -> dict[str, Any]:
        """The newest line, without a look at all the others; empty where there is none."""
        with contextlib.suppress(FileNotFoundError), self._metrics.open("rb") as file:
            file.seek(max(0, self._metrics.stat().st_size - (1 << 14)))
            lines = _sound_lines(file.read().decode(errors="replace"))
            return lines[-1] if lines else {}
        return {}

    def arena(self) -> list[dict[str, Any]]:
        return _read_lines(self._arena)

    def add_metrics(self, line: Mapping[str, Any]) -> None:
        _add_line(self._metrics, line)

    def add_arena(self, line: Mapping[str, Any]) -> None:
        _add_line(self._arena, line)

    def cut_lines(self, rounds: int) -> None:
        """Forgets the lines after a round: the steps since the last save are done again."""
        for path in (self._metrics, self._arena):
            if path.exists():
                kept = [line for line in _read_lines(path) if line["round"] <= rounds]
                write_safely(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept))


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file; the last may be torn."""
    return _sound_lines(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else []


def _sound_lines(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            read = json.loads(line)
            if isinstance(read, dict) and "round" in read:
                found.append(read)
    return found


def _add_line(path: Path, line: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


class _Games:
    """games/: frames one after the other."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._handle = -1
        self.games = self.positions = 0
        self.notes: list[str] = []
        self._parts: list[tuple[Path, int, int]] = []  # file, its sound bytes, their positions
        paths = folder.game_files()
        for path in paths:
            data = path.read_bytes()
            sound, games, positions = _core.scan_frames(data)
            if sound < len(data):
                if path == paths[-1]:
                    os.truncate(path, sound)
                    self.notes.append(f"cut {len(data) - sound} bytes of an unfinished game off {path.name}")
                else:
                    self.notes.append(f"{path.name} is damaged after {games} games: the rest of it is left out")
            self.games += games
            self.positions += positions
            self._parts.append((path, sound, positions))
        self._number = int(paths[-1].stem) if paths else 0
        self._open()

    def _open(self) -> None:
        self._handle = os.open(self._folder.game_file(self._number), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._size = os.fstat(self._handle).st_size

    def newest(self, positions: int) -> Iterator[bytes]:
        """Frames of at least so many of the newest positions, in their order."""
        chosen: list[tuple[Path, int, int]] = []
        for part in reversed(self._parts):
            chosen.insert(0, part)
            positions -= part[2]
            if positions <= 0:
                break
        for path, sound, _ in chosen:
            yield path.read_bytes()[:sound]

    def append(self, frames: bytes) -> None:
        """All or nothing: where the disk is full, the file is as it was."""
        if self._size and self._size + len(frames) > _FILE_LIMIT:
            self.flush()
            os.close(self._handle)
            self._number += 1
            self._open()
        try:
            left = memoryview(frames)
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError:
            os.ftruncate(self._handle, self._size)
            raise
        self._size += len(frames)
        _, games, positions = _core.scan_frames(frames)
        self.games += games
        self.positions += positions

    def flush(self) -> None:
        os.fsync(self._handle)

    def close(self) -> None:
        os.close(self._handle)


# ── The run ──


class Run:
    """``Run("runs/go9", game="go9").learn(minutes=10)``. The same folder goes on where it stopped."""

    def __init__(
        self,
        path: str | Path,
        game: str | None = None,
        preset: str | None = None,
        changes: Sequence[str] | Mapping[str, object] = (),
    ) -> None:
        """``changes``: settings such as ``train.rate=0.002``. A run that has begun keeps its game and its network."""
        # Threads of torch that wait for each other sleep: where others use the cores too, spinning is 20 times slower.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        if "," in str(path):
            raise ValueError(f"{path} has a comma in its name, which a player such as net:PATH,visits=100 cannot have")
        self.folder = Folder(path)
        if not self.folder.begun:
            if game is None:
                raise ValueError(f"there is no run in {path} yet: say which game to learn")
            self.config = config.changed(config.preset(game, preset or "laptop"), changes)
        else:
            begun = config.read(self.folder.config)
            if game is not None and game_of(game) != game_of(begun.game):
                raise ValueError(f"{path} learns {begun.game}, not {game}: give another folder by --run")
            if preset is not None and preset != begun.preset:
                raise ValueError(
                    f"{path} was begun with preset {begun.preset}, not {preset}: give another folder by --run"
                )
            self.config = config.changed(begun, changes)
            for name in config.differences(begun, self.config):
                if name.startswith(_FIXED):
                    raise ValueError(f"{name} cannot be changed in a run that has begun: give another folder by --run")
        self.game = game_of(self.config.game)

    def learn(
        self,
        *,
        minutes: float | None = None,
        steps: int | None = None,
        rounds: int | None = None,
        watch: Watcher | None = None,
        source: "Callable[..., Source]" = here,
    ) -> dict[str, Any]:
        """Learns for so many minutes, steps of training or whole rounds from now on; Ctrl-C and SIGTERM end it sooner.

        ``watch`` is told what happens. ``source`` makes what plays the games: this machine, or see ``cluster``. Returns
        the last counters.
        """
        if minutes is not None and not minutes >= 0:
            raise ValueError(f"minutes is {minutes:g}: give at least 0")
        if minutes is None and steps is None and rounds is None:
            minutes = self.config.run.minutes
        with self.folder.locked(), _Signals() as signals:
            if self.folder.begun:
                version = self.folder.manifest().get("version")
                if version != self.game.version:
                    raise ValueError(
                        f"{self.folder.path} was begun with version {version} of {self.game.name}, and this is version "
                        f"{self.game.version}: give another folder by --run"
                    )
                self.folder.write_config(self.config)
            else:
                self.folder.begin(self.config, self._manifest())
            try:
                session = _Session(self, watch or (lambda event, facts: None), signals, source)
                try:
                    return session.learn(minutes, steps, rounds)
                finally:
                    session.close()
            except ArithmeticError as trouble:
                raise ValueError(f"{trouble}; the last save is from before that") from None
            except OSError as trouble:
                if trouble.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise ValueError(
                        f"the disk is full: make room and give the same command; the games and the last save "
                        f"in {self.folder.path} are sound"
                    ) from None
                raise

    def _manifest(self) -> dict[str, Any]:
        return {
            "tesuji": tesuji.__version__,
            "game": self.game.name,
            "numbers": self.game.numbers,
            "version": self.game.version,
            "preset": self.config.preset,
            "seed": self.config.run.seed,
            "created": time.strftime("%Y-%m-%d %H:%M:%S %z"),
            "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
            "machine": f"{platform.system()} {platform.machine()}, {cores()} cores",
            "python": platform.python_version(),
        }


class _Signals:
    """The first Ctrl-C or SIGTERM asks for an end; the second Ctrl-C is one."""

    def __init__(self) -> None:
        self.stop = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._asked) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Stopped(Exception):  # noqa: N818 (no error: somebody asked)
    """A match was left in the middle."""


class _Session:
    """One process's part of a run."""

    def __init__(self, run: Run, watch: Watcher, signals: _Signals, source: "Callable[..., Source]") -> None:
        from tesuji.nets import Net
        from tesuji.replay import Window
        from tesuji.train import Learner

        self._folder, self._config, self._game = run.folder, run.config, run.game
        self._watch, self._signals = watch, signals
        c = self._config
        self._began = self._saved = time.monotonic()
        self._end = math.inf
        self._last_step = sys.maxsize

        # Step 1. The newest sound save, if there is one.
        net = Net(self._game, c.net, c.run.encoding, seed=c.run.seed)
        if c.run.start and not self._folder.saved:
            net = self._first_net(Path(c.run.start))
        self._learner: Learner = Learner(net, c.train, c.run.device)
        self._kept: dict[str, float] = {"round": 0, "seconds": 0.0, "arena": 0.0, "best": 0, "saves": 0}
        self._totals: dict[str, float] = {}  # of self-play, by the sessions before this one
        self._restore()
        self._folder.cut_lines(int(self._kept["round"]))

        # Step 2. The games on disk, and of these the window.
        self._games = _Games(self._folder)
        for note in self._games.notes:
            watch("note", {"text": note})
        self._window = Window(
            self._game,
            c.run.encoding,
            value_mix=c.replay.value_mix,
            value_plies=c.replay.value_plies,
            threads=cores(),
        )
        size = c.replay.window(self._games.positions)
        for frames in self._games.newest(size):
            self._window.append(frames)
            self._window.trim(size)

        # Step 3. Games under way, with the network that plays.
        playing = self._learner.averaged()
        if c.run.gating == "best":
            if self._learner.steps == 0:
                self._store()  # the first best
            playing = self._load(int(self._kept["best"]))
        self._playing = int(self._kept["best"]) if c.run.gating == "best" else self._learner.steps
        seed = _seed(c.run.seed, "games", self._games.games)  # not those of the session before once more
        if c.run.teacher:
            teacher = Folder(c.run.teacher).check()
            self._source: Source = Pupil(c.run.teacher, teacher.game_files, teacher.learning, self._games.games)
        else:
            self._source = source(c, playing, steps=self._playing, seed=seed)
        self._round_began = self._source.positions
        self._waiting: list[bytes] = []  # frames that are on disk, and not yet in the window

    def close(self) -> None:
        self._source.close()
        self._games.close()

    # ── The loop ──

    def learn(self, minutes: float | None, steps: int | None, rounds: int | None) -> dict[str, Any]:
        if minutes is not None:
            self._end = self._began + 60 * minutes
        if steps is not None:
            self._last_step = self._learner.steps + steps
        last_round = math.inf if rounds is None else self._kept["round"] + rounds
        self._watch(
            "begin",
            {
                "digest": self._window.digest,
                "game": self._config.game,
                "folder": str(self._folder.path),
                "limit": minutes,
            }
            | self._now(),
        )
        try:
            while not (self._over() or self._source.ended) and self._kept["round"] < last_round:
                self._round()
                if self._due("arena") and not self._signals.stop:
                    self._measure()
        except _Stopped:
            pass
        if self._source.ended:
            self._watch("note", {"text": f"all games of {self._config.run.teacher} are learned"})
        self._save()
        self._watch("end", {"asked": self._signals.stop, "folder": str(self._folder.path)} | self._now())
        return self._now()

    def _over(self) -> bool:
        return self._signals.stop or time.monotonic() >= self._end or self._learner.steps >= self._last_step

    def _round(self) -> None:
        """New positions, the steps that they are worth, and the new weights into play."""
        began, before = time.monotonic(), self._counters()
        self._play()
        played = time.monotonic()
        steps = self._learner.steps
        facts = self._train()
        trained = time.monotonic()
        self._kept["round"] += 1
        gate = self._publish()
        if self._config.run.keep and self._kept["round"] % self._config.run.keep == 0:
            self._store()
        line = self._line(before, steps, facts, played - began, trained - played, time.monotonic() - began)
        if gate is not None:
            line["gate"] = round(gate, 4)
        self._folder.add_metrics(line)
        self._watch("round", line)
        if self._due("save"):
            self._save()

    def _play(self) -> None:
        target = self._round_began + self._config.run.positions
        self._fill()
        while (left := target - self._source.positions) > 0 and not (self._over() or self._source.ended):
            self._keep(self._source.play(positions=left, seconds=_SLICE, stop=lambda: self._signals.stop))
            self._fill()
            self._watch("playing", self._now())
        self._round_began = self._source.positions
        self._window.trim(self._config.replay.window(self._games.positions))

    def _keep(self, frames: bytes) -> None:
        """Games go to disk, and whoever played them is told so."""
        if frames:
            self._games.append(frames)
            self._waiting.append(frames)
        self._source.acknowledge(self._games.flush)

    def _fill(self) -> None:
        """The window takes what waits for it."""
        for frames in self._waiting:
            self._window.append(frames)
        self._waiting.clear()

    def _collect(self) -> None:
        """Games that others finished while the learner trains; no more of them than it can learn from in two rounds."""
        c = self._config
        learned = self._learner.steps * c.train.batch / c.replay.ratio if c.replay.ratio else math.inf
        room = learned + 2 * c.run.positions - self._games.positions
        if room > 0 and (frames := self._source.arrived(positions=room)):
            self._keep(frames)

    def _train(self) -> dict[str, float]:
        """Steps until every position on disk was learned from as often as it should be. Returns means."""
        c = self._config
        if self._window.positions < c.run.positions:
            return {}  # the first games to end are the short ones: wait for others
        first = self._learner.steps
        owed = int(self._games.positions * c.replay.ratio / c.train.batch)
        told: list[Mapping[str, float]] = []
        seeds = (_seed(c.run.seed, "samples", step) for step in range(first, owed))
        for batch in self._window.batches(c.train.batch, seeds):
            self._learner.minutes = self._seconds() / 60
            told.append(self._learner.step(batch))
            self._collect()
            self._watch("training", self._now())
            if self._over():
                break
            if self._due("save"):
                self._save()
        sound = [one for one in told if math.isfinite(one["loss"]) and math.isfinite(one["grad_norm"])]
        if not sound:
            return {}
        facts = {key: math.fsum(one[key] for one in sound) / len(sound) for key in sound[-1]}
        worst = max(one["grad_norm"] for one in sound)
        return facts | {"rate": sound[-1]["rate"], "grad_norm_max": worst, "refused": len(told) - len(sound)}

    def _publish(self) -> float | None:
        """New weights go into play: at once, or when they have won their match. Returns their score in it."""
        c, steps = self._config.run, self._learner.steps
        score = None
        if steps == self._playing:
            return score
        if c.gating == "best":
            if self._kept["round"] % c.gate_rounds:
                return score
            played = self._match(self._store(), self._player(self._playing), c.gate_games)
            text = f"network {steps} scored {played.score:.0%} against the best, {self._playing}"
            self._watch("note", {"text": text})
            score = played.score
            if score < c.gate_threshold:
                return score
            self._kept["best"] = steps
        self._source.publish(self._learner.averaged(), steps)
        self._playing = steps
        return score

    # ── Saving ──

    def _due(self, what: str) -> bool:
        c, now = self._config.run, time.monotonic()
        if what == "save":
            return now - self._saved >= c.save
        return c.arena > 0 and self._learner.steps > 0 and self._seconds() - self._kept["arena"] >= 60 * c.arena

    def _seconds(self) -> float:
        """Of all sessions."""
        return self._kept["seconds"] + time.monotonic() - self._began

    def _save(self) -> None:
        """Games first, so that a state never knows of games that the disk does not."""
        from tesuji.train import pack

        self._games.flush()
        self._store()
        self._kept["saves"] += 1
        kept = self._kept | {"seconds": self._seconds()}
        content = pack({"learner": self._learner.state(), "kept": kept, "totals": self._counters()})
        self._folder.write_state(int(kept["saves"]), content)
        self._saved = time.monotonic()
        self._tidy()
        self._watch("saved", self._now())

    def _first_net(self, path: Path) -> "Net":
        """The net of another run, or one that ships, of the same build; with no steps behind it."""
        from tesuji import nets

        c = self._config
        if path.suffix == ".onnx":
            from tesuji import onnxfile

            net = onnxfile.read(path, self._game)
        else:
            net = nets.load(path, self._game)
        if net.settings != c.net or net.encoding != c.run.encoding:
            raise ValueError(
                f"{path} is a net of another build ({net.describe()}): give this run the same net.* settings"
            )
        net.step, net.extra = 0, {}
        return net

    def _restore(self) -> None:
        from tesuji.train import unpack

        lost: list[int] = []
        for number, content in self._folder.read_states():
            if content is None:
                lost.append(number)
                continue
            state = unpack(content)
            self._learner.restore(state["learner"])
            self._kept, self._totals = state["kept"], state["totals"]
            for damaged in lost:
                self._watch("note", {"text": f"save {damaged} is damaged: going on from save {number}, the one before"})
            return
        if lost:
            raise ValueError(
                f"all saves in {self._folder.path} are damaged: the games are still there; begin a new run, or put a "
                "sound copy of state/ in place"
            )

    def _store(self) -> int:
        """Writes the newest network, where it is not there yet. Returns its steps."""
        from tesuji import nets

        steps = self._learner.steps
        plain, playable = self._folder.net(steps), self._folder.net(steps, ".onnx")
        if not plain.exists():
            nets.save(self._learner.averaged(), plain)
        if not playable.exists():
            nets.export_onnx(self._learner.averaged(), playable)
        return steps

    def _load(self, steps: int) -> "Net":
        from tesuji import nets

        return nets.load(self._folder.net(steps), self._game)

    def _tidy(self) -> None:
        """Of the networks those that were measured stay, those to be kept, the best and the newest."""
        there = self._folder.nets()
        stay = {line["net"] for line in self._folder.arena()} | {int(self._kept["best"]), self._playing, there[-1]}
        if every := self._config.run.keep:
            stay |= {line["steps"] for line in self._folder.metrics() if line["round"] % every == 0}
        for steps in set(there) - stay:
            for suffix in (".safetensors", ".onnx"):
                self._folder.net(steps, suffix).unlink(missing_ok=True)

    # ── Numbers ──

    def _counters(self) -> dict[str, float]:
        """Self-play's, over all sessions."""
        return {name: self._totals.get(name, 0) + value for name, value in self._source.counters().items()}

    def _now(self) -> dict[str, Any]:
        return {
            "minutes": round(self._seconds() / 60, 4),
            "session_minutes": round((time.monotonic() - self._began) / 60, 4),
            "round": int(self._kept["round"]),
            "games": self._games.games,
            "positions": self._games.positions,
            "steps": self._learner.steps,
            "window": self._window.positions,
        } | self._source.facts()

    def _line(
        self,
        before: Mapping[str, float],
        steps_before: int,
        facts: Mapping[str, float],
        playing: float,
        training: float,
        all_of_it: float,
    ) -> dict[str, Any]:
        """A line of metrics.jsonl."""
        c, now = self._config, self._counters()
        made = defaultdict(float, {name: value - before.get(name, 0) for name, value in now.items()})
        games, steps = made["games"], self._learner.steps
        busy = made["seconds_busy"] / max(1, self._source.at_work)
        if self._source.beside:  # others play all the time
            playing = all_of_it
        else:
            busy += training

        def share(part: float, whole: float) -> float | None:
            return round(part / whole, 5) if whole > 0 else None

        return self._now() | {
            "time": round(time.time(), 1),
            "seconds": round(all_of_it, 3),
            "length": share(made["plies"], games),
            "first_score": share(made["first_wins"] + made["draws"] / 2, games),
            "draws": share(made["draws"], games),
            "resigned": share(made["resigned"], games),
            "solved": share(made["solved"], games),
            "resign_wrong": share(made["resign_wrong"], made["resign_checked"]),
            "evaluations_per_second": share(made["evaluations"], playing),
            "simulations_per_second": share(made["simulations"], playing),
            "positions_per_second": share(made["positions"], playing),
            "samples_per_second": share((steps - steps_before) * c.train.batch, training),
            "batch_fill": share(made["evaluations"], made["slots"]),
            "device_busy": share(busy, all_of_it),
            "net_age": steps - self._playing,
            "window_age": round(steps - self._window.net, 1),
            "ratio": share(steps * c.train.batch, self._games.positions),
            **{name: round(value, 6) for name, value in facts.items()},
        }

    # ── Strength ──

    def _player(self, steps: int) -> str:
        rule = self._config.selfplay.rule
        # It is the network that is measured, no solver.
        return f"net:{self._folder.net(steps, '.onnx')},visits={self._config.run.visits},rule={rule},solve=0"

    def _match(self, steps: int, opponent: str, games: int) -> arena.Match:
        def watch(records: Mapping[int, GameRecord], total: int) -> None:
            self._watch("match", {"opponent": opponent, "games": len(records), "of": total} | self._now())
            if self._signals.stop:
                raise _Stopped

        workers = 1 if games <= arena.FEW else cores()
        return arena.match(
            self._player(steps), opponent, game=self._game, games=games, seed=steps, workers=workers, watch=watch
        )

    def _measure(self) -> None:
        """The newest network against the anchors and two of those before it."""
        c = self._config.run
        steps = self._store()
        lines = self._folder.arena()
        nets = [line["net"] for line in lines if line["net"] != steps]
        earlier = sorted({nets[-1], nets[len(nets) // 2]}) if nets else []
        matches = []
        for name, text in [
            *((a, a) for a in c.anchors if not _beaten(lines, a)),
            *((n, self._player(n)) for n in earlier),
        ]:
            played = self._match(steps, text, c.arena_games)
            matches.append({"opponent": name, "wins": played.wins, "draws": played.draws, "losses": played.losses})
        self._kept["arena"] = self._seconds()
        line = self._now() | {"time": round(time.time(), 1), "net": steps, "matches": matches}
        rating = ratings([*lines, line], c.anchors[0] if c.anchors else None).get(steps)
        line |= {"rating": rating and round(rating.elo, 1), "error": rating and round(rating.error, 1)}
        self._folder.add_arena(line)
        self._watch("arena", line)


def _beaten(lines: Sequence[Mapping[str, Any]], anchor: str) -> bool:
    """An anchor that lost everything in its last two matches has nothing more to tell."""
    last = [m for line in lines for m in line["matches"] if m["opponent"] == anchor][-2:]
    return len(last) == 2 and not any(m["draws"] or m["losses"] for m in last)


def ratings(lines: Sequence[Mapping[str, Any]], zero: str | None = None) -> dict[int | str, Rating]:
    """Bradley–Terry ratings of all that played in arena.jsonl: networks by their steps, anchors by their texts."""
    names: list[int | str] = []
    for line in lines:
        names += [name for name in (line["net"], *(m["opponent"] for m in line["matches"])) if name not in names]
    if len(names) < 2:
        return {}
    points = [[0.0] * len(names) for _ in names]
    for line in lines:
        ours = names.index(line["net"])
        for m in line["matches"]:
            theirs = names.index(m["opponent"])
            points[ours][theirs] += m["wins"] + m["draws"] / 2
            points[theirs][ours] += m["losses"] + m["draws"] / 2
    found = dict(zip(names, bradley_terry(points), strict=True))
    base = found[zero].elo if zero in found else 0.0
    return {name: Rating(rating.elo - base, rating.error) for name, rating in found.items()}


def _seed(*parts: object) -> int:
    """A number that these things decide."""
    return zlib.crc32(repr(parts).encode()) << 20 | zlib.crc32(repr(parts[::-1]).encode()) >> 12
