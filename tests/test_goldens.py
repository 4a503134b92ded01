"""What is kept as a file and made by a command: transcripts and stubs. ``make goldens`` makes them anew."""

import subprocess
import sys
from pathlib import Path

import pytest

import tesuji
from tesuji.bench import signature
from tesuji.playthrough import playthrough

HERE = Path(__file__).parent
PLAYTHROUGHS = HERE / "playthroughs"


@pytest.mark.parametrize("name", tesuji.games())
def test_playthrough_is_as_kept(name: str) -> None:
    kept = (PLAYTHROUGHS / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough(tesuji.game(name), seed=1) == kept


def test_no_playthrough_is_left_over() -> None:
    assert {path.stem for path in PLAYTHROUGHS.iterdir()} == set(tesuji.games())


def test_stubs_are_as_kept(tmp_path: Path) -> None:
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tesuji._core", "-o", made], check=True)
    assert made.read_text(encoding="utf-8") == (HERE.parent / "src/tesuji/_core.pyi").read_text(encoding="utf-8")


def test_the_signature_is_as_kept() -> None:
    """Rules and search do what they did. After a wanted change ``make goldens`` keeps the new one."""
    assert f"{signature()}\n" == (HERE / "signature.txt").read_text(encoding="utf-8")
