"""The one who thinks behind an engine: a player that heeds a clock."""

import time
from collections.abc import Callable
from typing import cast

from tesuji import players
from tesuji._core import Game, State
from tesuji.analysis import Analysis, best_player
from tesuji.netplayer import NetPlayer, has_net
from tesuji.thought import Thought

__all__ = ["Thinker"]

_SLICE = 0.1  # seconds between two looks at whether it is interrupted


class Thinker:
    """Chooses moves for an engine. ``mcts`` goes on with the tree that an analysis grew; a net has a tree of its own,
    since it plays by another rule than the one that shows what every move is worth."""

    def __init__(self, game: Game, player: str = "", *, threads: int = 1, memory: int = 1 << 28, seed: int = 0) -> None:
        """``player``: its text; without one, the best that is at hand."""
        self.game = game
        self.text = player or best_player(game)
        name, self._options = players.read(self.text)
        # Who named no player left it to the clock; its usual seconds are for when there is none.
        self._usual: float | None = None if player else self._options.pop("seconds", None)
        self._searches = name in ("net", "mcts")
        self._net: NetPlayer | None = None
        self._made = {"threads": threads, "memory": memory, "seed": seed}
        self._draw = players.Draw(self._options.get("temperature", 0.0), seed)
        self._analysis: Analysis | None = None
        self._player: players.Player | None = None
        if name == "alphabeta" and self._usual is not None:
            self._player = players.AlphaBeta(game, depth=1000)
        elif not self._searches:
            self._player = players.player(self.text, game, seed=seed)
        elif name == "net":
            if not player and has_net(game, fast=True):  # the stronger by any clock, and so for a second without one
                self._options |= {"fast": 1, "rule": "puct"}
                self._usual = 1.0
            self._net = NetPlayer(game, **self._made | self._options)
        else:
            players.player(self.text, game)  # refuses options that cannot be

    @property
    def analysis(self) -> Analysis:
        """The search of all moves: with the player's net or random games, else with the net that ships, or ``mcts``."""
        if self._analysis is None:
            self._analysis = Analysis(self.game, self.text if self._searches else "", **self._made)
        return self._analysis

    def think(
        self,
        state: State,
        seconds: float | None = None,
        *,
        interrupted: Callable[[], bool] = lambda: False,
        watch: Callable[[Thought], None] | None = None,
    ) -> Thought:
        """A move for the side to play, within so many seconds and the player's own limits.

        ``watch`` is told now and then what a player that searches sees.
        """
        players.check_ongoing(state)
        seconds = self._usual if seconds is None else seconds
        if self._player is not None:
            if isinstance(self._player, players.AlphaBeta):
                return self._player.think(state, seconds)
            return self._player.think(state)
        if self._net is not None:
            return self._think_with(self._net, state, seconds, interrupted, watch)
        analysis, options = self.analysis, self._options
        analysis.look(state)
        limits = [limit for limit in (seconds, options.get("seconds")) if limit is not None]
        until = time.monotonic() + min(limits) if limits else None
        visits = options.get("visits", 2**31 - 1 if limits else 1000)
        if len(state.legal()) == 1:
            visits = 1
        thought = None
        while thought is None or not (
            analysis.finished
            or analysis.visits >= visits
            or interrupted()
            or (until is not None and time.monotonic() >= until)
        ):
            left = _SLICE if until is None else min(_SLICE, until - time.monotonic())
            thought = analysis.grow(visits=max(1, visits - analysis.visits), seconds=max(0.001, left))
            if watch is not None:
                watch(thought)
        return self._draw(thought, state)

    def _think_with(
        self,
        net: NetPlayer,
        state: State,
        seconds: float | None,
        interrupted: Callable[[], bool],
        watch: Callable[[Thought], None] | None,
    ) -> Thought:
        told = time.monotonic()
        steps = net.thinking(state, seconds)
        try:
            next(steps)
            while not interrupted():
                if watch is not None and time.monotonic() - told > _SLICE:
                    told = time.monotonic()
                    watch(net.seen(state))
                next(steps)
            thought = net.seen(state)
        except StopIteration as end:
            thought = cast(Thought, end.value)
        if watch is not None:
            watch(thought)
        return thought

    def think_without(self, state: State, action: int, seconds: float | None = None) -> Thought:
        """The same, but another move than this one: each of the others gets a little of the search."""
        others = [other for other in state.legal() if other != action]
        thought = self.think(state, seconds)
        if thought.action != action or not others:
            return thought
        analysis, side = self.analysis, 1 if state.to_play == 0 else -1
        best, most = thought, -2.0
        for other in others:
            following = state.play(other)
            value: float = following.result or 0
            if following.result is None:
                analysis.look(following)
                value = analysis.grow(visits=max(8, 1000 // len(others)), seconds=1).value or 0.0
            if side * value > most:
                best, most = Thought(other, state.game.text(other), value), side * value
        return best
