"""Analysis: the search of one position, which goes on as long as it is asked to and is looked at in between."""

import numpy as np
from numpy.typing import NDArray

from tesuji import players
from tesuji._core import Game, State
from tesuji.evaluate import Evaluator, shared_evaluator
from tesuji.games import family
from tesuji.netplayer import C_PUCT, has_net, shipped
from tesuji.search import Search, SearchSettings
from tesuji.thought import Thought

__all__ = ["Analysis", "best_classical", "best_player"]

# Random games behind an ownership where no net knows better: a tenth of a second on 19×19, and a fiftieth on 9×9.
_OWNERSHIP_GAMES = 400

# Where looking ahead move by move beats random games, each a tenth of a second a move: by 8–0 in gomoku15, dots4 and
# dots5, 7–1 in nogo9, 5–3 in gomoku6x4, with 6 draws 2–0 in gomoku8. It loses 8–0 in go9, and 5–0 in ultimate.
_ALPHABETA = {"gomoku", "nogo", "dots"}
# Dots and Boxes with no more edges are known whole, by a table that is made in half a second.
_TABLE_EDGES = 24


class Analysis:
    """A search of one position that goes on as long as it is asked to, and can be looked at in between."""

    def __init__(self, game: Game, player: str = "", *, threads: int = 1, memory: int = 1 << 28, seed: int = 0) -> None:
        """``player``: a text of ``net`` or ``mcts``; without one, the net that ships, or else ``mcts``.

        Of the text's options those count that say how it searches; how far it goes is said by ``grow``.
        ``threads``: of the net. ``memory``: bytes that the tree may take.
        """
        name, options = players.read(player or ("net" if has_net(game) else "mcts"))
        if name not in ("net", "mcts"):
            raise ValueError(f"an analysis needs a search that can go on, and {name} has none: give net or mcts")
        self._net: Evaluator | None = None
        self._rollouts = options.get("rollouts", 1)
        encoding = "tesuji"
        if name == "net":
            path, device = options.get("path") or shipped(game), options.get("device", "auto")
            self._net = shared_evaluator(path, game, device, threads=threads)
            encoding = self._net.info.encoding
        settings = SearchSettings(
            rule="puct" if self._net else "uct",
            c=options.get("c", C_PUCT if self._net else 1.0),
            fpu=options.get("fpu", 0.2),
            leaves=options.get("leaves") or (8 if self._net else 1),
            transpositions=game.transposes,
            memory=memory,
        )
        self._seed = seed
        self._state = game.start()
        self._search = Search(game, [self._state], seed=seed, encoding=encoding, settings=settings)

    @property
    def state(self) -> State:
        """The position that is looked at."""
        return self._state

    @property
    def guided(self) -> bool:
        """Whether a net guides the search, so that the priors of candidates say something."""
        return self._net is not None

    @property
    def visits(self) -> int:
        """Of the position so far."""
        return self._search.visits(0)

    @property
    def finished(self) -> bool:
        """Whether the result is proven or the memory full: ``grow`` adds nothing."""
        return self._search.stop(0) in ("proven", "full")

    def look(self, state: State) -> None:
        """Turns to another position; what the tree knows of it is kept."""
        if state.game != self._state.game:
            raise ValueError(f"this analysis is of {self._state.game!r}, not of {state.game!r}")
        if state.history != self._state.history:
            self._search.continue_from(0, state)
        self._state = state

    def grow(self, *, visits: int | None = None, seconds: float | None = None) -> Thought:
        """Goes on with the same tree for so many more visits, or so many seconds: what it sees now."""
        players.check_ongoing(self._state)
        self._search.extend(0, visits=visits, seconds=seconds)
        if self._net is None:
            self._search.run("rollout", rollouts=self._rollouts)
        elif self._net.core is not None:
            self._search.run(self._net.core)
        else:
            for leaves in self._search:
                leaves.answer(*self._net.answer_planes(leaves.planes))
        return self._search.thoughts()[0]

    def ownership(self) -> NDArray[np.float32] | None:
        """[rows, cols] in [−1, 1], for First: who is expected to own each cell; None where the game has no owners.

        By the net, or, without one, at the end of random games from here.
        """
        game, state = self._state.game, self._state
        if not game.owned:
            return None
        if state.result is not None:
            final = state.ownership()
            assert final is not None
            return final.astype(np.float32)
        owners = self._net.ownership(state) if self._net else None
        if owners is None:
            return state.expected_ownership(_OWNERSHIP_GAMES, seed=self._seed)
        return (owners if state.to_play == 0 else -owners) * game.ownable()


def best_player(game: Game) -> str:
    """The text of the best player that is at hand for a game: the exact one, the net that ships, or another."""
    classical = best_classical(game)
    return "net" if has_net(game) and classical != "exact" else classical


def best_classical(game: Game) -> str:
    """The text of the best player without a net, which takes a second a move at most."""
    kind = family(game)
    if kind == "dots" and game.actions <= _TABLE_EDGES:
        return "exact"
    return f"{'alphabeta' if kind in _ALPHABETA else 'mcts'}:seconds=1"
