"""Our Gomocup engine: what its commands do, a whole game with our own client, and that nothing kills it."""

import io
import re
import sys
import time

from hypothesis import given, settings
from hypothesis import strategies as st

import tesuji
from tesuji.protocols.gomocup_engine import GomocupEngine

QUICK = "mcts:visits=60"


def talk(*commands: str, player: str = QUICK) -> list[str]:
    out = io.StringIO()
    GomocupEngine(player).serve(io.BytesIO("\r\n".join([*commands, ""]).encode()), out)
    return out.getvalue().splitlines()


def is_cell(text: str, size: int = 15) -> bool:
    found = re.fullmatch(r"(\d+),(\d+)", text)
    return found is not None and all(int(part) < size for part in found.groups())


def test_starts_and_sizes() -> None:
    assert talk("START 15", "START 8", "RECTSTART 15,15", "RESTART") == ["OK"] * 4
    for bad in ("START 20", "START 6", "START 3", "START", "START x", "START -15", "RECTSTART 15,8", "RECTSTART"):
        assert talk(bad) == ["ERROR unsupported size"]
    assert talk("START 15", "START 99", "BEGIN")[-1] == "ERROR there is no board: send START first"
    for early in ("BEGIN", "TURN 1,1", "RESTART", "TAKEBACK 1,1"):
        assert talk(early) == ["ERROR there is no board: send START first"]
    assert talk("ABOUT")[0].startswith('name="Tesuji", version=')
    assert talk("FOO 1", "foo") == ["UNKNOWN FOO", "UNKNOWN FOO"]
    assert talk("END", "ABOUT") == []


def test_attaching_plays_nothing() -> None:
    assert talk("START 15", "INFO timeout_turn 100", "INFO rule 0", "INFO evaluate 3,3", "INFO x") == ["OK"]


def test_moves() -> None:
    begun = talk("START 15", "BEGIN")
    assert is_cell(begun[1])
    replied = talk("START 8", "TURN 3,3", "TURN 3,3")
    assert is_cell(replied[1], 8)
    assert replied[2].startswith("ERROR d5 is not legal")
    assert talk("START 8", "TURN 3,3", "BEGIN")[-1] == "ERROR the board is not empty"
    assert talk("START 8", "TURN 8,0")[-1] == "ERROR 8,0 is not on the board"
    assert talk("START 8", "TURN x")[-1] == "ERROR 'x' is no cell: write x,y"
    assert talk("START 8", "begin", "RESTART", "begin")[2] == "OK"
    # Four in a row: whose turn it is takes the fifth, at the board's edge.
    board = ["BOARD", "0,0,1", "0,7,2", "1,0,1", "1,7,2", "2,0,1", "2,7,2", "3,0,1", "4,7,2", "DONE"]
    assert talk("START 8", *board)[-1] == "4,0"
    assert talk("START 8", "BOARD", "0,0,2", "DONE")[-1] != "0,0"
    assert is_cell(talk("START 8", "BOARD", "DONE")[-1], 8)
    assert talk("START 8", "BOARD", "0,0,2", "1,1,2", "DONE")[-1] == "ERROR it is not our turn on such a board"
    assert talk("START 8", "BOARD", "0,0,2")[-1] == "ERROR the input ended before DONE"
    assert talk("START 8", "BOARD", "0,0,3", "DONE")[-1].startswith("ERROR '0,0,3' is no stone")
    assert talk("START 8", "BOARD", "0,0,2", "0,0,1", "1,1,2", "DONE")[-1].startswith("ERROR a8 is not legal")


def test_moves_are_taken_back() -> None:
    first, second = talk("START 8", "TURN 3,3", player="alphabeta:depth=2")
    assert first == "OK"
    again = talk("START 8", "TURN 3,3", f"TAKEBACK {second}", "TAKEBACK 3,3", "BEGIN", player="alphabeta:depth=2")
    assert again[2:4] == ["OK", "OK"]
    assert is_cell(again[4], 8)
    assert talk("START 8", "TURN 3,3", "TAKEBACK 3,3")[-1].startswith("ERROR that is not the last move")


def test_rules_that_we_do_not_play_are_refused() -> None:
    assert talk("START 15", "INFO rule 1", "BEGIN")[-1].startswith("ERROR this program plays freestyle Gomoku alone")
    assert "Renju" in talk("START 15", "INFO rule 4", "BEGIN")[-1]
    assert is_cell(talk("START 15", "INFO rule 2", "BEGIN")[-1])  # a continuous game: nothing that concerns us


def test_time_is_kept() -> None:
    began = time.monotonic()
    timed = ["START 15", "INFO timeout_turn 600", "INFO timeout_match 100000", "INFO time_left 100000"]
    talk(*timed, "BEGIN", player="mcts:visits=100000000")
    assert 0.2 < time.monotonic() - began < 15
    began = time.monotonic()
    talk("START 15", "INFO timeout_turn 0", "BEGIN", player="mcts:visits=100000000")
    talk(*timed, "INFO time_left 200", "BEGIN", player="alphabeta:depth=100")
    assert time.monotonic() - began < 15
    odd = [
        "INFO time_left 99999999999999999",
        "INFO timeout_match 2147483647",
        "INFO max_memory 1",
        "INFO timeout_turn -5",
    ]
    assert is_cell(talk("START 15", *odd, "BEGIN")[-1])


def test_swap2() -> None:
    three = talk("START 15", "INFO timeout_turn 300", "SWAP2BOARD", "DONE", player="alphabeta:depth=2")[-1].split(" ")
    assert len(set(three)) == 3
    assert all(map(is_cell, three))
    choice = talk("START 15", "SWAP2BOARD", *three, "DONE", player="alphabeta:depth=2")[-1]
    assert choice == "SWAP" or all(map(is_cell, choice.split(" ")))
    # Black has an open three, and White nothing: whoever may choose takes Black. The other way round he stays White.
    black = ["7,7", "0,0", "7,8", "14,14", "7,9"]
    assert talk("START 15", "SWAP2BOARD", *black, "DONE", player="alphabeta:depth=4")[-1] == "SWAP"
    white = ["0,0", "7,7", "14,14", "7,8", "0,14"]
    assert is_cell(talk("START 15", "SWAP2BOARD", *white, "DONE", player="alphabeta:depth=4")[-1])
    assert talk("START 15", "SWAP2BOARD", "1,1", "DONE")[-1] == "ERROR swap2 has 0, 3 or 5 stones, not 1"
    assert talk("START 15", "SWAP2BOARD", *three, "DONE", "BEGIN")[-1].count(",") == 1  # the board stayed empty


def test_our_own_client_drives_it_through_whole_games() -> None:
    engine = f"gomocup:{sys.executable} -m tesuji.cli gomocup --player alphabeta:depth=2"
    played = tesuji.match(engine, "mcts:visits=30", game="gomoku8", games=2, seed=1, workers=1)
    assert [game.reason for game in played.games] == ["played out", "played out"]
    assert played.wins + played.draws == 2


_WORDS = [
    *(
        "START 8",
        "START 15",
        "RECTSTART 8,8",
        "RESTART",
        "BEGIN",
        "TURN 3,3",
        "TURN 0,0",
        "TURN -1,9999",
        "BOARD",
        "DONE",
    ),
    *(
        "0,0,1",
        "1,1,2",
        "0,0",
        "9,9,9",
        "TAKEBACK 3,3",
        "SWAP2BOARD",
        "INFO rule 1",
        "INFO rule 0",
        "ABOUT",
        "\x00",
        "手,筋",
    ),
    *("INFO timeout_turn 1", "INFO max_memory 0", "INFO time_left -9", "INFO timeout_match 99999999999999999999999"),
]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=20)), max_size=15))
def test_junk_never_kills_it(lines: list[str]) -> None:
    lines = [line for line in lines if line.strip().upper()[:3] != "END"]
    found = talk(*lines, "DONE", "ABOUT", player="mcts:visits=5")
    assert found[-1].startswith("name=")
    assert not any("should not happen" in line for line in found)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_never_kill_it(data: bytes) -> None:
    out = io.StringIO()
    GomocupEngine("random").serve(io.BytesIO(data.replace(b"E", b"") + b"\nDONE\nABOUT\n"), out)
    assert out.getvalue().splitlines()[-1].startswith("name=")
