"""The command line as a user types it. Most refusals come without a process of their own."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys

import pytest
from conftest import Command

TESUJI = [sys.executable, "-m", "tesuji.cli"]


def run(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*TESUJI, *words], input=typed, capture_output=True, text=True, timeout=60, check=False)


def test_games_lists_all_and_tells_one() -> None:
    listed = run("games")
    assert listed.returncode == 0
    assert "gomoku6x4" in listed.stdout
    assert "dots3-paper" in listed.stdout
    told = run("games", "go9:komi=5.5")
    assert "komi = 5.5" in told.stdout
    assert "own stones" in told.stdout


def test_check_game_says_that_it_obeys() -> None:
    done = run("check-game", "dots2", "--games", "10")
    assert done.returncode == 0
    assert done.stdout == "dots2           obeys the laws in 10 random games\n"


def test_playthrough_is_the_same_each_time_and_differs_by_seed() -> None:
    first = run("playthrough", "gomoku3").stdout
    assert first == run("playthrough", "gomoku3", "--seed", "1").stdout
    assert first != run("playthrough", "gomoku3", "--seed", "2").stdout


def test_bench_rules_prints_a_row_with_openspiel_beside() -> None:
    done = run("bench", "rules", "dots2", "--seconds", "0.05")
    assert done.returncode == 0
    row = next(line for line in done.stdout.splitlines() if line.startswith("dots2 ")).split()
    assert float(row[1].replace(",", "")) > 1000
    assert row[6].endswith("×")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["games", "go8"], "there is no game 'go8': did you mean"),
        (["games", "ultimat"], "did you mean ultimate"),
        (["games", "go9:komi=-1"], "komi -1 is not possible in go9"),
        (["games", "go9:komi=0.3"], "multiple of 0.5"),
        (["games", "go9:komi=much"], "komi must be a number, not 'much'"),
        (["games", "dots3:komi=1"], "dots3 has no rule number 'komi': it has early_end"),
        (["playthrough", "nosuch"], "there is no game 'nosuch': `tesuji games` lists them"),
        (["playthrough", "go9", "--seed", "-1"], "seed is -1"),
        (["playthrough"], "Missing argument"),
        (["check-game", "go9", "--games", "0"], "games is 0: give at least 1"),
        (["check-game", "go9", "--games", "many"], "--games"),
        (["bench", "rules", "go9", "--seconds", "0"], "seconds is 0"),
        (["bench", "rules", "go9", "--seconds", "nan"], "seconds is nan"),
        (["bench", "rules", "go10"], "there is no game 'go10'"),
        (["terminal", "go9", "--opponent", "randon"], "there is no player 'randon': did you mean random?"),
        (["terminal", "go9", "--opponent", "mcts:visits=0"], "visits is 0"),
        (["terminal", "go9", "--opponent", "mcts:playouts=3"], "mcts has no option 'playouts'"),
        (["terminal", "go9", "--opponent", "mcts:visits=x"], "visits of mcts must be a whole number, not 'x'"),
        (["play", "go8"], "there is no game 'go8'"),
        (["play", "--port", "70000"], "port is 70000: give a number from 0 to 65535"),
        (["play", "--host", "nosuch.invalid"], "there is no address 'nosuch.invalid'"),
        (["levels", "go8"], "there is no game 'go8'"),
        (["levels", "go9", "--games", "3"], "games is 3: give an even number"),
        (["nosuch"], "No such command 'nosuch'"),
        (["games", "--nosuch"], "No such option: --nosuch"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(words: list[str], sentence: str, command: Command) -> None:
    refused(command(*words), sentence)


@pytest.mark.parametrize(
    ("words", "sentence"), [(["games", "go8"], "there is no game 'go8'"), (["nosuch"], "No such command 'nosuch'")]
)
def test_a_process_refuses_as_its_function_does(words: list[str], sentence: str) -> None:
    refused(run(*words), sentence)


def refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    """By one sentence, and nothing else."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("tesuji: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_a_game_is_played_to_its_end_at_the_terminal() -> None:
    # Both people's moves: First wins by the top row.
    done = run("terminal", "gomoku3", "--opponent", "human", typed="a3\na3\nb9\na1\nundo\na1\nb3\nb1\nc3\nquit\n")
    assert done.returncode == 0
    assert "a3 is not legal for Second here: that cell is taken." in done.stdout
    assert "'b9' is not a move of gomoku3" in done.stdout
    assert "First (X) won" in done.stdout


def test_the_program_answers_hints_and_lets_you_move_second() -> None:
    done = run("terminal", "gomoku3", "--second", typed="hint\nmoves\nundo\nquit\n")
    assert done.returncode == 0
    assert "I play " in done.stdout
    assert "I would play " in done.stdout


def test_terminal_asks_which_game_and_ends_with_its_input() -> None:
    done = run("terminal", typed="gomuku3\ngomoku3\n")
    assert done.returncode == 0
    assert "did you mean gomoku3" in done.stdout
    assert "Tic-Tac-Toe" in done.stdout


def start(*words: str, stdin: int | None = None, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        text=True,
    )


def interrupt(process: subprocess.Popen[str]) -> int:
    """Ctrl-C, as a person does it: again where a moment later nothing has happened."""
    try:
        for _ in range(10):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(timeout=3)
    finally:
        process.kill()
    raise AssertionError("Ctrl-C is not heard")


def test_ctrl_c_ends_a_terminal_game_quietly() -> None:
    terminal, theirs = pty.openpty()
    process = start(*TESUJI, "terminal", "gomoku3", stdin=theirs, stdout=theirs)
    os.close(theirs)
    shown = ""
    while "your move>" not in shown and select.select([terminal], [], [], 30)[0]:
        shown += os.read(terminal, 4096).decode()
    assert interrupt(process) == 0
    shown += os.read(terminal, 4096).decode()
    os.close(terminal)
    assert "your move>" in shown
    assert "Traceback" not in shown


def test_ctrl_c_stops_a_long_count() -> None:
    count = "import tesuji; print('counting', flush=True); tesuji.game('gomoku15').perft(5)"
    process = start(sys.executable, "-c", count)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "counting\n"
        assert interrupt(process) != 0
        assert "KeyboardInterrupt" in process.stdout.read()
