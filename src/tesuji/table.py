"""Study D: Dots and Boxes by a learned Monte-Carlo table, and its two simple opponents, ``greedy`` and ``mirror``.

A state is the set of drawn edges alone: 2²⁴ of them on 3×3. Of each the table counts how often it was reached and how
often the player who made it won. Training plays whole games (``cpp/search/table.cpp``); this module keeps the file,
the schedule and the players. docs/table.md has commands and figures.
"""

import contextlib
import functools
import json
import math
import os
import random
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tesuji._core import DotsTable, Game, State, dots_boxes
from tesuji.games import game as game_named
from tesuji.players import check_ongoing
from tesuji.thought import Line, Thought

__all__ = [
    "MODELS",
    "FirstMove",
    "Greedy",
    "Mirror",
    "Progress",
    "Table",
    "TablePlayer",
    "mirror_experiment",
    "train_file",
]

# The paper's trainings: games, and C of the formula, phase by phase.
MODELS: dict[str, tuple[tuple[int, float], ...]] = {
    "free": ((25_000_000, 0.6), (25_000_000, 0.1)),
    "greedy": ((20_000_000, 0.6), (10_000_000, 0.1)),
}

_MAGIC = b"TESUJITB"
_VERSION = 1
_HEAD = struct.Struct("<8sII")  # magic, version, length of the description
_CHECKSUM = struct.Struct("<I")  # CRC-32 of all else
_START = _HEAD.size + _CHECKSUM.size
# Between two of these game numbers training can be stopped. They are fixed, so that where it was stopped does not show.
_CHUNK = 100_000
# C of the lower bound by which a table plays. Of 0, 0.1 and 0.6 it lost the fewest games to greedy.
_CAUTION = 0.6


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is."""

    games: int
    planned: int
    first_wins: int  # of this session's games
    session: int  # games of this session
    seconds: float  # of this session

    @property
    def rate(self) -> float:
        """Games a second."""
        return self.session / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class FirstMove:
    """What the table knows of one first move."""

    move: str
    wins: int  # First's
    visits: int


class Table:
    """Visits and wins of every set of edges."""

    def __init__(self, game: Game, model: str = "greedy", *, seed: int = 0) -> None:
        self._core = DotsTable(game, model)
        self.game = game
        self.model = model
        self.seed = seed
        self.learned = 0  # games of play
        self.phases: tuple[tuple[int, float], ...] = MODELS[model]

    @property
    def trained(self) -> int:
        """The games of training so far."""
        return self._core.trained

    @property
    def planned(self) -> int:
        """The games of the whole training."""
        return sum(games for games, _ in self.phases)

    @property
    def words(self) -> NDArray[np.uint64]:
        """[2^edges], the table's own memory: visits in the low half of a word, wins in the high half."""
        return self._core.words

    @property
    def visits(self) -> NDArray[np.uint32]:
        """[2^edges]: how often each set of edges was reached."""
        return self.words.view(np.uint32)[0::2]

    @property
    def wins(self) -> NDArray[np.uint32]:
        """[2^edges]: how often the player who made it won."""
        return self.words.view(np.uint32)[1::2]

    def plan(self, games: int) -> None:
        """Sets the length of the training; the phases keep the paper's shares of it."""
        if not 1 <= games <= 1_000_000_000:
            raise ValueError(f"games is {games}: give a whole number from 1 to 1000000000")
        if games < self.trained:
            raise ValueError(f"games is {games}, but the table was trained with {self.trained} already")
        whole = sum(length for length, _ in MODELS[self.model])
        (early, first), (_, second) = MODELS[self.model]
        early = games * early // whole
        self.phases = ((early, first), (games - early, second))

    def train(
        self,
        games: int | None = None,
        *,
        threads: int = 1,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Trains up to so many games in all (default: what is planned). Ctrl-C leaves a sound table behind it.

        With one thread the same seed gives the same table, stopped and resumed or not.
        """
        if games is not None:
            self.plan(games)
        start, begin, first_wins = time.perf_counter(), self.trained, 0
        while self.trained < self.planned:
            end, exploration = self._next_stop()
            first, *_ = self._core.train(end, exploration, self.seed, threads)
            first_wins += first
            if progress:
                session = self.trained - begin
                progress(Progress(self.trained, self.planned, first_wins, session, time.perf_counter() - start))

    def _next_stop(self) -> tuple[int, float]:
        """The end of the next stretch of games, and its C."""
        stop = (self.trained // _CHUNK + 1) * _CHUNK
        begin = 0
        for length, exploration in self.phases:
            if self.trained < begin + length:
                return min(stop, begin + length), exploration
            begin += length
        raise AssertionError("the training is over")

    def first_moves(self) -> list[FirstMove]:
        """Of each first move: First's wins and visits."""
        return [
            FirstMove(self.game.text(edge), int(self.wins[1 << edge]), int(self.visits[1 << edge]))
            for edge in range(self.game.actions)
        ]

    def learn(self, history: Iterable[int | str]) -> None:
        """Credits a game that was played, as training does: up to the box that makes a majority."""
        state = game_named(self.game.name, early_end=1).start()
        path = []
        for move in history:
            if state.result is not None:
                self.game.replay(history if isinstance(history, Sequence) else [])  # refuses what is not legal
                break
            maker = state.to_play
            state = state.play(move)
            path.append((_edges(state), maker))
        if state.result is None:
            raise ValueError("there is nothing to learn: the game is not over")
        winner = {1: 0, -1: 1, 0: None}[state.result]
        self.visits[0] += 1
        for edges, maker in path:
            self.visits[edges] += 1
            self.wins[edges] += maker == winner
        self.learned += 1

    # ── Files ──

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file beside its place, flushes and renames it: a save that is killed leaves the old file as it was.

        The file: magic, version, length of the description, checksum; the description (JSON); a bit a state that says
        whether it was visited, lowest first; the words of those that were.
        """
        place = Path(path)
        visited = self.words != 0
        description = {
            "game": self.game.name,
            "game_version": self.game.version,
            "model": self.model,
            "trained": self.trained,
            "learned": self.learned,
            "phases": self.phases,
            "seed": self.seed,
            "states": int(np.count_nonzero(visited)),
        }
        parts = [
            json.dumps(description).encode(),
            np.packbits(visited, bitorder="little").data,
            self.words[visited].astype("<u8", copy=False).data,
        ]
        head = _HEAD.pack(_MAGIC, _VERSION, len(parts[0]))
        checksum = zlib.crc32(head)
        for part in parts:
            checksum = zlib.crc32(part, checksum)
        beside = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            with open(beside, "wb") as file:
                file.write(head + _CHECKSUM.pack(checksum))
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, place)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        _flush_folder(place.parent)
        _sweep(place)

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: Game | None = None) -> "Table":
        """The table of a file. One that is cut short, damaged or of another game is refused with a sentence."""
        place = Path(path)
        try:
            data = np.fromfile(place, np.uint8)
        except OSError as error:
            raise ValueError(f"{place} cannot be read: {error.strerror or error}") from None
        if len(data) < _START or bytes(data[:8]) != _MAGIC:
            raise ValueError(f"{place} is not a table of Tesuji")
        head = data[: _HEAD.size].tobytes()
        _, version, length = _HEAD.unpack(head)
        if version != _VERSION:
            raise ValueError(f"{place} is a table of version {version}: this program reads version {_VERSION}")
        if _CHECKSUM.pack(zlib.crc32(data[_START:].data, zlib.crc32(head))) != data[_HEAD.size : _START].tobytes():
            raise ValueError(f"{place} is cut short or damaged: train it anew, or take a copy")
        description = json.loads(data[_START : _START + length].tobytes())
        own = game_named(description["game"])
        if game is not None and game.name != own.name:
            raise ValueError(f"{place} is a table of {own.name}, not of {game.name}")
        if description["game_version"] != own.version:
            raise ValueError(f"{place} is of version {description['game_version']} of {own.name}: train it anew")
        table = cls(own, description["model"], seed=description["seed"])
        table._core.trained = description["trained"]
        table.learned = description["learned"]
        table.phases = tuple((int(games), float(exploration)) for games, exploration in description["phases"])
        states = len(table.words)
        bits = _START + length
        words = bits + (states + 7) // 8
        visited = np.unpackbits(data[bits:words], count=states, bitorder="little").view(bool)
        table.words[visited] = np.frombuffer(data.data, "<u8", offset=words)
        return table


def train_file(
    path: str,
    game: Game,
    model: str,
    games: int | None = None,
    *,
    threads: int = 1,
    seed: int = 0,
    say: Callable[[str, bool], None],
) -> None:
    """Trains the table of a file to its end, going on where it stands, and saves it each minute and when stopped.

    ``say`` is given lines, and whether it is the last one.
    """
    place = Path(path)
    if place.exists():
        table = Table.load(place, game)
        wanted = {"model": model, "seed": seed, "games": games if games is not None else table.planned}
        found = {"model": table.model, "seed": table.seed, "games": table.planned}
        for key, value in found.items():
            if wanted[key] != value:
                raise ValueError(f"{path} is a training with {key} {value}, not {wanted[key]}: give another file")
        if table.trained == table.planned:
            say(f"{path} is finished: {table.trained:,} games", True)
            return
    else:
        table = Table(game, model, seed=seed)
        if games is not None:
            table.plan(games)
        if not os.access(place.parent, os.W_OK):
            raise ValueError(f"{place.parent} is not a folder that can be written to")
    spoken = saved = time.monotonic()

    def report(now: Progress) -> None:
        nonlocal spoken, saved
        if time.monotonic() - spoken >= 1:
            spoken = time.monotonic()
            left = (now.planned - now.games) / now.rate
            say(
                f"{now.games:,} of {now.planned:,} games, {now.rate:,.0f} a second, {left:,.0f} s left; "
                f"First wins {now.first_wins / now.session:.1%}",
                False,
            )
        if time.monotonic() - saved >= 60:
            table.save(place)
            saved = time.monotonic()

    start, before = time.monotonic(), table.trained
    try:
        table.train(threads=threads, progress=report)
    finally:
        if table.trained > before:
            table.save(place)
    say(f"{table.trained:,} games in {time.monotonic() - start:,.0f} s: saved {path}", True)


def _flush_folder(folder: Path) -> None:
    """Makes a rename in it last through a power cut; not every system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(place: Path) -> None:
    """Removes what saves that were killed left beside a file."""
    for part in place.parent.glob(f".{place.name}.*.part"):
        found = re.fullmatch(r"\.(\d+)\.part", part.name[len(place.name) + 1 :])
        if found and not _alive(int(found[1])):
            part.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# ── Players ──


def _edges(state: State) -> int:
    """The drawn edges as a set of bits."""
    edges = 0
    for action in state.history:
        edges |= 1 << action
    return edges


def _takes(boxes: Sequence[int], drawn: int) -> set[int]:
    """The edges that complete a box."""
    missing = (box & ~drawn for box in boxes)
    return {left.bit_length() - 1 for left in missing if left.bit_count() == 1}


def _given_away(boxes: Sequence[int], drawn: int) -> int:
    """How many boxes can be taken in a row."""
    open_boxes = [box for box in boxes if box & ~drawn]
    count = len(open_boxes)
    while takes := _takes(open_boxes, drawn):
        for edge in takes:
            drawn |= 1 << edge
        open_boxes = [box for box in open_boxes if box & ~drawn]
    return count - len(open_boxes)


def _shared(path: str, game: Game) -> Table:
    """The table of a file, one for all who only look into it: a match asks for it in every game."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    return _loaded(path, changed, game.name)


@functools.lru_cache(maxsize=2)
def _loaded(path: str, changed: int, game: str) -> Table:
    return Table.load(path, game_named(game))


class TablePlayer:
    """Plays by a learned table: among its choices, the state whose share of wins is surely large.

    A model of the greedy rule takes boxes when it can. With ``learn=1`` the table is credited and saved after every
    game that is finished.
    """

    def __init__(self, game: Game, path: str, *, learn: int = 0) -> None:
        if learn not in (0, 1):
            raise ValueError(f"learn is {learn}: give 0 or 1")
        self.table = Table.load(path, game) if learn else _shared(path, game)
        self._path = path
        self.learns = bool(learn)
        self._boxes = dots_boxes(game)

    def think(self, state: State) -> Thought:
        check_ongoing(state)
        table, start = self.table, time.perf_counter()
        if state.game.name != table.game.name:
            raise ValueError(f"the table is of {table.game.name}, not of {state.game.name}")
        drawn = _edges(state)
        choices = state.legal()
        if table.model == "greedy" and (takes := _takes(self._boxes, drawn).intersection(choices)):
            choices = sorted(takes)
        side = 1 if state.to_play == 0 else -1
        visits = {action: int(table.visits[drawn | 1 << action]) for action in choices}
        wins = {action: int(table.wins[drawn | 1 << action]) for action in choices}
        # Training looks where the interval of the share of wins reaches highest; play, where it begins highest, so
        # that a state seen once or twice does not outshine a proven one.
        total = max(2, sum(visits.values()))
        share = {action: wins[action] / max(1, visits[action]) for action in choices}
        low = {a: share[a] - _CAUTION * math.sqrt(math.log(total) / max(0.5, visits[a])) for a in choices}
        ranked = sorted(choices, key=lambda action: (-low[action], action))
        value = {action: side * (2 * share[action] - 1) for action in choices}
        text = state.game.text
        lines = tuple(Line((text(action),), value[action], visits[action]) for action in ranked)
        best = ranked[0]
        return Thought(best, text(best), value[best], visits, lines, seconds=time.perf_counter() - start)

    def finish(self, state: State) -> None:
        """Told of a finished game."""
        if self.learns:
            self.table.learn(state.history)
            self.table.save(self._path)


class Greedy:
    """Takes a box when it can, any that there is.

    Else it plays a random edge that gives none away (no box gets its third edge); where there is none, a random one of
    those after which the fewest boxes can be taken in a row.
    """

    def __init__(self, game: Game, *, seed: int = 0) -> None:
        self._boxes = dots_boxes(game)
        self._random = random.Random(seed)

    def think(self, state: State) -> Thought:
        check_ongoing(state)
        drawn, legal = _edges(state), state.legal()
        choices = sorted(_takes(self._boxes, drawn).intersection(legal))
        if not choices:
            loss = {action: _given_away(self._boxes, drawn | 1 << action) for action in legal}
            least = min(loss.values())
            choices = [action for action in legal if loss[action] == least]
        action = self._random.choice(choices)
        return Thought(action, state.game.text(action), visits={action: 1})


class Mirror:
    """Study D's strategy for Second.

    It takes boxes until there are none to take, and then answers First's last edge x with the edge opposite, edges − 1
    − x. Once that edge is drawn (or closed by a rule) the strategy is at its end, and what follows is said by
    ``broken``: ``random``, the paper's words, plays at random to the end of the game; ``take`` does so too but takes
    boxes; ``once`` plays one edge at random and goes on with the strategy. As First it begins with its end.
    """

    def __init__(self, game: Game, *, broken: str = "random", seed: int = 0) -> None:
        if broken not in ("random", "take", "once"):
            raise ValueError(f"broken is {broken[:30]!r}: give random, take or once")
        self._boxes = dots_boxes(game)
        self._edges = game.actions
        self._broken = broken
        self._random = random.Random(seed)

    def think(self, state: State) -> Thought:
        check_ongoing(state)
        legal = state.legal()
        over = state.to_play == 0 or (self._broken != "once" and self._is_over(state))
        takes = _takes(self._boxes, _edges(state)).intersection(legal)
        choices = legal
        if takes and (not over or self._broken != "random"):
            choices = sorted(takes)
        elif not over:
            opposite = self._edges - 1 - self._last_of_first(state)
            choices = [opposite] if opposite in legal else legal
        action = self._random.choice(choices)
        return Thought(action, state.game.text(action), visits={action: 1})

    def _last_of_first(self, state: State) -> int:
        """First's last edge: the last of the history that Second did not play."""
        return self._turns(state)[-1][1]

    def _is_over(self, state: State) -> bool:
        """Whether Second, at an earlier ply, had nothing to take and found the edge opposite drawn or closed."""
        return any(ended for ended, _ in self._turns(state))

    def _turns(self, state: State) -> list[tuple[bool, int]]:
        """Of each of Second's plies so far, and the one to come: whether the strategy ended there, and First's edge."""
        drawn, mover, last = 0, 0, -1
        turns = []
        for action in state.history:
            takes = _takes(self._boxes, drawn)
            if mover == 1:
                opposite = self._edges - 1 - last
                # What was played instead of a free edge was no choice of ours, or the rules closed that edge.
                turns.append((not takes and opposite != action, last))
            else:
                last = action
            drawn |= 1 << action
            if action not in takes:
                mover = 1 - mover
        return [*turns, (False, last)]


def mirror_experiment(
    games: int = 10_000, seed: int = 0, *, broken: str = "random", first: str = "random"
) -> tuple[int, int]:
    """The paper's experiment, First at random against the mirror: games that First and that Second won.

    ``first`` is ``random``, or ``take`` for a First who takes boxes and is random otherwise.
    """
    if first not in ("random", "take"):
        raise ValueError(f"first is {first[:30]!r}: give random or take")
    game = game_named("dots3", early_end=1)
    boxes = dots_boxes(game)
    dice = random.Random(seed)
    mirror = Mirror(game, broken=broken, seed=dice.getrandbits(60))
    won = {1: 0, -1: 0}
    for _ in range(games):
        state = game.start()
        while state.result is None:
            if state.to_play == 1:
                state = state.play(mirror.think(state).action)
                continue
            takes = _takes(boxes, _edges(state)) if first == "take" else set()
            state = state.play(dice.choice(sorted(takes) or state.legal()))
        won[state.result] += 1
    return won[1], won[-1]
