"""The player ``net``: a tree search that a net guides."""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tesuji import _core, exact
from tesuji._core import Game, State
from tesuji.evaluate import averaged, shared_evaluator
from tesuji.players import Draw, Steps, check_ongoing, finished
from tesuji.search import Search, SearchSettings
from tesuji.thought import Thought

__all__ = ["C_PUCT", "NetPlayer", "has_net", "shipped"]

C_PUCT = 1.0
"""How much the unknown attracts where nets guide PUCT. Less is better with a good net (docs/log.md), but then a net
that knows nothing never looks beyond its first move."""

_VISITS = 400  # where nobody says how many, nor how long
_FEW_VISITS = 32  # too few to measure a speed by less
_MANY_VISITS = 2_000  # with more of them PUCT is the stronger (docs/log.md)
_SPEEDS = {"mosaic": 400_000}  # visits a second, about
_SPEED = 2_000  # of others
_PRIOR_TEMPERATURES = {"mosaic": 4 / 3}  # with PUCT (docs/log.md); 1 for others
_NO_LIMIT = 2**31 - 1
_DRAWS = {"ultimate": -0.7}  # what a draw is worth to the fast net that ships: against others it is worth the risk

# What an exact solver may spend before the search, and after it: nodes for each visit, or a share of the seconds.
_NODES_A_VISIT = 128
_NODES_A_SECOND = 1_000_000  # the slowest; others make up to three times as many
_MOST_NODES = 500_000  # nobody can interrupt it
_SOLVER_SHARE = 0.2
_HOPE = 4  # it often needs less than its usual effort
_PATIENCE = 16  # and seldom more than so many times that
_DOUBTED = 24  # moves that are looked at after the search, at most


def shipped(game: Game, *, fast: bool = False) -> Path:
    """The file of the net that ships for a game, or of its fast one; ValueError with a sentence where none does.

    A fast net knows less, and is asked so much more often that it is the better one within a time.
    """
    path = Path(__file__).parent / "models" / f"{game.name}{'-fast' if fast else ''}.onnx"
    if not path.is_file():
        kind = "fast net" if fast else "net"
        raise ValueError(f"no {kind} ships for {game.name}: train one, and give its file: net:PATH,visits=400")
    return path


def has_net(game: Game, *, fast: bool = False) -> bool:
    """Whether a net, or a fast one beside it, ships for a game."""
    try:
        shipped(game, fast=fast)
    except ValueError:
        return False
    return True


class NetPlayer:
    """Searches with a net's policy and values, and keeps its tree between moves."""

    def __init__(
        self,
        game: Game,
        path: str = "",
        *,
        visits: int | None = None,
        seconds: float | None = None,
        rule: str | None = None,
        c: float = C_PUCT,
        fpu: float = 0.2,
        prior_temperature: float | None = None,
        checkpoint: int = 0,
        share: float = 0.8,
        reuse: int = 1,
        leaves: int | None = None,
        fast: int | None = None,
        average: int = 0,
        candidates: int = 1,
        draw: float | None = None,
        solve: int = 500,
        threads: int = 1,
        temperature: float = 0.0,
        device: str = "auto",
        memory: int = 1 << 30,
        seed: int = 0,
    ) -> None:
        """Without a path: with the net that ships, or with the fast one (``fast``); where nobody says which, with the
        fast one, if there is one, where seconds are the only limit. ``temperature`` 0 plays the best move, 1 by shares
        of visits.

        ``rule``: gumbel, which is the stronger with up to some thousand visits, or puct, which is so with more of them,
        and whose shares of visits are what a temperature draws by; without it, the one that suits.
        ``prior_temperature``: above 1 the net's favourite moves count for less in the search; without it 1, but with
        PUCT and a net of the architecture mosaic, which gains by 4/3 (docs/log.md).
        With ``average`` each position is looked at through all symmetries of the game: slower, and nearer to the truth.
        ``checkpoint`` and ``share``: the dynamic stop of study U, as of ``mcts``. ``candidates``: it believes what
        the game is sure of: which moves are enough, who wins and who cannot. ``draw``: what a draw is worth to it;
        below 0 it looks for more, and risks more; without it 0, but for the fast net that ships (docs/log.md).
        ``solve``: nodes that an exact solver may spend on a leaf of the tree; above 0, where it may well know the rest,
        it is also asked before the search, and no move is played that ends the game in a loss while there are others;
        for a player with a temperature, who means to err, it is always 0.
        """
        if fast is None:
            fast = int(visits is None and seconds is not None and has_net(game, fast=True))
        switches = {"reuse": reuse, "fast": fast, "average": average, "candidates": candidates}
        for name, given in switches.items():
            if given not in (0, 1):
                raise ValueError(f"{name} is {given}: give 0 or 1")
        self._reuse = bool(reuse)
        solve = solve if temperature == 0 else 0
        self._solves = solve > 0
        self._draw = Draw(temperature, seed)
        ours = not path and fast
        path = path or str(shipped(game, fast=bool(fast)))
        self._evaluator = shared_evaluator(path, game, device, threads=threads)
        can_price = self._evaluator.core is not None and not average
        if draw is None:
            draw = _DRAWS.get(game.name, 0.0) if ours and can_price else 0.0
        elif draw and not can_price:
            raise ValueError("draw needs a net that says how likely one is: on the CPU, without threads and average")
        architecture = str(self._evaluator.info.settings.get("architecture"))
        if rule is None:
            speed = _SPEEDS.get(architecture, _SPEED)
            likely = min(
                visits or (_VISITS if seconds is None else _NO_LIMIT),
                _NO_LIMIT if seconds is None else speed * seconds,
            )
            rule = "gumbel" if temperature == 0 and likely <= _MANY_VISITS else "puct"
        if rule not in ("puct", "gumbel"):
            raise ValueError(f"there is no rule {rule[:30]!r} of net: there are puct and gumbel")
        if prior_temperature is None:
            prior_temperature = _PRIOR_TEMPERATURES.get(architecture, 1.0) if rule == "puct" else 1.0
        if seconds == 0:
            raise ValueError("seconds is 0: give a number above 0")
        self._visits, self._seconds = visits, seconds
        self._plans = rule == "gumbel"
        self._speed = 0.0  # visits a second, as far as it is known
        if leaves is None:
            # Batches are faster than single leaves, but a small search should see each answer before it goes on.
            leaves = max(1, min(8, (visits or _VISITS) // 32))
        settings = SearchSettings(
            visits=_VISITS if visits is None else visits,  # every search is told its own
            seconds=0.0 if seconds is None else seconds,
            rule=rule,  # type: ignore[arg-type]
            c=c,
            fpu=fpu,
            prior_temperature=prior_temperature,
            checkpoint=checkpoint,
            share=share,
            gumbel_noise=False,
            leaves=leaves,
            transpositions=game.transposes,
            candidates=bool(candidates),
            draw=draw,
            solve=solve,
            notes=solve > 0,
            memory=memory,
        )
        self._game, self._average = game, bool(average)
        encoding = self._evaluator.info.encoding
        self._search = Search(game, [game.start()], seed=seed, encoding=encoding, settings=settings)

    def think(self, state: State, seconds: float | None = None) -> Thought:
        """``seconds``: a further limit, of this move alone."""
        return finished(self.thinking(state, seconds))

    def thinking(self, state: State, seconds: float | None = None) -> Steps:
        check_ongoing(state)
        began = time.perf_counter()
        limit = min((given for given in (seconds, self._seconds) if given is not None), default=None)
        until = None if limit is None else began + limit
        nodes = self._solver_nodes(state, limit)
        known = self._solution(state, nodes, timed=limit is not None) if nodes else None
        if known is not None and (known.margin is not None or known.result == (1, -1)[state.to_play]):
            return exact.thought(state, known, known.best[0])
        self._search.continue_from(0, state, reuse=self._reuse)
        if limit is not None:
            spent = time.perf_counter() - began
            limit = max(limit / 4, limit - spent - (nodes > 0 and known is None) * nodes / _NODES_A_SECOND)
        yield from self._grow(limit)
        seen = self.seen(state)
        if known is not None:
            # Drawn, or lost against who sees it: among the moves that keep what there is, the net's favourite.
            return exact.thought(
                state, known, max(known.best, key=lambda move: seen.visits.get(state.game.parse(move), 0))
            )
        return self._doubted(state, seen, nodes, until) if self._solves else seen

    def _solver_nodes(self, state: State, seconds: float | None) -> int:
        """What a solver may spend on a question about this state; 0: there is no hope, or nobody to ask."""
        if not self._solves:
            return 0
        nodes = min(_MOST_NODES, _NODES_A_VISIT * (self._visits or (_VISITS if seconds is None else _NO_LIMIT)))
        if seconds is not None:
            nodes = min(nodes, int(_NODES_A_SECOND * _SOLVER_SHARE * seconds))
        effort = _core.effort(state)
        return min(nodes, math.ceil(_PATIENCE * effort)) if effort <= _HOPE * nodes else 0

    def _solution(self, state: State, nodes: int, *, timed: bool) -> exact.Solution | None:
        limits = {"nodes": 3 * nodes, "seconds": nodes / _NODES_A_SECOND} if timed else {"nodes": nodes}
        found = exact.solve(state, **limits)
        return None if found.result is None else found

    def _doubted(self, state: State, seen: Thought, nodes: int, until: float | None) -> Thought:
        """The best move that does not end the game in a loss, such as a pass, nor has an answer that a solver sees."""
        if seen.proven is not None:
            return seen
        others = sorted((a for a in seen.visits if a != seen.action), key=lambda action: -seen.visits[action])
        for action in (seen.action, *others[: _DOUBTED - 1]):
            after = state.play(action)
            result = _core.settle(after, nodes) if nodes else after.result
            if result != (-1, 1)[state.to_play] or (until is not None and time.perf_counter() > until):
                return replace(seen, action=action, move=state.game.text(action))
        return seen

    def seen(self, state: State) -> Thought:
        """What its search of this state, which may be under way, has found so far."""
        return self._draw(self._search.thoughts()[0], state)

    def _grow(self, seconds: float | None) -> Iterator[None]:
        """Gumbel's rounds share out a number of visits: so many as the seconds are worth at the speed that was seen."""
        most = self._visits or (_VISITS if seconds is None else _NO_LIMIT)
        began = time.perf_counter()
        while (before := self._search.visits(0)) < most:
            planned, left = most - before, None
            now = time.perf_counter()
            if seconds is not None:
                left = max(0.001, began + seconds - now)
                if left <= seconds / 4 and before > 0:
                    return
                if self._plans:
                    planned = min(planned, max(_FEW_VISITS, int(self._speed * left)))
            self._search.extend(0, visits=planned, seconds=left)
            yield from self._answered()
            if self._search.stop(0) != "visits":
                return
            if (made := self._search.visits(0) - before) >= _FEW_VISITS:
                self._speed = made / (time.perf_counter() - now)

    def _answered(self) -> Iterator[None]:
        """The search until it stops: in the core, where the net is there too."""
        if self._evaluator.core is not None and not self._average:
            yield from self._search.slices(self._evaluator.core)
            return
        for leaves in self._search:
            answer = (
                averaged(self._evaluator, self._game, leaves.planes)
                if self._average
                else self._evaluator.answer_planes(leaves.planes)
            )
            leaves.answer(*answer)
            yield
