"""Players against each other: matches and tournaments whose numbers can be trusted.

Games come in pairs: both from the same random but balanced opening, with sides swapped. Every game has its own seeds,
openings come from the seed alone, and players begin each game anew, so the games are the same on one core or many.
"""

import contextlib
import dataclasses
import itertools
import json
import math
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tesuji._core import Game, State
from tesuji.games import game as game_of
from tesuji.machine import cores
from tesuji.openings import book, default_plies, openings
from tesuji.players import Forfeit, Player, player
from tesuji.protocols import engine
from tesuji.ratings import Estimate, Rating, Sprt, bradley_terry, estimate, sprt
from tesuji.records import GameRecord, Journal

__all__ = ["FEW", "Match", "Tournament", "match", "tournament"]

Watcher = Callable[
    [Mapping[int, GameRecord], int], None
]  # told the finished games by number, and how many there will be


FEW = 4
"""Games, for which other processes may not be worth their start."""

_SLACK = 1.0  # seconds: a process that is late by less may only be busy


# ── What comes out ──


@dataclass(frozen=True)
class _Played:
    """Players and the games that count, in order."""

    game: Game
    players: tuple[str, ...]
    games: tuple[GameRecord, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return _labels(len(self.players))

    @property
    def repeats(self) -> int:
        """Games that went exactly as an earlier one with the same sides: they say nothing new."""
        return len(self.games) - len({(r.first, r.second, r.opening, r.moves) for r in self.games})

    @property
    def length(self) -> float:
        """Plies of a game, the opening among them."""
        return sum(len(r.opening) + len(r.moves) for r in self.games) / max(1, len(self.games))

    @property
    def forfeits(self) -> dict[str, int]:
        """Why games were not played out, and how many."""
        return dict(Counter(r.reason for r in self.games if not r.played_out).most_common())

    @cached_property
    def pace(self) -> dict[str, tuple[float, float]]:
        """Seconds and visits a move, by label."""
        sums = {label: [0.0, 0.0, 0] for label in self.labels}
        for record in self.games:
            for state, seconds, visits in zip(record.states(), record.seconds, record.visits, strict=False):
                # Who moved, the game knows: a player may move twice in a row.
                of = sums[(record.first, record.second)[state.to_play]]
                of[:] = of[0] + seconds, of[1] + visits, of[2] + 1
        return {
            label: (seconds / max(1, moves), visits / max(1, moves)) for label, (seconds, visits, moves) in sums.items()
        }

    def points(self, ours: str, theirs: str) -> tuple[int, int, int]:
        """Wins, draws and losses of one player against another."""
        results = [r.winner for r in self.games if {r.first, r.second} == {ours, theirs}]
        return results.count(ours), results.count(None), results.count(theirs)


@dataclass(frozen=True)
class Match(_Played):
    """A match of A against B, seen from A."""

    sprt: Sprt | None = None

    @property
    def wins(self) -> int:
        return self.as_first[0] + self.as_second[0]

    @property
    def draws(self) -> int:
        return self.as_first[1] + self.as_second[1]

    @property
    def losses(self) -> int:
        return self.as_first[2] + self.as_second[2]

    @cached_property
    def as_first(self) -> tuple[int, int, int]:
        """A's wins, draws and losses as First."""
        results = [r.result for r in self.games if r.first == "A"]
        return results.count(1), results.count(0), results.count(-1)

    @cached_property
    def as_second(self) -> tuple[int, int, int]:
        """A's wins, draws and losses as Second."""
        results = [r.result for r in self.games if r.second == "A"]
        return results.count(-1), results.count(0), results.count(1)

    @property
    def score(self) -> float:
        """A's share of the points, a draw being half of one; ½ before the first game."""
        return (self.wins + self.draws / 2) / len(self.games) if self.games else 0.5

    @cached_property
    def pairs(self) -> tuple[int, int, int, int, int]:
        """Complete pairs in which A made 0, ½, 1, 1½ and 2 points."""
        made: dict[int, list[int]] = {}
        for record in self.games:
            made.setdefault(_pair(record.number), []).append(_half_points(record))
        counts = Counter(sum(both) for both in made.values() if len(both) == 2)
        return counts[0], counts[1], counts[2], counts[3], counts[4]

    @cached_property
    def estimate(self) -> Estimate:
        """Elo with its interval, from the complete pairs."""
        return estimate(self.pairs)

    @property
    def elo(self) -> float:
        """How much stronger A is; where one side won everything, the bound that is known with 95 % certainty."""
        return self.estimate.elo

    @property
    def error(self) -> float:
        """Half of the 95 % interval of ``elo``; infinite where one side won everything."""
        return self.estimate.error

    def summary(self) -> dict[str, Any]:
        """The figures, for a file."""
        low, high = (x if math.isfinite(x) else None for x in (self.estimate.low, self.estimate.high))
        return {
            "games": len(self.games),
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": round(self.score, 4),
            "elo": round(self.elo, 1),
            "elo_low": low and round(low, 1),
            "elo_high": high and round(high, 1),
            "pairs": self.pairs,
            "sprt": self.sprt and dataclasses.asdict(self.sprt),
        }


@dataclass(frozen=True)
class Tournament(_Played):
    """Everybody against everybody."""

    @cached_property
    def ratings(self) -> list[Rating]:
        """Bradley–Terry ratings in the order of ``players``; their mean is 0."""
        return bradley_terry([[self.score_against(i, j) for j in self.labels] for i in self.labels])

    def score_against(self, ours: str, theirs: str) -> float:
        """Points of one player (by label) against another."""
        if ours == theirs:
            return 0.0
        wins, draws, _ = self.points(ours, theirs)
        return wins + draws / 2

    def ranking(self) -> list[str]:
        """Labels, the strongest first."""
        elo = dict(zip(self.labels, self.ratings, strict=True))
        return sorted(self.labels, key=lambda label: -elo[label].elo)

    def summary(self) -> dict[str, Any]:
        """The figures, for a file."""
        return {
            label: {"player": text, "elo": round(rating.elo, 1), "error": round(rating.error, 1)}
            for label, text, rating in zip(self.labels, self.players, self.ratings, strict=True)
        }


def _labels(count: int) -> tuple[str, ...]:
    """A, B, …, Z, A2, B2, …"""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return tuple(letters[i % 26] + (str(i // 26 + 1) if i >= 26 else "") for i in range(count))


def _pair(number: int) -> int:
    return (number - 1) // 2


def _half_points(record: GameRecord) -> int:
    """A's."""
    return 1 if record.winner is None else 2 * (record.winner == "A")


# ── What goes in ──


@dataclass(frozen=True)
class _Contest:
    """All that decides the games."""

    game: Game
    players: tuple[str, ...]
    games: int  # a pairing
    seed: int
    openings: int | tuple[str, ...]  # random plies, or openings as texts
    move_seconds: float | None
    learners: int = dataclasses.field(init=False)  # players that write what they learn

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ValueError(f"games is {self.games}: give an even number, since games are played in pairs")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}: give at least 0")
        if self.move_seconds is not None and not 0 < self.move_seconds <= 1e6:
            raise ValueError(f"move_seconds is {self.move_seconds:g}: give a number above 0 and at most 10^6")
        if isinstance(self.openings, int):
            if self.openings < 0:
                raise ValueError(f"an opening of {self.openings} plies is not possible: give at least 0")
        elif not self.openings:
            raise ValueError("there are no openings in the list: give at least one, or a number of random plies")
        else:
            for text in self.openings:
                if self.game.replay(text).result is not None:
                    raise ValueError(f"the opening {text[:60]!r} ends the game: give a shorter one")
        learners = 0
        for text in self.players:
            # Whatever is wrong with a player's text is better said now than by every game.
            who = player(text, self.game)
            learners += getattr(who, "learns", False)
            _close(who)
        if learners > 1:
            raise ValueError(
                "two players here learn: give learn=1 to one of them, lest they overwrite each other's file"
            )
        object.__setattr__(self, "learners", learners)

    @property
    def total(self) -> int:
        pairings = math.comb(len(self.players), 2)
        return self.games * pairings

    def heading(self, kind: str) -> dict[str, Any]:
        """What makes this contest this one. More games of it are still the same."""
        return {
            "tesuji": f"{kind}, format 1",
            "game": self.game.name,
            "numbers": self.game.numbers,
            "version": self.game.version,
            "players": list(self.players),
            "seed": self.seed,
            "openings": self.openings if isinstance(self.openings, int) else list(self.openings),
            "move seconds": self.move_seconds,
        }

    def jobs(self) -> Iterator["Job"]:
        """All games in order: a pair of each pairing, then the next pair of each."""
        labels = _labels(len(self.players))
        texts = dict(zip(labels, self.players, strict=True))
        if isinstance(self.openings, int):
            starts = openings(self.game, self.openings, self.seed)
        else:
            starts = itertools.cycle(tuple(map(self.game.text, self.game.replay(t).history)) for t in self.openings)
        numbers = itertools.count(1)
        for opening in itertools.islice(starts, self.games // 2):
            for a, b in itertools.combinations(labels, 2):
                for first, second in ((a, b), (b, a)):
                    number = next(numbers)
                    seeds = tuple(_seed(self.seed, number, label) for label in (first, second))
                    both = {label: texts[label] for label in (a, b)}
                    named = self.game.name, self.game.numbers
                    yield Job(number, *named, first, second, both, opening, seeds, self.move_seconds)


@dataclass(frozen=True)
class Job:
    """One game to play; it can travel as JSON."""

    number: int
    game: str
    numbers: dict[str, float]
    first: str
    second: str
    players: dict[str, str]
    opening: tuple[str, ...]
    seeds: tuple[int, ...]  # First's, Second's
    move_seconds: float | None


Elsewhere = Callable[[Iterator[Job]], Generator[GameRecord, None, None]]  # plays jobs, in whatever order


def _seed(seed: int, number: int, label: str) -> int:
    return random.Random(f"{seed} {number} {label}").getrandbits(62)


def match(
    first: str,
    second: str,
    *,
    game: str | Game = "go9",
    games: int = 100,
    seed: int = 1,
    openings: int | Sequence[str] | None = None,
    move_seconds: float | None = None,
    workers: int | None = None,
    sprt: tuple[float, float] | None = None,
    out: str | Path | None = None,
    watch: Watcher | None = None,
    elsewhere: Elsewhere | None = None,
) -> Match:
    """Plays two players, named by texts, against each other; they are A and B, and each is First in half of the games.

    ``openings``: random plies before the players begin, or a list of openings such as "e5 c3"; None: the game's book,
    or else as many random plies as suit it. ``move_seconds``: who takes longer for a move loses the game; None: guests
    have a minute, our own players as long as they like. ``workers``: processes that play at once; None: one a core.
    ``sprt``: (elo0, elo1), to stop as soon as it is clear whether A is stronger by elo1 rather than by elo0. ``out``: a
    file for the games; what it holds already of the same match is not played again. ``elsewhere`` plays the games
    instead of this machine (``cluster``).
    """
    g, drawn_from = _game_and_openings(game, openings, seed)
    if sprt is not None and not sprt[0] < sprt[1]:
        raise ValueError(f"sprt is {sprt[0]:g},{sprt[1]:g}: give two Elo differences, the smaller first")
    contest = _Contest(g, (first, second), games, seed, drawn_from, move_seconds)
    stop = _Stop(*sprt) if sprt is not None else None

    def finished(records: Mapping[int, GameRecord]) -> Match:
        last = stop.last if stop is not None else contest.total
        counted = tuple(records[number] for number in sorted(records) if number <= min(last, contest.total))
        return match_of(g, (first, second), counted, sprt)

    def summary(records: Mapping[int, GameRecord]) -> dict[str, Any]:
        return finished(records).summary()

    return finished(_run(contest, "match", workers, out, stop, watch, summary, elsewhere))


def tournament(
    players: Sequence[str],
    *,
    game: str | Game = "go9",
    games: int = 20,
    seed: int = 1,
    openings: int | Sequence[str] | None = None,
    move_seconds: float | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> Tournament:
    """Plays so many games between any two of the players; the rest as for ``match``."""
    g, drawn_from = _game_and_openings(game, openings, seed)
    if len(players) < 2:
        raise ValueError("a tournament needs at least two players")
    contest = _Contest(g, tuple(players), games, seed, drawn_from, move_seconds)

    def finished(records: Mapping[int, GameRecord]) -> Tournament:
        counted = tuple(records[number] for number in sorted(records) if number <= contest.total)
        return Tournament(g, tuple(players), counted)

    return finished(_run(contest, "tournament", workers, out, None, watch, lambda records: finished(records).summary()))


def match_of(
    g: Game, players: tuple[str, ...], records: Iterable[GameRecord], bounds: tuple[float, float] | None = None
) -> Match:
    """The match that these games are; ``bounds``: of the sequential test."""
    played = Match(g, players, tuple(records))
    return dataclasses.replace(played, sprt=sprt(played.pairs, *bounds)) if bounds else played


def _game_and_openings(
    game: str | Game, given: int | Sequence[str] | None, seed: int
) -> tuple[Game, int | tuple[str, ...]]:
    g = game if isinstance(game, Game) else game_of(game)
    if given is None:
        return g, book(g, seed) or default_plies(g)
    if isinstance(given, str):
        raise TypeError("openings are a number of plies or a list of texts, not one text")
    return g, given if isinstance(given, int) else tuple(given)


class _Stop:
    """Ends a match by the sequential test.

    Pairs are looked at in their order, whatever order they finish in: else short games, which finish first, would
    weigh more, and the verdict would depend on the number of workers.
    """

    def __init__(self, elo0: float, elo1: float) -> None:
        self._bounds = elo0, elo1
        self._counts = [0] * 5
        self._pair = 0
        self.last: float = math.inf  # the number of the last game that counts

    def reached(self, records: Mapping[int, GameRecord]) -> bool:
        while self.last == math.inf:
            both = [records.get(2 * self._pair + game) for game in (1, 2)]
            if both[0] is None or both[1] is None:
                return False
            self._counts[_half_points(both[0]) + _half_points(both[1])] += 1
            self._pair += 1
            if sprt(self._counts, *self._bounds).verdict != "undecided":
                self.last = 2 * self._pair
        return True


def _run(
    contest: _Contest,
    kind: str,
    workers: int | None,
    out: str | Path | None,
    stop: _Stop | None,
    watch: Watcher | None,
    summary: Callable[[Mapping[int, GameRecord]], dict[str, Any]],
    elsewhere: Elsewhere | None = None,
) -> Mapping[int, GameRecord]:
    """Plays what is not yet on disk."""
    if contest.learners and elsewhere is not None:
        raise ValueError(
            "a player here learns, and only one process may write its file: play this match on one machine"
        )
    if contest.learners and workers not in (None, 1):
        raise ValueError(f"workers is {workers}: give 1 with a player that learns, since only one may write its file")
    if contest.learners:
        workers = 1
    elif workers is None:
        workers = cores()
    if workers < 1:
        raise ValueError(f"workers is {workers}: give at least 1")
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(Journal(Path(out), contest.heading(kind))) if out is not None else None
        records: dict[int, GameRecord] = journal.records if journal is not None else {}
        try:
            if watch is not None:
                watch(records, contest.total)
            if stop is not None and stop.reached(records):
                return records
            missing = (job for job in contest.jobs() if job.number not in records)
            # No more processes than games to play; one that may have to be ended is never our own.
            left = sum(number not in records for number in range(1, contest.total + 1))
            own = min(workers, left) <= 1 and contest.move_seconds is None
            if elsewhere is not None:
                finished = elsewhere(missing)
            else:
                finished = _in_process(missing) if own else _in_processes(missing, min(workers, left))
            with contextlib.closing(finished):
                for record in finished:
                    if journal is not None:
                        journal.add(record)
                    else:
                        records[record.number] = record
                    if watch is not None:
                        watch(records, contest.total)
                    if stop is not None and stop.reached(records):
                        break
        finally:
            if journal is not None:
                journal.finish(summary(records))
    return records


# ── Playing one game ──


def _play(job: Job, before_move: Callable[[GameRecord], None] | None = None) -> GameRecord:
    """One game. Whatever a player does wrong costs it the game, and nothing else.

    ``before_move`` is told before each move what the record is if that move never comes.
    """
    g = Game(job.game, job.numbers)
    labels = job.first, job.second
    state = g.replay(job.opening)
    players: list[Player] = []
    moves: list[str] = []
    seconds: list[float] = []
    visits: list[int] = []
    values: list[float | None] = []
    result, reason = state.result, "played out"

    def record(result: int, reason: str) -> GameRecord:
        return GameRecord(
            number=job.number,
            game=job.game,
            numbers=job.numbers,
            first=job.first,
            second=job.second,
            players=job.players,
            opening=job.opening,
            moves=tuple(moves),
            result=result,
            reason=reason,
            seconds=tuple(seconds),
            visits=tuple(visits),
            values=tuple(values),
        )

    try:
        for side, label in enumerate(labels):
            try:
                players.append(player(job.players[label], g, seed=job.seeds[side], move_seconds=job.move_seconds))
            except Exception as trouble:
                result, reason = (-1, 1)[side], f"{label} crashed: {_sentence(trouble)}"
                break
        while result is None:
            side = state.to_play
            limit = math.inf if job.move_seconds is None else job.move_seconds
            if before_move is not None:
                before_move(record((-1, 1)[side], f"{labels[side]} used more than {limit:g} s"))
            begun = time.perf_counter()
            try:
                thought = players[side].think(state)
                spent = time.perf_counter() - begun
                if spent > limit and not getattr(players[side], "keeps_time", False):
                    raise Forfeit(f"used {spent:.1f} s of {limit:g} s")
                try:
                    state = state.play(thought.action)
                except Exception as refusal:
                    raise Forfeit(f"made an illegal move: {refusal}") from None
                moves.append(g.text(thought.action))
                seconds.append(round(spent, 5))
                visits.append(sum(thought.visits.values()))
                values.append(None if thought.value is None else round(float(thought.value), 4))
            except Forfeit as loss:
                result, reason = (-1, 1)[side], f"{labels[side]} {loss}"
            except Exception as trouble:
                result, reason = (-1, 1)[side], f"{labels[side]} crashed: {_sentence(trouble)}"
            else:
                result = state.result
        if state.result is not None:
            for who in players:
                _finish(who, state)
    finally:
        for who in players:
            _close(who)
    return record(result, reason)


def _finish(who: Player, state: State) -> None:
    """Players that learn from finished games have a ``finish``."""
    finish = getattr(who, "finish", None)
    if finish is not None:
        finish(state)


def _close(who: Player) -> None:
    """Players that hold something (a process) have a ``close``."""
    close = getattr(who, "close", None)
    if close is not None:
        close()


def _sentence(trouble: Exception) -> str:
    return f"{type(trouble).__name__}: {' '.join(str(trouble).split())}"[:300]


# ── Playing many ──


def _in_process(jobs: Iterable[Job]) -> Generator[GameRecord, None, None]:
    for job in jobs:
        yield _play(job)


def played(job: Job) -> GameRecord:
    """One game here; in a process of its own where a move may take too long."""
    return next(_in_process([job]) if job.move_seconds is None else _in_processes(iter([job]), 1))


class _Worker:
    """A process that plays games: a job goes in as a line, a record comes out as a line.

    Where there is a limit of time, a line comes before each move too: the record if that move never comes.
    """

    def __init__(self, answers: "queue.SimpleQueue[tuple[_Worker, str]]") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tesuji.arena import work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C comes to us alone, and we tell it
        )
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def _listen(self, answers: "queue.SimpleQueue[tuple[_Worker, str]]") -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                answers.put((self, line))
        answers.put((self, ""))  # it has died

    def give(self, job: Job) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died, and _listen says so
            self._process.stdin.write(json.dumps(dataclasses.asdict(job)) + "\n")
            self._process.stdin.flush()

    def hang_up(self) -> None:
        """Tells it to end."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def stop(self, patience: float = 3) -> str:
        """Ends it, at the latest after so many seconds; how it ended."""
        self.hang_up()
        try:
            code = self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _in_processes(jobs: Iterator[Job], count: int) -> Generator[GameRecord, None, None]:
    """Records in the order in which games finish.

    A game whose process died is played once more. A process in which a move takes too long is ended, and that game is
    lost by time.
    """
    answers: queue.SimpleQueue[tuple[_Worker, str]] = queue.SimpleQueue()
    busy: dict[_Worker, Job] = {}
    late: dict[_Worker, tuple[float, GameRecord]] = {}  # when a move is too late, and what is the record then
    deaths: Counter[int] = Counter()

    def give(worker: _Worker, job: Job) -> None:
        busy[worker] = job
        worker.give(job)

    try:
        for job in itertools.islice(jobs, count):
            give(_Worker(answers), job)
        while busy:
            first_late = min((when for when, _ in late.values()), default=None)
            try:
                worker, line = answers.get(timeout=first_late and max(0.0, first_late - time.monotonic()))
            except queue.Empty:
                # Step 1. A move takes too long: only the end of its process ends it.
                worker = min(late, key=lambda waiting: late[waiting][0])
                _, record = late.pop(worker)
                del busy[worker]
                worker.stop(patience=0.5)
                if (following := next(jobs, None)) is not None:
                    give(_Worker(answers), following)
                yield record
                continue
            if worker not in busy:
                continue  # the last word of one that was stopped
            said = json.loads(line) if line else None
            late.pop(worker, None)
            if said is None:
                # Step 2. A process died.
                job, end = busy.pop(worker), worker.stop()
                deaths[job.number] += 1
                if deaths[job.number] == 2:
                    raise RuntimeError(
                        f"the process that played game {job.number} died twice ({end}): "
                        "the match stops, and its finished games are kept"
                    )
                give(_Worker(answers), job)
            elif "late" in said:
                # Step 3. A move begins. Its process watches the clock too; we act only if nothing comes of that. A
                # guest has the limit twice, to be told the position and to move.
                limit = busy[worker].move_seconds
                assert limit is not None
                late[worker] = time.monotonic() + 2 * limit + _SLACK, GameRecord.from_json(said["late"])
            else:
                # Step 4. A game is finished.
                del busy[worker]
                if (following := next(jobs, None)) is not None:
                    give(worker, following)
                else:
                    worker.stop()
                yield GameRecord.from_json(said)
    finally:
        for worker in busy:
            worker.hang_up()
        for worker in busy:
            worker.stop()


def work() -> None:
    """The life of a worker process. It ends with its input, in the middle of a game if need be."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a player prints must not come among the records
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            jobs.put(line)
        engine.kill_all()
        os._exit(0)

    def say(words: dict[str, Any]) -> None:
        channel.write(json.dumps(words) + "\n")
        channel.flush()

    threading.Thread(target=listen, daemon=True).start()
    while True:
        fields = json.loads(jobs.get())
        fields["opening"], fields["seeds"] = tuple(fields["opening"]), tuple(fields["seeds"])
        job = Job(**fields)
        before_move = None if job.move_seconds is None else lambda late: say({"late": late.to_json()})
        say(_play(job, before_move).to_json())
