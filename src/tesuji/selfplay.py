"""Self-play: endless games of a net against itself (``cpp/selfplay``), driven lane by lane through an evaluator.

A lane is one group of games and one batch: the core grows every tree of the group to its next leaf, the evaluator
answers them all, and so on. On a CPU each core has a thread and a lane of its own, and nobody waits. For a GPU one
thread takes two or more lanes in turn, whose trees a crew of threads in the core grows: while the device answers one
lane the crew is busy with another, and it goes on to the next before that one is sent.
"""

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from tesuji import _core
from tesuji._core import Game
from tesuji.checks import check_numbers
from tesuji.search import SearchSettings

if TYPE_CHECKING:
    from tesuji.evaluate import Lane

__all__ = ["SelfPlay", "SelfPlaySettings", "shares"]

RESIGNED_WRONGLY = 0.05  # of the checked games: above this share players give up later
_CHECKED_AT_LEAST = 20  # games, before that share means anything


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlaySettings:
    """How games are played for learning."""

    visits: int = 64
    """Of a full search, whose policy is learned."""
    full_share: float = 1.0
    """Playout caps: this share of the plies gets a full search, the others a fast one without noise."""
    fast_visits: int = 16
    rule: Literal["gumbel", "puct"] = "gumbel"
    """How moves are chosen in the tree."""
    c: float = 1.5
    fpu: float = 0.2
    c_visit: float = 50.0
    c_scale: float = 1.0
    considered: int = 16
    noise_weight: float = 0.25
    """PUCT: of Dirichlet noise in the root's priors."""
    noise_concentration: float = 0.3
    temperature: float = 1.0
    """PUCT: moves are drawn by visits to the power 1/temperature, which halves every ``temperature_plies`` …"""
    temperature_plies: float = 10.0
    final_temperature: float = 0.1
    """… towards this."""
    opening_share: float = 0.0
    """This share of the games begins with 1 to ``opening_plies`` random moves."""
    opening_plies: int = 4
    vary_share: float = 0.0
    """In this share of the games rule numbers are moved by a normal draw,"""
    vary: dict[str, float] = field(default_factory=dict)
    """of this spread each: {"komi": 2}."""
    resign: float = 0.0
    """A mover gives up whose value was below minus this for ``resign_plies`` of his plies; 0: never."""
    resign_plies: int = 3
    resign_checked: float = 0.1
    """This share of the games is played out nevertheless, and tells how often giving up is wrong."""
    solve: int = 0
    """Nodes that an exact solver may look at where it has a hope: what it finds is the result, and ends the game …"""
    play_on: float = 0.1
    """… but for this share of the games, so that what comes then is learned too. 0 nodes: it is not asked."""
    solve_leaves: int = 0
    """Nodes that the solver may spend on every leaf of the tree; 0: it is not asked there. That takes its time
    (docs/search.md)."""
    checkpoint: int = 0
    """Dynamic stop: every so many visits look whether the best move has more than ``share`` of them; 0: never."""
    share: float = 0.8
    reuse: bool = True
    """The part of the tree that a move leads to serves the next search."""
    transpositions: bool = False
    candidates: bool = True
    """Whether it believes what the game is sure of: which moves are enough, and who wins."""
    memory: int = 1 << 26
    """Bytes that one tree may take."""

    def __post_init__(self) -> None:
        self.search()  # checks what it takes
        bounds = {
            "full_share": (0, 1),
            "fast_visits": (1, 65535),
            "visits": (2, 65535),
            "temperature": (0, 100),
            "temperature_plies": (0.01, 1e9),
            "final_temperature": (0, 100),
            "opening_share": (0, 1),
            "opening_plies": (0, 1000),
            "vary_share": (0, 1),
            "resign": (0, 1),
            "resign_plies": (1, 1000),
            "resign_checked": (0, 1),
            "solve": (0, 10**9),
            "solve_leaves": (0, 2**31 - 1),
            "play_on": (0, 1),
        }
        check_numbers(self, bounds)
        if self.full_share == 0:
            raise ValueError("full_share is 0: then there is nothing to learn from")
        for name, spread in self.vary.items():
            if isinstance(spread, bool) or not isinstance(spread, int | float) or not 0 <= spread <= 1e6:
                raise ValueError(f"the spread of {name} must be a number from 0 to 1e+06")

    def search(self) -> SearchSettings:
        """Of a full search."""
        names = SearchSettings.__dataclass_fields__.keys() & self.__dataclass_fields__.keys() - {"solve"}
        return SearchSettings(solve=self.solve_leaves, **{name: getattr(self, name) for name in names})


def shares(games: int, lanes: int) -> list[int]:
    """How many games each lane has, as even as can be."""
    lanes = min(games, lanes)
    return [games // lanes + (lane < games % lanes) for lane in range(lanes)]


class _Table:
    """A group of games and its lane."""

    def __init__(self, group: _core.SelfPlay, lane: "Lane") -> None:
        self.group = group
        self.lane = lane
        self.submitted = False
        self.seconds_growing = 0.0
        self.seconds_waiting = 0.0
        self.frames: list[bytes] = []
        self.positions = 0  # to learn from, when the trees were last at rest

    def begin(self) -> None:
        """Starts to grow the trees, once the net has answered."""
        began = time.perf_counter()
        if self.submitted:
            self.lane.wait()
        waited = time.perf_counter()
        self.group.begin_step(self.lane.policy, self.lane.value, self.lane.planes)
        self.seconds_waiting += waited - began
        self.seconds_growing += time.perf_counter() - waited

    def end(self) -> None:
        """Waits for the trees, and asks the net."""
        began = time.perf_counter()
        self.group.end_step()
        self.seconds_growing += time.perf_counter() - began
        self.lane.submit()
        self.submitted = True
        self.positions = self.group.positions
        if frames := self.group.take():
            self.frames.append(frames)


class SelfPlay:
    """Games that go on and on. ``play`` runs them for a while and gives the records of those that ended."""

    def __init__(
        self,
        game: Game,
        lanes: "Sequence[Lane]",
        settings: SelfPlaySettings | None = None,
        *,
        encoding: str = "tesuji",
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        """A lane of n answers plays n games at once. With ``threads`` above 1 the core has a crew of that many for the
        trees of all lanes, one of which drives them in turn; with 1 each lane has a thread that does everything."""
        if not lanes:
            raise ValueError("self-play needs at least one lane")
        self.settings = settings or SelfPlaySettings()
        self.resign = self.settings.resign
        crew = _core.Crew(threads)
        self._tables = [
            _Table(
                _core.SelfPlay(
                    game,
                    encoding,
                    asdict(self.settings),
                    len(lane.value),
                    seed + number,
                    crew,
                ),
                lane,
            )
            for number, lane in enumerate(lanes)
        ]
        self._drivers = [self._tables] if threads > 1 else [[table] for table in self._tables]
        self._seconds = 0.0
        self._checked_before: dict[str, float] = {"resign_checked": 0, "resign_wrong": 0}

    @property
    def games(self) -> int:
        """At once."""
        return sum(len(table.group) for table in self._tables)

    def play(
        self,
        *,
        positions: int | None = None,
        seconds: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> bytes:
        """Plays until there are so many more positions to learn from, so many seconds have passed, or ``stop`` says so,
        whichever comes first. Returns the frames of the games that ended; the others go on at the next call."""
        began = time.perf_counter()
        target = None if positions is None else self.positions + positions
        over = threading.Event()

        def go_on() -> bool:
            if (
                over.is_set()
                or (target is not None and self.positions >= target)
                or (seconds is not None and time.perf_counter() - began >= seconds)
                or (stop is not None and stop())
            ):
                over.set()
                return False
            return True

        def drive(tables: list[_Table]) -> None:
            growing: _Table | None = None
            try:
                for table in itertools.cycle(tables):
                    if growing is table:  # there is no other
                        growing.end()
                        growing = None
                    if table is tables[0] and not go_on():
                        break
                    table.begin()
                    if growing is not None:
                        growing.end()
                    growing = table
            finally:
                over.set()  # an error in one thread ends the others
                if growing is not None:
                    growing.end()

        if len(self._drivers) == 1:
            drive(self._drivers[0])
        else:
            with ThreadPoolExecutor(len(self._drivers)) as pool:
                running = [pool.submit(drive, tables) for tables in self._drivers]
                try:
                    for future in running:
                        future.result()
                finally:
                    over.set()  # Ctrl-C in this thread ends them too
        self._seconds += time.perf_counter() - began
        self._check_resigning()
        frames = b"".join(part for table in self._tables for part in table.frames)
        for table in self._tables:
            table.frames.clear()
        return frames

    @property
    def positions(self) -> int:
        """To learn from, since the beginning; those of games under way among them."""
        return sum(table.positions for table in self._tables)

    def set_net(self, steps: int) -> None:
        """Says how many steps of training the net has behind it that new games are played with."""
        for table in self._tables:
            table.group.set_net(steps)

    def counters(self) -> dict[str, float]:
        """Totals since the beginning; seconds are summed over the threads that drive lanes."""
        total: dict[str, float] = {}
        for table in self._tables:
            for name, value in table.group.counters().items():
                total[name] = total.get(name, 0) + value
        total["seconds"] = self._seconds
        total["seconds_growing"] = sum(table.seconds_growing for table in self._tables)
        total["seconds_waiting"] = sum(table.seconds_waiting for table in self._tables)
        return total

    def _check_resigning(self) -> None:
        """Where too many who would have given up did not lose, players give up later from now on."""
        if not self.resign:
            return
        now = self.counters()
        checked, wrong = (now[name] - self._checked_before[name] for name in ("resign_checked", "resign_wrong"))
        if checked < _CHECKED_AT_LEAST:
            return
        self._checked_before = now
        if wrong > RESIGNED_WRONGLY * checked:
            self.resign = (1 + self.resign) / 2
            for table in self._tables:
                table.group.set_resign(self.resign)
