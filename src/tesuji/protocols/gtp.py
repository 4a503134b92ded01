"""Guests that speak GTP, the Go Text Protocol (version 2): Go, NoGo and Gomoku.

The referee is our State: the guest is told each move and asked for its own; what it thinks of the score is not asked.
GTP's B and W are our First and Second; its columns skip the letter I in every game.
"""

from tesuji._core import Game, State
from tesuji.players import Forfeit, check_ongoing
from tesuji.protocols.engine import PATIENCE, Engine
from tesuji.protocols.vertices import COLOURS, has_vertices, vertices
from tesuji.thought import Thought

__all__ = ["GtpPlayer"]


class GtpPlayer:
    """A program that is run and asked for moves. ``seconds``: that it may take for a move."""

    keeps_time = True

    def __init__(self, game: Game, command: str, *, seconds: float | None = None) -> None:
        if not has_vertices(game):
            raise ValueError(f"a GTP program plays Go, NoGo and Gomoku, not {game.name}")
        self._game = game
        self._engine = Engine(command)
        self._seconds = PATIENCE if seconds is None else seconds
        # What it is told of the limit, where one is set: whole seconds, and a little less than it has. Clocks differ.
        self._told = None if seconds is None else max(1, int(seconds * 0.9))
        self._seen: list[int] = []  # the actions that it has been told, or has made
        self._vertices = vertices(game)
        self._actions = {vertex: action for action, vertex in enumerate(self._vertices)}

    def think(self, state: State) -> Thought:
        """Tells the guest what it has not seen, and asks for its move. Raises Forfeit if it cannot answer."""
        check_ongoing(state)
        try:
            self._engine.allow(self._seconds)
            self._tell(state)
            self._engine.allow(self._seconds)
            if self._told is not None:
                self._exchange(f"time_left {COLOURS[state.to_play]} {self._told} 1")
            answer = self._ask(f"genmove {COLOURS[state.to_play]}").upper()
            if answer == "RESIGN":
                raise Forfeit("resigned")
            if answer not in self._actions:
                what = "passed, which is not possible here" if answer == "PASS" else f"answered {answer[:40]!r}"
                raise Forfeit(f"made an illegal move: it {what}")
        except Forfeit:
            self._engine.close()
            raise
        action = self._actions[answer]
        self._seen = [*state.history, action]
        return Thought(action, self._game.text(action))

    def close(self) -> None:
        """Ends the program. It starts anew when it is asked again."""
        self._engine.close("quit")

    def _tell(self, state: State) -> None:
        """Brings the guest's board to the state."""
        history = state.history
        if not self._engine.running:
            self._ask(f"boardsize {self._game.rows}")
            self._clear()
        elif history[: len(self._seen)] != self._seen:
            self._clear()
        position = self._game.replay(self._seen)
        for action in history[len(self._seen) :]:
            self._ask(f"play {COLOURS[position.to_play]} {self._vertices[action]}")
            self._seen.append(action)
            position = position.play(action)

    def _clear(self) -> None:
        self._seen = []
        self._ask("clear_board")
        if "komi" in self._game.numbers:
            self._ask(f"komi {self._game.numbers['komi']:g}")
        if self._told is not None:
            # No main time, and so many seconds for every stone. Not every program knows the command.
            self._exchange(f"time_settings 0 {self._told} 1")

    def _ask(self, command: str) -> str:
        """The answer to a command that it must understand."""
        understood, answer = self._exchange(command)
        if not understood:
            raise Forfeit(f"refused {command!r}: {answer[:80] or 'it did not say why'}")
        return answer

    def _exchange(self, command: str) -> tuple[bool, str]:
        """Whether it understood a command, and its answer: after = or ?, up to an empty line."""
        self._engine.send(command)
        line = self._engine.line()
        while not line.strip():
            line = self._engine.line()
        first, rest = line[0], line[1:].strip()
        if first not in "=?":
            raise Forfeit(f"answered {line[:40]!r} to {command!r}, which is not GTP")
        while self._engine.line().strip():
            pass
        return first == "=", rest
