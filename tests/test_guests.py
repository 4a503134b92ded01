"""Programs of other people at our board: GNU Go itself, and small programs that do everything wrong."""

import contextlib
import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
from test_arena import Marked, registered

import tesuji
from tesuji import players
from tesuji.protocols import engine
from tesuji.protocols.gomocup import GomocupPlayer
from tesuji.protocols.gtp import GtpPlayer

GNUGO = engine.find_program("gnugo")
needs_gnugo = pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (Debian's package gnugo)")
LEVEL_1 = "gtp:gnugo --mode gtp --chinese-rules --capture-all-dead --positional-superko --seed 1 --level 1"


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> object:
    yield
    assert [process for process in engine._alive if process.poll() is None] == []


# ── GNU Go ──


@needs_gnugo
@pytest.mark.parametrize("opponent", ["random", "mcts:visits=200"])
def test_gnu_go_plays_whole_games_and_wins(opponent: str) -> None:
    played = tesuji.match(LEVEL_1, opponent, game="go9", games=2, workers=1)
    assert played.wins == 2, [record.reason for record in played.games]
    assert [record.reason for record in played.games] == ["played out"] * 2
    assert all(len(record.moves) > 20 for record in played.games)
    assert played.forfeits == {}


@needs_gnugo
def test_gnu_go_is_told_its_limit_of_time(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = f"tee {log} | {LEVEL_1.removeprefix('gtp:').replace('gnugo', str(GNUGO))}"
    game = tesuji.game("go9")
    state = game.random(1, 12)
    with contextlib.closing(GtpPlayer(game, shlex.join(["sh", "-c", command]), seconds=20)) as guest:
        for _ in range(3):
            state = state.play(guest.think(state).action)
            state = state.play(state.legal()[0])
    told = log.read_text().splitlines()
    assert told[:4] == ["boardsize 9", "clear_board", "komi 7", "time_settings 0 18 1"]
    assert [told[i - 1] for i, line in enumerate(told) if line == "genmove B"] == ["time_left B 18 1"] * 3


def test_without_a_limit_a_guest_is_told_of_none(scripts: dict[str, str], tmp_path: Path) -> None:
    """With one, a program that does not know the commands still plays."""
    game, log = tesuji.game("gomoku8"), tmp_path / "log"
    for seconds in (None, 20):
        command = f"tee {log} | {scripts['gtp'].removeprefix('gtp:')} timeless"
        with contextlib.closing(GtpPlayer(game, shlex.join(["sh", "-c", command]), seconds=seconds)) as guest:
            guest.think(game.start())
        assert ("time_settings 0 18 1" in log.read_text()) == (seconds is not None)
        assert ("time_left B 18 1" in log.read_text()) == (seconds is not None)


@needs_gnugo
def test_gnu_go_agrees_with_our_board_and_follows_jumps() -> None:
    """Its drawing of the position is ours, after jumps to other games too; the komi is the game's."""
    game = tesuji.game("go9", komi=5.5)
    guest = GtpPlayer(game, LEVEL_1.removeprefix("gtp:"))
    for seed, plies in [(1, 30), (1, 31), (2, 12), (2, 80), (2, 20), (3, 0)]:
        state = game.random(seed, plies)
        if state.result is not None:
            continue
        thought = guest.think(state)
        assert thought.action in state.legal()
        after = state.play(thought.action)
        guest._engine.allow(10)
        guest._engine.send("showboard")
        lines = [guest._engine.line() for _ in range(13)]
        rows = [line.split()[1:10] for line in lines[2:11]]
        assert [[cell.replace("+", ".") for cell in row] for row in rows] == [list(row) for row in after.glyphs()]
        assert guest._ask("get_komi") == "5.5"
    guest.close()


@needs_gnugo
def test_gnu_go_killed_in_the_middle_of_a_game_loses_it_and_plays_the_next() -> None:
    class Assassin(players.Random):
        """Moves at random, and once ends the other's process."""

        done = False

        def think(self, state: tesuji.State) -> tesuji.Thought:
            if len(state.history) > 10 and not Assassin.done:
                Assassin.done = True
                (victim,) = [process for process in engine._alive if process.poll() is None]
                os.kill(victim.pid, signal.SIGKILL)
            return super().think(state)

    with registered("assassin", Assassin):
        played = tesuji.match("assassin", LEVEL_1, game="go9", games=4, workers=1)
    first, *rest = played.games
    assert first.winner == "A"
    assert first.reason == "B crashed: killed by signal 9"
    assert len(first.moves) > 5
    assert [record.winner for record in rest] == ["B"] * 3
    assert all(record.played_out for record in rest)


def test_programs_are_also_looked_for_in_usr_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "somegame"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(engine, "_GAMES", str(tmp_path))
    engine.Engine("somegame --level 1")
    with pytest.raises(ValueError, match="there is no program 'othergame' that can be run"):
        engine.Engine("othergame")
    with pytest.raises(ValueError, match="open quotation mark"):
        engine.Engine("somegame 'x")


# ── Guests written here ──

# Engines that move at random and correctly; what else is wrong with them is their first argument.
GTP = r"""
import random, sys, time
wrong = sys.argv[1]
size, free, asked = 9, [], 0
if wrong == "start": sys.exit("no net found")
def say(text): sys.stdout.write(text); sys.stdout.flush()
for line in sys.stdin:
    command, *words = line.split()
    answer = ""
    if wrong == "timeless" and "time" in command: say("? unknown command\n\n"); continue
    if command == "boardsize": size = int(words[0])
    elif command == "clear_board":
        free = [f"{c}{r + 1}" for c in "ABCDEFGHJKLMNOPQRST"[:size] for r in range(size)]
        random.seed(1)
    elif command == "play":
        if wrong == "refuse": say("? illegal move\n\n"); continue
        if words[1] in free: free.remove(words[1])
    elif command == "genmove":
        asked += 1
        answer = free.pop(random.randrange(len(free))).lower() if free else "pass"
        if asked == 3:
            if wrong == "illegal": answer = "Z99"
            elif wrong == "taken": answer = taken
            elif wrong == "junk": say("Hello, World\n"); continue
            elif wrong == "hang": time.sleep(60)
            elif wrong == "crash": sys.exit(7)
            elif wrong == "killed": import os; os.kill(os.getpid(), 9)
            elif wrong == "endless":
                while True: say("x" * 4096)
            elif wrong == "chatter":
                say("= a1\n")
                while True: say("and another thing\n" * 100)
            elif wrong == "resign": answer = "resign"
            elif wrong == "pass": answer = "PASS"
            elif wrong == "binary": sys.stdout.buffer.write(b"= \xff\xfe\x00\n\n"); sys.stdout.flush(); continue
            elif wrong == "stderr": sys.stderr.write("noise " * 200000)
            elif wrong == "close":
                import os; os.close(1); time.sleep(60)
        taken = answer
    elif command == "quit": say("=\n\n"); break
    say(f"= {answer}\n\n")
"""

GOMOCUP = r"""
import random, sys, time
wrong = sys.argv[1]
free, asked, seen = [], 0, []
if wrong == "start": sys.exit("no net found")
def say(text): sys.stdout.write(text); sys.stdout.flush()
def move():
    global asked, last
    asked += 1
    x, y = free.pop(random.randrange(len(free)))
    answer = f"{x},{y}\r\n"
    if asked == 3:
        if wrong == "illegal": answer = "99,0\n"
        elif wrong == "taken": answer = last
        elif wrong == "junk": answer = "Hello, World\n"
        elif wrong == "hang": time.sleep(60)
        elif wrong == "crash": sys.exit(7)
        elif wrong == "error": answer = "ERROR I am lost\n"
        elif wrong == "endless":
            while True: say("x" * 4096)
        elif wrong == "chatter":
            while True: say("MESSAGE and another thing\n" * 100)
    last = answer
    say("MESSAGE thinking\nDEBUG deeply\n" + answer)
for line in sys.stdin:
    command, *words = line.split()
    if command == "START":
        size = int(words[0])
        free = [(x, y) for x in range(size) for y in range(size)]
        random.seed(size)
        say("ERROR size\n" if wrong == "size" else "OK\n")
    elif command == "TURN":
        free.remove(tuple(map(int, words[0].split(","))))
        move()
    elif command == "BEGIN": move()
    elif command == "BOARD":
        for stone in sys.stdin:
            if stone.strip() == "DONE": break
            x, y, whose = map(int, stone.split(","))
            assert whose in (1, 2)
            free.remove((x, y))
        move()
    elif command == "INFO": assert len(words) == 2
    elif command == "END": break
    else: say("UNKNOWN\n")
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("guests")
    commands = {}
    for name, text in (("gtp", GTP), ("gomocup", GOMOCUP)):
        (folder / f"{name}.py").write_text(text)
        commands[name] = f"{name}:{shlex.join([sys.executable, '-IS', str(folder / f'{name}.py')])}"
    return commands


@pytest.mark.parametrize(
    ("protocol", "name"),
    [("gtp", "gomoku15"), ("gtp", "gomoku6x4"), ("gomocup", "gomoku15"), ("gomocup", "gomoku8")],
)
def test_a_correct_guest_plays_whole_games(scripts: dict[str, str], protocol: str, name: str) -> None:
    played = tesuji.match(f"{scripts[protocol]} fine", "random", game=name, games=4, workers=1)
    assert played.forfeits == {}
    assert all(len(record.moves) > 4 for record in played.games)
    alone = tesuji.match("random", f"{scripts[protocol]} fine", game=name, games=2, workers=1, openings=0)
    assert alone.forfeits == {}  # it begins the second game on an empty board


def test_guests_play_in_worker_processes(scripts: dict[str, str]) -> None:
    played = tesuji.match(f"{scripts['gomocup']} fine", f"{scripts['gtp']} fine", game="gomoku8", games=4, workers=2)
    assert played.forfeits == {}
    assert len(played.games) == 4


BOTH = {
    "illegal": "B made an illegal move: ",
    "taken": "B made an illegal move: ",
    "junk": "B answered 'Hello, World'",
    "hang": "B used 1.",
    "crash": "B crashed: it ended with exit code 7",
    "start": "B crashed: it ended with exit code 1 (no net found)",
    "endless": "B answered with",
    "chatter": "B answered without end",
}
WRONG = [(protocol, "gomoku8", wrong, reason) for protocol in ("gtp", "gomocup") for wrong, reason in BOTH.items()]
WRONG += [
    ("gtp", "gomoku8", "pass", "B made an illegal move: it passed, which is not possible here"),
    ("gtp", "nogo9", "pass", "B made an illegal move: it passed, which is not possible here"),
    ("gtp", "nogo9", "resign", "B resigned"),
    ("gtp", "go9", "resign", "B resigned"),
    ("gtp", "go9", "taken", "B made an illegal move: "),
    ("gtp", "go9", "killed", "B crashed: killed by signal 9"),
    ("gtp", "go9", "binary", "B made an illegal move: it answered '"),
    ("gtp", "go9", "refuse", "B refused 'play "),
    ("gtp", "go9", "close", "B crashed: it closed its output"),
    ("gomocup", "gomoku8", "error", "B answered 'ERROR I am lost', which is no move x,y"),
    ("gomocup", "gomoku8", "size", "B answered 'ERROR size' to START, not OK"),
]


@pytest.mark.parametrize(("protocol", "name", "wrong", "reason"), WRONG)
def test_a_misbehaving_guest_loses_with_the_reason_and_the_match_goes_on(
    scripts: dict[str, str], protocol: str, name: str, wrong: str, reason: str
) -> None:
    limit = 1 if wrong == "hang" else 20
    played = tesuji.match("random", f"{scripts[protocol]} {wrong}", game=name, games=2, workers=1, move_seconds=limit)
    assert played.wins == 2
    for record in played.games:
        assert record.reason.startswith(reason)
        assert len(record.reason) < 250
        assert record.winner == "A"
        record.states()  # it replays


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_guests_end_with_the_match_even_when_they_hang(scripts: dict[str, str], how: signal.Signals) -> None:
    match = Marked("match", f"{scripts['gtp']} hang", "random", "--games", "4", "--workers", "2")
    end = time.monotonic() + 30
    while len(match.alive()) < 5 and time.monotonic() < end:
        time.sleep(0.05)
    assert len(match.alive()) == 5  # the match, two workers, two guests
    match.process.send_signal(how)
    _, errors = match.process.communicate(timeout=20)
    assert match.gone()
    assert "Traceback" not in errors


def test_a_guest_that_fills_its_stderr_is_heard_out(scripts: dict[str, str]) -> None:
    played = tesuji.match("random", f"{scripts['gtp']} stderr", game="gomoku8", games=2, workers=1)
    assert played.forfeits == {}


def test_superko_is_ours() -> None:
    """A guest that retakes at once, as if there were no ko, loses."""
    #  3 . X O . .
    #  2 X O . O .      Second has just taken a stone at c2; First may not take back at once.
    #  1 . X O . .
    game = tesuji.game("go5")
    state = game.replay("b3 c3 a2 d2 b1 c1 c2 b2")
    with pytest.raises(tesuji.IllegalMove, match="position"):
        state.play("c2")
    script = "import sys\nfor line in sys.stdin: print('= c2\\n' if 'genmove' in line else '= \\n', flush=True)"
    guest = f"gtp:{shlex.join([sys.executable, '-c', script])}"
    played = tesuji.match(guest, "random", game=game, games=2, workers=1, openings=["b3 c3 a2 d2 b1 c1 c2 b2"])
    assert played.games[0].winner == "B"
    assert played.games[0].reason.startswith("A made an illegal move: c2 is not legal for First here: ")


def test_gomocup_jumps_begin_anew(scripts: dict[str, str]) -> None:
    """A guest that is asked about some other game follows."""
    game = tesuji.game("gomoku8")
    guest = GomocupPlayer(game, f"{scripts['gomocup'].removeprefix('gomocup:')} fine", seconds=20)
    for seed, plies in [(1, 6), (2, 3), (2, 4), (3, 0), (1, 9)]:
        state = game.random(seed, plies)
        assert guest.think(state).action in state.legal()
    guest.close()


def test_a_guest_at_the_terminal(scripts: dict[str, str]) -> None:
    """Its loss ends the game with a word, not with a traceback."""
    from test_cli import run

    done = run("terminal", "gomoku8", "--second", "--opponent", f"{scripts['gtp']} start")
    assert done.returncode == 0
    assert "Your opponent crashed: it ended with exit code 1 (no net found): you win." in done.stdout
