"""Our JSON analysis engine: queries in, answers out, and nothing kills it."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import lively

import tesuji
from tesuji.nets import onnx_bytes
from tesuji.protocols.json_engine import JsonEngine


def ask(*queries: object, game: str = "go5", player: str = "mcts") -> list[dict[str, Any]]:
    out = io.StringIO()
    lines = [query if isinstance(query, str) else json.dumps(query) for query in queries]
    JsonEngine(tesuji.game(game), player).serve(io.BytesIO("\n".join(lines).encode()), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def one(game: str = "go5", player: str = "mcts", **query: object) -> dict[str, Any]:
    (answer,) = ask({"id": "q", "maxVisits": 50, **query}, game=game, player=player)
    return answer


def test_a_position_is_analysed() -> None:
    found = one(moves=[["B", "C3"], ["W", "C2"]], includeOwnership=True, analysisPVLen=2)
    assert (found["id"], found["turnNumber"], found["isDuringSearch"]) == ("q", 2, False)
    root = found["rootInfo"]
    assert root["currentPlayer"] == "B"
    assert root["visits"] == 50
    assert 0 <= root["winrate"] <= 1
    infos = found["moveInfos"]
    assert [info["order"] for info in infos] == list(range(len(infos)))
    assert infos[0]["visits"] == max(info["visits"] for info in infos)
    assert all(info["pv"][0] == info["move"] and len(info["pv"]) <= 2 for info in infos)
    assert {"C3", "C2"}.isdisjoint(info["move"] for info in infos)
    assert len(found["ownership"]) == 25
    assert "policy" not in found  # random games have none


def test_several_turns_priorities_and_reports() -> None:
    moves = [["B", "C3"], ["W", "C2"], ["B", "D2"]]
    found = ask(
        {"id": "late", "moves": moves, "analyzeTurns": [0, 3, 1, 1], "maxVisits": 20},
        {"id": "soon", "moves": moves, "priority": 5, "maxVisits": 20},
    )
    assert [(answer["id"], answer["turnNumber"]) for answer in found] == [
        ("soon", 3),
        ("late", 0),
        ("late", 1),
        ("late", 3),
    ]
    long = ask({"id": "x", "moves": [], "maxVisits": 100_000_000, "maxTime": 0.6, "reportDuringSearchEvery": 0.1})
    during = [answer["isDuringSearch"] for answer in long]
    assert during[-1] is False
    assert during.count(True) >= 2
    visits = [answer["rootInfo"]["visits"] for answer in long]
    assert visits == sorted(visits)


def test_whose_rate_it_is() -> None:
    won = [["B", "A1"], ["W", "B1"], ["B", "A2"], ["W", "B2"], ["B", "A3"], ["W", "B3"]]  # Black wins with A4
    black = one("gomoku6x4", moves=won)
    assert black["rootInfo"]["winrate"] == 1
    assert black["rootInfo"]["proven"] == 1
    assert black["moveInfos"][0]["move"] == "A4"
    white = one("gomoku6x4", moves=won, overrideSettings={"reportAnalysisWinratesAs": "WHITE"})
    assert white["rootInfo"]["winrate"] == 0
    mover = one("gomoku6x4", moves=[*won, ["B", "F6"]], overrideSettings={"reportAnalysisWinratesAs": "SIDETOMOVE"})
    assert mover["rootInfo"]["currentPlayer"] == "W"
    assert mover["rootInfo"]["winrate"] == 1  # White wins with B4
    over = one("gomoku6x4", moves=[*won, ["B", "A4"]])
    assert over["rootInfo"]["gameOver"] is True
    assert over["moveInfos"] == []


def test_sizes_komi_stones_and_other_games() -> None:
    passes = [["B", "pass"], ["W", "pass"]]
    assert one("go9", moves=passes, boardXSize=5, boardYSize=5, komi=0)["rootInfo"]["winrate"] == 0.5
    assert one("go9", moves=passes, boardXSize=5, boardYSize=5, komi=0.5)["rootInfo"]["winrate"] == 0
    assert len(one("go9", moves=[], boardXSize=5, boardYSize=5, includeOwnership=True)["ownership"]) == 25
    stones = one(initialStones=[["B", "C3"], ["B", "C4"]], moves=[["W", "C2"]])
    assert stones["rootInfo"]["currentPlayer"] == "B"
    assert one(moves=[["B", "C3"], ["B", "C4"]])["rootInfo"]["currentPlayer"] == "W"  # White passed in between
    assert one("ultimate", moves=["e5", "f6"])["turnNumber"] == 2
    boxes = one("dots2", moves=[["B", "0"], ["W", "2"], ["B", "3"], ["W", "5"], ["W", "7"]])
    assert boxes["rootInfo"]["currentPlayer"] == "B"
    assert all(info["move"].isdigit() for info in boxes["moveInfos"])


def test_a_net_has_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "go5.onnx"
    path.write_bytes(onnx_bytes(lively(tesuji.game("go5")), "fp32"))
    found = one(player=f"net:{path}", moves=[["B", "C3"]], includePolicy=True, includeOwnership=True)
    policy = found["policy"]
    assert len(policy) == 26
    assert policy[12] == -1
    assert sum(p for p in policy if p >= 0) == pytest.approx(1, abs=1e-3)
    assert len(found["ownership"]) == 25
    wrong = one(player=f"net:{path}", moves=[], boardXSize=9, boardYSize=9)
    assert "is a net for go5" in wrong["error"]


def test_actions() -> None:
    found = ask(
        {"id": "long", "moves": [], "analyzeTurns": [0], "maxVisits": 100_000_000},
        {"id": "v", "action": "query_version"},
        {"id": "m", "action": "query_models"},
        {"id": "c", "action": "clear_cache"},
        {"id": "t", "action": "terminate", "terminateId": "long"},
    )
    by_id = {answer["id"]: answer for answer in found}
    assert by_id["v"]["version"] == f"Tesuji {tesuji.__version__}"
    assert by_id["m"]["models"] == [{"name": "mcts"}]
    assert by_id["c"]["action"] == "clear_cache"
    assert by_id["t"]["terminateId"] == "long"
    assert by_id["long"]["noResults"] is True
    every = ask(
        {"id": "a", "moves": [], "maxVisits": 10**8},
        {"id": "b", "moves": [], "maxVisits": 10**8},
        {"id": "x", "action": "terminate_all"},
    )
    assert [answer.get("noResults") for answer in every] == [None, True, True]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"moves": []}, "id"),
        ({"id": 3, "moves": []}, "id"),
        ({"id": "q", "moves": "C3"}, "moves"),
        ({"id": "q", "moves": [["B", "Z9"]]}, "moves"),
        ({"id": "q", "moves": [["X", "C3"]]}, "moves"),
        ({"id": "q", "moves": [["B", "C3"], ["W", "C3"]]}, "moves"),
        ({"id": "q", "moves": [[["B"], "C3"]]}, "moves"),
        ({"id": "q", "moves": [5]}, "moves"),
        ({"id": "q", "moves": [["B", "C3"]] * 5000}, "moves"),
        ({"id": "q", "moves": [], "maxVisits": 0}, "maxVisits"),
        ({"id": "q", "moves": [], "maxVisits": "many"}, "maxVisits"),
        ({"id": "q", "moves": [], "maxVisits": True}, "maxVisits"),
        ({"id": "q", "moves": [], "maxTime": float("nan")}, "maxTime"),
        ({"id": "q", "moves": [], "analyzeTurns": [1]}, "analyzeTurns"),
        ({"id": "q", "moves": [], "analyzeTurns": "x"}, "analyzeTurns"),
        ({"id": "q", "moves": [], "komi": 1e9}, "komi"),
        ({"id": "q", "moves": [], "komi": 0.3}, "komi"),
        ({"id": "q", "moves": [], "boardXSize": 8}, "boardXSize"),
        ({"id": "q", "moves": [], "boardXSize": 10**400}, "boardXSize"),
        ({"id": "q", "moves": [], "rules": "japanese"}, "rules"),
        ({"id": "q", "moves": [], "rules": {"scoring": "TERRITORY"}}, "rules"),
        ({"id": "q", "moves": [], "rules": 3}, "rules"),
        ({"id": "q", "moves": [], "initialStones": [["B"]]}, "initialStones"),
        ({"id": "q", "moves": [], "initialStones": [["B", "C3"], ["W", "C3"]]}, "initialStones"),
        ({"id": "q", "moves": [], "initialPlayer": 1}, "initialPlayer"),
        ({"id": "q", "moves": [], "includeOwnership": 1}, "includeOwnership"),
        ({"id": "q", "moves": [], "overrideSettings": 1}, "overrideSettings"),
        ({"id": "q", "moves": [], "overrideSettings": {"reportAnalysisWinratesAs": "X"}}, "overrideSettings"),
        ({"id": "q", "action": "dance"}, "action"),
        ({"id": "q", "action": ["x"]}, "action"),
        ({"id": "q", "action": "terminate"}, "terminateId"),
        ({"id": "q", "action": "terminate_all", "turnNumbers": ["x"]}, "turnNumbers"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(query: dict[str, Any], field: str) -> None:
    (answer,) = ask(query)
    assert answer["field"] == field
    assert answer["error"]
    assert answer.get("id") == (query.get("id") if isinstance(query.get("id"), str) else None)


def test_unknown_fields_are_warned_of() -> None:
    warning, answer = ask({"id": "q", "moves": [], "maxVisits": 5, "colour": 1})
    assert warning["field"] == "colour"
    assert answer["rootInfo"]["visits"] >= 5


@pytest.mark.parametrize(
    "junk", ["{", "[]", "3", "null", "[" * 100_000, '{"id":' * 50_000, '"\\ud800"', '{"id":"\\ud800"}']
)
def test_junk_is_answered(junk: str) -> None:
    found = ask(junk, {"id": "v", "action": "query_version"})
    assert sum(answer.get("id") == "v" for answer in found) == 1
    assert sum("error" in answer or answer["id"] == "\ud800" for answer in found) == 1


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["B", "W", "C3", "pass", "x"]),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)
_FIELDS = [
    "moves",
    "initialStones",
    "initialPlayer",
    "komi",
    "rules",
    "boardXSize",
    "analyzeTurns",
    "maxVisits",
    "maxTime",
]
_MORE = [
    "priority",
    "overrideSettings",
    "reportDuringSearchEvery",
    "action",
    "terminateId",
    "turnNumbers",
    "includePolicy",
]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(_FIELDS + _MORE), _VALUES, max_size=4))
def test_odd_queries_never_kill_it(query: dict[str, Any]) -> None:
    query = {"maxTime": 0.05, "maxVisits": 5, **query, "id": "q"}
    found = ask(query, {"id": "v", "action": "query_version"}, {"id": "t", "action": "terminate_all"})
    assert any(answer.get("id") == "v" for answer in found)
    assert not any("should not happen" in answer.get("error", "") for answer in found)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_never_kill_it(data: bytes) -> None:
    out = io.StringIO()
    JsonEngine(tesuji.game("go5"), "mcts").serve(io.BytesIO(data + b'\n{"id":"v","action":"query_version"}'), out)
    assert json.loads(out.getvalue().splitlines()[-1])["id"] == "v"


def test_the_command_line() -> None:
    command = [sys.executable, "-m", "tesuji.cli", "analyze"]
    query = b'{"id":"q","moves":[["B","C3"]],"maxVisits":10}\n'
    run = subprocess.run([*command, "go5", "--json"], input=query, capture_output=True, timeout=60, check=True)
    assert json.loads(run.stdout)["rootInfo"]["currentPlayer"] == "W"
    shown = subprocess.run(
        [*command, "gomoku6x4", "c3 a6 d3 c6 e3 e6", "--visits", "500", "--top", "2"],
        capture_output=True,
        timeout=60,
        check=True,
        encoding="utf-8",
    ).stdout
    assert "proven  First wins; plies to the end: 1" in shown
    assert shown.splitlines()[-2].split()[0] in ("b3", "f3")  # both win
    bad = subprocess.run([*command, "go5", "z9"], capture_output=True, timeout=60, check=False, encoding="utf-8")
    assert bad.returncode == 2
    assert bad.stderr.startswith("tesuji: move 1: 'z9' is not a move of go5")
