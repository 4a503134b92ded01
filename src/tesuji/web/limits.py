"""What one person, and all together, may ask of the server."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a server. The defaults suit a machine with two cores and two gigabytes."""

    message: int = 1 << 18
    """Bytes of a message."""
    rate: float = 30.0
    """Messages a second, on average; one that takes long to answer counts as several."""
    burst: int = 100
    """Messages at once."""
    tables: int = 500
    """Connections in all."""
    tables_an_address: int = 40
    """Connections from one address; those of this machine count only in all."""
    nodes: int = 3000
    """Positions of a tree of variations."""
    ping_seconds: float = 30.0
    """A client that does not answer a ping of the websocket within this time is gone."""
    waiting: int = 100
    """Messages that may wait for a client that does not read."""
    waiting_seconds: float = 30.0
    """How long one of them may wait."""
    idle_seconds: float = 3600.0
    """After so long without a command (a ping is none) a connection is closed."""
    reply_seconds: float = 60.0
    """Work for one move of a program."""
    long_seconds: float = 5.0
    """A move of a program that cannot be stopped in the middle of a thought."""
    player_memory: int = 1 << 27
    """Bytes of the tree of a program while it thinks."""
    kept_memory: int = 1 << 21
    """Bytes of that tree that are kept for the next move; a larger one is given up."""
    analysis_seconds: float = 120.0
    """Work on one position."""
    analysis_memory: int = 1 << 26
    """Bytes of the tree of an analysis, hint or review."""
    own_memory: int = 1 << 28
    """The same for a person at this very machine."""
    memory: int = 1 << 31
    """Bytes of all those trees together."""
    review_seconds: float = 45.0
    """Work on one game."""
    runs: int = 1
    """Runs of training that the Lab may have under way."""
