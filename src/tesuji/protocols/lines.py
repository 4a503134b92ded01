"""Lines from another program, read in a thread of their own: so that one who thinks can see that something waits."""

import contextlib
import queue
import threading
from typing import BinaryIO

__all__ = ["Lines"]

_QUEUE = 1000  # lines that may wait; then the other program must


class Lines:
    """The lines of a stream, without their ends. What is longer than ``limit`` bytes is cut."""

    def __init__(self, stream: BinaryIO, *, limit: int = 1 << 16) -> None:
        self._stream = stream
        self._limit = limit
        self._queue: queue.Queue[str | None] = queue.Queue(_QUEUE)
        self._closed = False
        threading.Thread(target=self._read, daemon=True, name="lines").start()

    def next(self) -> str | None:
        """The next line; None at the end, and ever after."""
        line = self._queue.get()
        if line is None:
            self._queue.put(None)
        return line

    def waiting(self) -> bool:
        """Whether the next line, or the end, is there already."""
        return not self._queue.empty()

    def wait(self) -> None:
        """Until the next line, or the end, is there."""
        with self._queue.not_empty:
            while not self._queue.queue:
                self._queue.not_empty.wait()

    def holds(self, line: str) -> bool:
        """Whether such a line waits."""
        with self._queue.mutex:
            return line in self._queue.queue

    def close(self) -> None:
        """What is still to come is not wanted."""
        self._closed = True
        with contextlib.suppress(queue.Empty):
            while True:
                self._queue.get_nowait()

    def _read(self) -> None:
        read = getattr(self._stream, "read1", self._stream.read)
        rest = b""
        while not self._closed:
            try:
                data = read(1 << 16)
            except (OSError, ValueError):  # it was closed
                data = b""
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._put(line)
            rest = rest[: self._limit + 1]
        if rest:
            self._put(rest)
        self._offer(None)

    def _put(self, line: bytes) -> None:
        self._offer(line[: self._limit].decode(errors="replace").rstrip("\r"))

    def _offer(self, line: str | None) -> None:
        offered = False
        while not (offered or self._closed):
            with contextlib.suppress(queue.Full):
                self._queue.put(line, timeout=0.5)
                offered = True
