"""Programs of other people drive our engines: Sabaki's GTP module, and GNU Go at the other side of the board."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_guests import LEVEL_1, needs_gnugo

import tesuji

CLIENTS = Path(__file__).parent / "clients"
needs_sabaki = pytest.mark.skipif(
    shutil.which("node") is None or not (CLIENTS / "node_modules/@sabaki/gtp/package.json").exists(),
    reason="Sabaki's module is not installed: `make test` does it where npm is",
)


@needs_sabaki
@pytest.mark.parametrize("name", ["go5", "go9", "nogo5", "nogo9", "gomoku8"])
def test_sabaki_drives_whole_games(name: str) -> None:
    visits = 30 if name.startswith("go") else 200
    game = tesuji.game(name)
    engine = [sys.executable, "-m", "tesuji.cli", "gtp", name, "--player", f"mcts:visits={visits}"]
    driven = subprocess.run(
        ["node", str(CLIENTS / "drive.js"), str(game.rows), "6.5", *engine],
        capture_output=True,
        timeout=120,
        check=False,
        encoding="utf-8",
    )
    assert driven.returncode == 0, driven.stderr
    assert driven.stderr == ""
    seen = json.loads(driven.stdout)
    assert (seen["name"], seen["protocol"], seen["knows"]) == ("Tesuji", "2", True)
    assert [(board.count("X"), board.count("O")) for board in seen["boards"]] == [(2, 2), (2, 1), (2, 1), (0, 0)]
    for command, (line, name_after) in seen["analyses"].items():
        rate = r"\d+" if command == "lz-analyze" else r"[01]\.\d+"
        assert re.search(rf"info move \w+ visits \d+ .*winrate {rate} .*order 0 pv \w+", line), line
        assert name_after == "Tesuji"
    assert seen["before"] == 0  # analysing played nothing
    for played in seen["games"]:
        # GTP's columns skip the letter I, ours in Gomoku do not: up to H they are the same.
        state = tesuji.game(name, komi=6.5) if "komi" in game.numbers else game
        end = state.replay([move.lower() for move in played["moves"]])
        assert end.result is not None
        side = {1: "B+", 0: "0", -1: "W+"}[end.result]
        assert played["score"].startswith(side)
        if end.score is not None:
            assert played["score"] == (f"{side}{abs(end.score):g}" if end.score else "0")


@needs_gnugo
def test_gnu_go_plays_a_whole_game_against_our_engine() -> None:
    ours = f"gtp:{sys.executable} -m tesuji.cli gtp go9 --player mcts:visits=100"
    played = tesuji.match(LEVEL_1, ours, game="go9", games=2, workers=1)
    assert [record.reason for record in played.games] == ["played out"] * 2
    assert played.wins == 2  # a hundred random games a move are no match for it
    assert all(len(record.moves) > 20 for record in played.games)
    assert played.forfeits == {}
