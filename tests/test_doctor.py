"""The doctor: each fault is provoked in a run's folder, and found; a healthy run is called so."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from tesuji import _core, doctor, evaluate
from tesuji.run import Folder, Run

LINE = {
    "minutes": 1.0,
    "session_minutes": 1.0,
    "games": 1000,
    "positions": 10_000,
    "window": 10_000,
    "time": 0.0,
    "loss": 2.0,
    "policy_loss": 1.5,
    "value_loss": 0.5,
    "policy_entropy": 1.2,
    "target_entropy": 1.0,
    "grad_norm": 0.7,
    "rate": 0.002,
    "refused": 0,
    "length": 7.0,
    "first_score": 0.55,
    "draws": 0.2,
    "resign_wrong": None,
    "evaluations_per_second": 10_000.0,
    "device_busy": 0.9,
    "net_age": 0,
    "window_age": 100.0,
    "ratio": 1.0,
}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of a game whose results depend on the moves."""
    path = tmp_path_factory.mktemp("run") / "gomoku3"
    changes = ["net.channels=4", "net.blocks=1", "selfplay.visits=4", "selfplay.fast_visits=2", "selfplay.games=32"]
    changes += [
        "selfplay.threads=1",
        "selfplay.opening_share=1",
        "selfplay.candidates=false",
        "train.batch=16",
        "replay.ratio=1",
        "run.arena=0",
    ]
    Run(path, "gomoku3", changes=[*changes, "run.positions=300", "run.device=cpu"]).learn(steps=40)
    return path


@pytest.fixture
def folder(learned: Path, tmp_path: Path) -> Folder:
    """A copy, with the metrics of a longer and healthy life."""
    subprocess.run(["cp", "-r", learned, tmp_path / "run"], check=True)
    found = Folder(tmp_path / "run")
    tell(found)
    return found


def tell(folder: Folder, change: Callable[[int], dict[str, Any]] = lambda number: {}) -> None:
    """Writes twenty rounds; ``change`` says what is special in each."""
    lines = [LINE | {"round": n, "steps": 100 * n, "loss": 3.0 - 0.05 * n} | change(n) for n in range(1, 21)]
    (folder.path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def wise(monkeypatch: pytest.MonkeyPatch, opinion: Callable[[Any], float]) -> None:
    """Puts a network in place that has this opinion of a state, for its mover."""

    class Wise:
        def answer(self, states: list[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
            return np.zeros((len(states), 1)), np.array([opinion(state) for state in states])

    monkeypatch.setattr(evaluate, "evaluator", lambda *given, **more: Wise())


def result_for_mover(state: Any) -> float:
    """Nearly what comes of it: random games tell."""
    mean = float(state.playouts(64, seed=1).mean())
    return mean if state.to_play == 0 else -mean


def names(folder: Folder) -> set[str]:
    return {finding.name for finding in doctor.examine(folder).findings}


def test_a_healthy_run(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    wise(monkeypatch, result_for_mover)
    health = doctor.examine(folder)
    assert health.findings == ()
    assert str(health).startswith("looks healthy\n")
    assert "explains" in str(health)


def test_a_sign_error(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    wise(monkeypatch, lambda state: -result_for_mover(state))
    assert names(folder) == {"sign error"}


def test_a_sign_error_of_one_side(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    wise(monkeypatch, lambda state: float(state.playouts(64, seed=1).mean()))  # First's value, whoever moves
    (found,) = doctor.examine(folder).findings
    assert found.name == "sign error"
    assert "where Second moves" in found.seen
    assert "where First moves" not in found.seen


def test_a_dead_value_head(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    wise(monkeypatch, lambda state: 0.1)
    assert names(folder) == {"dead value head"}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda n: {"loss": 2.0 + 0.1 * n}, "exploding rate"),
        (lambda n: {"grad_norm": 0.7 if n < 15 else 50.0}, "exploding rate"),
        (lambda n: {"refused": int(n == 19)}, "exploding rate"),
        (lambda n: {"policy_entropy": 0.3}, "entropy collapsed"),
        (lambda n: {"window_age": 80.0 * n}, "stale window"),
        (lambda n: {"ratio": 0.3}, "replay ratio off"),
        (lambda n: {"first_score": 0.99}, "one side always wins"),
        (lambda n: {"draws": 1.0, "first_score": 0.5}, "everything is drawn"),
        (lambda n: {"resign_wrong": 0.3}, "players give up too early"),
        (lambda n: {"device_busy": 0.2}, "starved device"),
        (lambda n: {"device_busy": 0.2, "resting": 0.7}, "learner behind"),
    ],
)
def test_what_the_numbers_tell(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, change: Callable[[int], dict[str, Any]], name: str
) -> None:
    wise(monkeypatch, result_for_mover)
    tell(folder, change)
    assert names(folder) == {name}


def test_games_at_the_length_bound(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    wise(monkeypatch, result_for_mover)
    tell(folder, lambda n: {"length": 9.0})  # random games of gomoku3 are shorter
    assert names(folder) == {"games at the length bound"}


def test_identical_games(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    wise(monkeypatch, result_for_mover)
    path = folder.game_files()[-1]
    data = path.read_bytes()
    first = data[: 8 + int.from_bytes(data[:4], "little")]
    assert _core.scan_frames(first)[1] == 1
    path.write_bytes(data + 400 * first)
    found = doctor.examine(folder).findings
    assert "identical games" in {finding.name for finding in found}
    assert "of the last 500 games" in next(f.seen for f in found if f.name == "identical games")


def test_a_run_without_training(folder: Folder) -> None:
    (folder.path / "metrics.jsonl").write_text("")
    assert names(folder) == {"too early to say"}


def test_a_real_network_is_asked(folder: Folder) -> None:
    """Forty steps teach nothing certain, but the way there must work."""
    assert "value" in doctor.examine(folder).numbers


def test_the_installation() -> None:
    lines = doctor.installation()
    assert lines[0].startswith("tesuji")
    assert any(line.startswith("torch") and ("GPU" in line or "CPU" in line) for line in lines)
