"""Analysis for programs: one JSON object a line in, one a line out, in the words of KataGo's analysis engine.

Moves are pairs such as ["B", "D4"], or texts alone; in Go, NoGo and Gomoku points are named as in GTP, elsewhere moves
are our own texts. Rates of winning are Black's (First's) unless a query asks otherwise.
"""

import heapq
import json
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TextIO

from tesuji import __version__
from tesuji._core import Game, State
from tesuji.analysis import Analysis
from tesuji.games import family, games
from tesuji.protocols.lines import Lines
from tesuji.protocols.setup import placed, turned
from tesuji.protocols.vertices import COLOURS, has_vertices, vertices
from tesuji.thought import Line, Thought

__all__ = ["JsonEngine"]

_SLICE = 0.1  # seconds of a search between two looks at the input
_LINE = 1 << 20  # bytes of a query
_WAITING = 20_000  # searches
_PERSPECTIVES = ("BLACK", "WHITE", "SIDETOMOVE")
_TERRITORY = ("japanese", "korean")
_KNOWN = {
    *("id", "action", "moves", "initialStones", "initialPlayer", "rules", "komi", "boardXSize", "boardYSize"),
    *("analyzeTurns", "maxVisits", "maxTime", "includeOwnership", "includePolicy", "includePVVisits"),
    *("reportDuringSearchEvery", "priority", "overrideSettings", "analysisPVLen", "terminateId", "turnNumbers"),
}


class QueryError(ValueError):
    """A query that cannot be answered, and the field that is to blame."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


@dataclass(slots=True)
class _Query:
    """What was asked for, checked."""

    id: str
    states: dict[int, State]  # by turn: the positions that are asked for
    visits: int
    seconds: float
    every: float  # seconds between reports; 0: only the last
    ownership: bool
    policy: bool
    priority: int
    line: int
    perspective: str
    stopped: set[int] = field(default_factory=set)  # turns that are no longer wanted


@dataclass(slots=True)
class _Job:
    """One position of a query, and its search once it has begun."""

    query: _Query
    turn: int
    analysis: Analysis | None = None
    begun: float = 0.0
    told: float = 0.0


class JsonEngine:
    """Answers queries, the most urgent first and then as they came."""

    def __init__(self, game: Game, player: str = "", *, threads: int = 1, memory: int = 1 << 28, seed: int = 0) -> None:
        self._game = game
        self._text = player
        self._made = {"threads": threads, "memory": memory, "seed": seed}
        self._guided = Analysis(game, player, **self._made).guided
        self._jobs: list[tuple[int, int, _Job]] = []  # a heap
        self._count = 0
        self._out: TextIO = sys.stdout

    def serve(self, source: BinaryIO, out: TextIO) -> None:
        """Until the input has ended and every query is answered."""
        lines, self._out = Lines(source, limit=_LINE), out
        ended = False
        try:
            while not ended or self._jobs:
                while not ended and (not self._jobs or lines.waiting()):
                    line = lines.next()
                    ended = line is None
                    if line is not None and line.strip():
                        self._take(line)
                if self._jobs:
                    self._step()
        finally:
            lines.close()

    def _say(self, answer: dict[str, Any]) -> None:
        self._out.write(json.dumps(answer, separators=(",", ":")) + "\n")
        self._out.flush()

    # ── Queries ──

    def _take(self, line: str) -> None:
        """Reads one line, and answers it or makes jobs of it."""
        given: dict[str, Any] = {}
        try:
            try:
                given = json.loads(line)
            except (ValueError, RecursionError):
                given = {}
                raise ValueError("this line is no JSON object") from None
            if not isinstance(given, dict):
                given = {}
                raise ValueError("this line is no JSON object")
            if not isinstance(given.get("id"), str):
                raise QueryError("id", "id must be a text")
            if "action" in given:
                self._act(given)
            else:
                self._queue(self._query(given))
        except ValueError as refusal:
            answer: dict[str, Any] = {"error": str(refusal)}
            if isinstance(refusal, QueryError):
                answer["field"] = refusal.name
            if isinstance(given.get("id"), str):
                answer["id"] = given["id"][:1000]
            self._say(answer)
        except BrokenPipeError:
            raise
        except Exception as trouble:  # whatever it is, the other program must not lose its engine
            traceback.print_exc(file=sys.stderr)
            self._say({"error": f"this should not happen: {type(trouble).__name__}"})

    def _act(self, given: dict[str, Any]) -> None:
        action = given["action"]
        echo: dict[str, Any] = {
            key: given[key] for key in ("id", "action", "terminateId", "turnNumbers") if key in given
        }
        if action == "query_version":
            self._say({**echo, "version": f"Tesuji {__version__}"})
        elif action == "query_models":
            self._say({**echo, "models": [{"name": self._text or ("net" if self._guided else "mcts")}]})
        elif action == "clear_cache":
            self._say(echo)  # every search begins with an empty tree
        elif action in ("terminate", "terminate_all"):
            which = given.get("terminateId")
            if action == "terminate" and not isinstance(which, str):
                raise QueryError("terminateId", "terminateId must be a text")
            turns = given.get("turnNumbers")
            if turns is not None and not (isinstance(turns, list) and all(isinstance(t, int) for t in turns)):
                raise QueryError("turnNumbers", "turnNumbers must be a list of whole numbers")
            self._say(echo)
            for _, _, job in list(self._jobs):
                if (action == "terminate_all" or job.query.id == which) and (turns is None or job.turn in turns):
                    job.query.stopped.add(job.turn)
        else:
            actions = "terminate, terminate_all, clear_cache, query_version and query_models"
            raise QueryError("action", f"there are the actions {actions}")

    def _queue(self, query: _Query) -> None:
        if len(self._jobs) + len(query.states) > _WAITING:
            raise QueryError("analyzeTurns", f"more than {_WAITING:,} positions wait already")
        for turn in query.states:
            self._count += 1
            heapq.heappush(self._jobs, (-query.priority, self._count, _Job(query, turn)))

    def _query(self, given: dict[str, Any]) -> _Query:
        for name in given:
            if name not in _KNOWN:
                warning = {"id": given["id"], "field": name[:100], "warning": "this field is not used"}
                self._say(warning)
        override = given.get("overrideSettings", {})
        if not isinstance(override, dict):
            raise QueryError("overrideSettings", "overrideSettings must be an object")
        perspective = override.get("reportAnalysisWinratesAs", "BLACK")
        if perspective not in _PERSPECTIVES:
            raise QueryError("overrideSettings", f"reportAnalysisWinratesAs is one of {', '.join(_PERSPECTIVES)}")
        game = self._game_of(given)
        states = _Moves(game, given).states()
        last = len(states) - 1
        turns = given.get("analyzeTurns", [last])
        whole = isinstance(turns, list) and all(isinstance(t, int) and not isinstance(t, bool) for t in turns)
        if not whole or not all(0 <= turn <= last for turn in turns):
            raise QueryError("analyzeTurns", f"analyzeTurns must be a list of whole numbers from 0 to {last}")
        visits = _number(given, "maxVisits", 400 if self._guided else 1000, 1, 100_000_000)
        seconds = {**given, **{key: override[key] for key in ("maxTime",) if key in override}}
        return _Query(
            id=given["id"],
            states={turn: states[turn] for turn in sorted(set(turns))},
            visits=int(visits),
            seconds=_number(seconds, "maxTime", 1e6, 0.001, 1e6),
            every=_number(given, "reportDuringSearchEvery", 0, 0, 1e6),
            ownership=_flag(given, "includeOwnership"),
            policy=_flag(given, "includePolicy"),
            priority=int(_number(given, "priority", 0, -1e9, 1e9)),
            line=int(_number(given, "analysisPVLen", 15, 1, 1000)),
            perspective=perspective,
        )

    def _game_of(self, given: dict[str, Any]) -> Game:
        """The engine's game, with the size and the komi of a query."""
        game = self._game
        sides = {"boardXSize": game.cols, "boardYSize": game.rows}
        size = [int(_number(given, name, side, 1, 1000)) for name, side in sides.items()]
        if size != [game.cols, game.rows]:
            others = [Game(name) for name in games()]
            same = [g for g in others if family(g) == family(game) and [g.cols, g.rows] == size and has_vertices(g)]
            if not same or not has_vertices(game):
                raise QueryError("boardXSize", f"there is no {family(game)} of {size[0]}×{size[1]}")
            game = Game(same[0].name)
        rules = given.get("rules", "")
        named = rules.get("scoring", "") if isinstance(rules, dict) else rules
        if not isinstance(named, str) or named.lower() in (*_TERRITORY, "territory"):
            raise QueryError(
                "rules", "only area is counted here, with positional superko: give rules such as tromp-taylor"
            )
        if "komi" not in given or "komi" not in game.numbers:
            return game
        try:
            return Game(game.name, {**game.numbers, "komi": _number(given, "komi", 0, -1e6, 1e6)})
        except QueryError:
            raise
        except ValueError as refusal:
            raise QueryError("komi", str(refusal)) from None

    # ── Searches ──

    def _step(self) -> None:
        """A little of the most urgent search."""
        _, _, job = self._jobs[0]
        query, state = job.query, job.query.states[job.turn]
        if job.turn in query.stopped:
            heapq.heappop(self._jobs)
            self._say({"id": query.id, "turnNumber": job.turn, "isDuringSearch": False, "noResults": True})
            return
        try:
            if state.result is not None:
                heapq.heappop(self._jobs)
                self._say(self._over(job, state))
                return
            if job.analysis is None:
                job.analysis = Analysis(state.game, self._text, **self._made)
                job.analysis.look(state)
                job.begun = job.told = time.monotonic()
            analysis = job.analysis
            left = job.begun + query.seconds - time.monotonic()
            thought = analysis.grow(
                visits=max(1, query.visits - analysis.visits), seconds=max(0.001, min(_SLICE, left))
            )
            ended = time.monotonic() >= job.begun + query.seconds
            if analysis.finished or analysis.visits >= query.visits or ended:
                heapq.heappop(self._jobs)
                self._say(self._report(job, thought, during=False))
            elif query.every and time.monotonic() >= job.told + query.every:
                job.told = time.monotonic()
                self._say(self._report(job, thought, during=True))
        except ValueError as refusal:  # such as a net that does not fit this size
            heapq.heappop(self._jobs)
            self._say({"id": query.id, "turnNumber": job.turn, "error": str(refusal)})

    def _sign(self, query: _Query, state: State) -> int:
        """What turns First's values to the side that the query wants."""
        if query.perspective == "SIDETOMOVE":
            return 1 if state.to_play == 0 else -1
        return 1 if query.perspective == "BLACK" else -1

    def _over(self, job: _Job, state: State) -> dict[str, Any]:
        assert state.result is not None
        value = self._sign(job.query, state) * state.result
        root = {"currentPlayer": COLOURS[state.to_play], "visits": 0, "winrate": (value + 1) / 2, "utility": value}
        answer = {"id": job.query.id, "turnNumber": job.turn, "isDuringSearch": False, "moveInfos": []}
        return {**answer, "rootInfo": {**root, "gameOver": True}}

    def _report(self, job: _Job, thought: Thought, *, during: bool) -> dict[str, Any]:
        query, state, analysis = job.query, job.query.states[job.turn], job.analysis
        assert analysis is not None
        sign, names = self._sign(query, state), names_of(state.game)
        value = sign * (thought.value or 0.0)
        seen = [line for line in thought.lines if line.visits] or list(thought.lines[:1])
        root: dict[str, Any] = {
            "currentPlayer": COLOURS[state.to_play],
            "visits": analysis.visits,
            "winrate": round((value + 1) / 2, 6),
            "utility": round(value, 6),
        }
        if thought.proven is not None:
            root |= {"proven": sign * thought.proven, "plies": thought.plies}
        answer: dict[str, Any] = {
            "id": query.id,
            "turnNumber": job.turn,
            "isDuringSearch": during,
            "moveInfos": [_move_info(state, line, i, sign, names, query.line) for i, line in enumerate(seen)],
            "rootInfo": root,
        }
        if query.ownership and (owners := analysis.ownership()) is not None:
            answer["ownership"] = [round(float(sign * owner), 4) for owner in owners.flat]
        if query.policy and analysis.guided:
            policy = [-1.0] * state.game.actions
            for line in thought.lines:
                policy[state.game.parse(line.moves[0])] = round(line.prior or 0.0, 6)
            answer["policy"] = policy
        return answer


def names_of(game: Game) -> list[str]:
    """[actions]: how they are named to the other program."""
    if not has_vertices(game):
        return [game.text(action) for action in range(game.actions)]
    return ["pass" if vertex == "PASS" else vertex for vertex in vertices(game)]


def _move_info(state: State, line: Line, order: int, sign: int, names: list[str], length: int) -> dict[str, Any]:
    game = state.game
    worth = sign * (line.proven if line.proven is not None else line.value or 0.0)
    rate = (worth + 1) / 2
    # The mover's lower bound: what is certain has no spread, and a win or a loss has at most half a point of it.
    spread = 0.0 if line.proven is not None else 0.5 / max(1, line.visits) ** 0.5
    mine = sign == (1 if state.to_play == 0 else -1)
    bound = max(0.0, rate - spread) if mine else min(1.0, rate + spread)
    info: dict[str, Any] = {
        "move": names[game.parse(line.moves[0])],
        "order": order,
        "visits": line.visits,
        "winrate": round(rate, 6),
        "utility": round(worth, 6),
        "lcb": round(bound, 6),
        "prior": round(line.prior or 0.0, 6),
        "pv": [names[game.parse(move)] for move in line.moves[:length]],
    }
    if line.proven is not None:
        info["proven"] = sign * line.proven
    return info


def _number(given: dict[str, Any], name: str, default: float, least: float, most: float) -> float:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise QueryError(name, f"{name} must be a number from {least:g} to {most:g}")
    return float(value)


def _flag(given: dict[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise QueryError(name, f"{name} must be true or false")
    return value


class _Moves:
    """The stones and moves of a query."""

    def __init__(self, game: Game, given: dict[str, Any]) -> None:
        self._game = game
        self._given = given
        self._actions = {name.lower(): action for action, name in enumerate(names_of(game))}

    def states(self) -> list[State]:
        """The states after each move, that before the first among them."""
        state = self._start()
        states = [state]
        for number, move in enumerate(self._list("moves"), 1):
            try:
                state = self._after(state, move)
            except QueryError:
                raise
            except ValueError as refusal:
                raise QueryError("moves", f"move {number}: {refusal}") from None
            states.append(state)
        return states

    def _start(self) -> State:
        stones: tuple[list[int], list[int]] = ([], [])
        for stone in self._list("initialStones"):
            if not isinstance(stone, list) or len(stone) != 2 or not has_vertices(self._game):
                raise QueryError("initialStones", "a stone is a colour and a point, in Go, NoGo and Gomoku")
            stones[self._side("initialStones", stone[0])].append(self._action("initialStones", stone[1]))
        given = self._given
        first = self._side("initialPlayer", given["initialPlayer"]) if "initialPlayer" in given else None
        if not any(stones):
            return self._game.start()
        try:
            return placed(self._game, *stones, first)
        except ValueError as refusal:
            raise QueryError("initialStones", str(refusal)) from None

    def _after(self, state: State, move: object) -> State:
        if isinstance(move, list) and len(move) == 2:
            side, move = self._side("moves", move[0]), move[1]
            if has_vertices(self._game):
                state = turned(state, side)
            elif state.to_play != side:
                raise ValueError(f"it is {COLOURS[state.to_play]}'s turn")
        return state.play(self._action("moves", move))

    def _list(self, name: str) -> list[Any]:
        listed, most = self._given.get(name, []), self._game.max_plies
        if not isinstance(listed, list) or len(listed) > most:
            raise QueryError(name, f"{name} must be a list, of {most} at most")
        return listed

    def _side(self, name: str, text: object) -> int:
        if not isinstance(text, str) or text.upper() not in ("B", "W"):
            raise QueryError(name, "a colour is B or W")
        return COLOURS.index(text.upper())

    def _action(self, name: str, text: object) -> int:
        if not isinstance(text, str):
            raise QueryError(name, "a move is a text, or a colour and a text")
        action = self._actions.get(text.strip().lower())
        if action is None:
            raise QueryError(name, f"{text[:30]!r} is no move of {self._game.name}")
        return action
