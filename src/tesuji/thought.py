"""What a player saw when it chose a move."""

from dataclasses import dataclass, field

__all__ = ["Line", "Thought"]


@dataclass(frozen=True, slots=True)
class Line:
    """One candidate: what would follow, and what it is worth."""

    moves: tuple[str, ...]  # texts, the candidate first
    value: float | None  # in [−1, 1], for First
    visits: int
    prior: float | None = None
    proven: int | None = None  # the result with best play after it (+1, 0, −1), where it is known for certain


@dataclass(frozen=True, slots=True)
class Thought:
    """What a player saw. Only the move is always there."""

    action: int
    move: str  # the action's text
    value: float | None = None  # in [−1, 1], for First; None where the player has no opinion
    visits: dict[int, int] = field(default_factory=dict)  # how often each action was looked at
    lines: tuple[Line, ...] = ()  # candidates, best first
    proven: int | None = None  # the result with best play (+1, 0, −1), where it is known for certain
    plies: int | None = None  # to that result
    seconds: float = 0.0
    stop: str = ""  # what ended the search
    nodes: int = 0  # of the tree
    memory: int = 0  # bytes of the tree
    policy: dict[int, float] = field(default_factory=dict)  # what the search recommends to learn
