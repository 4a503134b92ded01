"""Players: something that looks at a state and chooses a move.

A player is named by a text: ``random``, ``mcts:visits=2000``. After the colon come options ``key=value`` with commas
between them: the keyword-only parameters of the player's class, which thereby says all there is to know about them.
A class with a parameter ``path`` takes it bare and first: ``table:greedy.table,learn=1``; where the path has a default
it may be left out: ``net:visits=400``. One with a parameter ``command`` is a guest, a program of other people, and all
after the colon is its command: ``gtp:gnugo --mode gtp``.
"""

import dataclasses
import difflib
import importlib
import inspect
import random
import time
from collections.abc import Callable, Generator
from typing import Any, ClassVar, Protocol

from tesuji import _core
from tesuji._core import Game, State
from tesuji.search import Search, SearchSettings
from tesuji.thought import Line, Thought

__all__ = ["Forfeit", "Player", "player", "thinking"]

Steps = Generator[None, None, Thought]
"""A thought in the making, which stops now and then to let others have their turn."""


class Player(Protocol):
    """Chooses moves in one game."""

    def think(self, state: State) -> Thought:
        """A move for the side to play. The game must not be over."""


class Forfeit(Exception):  # noqa: N818 (a way to lose, no error of ours)
    """A player gives its game up or cannot go on: it loses. The text goes on from its name, such as "resigned"."""


class Random:
    """Plays any legal move, each as likely as the others."""

    def __init__(self, game: Game, *, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def think(self, state: State) -> Thought:
        check_ongoing(state)
        action = self._random.choice(state.legal())
        return Thought(action, state.game.text(action), visits={action: 1})


class Mcts:
    """Plain Monte-Carlo tree search: UCT with random games, no network.

    ``temperature`` 0 plays the best move, 1 by shares of visits.
    ``study`` sets what a study says of its own search, as far as no other option says otherwise.
    """

    _STUDIES: ClassVar[dict[str, dict[str, Any]]] = {
        # U: 27 to 81 simulations, ended at a checkpoint when a move has more than 0.8 of them.
        "ultimate": {"visits": 81, "checkpoint": 27, "share": 0.8, "reuse": 0},
        # G: the search that it shows made 4,701 simulations.
        "gomoku": {"visits": 4701, "reuse": 0},
    }

    def __init__(
        self,
        game: Game,
        *,
        study: str | None = None,
        visits: int | None = None,
        seconds: float | None = None,
        c: float = 1.0,
        rollouts: int = 1,
        checkpoint: int | None = None,
        share: float | None = None,
        reuse: int | None = None,
        transpositions: int | None = None,
        temperature: float = 0.0,
        memory: int = 1 << 30,
        seed: int = 0,
    ) -> None:
        if study is not None and study not in self._STUDIES:
            raise ValueError(f"there is no study {study[:30]!r} of plain search: there are {', '.join(self._STUDIES)}")
        said = {"visits": visits, "checkpoint": checkpoint, "share": share, "reuse": reuse}
        chosen = self._STUDIES.get(study or "", {}) | {key: value for key, value in said.items() if value is not None}
        self._reuse = chosen.pop("reuse", 1)
        if self._reuse not in (0, 1):
            raise ValueError(f"reuse is {self._reuse}: give 0 or 1")
        chosen.setdefault("visits", 1000 if seconds is None else 2**31 - 1)
        shared = game.transposes if transpositions is None else bool(transpositions)
        self._rollouts = rollouts
        self._draw = Draw(temperature, seed)
        settings = SearchSettings(
            seconds=seconds or 0.0, rule="uct", c=c, transpositions=shared, memory=memory, **chosen
        )
        self._search = Search(game, [game.start()], seed=seed, settings=settings)

    def think(self, state: State) -> Thought:
        return finished(self.thinking(state))

    def thinking(self, state: State) -> Steps:
        check_ongoing(state)
        self._search.continue_from(0, state, reuse=bool(self._reuse))
        yield from self._search.slices("rollout", rollouts=self._rollouts)
        return self._draw(self._search.thoughts()[0], state)


class AlphaBeta:
    """Looks ahead move by move as far as its limits let it: the classical opponent, and exact near the end of a game.

    It stops at the first limit that is reached; without any it thinks for a second. Moves and values are the same every
    time where only depth and nodes are limited. Of equal moves it plays the first it finds: there is no seed.
    """

    def __init__(
        self, game: Game, *, depth: int | None = None, nodes: int | None = None, seconds: float | None = None
    ) -> None:
        for name, limit in (("depth", depth), ("nodes", nodes)):
            if limit is not None and not 1 <= limit <= 10**12:
                raise ValueError(f"{name} is {limit}: give at least 1 and at most 10^12")
        if seconds is not None and not 0 < seconds <= 10**6:
            raise ValueError(f"seconds is {seconds}: give a number above 0 and at most 10^6")
        self._depth = None if depth is None else min(depth, 1000)  # no game is looked at as deeply as that
        self._nodes = nodes
        self._seconds = 1.0 if depth is None and nodes is None and seconds is None else seconds
        self._engine = _core.AlphaBeta(game)

    def think(self, state: State, seconds: float | None = None) -> Thought:
        """``seconds``: a further limit, of this move alone."""
        check_ongoing(state)
        began = time.perf_counter()
        limit = min((given for given in (seconds, self._seconds) if given is not None), default=None)
        found = self._engine.think(state, depth=self._depth, nodes=self._nodes, seconds=limit)
        line = Line(tuple(map(state.game.text, found["line"])), found["value"], found["nodes"])
        return Thought(
            found["action"],
            state.game.text(found["action"]),
            found["value"],
            found["visits"],
            (line,),
            found["proven"],
            seconds=time.perf_counter() - began,
            nodes=found["nodes"],
        )


# Makers, or where they are: modules that need this one are imported when they are asked for.
_PLAYERS: dict[str, Callable[..., Player] | str] = {
    "random": Random,
    "mcts": Mcts,
    "alphabeta": AlphaBeta,
    "net": "tesuji.netplayer:NetPlayer",
    "exact": "tesuji.exact:Exact",
    "table": "tesuji.table:TablePlayer",
    "greedy": "tesuji.table:Greedy",
    "mirror": "tesuji.table:Mirror",
    "gtp": "tesuji.protocols.gtp:GtpPlayer",
    "gomocup": "tesuji.protocols.gomocup:GomocupPlayer",
}


def player(text: str, game: Game, *, seed: int = 0, move_seconds: float | None = None) -> Player:
    """The player that a text names, such as ``random`` or ``mcts:visits=2000``.

    ``move_seconds``: that a guest may take for a move; others are stopped from outside (see ``arena``).
    """
    name, options = read(text)
    make = _maker(name)
    parameters = inspect.signature(make).parameters
    if "command" in parameters:
        return make(game, options["command"], seconds=move_seconds)
    if "seed" in parameters:
        options.setdefault("seed", seed)
    return make(game, **options)


def read(text: str) -> tuple[str, dict[str, Any]]:
    """A player's name, and its options as far as its text gives them."""
    if not isinstance(text, str):
        raise TypeError(f"a player is named by a text, not {type(text).__name__}")
    name, _, rest = text.partition(":")
    if name not in _PLAYERS:
        near = difflib.get_close_matches(name, _PLAYERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_PLAYERS)}"
        raise ValueError(f"there is no player {name[:30]!r}: {hint}")
    parameters = inspect.signature(_maker(name)).parameters
    if "command" in parameters:
        return name, {"command": rest}
    known = {key: p for key, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    options: dict[str, Any] = {}
    if "path" in parameters and "path" not in known:
        path, _, others = rest.partition(",")
        key, equals, _ = path.partition("=")
        needed = parameters["path"].default is inspect.Parameter.empty
        if needed or not (equals and key.isidentifier()):  # otherwise it is an option already
            options["path"], rest = path, others
        if needed and not path:
            raise ValueError(f"{name} needs a file: write {name}:PATH")
    for option in filter(None, rest.split(",")):
        key, _, value = option.partition("=")
        if key not in known:
            raise ValueError(f"{name} has no option {key[:30]!r}: it has {', '.join(sorted(known))}")
        options[key] = _read(name, key, value, known[key].annotation)
    return name, options


def _maker(name: str) -> Callable[..., Player]:
    maker = _PLAYERS[name]
    if not isinstance(maker, str):
        return maker
    module, _, attribute = maker.partition(":")
    found: Callable[..., Player] = getattr(importlib.import_module(module), attribute)
    return found


def _read(name: str, key: str, value: str, kind: Any) -> object:
    """An option's value, of the type that the player's class says."""
    if kind in (str, str | None):
        return value
    wanted, words = (float, "a number") if kind in (float, float | None) else (int, "a whole number")
    try:
        return wanted(float(value)) if wanted is int and "e" in value and float(value).is_integer() else wanted(value)
    except ValueError:
        raise ValueError(f"{key} of {name} must be {words}, not {value[:30]!r}") from None


# ── What players have in common ──


class Draw:
    """Chooses a move by chance, in proportion to visits^(1/temperature); at temperature 0, and where the result is
    proven, the best one. A move that is proven to lose is not drawn.
    """

    def __init__(self, temperature: float, seed: int) -> None:
        if not 0 <= temperature <= 100:
            raise ValueError(f"temperature is {temperature:g}: give a number from 0 to 100")
        self._temperature = temperature
        self._random = random.Random(seed)

    def __call__(self, thought: Thought, state: State) -> Thought:
        """The thought with the move that was drawn."""
        lost = -1 if state.to_play == 0 else 1
        moves = [
            (action, visits)
            for (action, visits), line in zip(thought.visits.items(), thought.lines, strict=True)
            if visits and line.proven != lost
        ]
        if self._temperature == 0 or thought.proven is not None or not moves:
            return thought
        most = max(visits for _, visits in moves)
        weights = [(visits / most) ** (1 / self._temperature) for _, visits in moves]
        action = self._random.choices([action for action, _ in moves], weights)[0]
        return dataclasses.replace(thought, action=action, move=state.game.text(action))


def thinking(who: Player, state: State) -> Steps:
    """A player's thought in slices, as far as it can stop in between."""
    slices: Callable[[State], Steps] | None = getattr(who, "thinking", None)
    if slices is None:
        return who.think(state)
    return (yield from slices(state))


def finished(steps: Steps) -> Thought:
    """The thought that slices lead to, all at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            thought: Thought = end.value
            return thought


def check_ongoing(state: State) -> None:
    """Refuses a state in which there is nothing to choose."""
    if state.result is not None:
        raise ValueError("there is nothing to think about: the game is over")
