"""How fast rules and search are, beside OpenSpiel in the same process and thread; and a signature of what they do.

Machines are shared and their clocks vary. Each figure is therefore taken in short slices, in turn with the other side
and with a calibration loop of fixed work, and the median slice counts.
"""

import importlib.util
import statistics
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tesuji._core import Game, calibrate
from tesuji.games import game, games
from tesuji.search import Search
from tesuji.selfplay import SelfPlay, SelfPlaySettings, shares

if TYPE_CHECKING:
    from tesuji.evaluate import Kernel, Lane
    from tesuji.nets import NetSettings

__all__ = [
    "RulesSpeed",
    "SearchSpeed",
    "SelfPlaySpeed",
    "bench_rules",
    "bench_search",
    "bench_selfplay",
    "signature",
]

_SLICES = 9

# What OpenSpiel calls our games.
_OPENSPIEL = {
    "ultimate": "ultimate_tic_tac_toe",
    "gomoku3": "tic_tac_toe",
    "gomoku6x4": "gomoku(size=6,connect=4)",
    "gomoku8": "gomoku(size=8,connect=5)",
    "gomoku15": "gomoku(size=15,connect=5)",
    "dots2": "dots_and_boxes(num_rows=2,num_cols=2)",
    "dots2x3": "dots_and_boxes(num_rows=2,num_cols=3)",
    "dots3": "dots_and_boxes(num_rows=3,num_cols=3)",
    "dots3x4": "dots_and_boxes(num_rows=3,num_cols=4)",
    "dots4": "dots_and_boxes(num_rows=4,num_cols=4)",
    "dots5": "dots_and_boxes(num_rows=5,num_cols=5)",
    "go5": "go(board_size=5)",
    "go7": "go(board_size=7)",
    "go9": "go(board_size=9)",
    "go13": "go(board_size=13)",
    "go19": "go(board_size=19)",
}

# Random games a second that throw-away C++ for that one game reached on one core of an EPYC 7003 (2.45 GHz, boosted),
# and the calibration loop's turns a second on such a core when it is quiet.
_LIMITS = {"ultimate": 1.15e6, "dots3": 6.7e6, "go9": 93e3, "nogo9": 176e3, "gomoku8": 2.5e6, "gomoku15": 0.87e6}
_SEARCH_LIMITS = {"ultimate": 0.85e6, "dots3": 2.3e6, "gomoku8": 1.3e6}  # simulations of UCT a second
_CALIBRATION = 245e6


@dataclass(frozen=True, slots=True)
class RulesSpeed:
    """One game's figures: random games a second."""

    game: Game
    playouts: float
    plies: float  # of a playout
    uniform: float  # every legal move as likely as any other
    openspiel: float | None
    limit: float | None  # on this machine at this moment

    @property
    def ratio(self) -> float | None:
        """To OpenSpiel, by the same kind of random play: its rollouts are uniform."""
        ours = self.uniform if self.game.wise_playouts else self.playouts
        return ours / self.openspiel if self.openspiel else None

    @property
    def share(self) -> float | None:
        """Of the limit."""
        return self.playouts / self.limit if self.limit else None


def bench_rules(name: str, *, seconds: float) -> RulesSpeed:
    """Measures one game for about so many seconds a side."""
    g = game(name)
    rollouts = _openspiel_rollouts(name)
    slice_seconds = seconds / _SLICES
    rates: dict[str, list[float]] = {"playouts": [], "plies": [], "uniform": [], "openspiel": [], "calibration": []}
    for number in range(_SLICES):
        rates["calibration"].append(calibrate(min(0.05, slice_seconds)))
        for kind in ("playouts", "uniform"):
            start = time.perf_counter()
            games, plies = g.time_playouts(slice_seconds, seed=number, uniform=kind == "uniform")
            rates[kind].append(games / (time.perf_counter() - start))
            if kind == "playouts":
                rates["plies"].append(plies / games)
        if rollouts:
            rates["openspiel"].append(rollouts(slice_seconds))
    median = {key: statistics.median(values) for key, values in rates.items() if values}
    limit = _LIMITS[name] * median["calibration"] / _CALIBRATION if name in _LIMITS else None
    return RulesSpeed(g, median["playouts"], median["plies"], median["uniform"], median.get("openspiel"), limit)


@dataclass(frozen=True, slots=True)
class SearchSpeed:
    """One game's figures: simulations a second of UCT with random games, from the start of the game."""

    game: Game
    visits: int  # of a search
    simulations: float
    openspiel: float | None
    limit: float | None  # on this machine at this moment
    bytes_a_node: float

    @property
    def ratio(self) -> float | None:
        """To OpenSpiel's MCTSBot."""
        return self.simulations / self.openspiel if self.openspiel else None

    @property
    def share(self) -> float | None:
        """Of the limit."""
        return self.simulations / self.limit if self.limit else None


def bench_search(name: str, visits: int, *, seconds: float) -> SearchSpeed:
    """Measures ``mcts`` with that many visits for about so many seconds a side."""
    g = game(name)
    theirs = _openspiel_search(name, visits)
    rates: dict[str, list[float]] = {"ours": [], "openspiel": [], "calibration": []}
    a_node = 0.0
    # As a player does: one tree, whose memory serves search after search.
    search = Search(g, [g.start()], visits=visits, rule="uct", c=1.0, transpositions=g.transposes)
    for _ in range(_SLICES):
        rates["calibration"].append(calibrate(min(0.05, seconds / _SLICES)))
        done, spent = 0, 0.0
        while spent < seconds / _SLICES:
            search.continue_from(0, g.start())
            start = time.perf_counter()
            search.run("rollout")
            spent += time.perf_counter() - start
            done += visits
        thought = search.thoughts()[0]
        a_node = thought.memory / thought.nodes
        rates["ours"].append(done / spent)
        if theirs:
            rates["openspiel"].append(theirs(seconds / _SLICES))
    median = {key: statistics.median(values) for key, values in rates.items() if values}
    limit = _SEARCH_LIMITS[name] * median["calibration"] / _CALIBRATION if name in _SEARCH_LIMITS else None
    return SearchSpeed(g, visits, median["ours"], median.get("openspiel"), limit, a_node)


@dataclass(frozen=True, slots=True)
class SelfPlaySpeed:
    """Figures of one slice of self-play, a second each, and of the bare net just before it."""

    simulations: float
    evaluations: float
    moves: float
    raw: float  # evaluations of the net alone, by the same lanes
    growing: float  # share of the time in which the driving threads grew trees
    waiting: float  # … and in which they waited for the net

    @property
    def share(self) -> float:
        """Of the net's own speed."""
        return self.evaluations / self.raw

    def __str__(self) -> str:
        return (
            f"{self.simulations:,.0f} simulations/s, {self.evaluations:,.0f} evaluations/s, {self.moves:,.0f} moves/s, "
            f"net alone {self.raw:,.0f}/s, share {self.share:.0%}, growing {self.growing:.0%}, "
            f"waiting {self.waiting:.0%}"
        )


def bench_selfplay(
    name: str,
    *,
    net: "NetSettings | None" = None,
    visits: int = 32,
    games: int = 64,
    lanes: int = 3,
    threads: int = 2,
    device: str = "cpu",
    kernel: "Kernel" = "auto",
) -> Callable[[float], SelfPlaySpeed]:
    """A function that measures self-play with a net of random weights for about so many seconds.

    Slices of the net alone and of self-play alternate, and the median counts, so that a busy machine troubles both.
    """
    from tesuji.evaluate import evaluator
    from tesuji.nets import Net, NetSettings, encoding_for

    g = game(name)
    net = net or NetSettings(channels=64, blocks=4)
    encoding = encoding_for(g, net)
    answers = evaluator(Net(g, net, encoding), g, device=device, kernel=kernel)
    on_cpu = device == "cpu"
    tables = [answers.lane(share) for share in shares(games, lanes)]
    play = SelfPlay(g, tables, SelfPlaySettings(visits=visits), encoding=encoding, threads=1 if on_cpu else threads)
    play.play(seconds=0.5)

    def alone(lane: "Lane", until: float) -> int:
        done = 0
        while not done or time.perf_counter() < until:
            lane.submit()
            lane.wait()
            done += len(lane.value)
        return done

    def raw(seconds: float) -> float:
        if not on_cpu:
            return net_alone(tables, seconds)
        start = time.perf_counter()
        with ThreadPoolExecutor(len(tables)) as pool:
            done = sum(pool.map(lambda lane: alone(lane, start + seconds), tables))
        return done / (time.perf_counter() - start)

    def measure(seconds: float) -> SelfPlaySpeed:
        slices = []
        for _ in range(_SLICES):
            bare = raw(seconds / _SLICES / 2)
            before, start = play.counters(), time.perf_counter()
            while play.counters()["evaluations"] == before["evaluations"]:  # a busy machine may not get to it at once
                play.play(seconds=seconds / _SLICES / 2)
            spent = time.perf_counter() - start
            gain = {key: value - before[key] for key, value in play.counters().items()}
            drivers = len(tables) if on_cpu else 1
            slices.append(
                SelfPlaySpeed(
                    gain["simulations"] / spent,
                    gain["evaluations"] / spent,
                    gain["plies"] / spent,
                    bare,
                    gain["seconds_growing"] / spent / drivers,
                    gain["seconds_waiting"] / spent / drivers,
                )
            )
        return sorted(slices, key=lambda slice_: slice_.share)[_SLICES // 2]

    return measure


def net_alone(lanes: "Sequence[Lane]", seconds: float) -> float:
    """Answers a second of a device when lanes are sent again as soon as they are back."""
    start, done = time.perf_counter(), 0
    for lane in lanes:
        lane.submit()
    while time.perf_counter() < start + seconds:
        for lane in lanes:
            lane.wait()
            lane.submit()
            done += len(lane.value)
    for lane in lanes:
        lane.wait()
    return done / (time.perf_counter() - start)


def signature() -> int:
    """One integer of fixed searches in every game: it changes only when rules or search behave otherwise."""
    seen = 0
    for name in games():
        g = game(name)
        states = [g.random(seed, plies=3 * seed) for seed in (0, 1, 2)]
        states = [state for state in states if state.result is None]
        for rule, evaluator in (("uct", "rollout"), ("puct", "uniform"), ("gumbel", "rollout")):
            search = Search(g, states, seed=7, visits=150, rule=rule, transpositions=g.transposes)
            for thought in search.run("rollout" if evaluator == "rollout" else "uniform").thoughts():
                visits = sorted((action, count) for action, count in thought.visits.items() if count)
                seen = zlib.crc32(repr((name, rule, thought.move, thought.proven, visits)).encode(), seen)
    return seen


def _openspiel_rollouts(name: str) -> Callable[[float], float] | None:
    """A function that measures OpenSpiel's own C++ rollouts a second; None where it is not installed or lacks the game.

    The only way from Python to a loop of rollouts that stays in C++ is to ask its search bot for one simulation with
    many rollouts.
    """
    if name not in _OPENSPIEL or importlib.util.find_spec("pyspiel") is None:
        return None
    import pyspiel

    theirs = pyspiel.load_game(_OPENSPIEL[name])

    def measure(seconds: float) -> float:
        count, spent = 1, 0.0
        while spent < seconds:
            if spent:
                count = max(2 * count, int(count * seconds / spent))
            bot = pyspiel.MCTSBot(theirs, pyspiel.RandomRolloutEvaluator(count, 1), 1.0, 1, 100, False, 1, False)
            start = time.perf_counter()
            bot.step(theirs.new_initial_state())
            spent = time.perf_counter() - start
        return count / spent

    return measure


def _openspiel_search(name: str, visits: int) -> Callable[[float], float] | None:
    """A function that measures simulations a second of OpenSpiel's MCTSBot with random rollouts, in C++."""
    if name not in _OPENSPIEL or importlib.util.find_spec("pyspiel") is None:
        return None
    import pyspiel

    theirs = pyspiel.load_game(_OPENSPIEL[name])

    def measure(seconds: float) -> float:
        done, spent = 0, 0.0
        while spent < seconds:
            evaluator = pyspiel.RandomRolloutEvaluator(1, 1 + done)
            bot = pyspiel.MCTSBot(theirs, evaluator, 1.0, visits, 1000, False, 1 + done, False)
            start = time.perf_counter()
            bot.step(theirs.new_initial_state())
            spent += time.perf_counter() - start
            done += visits
        return done / spent

    return measure
