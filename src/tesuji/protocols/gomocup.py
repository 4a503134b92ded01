"""Guests that speak the protocol of Gomocup (piskvork): freestyle Gomoku, five in a row, on boards of any size.

Cells are x,y from 0,0 at the top left.
"""

import re

from tesuji._core import Game, State
from tesuji.players import Forfeit, check_ongoing
from tesuji.protocols.engine import PATIENCE, Engine
from tesuji.thought import Thought

__all__ = ["GomocupPlayer"]


class GomocupPlayer:
    """A program that is run and asked for moves. ``seconds``: that it may take for a move."""

    keeps_time = True

    def __init__(self, game: Game, command: str, *, seconds: float | None = None) -> None:
        # The protocol has no word for rows of another length than five.
        if not re.fullmatch(r"gomoku\d+", game.name) or min(game.rows, game.cols) < 5:
            raise ValueError(f"a Gomocup program plays Gomoku with five in a row, such as gomoku15, not {game.name}")
        self._game = game
        self._engine = Engine(command)
        self._seconds = PATIENCE if seconds is None else seconds
        self._seen: list[int] = []  # the actions up to and with its own last move

    def think(self, state: State) -> Thought:
        """Tells the guest what it has not seen, and reads its move. Raises Forfeit if it cannot answer."""
        check_ongoing(state)
        try:
            action = self._answer(state)
        except Forfeit:
            self._engine.close()
            raise
        self._seen = [*state.history, action]
        return Thought(action, self._game.text(action))

    def close(self) -> None:
        """Ends the program. It starts anew when it is asked again."""
        self._engine.close("END")

    def _answer(self, state: State) -> int:
        history = state.history
        following = len(history) == len(self._seen) + 1 and history[:-1] == self._seen
        if self._engine.running and self._seen and following:
            self._engine.allow(self._seconds)
            self._engine.send(f"TURN {self._cell(history[-1])}")
            return self._move()
        # Anything else begins anew, in a process of its own: not every program understands RESTART.
        self._engine.close("END")
        self._engine.allow(self._seconds)
        rows, cols = self._game.rows, self._game.cols
        self._engine.send(f"START {rows}" if rows == cols else f"RECTSTART {cols},{rows}")
        answer = self._line()
        if answer.upper() != "OK":
            raise Forfeit(f"answered {answer[:40]!r} to START, not OK")
        # It is told a little less than it has, since clocks differ.
        self._engine.send(f"INFO timeout_turn {int(self._seconds * 900)}")
        self._engine.send("INFO timeout_match 0\nINFO max_memory 0\nINFO game_type 1\nINFO rule 0")
        self._engine.allow(self._seconds)
        self._engine.send(self._board(state) if history else "BEGIN")
        return self._move()

    def _board(self, state: State) -> str:
        """Every stone so far in its order: 1 the guest's own, 2 the other's."""
        lines = ["BOARD"]
        position = self._game.start()
        for action in state.history:
            lines.append(f"{self._cell(action)},{1 if position.to_play == state.to_play else 2}")
            position = position.play(action)
        return "\n".join([*lines, "DONE"])

    def _cell(self, action: int) -> str:
        cell = self._game.locate(action)
        assert cell is not None
        row, col = divmod(cell, self._game.cols)
        return f"{col},{row}"

    def _move(self) -> int:
        answer = self._line()
        found = re.fullmatch(r"(\d{1,4})\s*,\s*(\d{1,4})", answer)
        if found is None:
            raise Forfeit(f"answered {answer[:40]!r}, which is no move x,y")
        col, row = map(int, found.groups())
        if row >= self._game.rows or col >= self._game.cols:
            raise Forfeit(f"made an illegal move: {answer[:40]} is not on the board")
        return self._game.parse(self._text(row, col))

    def _text(self, row: int, col: int) -> str:
        return f"{chr(ord('a') + col)}{self._game.rows - row}"

    def _line(self) -> str:
        """The next line that says something: programs may chat in between."""
        while True:
            line = self._engine.line().strip()
            if line and not line.upper().startswith(("MESSAGE", "DEBUG", "SUGGEST")):
                return line
