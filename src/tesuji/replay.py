"""Replay: the records of self-play as batches to learn from (``cpp/selfplay/samples``)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tesuji import _core
from tesuji._core import Game

__all__ = ["Batch", "Window"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Positions and what to learn of them, each from its mover's side."""

    planes: NDArray[np.uint64]
    """[n, packed words]: planes as bits, then scalars."""
    policy: NDArray[np.float32]
    """[n, actions]: shares."""
    wdl: NDArray[np.float32]
    """[n, 3]: win, draw, loss."""
    score: NDArray[np.float32]
    """[n]: the final margin."""
    ownership: NDArray[np.int8]
    """[n, cells]: +1 the mover's, −1 the other's."""
    aux_weight: NDArray[np.float32]
    """[n]: 1 where score and ownership are known (the game was played out), else 0."""

    def __len__(self) -> int:
        return len(self.planes)

    @classmethod
    def empty(cls, game: Game, n: int, encoding: str = "tesuji") -> "Batch":
        return cls(
            np.empty((n, game.packed_words(encoding)), np.uint64),
            np.empty((n, game.actions), np.float32),
            np.empty((n, 3), np.float32),
            np.empty(n, np.float32),
            np.empty((n, game.rows * game.cols), np.int8),
            np.empty(n, np.float32),
        )


class Window:
    """The newest games, from which positions are drawn, each seen through a random symmetry."""

    def __init__(
        self,
        game: Game,
        encoding: str = "tesuji",
        *,
        value_mix: float = 0.0,
        value_plies: float = 1.0,
        threads: int = 1,
    ) -> None:
        """``value_mix``: the share of what the searches said in the value to learn; the rest is the result.

        ``value_plies``: over how many plies from the position on, on average; 1: its own search alone.
        """
        if not 0 <= value_mix <= 1:
            raise ValueError(f"value_mix is {value_mix:g}: give a number from 0 to 1")
        if not 1 <= value_plies <= 1000:
            raise ValueError(f"value_plies is {value_plies:g}: give a number from 1 to 1000")
        self.game = game
        self.encoding = encoding
        self._window = _core.Window(game, encoding, value_mix, value_plies)
        self._crew = _core.Crew(threads)

    @property
    def games(self) -> int:
        return self._window.games

    @property
    def positions(self) -> int:
        return self._window.positions

    @property
    def net(self) -> float:
        """The steps of training behind the nets of its games, on average."""
        return self._window.net

    @property
    def digest(self) -> int:
        """Stands for the contents: equal records in equal order give equal digests."""
        return self._window.digest

    def append(self, frames: bytes) -> None:
        """Adds records as self-play made them; ValueError with a sentence where they are damaged."""
        self._window.append(frames, self._crew)

    def trim(self, positions: int) -> None:
        """Drops the oldest games until at most so many positions are left."""
        self._window.trim(positions)

    def sample(self, n: int, seed: int) -> Batch:
        """Positions, each as likely as any other. The same seed and window give the same batch."""
        if not 1 <= n <= 1 << 20:
            raise ValueError(f"a batch has 1 to {1 << 20} samples, not {n}")
        batch = Batch.empty(self.game, n, self.encoding)
        self._window.sample(
            seed, self._crew, batch.planes, batch.policy, batch.wdl, batch.score, batch.ownership, batch.aux_weight
        )
        return batch

    def batches(self, n: int, seeds: Iterator[int]) -> Iterator[Batch]:
        """A batch a seed; the next one is drawn while the last is learned from."""
        with ThreadPoolExecutor(1) as ahead:
            waiting = None
            for seed in seeds:
                ready, waiting = waiting, ahead.submit(self.sample, n, seed)
                if ready is not None:
                    yield ready.result()
            if waiting is not None:
                yield waiting.result()
