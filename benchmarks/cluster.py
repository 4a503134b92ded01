"""What a cluster costs and how it scales on this machine: evaluations a second beside plain `tesuji train`.

    python benchmarks/cluster.py [--game gomoku6x4] [--workers 1,2,4] [--seconds 8] [--turns 3] [--ratio 4]

All sides take turns, some seconds each, and the median of the turns' ratios counts. A worker plays as many games at
once as a thread of `tesuji train` does, and a turn begins when the last worker has begun. At first they only play
(``replay.ratio=0``); then they learn too.
Where other programs use the cores as well, more processes get more of them: evaluations by the second of CPU time, of
the learner and its workers, tell what the way through Ray costs even then; Ray's own processes take a share of a core
beside that, however much is played. At the end the figures for the model in docs/cluster.md: bytes of a net and of a
position, and what the learner can take in.
"""

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tesuji
from tesuji import _core, cluster
from tesuji.cluster import learning
from tesuji.machine import cores
from tesuji.nets import onnx_bytes
from tesuji.replay import Window
from tesuji.run import Folder, Run
from tesuji.source import here


class Turn:
    """One side's turn: plays, and learns if the ratio says so, for some seconds after all workers are there."""

    def __init__(self, game: str, workers: int, seconds: float, ratio: float, games: int) -> None:
        self._seconds = seconds
        self._workers = workers
        self._source: Any = None
        self._positions = 0
        self._marks: list[tuple[float, float, float, float]] = []  # time, CPU time, Ray's, evaluations
        with tempfile.TemporaryDirectory() as folder:
            changes = [
                f"replay.ratio={ratio}",
                "run.arena=0",
                "run.save=1000",
                f"selfplay.games={games * (1 if workers else cores())}",
            ]
            run = Run(Path(folder) / "run", game, changes=changes)

            with contextlib.suppress(StopIteration):
                run.learn(minutes=10, watch=self._look, source=self._make)
            self.frames = run.folder.last_frames()[: 1 << 16]
            self.frames = self.frames[: _core.scan_frames(self.frames)[0]]
            self.record = sum(path.stat().st_size for path in Folder(run.folder.path).game_files()) / max(
                1, self._positions
            )
        self.net = len(onnx_bytes(self._net))
        seconds, spent, by_ray, made = (b - a for a, b in zip(self._marks[0], self._marks[-1], strict=True))
        self.speed, self.thrift, self.by_ray = made / seconds, made / spent, by_ray / seconds

    def _make(self, config: Any, net: Any, *, steps: int, seed: int) -> Any:
        self._net = net
        if not self._workers:
            self._source = here(config, net, steps=steps, seed=seed)
        else:
            with cluster.connected() as ray:  # it is already
                kinds = [cluster.Kind(count=self._workers)]
                self._source = learning.Pool(ray, kinds, print, config, net, steps, seed)
        return self._source

    def _look(self, event: str, facts: Mapping[str, Any]) -> None:
        if event not in ("playing", "training") or facts.get("workers", 0) < self._workers:
            return
        now, made = time.perf_counter(), self._source.counters().get("evaluations", 0.0)
        if not self._marks or made > self._marks[-1][3]:
            self._marks.append((now, *cpu_seconds(), made))
            self._positions = facts["positions"]
        if now - self._marks[0][0] >= self._seconds:
            raise StopIteration


def cpu_seconds() -> tuple[float, float]:
    """Of this process and its workers; and of its other descendants, which are Ray's."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    workers = {os.getpid()}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            number = int(path.parent.name)
            if (path.parent / "cmdline").read_bytes().startswith(b"ray::Worker"):
                workers.add(number)
            parents[number], spent[number] = int(words[1]), (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(spent[number] for number in ours & workers), sum(spent[number] for number in ours - workers)


def middle(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def measure(game: str, workers: list[int], seconds: float, turns: int, ratio: float, games: int) -> bytes:
    """Prints a table; some of the games."""
    speeds: dict[int, list[float]] = {count: [] for count in (0, *workers)}
    thrifts: dict[int, list[float]] = {count: [] for count in (0, *workers)}
    by_ray: list[float] = []
    turn: Any = None
    for _ in range(turns):
        for count in speeds:
            turn = Turn(game, count, seconds, ratio, games)
            speeds[count].append(turn.speed)
            thrifts[count].append(turn.thrift)
            by_ray += [turn.by_ray] * (count > 0)
    print(f"\n{'learning' if ratio else 'playing only'}, replay ratio {ratio:g}")
    print(f"{'side':16}{'evaluations/s':>15}{'of plain':>10}{'a CPU second':>14}{'of plain':>10}{'scaling':>9}")
    for count, found in speeds.items():
        name = "tesuji train" if not count else f"{count} worker{'s' if count > 1 else ''}"
        cells = [f"{statistics.median(found):,.0f}", f"{middle(found, speeds[0]):.0%}"]
        cells += [f"{statistics.median(thrifts[count]):,.0f}", f"{middle(thrifts[count], thrifts[0]):.0%}"]
        scaling = f"{middle(found, speeds[1]) / min(count, cores()):.0%}" if count and 1 in speeds else ""
        print(f"{name:16}{cells[0]:>15}{cells[1]:>10}{cells[2]:>14}{cells[3]:>10}{scaling:>9}", flush=True)
    print(f"Ray's own processes take {statistics.median(by_ray):.1%} of a core beside that")
    print(f"a net of {turn.net:,} bytes, {turn.record:.1f} bytes of record a position")
    return bytes(turn.frames)


class Answers:
    """A worker that always has the same batch."""

    def __init__(self, frames: bytes) -> None:
        self._frames = frames
        self._number = 0

    def take(self, acknowledged: int, steps: int, net: Any) -> learning._Report:
        self._number += 1
        return learning._Report("", (learning._Batch(self._number, self._frames, 0),), {})


def intake(ray: Any, game: str, frames: bytes, seconds: float) -> None:
    """What one learner can take in: answers of workers, and positions for its window."""
    _, _, positions = _core.scan_frames(frames)
    workers = [ray.remote(Answers).options(num_cpus=0).remote(frames) for _ in range(4)]
    net = [ray.put(bytes(1 << 18))]
    asked = {worker.take.remote(0, 0, net): worker for worker in workers}
    ray.wait(list(asked), num_returns=len(asked))
    taken, began = 0, time.process_time()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        ready, _ = ray.wait(list(asked), num_returns=1, timeout=1)
        for reference in ready:
            worker = asked.pop(reference)
            taken += len(ray.get(reference).batches)
            asked[worker.take.remote(taken, 0, net)] = worker
    spent = time.process_time() - began
    for worker in workers:
        ray.kill(worker)
    window = Window(tesuji.game(game))
    appended, began = 0, time.process_time()
    while time.process_time() - began < 1:
        window.append(frames)
        window.trim(100_000)
        appended += positions
    print(f"\nan answer of {len(frames):,} bytes costs the learner {1000 * spent / taken:.2f} ms of CPU time")
    print(f"its window takes in {appended:,} positions in a second of CPU time")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--game", default="gomoku6x4")
    options.add_argument("--workers", default="1,2,4")
    options.add_argument("--seconds", type=float, default=8.0)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--ratio", type=float, default=4.0)
    options.add_argument("--games", type=int, default=32, help="At once, of each core or worker.")
    given = options.parse_args()
    workers = [int(word) for word in given.workers.split(",")]
    print(f"{given.game}, {cores()} cores, load {os.getloadavg()[0]:.1f} at the start", flush=True)
    with cluster.connected(cpus=max(workers)) as ray:
        for ratio in (0.0, given.ratio):
            frames = measure(given.game, workers, given.seconds, given.turns, ratio, given.games)
        intake(ray, given.game, frames, given.seconds)
    print(f"load {os.getloadavg()[0]:.1f} at the end; scaling: of 1 worker's speed, by the core that is used")


if __name__ == "__main__":
    main()
