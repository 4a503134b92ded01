"""The player ``net``: a tree search that a net guides."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tesuji._core import Game, State
from tesuji.evaluate import averaged, shared_evaluator
from tesuji.players import Draw, Steps, check_ongoing, finished
from tesuji.search import Search, SearchSettings
from tesuji.thought import Thought

__all__ = ["C_PUCT", "NetPlayer", "shipped"]

C_PUCT = 0.6
"""How much the unknown attracts where nets guide PUCT: against 1.5 worth 76 ± 62 Elo in ultimate, 61 ± 70 in nogo9, and
nothing that can be measured in the others (docs/log.md)."""

_FEW_VISITS = 32  # too few to measure a speed by less


def shipped(game: Game) -> Path:
    """The file of the net that ships for a game; ValueError with a sentence where none does."""
    path = Path(__file__).parent / "models" / f"{game.name}.onnx"
    if not path.is_file():
        raise ValueError(f"no net ships for {game.name}: train one, and give its file: net:PATH,visits=400")
    return path


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
        checkpoint: int = 0,
        share: float = 0.8,
        reuse: int = 1,
        leaves: int | None = None,
        average: int = 0,
        candidates: int = 1,
        threads: int = 1,
        temperature: float = 0.0,
        device: str = "auto",
        memory: int = 1 << 30,
        seed: int = 0,
    ) -> None:
        """Without a path: with the net that ships. ``temperature`` 0 plays the best move, 1 by shares of visits.

        ``rule``: gumbel, which is the stronger at the same number of visits, or puct, whose shares of visits are what a
        temperature draws by; without it, the one that suits the temperature.
        With ``average`` each position is looked at through all symmetries of the game: slower, and nearer to the truth.
        ``checkpoint`` and ``share``: the dynamic stop of study U, as of ``mcts``. ``candidates``: it believes what
        the game is sure of: which moves are enough, and who wins.
        """
        for name, given in (("reuse", reuse), ("average", average), ("candidates", candidates)):
            if given not in (0, 1):
                raise ValueError(f"{name} is {given}: give 0 or 1")
        self._reuse = bool(reuse)
        self._draw = Draw(temperature, seed)
        if rule is None:
            rule = "gumbel" if temperature == 0 else "puct"  # shares of visits are what a temperature draws by
        if rule not in ("puct", "gumbel"):
            raise ValueError(f"there is no rule {rule[:30]!r} of net: there are puct and gumbel")
        if visits is None:
            visits = 400 if seconds is None else 2**31 - 1
        self._visits = visits
        self._seconds = seconds if rule == "gumbel" else None
        self._speed = 0.0  # visits a second, as far as it is known
        if leaves is None:
            # Batches are faster than single leaves, but a small search should see each answer before it goes on.
            leaves = max(1, min(8, visits // 32))
        settings = SearchSettings(
            visits=visits,
            seconds=seconds or 0.0,
            rule=rule,  # type: ignore[arg-type]
            c=c,
            fpu=fpu,
            checkpoint=checkpoint,
            share=share,
            gumbel_noise=False,
            leaves=leaves,
            transpositions=game.transposes,
            candidates=bool(candidates),
            memory=memory,
        )
        self._evaluator = shared_evaluator(path or shipped(game), game, device, threads=threads)
        self._game, self._average = game, bool(average)
        encoding = self._evaluator.info.encoding
        self._search = Search(game, [game.start()], seed=seed, encoding=encoding, settings=settings)

    def think(self, state: State) -> Thought:
        return finished(self.thinking(state))

    def thinking(self, state: State) -> Steps:
        check_ongoing(state)
        self._search.continue_from(0, state, reuse=self._reuse)
        yield from self._grow() if self._seconds is None else self._grow_for(self._seconds)
        return self._draw(self._search.thoughts()[0], state)

    def _grow(self) -> Iterator[None]:
        for leaves in self._search:
            leaves.answer(*self._answer(leaves.planes))
            yield

    def _grow_for(self, seconds: float) -> Iterator[None]:
        """Gumbel's rounds share out a number of visits: so many as the seconds are worth at the speed that was seen."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > seconds / 4:
            before, began = self._search.visits(0), time.perf_counter()
            if before >= self._visits:
                return
            planned = max(_FEW_VISITS, int(self._speed * left))
            self._search.extend(0, visits=min(planned, self._visits - before), seconds=left)
            yield from self._grow()
            made, spent = self._search.visits(0) - before, time.perf_counter() - began
            self._speed = made / spent if made >= _FEW_VISITS else self._speed
            if self._search.stop(0) != "visits":
                return

    def _answer(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        if self._average:
            return averaged(self._evaluator, self._game, planes)
        return self._evaluator.answer_planes(planes)
