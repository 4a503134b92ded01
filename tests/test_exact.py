"""Exact solvers: the truth tables of GAMES.md, agreement with plain search, and honest limits."""

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from functools import cache

import numpy as np
import pytest
from boards import board, place
from conftest import Command
from test_cli import refused

import tesuji
from tesuji import _core, exact

# ── Dots and Boxes by the table ──


@pytest.mark.parametrize(
    ("name", "margin"),
    [("dots1", -1), ("dots1x2", 0), ("dots2", 2), ("dots2x3", -2), ("dots3", -3), ("dots3-paper", -3)],
)
def test_small_boards_of_dots(name: str, margin: int) -> None:
    start = tesuji.game(name).start()
    found = tesuji.solve(start)
    assert (found.margin, found.result) == (margin, np.sign(margin))
    assert found.plies == start.game.actions
    assert found.complete
    assert found.unknown is None


def test_dots3x4_is_drawn() -> None:
    """Too large for the table, and searched from the start."""
    found = tesuji.solve(tesuji.game("dots3x4").start(), seconds=600)
    assert (found.margin, found.result, found.plies) == (0, 0, 31)
    assert {"6", "15", "24"} <= set(found.best)


def test_the_table_is_made_whatever_the_limits() -> None:
    """On a busy machine it once took longer than `exact` had, who lost the game by that."""
    code = "import tesuji; print(tesuji.solve(tesuji.game('dots3').start(), seconds=0.01, nodes=1).margin)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "-3.0\n"


def test_dots3_positive_margins() -> None:
    margins = exact.margins(tesuji.game("dots3"))
    assert margins.shape == (1 << 24,)
    assert np.count_nonzero(margins > 0) == 13_894_652
    assert not margins.flags.writeable
    assert exact.margins(tesuji.game("dots3-paper")).ctypes.data == margins.ctypes.data


def test_dots3_is_seconds_by_three_whatever_the_first_move() -> None:
    game = tesuji.game("dots3")
    assert tesuji.solve(game.start()).best == tuple(map(str, range(24)))


def test_the_papers_rule_bears_on_the_second_ply() -> None:
    """To 8 the reply 12 would keep the margin, were it not of the same class."""
    free, paper = (tesuji.solve(tesuji.game(name).replay("8")) for name in ("dots3", "dots3-paper"))
    assert free.margin == paper.margin == -3
    forbidden = {"8", "11", "12", "15"}
    assert set(paper.best) == set(free.best) - forbidden


def test_owned_boxes_count_in_the_margin() -> None:
    """First took the box at the top left: the margin is of the whole game, and boxes are values by player."""
    state = tesuji.game("dots2").replay("0 2 3 5")
    assert (state.score, state.to_play) == (-1, 1)
    found = tesuji.solve(state)
    best_for_second = min(rest(state.play(move)) for move in state.legal())
    assert found.margin == best_for_second


def test_an_early_end_changes_neither_winner_nor_best_play() -> None:
    ending, full = tesuji.game("dots3:early_end=1"), tesuji.game("dots3")
    for seed in range(10):
        history = ending.random(seed, 14).history
        a, b = tesuji.solve(ending.replay(history)), tesuji.solve(full.replay(history))
        assert a.result == b.result
        if ending.replay(history).result is None:
            assert (a.margin, a.best, a.plies) == (b.margin, b.best, None)


@cache
def rest(state: tesuji.State) -> float:
    """First's final score with best play, by the game's own states."""
    if state.result is not None:
        return state.score or 0
    values = [rest(state.play(action)) for action in state.legal()]
    return max(values) if state.to_play == 0 else min(values)


@pytest.mark.parametrize(
    ("name", "plies"),
    [("dots1x2", 0), ("dots2", 4), ("dots2x3", 8), ("dots3", 15), ("dots3x4", 22), ("dots4", 31), ("dots5", 51)],
)
def test_dots_agree_with_plain_search(name: str, plies: int) -> None:
    """Positions of large boards too, of which plain search sees the end."""
    game = tesuji.game(name)
    for seed in range(6):
        state = game.random(seed, plies)
        found = tesuji.solve(state)
        assert found.margin == rest(state)
        assert found.best == tuple(m for m in state.moves() if rest(state.play(m)) == rest(state))
    rest.cache_clear()


@pytest.mark.parametrize("name", ["dots1x2", "dots2", "dots2x3", "dots3"])
def test_dots_by_search_agree_with_the_table(name: str) -> None:
    """What is proven about chains and loops holds in every position of the table that we look at."""
    game = tesuji.game(name)
    for seed in range(100):
        state = game.random(seed, seed % game.actions if name != "dots3" else 4 + seed % 20)
        searched = _core.solve(state, nodes=10**9, seconds=60, table=False)
        known = _core.solve(state, nodes=10**9, seconds=60)
        for what in ("result", "margin", "best", "plies"):
            assert searched[what] == known[what], state


# ── Won, drawn or lost ──


def solver(key: Callable[[tesuji.State], Hashable]) -> Callable[[tesuji.State], int]:
    """First's result with best play by both, by plain memoised search."""
    known: dict[Hashable, int] = {}

    def solve(state: tesuji.State) -> int:
        if state.result is not None:
            return state.result
        at = key(state)
        if at not in known:
            choose, win = (max, 1) if state.to_play == 0 else (min, -1)
            best = -win
            for action in state.legal():
                best = choose(best, solve(state.play(action)))
                if best == win:
                    break
            known[at] = best
        return known[at]

    return solve


def check_against_plain(state: tesuji.State, plain: Callable[[tesuji.State], int], *, all_best: bool) -> None:
    found = tesuji.solve(state)
    assert found.result == plain(state), state
    keeping = {move for move in state.moves() if plain(state.play(move)) == found.result}
    assert set(found.best) <= keeping
    if state.result is None:
        assert found.best
    if all_best:
        assert found.complete
        assert set(found.best) == keeping, state


def test_nogo3_is_firsts_by_every_opening() -> None:
    found = tesuji.solve(tesuji.game("nogo3").start())
    assert (found.result, len(found.best)) == (1, 9)


def test_nogo4_is_seconds() -> None:
    game = tesuji.game("nogo4")
    found = tesuji.solve(game.start())
    assert (found.result, len(found.best)) == (-1, 16)
    assert tesuji.solve(game.replay("b2")).best == ("c3",)


@pytest.mark.parametrize(("moves", "result"), [("c3 b2 d4 b4 b5 d2", 1), ("c3 c4 c2 b3 d3 a1", -1)])
def test_nogo5_after_six_plies(moves: str, result: int) -> None:
    assert tesuji.solve(tesuji.game("nogo5").replay(moves), seconds=600).result == result


def test_gomoku6x4_is_firsts_in_eleven_plies() -> None:
    found = tesuji.solve(tesuji.game("gomoku6x4").start())
    assert (found.result, found.plies) == (1, 11)
    assert set(found.best) == {"c3", "c4", "d3", "d4"}


def test_tic_tac_toe() -> None:
    game = tesuji.game("gomoku3")
    assert tesuji.solve(game.start()).result == 0
    found = tesuji.solve(game.replay("a3 b3"))
    assert (found.result, found.plies) == (1, 5)
    assert tesuji.solve(game.replay("a3")).best == ("b2",)


@pytest.mark.parametrize(("name", "plies", "count"), [("nogo3", 0, 60), ("nogo4", 5, 25), ("nogo5", 12, 15)])
def test_nogo_agrees_with_plain_search(name: str, plies: int, count: int) -> None:
    game, plain = tesuji.game(name), solver(board)
    for seed in range(count):
        check_against_plain(game.random(seed, plies + seed % 4), plain, all_best=True)


@cache
def distance(state: tesuji.State) -> tuple[int, int]:
    """First's result, and the plies to it: the winner hurries, the loser delays."""
    if state.result is not None:
        return state.result, 0
    side = 1 if state.to_play == 0 else -1
    ends = [distance(state.play(action)) for action in state.legal()]
    result = side * max(side * r for r, _ in ends)
    plies = [n for r, n in ends if r == result]
    return result, 1 + (min(plies) if result == side else max(plies))


@pytest.mark.parametrize(("name", "plies", "count"), [("gomoku3", 0, 60), ("gomoku6x4", 28, 25), ("gomoku8", 57, 20)])
def test_gomoku_agrees_with_plain_search(name: str, plies: int, count: int) -> None:
    """The distance too; and the best moves are those that keep it."""
    game = tesuji.game(name)
    for seed in range(count):
        state = game.random(seed, plies + seed % 4)
        found = tesuji.solve(state)
        result, length = distance(state)
        assert (found.result, found.plies) == (result, length), state
        keeping = {m for m in state.moves() if distance(state.play(m)) == (result, length - 1)}
        assert set(found.best) == keeping if result else set(found.best) >= keeping
    distance.cache_clear()


def test_gomoku_sees_through_a_long_line_of_fours() -> None:
    """An open three wins by two more moves, unless the other has a four first."""
    drawing = """
        . . . . . . . .
        . . . . . . . .
        . . X X X . . .
        . . . . . . . .
        . O O O . . . .
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        """.replace(" ", "")
    rows = "\n".join(line for line in drawing.splitlines() if line)
    state = place(tesuji.game("gomoku8"), rows, to_play=0)
    assert (tesuji.solve(state).result, tesuji.solve(state).plies) == (1, 3)


@pytest.mark.parametrize("name", ["ultimate", "ultimate-count"])
def test_ultimate_endgames_agree_with_plain_search(name: str) -> None:
    game = tesuji.game(name)
    plain = solver(lambda state: state)
    checked = 0
    for seed in range(400):
        history = game.random(seed).history
        state = game.replay(history[: len(history) - 5])
        if sum(row.count(".") for row in state.glyphs()) < 11:  # plain search must see the end
            check_against_plain(state, plain, all_best=True)
            checked += 1
    assert checked > 10


def test_go_is_solved_where_a_pass_ends_it() -> None:
    """First owns the board and Second passed: First passes and wins. Superko leaves the rest to plain search."""
    state = tesuji.game("go3:komi=0").replay("b2 pass")
    found = tesuji.solve(state, seconds=5)
    assert (found.result, found.plies, found.best) == (1, 1, ("pass",))


def test_a_finished_game_has_its_result() -> None:
    found = tesuji.solve(tesuji.game("gomoku3").replay("a3 a2 b3 b2 c3"))
    assert (found.result, found.plies, found.best) == (1, 0, ())
    ended = tesuji.game("dots2").random(1)
    assert tesuji.solve(ended).margin == ended.score


# ── The player ──


@pytest.mark.parametrize("name", ["dots2", "dots3", "dots3-paper", "nogo4", "gomoku3", "gomoku6x4"])
def test_exact_never_loses_value(name: str) -> None:
    """Against random play, as First and as Second by turns: each of its moves keeps the result, and the margin."""
    game = tesuji.game(name)
    player, other = tesuji.player("exact", game, seed=1), tesuji.player("random", game, seed=2)
    for number in [0, 0] if name == "gomoku6x4" else range(4):  # there, a poor opening makes it too long for a test
        state = game.start()
        while state.result is None:
            if state.to_play != number % 2:
                state = state.play(other.think(state).action)
                continue
            before, thought = tesuji.solve(state), player.think(state)
            state = state.play(thought.action)
            after = tesuji.solve(state)
            assert thought.proven == before.result == after.result
            assert thought.value == before.result
            assert before.margin == after.margin


def test_exact_is_the_same_each_time_without_a_seed() -> None:
    game = tesuji.game("dots3")
    moves = {tesuji.player("exact", game).think(game.start()).move for _ in range(3)}
    assert moves == {"0"}
    assert len({tesuji.player("exact", game, seed=seed).think(game.start()).move for seed in range(1, 9)}) > 2


def test_exact_refuses_what_it_does_not_know() -> None:
    game = tesuji.game("go9")
    with pytest.raises(ValueError, match=r"^exact does not know this position: the limit of 2000 nodes was met$"):
        tesuji.player("exact:nodes=2000", game).think(game.start())
    ended = tesuji.game("dots2").random(1)
    with pytest.raises(ValueError, match="the game is over"):
        tesuji.player("exact", ended.game).think(ended)


# ── The result alone ──


@pytest.mark.parametrize(
    ("name", "plies", "nodes"),
    [("dots4", 20, 50_000), ("ultimate", 48, 50_000), ("gomoku6x4", 9, 3000)],
)
def test_settling_gives_the_result_of_solving(name: str, plies: int, nodes: int) -> None:
    game, settled = tesuji.game(name), 0
    for seed in range(30):
        state = game.random(seed, plies)
        result = _core.settle(state, nodes)
        if result is not None:
            settled += 1
            assert tesuji.solve(state).result == result
    assert settled >= 10


def test_threats_prove_a_win_whose_length_is_not_known() -> None:
    """No line has more than three stones yet, and the solver does not tell in seconds how soon First wins."""
    state = tesuji.game("gomoku15").replay("f9 i7 g9 i9 g10 g7 e8 h11 e9 h9")
    assert _core.settle(state, 4000) == 1
    found = tesuji.solve(state, nodes=4000)
    assert (found.result, found.plies, found.complete) == (1, None, False)
    # Whoever follows it wins: after each of its moves, and whatever the reply, it still does.
    chance = random.Random(1)
    while state.result is None:
        (move, *_) = tesuji.solve(state, nodes=4000).best
        state = state.play(move)
        if state.result is None:
            assert _core.settle(state, 4000) == 1
            state = state.play(chance.choice(state.legal()))
    assert state.result == 1


def test_what_has_no_hope_is_not_begun() -> None:
    for name in ("go9", "nogo9", "dots3"):
        assert _core.effort(tesuji.game(name).start()) == float("inf")
        assert _core.settle(tesuji.game(name).random(1, 10), 10**9) is None
    for name in ("dots5", "ultimate"):
        game = tesuji.game(name)
        efforts = [_core.effort(game.random(3, plies)) for plies in (4, 16, 28, 40)]
        assert efforts == sorted(efforts, reverse=True)
        began = time.perf_counter()
        assert _core.settle(game.start(), 10**8) is None
        assert time.perf_counter() - began < 5
    ended = tesuji.game("go5").random(1)
    assert _core.settle(ended, 1) == ended.result


def test_with_few_nodes_dots_knows_who_wins_before_it_knows_by_how_much() -> None:
    game, seen = tesuji.game("dots5"), 0
    for seed in range(40):
        state = game.random(seed, 26)
        for nodes in (300, 1000, 3000):
            found = tesuji.solve(state, nodes=nodes)
            if found.result is None or found.margin is not None:
                continue
            seen += 1
            whole = tesuji.solve(state)
            assert whole.result == found.result
            won = found.result == (1, -1)[state.to_play]
            assert (len(found.best), found.complete) == ((1, False) if won else (len(state.legal()), True))
            assert tesuji.solve(state.play(found.best[0])).result == found.result
            break
    assert seen >= 5


# ── Limits ──


@pytest.mark.parametrize("name", ["nogo9", "gomoku15", "dots5", "ultimate", "go19", "go3"])
def test_a_limit_gives_unknown_quickly(name: str) -> None:
    start = tesuji.game(name).start()
    by_nodes = tesuji.solve(start, nodes=5000)
    assert by_nodes.result is None
    assert by_nodes.unknown == "the limit of 5000 nodes was met"
    assert by_nodes.nodes == 5000
    assert not by_nodes.best
    before = time.perf_counter()
    assert tesuji.solve(start, seconds=0.2).unknown == "the limit of 0.2 s was met"
    assert time.perf_counter() - before < 5


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"nodes": 0}, "nodes is 0"),
        ({"seconds": 0}, "seconds must lie above 0"),
        ({"seconds": float("nan")}, "seconds"),
    ],
)
def test_bad_limits_get_a_sentence(limits: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        tesuji.solve(tesuji.game("dots2").start(), **limits)


def test_bad_arguments_get_a_sentence() -> None:
    with pytest.raises(TypeError, match="a state of a game is solved, not str"):
        tesuji.solve("dots2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dots4 is too large for a table of margins: it has 40 edges"):
        exact.margins(tesuji.game("dots4"))
    with pytest.raises(ValueError, match="go9 has no table of margins"):
        exact.margins(tesuji.game("go9"))
    with pytest.raises(ValueError, match="nodes is 0: give at least 1"):
        tesuji.player("exact:nodes=0", tesuji.game("dots2"))


# ── The command ──


def rows(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            key, value = line.split(maxsplit=1)
            yield key, value


def test_the_command_tells_all(command: Command) -> None:
    done = command("solve", "dots2", "0 2")
    assert done.returncode == 0
    told = dict(rows(done.stdout))
    assert told["result"] == "First wins"
    assert told["margin"].endswith("for First")
    assert told["plies"] == "10"
    assert told["best"].split()


def test_the_command_says_unknown(command: Command) -> None:
    told = dict(rows(command("solve", "go9", "--nodes", "100").stdout))
    assert told["result"] == "unknown"
    assert told["why"] == "the limit of 100 nodes was met"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dots9"], "there is no game 'dots9'"),
        (["dots3", "0 0"], "move 2: 0 is not legal for Second here: that edge is drawn"),
        (["dots3", "x"], "move 1: 'x' is not a move of dots3"),
        (["dots3", "--nodes", "0"], "nodes is 0"),
        (["dots3", "--seconds", "-1"], "seconds must lie above 0"),
        (["dots3", "--seconds", "soon"], "--seconds"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(words: list[str], sentence: str, command: Command) -> None:
    refused(command("solve", *words), sentence)


def test_ctrl_c_stops_a_long_solve() -> None:
    code = "import tesuji; print('solving', flush=True); tesuji.solve(tesuji.game('nogo9').start(), seconds=60)"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "solving\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.stdout.read()
        assert process.wait(timeout=20) != 0
