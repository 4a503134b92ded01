"""Runs: they learn, they go on after whatever happened to them, and bad input changes nothing."""

import contextlib
import errno
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tesuji
from tesuji import _core

pytest.importorskip("torch")

import torch

from tesuji import cli, config, run, source, watch
from tesuji.nets import load
from tesuji.replay import Window
from tesuji.run import Folder, Run, ratings

TESUJI = [sys.executable, "-m", "tesuji.cli"]

# Every number as small as it can be.
SMALL = [
    *("net.channels=4", "net.blocks=1", "net.policy_channels=4", "net.value_channels=4", "net.value_hidden=8"),
    *("selfplay.visits=4", "selfplay.fast_visits=2", "selfplay.games=8", "selfplay.threads=1"),
    *(
        "train.batch=16",
        "train.decay=constant",
        "replay.ratio=1",
        "replay.window_min=1000000",
        "replay.window_max=1000000",
    ),
    *("run.positions=60", "run.save=0.3", "run.arena=0", "run.device=cpu"),
]
COUNTERS = ("round", "games", "positions", "steps", "minutes")


def small(path: Path, *changes: str) -> Run:
    return Run(path, "dots2", changes=[*SMALL, *changes])


def telling(events: list[tuple[str, Mapping[str, Any]]]) -> run.Watcher:
    return lambda event, facts: events.append((event, facts))


def frames_on_disk(folder: Path) -> bytes:
    """All whole frames, in order."""
    parts = [path.read_bytes() for path in sorted((folder / "games").glob("*.rec"))]
    return b"".join(part[: _core.scan_frames(part)[0]] for part in parts)


def digest_of(frames: bytes) -> int:
    window = Window(tesuji.game("dots2"))
    window.append(frames)
    return window.digest


def monotone(folder: Path) -> None:
    lines = Folder(folder).metrics()
    for key in COUNTERS:
        values = [line[key] for line in lines]
        assert values == sorted(values), key


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned for twenty steps."""
    path = tmp_path_factory.mktemp("run") / "dots2"
    small(path).learn(steps=20)
    return path


@pytest.fixture
def begun(learned: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoiled."""
    subprocess.run(["cp", "-r", learned, tmp_path / "run"], check=True)
    return tmp_path / "run"


# ── Learning ──


def test_a_run_is_a_folder(learned: Path) -> None:
    folder = Folder(learned)
    lines = folder.metrics()
    assert lines[-1]["steps"] == 20
    assert folder.nets()[-1] == 20
    assert folder.manifest()["game"] == "dots2"
    assert len(list((learned / "state").glob("*.state"))) <= 2
    assert _core.scan_frames(frames_on_disk(learned))[1:] == (lines[-1]["games"], lines[-1]["positions"])
    for key in (
        "policy_loss",
        "value_loss",
        "policy_entropy",
        "grad_norm",
        "length",
        "first_score",
        "draws",
        "batch_fill",
    ):
        assert isinstance(lines[-1][key], float), key
    assert 0 < lines[-1]["batch_fill"] <= 1
    assert 0 < lines[-1]["device_busy"] <= 1
    monotone(learned)


def test_the_same_seed_learns_the_same(learned: Path, tmp_path: Path) -> None:
    small(tmp_path / "same").learn(steps=20)
    assert frames_on_disk(tmp_path / "same") == frames_on_disk(learned)
    small(tmp_path / "other", "run.seed=2").learn(steps=20)
    assert frames_on_disk(tmp_path / "other") != frames_on_disk(learned)


def test_the_same_folder_goes_on(begun: Path) -> None:
    events: list[tuple[str, Mapping[str, Any]]] = []
    frames = frames_on_disk(begun)
    after = Run(begun).learn(steps=5, watch=telling(events))
    assert events[0][0] == "begin"
    assert events[0][1]["steps"] == 20
    assert events[0][1]["digest"] == digest_of(frames)
    assert frames_on_disk(begun).startswith(frames)
    assert after["steps"] == 25
    monotone(begun)


def test_a_run_may_begin_with_a_net_of_another(learned: Path, tmp_path: Path) -> None:
    """Its weights after one step are near those that it began with, and far from those by chance."""
    net = Folder(learned).net(20)
    small(tmp_path / "a", f"run.start={net}").learn(steps=1)
    small(tmp_path / "b").learn(steps=1)
    before, after, other = (
        torch.cat([p.flatten() for p in load(path).parameters()])
        for path in (net, Folder(tmp_path / "a").net(1), Folder(tmp_path / "b").net(1))
    )
    assert (after - before).norm() < 0.3 * (other - before).norm()
    Run(tmp_path / "a").learn(steps=1)  # goes on with what it learned
    assert Folder(tmp_path / "a").nets()[-1] == 2
    with pytest.raises(ValueError, match="is a net of another build"):
        small(tmp_path / "c", f"run.start={net}", "net.blocks=2").learn(steps=1)
    with pytest.raises(ValueError, match="cannot be read"):
        small(tmp_path / "d", "run.start=nowhere.safetensors").learn(steps=1)


def test_a_run_may_begin_with_a_net_that_plays(learned: Path, tmp_path: Path) -> None:
    """An ONNX file, of which its norms are folded in, is as good."""
    net = Folder(learned).net(20, ".onnx")
    small(tmp_path / "a", f"run.start={net}").learn(steps=1)
    game = tesuji.game("dots2")
    planes = torch.from_numpy(np.stack([game.random(seed, plies=seed % 12).planes() for seed in range(24)]))
    with torch.no_grad():
        before, after = (load(Folder(path).net(steps))(planes) for path, steps in ((learned, 20), (tmp_path / "a", 1)))
    assert (after.policy - before.policy).abs().max() < 0.2
    with pytest.raises(ValueError, match="is a net of another build"):
        small(tmp_path / "b", f"run.start={net}", "net.blocks=2").learn(steps=1)


# ── Teachers ──


def pupil(path: Path, teacher: Path, *changes: str) -> Run:
    return small(path, f"run.teacher={teacher}", "net.channels=8", *changes)


def test_a_pupil_learns_the_games_of_its_teacher(learned: Path, tmp_path: Path) -> None:
    """All of them, in their order, each once, by another net; then it ends."""
    events: list[tuple[str, Mapping[str, Any]]] = []
    facts = pupil(tmp_path / "p", learned).learn(minutes=5, watch=telling(events))
    assert frames_on_disk(tmp_path / "p") == frames_on_disk(learned)
    assert {"text": f"all games of {learned} are learned"} in [facts for event, facts in events if event == "note"]
    assert facts["steps"] == facts["positions"] // 16
    assert Folder(tmp_path / "p").nets()[-1] == facts["steps"]
    again = Run(tmp_path / "p").learn(minutes=5)  # there is nothing more
    assert (again["games"], again["steps"]) == (facts["games"], facts["steps"])


def test_a_pupil_follows_a_teacher_at_work(learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes some games at a time, waits for more, goes on where it stopped, and leaves torn ones alone."""
    monkeypatch.setattr(source, "_CHUNK", 2000)
    whole = frames_on_disk(learned)
    teacher = tmp_path / "teacher"
    shutil.copytree(learned, teacher)
    file = next((teacher / "games").glob("*.rec"))
    half = _core.scan_frames(whole[: len(whole) // 2])[0]
    file.write_bytes(whole[: half + 5])  # the sixth byte of a game is on its way
    facts = pupil(tmp_path / "p", teacher).learn(rounds=2)
    taken = frames_on_disk(tmp_path / "p")
    assert whole.startswith(taken)
    assert 0 < len(taken) < half
    waiting = threading.Timer(1.0, lambda: file.write_bytes(whole))
    with Folder(teacher).locked():  # somebody learns there
        waiting.start()
        more = Run(tmp_path / "p").learn(steps=facts["steps"])
    waiting.join()
    assert more["steps"] == 2 * facts["steps"]
    assert more["positions"] > facts["positions"]
    Run(tmp_path / "p").learn(minutes=5)
    assert frames_on_disk(tmp_path / "p") == whole


def test_a_teacher_must_be_there(learned: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no run in"):
        pupil(tmp_path / "p", tmp_path / "nobody").learn(steps=1)
    pupil(tmp_path / "q", learned).learn(rounds=1)
    with pytest.raises(ValueError, match=r"run.teacher cannot be changed in a run that has begun"):
        Run(tmp_path / "q", changes=[f"run.teacher={tmp_path}"])
    teacher = tmp_path / "teacher"
    shutil.copytree(learned, teacher)
    pupil(tmp_path / "r", teacher).learn(rounds=1)
    for file in (teacher / "games").glob("*.rec"):
        file.write_bytes(b"")
    with pytest.raises(ValueError, match="has fewer games than were learned from it"):
        Run(tmp_path / "r").learn(rounds=1)


def test_the_ratio_is_kept_over_resumes(begun: Path) -> None:
    for _ in range(3):
        Run(begun).learn(steps=10)
    line = Folder(begun).metrics()[-1]
    assert abs(line["steps"] * 16 - line["positions"]) < 16 + 60


def test_the_window_is_trimmed_and_found_again(tmp_path: Path) -> None:
    events: list[tuple[str, Mapping[str, Any]]] = []
    changes = ["replay.window_min=100", "replay.window_max=150"]
    small(tmp_path / "a", *changes).learn(steps=30)
    assert Folder(tmp_path / "a").metrics()[-1]["window"] <= 150
    Run(tmp_path / "a").learn(steps=0, watch=telling(events))
    assert 100 < events[0][1]["window"] <= 150


def test_games_go_into_the_next_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_FILE_LIMIT", 2000)
    events: list[tuple[str, Mapping[str, Any]]] = []
    small(tmp_path / "a").learn(steps=10)
    assert len(Folder(tmp_path / "a").game_files()) > 2
    Run(tmp_path / "a").learn(steps=0, watch=telling(events))
    assert events[0][1]["digest"] == digest_of(frames_on_disk(tmp_path / "a"))


def test_a_network_must_win_to_become_the_best(tmp_path: Path) -> None:
    changes = ["run.gating=best", "run.gate_games=2", "run.gate_threshold=0", "run.visits=2"]
    events: list[tuple[str, Mapping[str, Any]]] = []
    small(tmp_path / "a", *changes).learn(steps=4, watch=telling(events))
    assert next(facts["text"] for event, facts in events if event == "note").startswith("network ")
    assert Folder(tmp_path / "a").metrics()[-1]["net_age"] == 0
    # One that never wins enough stays away from the board.
    small(tmp_path / "b", *changes, "run.gate_threshold=1").learn(steps=4)
    assert Folder(tmp_path / "b").metrics()[-1]["net_age"] in (0, 4)


def test_matches_make_a_rating_curve(tmp_path: Path) -> None:
    changes = ["run.arena=0.0001", "run.arena_games=2", "run.visits=2", "run.anchors=['random', 'mcts:visits=2']"]
    small(tmp_path / "a", *changes).learn(steps=8)
    lines = Folder(tmp_path / "a").arena()
    assert {match["opponent"] for match in lines[0]["matches"]} == {"random", "mcts:visits=2"}
    assert lines[-1]["rating"] is not None
    assert set(Folder(tmp_path / "a").nets()) >= {line["net"] for line in lines}


def test_ratings_follow_the_points() -> None:
    def line(net: int, opponent: int | str, wins: int, losses: int) -> dict[str, Any]:
        return {"net": net, "matches": [{"opponent": opponent, "wins": wins, "draws": 0, "losses": losses}]}

    found = ratings([line(10, "random", 6, 4), line(20, "random", 9, 1), line(20, 10, 7, 3)], "random")
    assert found["random"].elo == 0
    assert 0 < found[10].elo < found[20].elo
    assert ratings([]) == {}


def test_rounds_are_counted_and_networks_kept(tmp_path: Path) -> None:
    run = small(tmp_path / "run", "run.keep=2", "run.save=1e6")
    run.learn(rounds=4)
    run.learn(rounds=3)
    lines = run.folder.metrics()
    assert [line["round"] for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    kept = {line["steps"] for line in lines if line["round"] % 2 == 0}
    assert set(run.folder.nets()) == kept | {lines[-1]["steps"]}
    assert all(run.folder.net(steps, ".onnx").exists() for steps in kept)


def test_the_gate_leaves_its_score_in_the_metrics(tmp_path: Path) -> None:
    run = small(tmp_path / "run", "run.gating=best", "run.gate_games=2", "run.visits=2", "run.gate_threshold=0.6")
    run.learn(rounds=4)
    lines = run.folder.metrics()
    gates = [line for line in lines if "gate" in line]
    assert gates
    for line in gates:
        assert line["gate"] in (0, 0.25, 0.5, 0.75, 1)
        assert (line["net_age"] == 0) == (line["gate"] >= 0.6)


# ── Death at any moment ──

# Imports once, then forks a run for every line that it is given: torch takes seconds to import.
ZYGOTE = """
import json, os, signal, sys, time
import torch._dynamo
from tesuji import evaluate, nets, onnxfile, replay, selfplay, train
from tesuji.run import Run

folder, changes = sys.argv[1], sys.argv[2:]
for line in sys.stdin:
    early, rounds, late = map(float, line.split())
    seeing, telling = os.pipe()
    child = os.fork()
    if child == 0:
        def watch(event, facts):
            if event in ("begin", "round"):
                os.write(telling, json.dumps(facts).encode() + b"\\n")
        try:
            Run(folder, "dots2", changes=changes).learn(minutes=1, watch=watch)
        except BaseException as trouble:
            os.write(telling, json.dumps({"trouble": repr(trouble)}).encode() + b"\\n")
        os._exit(1)
    os.close(telling)
    with os.fdopen(seeing) as lines:
        if early:
            time.sleep(early)
        else:
            told = [lines.readline() for _ in range(1 + int(rounds))]
            time.sleep(late)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print("{}" if early else next((line for line in told if "trouble" in line), told[0]).strip(), flush=True)
"""


def test_a_run_that_is_killed_at_any_moment_goes_on(tmp_path: Path) -> None:
    chance = random.Random(1)
    path = tmp_path / "run"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    before: dict[str, Any] = dict.fromkeys(COUNTERS, 0)
    learned = 0
    words = [sys.executable, "-c", ZYGOTE, str(path), *SMALL]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        for kill in range(16):
            on_disk = frames_on_disk(path) if path.exists() else b""
            # Every fourth dies while it starts, the others some rounds after that, and a while.
            early = chance.uniform(0.02, 0.5) if kill % 4 == 3 else 0.0
            zygote.stdin.write(f"{early} {chance.randint(0, 4)} {chance.uniform(0.0, 0.4)}\n")
            zygote.stdin.flush()
            now = json.loads(zygote.stdout.readline())
            assert "trouble" not in now, now
            if now:
                assert now["digest"] == digest_of(on_disk)
                assert (now["games"], now["positions"]) == _core.scan_frames(on_disk)[1:]
                # The minutes since the last save are lost with the steps.
                assert all(now[key] >= before[key] for key in COUNTERS if key != "minutes"), (before, now)
                learned += now["steps"] > before["steps"]
                before = now
            if path.exists():
                assert frames_on_disk(path).startswith(on_disk)
                monotone(path)
        zygote.stdin.close()
    assert learned >= 3  # steps were saved between deaths
    assert before["games"] > 50


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_saves(begun: Path, number: signal.Signals) -> None:
    events: list[tuple[str, Mapping[str, Any]]] = []

    def watch(event: str, facts: Mapping[str, Any]) -> None:
        events.append((event, facts))
        if event == "training":
            signal.raise_signal(number)

    before = signal.getsignal(number)
    after = Run(begun).learn(minutes=5, watch=watch)
    assert [event for event, _ in events][-2:] == ["saved", "end"]
    assert events[-1][1]["asked"]
    assert after["steps"] == 21
    assert signal.getsignal(number) == before


def test_the_second_ctrl_c_ends_it_at_once(begun: Path) -> None:
    def watch(event: str, facts: Mapping[str, Any]) -> None:
        if event == "training":
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Run(begun).learn(minutes=5, watch=watch)
    assert Run(begun).learn(steps=1)["steps"] == 21


def test_ctrl_c_on_the_command_line(begun: Path) -> None:
    words = [*TESUJI, "train", "dots2", "--run", str(begun), "--minutes", "5"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "goes on with dots2" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "stopped after" in said
    assert "the same command goes on" in said


# ── Damage ──


def test_a_torn_tail_is_cut(begun: Path) -> None:
    frames = frames_on_disk(begun)
    with (begun / "games" / "000000.rec").open("ab") as file:
        file.write(frames[:37])
    events: list[tuple[str, Mapping[str, Any]]] = []
    Run(begun).learn(steps=0, watch=telling(events))
    begin = next(facts for event, facts in events if event == "begin")
    assert begin["digest"] == digest_of(frames)
    assert any("cut" in facts["text"] for event, facts in events if event == "note")
    assert (begun / "games" / "000000.rec").read_bytes().startswith(frames)


@pytest.mark.parametrize("spoil", ["half", "flip", "empty"])
def test_a_damaged_save_gives_way_to_the_one_before(begun: Path, spoil: str) -> None:
    Run(begun).learn(steps=2)
    older, newest = sorted((begun / "state").glob("*.state"))
    data = newest.read_bytes()
    flipped = data[:100] + bytes([data[100] ^ 1]) + data[101:]
    newest.write_bytes({"half": data[: len(data) // 2], "flip": flipped, "empty": b""}[spoil])
    events: list[tuple[str, Mapping[str, Any]]] = []
    Run(begun).learn(steps=1, watch=telling(events))
    text = next(facts["text"] for event, facts in events if event == "note")
    assert text == f"save {int(newest.stem)} is damaged: going on from save {int(older.stem)}, the one before"
    monotone(begun)


def test_when_all_saves_are_damaged_nothing_is_touched(begun: Path) -> None:
    for path in (begun / "state").glob("*.state"):
        path.write_bytes(b"gone")
    before = frames_on_disk(begun)
    with pytest.raises(ValueError, match=r"all saves in .* are damaged"):
        Run(begun).learn(steps=1)
    assert frames_on_disk(begun) == before


def test_a_full_disk_loses_nothing(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = frames_on_disk(begun)
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) > 100:
            write(handle, data[:50])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ValueError, match="the disk is full: make room and give the same command"):
        Run(begun).learn(minutes=1)
    monkeypatch.undo()
    assert (begun / "games" / "000000.rec").read_bytes() == before
    assert Run(begun).learn(steps=1)["steps"] == 21


def test_a_torn_line_of_metrics_is_no_trouble(begun: Path) -> None:
    with (begun / "metrics.jsonl").open("a") as file:
        file.write('{"round": 1000, "steps"')
    Run(begun).learn(steps=1)
    monotone(begun)


# ── Refusals ──


def test_one_process_a_run(begun: Path) -> None:
    with Folder(begun).locked(), pytest.raises(ValueError, match="another process is learning in"):
        Run(begun).learn(steps=1)


@contextlib.contextmanager
def refused(sentence: str) -> Iterator[None]:
    with pytest.raises(ValueError, match=sentence):
        yield


def test_what_a_begun_run_refuses(begun: Path) -> None:
    before = (begun / "config.toml").read_text()
    with refused("learns dots2, not go9"):
        Run(begun, "go9")
    with refused("was begun with preset laptop, not gpu"):
        Run(begun, preset="gpu")
    with refused("net.channels cannot be changed in a run that has begun"):
        Run(begun, changes=["net.channels=64"])
    with refused("did you mean train.rate"):
        Run(begun, changes=["train.rat=64"])
    Run(begun, "dots2", "laptop", SMALL)  # the same again is no change
    assert (begun / "config.toml").read_text() == before
    Run(begun, changes=["train.rate=0.0005"]).learn(steps=0)
    assert config.read(begun / "config.toml").train.rate == 0.0005


def test_folders_that_are_no_run(tmp_path: Path, begun: Path) -> None:
    with refused("has a comma in its name"):
        Run(tmp_path / "a,b", "dots2")
    with refused("say which game"):
        Run(tmp_path / "none")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("dear")
    with refused("holds other things"):
        small(tmp_path / "other").learn(steps=1)
    manifest = json.loads((begun / "manifest.json").read_text())
    (begun / "manifest.json").write_text(json.dumps(manifest | {"version": 99}))
    with refused("was begun with version 99 of dots2"):
        Run(begun).learn(steps=1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "dost2"], "there is no game 'dost2'"),
        (["train", "dots2", "--preset", "paper"], "dots2 has no preset 'paper'"),
        (["train", "dots2", "--minutes", "-1"], "minutes is -1"),
        (["train", "dots2", "--set", "selfplay.visit=3"], "did you mean selfplay.visits"),
        (["doctor", "nowhere"], "there is no run in nowhere"),
        (["curves", "nowhere"], "there is no run in nowhere"),
        (["export", "nowhere", "out.onnx"], "nowhere cannot be read"),
        (["export", "nowhere", "out.onnx", "--precision", "fp9"], "'fp9' is not one of"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tesuji", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("tesuji: ")
    assert said.count("\n") == 1
    assert sentence in said
    assert list(tmp_path.iterdir()) == []


# ── Watching ──


def test_curves_are_pictures(learned: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tesuji import curves

    made = curves.draw(Folder(learned), tmp_path)
    assert {path.stem for path in made} >= {"loss", "entropy", "throughput"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)


def test_sparklines() -> None:
    assert watch.sparkline([0, 1, 2, 7]) == "▁▂▃█"
    assert watch.sparkline([3, 3]) == "▁▁"
    assert watch.sparkline([]) == ""
    assert len(watch.sparkline(range(100), 10)) == 10


def test_the_panel_shows_what_it_was_told(learned: Path) -> None:
    from rich.console import Console

    panel = watch.Panel()
    lines = Folder(learned).metrics()
    panel.tell("begin", {"game": "dots2", "folder": "runs/dots2", "limit": 10.0} | lines[0])
    for line in lines:
        panel.tell("round", line)
    match = {"opponent": "random", "wins": 9, "draws": 0, "losses": 1}
    panel.tell("arena", lines[-1] | {"rating": 300.0, "error": 80.0, "matches": [match]})
    console = Console(width=110, record=True, file=io.StringIO())
    console.print(panel.picture())
    shown = console.export_text()
    for words in ("dots2 in runs/dots2", "20 steps", "loss", "evaluations/s", "+300 ± 80 Elo; random 9–0–1", " left"):
        assert words in shown, shown
