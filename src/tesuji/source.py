"""Where the games of a run come from: self-play on this machine, or other machines (``cluster``)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from tesuji.machine import cores

if TYPE_CHECKING:  # looking at a run needs none of these
    from tesuji.config import Config, Crowd
    from tesuji.evaluate import Evaluator, Lane
    from tesuji.nets import Net
    from tesuji.selfplay import SelfPlaySettings

__all__ = ["Here", "Source", "here"]


class Source(Protocol):
    """Plays the games that a run learns from."""

    beside: bool
    """Whether games go on while the learner trains."""

    @property
    def positions(self) -> int:
        """Made since the beginning, to learn from."""

    @property
    def at_work(self) -> int:
        """Nets that answer at once."""

    def play(self, *, positions: int, seconds: float, stop: Callable[[], bool]) -> bytes:
        """Frames of games that ended, once there are so many more positions, after so many seconds, or on ``stop``."""

    def arrived(self, *, positions: float) -> bytes:
        """Frames of games that ended while nobody asked, of about so many positions at most."""

    def acknowledge(self, flush: Callable[[], None]) -> None:
        """All frames that were handed over are in their file; ``flush`` makes sure that they outlive the machine."""

    def publish(self, net: "Net", steps: int) -> None:
        """From now on this net plays, which has so many steps of training behind it."""

    def counters(self) -> dict[str, float]:
        """Totals since the beginning: those of self-play, ``slots`` and ``seconds_busy`` of its nets."""

    def facts(self) -> dict[str, Any]:
        """What else there is to tell, now."""

    def close(self) -> None:
        """Plays no more."""


class Here:
    """Self-play on this machine: a net, its lanes and the games in them."""

    beside = False

    def __init__(
        self,
        evaluator: "Evaluator",
        settings: "SelfPlaySettings",
        crowd: "Crowd",
        *,
        encoding: str,
        threads: int,
        steps: int,
        seed: int,
    ) -> None:
        from tesuji.evaluate import OnnxEvaluator
        from tesuji.selfplay import SelfPlay, shares

        on_cpu = isinstance(evaluator, OnnxEvaluator)
        lanes = shares(crowd.games, crowd.lanes or (threads if on_cpu else 3))
        self._evaluator: Any = evaluator
        self._lanes = [_CountedLane(evaluator.lane(share)) for share in lanes]
        self._selfplay = SelfPlay(
            evaluator.game, self._lanes, settings, encoding=encoding, threads=1 if on_cpu else threads, seed=seed
        )
        self._selfplay.set_net(steps)
        self.at_work = len(lanes) if on_cpu else 1

    @property
    def positions(self) -> int:
        """Those of games under way among them."""
        return self._selfplay.positions

    def play(self, *, positions: int, seconds: float, stop: Callable[[], bool]) -> bytes:
        return self._selfplay.play(positions=positions, seconds=seconds, stop=stop)

    def arrived(self, *, positions: float) -> bytes:
        return b""

    def acknowledge(self, flush: Callable[[], None]) -> None:
        """A save flushes soon enough for games that nobody else counts."""

    def publish(self, net: "Net | bytes", steps: int) -> None:
        """``net`` is whatever the evaluator can be updated with."""
        self._evaluator.update(net)
        self._selfplay.set_net(steps)

    def counters(self) -> dict[str, float]:
        return self._selfplay.counters() | {
            "slots": sum(lane.slots for lane in self._lanes),
            "seconds_busy": self._evaluator.busy,
        }

    def facts(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """There is nothing to end: games go on only while they are asked to."""


def here(config: "Config", net: "Net", *, steps: int, seed: int) -> Here:
    """All of this machine plays."""
    from tesuji.evaluate import evaluator

    return Here(
        evaluator(net, net.game, config.run.device, kernel=config.run.kernel),
        config.selfplay,
        config.crowd,
        encoding=config.run.encoding,
        threads=config.crowd.threads or cores(),
        steps=steps,
        seed=seed,
    )


class _CountedLane:
    """A lane that knows how many answers it was asked for, empty places among them."""

    def __init__(self, lane: "Lane") -> None:
        self.planes, self.policy, self.value = lane.planes, lane.policy, lane.value
        self.wait = lane.wait
        self._submit = lane.submit
        self.slots = 0

    def submit(self) -> None:
        self.slots += len(self.value)
        self._submit()
