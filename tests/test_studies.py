"""Studies at their smallest: all that the papers report is in the reports, the tables add up, and nothing is lost."""

import fcntl
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from tesuji import studies
from tesuji.run import Folder
from tesuji.studies import dots
from tesuji.studies.lab import Lab, Step, Study
from tesuji.studies.words import both

TESUJI = [sys.executable, "-m", "tesuji.cli"]
SMALLEST = 1e-6

# What STUDIES.md names of each study: tables and figures.
REQUIRED = {
    "ultimate": (
        {"iterations", "best", "dynamic", "ours-matches"},
        {"untrained", "best-random", "best-alphabeta", "best-mcts"},
    ),
    "gomoku": (
        {"one search", "curves", "times", "latest-or-best", "strength", "exact6x4"},
        {"gomoku-loss", "gomoku-entropy", "one-game", "many-games", "latest-or-best-curve", "ours-curve"},
    ),
    "nogo": (
        {"pipeline", "hundred", "reuse", "ours-matches", "ours-reuse"},
        {"nogo-loss", "nogo-gate", "reuse-curve", "ours-curve"},
    ),
    "dots": (
        {"trainings", "first-moves", "mirror", "results", "exact", "learning", "dots-ours"},
        {"first-moves-shares", "first-moves-visits"},
    ),
    "go": (
        {"go-loop", "expected", "go-strength", "wishes", "parallel", "ours-matches"},
        {"go-loss", "wishes-speed", "ours-curve"},
    ),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a study, which is carried out when it is first asked for, by whichever process of the tests."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "studies"
    shared.mkdir(exist_ok=True)

    def folder_of(name: str) -> Path:
        folder = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "report.md").exists():
                assert studies.carry_out(name, folder, scale=SMALLEST) == folder.resolve() / "report.md"
        return folder

    return folder_of


@pytest.fixture(params=studies.NAMES)
def done(request: pytest.FixtureRequest, finished: Callable[[str], Path]) -> Path:
    """Each study's folder."""
    return finished(request.param)


def report(folder: Path) -> str:
    return (folder / "report.md").read_text(encoding="utf-8")


Rows = list[dict[str, str]]


def tables(folder: Path) -> dict[str, list[Rows]]:
    """By caption: the tables of a report, each row by the English of its heads."""
    found: dict[str, list[Rows]] = {}
    caption, heads = "", list[str]()
    for line in report(folder).splitlines():
        if line.startswith("**"):
            caption, heads = line.strip("*"), []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not heads:
                heads = [cell.partition(" · ")[0] for cell in cells]
                found.setdefault(caption, []).append([])
            elif set(line) - set("|- "):
                found[caption][-1].append(dict(zip(heads, cells, strict=True)))
    return found


def table(folder: Path, key: str) -> Rows:
    return tables(folder)[both(key)][0]


def numbers(folder: Path) -> dict[str, Any]:
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))["numbers"]
        for path in sorted((folder / "numbers").glob("*.json"))
    }


def value(cell: str) -> float:
    return float(cell.replace(",", "").rstrip("%"))


# ── Reports ──


def test_a_report_has_all_that_the_paper_reports(done: Path) -> None:
    wanted, figures = REQUIRED[done.name]
    captions = tables(done)
    assert {both(key) for key in wanted | {"settings", "steps"}} <= set(captions)
    assert all(rows for group in captions.values() for rows in group)
    for key in figures:
        assert f"![{both(key)}](figures/{key}.png)" in report(done)
    drawn = {path.stem for path in (done / "figures").iterdir()}
    assert drawn == figures
    for path in (done / "figures").iterdir():
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_papers_numbers_stand_beside_ours(done: Path) -> None:
    """In each table of the paper's part a column is the paper's, and somewhere it says something."""
    text = report(done)
    assert text.index(both("paper part")) < text.index(both("our part"))
    for key in REQUIRED[done.name][0] - {"exact", "go-loop"}:
        rows = tables(done)[both(key)][0]
        papers = [head for head in rows[0] if head.startswith("paper")]
        assert papers, key
        assert any(row[head] not in ("", "–") for row in rows for head in papers), key


def test_headings_and_captions_are_in_both_languages(done: Path) -> None:
    lines = report(done).splitlines()
    told = [line for line in lines if line.startswith(("#", "**", "!["))]
    assert len(told) > 5
    assert [line for line in told if " · " not in line or not re.search("[\u4e00-\u9fff]", line)] == []


def test_the_html_needs_nothing_else(done: Path) -> None:
    page = (done / "report.html").read_text(encoding="utf-8")
    assert page.count("<img") == len(REQUIRED[done.name][1])
    assert page.count('src="data:image/png;base64,') == page.count("src=")
    assert "http" not in page
    assert page.count("<table") == sum(map(len, tables(done).values()))


def test_wins_draws_and_losses_add_up(done: Path) -> None:
    checked = 0
    for group in tables(done).values():
        for rows in group:
            for row in rows:
                if not {"games", "wins", "losses"} <= row.keys():
                    continue
                wins, draws, losses = value(row["wins"]), value(row.get("draws", "0")), value(row["losses"])
                games = value(row["games"])
                assert wins + draws + losses == games
                share = row.get("score", row.get("share", ""))
                assert math.isclose(value(share), 100 * (wins + draws / 2) / games, abs_tol=0.051)
                checked += 1
    assert checked


def test_the_steps_are_those_that_left_numbers(done: Path) -> None:
    rows = table(done, "steps")
    assert sorted(row["step"] for row in rows[:-1]) == sorted(numbers(done))
    assert math.isclose(
        value(rows[-1]["seconds"]), sum(value(row["seconds"]) for row in rows[:-1]), abs_tol=0.1 * len(rows)
    )


def test_a_study_that_is_done_is_not_done_again(done: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (done / "numbers").iterdir()}
    text = report(done)
    studies.carry_out(done.name, done)  # the folder knows its scale
    assert {path: path.stat().st_mtime_ns for path in (done / "numbers").iterdir()} == before
    assert report(done) == text


# ── Each study's own arithmetic ──


def test_first_moves_of_dots_add_up(finished: Callable[[str], Path]) -> None:
    done = finished("dots")
    rows = table(done, "first-moves")
    assert len(rows) == 25
    for column in ("paper: wins", "paper: visits", "here: wins", "here: visits"):
        assert value(rows[-1][column]) == sum(value(row[column]) for row in rows[:-1])
    for row in rows:
        for who in ("paper", "here"):
            share = value(row[f"{who}: wins"]) / value(row[f"{who}: visits"])
            assert math.isclose(value(row[who]), 100 * share, abs_tol=0.0051)
    trained = {row["model"]: row for row in table(done, "trainings")}
    assert value(rows[-1]["here: visits"]) == value(trained["greedy"]["games"])
    assert trained["greedy"]["paper"] == "6.3%"
    assert math.isclose(value(rows[-1]["paper"]), 6.33)


def test_the_mirror_and_learning_of_dots_add_up(finished: Callable[[str], Path]) -> None:
    done = finished("dots")
    rows = table(done, "mirror")
    for row in rows:
        assert value(row["First wins"]) + value(row["Second wins"]) == value(row["games"])
    assert (rows[0]["paper: First"], rows[0]["paper: Second"]) == ("377", "9,623")
    made = numbers(done)
    assert made["learning"]["learned"] == made["learning"]["new_visits"] == made["learning"]["match"]["games"]
    assert made["kills"]["sound"] == made["kills"]["kills"]
    assert made["perfect"]["result"] == -1  # Second wins with best play
    assert made["perfect"]["margin"] == max(made["perfect"]["first_moves"])


def test_savings_of_ultimate_add_up(finished: Callable[[str], Path]) -> None:
    done = finished("ultimate")
    for row in table(done, "dynamic"):
        saved = 1 - value(row["simulations a move"]) / value(row["at most"])
        assert math.isclose(value(row["saved"]), 100 * saved, abs_tol=1)
        assert 0 <= value(row["searches that stopped early"]) <= 100
    rows = table(done, "iterations")
    assert [row["iteration"] for row in rows] == ["1", "2"]
    for row in rows:
        if row["against the best"] != "–":
            assert (row["becomes best"] == "yes") == (value(row["against the best"]) > 50)


def test_curves_of_gomoku_are_of_the_runs(finished: Callable[[str], Path]) -> None:
    done = finished("gomoku")
    made = numbers(done)
    assert table(done, "curves")[0]["here"] == f"{made['paper']['lines'][-1]['games']:,}"
    learned = [line["loss"] for line in made["paper"]["lines"] if "loss" in line]  # a round may owe no step yet
    assert min(learned) > 0
    assert len(made["many-games"]["means"]["A"]) == len(made["many-games"]["means"]["B"]) == made["many-games"]["games"]
    for scheme in ("latest", "best"):
        played = {line["round"]: line["games"] for line in made[scheme]["lines"]}
        assert all(point["games"] == played[point["round"]] for point in made[scheme]["points"])
    assert max(made["one-search"]["simulations"]) == 4701


def test_depths_of_nogo_add_up(finished: Callable[[str], Path]) -> None:
    done = finished("nogo")
    for row in (*table(done, "reuse"), *table(done, "ours-reuse")):
        gain = value(row["tree: kept"]) / value(row["tree: new"]) - 1
        assert math.isclose(value(row["gain"]), 100 * gain, abs_tol=0.5)
    assert {row["paper"] for row in table(done, "hundred")} == {"97 of 100 (OASE-NoGo)", "96 of 100 (OASE-NoGo)"}
    for row in table(done, "pipeline"):
        if row["against the best"] != "–":
            assert (row["becomes best"] == "yes") == (value(row["against the best"]) >= 55)


def test_wishes_of_go_add_up(finished: Callable[[str], Path]) -> None:
    done = finished("go")
    wished = {row["item"] for row in table(done, "wishes")}
    assert wished == {
        "residual blocks", "channels", "simulations", "games an iteration", "board", "owners as a target"
    }  # fmt: skip
    rows = [row for row in table(done, "parallel") if row["item"] != "GPU"]
    assert len(rows) >= 3
    for row in rows:
        ratio = value(row["evaluations a second"]) / value(rows[0]["evaluations a second"])
        assert math.isclose(value(row["times as fast"]), ratio, abs_tol=0.06)
    for row in table(done, "go-loop")[1:]:
        if row["loss"] != "–":
            assert math.isclose(value(row["loss"]), value(row["policy loss"]) + value(row["value loss"]), abs_tol=0.001)


@pytest.mark.parametrize(("name", "step"), [("gomoku", "one-game"), ("ultimate", "ours-random")])
def test_what_measures_time_is_played_here_whoever_plays_the_rest(tmp_path: Path, name: str, step: str) -> None:
    def elsewhere(*players: str, **options: Any) -> Any:
        raise AssertionError(players)

    lab = Lab(studies.study(name), tmp_path / name, scale=SMALLEST, match=elsewhere)
    (lab.folder / "matches").mkdir(parents=True)
    (made,) = (one.make() for one in lab.study.steps(lab) if one.name == step)
    assert (made if name == "gomoku" else made["paper"])["games"] == 2
    with pytest.raises(AssertionError, match="random"):
        lab.match("other", "random", "random", game="dots2", games=2)


@pytest.mark.parametrize("name", studies.NAMES)
def test_a_study_has_a_page_with_figures(name: str) -> None:
    page = (Path(__file__).parent.parent / "docs" / "studies" / f"{name}.md").read_text(encoding="utf-8")
    assert f"tesuji study {name}" in page
    for heading in ("What it found", "What we found", "With our own recipe", "Where we differ, and why", "中文"):
        assert f"## {heading}\n" in page
    assert "](../images/study-" in page


# ── Stopping and going on ──


def until(condition: Any, process: subprocess.Popen[Any], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "it ended before its time"
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_killed_study_goes_on_and_ends_as_if_nothing_had_been(
    tmp_path: Path, finished: Callable[[str], Path]
) -> None:
    done = finished("dots")
    folder = tmp_path / "killed"
    command = [*TESUJI, "study", "dots", "--scale", str(SMALLEST), "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until((folder / "numbers" / "free-greedy.json").exists, process)
        process.send_signal(signal.SIGKILL)
    before = {path: path.stat().st_mtime_ns for path in (folder / "numbers").glob("*.json")}
    assert before
    assert not (folder / "report.md").exists()
    studies.carry_out("dots", folder)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    first, second = numbers(done), numbers(folder)
    assert first.keys() == second.keys()
    for step in ("train-free", "train-greedy"):
        assert first[step]["first_moves"] == second[step]["first_moves"]
    assert first["mirror"] == second["mirror"]
    for step in [f"{model}-{opponent}" for model in dots.MODELS for opponent in dots.OPPONENTS]:
        assert first[step]["as_first"] == second[step]["as_first"], step
        assert first[step]["as_second"] == second[step]["as_second"], step


def test_ctrl_c_ends_with_a_sentence_and_the_same_command_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    command = [*TESUJI, "study", "dots", "--scale", str(SMALLEST), "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until((folder / "numbers" / "train-free.json").exists, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    assert err.rstrip().endswith(f"stopped: the same command goes on in {folder}")
    assert "Traceback" not in err


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A laboratory without a study."""
    found = Lab(Study(name="dots", scale=SMALLEST, steps=lambda lab: [], parts=lambda lab: []), tmp_path / "lab")
    with found.locked():
        (found.folder / "runs").mkdir()
        yield found


def test_ctrl_c_saves_the_run_under_way(lab: Lab) -> None:
    folder = Folder(lab.folder / "runs" / "run")

    def ask() -> None:
        """Ctrl-C after the first round."""
        end = time.monotonic() + 120
        while not folder.last_metrics() and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    asking = threading.Thread(target=ask)
    asking.start()
    with pytest.raises(KeyboardInterrupt):
        lab.learn("run", "gomoku3", "laptop", {}, minutes=5)
    asking.join()
    assert folder.saved
    saved = int(folder.last_metrics()["round"])
    assert saved > 0
    lines = lab.learn("run", "gomoku3", "laptop", {}, rounds=saved + 2)
    assert lines[-1]["round"] == saved + 2
    assert lines[-1]["games"] > lines[saved - 1]["games"]


def test_a_step_that_fails_leaves_the_steps_before_it(tmp_path: Path) -> None:
    made = []

    def fail() -> dict[str, Any]:
        raise RuntimeError("the power went")

    def first() -> dict[str, Any]:
        made.append("first")
        return {"x": (1, 2)}

    study = Study(name="dots", scale=1.0, steps=lambda lab: [Step("a", first), Step("b", fail)], parts=lambda lab: [])
    with pytest.raises(RuntimeError, match="the power went"):
        Lab(study, tmp_path / "x").carry_out()
    going_on = replace(study, steps=lambda lab: [Step("a", first), Step("b", lambda: {"y": lab.numbers["a"]})])
    Lab(going_on, tmp_path / "x").carry_out()
    assert made == ["first"]
    assert numbers(tmp_path / "x") == {"a": {"x": [1, 2]}, "b": {"y": {"x": [1, 2]}}}


# ── Refusals ──


def test_other_settings_on_the_same_folder_are_refused(lab: Lab) -> None:
    lab.carry_out()
    for given, sentence in (
        ({"scale": 0.5}, "holds a study with scale 1e-06, not 0.5: give another folder by --out"),
        ({"seed": 7}, "holds a study with seed 1, not 7: give another folder by --out"),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            Lab(lab.study, lab.folder, **given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="holds a study with study dots, not go: give another folder by --out"):
        studies.carry_out("go", lab.folder)
    with pytest.raises(ValueError, match="another process is at this study"), Lab(lab.study, lab.folder).locked():
        pass
    (lab.folder / "study.json").write_text("{")
    with pytest.raises(ValueError, match=r"study\.json is damaged"):
        Lab(lab.study, lab.folder)


def test_damaged_numbers_are_named(tmp_path: Path) -> None:
    study = Study(name="dots", scale=1.0, steps=lambda lab: [Step("a", lambda: {})], parts=lambda lab: [])
    Lab(study, tmp_path / "x").carry_out()
    (tmp_path / "x" / "numbers" / "a.json").write_text("{")
    with pytest.raises(ValueError, match=r"a\.json is damaged: remove it, and the step is done again"):
        Lab(study, tmp_path / "x").carry_out()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["study", "dot"], "there is no study 'dot': did you mean dots?"),
        (["study", "xyz"], "there is no study 'xyz': there are ultimate, gomoku, nogo, dots, go"),
        (["study", "dots", "--scale", "0", "--out", "{tmp}/a"], "scale is 0: give a fraction of the paper's games"),
        (["study", "dots", "--scale", "11", "--out", "{tmp}/a"], "scale is 11: give a fraction of the paper's games"),
        (["study", "dots", "--scale", "nan", "--out", "{tmp}/a"], "scale is nan: give a fraction"),
        (["study", "dots", "--seed", "-1", "--out", "{tmp}/a"], "seed is -1: give a number from 0"),
        (["study", "dots", "--out", "{tmp}/a,b"], "has a comma in its name"),
        (["study", "dots", "--out", "{tmp}"], "holds other things: give a new folder by --out, or an empty one"),
        (["study", "dots", "--out", "{tmp}/mine.txt"], "holds other things"),
    ],
)
def test_bad_input_gets_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tesuji import cli

    (tmp_path / "mine.txt").write_text("mine")
    before = signal.getsignal(signal.SIGTERM)
    try:
        code = cli.app([word.replace("{tmp}", str(tmp_path)) for word in words], standalone_mode=False)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert code == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.txt"]
