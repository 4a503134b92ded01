"""Matches and tournaments: figures against known values, fair openings, and files that survive whatever happens."""

import contextlib
import itertools
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command
from test_cli import refused

import tesuji
from tesuji import arena, players, reports
from tesuji.openings import book, default_plies, form, openings
from tesuji.ratings import bradley_terry, elo_of, estimate, llr, score_of, sprt
from tesuji.records import GameRecord, Journal, read_records

TESUJI = [sys.executable, "-m", "tesuji.cli"]


# ── Elo ──


def test_elo_of_known_scores() -> None:
    assert elo_of(0.5) == 0
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert elo_of(10 / 11) == pytest.approx(400)
    assert elo_of(1) == math.inf
    assert score_of(-400) == pytest.approx(1 / 11)
    assert score_of(elo_of(0.3)) == pytest.approx(0.3)


def test_the_error_of_independent_games_is_the_textbook_one() -> None:
    # 50 % without draws, the pairs as two coin flips give them: ±1.96 × 0.5 / √n games, in Elo by the slope at 50 %.
    found = estimate([1000, 0, 2000, 0, 1000])
    assert found.elo == 0
    assert found.error == pytest.approx(1.96 * 0.5 / math.sqrt(8000) * 4 * 400 / math.log(10), rel=0.01)
    assert (found.low, found.high) == (pytest.approx(-found.error), pytest.approx(found.error))


def test_the_variance_is_that_between_pairs() -> None:
    """Openings that decide the game for a side make pairs 1–1: then the same score is known better, not worse."""
    same_score = [estimate([25, 0, 50, 0, 25]), estimate([5, 0, 90, 0, 5]), estimate([50, 0, 0, 0, 50])]
    assert [found.elo for found in same_score] == [0, 0, 0]
    assert same_score[1].error < same_score[0].error < same_score[2].error
    assert estimate([0, 0, 100, 0, 0]).error > 0  # yet never certain


def test_errors_shrink_with_the_square_root() -> None:
    few, many = estimate([2, 1, 10, 3, 9]), estimate([200, 100, 1000, 300, 900])
    assert few.elo == pytest.approx(many.elo)
    assert few.error / many.error == pytest.approx(10, rel=0.1)
    assert few.low < few.elo < few.high


def test_all_and_nothing_have_a_bound_on_one_side() -> None:
    every = estimate([0, 0, 0, 0, 50])
    assert every.score == 1
    assert every.low == every.elo == pytest.approx(elo_of(0.05 ** (1 / 50)))
    assert (every.error, every.high) == (math.inf, math.inf)
    none = estimate([50, 0, 0, 0, 0])
    assert (none.elo, none.high, none.low) == (-every.elo, -every.elo, -math.inf)
    assert estimate([0, 0, 0, 0, 100]).elo > every.elo
    assert estimate([0, 0, 0, 0, 1]).elo == 0  # one pair says nothing
    assert estimate([0, 0, 0, 0, 0]).error == math.inf


def some_pairs(chance: random.Random, count: int, elo: float) -> list[int]:
    """Pairs whose openings favour a side by up to 300 Elo."""
    counts = [0] * 5
    for _ in range(count):
        lean = chance.uniform(-300, 300)
        counts[2 * ((chance.random() < score_of(elo + lean)) + (chance.random() < score_of(elo - lean)))] += 1
    return counts


@pytest.mark.parametrize("elo", [0, 150, 400])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(elo: float) -> None:
    chance = random.Random(1)
    truth = elo_of(sum(score_of(elo + lean) for lean in range(-300, 301)) / 601)
    held = 0
    for _ in range(400):
        found = estimate(some_pairs(chance, 30, elo))
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.99


# ── The sequential test ──


def test_the_ratio_of_known_counts() -> None:
    assert llr([0] * 5, 0, 50) == 0
    assert llr([10, 0, 20, 0, 10], -50, 50) == pytest.approx(0, abs=1e-6)
    assert llr([5, 4, 20, 8, 13], 0, 50) == pytest.approx(llr([13, 8, 20, 4, 5], 0, -50))
    # Near the truth it is the normal one: (s1 − s0) (2 mean − s0 − s1) / (2 variance of the mean).
    counts = [100, 100, 400, 120, 120]
    shares = [0, 0.25, 0.5, 0.75, 1]
    total = sum(counts)
    mean = sum(n * a for n, a in zip(counts, shares, strict=True)) / total
    variance = sum(n * (a - mean) ** 2 for n, a in zip(counts, shares, strict=True)) / total**2
    s0, s1 = score_of(0), score_of(20)
    assert llr(counts, 0, 20) == pytest.approx((s1 - s0) * (2 * mean - s0 - s1) / (2 * variance), rel=0.02)
    # Wins alone: each pair is as telling as the ratio of the two scores.
    assert llr([0, 0, 0, 0, 10], 0, 50) == pytest.approx(10 * math.log(score_of(50) / score_of(0)), rel=0.01)


@pytest.mark.parametrize(("elo", "wrong"), [(0, "accepted"), (120, "rejected")])
def test_the_sequential_test_errs_about_as_often_as_it_says(elo: float, wrong: str) -> None:
    verdicts = []
    for number in range(100):
        chance = random.Random(number)
        counts = [0] * 5
        for _ in range(400):
            pair = some_pairs(chance, 1, elo)
            counts = [n + one for n, one in zip(counts, pair, strict=True)]
            verdict = sprt(counts, 0, 100).verdict
            if verdict != "undecided":
                break
        verdicts.append(verdict)
    assert verdicts.count(wrong) <= 10  # 5 expected, or fewer at 120
    assert verdicts.count("undecided") <= 2


# ── Ratings of many ──


def test_ratings_recover_known_strengths() -> None:
    truth = [-300.0, -100.0, 50.0, 350.0]
    points = [[1000 * score_of(ours - theirs) for theirs in truth] for ours in truth]
    for found, elo in zip(bradley_terry(points), truth, strict=True):
        assert found.elo == pytest.approx(elo, abs=2)
        assert 3 < found.error < 25
    chance = random.Random(2)
    held = 0
    for _ in range(50):
        drawn = [[0.0] * 4 for _ in truth]
        for i, j in itertools.combinations(range(4), 2):
            drawn[i][j] = sum(chance.random() < score_of(truth[i] - truth[j]) for _ in range(60))
            drawn[j][i] = 60 - drawn[i][j]
        found = bradley_terry(drawn)
        held += sum(abs(one.elo - elo) <= one.error for one, elo in zip(found, truth, strict=True))
    assert 0.9 <= held / 200 <= 0.99


def test_two_players_are_rated_as_in_a_match() -> None:
    best, worst = bradley_terry([[0, 750], [250, 0]])
    assert best.elo - worst.elo == pytest.approx(190.85, abs=1)
    assert bradley_terry([[0, 50], [50, 0]])[0].elo == pytest.approx(0, abs=1e-6)


def test_ratings_stay_finite() -> None:
    ratings = bradley_terry([[0, 20, 20], [0, 0, 20], [0, 0, 0]])
    assert [r.elo for r in ratings] == sorted((r.elo for r in ratings), reverse=True)
    assert all(math.isfinite(r.elo) and 50 < r.error < 2000 for r in ratings)
    assert all(r.elo == pytest.approx(0) for r in bradley_terry([[0, 0], [0, 0]]))


# ── Openings ──


@pytest.mark.parametrize("name", tesuji.games())
def test_openings_are_there_for_every_game(name: str) -> None:
    game = tesuji.game(name)
    drawn = list(itertools.islice(openings(game, 4, seed=1), 6))
    assert drawn == list(itertools.islice(openings(game, 4, seed=1), 6))
    assert all(game.replay(opening).result is None for opening in drawn)
    if game.actions > 20:
        assert all(len(opening) == 4 and "pass" not in opening for opening in drawn)
        assert drawn != list(itertools.islice(openings(game, 4, seed=2), 6))


def test_openings_are_distinct_up_to_symmetry_while_there_are_any() -> None:
    """Tic-Tac-Toe has 12 positions after two plies that no symmetry joins."""
    game = tesuji.game("gomoku3")

    def form(opening: tuple[str, ...]) -> str:
        state = game.replay(opening)
        return min("".join(state.carried(symmetry).glyphs()) for symmetry in range(8))

    drawn = [form(opening) for opening in itertools.islice(openings(game, 2, seed=3), 26) if len(opening) == 2]
    assert len(set(drawn[:10])) == 10
    assert len(set(drawn)) == 12


def test_openings_are_balanced() -> None:
    """Of six random plies, one in seven would fail here."""
    game = tesuji.game("go5")
    usual = game.playouts(2000).mean()
    for opening in itertools.islice(openings(game, 6, seed=1), 40):
        assert abs(game.replay(opening).playouts(2000, seed=7).mean() - usual) < 0.5


@pytest.mark.parametrize("name", ["gomoku8", "gomoku15"])
def test_books_hold_fresh_openings(name: str) -> None:
    game = tesuji.game(name)
    lines = book(game, 1)
    states = [game.replay(line) for line in lines]
    assert all(state.result is None and len(state.history) == default_plies(game) for state in states)
    assert len({form(state) for state in states}) == len(lines) >= 150
    assert book(game, 1) == lines != book(game, 2)
    assert set(book(game, 2)) == set(lines)


def test_a_match_takes_its_openings_from_the_book() -> None:
    game = tesuji.game("gomoku8")
    played = tesuji.match("random", "random", game=game, games=6, seed=3, workers=1)
    assert [" ".join(record.opening) for record in played.games[::2]] == list(book(game, 3)[:3])
    plain = tesuji.match("random", "random", game=game, games=2, seed=3, workers=1, openings=2)
    assert len(plain.games[0].opening) == 2


# ── Matches ──


def moves(played: tesuji.Match | tesuji.Tournament) -> list[object]:
    return [(r.number, r.first, r.opening, r.moves, r.result, r.reason) for r in played.games]


def test_pairs_share_their_opening_and_swap_sides() -> None:
    played = tesuji.match("random", "mcts:visits=30", game="dots3", games=10, workers=1)
    assert [record.number for record in played.games] == list(range(1, 11))
    for one, other in zip(played.games[::2], played.games[1::2], strict=True):
        assert one.opening == other.opening
        assert (one.first, one.second, other.first, other.second) == ("A", "B", "B", "A")
    assert len({record.opening for record in played.games}) == 5
    assert sum(played.as_first) == sum(played.as_second) == 5
    assert played.wins + played.draws + played.losses == 10
    assert played.score == (played.wins + played.draws / 2) / 10
    assert sum(played.pairs) == 5
    assert played.pace["B"][1] > 20 * played.pace["A"][1]
    assert played.losses > played.wins  # dots3 lets a player move twice in a row: sides are asked of the game


def test_the_same_seed_plays_the_same_games_on_any_number_of_workers() -> None:
    def play(seed: int, workers: int) -> list[object]:
        return moves(tesuji.match("random", "mcts:visits=40", game="go5", games=8, seed=seed, workers=workers))

    alone = play(1, 1)
    assert alone == play(1, 2)
    assert alone != play(2, 1)


def test_search_players_are_repeatable_too() -> None:
    alone, both = (tesuji.match("mcts:visits=60", "random", game="go5", games=4, workers=w) for w in (1, 2))
    assert moves(alone) == moves(both)


def test_openings_may_be_given() -> None:
    played = tesuji.match("random", "random", game="go5", games=6, openings=["c3", "b2 d4"], workers=1)
    assert [record.opening for record in played.games[::2]] == [("c3",), ("b2", "d4"), ("c3",)]
    none = tesuji.match("random", "random", game="go5", games=2, openings=0, workers=1)
    assert none.games[0].opening == ()


def test_repeats_are_counted() -> None:
    class Lowest:
        def __init__(self, game: tesuji.Game) -> None: ...

        def think(self, state: tesuji.State) -> tesuji.Thought:
            return tesuji.Thought(state.legal()[0], state.moves()[0])

    with registered("lowest", Lowest):
        played = tesuji.match("lowest", "lowest", game="dots2", games=6, openings=0, workers=1)
    assert played.repeats == 4
    assert "4 of 6 games went as an earlier one" in reports.match_text(played)


@contextlib.contextmanager
def registered(name: str, kind: object) -> Iterator[None]:
    players._PLAYERS[name] = kind  # type: ignore[assignment]
    try:
        yield
    finally:
        del players._PLAYERS[name]


def test_whatever_a_player_does_wrong_costs_it_the_game_alone() -> None:
    class Bad:
        def __init__(self, game: tesuji.Game, *, how: str = "") -> None:
            self.how = how

        def think(self, state: tesuji.State) -> tesuji.Thought:
            if self.how == "raise":
                raise RuntimeError("no idea\nat all")
            return tesuji.Thought(state.history[0], "?")

    with registered("bad", Bad):
        illegal = tesuji.match("random", "bad", game="go5", games=2, workers=1)
        crash = tesuji.match("bad:how=raise", "random", game="go5", games=2, workers=1)
    assert illegal.wins == crash.losses == 2
    assert all("B made an illegal move: " in r.reason and "is taken" in r.reason for r in illegal.games)
    assert [r.reason for r in crash.games] == ["A crashed: RuntimeError: no idea at all"] * 2
    assert "2 × A crashed" in reports.match_text(crash)


def test_the_sequential_test_stops_a_match_at_the_same_game_whatever_the_workers() -> None:
    def play(workers: int) -> tesuji.Match:
        return tesuji.match("mcts:visits=60", "random", game="go5", games=400, sprt=(0, 200), workers=workers)

    alone = play(1)
    assert alone.sprt is not None
    assert alone.sprt.verdict == "accepted"
    assert len(alone.games) < 60
    assert moves(alone) == moves(play(2))


def test_a_worker_that_dies_is_replaced_once(tmp_path: Path) -> None:
    """With a player that kills its own process in game 3: the first time only, or always."""
    (tmp_path / "deadly.py").write_text(
        "import os, signal, tesuji.players as p\n"
        "class Deadly(p.Random):\n"
        "    def think(self, state):\n"
        "        if len(state.history) < 6 and not os.path.exists(os.environ['DEADLY']):\n"
        "            open(os.environ['DEADLY'], 'w') if '/once' in os.environ['DEADLY'] else None\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return super().think(state)\n"
        "p._PLAYERS['deadly'] = Deadly\n"
    )
    script = "import deadly, tesuji, sys, tesuji.arena as a\n"
    script += "w = a._Worker.__init__.__globals__['subprocess'].Popen\n"
    script += "a.subprocess.Popen = lambda words, **k: w([words[0], '-c', 'import deadly; ' + words[2]], **k)\n"
    script += "print(len(tesuji.match('deadly', 'random', game='go5', games=4, workers=2).games))\n"
    for how, said in (("once", "4\n"), ("always", "died twice (signal 9)")):
        env = os.environ | {"DEADLY": str(tmp_path / how), "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
        assert said in done.stdout + done.stderr


LATE = """
import os, sys, time, tesuji.players as p
class Late(p.Random):
    def __init__(self, game, *, how: str, seed: int = 0):
        super().__init__(game, seed=seed)
        self.how = how
    def think(self, state):
        if len(state.history) > 5:
            if self.how == "hang": time.sleep(100)
            if self.how == "spin":
                while True: pass
            if self.how == "deaf": sum(range(10**12))  # in C, and nobody else gets a word in
            if self.how == "slow": time.sleep(0.5)
        return super().think(state)
p._PLAYERS["late"] = Late
"""


@pytest.mark.parametrize(("how", "workers"), [("hang", 1), ("spin", 2), ("deaf", 2), ("slow", 1)])
def test_a_player_that_takes_too_long_loses_the_game_alone(tmp_path: Path, how: str, workers: int) -> None:
    (tmp_path / "late.py").write_text(LATE)
    script = "import late, tesuji, tesuji.arena as a\n"
    script += "w = a.subprocess.Popen\n"
    script += "a.subprocess.Popen = lambda words, **k: w([words[0], '-c', 'import late; ' + words[2]], **k)\n"
    script += (
        f"m = tesuji.match('random', 'late:how={how}', game='go5', games=2, move_seconds=0.2, workers={workers})\n"
    )
    script += "for game in m.games: print(game.winner, len(game.moves) + len(game.opening), game.reason)\n"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert not done.stderr
    said = "B used 0.5 s of 0.2 s" if how == "slow" else "B used more than 0.2 s"
    # The first ply from the seventh on that is B's.
    assert done.stdout.splitlines() == [f"A {plies} {said}" for plies in (7, 6)]


def test_quick_players_play_the_same_games_with_a_limit_of_time() -> None:
    played = [tesuji.match("random", "mcts:visits=20", game="go5", games=4, move_seconds=s) for s in (None, 30)]
    assert moves(played[0]) == moves(played[1])


# ── Files ──


def test_records_come_back_from_the_file_and_replay(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "match.json"
    played = tesuji.match("mcts:visits=20", "random", game="go5:komi=0.5", games=4, workers=1, out=file)
    heading, records = read_records(file)
    assert heading["players"] == ["mcts:visits=20", "random"]
    assert tuple(records.values()) == played.games
    assert not list(tmp_path.glob("*.journal"))
    for record in played.games:
        assert GameRecord.from_json(json.loads(json.dumps(record.to_json()))) == record
        assert record.states()[-1].result == record.result
        assert record.numbers == {"komi": 0.5}
        assert len(record.moves) == len(record.seconds) == len(record.visits) == len(record.values)
    listed = command("replay", str(file))
    assert listed.stdout.count("played out") == 4
    shown = command("replay", str(file), "--number", "2")
    assert "First: B, random" in shown.stdout
    assert str(played.games[1].states()[-1]) in shown.stdout
    boards = command("replay", str(file), "--number", "2", "--boards")
    assert all(str(state) in boards.stdout for state in played.games[1].states())


def test_a_match_goes_on_where_it_stopped_and_may_be_longer(tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    four = tesuji.match("random", "mcts:visits=20", game="go5", games=4, workers=1, out=file)
    eight = tesuji.match("random", "mcts:visits=20", game="go5", games=8, workers=1, out=file)
    assert eight.games[:4] == four.games  # with their times: they were not played again
    assert moves(eight) == moves(tesuji.match("random", "mcts:visits=20", game="go5", games=8, workers=1))
    again = tesuji.match("random", "mcts:visits=20", game="go5", games=4, workers=1, out=file)
    assert again.games == four.games
    assert len(read_records(file)[1]) == 8  # nothing is thrown away


@pytest.mark.parametrize(
    "change", [{"seed": 2}, {"game": "go5:komi=1"}, {"openings": 3}, {"first": "mcts"}], ids=lambda c: next(iter(c))
)
def test_a_file_of_another_match_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "match.json"
    words = {"first": "random", "second": "random", "game": "go5", "games": 2, "workers": 1, "out": file}
    tesuji.match(**words)  # type: ignore[arg-type]
    before = file.read_bytes()
    with pytest.raises(ValueError, match="belongs to another match"):
        tesuji.match(**(words | change))  # type: ignore[arg-type]
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["match.json"]


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    for text in ("", "hello", "[]", "{}", '{"tesuji": "match", "games": [1]}', '{"tesuji": 1, "games": 3}'):
        file = tmp_path / "match.json"
        file.write_text(text)
        with pytest.raises(ValueError, match=r"is no match file|belongs to another match"):
            tesuji.match("random", "random", game="go5", games=2, workers=1, out=file)
        assert file.read_text() == text


def test_a_torn_line_of_the_journal_is_cut_off(tmp_path: Path) -> None:
    """And what is added after it can be read, should the process be killed a second time."""
    file, journal = tmp_path / "match.json", tmp_path / "match.json.journal"
    played = tesuji.match("random", "random", game="go5", games=4, workers=1, out=file)
    document = json.loads(file.read_text())
    games = document.pop("games")
    del document["summary"]
    file.unlink()
    lines = [json.dumps(line) + "\n" for line in (document, *games[:3])]
    journal.write_text("".join(lines) + json.dumps(games[3])[:50])
    with Journal(file, document) as reopened:
        assert sorted(reopened.records) == [1, 2, 3]
        reopened.add(played.games[3])
    assert tuple(read_records(journal)[1].values()) == played.games
    again = tesuji.match("random", "random", game="go5", games=4, workers=1, out=file)
    assert again.games == played.games


class Marked:
    """A process and all that it starts: they share a mark in their environment."""

    def __init__(self, *words: str) -> None:
        self._mark = f"TESUJI_MARK={uuid.uuid4()}"
        key, _, value = self._mark.partition("=")
        self.process = subprocess.Popen(
            [*TESUJI, *words],
            env=os.environ | {key: value},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def alive(self) -> list[int]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self._mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def gone(self) -> bool:
        end = time.monotonic() + 10
        while self.alive() and time.monotonic() < end:
            time.sleep(0.05)
        return not self.alive()


def wait_for_lines(path: Path, count: int) -> None:
    end = time.monotonic() + 30
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < end
        time.sleep(0.02)


LONG = ("match", "mcts:visits=400", "mcts:visits=300", "--game", "go7")


def test_a_match_that_was_killed_loses_only_the_games_in_flight(tmp_path: Path, command: Command) -> None:
    file, journal = tmp_path / "match.json", tmp_path / "match.json.journal"
    words = (*LONG, "--games", "16", "--workers", "2", "--out", str(file))
    match = Marked(*words)
    wait_for_lines(journal, 5)
    match.process.kill()
    match.process.communicate()
    assert match.gone()  # the workers too
    _, before = read_records(journal)
    assert 4 <= len(before) < 16
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert f"{len(before)} of 16 games were played before" in done.stderr
    _, after = read_records(file)
    assert sorted(after) == list(range(1, 17))
    assert all(after[number] == record for number, record in before.items())
    assert not journal.exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("how", "workers"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1)], ids=["int1", "int2", "term1"]
)
def test_ctrl_c_tells_the_score_so_far_and_leaves_nothing_running(
    tmp_path: Path, how: signal.Signals, workers: int
) -> None:
    file = tmp_path / "match.json"
    match = Marked(*LONG, "--games", "400", "--workers", str(workers), "--out", str(file))
    wait_for_lines(tmp_path / "match.json.journal", 4)
    assert len(match.alive()) == (1 if workers == 1 else 3)
    match.process.send_signal(how)
    said, errors = match.process.communicate(timeout=20)
    assert match.process.returncode == 130
    assert "interrupted after" in errors
    assert "Traceback" not in errors
    assert "Elo, A − B" in said
    assert match.gone()
    assert 3 <= len(read_records(file)[1]) < 400


def test_two_matches_do_not_write_one_file(tmp_path: Path, command: Command) -> None:
    words = (*LONG, "--games", "400", "--workers", "1", "--out", str(tmp_path / "match.json"))
    match = Marked(*words)
    wait_for_lines(tmp_path / "match.json.journal", 2)
    second = command(*words)
    match.process.kill()
    match.process.communicate()
    assert second.returncode == 2
    assert "is being written by a match that runs now" in second.stderr
    assert match.gone()


# ── Tournaments and reports ──


def test_a_tournament_plays_everybody_against_everybody(tmp_path: Path) -> None:
    texts = ["random", "mcts:visits=200", "mcts:visits=20"]
    file = tmp_path / "tournament.json"
    played = tesuji.tournament(texts, game="gomoku6x4", games=6, workers=2, out=file)
    assert len(played.games) == 18
    assert {(r.first, r.second) for r in played.games} == set(itertools.permutations("ABC", 2))
    assert sum(r.elo for r in played.ratings) == pytest.approx(0, abs=1e-6)
    assert played.ranking()[0] == "B"
    assert played.ranking()[-1] == "A"
    assert sum(played.points("A", "B")) == 6
    assert tesuji.tournament(texts, game="gomoku6x4", games=6, workers=1, out=file) == played
    text = reports.tournament_text(played)
    assert "mcts:visits=200" in text


def test_reports_escape_all_text() -> None:
    class Evil:
        def __init__(self, game: tesuji.Game, *, x: str = "") -> None: ...

        def think(self, state: tesuji.State) -> tesuji.Thought:
            raise RuntimeError("<b>&")

    with registered("evil", Evil):
        match = tesuji.match("evil:x=<script>", "random", game="go5", games=2, workers=1)
        tournament = tesuji.tournament(["evil:x=<script>", "random"], game="go5", games=2, workers=1)
    for page in (reports.match_html(match), reports.tournament_html(tournament)):
        assert "<script" not in page
        assert "evil:x=&lt;script&gt;" in page
        assert "RuntimeError: &lt;b&gt;&amp;" in page
        assert "http" not in page  # it needs nothing else
        assert "color-scheme: light dark" in page


# ── The command line ──


def test_the_commands_print_their_figures(tmp_path: Path, command: Command) -> None:
    page = tmp_path / "match.html"
    done = command(
        *["match", "mcts:visits=50", "random", "--game", "gomoku6x4", "--games", "6", "--sprt", "0,50", "--html"],
        str(page),
    )
    assert done.returncode == 0, done.stderr
    assert "B  random" in done.stdout
    assert "SPRT           undecided" in done.stdout
    assert page.read_text().startswith("<!doctype html>")
    page.unlink()
    done = command(
        *["tournament", "mcts:visits=50", "random", "random", "--game", "gomoku3", "--games", "2", "--html"],
        str(page),
    )
    assert done.returncode == 0, done.stderr
    assert "wins–draws–losses" in done.stdout
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("match random random --games 7", "games is 7: give an even number"),
        ("match random random --games 0", "games is 0"),
        ("match random nosuch", "there is no player 'nosuch'"),
        ("match random", "Missing argument"),
        ("match random random --game go8", "there is no game 'go8'"),
        ("match random random --sprt 5", "give two Elo differences"),
        ("match random random --sprt 50,0", "the smaller first"),
        ("match random random --workers 0", "workers is 0"),
        ("match random random --seed -1", "seed is -1"),
        ("match random random --opening-plies -1", "opening of -1 plies"),
        ("match random random --out /nosuch/x.json", "there is no folder '/nosuch'"),
        ("tournament random", "at least two players"),
        ("replay /nosuch.json", "/nosuch.json cannot be read: No such file or directory"),
        ("replay /dev/null", "/dev/null is no match file"),
        ("match random gtp:nosuchprogram", "there is no program 'nosuchprogram' that can be run"),
        ("match random gtp:", "there is no command"),
        ("match random gtp:sh --game dots3", "a GTP program plays Go, NoGo and Gomoku, not dots3"),
        ("match random gomocup:sh --game gomoku6x4", "five in a row"),
        ("match random random --move-seconds 0", "move_seconds is 0: give a number above 0"),
    ],
)
def test_bad_input_gets_one_sentence(words: str, sentence: str, command: Command) -> None:
    refused(command(*words.split()), sentence)


def test_a_list_of_openings_is_checked() -> None:
    with pytest.raises(ValueError, match="at least one"):
        tesuji.match("random", "random", game="go5", openings=[])
    with pytest.raises(ValueError, match="ends the game"):
        tesuji.match("random", "random", game="go5", openings=["pass pass"])
    with pytest.raises(TypeError, match="not one text"):
        tesuji.match("random", "random", game="go5", openings="c3")
    assert arena._labels(28)[25:] == ("Z", "A2", "B2")
