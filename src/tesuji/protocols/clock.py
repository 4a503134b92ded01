"""Time: how long an engine may think about a move. One home for GTP, Gomocup and whatever else counts seconds."""

import time
from dataclasses import dataclass

from tesuji._core import State

__all__ = ["LAG", "Clock", "TimeControl"]

# Seconds that are kept back at every move, for what lies between us and the other's clock.
LAG = 0.15
_END = 5.0  # seconds of the main time that are kept for the end
_LEAST = 0.01  # seconds that are thought in any case
_MOST = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl:
    """What a side has for a game. All zero: no limit."""

    main: float = 0.0
    """Seconds for the whole game."""
    increment: float = 0.0
    """Seconds that every move adds."""
    period: float = 0.0
    """Byo-yomi, after the main time: the seconds of a period …"""
    stones: int = 0
    """… and the moves that it must hold (Canadian). With ``periods``: 1."""
    periods: int = 0
    """How many such periods there are (Japanese); 0: no end of them."""
    turn: float = 0.0
    """Seconds that no move may exceed; 0: no such limit."""

    def __post_init__(self) -> None:
        for name in ("main", "increment", "period", "turn"):
            given = getattr(self, name)
            if not 0 <= given <= _MOST:
                raise ValueError(f"{name} time is {given:g}: give seconds from 0 to {_MOST:g}")
        for name in ("stones", "periods"):
            if not 0 <= getattr(self, name) <= 1_000_000:
                raise ValueError(f"{name} is {getattr(self, name)}: give a whole number from 0 to 1000000")

    @property
    def limited(self) -> bool:
        return self.main > 0 or self.increment > 0 or (self.period > 0 and self.stones > 0) or self.turn > 0


@dataclass(slots=True)
class _Side:
    """What one side has left."""

    seconds: float  # of the main time, or of the period under way
    stones: int = 0  # to be played in the period under way; 0: the main time is running
    periods: int = 0


class Clock:
    """Two sides' time. It is told what is left, or counts for itself from ``start`` to ``stop``."""

    def __init__(self, control: TimeControl | None = None) -> None:
        self.set(control or TimeControl())

    def set(self, control: TimeControl) -> None:
        """Another control, with all its time left."""
        self.control = control
        self.reset()

    def reset(self) -> None:
        """A new game: all the time is there again."""
        control = self.control
        self._sides = [_Side(control.main, periods=control.periods) for _ in range(2)]
        self._begun: float | None = None
        for side in self._sides:
            if control.main == 0:
                self._enter_period(side)

    def _enter_period(self, side: _Side) -> None:
        side.seconds, side.stones = self.control.period, self.control.stones

    def tell(self, side: int, seconds: float, stones: int = 0) -> None:
        """What a side has left, as the other program counts it; ``stones`` 0: of its main time."""
        if not -_MOST <= seconds <= _MOST or not 0 <= stones <= 1_000_000:
            raise ValueError("what is left must be seconds and a number of stones")
        control = self.control
        if control.periods and stones:  # Japanese: the number is that of periods left
            self._sides[side] = _Side(max(0.0, seconds), 1, stones)
        else:
            self._sides[side] = _Side(max(0.0, seconds), stones, control.periods)

    def start(self) -> None:
        """A move is being thought about from now on."""
        self._begun = time.monotonic()

    def stop(self, side: int) -> None:
        """The move was made: its time is taken from what the side had left."""
        if self._begun is None:
            return
        spent, self._begun = time.monotonic() - self._begun, None
        self.spend(side, spent)

    def spend(self, side: int, spent: float) -> None:
        """Takes the time of one move from what a side has left."""
        own, control = self._sides[side], self.control
        if own.stones == 0:
            own.seconds += control.increment - spent
            if own.seconds < 0 and control.period > 0 and control.stones > 0:
                spent = -own.seconds
                self._enter_period(own)
            else:
                own.seconds = max(0.0, own.seconds)
                return
        own.seconds -= spent
        if control.periods:
            while own.seconds <= 0 and own.periods > 1:
                own.seconds += control.period
                own.periods -= 1
            own.seconds = control.period  # a move within a period gives it back
            return
        own.stones -= 1
        if own.stones == 0:
            self._enter_period(own)

    def budget(self, state: State) -> float | None:
        """Seconds that the side to play should think at most; None: there is no limit."""
        control, own = self.control, self._sides[state.to_play]
        if not control.limited:
            return None
        limits = [_reserved(control.turn)] if control.turn > 0 else []
        if own.stones > 0:
            limits.append(_reserved(own.seconds / own.stones))
        elif control.main > 0 or control.increment > 0:
            period = control.period / control.stones if control.period > 0 and control.stones > 0 else 0.0
            # Without a period to fall back on, a little is kept for a game that lasts longer than was thought.
            left = own.seconds if period else max(0.0, own.seconds - min(_END, own.seconds / 2))
            limits.append(left / _moves_left(state) + _reserved(control.increment + period))
            limits.append(_reserved(own.seconds + period))
        return max(_LEAST, min(limits))


def _reserved(limit: float) -> float:
    """A limit less what is kept back for the lag; of very little time that is half."""
    return limit - min(max(LAG, 0.05 * limit), limit / 2)


def _moves_left(state: State) -> float:
    """How many moves of its own a side may still have to make: about a third of those that are possible now."""
    return max(10.0, len(state.legal()) / 3)
