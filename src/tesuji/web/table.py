"""One person's table: a game with its variations, who sits where, and what is being thought about.

A table obeys commands and tells what changed, both as JSON (docs/web.md has the list). It knows nothing of HTTP, and
nothing of rules beyond ``State``. All of it runs in one thread; searches run in the pool.
"""

import math
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tesuji import players
from tesuji._core import Game, State
from tesuji.analysis import Analysis
from tesuji.games import game as game_of
from tesuji.players import Forfeit, Player
from tesuji.thought import Thought
from tesuji.web import levels, review
from tesuji.web.lab import Lab, Seen
from tesuji.web.limits import Limits
from tesuji.web.tree import GameTree, from_json, from_sgf, to_json, to_sgf
from tesuji.web.work import ANALYSIS, REPLY, REVIEW, Job, Pool, Steps

__all__ = ["Desk", "Message", "Table", "Trouble"]

Message = dict[str, Any]

# Players that an own machine's person may seat by their texts: they touch no file and start no program.
_SAFE_PLAYERS = ("random", "mcts", "alphabeta", "net", "exact", "greedy", "mirror")
_SAFE_OPTIONS = {"memory", "threads", "device", "path"}  # refused: they reach beyond the table

_PACE = 0.35  # seconds between moves where a person only watches
_LOOK = 0.05  # seconds that an analysis grows between looks at the clock
_TELL = 0.2  # seconds between two reports of an analysis
_CANDIDATES = 24
_HINT_SECONDS = 0.6
_WATCH = 2.0  # seconds between two looks at a run


class Trouble(ValueError):  # noqa: N818 (what the pages call it)
    """A command that is refused: a key for the pages' catalogue, and a sentence."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key


class Desk:
    """What all tables share: threads, limits, the Lab, and the memory for analyses."""

    def __init__(self, pool: Pool, limits: Limits | None = None, lab: Lab | None = None) -> None:
        self.pool = pool
        self.limits = limits or Limits()
        self.lab = lab
        self.reserved = 0  # bytes


@dataclass(slots=True)
class _Seat:
    text: str  # as the person said it
    player: str | None = None  # a player's text; None: a person
    made: Player | None = None


@dataclass(slots=True)
class _Eye:
    """An analysis from one position to the next; jobs one after the other use it."""

    analysis: Analysis | None = None


class Table:
    """Obeys commands. ``tell`` takes what is to be told; ``own``: the person sits at this very machine."""

    def __init__(self, desk: Desk, tell: Callable[[Message], None], *, own: bool = False) -> None:
        self._desk = desk
        self._tell = tell
        self._own = own
        self._memory = desk.limits.own_memory if own else desk.limits.analysis_memory
        self._id = secrets.token_hex(4)
        self._jobs: dict[str, Job] = {}
        self._holds: set[str] = set()  # what has memory of an analysis here
        self._eye: _Eye | None = None  # of the analysis that is on
        self._serial = -1  # of the game: 0 is the one that a table begins with
        self._set_up(GameTree(game_of("ultimate"), desk.limits.nodes), 0, ["human", levels.DEFAULT])

    # ── Commands ──

    def obey(self, command: Mapping[str, Any]) -> None:
        """Does what a command says; Trouble, or another ValueError with a sentence, where it cannot."""
        what = command.get("do")
        match what:
            case "new":
                tree = GameTree(self._game(command), self._desk.limits.nodes)
                self._set_up(tree, 0, _seats(command, ["human", levels.DEFAULT]))
                self._show()
            case "open":
                self._open(command)
            case "play":
                self._play(command)
            case "go":
                self._go(command)
            case "undo":
                self._undo()
            case "resign":
                self._resign()
            case "swap":
                self._seat([seat.text for seat in reversed(self._seats)])
                self._show()
            case "seats":
                self._seat(_seats(command, None))
                self._show()
            case "pause":
                self._paused = _flag(command, "on")
                if self._paused:
                    self._cancel("reply")
                self._show()
            case "hint":
                self._hint()
            case "analyse":
                self._switch(_flag(command, "on"))
                self._look()
            case "review":
                self._review()
            case "stop":
                self._stop()
            case "load":
                self._load(command)
            case "save":
                self._save(command)
            case "lab":
                self._lab(command)
            case "hello":
                _text(command, "language", most=40)  # what is told comes with keys: the pages say it in any language
            case "ping":
                self._tell({"is": "pong"})
            case _:
                raise Trouble("unknown", f"there is no command {str(what)[:30]!r}")

    def close(self) -> None:
        """Stops all that is under way."""
        for kind in list(self._jobs):
            self._cancel(kind)
        self._switch(False)

    def _set_up(self, tree: GameTree, node: int, seats: list[str]) -> None:
        made = [self._sit(tree.game, text) for text in seats]
        for kind in ("reply", "hint", "review", "load"):
            self._cancel(kind)
        self._tree = tree
        self._entries: list[Message] = []
        self._seats = made
        self._paused = False
        self._serial += 1
        self._move_to(node)

    def _move_to(self, node: int) -> None:
        self._node = node
        self._state = self._tree.state(node)
        self._tree.visit(node)

    def _game(self, command: Mapping[str, Any]) -> Game:
        name, numbers = _text(command, "game", most=100), command.get("numbers", {})
        if not isinstance(numbers, dict) or not all(_is_number(value) for value in numbers.values()):
            raise Trouble("junk", "numbers must be numbers by name")
        return game_of(name, **numbers)

    def _sit(self, game: Game, text: str) -> _Seat:
        """Who sits there; refuses what is no player here."""
        if text == "human":
            return _Seat(text)
        for level in levels.levels(game):
            if level.name == text:
                return _Seat(text, level.player)
        kind, _, player = text.partition(":")
        if kind != "player":
            raise Trouble("level", f"there is no level {text[:30]!r}: there are human, {', '.join(levels.NAMES)}")
        if not self._own:
            raise Trouble("level", "players by their texts are only for people at this very machine")
        name, options = players.read(player)
        if name not in _SAFE_PLAYERS or _SAFE_OPTIONS & set(options):
            raise Trouble("level", f"{player[:60]} cannot sit here: it reaches beyond the table")
        if name in ("alphabeta", "exact"):
            # These cannot be stopped in the middle.
            most = self._desk.limits.long_seconds
            player += f"{',' if ':' in player else ':'}seconds={min(most, options.get('seconds') or most):g}"
        players.player(player, game)  # whatever is wrong with it is better said now
        return _Seat(text, player)

    def _seat(self, texts: list[str]) -> None:
        made = [self._sit(self._tree.game, text) for text in texts]
        self._cancel("reply")
        self._seats = made

    def _open(self, command: Mapping[str, Any]) -> None:
        game, moves = self._game(command), command.get("moves", [])
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise Trouble("junk", "moves must be a list of texts")
        tree = GameTree(game, self._desk.limits.nodes)
        state, node = game.start(), 0
        for ply, move in enumerate(moves, 1):
            try:
                action = game.parse(move)
                following = state.play(action)
            except ValueError as refusal:
                raise Trouble("illegal", f"ply {ply}: {refusal}") from None
            node = tree.add(node, state, action)
            state = following
        if command.get("resigned") is not None:
            tree.nodes[node].resigned = _whole(command, "resigned") % 2
        self._set_up(tree, node, _seats(command, ["human", "human"]))
        self._show()

    # ── Playing ──

    def _play(self, command: Mapping[str, Any]) -> None:
        action, ply = _whole(command, "action"), command.get("ply")
        if ply is not None and ply != self._tree.nodes[self._node].ply:
            self.show()
            raise Trouble("stale", "the board has changed since: look again")
        self._check_ongoing()
        if self._thinking():
            raise Trouble("turn", "it is the program's turn")
        try:
            following = self._state.play(action)
        except ValueError as refusal:
            raise Trouble("illegal", str(refusal)) from None
        if len(self._tree) >= self._tree.most and not self._follows(action):
            raise Trouble("full", f"this tree is full with {self._tree.most} positions: begin a new game")
        self._advance(action, following)
        self._paused = False
        self._show()

    def _follows(self, action: int) -> bool:
        nodes = self._tree.nodes
        return any(nodes[child].action == action for child in nodes[self._node].children)

    def _advance(self, action: int, following: State) -> None:
        self._node = self._tree.add(self._node, self._state, action)
        self._state = following
        self._tree.visit(self._node)

    def _check_ongoing(self) -> None:
        if self._result() is not None:
            raise Trouble("over", "the game is over")

    def _result(self) -> int | None:
        return self._tree.result(self._node, self._state)[0]

    def _go(self, command: Mapping[str, Any]) -> None:
        node = command.get("node")
        if node not in self._tree:
            raise Trouble("junk", f"there is no node {str(node)[:20]} in the tree")
        self._cancel("reply")
        self._move_to(int(node))  # type: ignore[arg-type]  # a number of the tree
        # Who looks back does not want the program to play there.
        self._paused = bool(self._tree.nodes[self._node].children)
        self._show()

    def _undo(self) -> None:
        nodes = self._tree.nodes
        if nodes[self._node].resigned is not None:
            nodes[self._node].resigned = None
            self._show()
            return
        people = [seat.player is None for seat in self._seats]
        node = nodes[self._node]
        while node.parent is not None:
            mover = node.mover
            node = nodes[node.parent]
            if not any(people) or people[mover or 0]:
                self._cancel("reply")
                self._move_to(node.number)
                self._paused = not any(people)
                self._show()
                return
        raise Trouble("nothing", "there is nothing to take back")

    def _resign(self) -> None:
        self._check_ongoing()
        people = [side for side, seat in enumerate(self._seats) if seat.player is None]
        if not people:
            raise Trouble("turn", "only a person can resign")
        side = self._state.to_play if self._state.to_play in people else people[0]
        self._cancel("reply")
        self._tree.nodes[self._node].resigned = side
        self._show()

    # ── The program's moves ──

    def _thinking(self) -> bool:
        job = self._jobs.get("reply")
        return job is not None and not job.cancelled

    def _wake(self) -> None:
        """The program moves, where it is its turn."""
        side = self._state.to_play
        seat = self._seats[side]
        if seat.player is None or self._paused or self._result() is not None or self._thinking():
            return
        watched = all(seat.player is not None for seat in self._seats)
        self._start(
            "reply",
            _reply(seat, self._state, self._desk.limits),
            done=lambda thought: self._replied(side, thought),
            patience=REPLY,
            most=self._desk.limits.reply_seconds,
            delay=_PACE if watched and self._node else 0.0,
            long=seat.player.startswith(("alphabeta", "exact")),
        )
        self._tell({"is": "thinking", "on": True, "seat": side, "visits": 0})

    def _replied(self, side: int, thought: Thought) -> None:
        del self._jobs["reply"]
        self._tell({"is": "thinking", "on": False, "seat": side, "visits": sum(thought.visits.values())})
        if len(self._tree) >= self._tree.most and not self._follows(thought.action):
            self._paused = True
            raise Trouble("full", f"this tree is full with {self._tree.most} positions: begin a new game")
        self._advance(thought.action, self._state.play(thought.action))
        self._show()

    # ── Work ──

    def _start(
        self,
        kind: str,
        steps: Steps,
        *,
        done: Callable[[Any], None],
        patience: float,
        most: float,
        tell: Callable[[Any], None] = lambda told: None,
        delay: float = 0.0,
        holds: bool = False,
        long: bool = False,
    ) -> None:
        """A job of that kind, in place of the last one."""
        before = self._jobs.get(kind)
        self._cancel(kind)
        if holds:
            self._hold(kind)

        def fail(trouble: Exception) -> None:
            self._cancel(kind)
            if kind == "reply":
                self._paused = True
                self._tell({"is": "thinking", "on": False, "seat": self._state.to_play, "visits": 0})
            known = isinstance(trouble, ValueError | TimeoutError | Forfeit)
            text = str(trouble) if known else "something went wrong here; the server's log says what"
            key = trouble.key if isinstance(trouble, Trouble) else "failed"
            self._tell({"is": "trouble", "about": kind, "key": key, "text": text})
            if kind == "reply":
                self.show()

        def guarded(call: Callable[[Any], None]) -> Callable[[Any], None]:
            def inner(what: Any) -> None:
                try:
                    call(what)
                except Trouble as trouble:
                    self._tell({"is": "trouble", "about": kind, "key": trouble.key, "text": str(trouble)})

            return inner

        self._jobs[kind] = self._desk.pool.start(
            steps,
            patience=patience,
            done=guarded(done),
            fail=fail,
            tell=guarded(tell),
            most=most,
            delay=delay,
            long=long,
            after=before,
        )

    def _cancel(self, kind: str) -> None:
        """The job stays where it is: the next of its kind waits for its end."""
        job = self._jobs.get(kind)
        if job is None or job.cancelled:
            return
        job.cancel()
        self._release(kind)
        if kind == "reply":
            self._tell({"is": "thinking", "on": False, "seat": self._state.to_play, "visits": 0})

    def _hold(self, kind: str) -> None:
        """Reserves the memory of an analysis out of what all tables share."""
        if kind in self._holds:
            return
        if self._desk.reserved + self._memory > self._desk.limits.memory:
            raise Trouble("busy", "too many people are analysing right now: try again in a minute")
        self._desk.reserved += self._memory
        self._holds.add(kind)

    def _release(self, kind: str) -> None:
        if kind in self._holds:
            self._holds.discard(kind)
            self._desk.reserved -= self._memory

    def _stop(self) -> None:
        """Whatever is being computed."""
        self._paused = self._paused or self._thinking()
        self._switch(False)
        for kind in ("reply", "hint", "review", "load"):
            self._cancel(kind)
        self.show()

    # ── What is told ──

    def _show(self) -> None:
        """After a change: the position; then the program moves and the analysis follows."""
        self._wake()
        self.show()
        self._look()

    def show(self) -> None:
        """Tells the position."""
        self._tell(self.position())

    def position(self) -> Message:
        tree, state = self._tree, self._state
        nodes, game = tree.nodes, state.game
        node = nodes[self._node]
        result, reason = tree.result(self._node, state)
        above = nodes[node.parent] if node.parent is not None else None
        owners = state.ownership()
        told: Message = {
            "is": "position",
            "id": self._id,
            "serial": self._serial,
            "game": game.name,
            "numbers": game.numbers,
            "seats": [seat.text for seat in self._seats],
            "node": self._node,
            "ply": node.ply,
            "path": tree.line(self._node),
            "tree": self._listed(),
            "glyphs": state.glyphs(),
            "to_play": state.to_play,
            "legal": state.legal() if result is None else [],
            "last": node.action,
            "previous": above.action if above is not None else None,
            "result": result,
            "reason": reason,
            "score": state.score,
            "owners": None if owners is None else owners.ravel().tolist(),
            "thinking": self._thinking(),
            "paused": self._paused,
            "line": state.line(),
        }
        if game.look == "crossings":
            told["captured"] = self._captured()
        return told

    def _listed(self) -> list[Message]:
        """The nodes of the tree. It only grows: what was listed once is not made again."""
        game, entries = self._tree.game, self._entries
        for node in self._tree.nodes[len(entries) :]:
            text = None if node.action is None else game.text(node.action)
            entries.append(
                {
                    "node": node.number,
                    "parent": node.parent,
                    "action": node.action,
                    "text": text,
                    "mover": node.mover,
                }
            )
        return entries[:]

    def _captured(self) -> list[int]:
        """Stones of First and of Second that were played and are gone."""
        board = "".join(self._state.glyphs())
        played = [0, 0]
        for number in self._tree.path(self._node):
            node = self._tree.nodes[number]
            if node.action is not None and node.mover is not None:
                played[node.mover] += self._state.game.locate(node.action) is not None
        return [played[0] - board.count("X"), played[1] - board.count("O")]

    # ── Analysis ──

    def _switch(self, on: bool) -> None:
        """The analysis on or off."""
        if on and self._eye is None:
            self._hold("eye")
            self._eye = _Eye()
        elif not on:
            self._cancel("analyse")
            self._release("eye")
            self._eye = None

    def _look(self) -> None:
        """The analysis follows the position."""
        self._cancel("analyse")
        if self._eye is None or self._result() is not None:
            return
        node, limits = self._node, self._desk.limits
        self._start(
            "analyse",
            _analysing(self._eye, self._state, self._memory, limits.analysis_seconds),
            tell=lambda told: self._tell({"is": "analysis", "node": node, **told}),
            done=lambda _: None,
            patience=ANALYSIS,
            most=2 * limits.analysis_seconds,
        )

    def _hint(self) -> None:
        self._check_ongoing()
        node, state = self._node, self._state

        def told(hint: Message) -> None:
            self._cancel("hint")
            self._tell({"is": "hint", "node": node, **hint})

        self._start(
            "hint",
            _hinting(state, self._memory),
            done=told,
            patience=REPLY,
            most=self._desk.limits.reply_seconds,
            holds=True,
        )

    def _review(self) -> None:
        line = self._tree.line(self._node)
        if len(line) < 2:
            raise Trouble("nothing", "there is nothing to review: no move was played")
        leaf, limits = line[-1], self._desk.limits

        def tell(told: Message) -> None:
            if told["done"]:
                self._cancel("review")
            for move in told["moves"]:
                move["node"] = line[move["ply"]]
            self._tell({"is": "review", "node": leaf, "path": line, **told})

        self._start(
            "review",
            review.reviewing(
                self._tree.game,
                self._tree.actions(leaf),
                seconds=limits.review_seconds,
                memory=self._memory,
            ),
            tell=tell,
            done=lambda _: None,
            patience=REVIEW,
            most=2 * limits.review_seconds + 30,
            holds=True,
        )

    # ── Files ──

    def _load(self, command: Mapping[str, Any]) -> None:
        form, text = _form(command), _text(command, "text", most=self._desk.limits.message)

        def loaded(found: tuple[GameTree, int, list[str]]) -> None:
            tree, node, seats = found
            if any(seat.startswith("player:") for seat in seats):
                seats = ["human", "human"]
            self._set_up(tree, node, seats)
            self._paused = True  # a game is loaded to be looked at
            self._show()

        steps = _loading(form, text, self._desk.limits.nodes)
        self._start("load", steps, done=loaded, patience=REPLY, most=60, long=True)

    def _save(self, command: Mapping[str, Any]) -> None:
        form, seats = _form(command), [seat.text for seat in self._seats]
        text = to_sgf(self._tree, seats) if form == "sgf" else to_json(self._tree, seats=seats, here=self._node)
        name = f"{self._tree.game.name}-{time.strftime('%Y%m%d-%H%M%S')}.{form}"
        self._tell({"is": "saved", "format": form, "name": name, "text": text})

    # ── The Lab ──

    def _lab(self, command: Mapping[str, Any]) -> None:
        lab, what = self._desk.lab, command.get("what")
        if lab is None or not self._own:
            raise Trouble("lab", "the Lab is only for people at the server's own machine")
        run = _text(command, "run", most=100) if command.get("run") is not None else None
        self._cancel("lab")  # whatever is watched is watched no more
        match what:
            case "runs":
                self._ask_lab(lambda: {"is": "runs", "runs": lab.runs()})
            case "start":
                game, minutes = _text(command, "game", most=100), command.get("minutes")
                if not _is_number(minutes):
                    raise Trouble("junk", "minutes must be a number")

                def start() -> Message:
                    name = lab.start(game, float(minutes), run)  # type: ignore[arg-type]  # a number
                    return {"is": "runs", "runs": lab.runs(), "started": name}

                self._ask_lab(start)
            case "stop" if run is not None:

                def stop() -> Message:
                    lab.stop(run)
                    return {"is": "runs", "runs": lab.runs()}

                self._ask_lab(stop)
            case "watch" if run is not None:
                self._watch(lab, run, Seen(), 0.0)
            case _:
                raise Trouble("unknown", f"the Lab cannot do {str(what)[:30]!r} of {str(run)[:30]}")

    def _ask_lab(self, ask: Callable[[], Message], then: Callable[[], None] | None = None, delay: float = 0.0) -> None:
        def told(message: Message) -> None:
            self._tell(message)
            if then is not None:
                then()

        self._start("lab", _once(ask), done=told, patience=REPLY, most=60, delay=delay)

    def _watch(self, lab: Lab, run: str, seen: Seen, delay: float) -> None:
        """Looks at a run again and again, until another command concerns the Lab."""
        self._ask_lab(lambda: {"is": "run", **lab.watch(run, seen)}, lambda: self._watch(lab, run, seen, _WATCH), delay)


# ── Searches, in slices ──


def _once(ask: Callable[[], Message]) -> Steps:
    """One step."""
    return ask()
    yield


def _loading(form: str, text: str, most: int) -> Steps:
    """One step."""
    try:
        if form == "sgf":
            return *from_sgf(text, most), ["human", "human"]
        tree, node, seats = from_json(text, most)
    except ValueError as refusal:
        raise Trouble("load", str(refusal)) from None
    return tree, node, seats or ["human", "human"]
    yield


def _reply(seat: _Seat, state: State, limits: Limits) -> Steps:
    if seat.made is None:
        assert seat.player is not None
        text = seat.player
        if text.startswith(("mcts", "net")):
            text += f"{',' if ':' in text else ':'}memory={limits.player_memory}"
        seat.made = players.player(text, state.game, seed=secrets.randbits(60))
    thought = yield from players.thinking(seat.made, state)
    if thought.memory > limits.kept_memory:
        seat.made = None  # with all tables together, what trees keep between moves would be too much
    return thought


def _analysing(eye: _Eye, state: State, memory: int, seconds: float) -> Steps:
    if eye.analysis is None or eye.analysis.state.game != state.game:
        eye.analysis = Analysis(state.game, memory=memory)
    analysis = eye.analysis
    analysis.look(state)
    began = told = time.perf_counter()
    owners = analysis.ownership()
    ownership = None if owners is None else [round(float(owner), 3) for owner in owners.ravel()]
    yield None
    while True:
        thought = analysis.grow(seconds=_LOOK)
        now = time.perf_counter()
        done = analysis.finished or now - began > seconds
        if done or now - told >= _TELL:
            told = now
            yield report(thought, state, guided=analysis.guided) | {"ownership": ownership, "done": done}
        else:
            yield None
        if done:
            return


def _hinting(state: State, memory: int) -> Steps:
    analysis = Analysis(state.game, memory=memory)
    analysis.look(state)
    until = time.perf_counter() + _HINT_SECONDS
    while True:
        thought = analysis.grow(seconds=_LOOK)
        if analysis.finished or time.perf_counter() >= until:
            break
        yield None
    line = thought.lines[0].moves if thought.lines else (thought.move,)
    return {"action": thought.action, "line": list(line), "value": thought.value}


def report(thought: Thought, state: State, *, guided: bool) -> Message:
    """What an analysis saw, for the pages: values belong to First, losses to the mover."""
    side = 1 if state.to_play == 0 else -1
    seen = [
        (action, line)
        for action, line in zip(thought.visits, thought.lines, strict=True)
        if line.visits or line.proven is not None
    ]
    best = seen[0][1].value if seen else None
    candidates = []
    for action, line in seen[:_CANDIDATES]:
        value = line.value if line.proven is None else float(line.proven)
        known = value is not None and best is not None
        candidates.append(
            {
                "action": action,
                "visits": line.visits,
                "value": _rounded(value),
                "loss": _rounded(min(2.0, max(0.0, side * (best - value)))) if known else None,  # type: ignore[operator]
                "prior": _rounded(line.prior) if guided else None,
                "line": list(line.moves),
                "actions": [state.game.parse(move) for move in line.moves],
                "proven": line.proven,
            }
        )
    policy = None
    if guided:
        priors = [(action, line.prior or 0.0) for action, line in zip(thought.visits, thought.lines, strict=True)]
        policy = [[action, _rounded(prior)] for action, prior in priors if prior >= 0.001]
    return {
        "value": _rounded(thought.value),
        "visits": sum(thought.visits.values()),
        "proven": thought.proven,
        "plies": thought.plies,
        "candidates": candidates,
        "policy": policy,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


# ── Reading commands ──


def _text(command: Mapping[str, Any], key: str, *, most: int) -> str:
    value = command.get(key)
    if not isinstance(value, str) or len(value) > most:
        raise Trouble("junk", f"{key} must be a text of at most {most} characters")
    return value


def _form(command: Mapping[str, Any]) -> str:
    form = _text(command, "format", most=20)
    if form not in ("sgf", "json"):
        raise Trouble("load", f"there is no format {form!r}: there are sgf and json")
    return form


def _whole(command: Mapping[str, Any], key: str) -> int:
    value = command.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise Trouble("junk", f"{key} must be a whole number")
    return value


def _flag(command: Mapping[str, Any], key: str) -> bool:
    value = command.get(key)
    if not isinstance(value, bool):
        raise Trouble("junk", f"{key} must be true or false")
    return value


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


def _seats(command: Mapping[str, Any], default: list[str] | None) -> list[str]:
    value = command.get("seats", default)
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(text, str) for text in value):
        raise Trouble("junk", "seats must be two texts")
    return value
