"""Our players as a GTP engine (version 2): Go, NoGo and Gomoku for Sabaki, GoGui and whatever speaks it.

Black is First. Nothing is played unless a command says so. Only ``quit`` and the end of the input end it.
"""

import re
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, TextIO

from tesuji import __version__
from tesuji._core import Game, State
from tesuji.games import family, games
from tesuji.players import Forfeit
from tesuji.protocols import sgf
from tesuji.protocols.clock import Clock, TimeControl
from tesuji.protocols.lines import Lines
from tesuji.protocols.setup import placed, turned
from tesuji.protocols.thinker import Thinker
from tesuji.protocols.vertices import COLUMNS, has_vertices, vertices
from tesuji.thought import Line, Thought

__all__ = ["GtpEngine"]

_SLICE = 0.1  # seconds of an analysis between two looks at the input
_SIDES = {"b": 0, "black": 0, "w": 1, "white": 1}
_TITLES = {"go": "Go", "nogo": "NoGo", "gomoku": "Gomoku"}
_STYLES = (
    "",
    "lz-",
    "kata-",
)  # of telling an analysis: Leela Zero's, or KataGo's, which is also the one without a name


class GtpEngine:
    """One board, one player, and the commands that concern them."""

    def __init__(
        self,
        game: Game,
        player: str = "",
        *,
        threads: int = 1,
        memory: int = 1 << 28,
        resign: float = 0.0,
        seed: int = 0,
    ) -> None:
        """``resign``: it gives up when its value is below −resign; 0: never."""
        if not has_vertices(game):
            raise ValueError(f"GTP has words for Go, NoGo and Gomoku, not for {game.name}")
        if not 0 <= resign <= 1:
            raise ValueError(f"resign is {resign:g}: give a number from 0 to 1")
        self._text = player
        self._made = {"threads": threads, "memory": memory, "seed": seed}
        self._thinker = Thinker(game, player, **self._made)
        self._resign = resign
        self._clock = Clock()
        self._komi: float | None = None  # that was asked for
        self._lines: Lines | None = None
        self._out: TextIO = sys.stdout
        self._set_game(game)
        self._commands = self._known()
        self._streams = self._known_streams()

    # ── The protocol ──

    def serve(self, source: BinaryIO, out: TextIO) -> None:
        """Answers commands until ``quit`` or the end of the input."""
        self._lines, self._out = Lines(source), out
        try:
            while (line := self._lines.next()) is not None:
                if not self._handle(line):
                    return
        finally:
            self._lines.close()

    def _handle(self, line: str) -> bool:
        """Answers one line; whether to go on."""
        line = re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", "", line.partition("#")[0]).replace("\t", " ").strip()
        if not line:
            return True
        found = re.match(r"([0-9]{1,20})(?:\s+|$)", line)
        number, rest = (found[1], line[found.end() :]) if found else ("", line)
        name, *arguments = rest.split() or [""]
        name = name.lower()
        try:
            if name in self._streams:
                self._stream(self._streams[name](arguments), number)
                return True
            if name not in self._commands:
                raise ValueError("unknown command")
            answer = f"={number} {self._commands[name](arguments)}"
        except (ValueError, Forfeit) as refusal:
            answer = f"?{number} {refusal}"
        except BrokenPipeError:
            raise
        except Exception as trouble:  # whatever it is, the other program must not lose its engine
            traceback.print_exc(file=sys.stderr)
            answer = f"?{number} this should not happen: {type(trouble).__name__}"
        self._say(re.sub(r"\n\s*\n", "\n", answer).rstrip() + "\n\n")
        return name != "quit"

    def _say(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()

    def _stream(self, run: Callable[[], None], number: str) -> None:
        """An answer that grows line by line."""
        self._say(f"={number}\n")
        try:
            run()
        except (ValueError, Forfeit) as refusal:  # too late for a "?"
            print(f"tesuji: {refusal}", file=sys.stderr)
        self._say("\n")

    def _known_streams(self) -> dict[str, Callable[[list[str]], Callable[[], None]]]:
        """Commands that go on: each is looked at first, and gives what is to be done after its "="."""
        streams: dict[str, Callable[[list[str]], Callable[[], None]]] = {}
        for style in _STYLES:
            streams[f"{style}analyze"] = partial(self._prepare_analysis, style)
            streams[f"{style}genmove_analyze"] = partial(self._prepare_genmove, style)
        return streams

    def _known(self) -> dict[str, Callable[[list[str]], str]]:
        commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: "Tesuji",
            "version": lambda _: __version__,
            "known_command": lambda a: str(bool(a) and a[0].lower() in {*self._commands, *self._streams}).lower(),
            "list_commands": lambda _: "\n".join([*self._commands, *self._streams]),
            "quit": lambda _: "",
            "boardsize": self._boardsize,
            "rectangular_boardsize": self._rectangular,
            "clear_board": self._clear,
            "komi": self._set_komi,
            "get_komi": lambda _: f"{self._game.numbers.get('komi', 0):g}",
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "gg-undo": self._undo,
            "time_settings": self._time_settings,
            "kgs-time_settings": self._kgs_time_settings,
            "time_left": self._time_left,
            "final_score": self._final_score,
            "final_status_list": self._final_status_list,
            "showboard": self._showboard,
            "loadsgf": self._loadsgf,
            "printsgf": self._printsgf,
            "cputime": lambda _: f"{time.process_time():.3f}",
            "gogui-analyze_commands": self._gogui_analyze_commands,
            "gogui-interrupt": lambda _: "",
            "gogui-play_sequence": self._play_sequence,
            "gogui-setup": self._gogui_setup,
            "gogui-rules_game_id": lambda _: _TITLES[family(self._game)],
            "gogui-rules_board": lambda _: "\n" + "\n".join(" ".join(row) for row in self._state.glyphs()),
            "gogui-rules_board_size": lambda _: str(self._game.rows),
            "gogui-rules_side_to_move": lambda _: ("black", "white")[self._state.to_play],
            "gogui-rules_legal_moves": lambda _: " ".join(self._vertices[a] for a in self._state.legal()),
            "gogui-rules_final_result": lambda _: self._outcome(),
            "tesuji-value": lambda _: f"{self._look().value or 0:+.3f}",
            "tesuji-top_moves": self._top_moves,
            "tesuji-ownership": self._ownership,
        }
        if self._pass is not None:
            commands |= {
                "fixed_handicap": self._fixed_handicap,
                "place_free_handicap": self._free_handicap,
                "set_free_handicap": self._set_free_handicap,
            }
        return commands

    # ── The board ──

    @property
    def _state(self) -> State:
        return self._states[-1]

    def _set_game(self, game: Game) -> None:
        """Another game, and an empty board of it."""
        if self._thinker.game != game:
            self._thinker = Thinker(game, self._text, **self._made)
        self._game = game
        self._vertices = vertices(game)
        self._actions = {vertex: action for action, vertex in enumerate(self._vertices)}
        self._pass = self._actions.get("PASS")
        self._states = [game.start()]  # after every command that played; the last is on the board

    def _boardsize(self, arguments: list[str]) -> str:
        size = _whole(arguments, 0)
        kind = family(self._game)
        for name in games():
            game = Game(name)
            if family(game) == kind and (game.rows, game.cols) == (size, size) and has_vertices(game):
                self._set_game(self._with_komi(game))
                return ""
        raise ValueError("unacceptable size")

    def _with_komi(self, game: Game) -> Game:
        return game if self._komi is None or "komi" not in game.numbers else Game(game.name, {"komi": self._komi})

    def _rectangular(self, arguments: list[str]) -> str:
        if _whole(arguments, 0) != _whole(arguments, 1):
            raise ValueError("unacceptable size")
        return self._boardsize(arguments)

    def _clear(self, arguments: list[str]) -> str:
        self._states = [self._game.start()]
        self._clock.reset()
        return ""

    def _set_komi(self, arguments: list[str]) -> str:
        komi = _number(arguments, 0)
        if "komi" not in self._game.numbers:
            return ""  # programs send it in every game; here it changes nothing
        game = Game(self._game.name, {"komi": komi})
        history = self._state.history
        if game != self._game:
            self._set_game(game)
            self._states = [game.replay(history[:ply]) for ply in range(len(history) + 1)]
        self._komi = komi
        return ""

    def _side(self, arguments: list[str], place: int = 0) -> int:
        if len(arguments) <= place or arguments[place].lower() not in _SIDES:
            raise ValueError("invalid color")
        return _SIDES[arguments[place].lower()]

    def _action(self, text: str) -> int:
        action = self._actions.get(text.upper())
        if action is None:
            raise ValueError(
                f"invalid coordinate: there is no pass in {self._game.name}"
                if text.lower() == "pass"
                else "invalid coordinate"
            )
        return action

    def _turn(self, side: int) -> State:
        """The state on the board with that side to play."""
        return turned(self._state, side)

    def _move(self, colour: str, vertex: str) -> None:
        side = self._side([colour])
        action = self._action(vertex)
        try:
            self._states.append(self._turn(side).play(action))
        except ValueError as refusal:
            raise ValueError(f"illegal move: {refusal}") from None

    def _play(self, arguments: list[str]) -> str:
        if len(arguments) != 2:
            raise ValueError("syntax error: play COLOR VERTEX")
        self._move(*arguments)
        return ""

    def _play_sequence(self, arguments: list[str]) -> str:
        if len(arguments) % 2:
            raise ValueError("syntax error: a color and a vertex for each move")
        kept = len(self._states)
        try:
            for colour, vertex in zip(arguments[::2], arguments[1::2], strict=True):
                self._move(colour, vertex)
        except ValueError:
            del self._states[kept:]
            raise
        return ""

    def _undo(self, arguments: list[str]) -> str:
        count = _whole(arguments, 0) if arguments else 1
        if not 1 <= count < len(self._states):
            raise ValueError("cannot undo")
        del self._states[-count:]
        return ""

    def _gogui_setup(self, arguments: list[str]) -> str:
        if len(arguments) % 2:
            raise ValueError("syntax error: a color and a vertex for each stone")
        stones: tuple[list[int], list[int]] = ([], [])
        for place in range(0, len(arguments), 2):
            stones[self._side(arguments, place)].append(self._action(arguments[place + 1]))
        self._place(*stones)
        return ""

    def _place(self, first: list[int], second: list[int], to_play: int | None = None) -> None:
        if self._state.history:
            raise ValueError("board not empty")
        self._states.append(placed(self._game, first, second, to_play))

    def _fixed_handicap(self, arguments: list[str]) -> str:
        count = _whole(arguments, 0)
        points = _handicap(self._game.rows, count)
        if points is None:
            raise ValueError("invalid number of stones")
        actions = [self._actions[point] for point in points]
        self._place(actions, [], 1)
        return " ".join(points)

    def _free_handicap(self, arguments: list[str]) -> str:
        """As many as there are good points for: GTP lets an engine place fewer than it was asked to."""
        return self._fixed_handicap([str(min(_whole(arguments, 0), 9 if self._game.rows > 7 else 4))])

    def _set_free_handicap(self, arguments: list[str]) -> str:
        points = [vertex.upper() for vertex in arguments]
        known = all(point in self._actions and point != "PASS" for point in points)
        if not known or len(set(points)) != len(points) or not 2 <= len(points) < self._game.rows * self._game.cols:
            raise ValueError("bad vertex list")
        self._place([self._actions[point] for point in points], [], 1)
        return ""

    def _showboard(self, arguments: list[str]) -> str:
        rows = self._state.glyphs()
        letters = "   " + " ".join(COLUMNS[: self._game.cols])
        lines = [f"{self._game.rows - i:2} {' '.join(row)} {self._game.rows - i}" for i, row in enumerate(rows)]
        return "\n" + "\n".join([letters, *lines, letters])

    # ── The end ──

    def _outcome(self) -> str:
        """As SGF says it; "?" while a game without a score goes on."""
        state = self._state
        if state.score is not None:
            return f"{'B' if state.score > 0 else 'W'}+{abs(state.score):g}" if state.score else "0"
        return "?" if state.result is None else {1: "B+1", 0: "0", -1: "W+1"}[state.result]

    def _final_score(self, arguments: list[str]) -> str:
        outcome = self._outcome()
        if outcome == "?":
            raise ValueError("cannot score: the game is not over")
        return outcome

    def _final_status_list(self, arguments: list[str]) -> str:
        """The board counts as it stands: every stone is alive."""
        status = arguments[0].lower() if arguments else ""
        rows = self._state.glyphs()
        if status == "alive":
            chosen = [a for a, cell in self._cells() if rows[cell // self._game.cols][cell % self._game.cols] in "XO"]
        elif status in ("dead", "seki"):
            chosen = []
        elif status in ("black_territory", "white_territory"):
            owners, side = self._state.ownership(), 1 if status == "black_territory" else -1
            empty = [(a, c) for a, c in self._cells() if rows[c // self._game.cols][c % self._game.cols] == "."]
            chosen = [] if owners is None else [a for a, cell in empty if owners.flat[cell] == side]
        else:
            raise ValueError("invalid status: there are alive, dead, seki, black_territory and white_territory")
        return "\n".join(self._vertices[action] for action in chosen)

    def _cells(self) -> list[tuple[int, int]]:
        """Actions on the board with their cells."""
        return [(a, cell) for a in range(self._game.actions) if (cell := self._game.locate(a)) is not None]

    # ── Files ──

    def _loadsgf(self, arguments: list[str]) -> str:
        """GTP counts moves from 1: loadsgf FILE 1 shows the board before the first."""
        if not arguments:
            raise ValueError("syntax error: loadsgf FILE [MOVE]")
        try:
            with Path(arguments[0]).open("rb") as file:
                content = file.read(sgf.MAX_CHARACTERS + 1)
        except (OSError, ValueError) as trouble:
            raise ValueError(f"cannot load file: {getattr(trouble, 'strerror', None) or trouble}") from None
        try:
            read = sgf.read(content)
        except ValueError as trouble:
            raise ValueError(f"cannot load file: {trouble}") from None
        if family(read.game) != family(self._game):
            raise ValueError(f"cannot load file: it holds a game of {read.game.name}")
        line = read.line()
        plies = len(line) if len(arguments) < 2 else min(len(line), max(0, _whole(arguments, 1) - 1))
        self._set_game(read.game)
        self._komi = read.game.numbers.get("komi")
        self._states = [read.game.replay(line[:ply]) for ply in range(plies + 1)]
        return ("black", "white")[self._state.to_play]

    def _printsgf(self, arguments: list[str]) -> str:
        text = sgf.write(sgf.Sgf.of(self._game, self._state.history, **self._result()))
        if not arguments:
            return text
        try:
            Path(arguments[0]).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as trouble:
            raise ValueError(f"cannot save file: {getattr(trouble, 'strerror', None) or trouble}") from None
        return ""

    def _result(self) -> dict[str, str]:
        over = self._state.result is not None
        return {"RE": self._outcome()} if over else {}

    # ── Time ──

    def _time_settings(self, arguments: list[str]) -> str:
        main, period, stones = _number(arguments, 0), _number(arguments, 1), _whole(arguments, 2)
        if period > 0 and stones == 0:
            self._clock.set(TimeControl())  # GTP's way to say that there is no limit
        else:
            self._clock.set(TimeControl(main=main, period=period, stones=stones))
        return ""

    def _kgs_time_settings(self, arguments: list[str]) -> str:
        kind = arguments[0].lower() if arguments else ""
        if kind == "none":
            control = TimeControl()
        elif kind == "absolute":
            control = TimeControl(main=_number(arguments, 1))
        elif kind == "byoyomi":
            main, period, periods = _number(arguments, 1), _number(arguments, 2), _whole(arguments, 3)
            control = TimeControl(main=main, period=period, stones=1, periods=periods)
        elif kind == "canadian":
            main, period, stones = _number(arguments, 1), _number(arguments, 2), _whole(arguments, 3)
            control = TimeControl(main=main, period=period, stones=stones)
        else:
            raise ValueError("syntax error: none, absolute, byoyomi or canadian")
        self._clock.set(control)
        return ""

    def _time_left(self, arguments: list[str]) -> str:
        self._clock.tell(self._side(arguments), _number(arguments, 1), _whole(arguments, 2) if arguments[2:] else 0)
        return ""

    # ── Moves of ours ──

    def _interrupted(self) -> bool:
        return self._lines is not None and self._lines.holds("# interrupt")

    def _thought(self, state: State, watch: Callable[[Thought], None] | None = None) -> Thought:
        self._clock.start()
        seconds = self._clock.budget(state)
        if self._pass is not None and state.history == [*self._state.history, self._pass]:
            # The other did not pass but was left out: our pass would end the game, which nobody wants.
            thought = self._thinker.think_without(state, self._pass, seconds)
        else:
            thought = self._thinker.think(state, seconds, interrupted=self._interrupted, watch=watch)
        self._clock.stop(state.to_play)
        return thought

    def _generated(self, state: State, watch: Callable[[Thought], None] | None = None) -> str:
        """Plays a move of ours: its vertex, or resign."""
        thought = self._thought(state, watch)
        value = 0.0 if thought.value is None else thought.value * (1 if state.to_play == 0 else -1)
        if self._resign and value < -self._resign:
            return "resign"
        self._states.append(state.play(thought.action))
        return self._vertices[thought.action]

    def _lost(self, side: int) -> bool:
        """Whether the game ended by its own rules, and that side lost."""
        state = self._state
        ended = state.result is not None and state.history[-2:] != [self._pass, self._pass]
        return ended and state.result == (-1 if side == 0 else 1)

    def _genmove(self, arguments: list[str]) -> str:
        side = self._side(arguments)
        return "resign" if self._lost(side) else self._generated(self._turn(side))

    def _reg_genmove(self, arguments: list[str]) -> str:
        return self._vertices[self._thinker.think(self._turn(self._side(arguments))).action]

    def _prepare_genmove(self, style: str, arguments: list[str]) -> Callable[[], None]:
        side, settings = self._wishes(arguments)
        if self._lost(side):
            return lambda: self._say("play resign\n")
        state = self._turn(side)
        shown = time.monotonic()
        latest: Thought | None = None

        def watch(thought: Thought) -> None:
            nonlocal shown, latest
            latest = thought
            if time.monotonic() >= shown + settings.interval:
                shown = time.monotonic()
                self._say(self._info(style, state, thought, settings) + "\n")

        def run() -> None:
            move = self._generated(state, watch)
            if latest is not None:
                self._say(self._info(style, state, latest, settings) + "\n")
            self._say(f"play {move}\n")

        return run

    # ── Analysis ──

    def _prepare_analysis(self, style: str, arguments: list[str]) -> Callable[[], None]:
        side, settings = self._wishes(arguments)
        state = self._turn(side)
        analysis = self._thinker.analysis

        def run() -> None:
            assert self._lines is not None
            analysis.look(state)
            until = time.monotonic() + settings.interval
            while True:
                piece = 0.001 if self._lines.waiting() else min(_SLICE, until - time.monotonic())
                thought = analysis.grow(seconds=max(0.001, piece))
                ended = analysis.finished or self._lines.waiting()
                if ended or time.monotonic() >= until:
                    self._say(self._info(style, state, thought, settings) + "\n")
                    until = time.monotonic() + settings.interval
                if ended:
                    return self._lines.wait()

        return run

    def _wishes(self, arguments: list[str]) -> tuple[int, "_Wishes"]:
        """The side and the settings of an analysis: [COLOR] [INTERVAL] [KEY VALUE …], as Leela Zero and KataGo do."""
        rest = list(arguments)
        side = _SIDES[rest.pop(0).lower()] if rest and rest[0].lower() in _SIDES else self._state.to_play
        wishes = _Wishes()
        if rest and re.fullmatch(r"\d{1,9}", rest[0]):
            wishes.interval = int(rest.pop(0)) / 100
        while rest:
            key = rest.pop(0).lower()
            if not rest:
                raise ValueError(f"syntax error: {key[:30]} needs a value")
            value = rest.pop(0)
            if key == "interval":
                wishes.interval = _number([value], 0) / 100
            elif key == "maxmoves":
                wishes.most = _whole([value], 0)
            elif key == "minmoves":
                _whole([value], 0)  # all that were looked at are told anyway
            elif key == "ownership":
                wishes.ownership = value.lower() == "true"
            elif key == "rootinfo":
                wishes.root = value.lower() == "true"
            elif key not in ("movesownership", "ownershipstdev", "pvvisits", "pvedgevisits", "noresultvalue"):
                raise ValueError(
                    f"{key[:30]} is not supported: there are interval, minmoves, maxmoves, ownership, rootInfo"
                )
        if not 0 <= wishes.interval <= 1e6 or wishes.most < 1:
            raise ValueError("syntax error: an interval in hundredths of a second, and at least one move")
        wishes.interval = max(0.01, wishes.interval)
        return side, wishes

    def _info(self, style: str, state: State, thought: Thought, wishes: "_Wishes") -> str:
        """What is seen, in one line: rates of winning are the mover's."""
        sign = 1 if state.to_play == 0 else -1
        seen = [line for line in thought.lines if line.visits] or list(thought.lines[:1])
        parts = [self._candidate(style, line, order, sign) for order, line in enumerate(seen[: wishes.most])]
        if wishes.root:
            rate = (sign * (thought.value or 0.0) + 1) / 2
            parts.append(f"rootInfo visits {sum(thought.visits.values())} winrate {rate:.4f}")
        if wishes.ownership and style != "lz-":
            owners = self._thinker.analysis.ownership()
            if owners is not None:
                parts.append("ownership " + " ".join(f"{sign * owner:.3f}" for owner in owners.flat))
        return " ".join(parts)

    def _candidate(self, style: str, line: Line, order: int, sign: int) -> str:
        worth = line.proven if line.proven is not None else line.value or 0.0
        rate = (sign * worth + 1) / 2
        # What is certain has no spread; else a win or a loss has at most half a point of it.
        least = rate if line.proven is not None else max(0.0, rate - 0.5 / max(1, line.visits) ** 0.5)
        moves = [self._vertices[self._game.parse(move)] for move in line.moves]
        pv = " ".join("pass" if move == "PASS" else move for move in moves)
        prior = line.prior or 0.0
        if style == "lz-":
            numbers = f"winrate {rate * 10_000:.0f} prior {prior * 10_000:.0f} lcb {least * 10_000:.0f}"
        else:
            numbers = f"utility {sign * worth:.4f} winrate {rate:.4f} prior {prior:.4f} lcb {least:.4f}"
        return f"info move {pv.split()[0]} visits {line.visits} {numbers} order {order} pv {pv}"

    def _look(self) -> Thought:
        """What a short search of the board sees."""
        state = self._turn(self._state.to_play)
        self._thinker.analysis.look(state)
        return self._thinker.analysis.grow(visits=400, seconds=1)

    def _top_moves(self, arguments: list[str]) -> str:
        best = sorted(self._look().visits.items(), key=lambda item: -item[1])[:10]
        return "\n".join(f"{self._vertices[action]} {visits}" for action, visits in best)

    def _ownership(self, arguments: list[str]) -> str:
        analysis = self._thinker.analysis
        analysis.look(self._state)
        owners = analysis.ownership()
        if owners is None:
            raise ValueError(f"{self._game.name} has no owners of points")
        return "\n" + "\n".join(" ".join(f"{owner:.2f}" for owner in row) for row in owners)

    def _gogui_analyze_commands(self, arguments: list[str]) -> str:
        lines = ["string/Value/tesuji-value", "pspairs/Top Moves/tesuji-top_moves", "string/Final Score/final_score"]
        if self._game.owned:
            lines.append("dboard/Ownership/tesuji-ownership")
        return "\n".join(lines)


@dataclass(slots=True)
class _Wishes:
    """How an analysis is to be told."""

    interval: float = 1.0  # seconds
    most: int = 1000  # candidates
    ownership: bool = False
    root: bool = False


def _number(arguments: list[str], place: int) -> float:
    try:
        number = float(arguments[place])
    except (IndexError, ValueError):
        raise ValueError("syntax error: a number is missing") from None
    if not -1e12 < number < 1e12:
        raise ValueError("syntax error: that number is out of all bounds")
    return number


def _whole(arguments: list[str], place: int) -> int:
    number = _number(arguments, place)
    if not number.is_integer():
        raise ValueError("syntax error: a whole number is needed")
    return int(number)


def _handicap(size: int, count: int) -> list[str] | None:
    """GTP's points for handicap stones; None where it has none for that size and number."""
    if size < 7 or not 2 <= count <= (9 if size % 2 and size > 7 else 4):
        return None
    near, far, middle = (3 if size < 13 else 4), size + 1 - (3 if size < 13 else 4), (size + 1) // 2
    corners = [(near, near), (far, far), (near, far), (far, near)]
    sides = [(near, middle), (far, middle), (middle, near), (middle, far)]
    points = corners[: min(count, 4)] + sides[: max(0, (count - 4) // 2 * 2)]
    if count > 4 and count % 2:
        points.append((middle, middle))
    return [f"{COLUMNS[col - 1]}{row}" for col, row in points]
