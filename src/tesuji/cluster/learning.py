"""Learning on many machines.

    learner: this process, an ordinary run in its folder             workers: actors, on any node
      publish ───── a net, once into the object store ─────────────▶ take it between two batches
      take(acknowledged=17) ───────────────────────────────────────▶ forget the batches up to 17
      append, fsync ◀──── batches 18 and 19, counters ────────────── play on; rest with two unacknowledged

A worker plays endless games by the same self-play as a run on one machine, and keeps a batch of finished games until it
hears that the learner has it on disk. The learner has at most one question open with each worker. Where the answer is
lost on its way the next one holds the same batches again, and their numbers tell which were had already; where the
worker is lost its batches are, and nobody had counted them. A worker that begins anew is another one, with numbers and
seeds of its own.

Both sides wait for each other: workers rest when the learner does not acknowledge, and it takes no more games than it
can learn from in two rounds; the learner trains only what the games on disk are worth. So the replay ratio is held
whatever the number of workers.
"""

import secrets
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tesuji
from tesuji import _core
from tesuji.cluster.connection import connected, ray_module
from tesuji.config import Config, Crowd
from tesuji.games import Game
from tesuji.games import game as game_of
from tesuji.run import Run, Watcher
from tesuji.selfplay import SelfPlaySettings
from tesuji.source import Here

if TYPE_CHECKING:
    from tesuji.nets import Net

__all__ = ["Kind", "Pool", "Worker", "cpus_of", "learn"]

_UNACKNOWLEDGED = 2  # batches that a worker holds before it rests
_BATCH_LEAST = 64  # positions of a batch, where the round is small or the workers are many
_BATCH_SECONDS = 1.0  # after which a worker looks for a new net, and hands over what there is
_PATIENCE = 2.0  # seconds that a worker lets the learner wait for a batch
_SILENCE = 60.0  # seconds without an answer after which a worker counts as lost
_LOOK = 0.25  # seconds between looks at the clock and the signals
_GLANCE = 0.05  # seconds between looks at workers while the learner trains
_TEND = 2.0  # seconds between looks at the nodes
_RECENT = 10.0  # seconds that the display's speeds are means of
_TRIES = 4  # failures in a row of a worker, with no other at work, before the run gives up


# ── A worker ──


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Workers of one kind, and what each of them takes of its node."""

    count: int | None = None
    """How many; None: as many as there is room for, also on nodes that join later."""
    cpus: int = 1
    """A worker has so many threads."""
    gpus: float = 0.0
    """A share of a GPU, such as 0.5, or whole ones."""

    def __post_init__(self) -> None:
        if self.count is not None and not 0 <= self.count <= 100_000:
            raise ValueError(f"{self.count} workers are not possible: give 0 to 100000")
        if not 1 <= self.cpus <= 1024:
            raise ValueError(f"a worker cannot have {self.cpus} CPUs: give 1 to 1024")
        if not 0 <= self.gpus <= 1:
            raise ValueError(f"a worker cannot have {self.gpus:g} GPUs: give a share from 0 to 1")


def cpus_of(kinds: Sequence[Kind]) -> int:
    """CPUs that these workers take, as far as their numbers are given."""
    if all(kind.count == 0 for kind in kinds):
        raise ValueError("nobody would play: give at least one worker")
    return sum((kind.count or 0) * kind.cpus for kind in kinds)


@dataclass(frozen=True, slots=True)
class _Task:
    """All that a worker must know, apart from the net."""

    tesuji: str
    game: str
    settings: SelfPlaySettings
    crowd: Crowd
    encoding: str
    kernel: str
    kind: Kind
    positions: int  # of a batch
    unacknowledged: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Hello:
    """A worker is ready."""

    incarnation: str
    node: str
    on_gpu: bool
    at_work: int


@dataclass(frozen=True, slots=True)
class _Batch:
    """Games that a worker finished. Its numbers count from 1."""

    number: int
    frames: bytes
    steps: int  # behind the net that was playing


@dataclass(frozen=True, slots=True)
class _Report:
    """What a worker holds."""

    incarnation: str
    batches: tuple[_Batch, ...]
    counters: dict[str, float]


class Worker:
    """Plays in a thread of its own, and answers the learner meanwhile."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._batches: deque[_Batch] = deque()
        self._news: tuple[bytes, int] | None = None
        self._counters: dict[str, float] = {}
        self._paused = 0.0  # seconds of rest
        self._resting: float | None = None  # since when
        self._trouble: Exception | None = None

    def start(self, task: _Task, steps: int, net: Sequence[Any]) -> _Hello:
        """Begins to play. ``net`` holds a reference to the net's bytes."""
        ray = ray_module()
        if tesuji.__version__ != task.tesuji:
            raise ValueError(f"it has tesuji {tesuji.__version__}, the learner has {task.tesuji}: install the same")
        self._task = task
        self._steps = steps
        self._incarnation = secrets.token_hex(8)
        game = game_of(task.game)
        content = ray.get(net[0])
        evaluator, on_gpu = _evaluator(content, game, task)
        self._here = Here(
            evaluator,
            task.settings,
            task.crowd,
            encoding=task.encoding,
            threads=task.kind.cpus,
            steps=steps,
            seed=task.seed,
        )
        threading.Thread(target=self._play, daemon=True).start()
        node = ray.get_runtime_context().get_node_id()
        return _Hello(self._incarnation, node, on_gpu, self._here.at_work)

    def take(self, acknowledged: int, steps: int, net: Sequence[Any]) -> _Report:
        """Forgets the batches up to that number, and gives those that are left, as soon as there is one."""
        with self._changed:
            while self._batches and self._batches[0].number <= acknowledged:
                self._batches.popleft()
            self._changed.notify_all()
        if steps != self._steps:
            content = ray_module().get(net[0])
            with self._changed:
                self._news, self._steps = (content, steps), steps
        with self._changed:
            self._changed.wait_for(lambda: self._batches or self._trouble, _PATIENCE)
            if self._trouble is not None:
                raise self._trouble
            resting = 0.0 if self._resting is None else time.perf_counter() - self._resting
            counters = self._counters | {"seconds_paused": self._paused + resting}
            return _Report(self._incarnation, tuple(self._batches), counters)

    def _play(self) -> None:
        """Endless games, in slices. The learner's silence is a rest."""
        try:
            number, steps = 0, self._steps
            while True:
                with self._changed:
                    self._resting = time.perf_counter()
                    self._changed.wait_for(lambda: len(self._batches) < self._task.unacknowledged)
                    self._paused += time.perf_counter() - self._resting
                    self._resting = None
                    news, self._news = self._news, None
                if news is not None:
                    content, steps = news
                    self._here.publish(content if not self._task.kind.gpus else _net(content), steps)
                frames = self._here.play(positions=self._task.positions, seconds=_BATCH_SECONDS, stop=lambda: False)
                with self._changed:
                    self._counters = self._here.counters()
                    if frames:
                        number += 1
                        self._batches.append(_Batch(number, frames, steps))
                    self._changed.notify_all()
        except Exception as trouble:
            with self._changed:
                self._trouble = trouble
                self._changed.notify_all()


def _evaluator(content: bytes, game: Game, task: _Task) -> tuple[Any, bool]:
    """The evaluator that suits what this worker has, and whether that is a GPU."""
    from tesuji.evaluate import OnnxEvaluator, choose_device, evaluator

    if not task.kind.gpus:
        return OnnxEvaluator(content, game), False
    device = choose_device("auto")  # Ray shows a worker its own GPU alone
    return evaluator(_net(content), game, device, kernel=task.kernel), device != "cpu"  # type: ignore[arg-type]


def _net(content: bytes) -> "Net":
    from tesuji import nets

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.safetensors"
        path.write_bytes(content)
        return nets.load(path)


def _weights(net: "Net") -> bytes:
    """What ``_net`` reads."""
    from tesuji import nets

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.safetensors"
        nets.save(net, path)
        return path.read_bytes()


# ── All workers ──


@dataclass(slots=True, eq=False)
class _Hand:
    """A worker as the learner sees it; one that dies leaves its place to the next."""

    kind: Kind
    actor: Any = None
    hello: _Hello | None = None
    question: Any = None  # a reference to the answer
    since: float = 0.0  # when it was last heard of
    not_before: float = 0.0  # when it may be asked, or begun, again
    taken: int = 0  # the last batch that was handed over
    failures: int = 0  # in a row, without a batch between
    counters: Mapping[str, float] = field(default_factory=dict)


class Pool:
    """The source of a run whose games are played on a cluster."""

    beside = True
    ended = False

    def __init__(
        self,
        ray: Any,
        kinds: Sequence[Kind],
        say: Callable[[str], None],
        config: Config,
        net: "Net",
        steps: int,
        seed: int,
    ) -> None:
        self._ray = ray
        self._say = say
        self._config = config
        self._seed = seed
        self._kinds = kinds
        self._actor = ray.remote(Worker)
        self._begun = 0  # workers, ever
        self._hands: list[_Hand] = []
        self._asked: dict[Any, _Hand] = {}
        self._handed: list[_Hand] = []  # whose batches wait for a place on disk
        self._past: defaultdict[str, float] = defaultdict(float)  # counters of workers that are no more
        self._tended = self._looked = 0.0
        self._told_of_room = False
        self._nets: dict[bool, list[Any]] = {}
        self._nets_before = self._nets
        self.positions = 0
        self._rested = 0.0  # seconds that all workers together have waited for the learner
        self._recent: deque[tuple[float, int, int, float, float]] = (
            deque()
        )  # time, games, positions, steps behind, rest
        self._facts: tuple[float, dict[str, Any]] = (0.0, {})  # and since when they are true
        self.publish(net, steps)
        self._tend()

    # What a run asks of its source

    @property
    def at_work(self) -> int:
        return sum(hand.hello.at_work for hand in self._hands if hand.hello)

    @property
    def _begun_playing(self) -> int:
        return sum(hand.hello is not None for hand in self._hands)

    def publish(self, net: "Net", steps: int) -> None:
        """Goes into the object store once in each form that somebody needs: a node fetches it for all its workers."""
        from tesuji.nets import onnx_bytes

        self._nets_before = self._nets  # until all have heard of the new one
        forms = {bool(kind.gpus) for kind in self._kinds if kind.count != 0}
        self._nets = {gpu: [self._ray.put(_weights(net) if gpu else onnx_bytes(net))] for gpu in forms}
        self._steps = steps

    def play(self, *, positions: float, seconds: float, stop: Callable[[], bool]) -> bytes:
        target, end = self.positions + positions, time.monotonic() + seconds
        frames: list[bytes] = []
        while True:
            self._tend()
            for hand in self._ready(max(0.0, min(_LOOK, end - time.monotonic()))):
                frames += self._receive(hand)
                if self.positions >= target:
                    break
            # Who has handed over is asked for more when what he gave is on disk: half of them should not wait for it.
            enough = self.positions >= target or (frames and 2 * len(self._handed) >= self._begun_playing)
            if enough or time.monotonic() >= end or stop():
                return b"".join(frames)

    def arrived(self, *, positions: float) -> bytes:
        now = time.monotonic()
        if now - self._looked < _GLANCE:
            return b""
        self._looked = now
        return self.play(positions=positions, seconds=0.0, stop=lambda: True)

    def acknowledge(self, flush: Callable[[], None]) -> None:
        if not self._handed:
            return
        flush()
        handed, self._handed = self._handed, []
        for hand in handed:
            if hand.hello is not None and hand.question is None:  # else it was lost meanwhile
                self._ask(hand)

    def counters(self) -> dict[str, float]:
        total = defaultdict(float, self._past)
        for hand in self._hands:
            _add(total, hand.counters)
        return total

    def facts(self) -> dict[str, Any]:
        """Nodes that play, workers there and wanted, games a second, by how many steps the newest games are behind the
        net, and the share of the time in which workers wait for the learner."""
        if time.monotonic() - self._facts[0] >= _GLANCE:
            self._facts = time.monotonic(), self._look()
        return self._facts[1]

    def close(self) -> None:
        for hand in self._hands:
            if hand.actor is not None:
                self._ray.kill(hand.actor)

    def _look(self) -> dict[str, Any]:
        now = time.monotonic()
        while self._recent and self._recent[0][0] < now - _RECENT:
            self._recent.popleft()
        there = [hand.hello for hand in self._hands if hand.hello]
        games = sum(part[1] for part in self._recent)
        positions = sum(part[2] for part in self._recent)
        behind = sum(part[2] * part[3] for part in self._recent)
        first, last = (self._recent[0], self._recent[-1]) if self._recent else ((now, 0, 0, 0, 0.0),) * 2
        over, told = now - first[0], last[0] - first[0]  # seconds until now, and until the last report
        resting = (last[4] - first[4]) / told / len(there) if told and there else None
        return {
            "nodes": len({hello.node for hello in there}),
            "workers": len(there),
            "workers_wanted": len(self._hands),
            "games_per_second": round(games / over, 2) if over >= 1 else None,
            "lag": round(behind / positions, 1) if positions else None,
            "resting": None if resting is None else round(min(1.0, resting), 4),
        }

    # Workers come and go

    def _tend(self) -> None:
        now = time.monotonic()
        if now - self._tended >= _TEND:
            self._tended = now
            for kind, wanted in zip(self._kinds, self._wanted(), strict=True):
                hands = [hand for hand in self._hands if hand.kind is kind]
                self._hands += [_Hand(kind) for _ in range(wanted - len(hands))]
                # One too many goes only where it has not begun: a node has left, and its room with it.
                for hand in [hand for hand in hands if hand.hello is None][: max(0, len(hands) - wanted)]:
                    self._forget(hand)
                    self._hands.remove(hand)
            if not self._hands and not self._told_of_room:
                self._told_of_room = True
                self._say("there is no room for a worker in the cluster yet: it begins when there is")
            for hand in self._hands:
                if hand.question is not None and hand.hello is not None and now - hand.since > _SILENCE:
                    there, _ = self._ray.wait([hand.question], timeout=0)
                    if there:
                        continue  # it is we who did not listen
                    self._lost(hand, f"said nothing for {_SILENCE:g} seconds")
        for hand in self._hands:
            if hand.question is None and now >= hand.not_before:
                if hand.actor is None:
                    self._begin(hand)
                elif hand.not_before and hand.hello is not None:
                    self._ask(hand)  # once more: the last answer did not come

    def _wanted(self) -> list[int]:
        """How many workers of each kind. Where that is left to the cluster, those with GPUs come first."""
        wanted = [kind.count or 0 for kind in self._kinds]
        if all(kind.count is not None for kind in self._kinds):
            return wanted
        free = [dict(node["Resources"]) for node in self._ray.nodes() if node["Alive"]]
        order = sorted(
            range(len(self._kinds)), key=lambda number: (self._kinds[number].count is None, -self._kinds[number].gpus)
        )
        for number in order:
            kind = self._kinds[number]
            left = kind.count
            for node in free:
                room = int(node.get("CPU", 0) // kind.cpus)
                if kind.gpus:
                    room = min(room, int(node.get("GPU", 0) / kind.gpus + 1e-6))
                room = room if left is None else min(room, left)
                node["CPU"] = node.get("CPU", 0) - room * kind.cpus
                node["GPU"] = node.get("GPU", 0) - room * kind.gpus
                if left is None:
                    wanted[number] += room
                else:
                    left -= room
        return wanted

    def _begin(self, hand: _Hand) -> None:
        """Asks Ray for an actor; where there is no room, it comes when there is."""
        c, kind = self._config, hand.kind
        several = max(1, sum(1 for other in self._hands))
        task = _Task(
            tesuji.__version__,
            c.game,
            c.selfplay,
            c.crowd,
            c.run.encoding,
            c.run.kernel,
            kind,
            max(_BATCH_LEAST, c.run.positions // (2 * several)),
            _UNACKNOWLEDGED,
            self._seed + (self._begun << 8),  # lanes take the numbers between
        )
        self._begun += 1
        hand.actor = self._actor.options(num_cpus=kind.cpus, num_gpus=kind.gpus, max_restarts=0).remote()
        hand.hello, hand.taken, hand.not_before = None, 0, 0.0
        self._question(hand, hand.actor.start.remote(task, self._steps, self._nets[bool(kind.gpus)]))

    def _ask(self, hand: _Hand) -> None:
        hand.not_before = 0.0
        self._question(hand, hand.actor.take.remote(hand.taken, self._steps, self._nets[bool(hand.kind.gpus)]))

    def _question(self, hand: _Hand, reference: Any) -> None:
        hand.question, hand.since = reference, time.monotonic()
        self._asked[reference] = hand

    def _ready(self, seconds: float) -> list[_Hand]:
        """Those who have answered, after so many seconds at most."""
        if not self._asked:
            time.sleep(seconds)
            return []
        references = list(self._asked)
        there, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        if not there and seconds:
            there, _ = self._ray.wait(references, num_returns=1, timeout=seconds)
        return [self._asked[reference] for reference in there]

    def _receive(self, hand: _Hand) -> list[bytes]:
        """The frames of an answer that we do not have yet."""
        exceptions = self._ray.exceptions
        reference, hand.question = hand.question, None
        del self._asked[reference]
        try:
            answer = self._ray.get(reference)
        except exceptions.RayTaskError as trouble:
            self._lost(hand, " ".join(str(trouble.cause).split())[:200], by_fault=True)
            return []
        except exceptions.RayError as trouble:
            passing = exceptions.ActorUnavailableError, exceptions.ObjectLostError, exceptions.GetTimeoutError
            if isinstance(trouble, passing) and hand.hello is not None:
                hand.not_before = time.monotonic() + 1.0  # it is asked once more then
            else:
                self._lost(hand, "died")
            return []
        hand.since = time.monotonic()
        if isinstance(answer, _Hello):
            if hand.kind.gpus and not answer.on_gpu:
                self._say("a worker with a share of a GPU finds none: it plays on the CPU")
            hand.hello = answer
            self._ask(hand)
            return []
        assert isinstance(answer, _Report)
        return self._accept(hand, answer)

    def _accept(self, hand: _Hand, report: _Report) -> list[bytes]:
        self._rested += report.counters.get("seconds_paused", 0.0) - hand.counters.get("seconds_paused", 0.0)
        hand.counters = report.counters
        known = hand.hello is not None and report.incarnation == hand.hello.incarnation
        new = [batch for batch in report.batches if known and batch.number > hand.taken]
        if not new:
            self._ask(hand)
            return []
        scanned = [_core.scan_frames(batch.frames) for batch in new]
        if any(sound < len(batch.frames) for (sound, _, _), batch in zip(scanned, new, strict=True)):
            self._lost(hand, "its games are damaged", by_fault=True)
            return []
        hand.taken, hand.failures = new[-1].number, 0
        self._handed.append(hand)
        now = time.monotonic()
        for batch, (_, games, positions) in zip(new, scanned, strict=True):
            self.positions += positions
            self._recent.append((now, games, positions, self._steps - batch.steps, self._rested))
        return [batch.frames for batch in new]

    def _lost(self, hand: _Hand, reason: str, *, by_fault: bool = False) -> None:
        """``by_fault``: not by the death of its process."""
        hand.failures += 1
        others = sum(other.hello is not None for other in self._hands if other is not hand)
        self._say(f"a worker is lost ({reason}): {others} of {len(self._hands)} play on")
        if by_fault and hand.failures >= _TRIES and not others:
            raise ValueError(f"no worker can play: {reason}")
        self._forget(hand)
        hand.not_before = time.monotonic() + min(30.0, 0.25 * 2**hand.failures - 0.5)

    def _forget(self, hand: _Hand) -> None:
        if hand.question is not None:
            del self._asked[hand.question]
        if hand.actor is not None:
            self._ray.kill(hand.actor)
        _add(self._past, hand.counters)
        hand.actor = hand.hello = hand.question = None
        hand.counters = {}


def _add(total: dict[str, float], more: Mapping[str, float]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0.0) + value


# ── Learning ──


def learn(
    run: Run,
    *,
    address: str | None = None,
    kinds: Sequence[Kind] = (Kind(),),
    minutes: float | None = None,
    steps: int | None = None,
    rounds: int | None = None,
    watch: Watcher | None = None,
) -> dict[str, Any]:
    """As ``run.learn``, with its games from workers of these kinds on the cluster at ``address``."""
    tell = watch or (lambda event, facts: None)
    if run.config.run.teacher:
        raise ValueError(
            f"{run.folder.path} learns from {run.config.run.teacher} and plays no games: use `tesuji train`"
        )

    def pool(config: Config, net: "Net", *, steps: int, seed: int) -> Pool:
        return Pool(ray, kinds, lambda text: tell("note", {"text": text}), config, net, steps, seed)

    with connected(address, cpus=cpus_of(kinds)) as ray:
        return run.learn(minutes=minutes, steps=steps, rounds=rounds, watch=tell, source=pool)
