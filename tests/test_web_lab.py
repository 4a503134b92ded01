"""The Lab: runs of training are listed, watched, started and stopped through the websocket."""

from pathlib import Path

import pytest
from webclient import Client, serving

import tesuji


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with a small one in it."""
    runs = tmp_path_factory.mktemp("learned")
    changes = ["selfplay.games=8", "selfplay.visits=4", "run.positions=64", "train.batch=32", "run.arena=0"]
    tesuji.Run(runs / "small", "gomoku3", changes=changes).learn(steps=3)
    return runs


def test_the_lab_lists_and_watches_a_run(learned: Path) -> None:
    with serving(runs=learned) as port:
        someone = Client(port)
        someone.say("lab", what="runs")
        (run,) = someone.of("runs")["runs"]
        assert (run["name"], run["game"], run["alive"], run["steps"] >= 3) == ("small", "gomoku3", False, True)
        someone.say("lab", what="watch", run="small")
        told = someone.of("run", run="small")
        assert told["first"]
        assert told["metrics"][-1]["loss"] > 0
        game = told["game"]
        assert game["name"] == "gomoku3"
        assert len(game["glyphs"]) == len(game["moves"]) + 1
        assert game["glyphs"][0] == ["...", "...", "..."]
        again = someone.of("run", run="small")
        assert (again["metrics"], again["game"], again["first"]) == ([], None, False)
        for name in ("nosuch", "../learned", ".", "small/games"):
            someone.say("lab", what="watch", run=name)
            assert someone.of("trouble", about="lab")["text"]
        someone.say("lab", what="stop", run="small")
        assert "was not started here" in someone.of("trouble")["text"]
        someone.close()


def test_the_lab_starts_and_stops_a_run(tmp_path: Path) -> None:
    with serving(runs=tmp_path / "runs") as port:
        someone = Client(port)
        someone.say("lab", what="start", game="gomoku3", minutes=5)
        assert someone.of("runs")["started"] == "gomoku3-1"
        someone.say("lab", what="start", game="gomoku3", minutes=5)
        assert "is learning already" in someone.of("trouble")["text"]
        someone.say("lab", what="watch", run="gomoku3-1")
        assert someone.of("run")["alive"]
        someone.say("lab", what="stop", run="gomoku3-1")
        someone.of("runs")
        someone.say("lab", what="watch", run="gomoku3-1")
        assert someone.of("run", 60, alive=False)["trouble"] is None
        for game, minutes in (("go8", 1), ("go9", -1), ("go9", 1e9)):
            someone.say("lab", what="start", game=game, minutes=minutes)
            assert someone.of("trouble")["text"]
        someone.close()
