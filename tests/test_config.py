"""Settings: the files, presets, changes by name, and a sentence for every mistake."""

import dataclasses
import re
from pathlib import Path

import pytest

import tesuji
from tesuji import config

pytest.importorskip("torch")

FILES = sorted((Path(config.__file__).parent / "configs").glob("*.toml"))


def test_every_game_has_settings_for_a_laptop_and_a_gpu() -> None:
    for name in tesuji.games():
        for preset in ("laptop", "gpu"):
            found = config.preset(name, preset)
            assert (found.game, found.preset) == (name, preset)


@pytest.mark.parametrize("name", ["ultimate", "gomoku6x4", "gomoku8", "nogo9", "go9"])
def test_the_studies_have_their_own_numbers(name: str) -> None:
    found = config.preset(name, "paper")
    assert found.net.architecture != "residual"
    assert found.run.encoding == "paper"
    assert found.selfplay.rule == "puct"


def test_the_numbers_of_the_studies() -> None:
    ultimate, nogo, go = (config.preset(name, "paper") for name in ("ultimate", "nogo9", "go9"))
    assert (ultimate.net.blocks, ultimate.selfplay.visits, ultimate.run.gate_games) == (16, 81, 10)
    assert (nogo.selfplay.visits, nogo.run.gating, nogo.run.gate_threshold) == (1600, "best", 0.55)
    assert (go.net.channels, go.net.blocks, go.selfplay.visits, go.selfplay.c) == (64, 4, 100, 1.5)
    assert (go.train.rate, go.train.batch, go.replay.ratio) == (0.001, 32, 10)


def test_a_game_without_a_file_has_that_of_its_nearest_relative() -> None:
    assert config.preset("go19").selfplay.vary == {"komi": 1.0}
    assert config.preset("dots2") == dataclasses.replace(config.preset("dots3"), game="dots2")
    assert config.preset("gomoku3").replay == config.preset("gomoku6x4").replay
    assert config.preset("go9:komi=5.5").game == "go9:komi=5.5"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_of_a_file_has_a_comment(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        assert re.match(r"#|\[|$|.*  # \S", line), line


@pytest.mark.parametrize(("game", "preset"), [("go9", "gpu"), ("nogo9", "paper"), ("dots2", "laptop")])
def test_what_is_written_is_read_back_the_same(game: str, preset: str, tmp_path: Path) -> None:
    given = config.changed(config.preset(game, preset), ["run.anchors=['random', 'greedy']", "train.rate=1e-4"])
    (tmp_path / "config.toml").write_text(config.text(given), encoding="utf-8")
    assert config.read(tmp_path / "config.toml") == given


def test_changes_by_name() -> None:
    base = config.preset("go9")
    new = config.changed(base, ["train.rate=0.01", "run.gating=best", "selfplay.games=1e3", "selfplay.vary={komi=2}"])
    assert (new.train.rate, new.run.gating, new.crowd.games, new.selfplay.vary) == (0.01, "best", 1000, {"komi": 2.0})
    assert set(config.differences(base, new)) == {"train.rate", "run.gating", "selfplay.games", "selfplay.vary"}
    assert config.changed(base, {"train.rate": 0.01}).train.rate == 0.01
    # A size sets every field of the net, and what is said after it changes that.
    sized = config.changed(base, ["net.size=tiny", "net.blocks=1"])
    assert (sized.net.channels, sized.net.blocks) == (config.preset("dots3").net.channels, 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("train.rat=1", "there is no setting 'train.rat': did you mean train.rate"),
        ("rate=1", "there is no setting 'rate': "),
        ("trian.rate=1", "did you mean train.rate"),
        ("train.rate", "changes nothing: write SECTION.KEY=VALUE"),
        ("train.rate=fast", "train.rate is 'fast': give a number"),
        ("train.batch=2.5", "train.batch is 2.5: give a whole number"),
        ("selfplay.reuse=1", "selfplay.reuse is 1: give true or false"),
        ("run.gating=bst", "run.gating is 'bst': did you mean best?"),
        ("run.anchors=3", "run.anchors is 3: give a list"),
        ("run.positions=0", "[run] positions is 0: give a number from 1"),
        ("run.arena_games=3", "arena_games is 3: give an even number"),
        ("net.size=huge", "net.size is 'huge': there are tiny, small"),
        ("selfplay.vary={komi='a'}", "selfplay.vary.komi is 'a': give a number"),
        ("selfplay.full_share=2", "[selfplay] full_share is 2"),
    ],
)
def test_a_wrong_change_gets_a_sentence(change: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        config.changed(config.preset("go9"), [change])


def test_wrong_presets_and_files_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no preset 'laptp': did you mean laptop"):
        config.preset("go9", "laptp")
    with pytest.raises(ValueError, match="dots3 has no preset 'paper': it has laptop and gpu"):
        config.preset("dots3", "paper")
    path = tmp_path / "config.toml"
    good = config.text(config.preset("go9"))
    for text, sentence in (
        ("x = ", "is not TOML"),
        ("[run]\n", "does not say its game"),
        (good + "\n[rnu]\n", "there is no section 'rnu': did you mean run"),
        (good.replace("window_min", "window_mim"), "there is no setting replay.window_mim: did you mean window_min"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(sentence)):
            config.read(path)


def test_the_window_grows() -> None:
    replay = config.ReplaySettings(window_min=1000, window_growth=0.5, window_max=5000)
    assert [replay.window(n) for n in (0, 500, 1000, 4000, 10**9)] == [1000, 1000, 1000, 2000, 5000]
