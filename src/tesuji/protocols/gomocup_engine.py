"""Our players as a Gomocup engine (the protocol of Piskvork): freestyle Gomoku, five in a row.

Cells are x,y from 0,0 at the top left. Nothing is played unless a command asks for it. Only ``END`` and the end of the
input end it.
"""

import random
import re
import sys
import traceback
from collections.abc import Callable
from typing import BinaryIO, TextIO

from tesuji import __version__
from tesuji._core import Game, State
from tesuji.games import games
from tesuji.players import Forfeit
from tesuji.protocols.clock import Clock, TimeControl
from tesuji.protocols.lines import Lines
from tesuji.protocols.setup import placed
from tesuji.protocols.thinker import Thinker

__all__ = ["GomocupEngine"]

_AT_ONCE = 0.05  # seconds: what "as fast as possible" (timeout_turn 0) is taken for
_MEMORY = 1 << 28
_RULES = {1: "exactly five in a row", 4: "Renju", 8: "Caro"}  # bits of INFO rule that we do not play
_EVEN = 0.2  # swap2: a value that is smaller is no reason to choose a side
_OPENINGS = 6  # swap2: first three stones that are looked at


class GomocupEngine:
    """One board, one player, and the commands that concern them."""

    def __init__(self, player: str = "", *, threads: int = 1, seed: int = 0) -> None:
        """``player``: its text; without one, the best that is at hand for the board."""
        self._text = player
        self._threads, self._seed = threads, seed
        self._memory = _MEMORY
        self._thinker: Thinker | None = None
        self._board: State | None = None
        self._clock = Clock()
        self._turn: float | None = None  # seconds a move; None: nothing was said
        self._match = 0.0
        self._left: float | None = None  # as the manager counts it
        self._rule = 0
        self._dice = random.Random(seed)
        self._lines: Lines | None = None
        self._commands: dict[str, Callable[[str], str | None]] = {
            "START": self._start,
            "RECTSTART": self._rectstart,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._answer_turn,
            "BOARD": self._answer_board,
            "SWAP2BOARD": self._swap2,
            "TAKEBACK": self._takeback,
            "INFO": self._info,
            "ABOUT": lambda _: f'name="Tesuji", version="{__version__}", author="the authors of Tesuji"',
            "END": lambda _: None,
        }

    def serve(self, source: BinaryIO, out: TextIO) -> None:
        """Answers commands until ``END`` or the end of the input."""
        self._lines = Lines(source)
        try:
            while (line := self._lines.next()) is not None:
                name, _, rest = line.strip().partition(" ")
                answer = self._handle(name.upper(), rest.strip()) if name else None
                if answer is not None:
                    out.write(answer + "\n")
                    out.flush()
                if name.upper() == "END":
                    return
        finally:
            self._lines.close()

    def _handle(self, name: str, rest: str) -> str | None:
        if name not in self._commands:
            return f"UNKNOWN {''.join(filter(str.isprintable, name))[:30]}"
        try:
            return self._commands[name](rest)
        except (ValueError, Forfeit) as refusal:
            return f"ERROR {refusal}"
        except Exception as trouble:  # whatever it is, the manager must not lose its engine
            traceback.print_exc(file=sys.stderr)
            return f"ERROR this should not happen: {type(trouble).__name__}"

    # ── The board ──

    def _start(self, rest: str) -> str:
        for name in games():
            game = Game(name)
            fits = re.fullmatch(r"gomoku\d+", name) and game.rows == game.cols >= 5
            if fits and rest == str(game.rows):
                self._thinker = self._made(game)
                return self._restart("")
        self._board = None
        raise ValueError("unsupported size")

    def _made(self, game: Game) -> Thinker:
        return Thinker(game, self._text, threads=self._threads, memory=self._memory, seed=self._seed)

    def _rectstart(self, rest: str) -> str:
        width, _, height = rest.partition(",")
        return self._start(width.strip() if width.strip() == height.strip() else "")

    def _restart(self, rest: str) -> str:
        self._board = self._ready().game.start()
        self._left = None
        self._set_clock()
        return "OK"

    def _ready(self) -> Thinker:
        if self._thinker is None:
            raise ValueError("there is no board: send START first")
        return self._thinker

    def _state(self) -> State:
        self._ready()
        if self._board is None:
            raise ValueError("there is no board: send START first")
        return self._board

    def _action(self, cell: str) -> int:
        found = re.fullmatch(r"(\d{1,4})\s*,\s*(\d{1,4})", cell.strip())
        game = self._ready().game
        if found is None:
            raise ValueError(f"{cell[:20]!r} is no cell: write x,y")
        col, row = map(int, found.groups())
        if col >= game.cols or row >= game.rows:
            raise ValueError(f"{col},{row} is not on the board")
        return row * game.cols + col  # in Gomoku actions are cells

    def _cell(self, action: int) -> str:
        row, col = divmod(action, self._ready().game.cols)
        return f"{col},{row}"

    def _data(self) -> list[str]:
        """The lines up to DONE."""
        assert self._lines is not None
        found: list[str] = []
        while (line := self._lines.next()) is not None:
            if line.strip().upper() == "DONE":
                return found
            if line.strip() and len(found) < 10_000:
                found.append(line.strip())
        raise ValueError("the input ended before DONE")

    # ── Moves ──

    def _begin(self, rest: str) -> str:
        if self._state().history:
            raise ValueError("the board is not empty")
        return self._move(self._state())

    def _answer_turn(self, rest: str) -> str:
        return self._move(self._state().play(self._action(rest)))

    def _answer_board(self, rest: str) -> str:
        lines = self._data()
        game = self._ready().game
        own: list[int] = []
        others: list[int] = []
        for line in lines:
            cell, _, who = line.rpartition(",")
            if who.strip() not in ("1", "2"):
                raise ValueError(f"{line[:20]!r} is no stone: write x,y,1 (yours) or x,y,2")
            (own if who.strip() == "1" else others).append(self._action(cell))
        if len(others) not in (len(own), len(own) + 1):
            raise ValueError("it is not our turn on such a board")
        first, second = (own, others) if len(own) == len(others) else (others, own)
        return self._move(placed(game, first, second))

    def _move(self, state: State) -> str:
        """Our move on a board, which is played."""
        if wish := ", ".join(name for bit, name in _RULES.items() if self._rule & bit):
            raise ValueError(f"this program plays freestyle Gomoku alone, not {wish}")
        if state.result is not None:
            raise ValueError("the game is over")
        thinker = self._ready()
        if self._left is not None:
            self._clock.tell(state.to_play, self._left)
            self._left = None
        self._clock.start()
        thought = thinker.think(state, self._clock.budget(state))
        self._clock.stop(state.to_play)
        self._board = state.play(thought.action)
        return self._cell(thought.action)

    def _takeback(self, rest: str) -> str:
        state = self._state()
        if state.history[-1:] != [self._action(rest)]:
            raise ValueError("that is not the last move: only the last can be taken back")
        self._board = state.game.replay(state.history[:-1])
        return "OK"

    # ── Swap2: three stones, and then a choice ──

    def _swap2(self, rest: str) -> str:
        """Leaves the board as it was: the manager sends it anew when the sides are chosen."""
        lines = self._data()
        thinker = self._ready()
        moves = [self._action(line) for line in lines]
        if len(moves) not in (0, 3, 5):
            raise ValueError(f"swap2 has 0, 3 or 5 stones, not {len(moves)}")
        if not moves:
            return " ".join(map(self._cell, self._even_opening(thinker)))
        state = thinker.game.replay(moves)
        if state.result is not None:
            raise ValueError("the game is over")
        seconds = self._clock.budget(state)
        thought = thinker.think(state, seconds)
        value = thought.value or 0.0  # First's, who is Black
        if value > (_EVEN if len(moves) == 3 else 0):
            return "SWAP"
        following = [thinker.game.parse(move) for move in thought.lines[0].moves[:2]] if thought.lines else []
        if len(moves) == 3 and value > -_EVEN and len(following) == 2:
            return " ".join(map(self._cell, following))
        return self._cell(thought.action)

    def _even_opening(self, thinker: Thinker) -> list[int]:
        """Of a few threes of stones near the middle the one that looks most even."""
        game = thinker.game
        rows = range(game.rows // 2 - 3, game.rows // 2 + 3)
        cells = [row * game.cols + col for row in rows for col in rows]
        openings = [self._dice.sample(cells, 3) for _ in range(_OPENINGS)]
        seconds = self._clock.budget(game.start()) or 1.0
        values = [thinker.think(game.replay(opening), seconds / _OPENINGS).value or 0.0 for opening in openings]
        return min(zip(openings, values, strict=True), key=lambda pair: abs(pair[1]))[0]

    # ── What the manager tells ──

    def _info(self, rest: str) -> str | None:
        """It is never answered; what is not understood is left alone."""
        key, _, text = rest.partition(" ")
        if not re.fullmatch(r"-?\d{1,18}", text.strip()):
            return None
        number, key = int(text), key.lower()
        if key == "timeout_turn":
            self._turn = max(0, number) / 1000 or _AT_ONCE
        elif key == "timeout_match":
            self._match = max(0, number) / 1000
        elif key == "time_left":
            self._left = min(max(0, number) / 1000, 1e9)
            return None
        elif key == "max_memory":
            # Half of it for the tree; the rest of the program needs some too.
            self._memory = min(_MEMORY, max(1 << 22, number // 2)) if number > 0 else _MEMORY
            self._thinker = self._thinker and self._made(self._thinker.game)
            return None
        elif key == "rule":
            self._rule = number
            return None
        else:
            return None
        self._set_clock()
        return None

    def _set_clock(self) -> None:
        # A match without a limit is told as 0 or as years; a clock counts no further than that.
        main = self._match if self._match < 1e6 else 0.0
        self._clock.set(TimeControl(main=main, turn=min(self._turn or 0.0, 1e6)))
