"""The C++ core of Tesuji: games, searches, self-play."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import numpy.typing
from numpy.typing import NDArray


class IllegalMove(ValueError):
    """A move that the rules do not allow here."""

class Game:
    """
    A game with its rule numbers set. A value: equal if name and numbers are.
    """

    def __init__(self, name: str, numbers: dict[str, float] = {}) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str:
        """The game's name for people."""

    @property
    def version(self) -> int:
        """Raised when rules or planes change."""

    @property
    def rows(self) -> int: ...

    @property
    def cols(self) -> int: ...

    @property
    def look(self) -> str:
        """'crossings', 'cells' or 'edges'."""

    @property
    def block(self) -> int:
        """Cells between the rules of the drawing; 0 where there are none."""

    @property
    def actions(self) -> int:
        """How many actions there are."""

    @property
    def max_plies(self) -> int:
        """No game is longer."""

    @property
    def numbers(self) -> dict[str, float]:
        """The rule numbers, such as komi."""

    @property
    def number_ranges(self) -> dict[str, tuple[float, float, float, float, str]]:
        """
        Of each rule number: its default, the least, the most, the step between, and what it means.
        """

    @property
    def symmetries(self) -> int:
        """How many symmetries the game has, the identity among them."""

    @property
    def scored(self) -> bool:
        """Whether states have a score."""

    @property
    def owned(self) -> bool:
        """Whether states have an ownership."""

    @property
    def transposes(self) -> bool:
        """Whether equal states often come about by other orders of moves."""

    @property
    def wise_playouts(self) -> bool:
        """Whether playouts are wiser than uniformly random play."""

    @property
    def encodings(self) -> list[str]:
        """
        The names that planes(…) takes: 'tesuji'; 'paper' where a study has its own; 'boards' of small boards.
        """

    def plane_names(self, encoding: str = 'tesuji') -> list[str]:
        """What each plane shows, in order."""

    def packed_words(self, encoding: str = 'tesuji') -> int:
        """How many 64-bit words a packed position has."""

    def scalar_count(self, encoding: str = 'tesuji') -> int:
        """
        How many of the planes, the last ones, are a number spread over a whole plane.
        """

    def unpack(self, packed: numpy.typing.NDArray[numpy.uint64], encoding: str = 'tesuji', out: numpy.typing.NDArray[numpy.float32] | None = None) -> numpy.typing.NDArray[numpy.float32]:
        """
        [positions, planes, rows, cols] of packed positions [positions, packed_words].
        """

    def ownable(self) -> NDArray[numpy.uint8]:
        """[rows, cols]: 1 where a cell can have an owner."""

    def start(self) -> State:
        """The state before the first move."""

    def replay(self, moves: str | Iterable[int | str]) -> State:
        """The state after the moves: a list, or a text such as 'e5 c3'."""

    def random(self, seed: int, plies: int | None = None) -> State:
        """
        A state after uniformly random legal moves: so many plies, or to the end.
        """

    def parse(self, text: str) -> int:
        """The action that a text names."""

    def text(self, action: int | str) -> str:
        """The text of an action."""

    def locate(self, action: int | str) -> int | None:
        """The action's cell, by rows from the top left; None off the board."""

    def permutation(self, symmetry: int) -> numpy.typing.NDArray[numpy.int32]:
        """[actions]: where a symmetry carries each action."""

    def perft(self, depth: int) -> int:
        """How many move sequences of that length there are."""

    def playouts(self, games: int, *, seed: int = 0, uniform: bool = False) -> numpy.typing.NDArray[numpy.int8]:
        """[games]: results of random games from the start."""

    def time_playouts(self, seconds: float, *, seed: int = 0, uniform: bool = False) -> tuple[int, int]:
        """Random games for so many seconds: their number and their plies."""

    def broken_laws(self, games: int = 20, *, seed: int = 0) -> list[str]:
        """A sentence for each law of games that random play shows broken."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[type[Game], tuple[object, ...]]: ...

class State:
    """A state of a game. A value: play gives a new one."""

    def __init__(self, game: Game, moves: str | Iterable[int | str] = ()) -> None: ...

    @property
    def game(self) -> Game: ...

    @property
    def history(self) -> list[int]:
        """The actions that led here."""

    @property
    def to_play(self) -> int:
        """0 First, 1 Second."""

    @property
    def result(self) -> int | None:
        """+1 First won, 0 drawn, −1 Second won; None while the game goes on."""

    @property
    def score(self) -> float | None:
        """First's margin as the board stands; None where the game has none."""

    def ownership(self) -> NDArray[numpy.int8] | None:
        """
        [rows, cols]: +1 First's, −1 Second's, 0 nobody's, as the board stands; None where the game has none.
        """

    def legal(self) -> list[int]:
        """The legal actions, ascending; none at the end."""

    def moves(self) -> list[str]:
        """The legal moves, as texts."""

    def play(self, move: int | str) -> State:
        """The state after a move, which is a text or an action."""

    def planes(self, encoding: str = 'tesuji', out: numpy.typing.NDArray[numpy.float32] | None = None) -> numpy.typing.NDArray[numpy.float32]:
        """[planes, rows, cols]: what a network sees, from the mover's side."""

    def packed(self, encoding: str = 'tesuji') -> numpy.typing.NDArray[numpy.uint64]:
        """[packed_words]: the same packed, a bit a cell."""

    def glyphs(self) -> list[str]:
        """A character a cell, a text a row."""

    def line(self) -> list[int]:
        """The cells of the row that won; none where no row decides."""

    def diagram(self) -> str:
        """The board in characters."""

    def carried(self, symmetry: int) -> State:
        """
        The state that the same game leads to when a symmetry carries every move.
        """

    def perft(self, depth: int) -> int:
        """How many move sequences of that length begin here."""

    def playouts(self, games: int, *, seed: int = 0, uniform: bool = False) -> numpy.typing.NDArray[numpy.int8]:
        """[games]: results of random games from here."""

    def expected_ownership(self, games: int, *, seed: int = 0) -> numpy.typing.NDArray[numpy.float32] | None:
        """
        [rows, cols] in [−1, 1], for First: who owns each cell at the end of random games from here, on average; None where the game has none.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[type[State], tuple[object, ...]]: ...

def calibrate(seconds: float) -> float:
    """
    Turns a second of a loop of fixed work: how fast this core is right now.
    """

def game_names() -> list[str]:
    """The names of all games."""

class Forest:
    """
    Many searches in step: `tesuji.Search` and the players are built on it.
    """

    def __init__(self, game: Game, states: list[State], settings: dict[str, object], seed: int, threads: int) -> None: ...

    def __len__(self) -> int: ...

    def collect(self) -> int:
        """Grows every tree to new leaves; how many wait for an answer."""

    def planes(self, encoding: str = 'tesuji') -> numpy.typing.NDArray[numpy.float32]:
        """
        [leaves, planes, rows, cols]: what a network sees of the waiting leaves.
        """

    def deliver(self, policy: numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32]) -> None:
        """
        Logits [leaves, actions] and values [leaves], each for the leaf's mover.
        """

    def run(self, evaluator: str, rollouts: int = 1, seconds: float = 1e9) -> bool:
        """
        Searches with an evaluator of the core ('rollout' or 'uniform') for at most so many seconds; whether all searches have ended.
        """

    def run_net(self, net: CpuNet, encoding: str, seconds: float) -> bool:
        """
        Searches with a net of the core for at most so many seconds; whether all searches have ended.
        """

    def restart(self, tree: int, state: State, moves_since: Sequence[int]) -> None:
        """
        Another search in that tree; what the moves since its root lead to is kept.
        """

    def extend(self, tree: int, visits: int, seconds: float) -> None:
        """
        Goes on in that tree, up to so many visits of its root and for so many seconds (0: no limit).
        """

    def report(self, tree: int) -> list[tuple[int, int, float, float, float, int | None, list[int]]]:
        """
        The root's moves, best first: action, visits, value for First, prior, improved policy, proven result, line.
        """

    def root(self, tree: int) -> tuple[int, float, int | None, int | None, str, int, int]:
        """
        Of the root: visits, value for First, proven result, plies to it where known, what ended the search, nodes, bytes.
        """

    def depth(self, tree: int) -> tuple[int, float]:
        """
        Plies from a tree's root to its farthest node, and of a visit on average.
        """

class DotsTable:
    """Visits and wins of every set of edges of Dots and Boxes."""

    def __init__(self, game: Game, model: str) -> None: ...

    def train(self, end: int, exploration: float, seed: int, threads: int) -> list[int]:
        """
        Plays the games up to this number; First's wins, draws, Second's wins, plies.
        """

    @property
    def trained(self) -> int:
        """How many games it was trained with."""

    @trained.setter
    def trained(self, arg: int, /) -> None: ...

    @property
    def words(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        [2^edges], the memory itself: visits in the low half of a word, wins in the high half.
        """

def dots_boxes(game: Game) -> list[int]:
    """The four edges of each box, as a set of bits."""

def solve(state: State, *, nodes: int, seconds: float, table: bool = True) -> dict[str, Any]:
    """
    What best play by both leads to; tesuji.exact.solve says it in a better form. table=False searches Dots and Boxes where a table would know.
    """

def settle(state: State, nodes: int) -> int | None:
    """
    The result of best play and nothing more, or None where so many nodes do not tell.
    """

def effort(state: State) -> float:
    """
    About how many nodes it takes to settle a position; infinity where no solver is worth a try.
    """

def dots_margins(game: Game) -> numpy.typing.NDArray[numpy.int8]:
    """
    [2^edges]: the best margin for the mover over the rest of a game of Dots and Boxes, for every set of drawn edges (edge e is bit e). Shared and read-only.
    """

class AlphaBeta:
    """The engine behind the player of that name."""

    def __init__(self, game: Game) -> None: ...

    def think(self, state: State, *, depth: int | None = None, nodes: int | None = None, seconds: float | None = None) -> dict[str, Any]:
        """
        action, value (First's), proven, plies_to_end, depth, nodes, line and visits; stops at the first limit.
        """

def heuristic(state: State) -> float | None:
    """
    The game's guess at First's value, within (−1, 1); None where it has none.
    """

def candidates(state: State) -> tuple[list[int], bool]:
    """
    The moves worth looking at, and whether a best one is surely among them.
    """

def verdict(state: State) -> tuple[int, int, int, int | None] | None:
    """
    What the game knows for sure without a search: the least and the most that First's result can be with best play, plies to the end (0: unknown), a move that leads there or None; None where it can tell nothing.
    """

class Crew:
    """Threads of the core that share out work."""

    def __init__(self, threads: int) -> None: ...

    @property
    def threads(self) -> int: ...

class SelfPlay:
    """Many endless games in step: `tesuji.SelfPlay` drives it."""

    def __init__(self, game: Game, encoding: str, settings: dict[str, object], games: int, seed: int, crew: Crew) -> None: ...

    def __len__(self) -> int: ...

    @property
    def positions(self) -> int:
        """To learn from, since the beginning."""

    def begin_step(self, policy: numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32], planes: numpy.typing.NDArray[numpy.uint64]) -> None:
        """
        Takes the answers to the last leaves (none at the first step) and writes the planes of the next, while the caller goes on; the arrays must stay until end_step.
        """

    def end_step(self) -> None:
        """Returns when the planes are written."""

    def take(self) -> bytes:
        """Frames of the games that ended since the last call."""

    def set_net(self, steps: int) -> None: ...

    def set_resign(self, value: float) -> None: ...

    def counters(self) -> dict[str, float]:
        """Totals since the beginning."""

class Window:
    """The records to learn from: `tesuji.replay.Window` is built on it."""

    def __init__(self, game: Game, encoding: str, value_mix: float, value_plies: float) -> None: ...

    @property
    def games(self) -> int: ...

    @property
    def positions(self) -> int: ...

    @property
    def net(self) -> float:
        """The steps of training behind the nets of its games, on average."""

    @property
    def digest(self) -> int:
        """Stands for the contents: equal records in equal order give equal ones."""

    def append(self, frames: bytes, crew: Crew) -> None: ...

    def trim(self, positions: int) -> None: ...

    def sample(self, seed: int, crew: Crew, planes: numpy.typing.NDArray[numpy.uint64], policy: numpy.typing.NDArray[numpy.float32], wdl: numpy.typing.NDArray[numpy.float32], score: numpy.typing.NDArray[numpy.float32], ownership: numpy.typing.NDArray[numpy.int8], aux_weight: numpy.typing.NDArray[numpy.float32]) -> None:
        """Fills the arrays with positions, each as likely as any other."""

def scan_frames(frames: bytes) -> tuple[int, int, int]:
    """Of the whole, sound frames at the start: bytes, games, positions."""

def read_frames(game: Game, frames: bytes) -> list[dict[str, object]]:
    """The records in frames, each a dict."""

class CpuNet:
    """A net on the CPU. Several threads may ask at once."""

    def answer(self, planes: numpy.typing.NDArray[numpy.float32], policy: numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32]) -> None:
        """Writes logits and values of planes [n, C, H, W]."""

    def answer_packed(self, game: Game, encoding: str, planes: numpy.typing.NDArray[numpy.uint64], policy: numpy.typing.NDArray[numpy.float32], value: numpy.typing.NDArray[numpy.float32]) -> None:
        """The same of packed planes [n, words]."""

class ResidualNet(CpuNet):
    """A residual net, by Winograd's convolutions."""

    def __init__(self, *, rows: int, cols: int, planes: int, channels: int, blocks: int, policy: int, value: int, hidden: int, off_board: int, order: list[int], weights: list[numpy.typing.NDArray[numpy.float32]]) -> None:
        """Weights in the order of net/residual.hpp."""

class MosaicNet(CpuNet):
    """A net for small boards of 3 × 3 cells, which it looks up in a table."""

    def __init__(self, *, down: int, across: int, first: int, features: int, hidden: int, last: int, order: list[int], weights: list[numpy.typing.NDArray[numpy.float32]]) -> None:
        """Weights in the order of net/mosaic.hpp."""
