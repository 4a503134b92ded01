"""The Lab: runs of training are listed, watched, started and stopped through the websocket."""

import shutil
import time
from pathlib import Path

import pytest
from webclient import Client, serving

import tesuji
from tesuji import _core, config
from tesuji.run import Folder
from tesuji.web.lab import Lab, Seen


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


def test_the_newest_game_is_found_without_reading_all(learned: Path) -> None:
    folder = Folder(learned / "small")
    frames = folder.last_frames()
    records = _core.read_frames(tesuji.game("gomoku3"), frames)
    frame, place = folder.newest_frame()
    assert _core.read_frames(tesuji.game("gomoku3"), frame) == records[-1:]
    assert folder.newest_frame(place) == (frame, place)
    # A torn tail is passed over.
    path = folder.game_files()[-1]
    whole = path.read_bytes()
    path.write_bytes(whole + frame[: len(frame) // 2])
    assert folder.newest_frame() == (frame, place)
    path.write_bytes(whole + frame)
    assert folder.newest_frame(place)[1] == (path, len(whole))
    path.write_bytes(whole)
    assert Folder(learned / "nothing").newest_frame() == (b"", None)


def test_how_a_run_stands_is_seen_from_outside(learned: Path) -> None:
    folder = Folder(learned / "small")
    assert folder.last_metrics() == folder.metrics()[-1]
    assert Folder(learned / "nothing").last_metrics() == {}
    assert not folder.learning()
    assert not Folder(learned / "nothing").learning()
    with folder.locked():
        assert folder.learning()
        (run,) = Lab(learned).runs()
        assert run["alive"]


def test_many_rows_are_thinned(learned: Path) -> None:
    copy = Folder(learned / "long")
    copy.begin(config.preset("gomoku3"), Folder(learned / "small").manifest())
    for number in range(1, 1001):
        copy.add_metrics({"round": number, "loss": 1 / number})
    seen = Seen()
    rows = Lab(learned).watch("long", seen)["metrics"]
    assert len(rows) == 300
    assert rows[-1]["round"] == 1000
    copy.add_metrics({"round": 1001, "loss": 0})
    assert [row["round"] for row in Lab(learned).watch("long", seen)["metrics"]] == [1001]
    shutil.rmtree(copy.path)


def test_without_torch_the_lab_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"learning needs the package torch: pip install 'tesuji\[train\]'"):
        Lab(tmp_path).start("gomoku3", 1)


def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    """A folder that holds other things is refused by the process that learns."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letters.txt").write_text("dear")
    lab = Lab(tmp_path)
    assert lab.start("gomoku3", 1, "taken") == "taken"
    seen = Seen()
    while lab.watch("taken", seen)["alive"]:
        time.sleep(0.1)
    assert "holds other things" in lab.watch("taken", seen)["trouble"]
    lab.close()
