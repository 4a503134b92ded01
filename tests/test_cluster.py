"""Clusters: real raylets on this machine, which are killed like everything else."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import tesuji
from tesuji import _core

pytest.importorskip("torch")
pytest.importorskip("ray")

from networks import lively

from tesuji import cluster, config, nets, watch
from tesuji.arena import match
from tesuji.cluster import Kind, learning, matches
from tesuji.cluster.connection import ray_module
from tesuji.cluster.learning import Pool, Worker
from tesuji.nets import Net, export_onnx, onnx_bytes
from tesuji.records import read_records
from tesuji.replay import Window
from tesuji.run import Folder, Run
from tesuji.train import Learner, TrainSettings

TESUJI = [sys.executable, "-m", "tesuji.cli"]
SMALL = [
    *("net.channels=4", "net.blocks=1", "net.policy_channels=4", "net.value_channels=4", "net.value_hidden=8"),
    # Every search has noise: of games without any the same net may play the same twice.
    *("selfplay.visits=4", "selfplay.full_share=1", "selfplay.games=8"),
    *("train.batch=32", "train.decay=constant", "replay.ratio=2"),
    *("replay.window_min=500", "replay.window_max=2000"),
    *("run.positions=200", "run.save=1000", "run.arena=0", "run.device=cpu"),
]
BATCH, RATIO, ROUND = 32, 2, 200
WAIT = 120.0  # seconds after which something that should happen has not
REST = 0.05  # seconds that a learner takes off in each step while raylets begin, so that they have the cores
COUNTERS = ("round", "games", "positions", "steps", "minutes")


class Machines:
    """A cluster whose nodes are raylets here: the head, and one or more beside it that can be killed.

    Raylets take seconds to begin, so tests share them as long as nobody has killed any: those that kill come last.
    """

    def __init__(self) -> None:
        ray_module()  # with its settings
        from ray.cluster_utils import Cluster

        # A dead node is noticed after two seconds, not after some twenty; and no process begins that nobody asked for.
        config = {
            "health_check_initial_delay_ms": 500,
            "health_check_period_ms": 500,
            "health_check_failure_threshold": 4,
            "prestart_worker_first_driver": False,
            "enable_worker_prestart": False,
        }
        head = {"num_cpus": 2, "include_dashboard": False, "_system_config": config}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        self._nodes: list[Any] = []

    def add(self, gpus: int = 0) -> Any:
        """Another node with two CPUs."""
        node = self._cluster.add_node(num_cpus=2, num_gpus=gpus, wait=False)
        self._nodes.append(node)
        return node

    def kill(self, node: Any) -> None:
        """As power does. Its workers notice, and end."""
        self._nodes.remove(node)
        for processes in node.all_processes.values():
            for process in processes:
                process.process.kill()
                process.process.wait()
        self._cluster.worker_nodes.discard(node)

    def both(self) -> list[Any]:
        """The head, and one node beside it."""
        while len(self._nodes) > 1:
            self.kill(self._nodes[-1])
        return [self._cluster.head_node, self._nodes[0] if self._nodes else self.add()]

    def alone(self) -> None:
        """The head, and nobody beside it."""
        while self._nodes:
            self.kill(self._nodes[0])

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    made = Machines()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def small(path: Path, *changes: str) -> Run:
    return Run(path, "dots3", changes=[*SMALL, *changes])


def frames_on_disk(folder: Path) -> bytes:
    """All whole frames, in order."""
    parts = [path.read_bytes() for path in sorted((folder / "games").glob("*.rec"))]
    return b"".join(part[: _core.scan_frames(part)[0]] for part in parts)


def records(frames: bytes) -> list[bytes]:
    """The frames one by one."""
    found, at = [], 0
    while at < len(frames):
        end = at + 8 + int.from_bytes(frames[at : at + 4], "little")
        found.append(frames[at:end])
        at = end
    return found


def digest_of(frames: bytes) -> int:
    window = Window(tesuji.game("dots3"))
    window.append(frames)
    return window.digest


def check_lines(folder: Path) -> None:
    """Counters grow; in every round the ratio is held, and the window has its size."""
    lines = Folder(folder).metrics()
    settings = config.read(folder / "config.toml")
    for key in COUNTERS:
        values = [line[key] for line in lines]
        assert values == sorted(values), key
    for line in lines:
        # Ahead never, behind by what comes in during two rounds and in one answer.
        behind = line["positions"] * RATIO - line["steps"] * BATCH
        assert 0 <= behind <= RATIO * (3 * ROUND + 2 * 2 * ROUND) + BATCH, line
        assert line["window"] <= settings.replay.window(line["positions"])


# ── Learning ──


def test_one_worker_and_four_learn_the_same_from_as_many_samples(machines: Machines, tmp_path: Path) -> None:
    """The same steps of training on the same share of positions made: the nets then differ by chance alone."""
    machines.both()
    facts = {}

    def patiently(event: str, now: Mapping[str, Any]) -> None:
        """Few steps are left over for when all workers are there, however slowly they begin."""
        if event == "training" and now["workers"] < now["workers_wanted"]:
            time.sleep(0.25)

    for workers in (1, 4):
        path = tmp_path / str(workers)
        kinds = [Kind(count=workers)]
        facts[workers] = cluster.learn(small(path), address=machines.address, kinds=kinds, steps=120, watch=patiently)
        check_lines(path)
        assert facts[workers]["workers"] == workers
        assert facts[workers]["steps"] == 120
        assert len(set(records(frames_on_disk(path)))) == facts[workers]["games"]
    assert facts[4]["nodes"] == 2
    # Rounds of many workers are longer, so that their lines are not alike: both nets are asked about the same games.
    window = Window(tesuji.game("dots3"))
    for workers in (1, 4):
        window.append(frames_on_disk(tmp_path / str(workers)))
    batch = window.sample(4096, seed=1)

    def loss(net: Net) -> float:
        return Learner(net, TrainSettings(rate=0.0), "cpu").step(batch)["loss"]

    learned = [nets.load(Folder(tmp_path / str(workers)).newest_net()) for workers in (1, 4)]
    untrained, one, four = map(loss, (Net(learned[0].game, learned[0].settings, seed=1), *learned))
    print(untrained, one, four)
    assert max(one, four) < 0.9 * untrained
    assert four == pytest.approx(one, rel=0.1)


def press_ctrl_c() -> None:
    """Once: a second one ends the run at once, and the tests with it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.raise_signal(signal.SIGINT)


def test_workers_rest_while_the_learner_is_behind(machines: Machines, tmp_path: Path) -> None:
    machines.both()
    run = small(tmp_path / "a", "replay.ratio=40", "run.positions=64")
    facts = []

    def look(event: str, now: Mapping[str, Any]) -> None:
        if event == "training":
            facts.append(now)
            if now["steps"] > 100 and (now["resting"] or 0.0) > 0.5:
                press_ctrl_c()

    cluster.learn(run, address=machines.address, kinds=[Kind(count=1)], minutes=WAIT / 60, watch=look)
    assert facts[-1]["resting"] > 0.5
    # No more than two rounds and one answer lie on disk that were not learned from.
    assert max(now["positions"] - now["steps"] * BATCH / 40 for now in facts) < 3 * 64 + 300


def test_the_learner_waits_while_the_workers_are_behind(machines: Machines, tmp_path: Path) -> None:
    machines.both()
    cluster.learn(
        small(tmp_path / "a", "replay.ratio=0.5", "selfplay.visits=64"),
        address=machines.address,
        kinds=[Kind(count=1)],
        steps=5,
    )
    for line in Folder(tmp_path / "a").metrics():
        assert 0 <= line["positions"] / 2 - line["steps"] * BATCH < ROUND + BATCH


# ── A worker ──


def task(**changes: Any) -> learning._Task:
    settings = config.changed(config.preset("dots3"), SMALL)
    given = {
        "tesuji": tesuji.__version__,
        "game": "dots3",
        "settings": settings.selfplay,
        "crowd": settings.crowd,
        "encoding": "tesuji",
        "kernel": "auto",
        "kind": Kind(),
        "positions": 64,
        "unacknowledged": 2,
        "seed": 1,
    }
    return learning._Task(**(given | changes))


def test_a_worker_keeps_what_is_not_acknowledged(machines: Machines) -> None:
    machines.both()
    with cluster.connected(machines.address) as ray:
        net = [ray.put(onnx_bytes(lively(tesuji.game("dots3"))))]
        worker = ray.remote(Worker).options(num_cpus=1).remote()
        ray.get(worker.start.remote(task(), 0, net), timeout=WAIT)

        def held(acknowledged: int) -> learning._Report:
            """Its batches when it has as many as it may."""
            end = time.monotonic() + WAIT
            while time.monotonic() < end:
                report: learning._Report = ray.get(worker.take.remote(acknowledged, 7, net), timeout=WAIT)
                if len(report.batches) >= 2:
                    return report
            raise AssertionError(report)

        first = held(0)
        assert [batch.number for batch in first.batches] == [1, 2]
        time.sleep(1.0)  # in which it could make many more
        again = held(0)
        assert again.batches == first.batches
        assert again.counters["games"] == first.counters["games"]
        later = held(1)
        assert later.batches[0] == first.batches[1]
        assert later.batches[1].number == 3
        assert later.counters["seconds_paused"] > 0.4
        assert held(3).batches[-1].steps == 7  # the net of the last questions
        ray.kill(worker)


def test_a_batch_counts_once(machines: Machines) -> None:
    machines.both()
    said: list[str] = []
    settings = config.changed(config.preset("dots3"), SMALL)
    with cluster.connected(machines.address) as ray:
        pool = Pool(ray, [Kind(count=1)], said.append, settings, lively(tesuji.game("dots3")), 0, 1)
        frames = b""
        end = time.monotonic() + WAIT
        while not frames and time.monotonic() < end:
            frames = pool.play(positions=1, seconds=1.0, stop=lambda: False)
        positions = pool.positions
        assert positions == _core.scan_frames(frames)[2] > 0
        # Nobody has acknowledged: nobody is asked for more.
        assert pool.play(positions=1, seconds=0.5, stop=lambda: False) == b""
        flushed: list[bool] = []
        pool.acknowledge(lambda: flushed.append(True))
        assert flushed == [True]
        pool.acknowledge(lambda: flushed.append(True))
        assert flushed == [True]  # there was nothing new
        # An answer that comes twice, as after a lost one.
        (hand,) = pool._hands
        assert hand.hello is not None
        del pool._asked[hand.question]
        hand.question = None
        batches = tuple(learning._Batch(number + 1, frames, 0) for number in range(hand.taken))
        assert pool._accept(hand, learning._Report(hand.hello.incarnation, batches, {})) == []
        assert pool.positions == positions
        assert said == []
        # Games that were spoiled on their way are not taken, and neither is the worker's word any more.
        spoiled = learning._Batch(hand.taken + 1, frames[:-1] + bytes([frames[-1] ^ 1]), 0)
        assert pool._accept(hand, learning._Report(hand.hello.incarnation, (spoiled,), {})) == []
        assert pool.positions == positions
        assert said == ["a worker is lost (its games are damaged): 0 of 1 play on"]
        pool.close()


def test_workers_that_cannot_play_end_the_run(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.both()
    monkeypatch.setattr(tesuji, "__version__", "99.0")  # the learner's alone
    monkeypatch.setattr(learning, "_TRIES", 2)
    with pytest.raises(
        ValueError, match=r"no worker can play: it has tesuji .*, the learner has 99.0: install the same"
    ):
        cluster.learn(small(tmp_path / "a"), address=machines.address, kinds=[Kind(count=1)], minutes=1)


# ── Matches that wait, and studies ──


def test_a_match_that_finds_no_room_says_so_and_waits(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.both()
    monkeypatch.setattr(matches, "_ROOM", 0.5)
    said: list[str] = []
    with cluster.connected(machines.address) as ray:
        from ray.util import placement_group, remove_placement_group

        taken = placement_group([{"CPU": 2}, {"CPU": 2}])
        assert taken.wait(WAIT)

        def told(text: str) -> None:
            said.append(text)
            time.sleep(0.6)  # long enough for a second sentence
            remove_placement_group(taken)

        played = cluster.match("random", "random", game="dots2", games=4, workers=1, say=told)
        assert ray.is_initialized()  # as it was before
    assert said == ["no CPU of the cluster is free for a game: the match goes on when one is"]
    assert played.summary() == match("random", "random", game="dots2", games=4, workers=1).summary()


def no_times(numbers: dict[str, Any]) -> dict[str, Any]:
    """A step's numbers of its matches."""
    return {name: {key: of[key] for key in of if key != "seconds"} for name, of in numbers["matches"].items()}


def test_a_study_is_killed_there_and_goes_on_there_and_here(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from tesuji import cli, studies

    machines.both()
    folder = tmp_path / "study"
    ours = Folder(folder / "runs" / "ours")

    def numbers(step: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((folder / "numbers" / f"{step}.json").read_text(encoding="utf-8"))
        return found["numbers"]

    def moves(name: str) -> dict[int, tuple[object, ...]]:
        records = read_records(folder / "matches" / f"{name}.json")[1]
        return {number: (record.reason, *record.moves) for number, record in records.items()}

    # Step 1. It begins here, and is left where it comes to self-play. All games of tables are played by then.
    def not_here(*words: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    lab = studies.Lab(studies.study("dots"), folder, scale=1e-6, learn=not_here, match=not_here)
    with pytest.raises(KeyboardInterrupt), lab.locked():
        lab.carry_out()
    done = {path: path.stat().st_mtime_ns for path in (folder / "numbers").iterdir()}
    assert folder / "numbers" / "perfect.json" in done
    assert not ours.begun

    # Step 2. The cluster goes on, until the learner is killed.
    words = ["cluster", "study", "dots", "--out", str(folder), "--address", machines.address, "--workers", "2"]
    with subprocess.Popen([*TESUJI, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + WAIT
        while not ours.begun or not frames_on_disk(ours.path):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        process.kill()
    before = frames_on_disk(ours.path)
    assert not (folder / "report.md").exists()

    # Step 3. The same command goes on.
    there: list[str] = []

    def remembering(*players: str, **options: Any) -> Any:
        there.append(options["out"].stem)
        return cluster.matches.match(*players, **options)

    monkeypatch.setattr(cluster, "match", remembering)
    asked_to_end = signal.getsignal(signal.SIGTERM)
    try:
        assert cli.app(words, standalone_mode=False) is None
    finally:
        signal.signal(signal.SIGTERM, asked_to_end)
    assert there == ["ours-exact", "ours-greedy"]  # and not those of a table
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert frames_on_disk(ours.path).startswith(before)
    assert all("workers" in line for line in ours.metrics())
    assert ours.last_metrics()["workers_wanted"] == 2
    assert (folder / "report.html").exists()

    # Step 4. The last step once more, here: the games are the same.
    far = {name: moves(name) for name in there}
    table = no_times(numbers("ours-matches"))
    for name in there:
        (folder / "matches" / f"{name}.json").unlink()
    (folder / "numbers" / "ours-matches.json").unlink()
    studies.carry_out("dots", folder)
    assert {name: moves(name) for name in there} == far  # first, since it shows which
    assert no_times(numbers("ours-matches")) == table


def test_a_study_that_cannot_be_spread(tmp_path: Path) -> None:
    for given, sentence in (
        ({"kinds": [Kind(count=0)]}, "nobody would play"),
        ({"scale": 11.0}, "scale is 11"),
        ({"address": "127.0.0.1:1"}, "no Ray cluster answers at 127.0.0.1:1"),
    ):
        with pytest.raises(ValueError, match=sentence):
            cluster.study("dots", tmp_path / "a", **given)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# ── Death ──


def worker_processes(node: Any) -> list[int]:
    """Of a raylet: those that play."""
    (raylet,) = node.all_processes["raylet"]
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == raylet.process.pid and b"ray::Worker" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def test_nodes_and_workers_that_are_killed(machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, beside = machines.both()
    handed: list[bytes] = []
    accept = Pool._accept

    def remembering(pool: Pool, hand: learning._Hand, report: learning._Report) -> list[bytes]:
        frames = accept(pool, hand, report)
        handed.extend(frames)
        return frames

    monkeypatch.setattr(Pool, "_accept", remembering)
    monkeypatch.setattr(learning, "_TEND", 0.5)
    marks: list[int] = []

    def look(event: str, facts: Mapping[str, Any]) -> None:
        """Goes through the stages of a bad day, each when the one before has had its effect."""
        if event not in ("playing", "training"):
            return
        time.sleep(REST)
        there, made = facts["workers"], facts["positions"]
        moved_on = not marks or made >= marks[-1] + ROUND
        if len(marks) == 0 and there == 4 and made:
            machines.kill(beside)
        elif len(marks) == 1 and there == 2 and moved_on:  # the rest goes on
            machines.add()
        elif len(marks) == 2 and there == 4 and moved_on:  # the dead are replaced
            os.kill(worker_processes(head)[0], signal.SIGKILL)
        elif len(marks) == 3 and there == 3:
            pass
        elif len(marks) == 4 and there == 4 and moved_on:
            press_ctrl_c()
        else:
            return
        marks.append(made)

    path = tmp_path / "a"
    after = cluster.learn(
        small(path, "replay.ratio=2"), address=machines.address, kinds=[Kind(count=4)], minutes=WAIT / 60, watch=look
    )
    assert len(marks) == 5, after
    on_disk = frames_on_disk(path)
    assert on_disk == b"".join(handed)
    assert len(set(records(on_disk))) == after["games"] == _core.scan_frames(on_disk)[1]
    check_lines(path)


# Imports once, then forks a learner for every line that it is given: torch takes seconds to import.
ZYGOTE = """
import json, os, signal, sys
import torch._dynamo
from pathlib import Path
from tesuji import cluster, evaluate, nets, onnxfile, replay, selfplay, train
from tesuji.cluster.learning import Pool
from tesuji.run import Run

folder, address, changes = sys.argv[1], sys.argv[2], sys.argv[3:]
acknowledge = Pool.acknowledge
for line in sys.stdin:
    seeing, telling = os.pipe()
    child = os.fork()
    if child == 0:
        def tell(**facts):
            os.write(telling, json.dumps(facts).encode() + b"\\n")
        def watch(event, facts):
            if event == "begin":
                tell(begin=facts)
        def acknowledging(pool, flush):
            def flushed():
                flush()
                tell(acknowledged=sum(path.stat().st_size for path in Path(folder, "games").iterdir()))
            acknowledge(pool, flushed)
        Pool.acknowledge = acknowledging
        try:
            kinds = [cluster.Kind(count=2)]
            cluster.learn(Run(folder, "dots3", changes=changes), address=address, kinds=kinds, minutes=2, watch=watch)
        except BaseException as trouble:
            tell(trouble=repr(trouble))
        os._exit(1)
    os.close(telling)
    told, acknowledged = {}, 0
    with os.fdopen(seeing) as lines:
        for number in range(int(line)):
            told |= json.loads(lines.readline())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for last in lines:
            told |= json.loads(last)
    print(json.dumps(told), flush=True)
"""


def test_a_learner_that_is_killed_goes_on(machines: Machines, tmp_path: Path) -> None:
    machines.both()
    path = tmp_path / "run"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", ZYGOTE, str(path), machines.address, *SMALL]
    words += [
        "run.save=0.3",
        "replay.window_min=1000000",
        "replay.window_max=1000000",
    ]  # so that digests are of everything
    before = dict.fromkeys(COUNTERS, 0)
    acknowledged = b""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        for answers in (9, 3):
            on_disk = frames_on_disk(path) if path.exists() else b""
            assert on_disk.startswith(acknowledged)
            zygote.stdin.write(f"{answers}\n")
            zygote.stdin.flush()
            told = json.loads(zygote.stdout.readline())
            assert "trouble" not in told, told
            begin = told["begin"]
            assert begin["digest"] == digest_of(on_disk)
            assert (begin["games"], begin["positions"]) == _core.scan_frames(on_disk)[1:]
            assert all(begin[key] >= before[key] for key in COUNTERS if key != "minutes"), (before, begin)
            before = begin
            now = frames_on_disk(path)
            assert now.startswith(on_disk)
            acknowledged = now[: told["acknowledged"]]
            assert len(acknowledged) == told["acknowledged"] > len(on_disk)
        zygote.stdin.close()
    # And it goes on without a cluster as well.
    after = Run(path).learn(steps=1)
    assert after["games"] > before["games"] > 0
    assert len(set(records(frames_on_disk(path)))) == after["games"]
    check_lines(path)


def of_session(number: int) -> list[str]:
    """The processes of a session, by name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().rpartition(")")
            state, _, _, session = rest.split()[:4]
            if int(session) == number and state != "Z":
                found.append(name)
    return found


def test_ctrl_c_on_the_command_line_leaves_nobody_behind(tmp_path: Path) -> None:
    path = tmp_path / "a"
    words = [*TESUJI, "cluster", "train", "dots3", "--run", str(path), "--workers", "1", "--minutes", "5"]
    words += [word for change in [*SMALL, "run.positions=64"] for word in ("--set", change)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        end = time.monotonic() + WAIT
        while not Folder(path).metrics() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, said = process.communicate(timeout=WAIT)
    assert process.returncode == 0, said
    assert "stopped after" in said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert out == ""
    while of_session(process.pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert of_session(process.pid) == []


# ── Matches ──


def test_a_match_is_the_same_as_on_one_machine(machines: Machines, tmp_path: Path) -> None:
    alive = machines.both()
    export_onnx(lively(tesuji.game("dots3")), tmp_path / "net.onnx")
    players = f"net:{tmp_path / 'net.onnx'},visits=30", "mcts:visits=100"
    options: dict[str, Any] = {"game": "dots3", "games": 8, "seed": 3}

    def one_dies(finished: Mapping[int, Any], total: int) -> None:
        if finished and len(alive) == 2:
            machines.kill(alive.pop())

    here = match(*players, **options, out=tmp_path / "here.json")
    there = cluster.match(*players, **options, address=machines.address, out=tmp_path / "there.json", watch=one_dies)
    assert len(alive) == 1
    assert there.summary() == here.summary()
    read = [json.loads((tmp_path / name).read_text()) for name in ("here.json", "there.json")]
    for file in read:
        for game in file["games"]:
            assert len(game.pop("seconds")) > 0  # alone may differ
    assert read[0] == read[1]


def test_matches_that_cannot_be_spread(machines: Machines, tmp_path: Path) -> None:
    from tesuji.table import Table

    Table(tesuji.game("dots2"), "free").save(str(tmp_path / "a.table"))
    with pytest.raises(ValueError, match="a player here learns"):
        cluster.match(
            f"table:{tmp_path / 'a.table'},learn=1", "random", game="dots2", games=2, address=machines.address
        )
    with pytest.raises(ValueError, match="workers is 0"):
        cluster.match("random", "random", game="dots2", games=2, workers=0)


def test_who_learns_from_another_run_needs_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="plays no games: use `tesuji train`"):
        cluster.learn(small(tmp_path / "pupil", "run.teacher=elsewhere"), steps=1)


# ── Kinds ──


def test_workers_with_and_without_gpus_and_nodes_that_join(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without real GPUs here: Ray counts the shares, and the worker says that it finds none."""
    machines.alone()
    monkeypatch.setattr(learning, "_TEND", 0.5)
    seen: dict[str, Any] = {"notes": []}

    def look(event: str, facts: Mapping[str, Any]) -> None:
        if event == "note":
            seen["notes"].append(facts["text"])
        if event not in ("playing", "training"):
            return
        time.sleep(REST)
        if facts["workers"] == 2 and "joined" not in seen:
            seen["joined"] = machines.add(gpus=1)
        if facts["workers"] == 4:
            press_ctrl_c()

    kinds = [Kind(gpus=0.5, cpus=1, count=1), Kind()]  # the first of which has no room before that node is there
    after = cluster.learn(small(tmp_path / "a"), address=machines.address, kinds=kinds, minutes=WAIT / 60, watch=look)
    assert after["workers"] == after["workers_wanted"] == 4
    assert after["nodes"] == 2
    assert after["steps"] > 0
    assert any("finds none" in text for text in seen["notes"])


# ── Refusals ──


@contextlib.contextmanager
def something_else() -> Iterator[str]:
    """A port at which no cluster answers, but a server of another kind."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = server.accept()
                    with line:
                        line.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        threading.Thread(target=greet, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_addresses_where_no_cluster_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"127.0.0.1:{server.getsockname()[1]}"
    began = time.monotonic()
    with something_else() as other:
        for address, sentence in {
            closed: "no Ray cluster answers at .* `ray start --head` begins one",
            other: "what answers at .* is no Ray cluster",
            "ray://127.0.0.1:10001": "is for Ray's client",
            "nowhere": "'nowhere' is no address of a Ray cluster: give HOST:PORT",
            "10.0.0.5:port": "is no address of a Ray cluster",
        }.items():
            with pytest.raises(ValueError, match=sentence), cluster.connected(address):
                pass
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--workers", "0", "--gpu-workers", "0"], "nobody would play"),
        (["--workers", "-1"], "-1 workers are not possible"),
        (["--cpus-per-worker", "0"], "a worker cannot have 0 CPUs"),
        (["--gpus-per-worker", "1.5"], "a worker cannot have 1.5 GPUs"),
        (["--gpus-per-worker", "0"], "gpus-per-worker is 0"),
        (["--address", "127.0.0.1:1"], "no Ray cluster answers at 127.0.0.1:1 (Connection refused)"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tesuji import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tesuji", "cluster", "train", "dots3", "--run", "a", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("tesuji: ")
    assert said.count("\n") == 1
    assert sentence in said
    assert list(tmp_path.iterdir()) == []


# ── Watching ──


def test_the_display_shows_the_cluster() -> None:
    import io

    from rich.console import Console

    facts = {"minutes": 1.0, "session_minutes": 1.0, "round": 3, "games": 9, "positions": 90, "steps": 5, "window": 90}
    there = {"nodes": 2, "workers": 3, "workers_wanted": 4, "games_per_second": 31.25, "lag": 12.0, "resting": 0.031}
    panel = watch.Panel()
    panel.tell("round", facts | there)
    console = Console(width=110, record=True, file=io.StringIO())
    console.print(panel.picture())
    assert "3 of 4 workers on 2 nodes, 31.2 games/s, 12 steps behind, resting 3%" in console.export_text()
