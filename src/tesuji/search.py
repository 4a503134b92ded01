"""Search: trees that grow by select, expand and backup (``cpp/search``), and evaluators that answer their leaves."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from tesuji._core import CpuNet, Forest, Game, State
from tesuji.checks import check_numbers
from tesuji.thought import Line, Thought

__all__ = ["Leaves", "Search", "SearchSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a tree grows, and when it stops. Limits: whichever is met first."""

    visits: int = 1000
    """Visits of the root, those kept from the last move among them."""
    seconds: float = 0.0
    """Seconds; 0: no limit."""
    rule: Literal["puct", "uct", "gumbel"] = "puct"
    """How edges are chosen: PUCT with priors, UCT without, or Gumbel with sequential halving at the root."""
    c: float = 1.5
    """How much the unknown attracts: c_puct, or UCT's constant."""
    fpu: float = 0.2
    """PUCT: an edge without a visit is worth its node's mean less this, for the mover."""
    c_visit: float = 50.0
    """Gumbel: values count (c_visit + most visits) · c_scale beside the logits of priors."""
    c_scale: float = 1.0
    considered: int = 16
    """Gumbel: how many actions the root considers."""
    checkpoint: int = 0
    """Dynamic stop: every so many visits look whether the best move has more than ``share`` of them; 0: never."""
    share: float = 0.8
    prior_temperature: float = 1.0
    """A network's logits are divided by it: above 1 its favourite moves count for less, and others are looked at."""
    noise_weight: float = 0.0
    """Of Dirichlet noise in the root's priors."""
    noise_concentration: float = 0.3
    gumbel_noise: bool = True
    """Gumbel: whether chance has a say at the root. Learning needs it; a player that wants to win does not."""
    leaves: int = 1
    """Visits under way at once in one tree."""
    transpositions: bool = False
    """Whether equal states share a node. Not exact in Go, where superko remembers how a position came about."""
    candidates: bool = False
    """Whether it believes what the game is sure of. It looks only at the moves among which is a best one: in Dots and
    Boxes one of several that come to the same, in Gomoku the one that wins or that stops a five; a single one is
    followed unasked. And it takes the game's word for who wins (whole chains and loops, a win by fours) and who cannot
    (in Ultimate Tic-Tac-Toe)."""
    draw: float = 0.0
    """What a draw is worth to who moves at the root, in [−1, 1]: below 0 it looks for more than a draw, and risks
    more. Values have that price in them."""
    solve: int = 0
    """Nodes that an exact solver may spend on every leaf that it has a hope to settle; 0: nobody is asked."""
    notes: bool = False
    """Whether the solver keeps what it learned at a leaf for the next ones of the tree: faster, for some megabytes."""
    memory: int = 1 << 30
    """Bytes that one tree may take; when they are used up the search stops."""

    def __post_init__(self) -> None:
        bounds = {
            "visits": (1, 2**31 - 1),
            "seconds": (0, 1e9),
            "c": (0, 1e6),
            "fpu": (-2, 2),
            "c_visit": (0, 1e6),
            "c_scale": (0, 1e6),
            "considered": (1, 100_000),
            "checkpoint": (0, 2**31 - 1),
            "share": (0, 1),
            "prior_temperature": (0.01, 100),
            "noise_weight": (0, 1),
            "noise_concentration": (1e-6, 1e6),
            "leaves": (1, 4096),
            "draw": (-1, 1),
            "solve": (0, 2**31 - 1),
            "memory": (1 << 16, 1 << 44),
        }
        check_numbers(self, bounds)
        if self.rule not in ("puct", "uct", "gumbel"):
            raise ValueError(f"there is no rule {self.rule!r}: there are puct, uct and gumbel")


class Leaves:
    """One batch: states that wait for a network's answer."""

    def __init__(self, forest: Forest, count: int, encoding: str) -> None:
        self._forest = forest
        self._encoding = encoding
        self.count = count
        self.answered = False

    @property
    def planes(self) -> NDArray[np.float32]:
        """[leaves, planes, rows, cols], from each mover's side."""
        return self._forest.planes(self._encoding)

    def answer(self, policy: NDArray[np.float32], value: NDArray[np.float32]) -> None:
        """Logits [leaves, actions] and values [leaves] in [−1, 1], each for its leaf's mover."""
        self._forest.deliver(np.ascontiguousarray(policy, np.float32), np.ascontiguousarray(value, np.float32))
        self.answered = True


class Search:
    """Searches of one game in step, one tree a state.

    With a network outside::

        search = Search(game, states, visits=200)
        for leaves in search:
            leaves.answer(*net(leaves.planes))

    or with an evaluator of the core: ``search.run("rollout")``. Then ``search.thoughts()``.
    """

    def __init__(
        self,
        game: Game,
        states: Sequence[State],
        *,
        seed: int = 0,
        threads: int = 1,
        encoding: str = "tesuji",
        settings: SearchSettings | None = None,
        **changes: object,
    ) -> None:
        """``changes`` are fields of SearchSettings."""
        self.settings = settings_of(settings, changes)
        if not 1 <= threads <= 1024:
            raise ValueError(f"threads is {threads}: give a number from 1 to 1024")
        game.plane_names(encoding)  # refuses an unknown one now, not in the middle
        self._states = list(states)
        self._encoding = encoding
        self._started = time.perf_counter()
        self._forest = Forest(game, self._states, asdict(self.settings), seed, threads)

    def __iter__(self) -> Iterator[Leaves]:
        while count := self._forest.collect():
            leaves = Leaves(self._forest, count, self._encoding)
            yield leaves
            if not leaves.answered:
                raise ValueError("these leaves were not answered: call leaves.answer(policy, value)")

    def run(self, evaluator: Literal["rollout", "uniform"] | CpuNet = "rollout", *, rollouts: int = 1) -> Self:
        """Searches to the end with an evaluator of the core: by name, or a net on the CPU (``fastnet``)."""
        for _ in self.slices(evaluator, rollouts=rollouts, seconds=1e9):
            pass
        return self

    def slices(
        self,
        evaluator: Literal["rollout", "uniform"] | CpuNet = "rollout",
        *,
        rollouts: int = 1,
        seconds: float = 0.05,
    ) -> Iterator[None]:
        """Like ``run``, but stops every so many seconds to let others have their turn."""
        if rollouts < 1:
            raise ValueError(f"rollouts is {rollouts}: give at least 1")

        def ended() -> bool:
            if isinstance(evaluator, CpuNet):
                return self._forest.run_net(evaluator, self._encoding, seconds)
            return self._forest.run(evaluator, rollouts, seconds)

        while not ended():
            yield

    def continue_from(self, tree: int, state: State, *, reuse: bool = True) -> None:
        """Searches on in that tree from a state; with ``reuse``, what its moves since the last one lead to is kept."""
        before, now = self._states[tree].history, state.history
        follows = reuse and now[: len(before)] == before and len(now) > len(before)
        since = now[len(before) :] if follows else []
        self._states[tree] = state
        self._started = time.perf_counter()
        self._forest.restart(tree, state, since)

    def extend(self, tree: int, *, visits: int | None = None, seconds: float | None = None) -> None:
        """Goes on in that tree with all that it holds: so many visits more, or so many seconds."""
        if visits is None and seconds is None:
            raise ValueError("say how far the search is to go on: give visits or seconds")
        if visits is not None and not 1 <= visits < 2**31:
            raise ValueError(f"visits is {visits}: give a whole number from 1 to {2**31 - 1}")
        if seconds is not None and not 0 < seconds <= 1e9:
            raise ValueError(f"seconds is {seconds:g}: give a number above 0 and at most 1e9")
        most = 2**31 - 1
        until = most if visits is None else min(most, self._forest.root(tree)[0] + visits)
        self._forest.extend(tree, until, seconds or 0.0)

    def visits(self, tree: int) -> int:
        """Of a tree's root."""
        return self._forest.root(tree)[0]

    def depth(self, tree: int) -> tuple[int, float]:
        """Plies from a tree's root to its farthest node, and of a visit on average."""
        return self._forest.depth(tree)

    def stop(self, tree: int) -> str:
        """What ended the search in a tree."""
        return self._forest.root(tree)[4]

    def thoughts(self) -> list[Thought]:
        """What each search found; of a state that is over there is nothing to think."""
        seconds = time.perf_counter() - self._started
        return [self._thought(i, state, seconds) for i, state in enumerate(self._states)]

    def _thought(self, tree: int, state: State, seconds: float) -> Thought:
        text = state.game.text
        moves = self._forest.report(tree)
        if not moves:
            raise ValueError("there is nothing to think about: the game is over")
        _, value, proven, plies, stop, nodes, memory = self._forest.root(tree)
        lines = tuple(
            Line(
                tuple(map(text, line)),
                value=worth if seen or known is not None else None,
                visits=seen,
                prior=prior,
                proven=known,
            )
            for _, seen, worth, prior, _, known, line in moves
        )
        best = moves[0]
        return Thought(
            action=best[0],
            move=text(best[0]),
            value=value,
            visits={action: seen for action, seen, *_ in moves},
            lines=lines,
            proven=proven,
            plies=plies,
            seconds=seconds,
            stop=stop,
            nodes=nodes,
            memory=memory,
            policy={action: improved for action, _, _, _, improved, *_ in moves},
        )


def settings_of(settings: SearchSettings | None, changes: dict[str, object]) -> SearchSettings:
    """Settings with changes by name; an unknown name is refused."""
    base = asdict(settings or SearchSettings())
    for name in changes:
        if name not in base:
            raise ValueError(f"a search has no setting {name!r}: it has {', '.join(base)}")
    return SearchSettings(**{**base, **changes})
