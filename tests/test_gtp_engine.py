"""Our GTP engine: what its commands do, and that nothing kills it."""

import io
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tesuji
from tesuji.protocols import sgf
from tesuji.protocols.gtp_engine import GtpEngine


def answers(text: str) -> list[tuple[bool, str]]:
    """Whether each command was understood, and what was said."""
    found = []
    for part in text.split("\n\n"):
        if part.strip():
            head = re.match(r"([=?])\d* ?", part)
            assert head is not None, part
            found.append((head[1] == "=", part[head.end() :].strip("\n")))
    return found


def talk(*commands: str, game: str = "go9", player: str = "mcts:visits=40", **options: float) -> list[tuple[bool, str]]:
    out = io.StringIO()
    engine = GtpEngine(tesuji.game(game), player, **options)  # type: ignore[arg-type]
    engine.serve(io.BytesIO("\n".join(commands).encode()), out)
    return answers(out.getvalue())


def said(*commands: str, game: str = "go9", player: str = "mcts:visits=40") -> list[str]:
    """What was said, where everything must be understood."""
    found = talk(*commands, game=game, player=player)
    assert all(understood for understood, _ in found), found
    return [text for _, text in found]


def refusal(*commands: str, game: str = "go9") -> str:
    """Why the last command was refused."""
    understood, text = talk(*commands, game=game)[-1]
    assert not understood, text
    return text


def test_it_says_who_it_is() -> None:
    assert said("protocol_version", "name", "version", "known_command play", "known_command foo") == [
        "2",
        "Tesuji",
        tesuji.__version__,
        "true",
        "false",
    ]
    listed = said("list_commands")[0].split("\n")
    needed = "boardsize clear_board komi play genmove undo final_score loadsgf lz-analyze kata-genmove_analyze quit"
    assert set(needed.split()) <= set(listed)
    assert "fixed_handicap" in listed
    assert "fixed_handicap" not in said("list_commands", game="nogo9")[0].split("\n")


def test_numbers_comments_and_control_characters() -> None:
    out = io.StringIO()
    GtpEngine(tesuji.game("go9"), "random").serve(
        io.BytesIO(b"7 name # who\r\n# nothing\n\n\x01ver\x07sion\t\n12\n99 nonsense 1 2\n"), out
    )
    assert out.getvalue() == f"=7 Tesuji\n\n= {tesuji.__version__}\n\n?12 unknown command\n\n?99 unknown command\n\n"


def test_attaching_plays_nothing() -> None:
    assert said("komi 7", "time_settings 10 0 0", "list_commands", "showboard")[-1].count("X") == 0
    board = said("play b e5", "lz-analyze 1", "showboard")[-1]
    assert board.count("X") == 1
    assert board.count("O") == 0


def test_moves_are_played_and_taken_back() -> None:
    board = said("play B E5", "play white j9", "showboard")[-1]
    assert board.split("\n")[1] == " 9 . . . . . . . . O 9"
    assert board.split("\n")[5] == " 5 . . . . X . . . . 5"
    assert board.count("I") == 0
    assert said("play b e5", "play w c3", "undo", "showboard")[-1].count("O") == 0
    assert refusal("undo") == "cannot undo"
    assert refusal("play b e5", "gg-undo 2") == "cannot undo"
    assert said("play b e5", "play w c3", "gg-undo 2", "showboard")[-1].count("X") == 0
    assert refusal("play b e5", "play w e5").startswith("illegal move: e5 is not legal for Second here")
    assert refusal("play b i5") == "invalid coordinate"
    assert refusal("play b z99") == "invalid coordinate"
    assert refusal("play x e5") == "invalid color"
    assert refusal("play b").startswith("syntax error")
    assert said("gogui-play_sequence b e5 w c3 b pass", "gogui-rules_side_to_move")[-1] == "white"
    assert said("gogui-rules_legal_moves")[0].split()[:2] == ["A9", "B9"]
    kept = talk("gogui-play_sequence b e5 w e5", "gogui-rules_board")
    assert not kept[0][0]
    assert "X" not in kept[1][1]


def test_who_moves_twice_in_go_has_been_passed_for() -> None:
    assert said("play b e5", "play b c3", "showboard")[-1].count("X") == 2
    assert said("play b e5", "play b pass", "play b c3", "showboard")[-1].count("X") == 2
    # Two passes, and the game goes on.
    assert said("play b e5", "play w pass", "play b pass", "play w d5", "gogui-rules_board")[-1].count("O") == 1
    first, second, board = said("genmove b", "genmove b", "showboard")
    assert "PASS" not in (first, second)
    assert board.count("X") == 2
    sentence = refusal("play b e5", "play b c3", game="nogo9")
    assert sentence == "illegal move: it is White's turn: in nogo9 the sides alternate"
    assert refusal("genmove w", game="gomoku8") == "it is Black's turn: in gomoku8 the sides alternate"
    assert refusal("play b pass", game="gomoku8") == "invalid coordinate: there is no pass in gomoku8"


def test_sizes_and_komi() -> None:
    assert said("boardsize 13", "gogui-rules_board_size")[-1] == "13"
    assert said("boardsize 8", "gogui-rules_board_size", game="gomoku15")[-1] == "8"
    for size in ("8", "0", "-3", "1000000", "25"):
        assert refusal(f"boardsize {size}") == "unacceptable size"
    assert refusal("boardsize x").startswith("syntax error")
    assert refusal("rectangular_boardsize 9 13") == "unacceptable size"
    assert said("rectangular_boardsize 9 9")
    assert said("komi 5.5", "boardsize 5", "get_komi")[-1] == "5.5"
    assert "give a multiple of 0.5" in refusal("komi 5.3")
    assert refusal("komi nan").startswith("syntax error")
    assert said("komi 6.5", game="gomoku8")  # sent by every program; it means nothing there
    assert said("play b e5", "play w c3", "komi 0.5", "undo", "final_score")[-1] == "B+80.5"


def test_handicap() -> None:
    assert said("boardsize 19", "fixed_handicap 3")[-1] == "D4 Q16 D16"
    assert said("fixed_handicap 9")[-1] == "C3 G7 C7 G3 C5 G5 E3 E7 E5"
    assert said("fixed_handicap 2", "gogui-rules_side_to_move")[-1] == "white"
    assert len(said("place_free_handicap 20")[-1].split()) == 9
    assert said("set_free_handicap A1 B2 C3", "showboard")[-1].count("X") == 3
    assert said("set_free_handicap A1 B2 C3", "undo", "showboard")[-1].count("X") == 0
    assert refusal("set_free_handicap A1 A1") == "bad vertex list"
    assert refusal("set_free_handicap A1 PASS") == "bad vertex list"
    assert refusal("fixed_handicap 10") == "invalid number of stones"
    assert refusal("boardsize 5", "fixed_handicap 2") == "invalid number of stones"
    assert refusal("play b e5", "fixed_handicap 2") == "board not empty"
    assert refusal("fixed_handicap 2", game="nogo9") == "unknown command"
    assert said("gogui-setup b A1 w B1", "gogui-rules_board")[-1].endswith("X O . . . . . . .")


def test_the_end_of_a_game() -> None:
    assert said("play b e5", "final_score", "final_status_list alive", "final_status_list dead") == [
        "",
        "B+74",
        "E5",
        "",
    ]
    assert said("komi 0", "final_score")[-1] == "0"
    assert len(said("play b e5", "final_status_list black_territory")[-1].split()) == 80
    assert refusal("final_status_list x").startswith("invalid status")
    assert refusal("final_score", game="nogo9") == "cannot score: the game is not over"
    won = ["gogui-play_sequence b a1 w b1 b a2 w b2 b a3 w b3 b a4 w b4 b a5"]
    assert said(*won, "final_score", "gogui-rules_final_result", game="gomoku8")[1:] == ["B+1", "B+1"]
    assert said(*won, "genmove w", game="gomoku8")[-1] == "resign"
    assert refusal(*won, "genmove b", game="gomoku8") == "the game is over"
    assert refusal(*won, "play w h8", game="gomoku8") == "illegal move: the game is over"
    assert refusal(*won, "lz-analyze 10", game="gomoku8") == "the game is over"


def test_it_gives_up_where_it_may() -> None:
    # White has nothing, and Black everything but komi.
    lost = ["boardsize 3", "komi 0", "gogui-play_sequence b b2 w a1 b b1 w pass b a2"]
    found = talk(*lost, "genmove w", resign=0.5, player="mcts:visits=400")
    assert found[-1] == (True, "resign")
    assert said(*lost, "genmove w", player="mcts:visits=400")[-1] != "resign"


def test_whole_games_against_itself_end() -> None:
    for game, most in (("go5", 200), ("nogo5", 25), ("gomoku6x4", 36)):
        moves = [f"genmove {'bw'[ply % 2]}" for ply in range(most)]
        state = tesuji.game(game).start()
        for understood, move in talk(*moves, game=game):
            assert understood or state.result is not None
            if move == "resign" or state.result is not None:
                assert state.result is not None
                break
            state = state.play(move.lower())  # without column I these boards' names are ours too
        assert state.result is not None


def test_sgf_goes_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    written = said("boardsize 13", "komi 6.5", "play b d4", "play w k10", f"printsgf {path}", "printsgf")[-1]
    assert written.strip() == path.read_text(encoding="utf-8").strip()
    assert [sgf.read(written).game.text(a) for a in sgf.read(written).line()] == ["d4", "k10"]
    loaded = said(f"loadsgf {path}", "get_komi", "showboard", "undo", "gogui-rules_side_to_move")
    assert loaded[0] == "black"
    assert loaded[1] == "6.5"
    assert loaded[-1] == "white"
    assert said(f"loadsgf {path} 2")[0] == "white"
    assert refusal("loadsgf /nowhere/at/all").startswith("cannot load file: No such file")
    path.write_text("(;GM[4]SZ[15])", encoding="utf-8")
    assert refusal(f"loadsgf {path}") == "cannot load file: it holds a game of gomoku15"
    path.write_text("junk", encoding="utf-8")
    assert refusal(f"loadsgf {path}").startswith("cannot load file: SGF, line 1")
    assert refusal(f"printsgf {tmp_path}/no/where").startswith("cannot save file")


def test_analysis_says_what_it_sees() -> None:
    for style, number in (
        ("lz", r"winrate \d+ prior \d+ lcb \d+"),
        ("kata", r"winrate [\d.]+ prior [\d.]+ lcb [\d.]+"),
    ):
        text = said("play b c3", f"{style}-analyze w 1 maxmoves 3", "name", game="gomoku8")[1]
        infos = re.findall(rf"info move [A-HJ]\d visits \d+ .*?{number} order \d pv [A-HJ]\d", text.split("\n")[-1])
        assert 1 <= len(infos) <= 3
    owned = said("kata-analyze b 1 ownership true rootInfo true", "name")[0].split("\n")[-1]
    owners = owned.partition("ownership ")[2].split()
    assert len(owners) == 81
    assert all(-1 <= float(owner) <= 1 for owner in owners)
    assert "rootInfo visits" in owned
    assert said("analyze 1", "name")[0].startswith("info move")
    assert refusal("lz-analyze b avoid b e5 1").startswith("avoid is not supported")
    assert refusal("lz-analyze interval").startswith("syntax error")
    assert refusal("lz-analyze interval -1").startswith("syntax error")
    for command in ("lz-genmove_analyze b 1", "kata-genmove_analyze b 1", "genmove_analyze b 1"):
        lines = said(command)[0].split("\n")
        assert lines[0].startswith("info move ")
        assert re.fullmatch(r"play [A-HJ]\d", lines[-1])
    # A player without a tree of its own says its move alone.
    assert re.fullmatch(r"play [A-HJ]\d", said("genmove_analyze b", game="nogo5", player="alphabeta:depth=2")[0])
    # The analysis is proven at once, and yet waits for the next command.
    assert len(said("gogui-play_sequence b a1 w b1 b a2 w b2 b a3 w b3", "lz-analyze 1", "name", game="gomoku6x4")) == 3
    assert len(said("tesuji-top_moves", "tesuji-value", "tesuji-ownership")[-1].strip().split("\n")) == 9
    assert "no owners" in refusal("tesuji-ownership", game="gomoku8")
    assert "tesuji-ownership" in said("gogui-analyze_commands")[0]


def test_time_is_kept() -> None:
    began = time.monotonic()
    said("time_settings 0 1 1", "time_left b 1 1", "genmove b", player="mcts:visits=100000000")
    assert 0.3 < time.monotonic() - began < 15
    began = time.monotonic()
    said("time_settings 1 0 0", "genmove b", player="mcts:visits=100000000")
    said("kgs-time_settings byoyomi 0 1 3", "genmove b", player="alphabeta:depth=100", game="nogo9")
    assert time.monotonic() - began < 15
    for fine in ("none", "absolute 100", "canadian 10 5 1"):
        assert said(f"kgs-time_settings {fine}")
    assert said("time_settings 0 1 0", "genmove b")  # no limit: the player's own
    assert refusal("kgs-time_settings x").startswith("syntax error")
    assert "main time" in refusal("time_settings -1 0 0")
    assert refusal("time_left b x 0").startswith("syntax error")


def test_an_analysis_ends_with_the_next_command_and_can_be_interrupted() -> None:
    """As a program does it: over pipes, with the engine in a process of its own."""
    command = [sys.executable, "-m", "tesuji.cli", "gtp", "go9", "--player", "mcts:visits=1000000000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        guard = threading.Timer(60, engine.kill)
        guard.daemon = True
        guard.start()
        engine.stdin.write("1 lz-analyze b 10\n")
        assert engine.stdout.readline() == "=1\n"
        infos = [engine.stdout.readline() for _ in range(3)]
        assert all(info.startswith("info move ") for info in infos)
        visits = [sum(map(int, re.findall(r" visits (\d+)", info))) for info in infos]
        assert visits[0] < visits[1] < visits[2]
        engine.stdin.write("2 name\n")
        while engine.stdout.readline() != "\n":
            pass
        assert engine.stdout.readline() == "=2 Tesuji\n"
        assert engine.stdout.readline() == "\n"
        engine.stdin.write("3 genmove b\n")
        time.sleep(0.2)
        engine.stdin.write("# interrupt\n")
        assert re.fullmatch(r"=3 [A-HJ]\d\n", engine.stdout.readline())
        assert engine.stdout.readline() == "\n"
        engine.stdin.write("4 quit\n")
        assert engine.stdout.readline() == "=4\n"
        assert engine.wait(timeout=20) == 0
        guard.cancel()


def test_bad_words_on_the_command_line_are_refused() -> None:
    with pytest.raises(ValueError, match="not for ultimate"):
        GtpEngine(tesuji.game("ultimate"))
    with pytest.raises(ValueError, match="resign is 2"):
        GtpEngine(tesuji.game("go9"), resign=2)
    with pytest.raises(ValueError, match="no player"):
        GtpEngine(tesuji.game("go9"), "nobody")
    with pytest.raises(ValueError, match="visits"):
        GtpEngine(tesuji.game("go9"), "mcts:visits=0")


# ── Junk ──

_WORDS = [
    *("play", "genmove", "b", "w", "black", "a1", "e5", "pass", "PASS", "i9", "z99", "1", "0", "-1", "1e400", "nan"),
    *(
        "undo",
        "clear_board",
        "boardsize",
        "komi",
        "5",
        "9",
        "time_settings",
        "time_left",
        "kgs-time_settings",
        "byoyomi",
    ),
    *("lz-analyze", "kata-analyze", "genmove_analyze", "interval", "maxmoves", "ownership", "true", "reg_genmove"),
    *("fixed_handicap", "set_free_handicap", "gogui-play_sequence", "gogui-setup", "final_score", "final_status_list"),
    *("alive", "loadsgf", f"printsgf {os.devnull}\n", "99999999999999999999", "\x00", "手", "#", "tesuji-ownership"),
]
_LINES = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=12), st.sampled_from(["go5", "nogo5", "gomoku6x4"]))
def test_junk_never_kills_it(lines: list[str], game: str) -> None:
    out = io.StringIO()
    data = "\n".join([*lines, "protocol_version", ""]).encode(errors="replace")
    GtpEngine(tesuji.game(game), "mcts:visits=20").serve(io.BytesIO(data), out)
    found = answers(out.getvalue())
    assert found[-1] == (True, "2")
    assert not any("should not happen" in text for _, text in found)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_bytes_never_kill_it(data: bytes) -> None:
    out = io.StringIO()
    GtpEngine(tesuji.game("go5"), "random").serve(io.BytesIO(data + b"\nname\n"), out)
    assert answers(out.getvalue())[-1] == (True, "Tesuji")


def test_a_line_without_end_is_cut() -> None:
    out = io.StringIO()
    GtpEngine(tesuji.game("go5"), "random").serve(io.BytesIO(b"x" * 5_000_000 + b"\nname"), out)
    assert answers(out.getvalue()) == [(False, "unknown command"), (True, "Tesuji")]
