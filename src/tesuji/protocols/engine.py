"""A program of somebody else, run as a process that speaks lines: whatever it does, we neither wait for ever nor fall.

All that goes wrong with it raises ``Forfeit``, with the reason.
"""

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
import weakref

from tesuji.players import Forfeit

__all__ = ["PATIENCE", "Engine", "find_program", "kill_all"]

PATIENCE = 60.0  # seconds that a guest has for a move where nobody says otherwise

_LINE = 1 << 16  # bytes of one line
_ANSWER = 1 << 20  # bytes of one answer
_GAMES = "/usr/games"  # where Debian puts programs such as GNU Go; not on everybody's path

_alive: "weakref.WeakSet[subprocess.Popen[bytes]]" = weakref.WeakSet()


def kill_all() -> None:
    """Ends every program that runs for us, at once."""
    for process in list(_alive):
        _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """The process and its own children: it leads a session."""
    if process.returncode is not None:
        return  # its number may be another's by now
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def find_program(name: str) -> str | None:
    """The path of a program that can be run; None where there is none."""
    found = shutil.which(name)
    return found or (None if os.sep in name else shutil.which(name, path=_GAMES))


class Engine:
    """The process. It starts with the first line that is sent."""

    def __init__(self, command: str) -> None:
        try:
            words = shlex.split(command)
        except ValueError:
            raise ValueError(f"the command {command[:60]!r} has an open quotation mark") from None
        if not words:
            raise ValueError("there is no command: give a program after the colon, such as gtp:gnugo --mode gtp")
        program = find_program(words[0])
        if program is None:
            raise ValueError(f"there is no program {words[0][:60]!r} that can be run: install it, or give its path")
        self._words = [program, *words[1:]]
        self._process: subprocess.Popen[bytes] | None = None
        self._read = b""  # of its output, not yet asked for
        self._errors = b""  # the end of what it said on stderr
        self._answer = 0
        self._limit = 0.0
        self._begun = 0.0

    @property
    def running(self) -> bool:
        return self._process is not None

    def allow(self, seconds: float) -> None:
        """The clock starts: what is sent and read from now on must be done within so many seconds."""
        self._limit, self._begun = seconds, time.monotonic()

    def send(self, text: str) -> None:
        """Sends a line (or several)."""
        process = self._process or self._start()
        assert process.stdin is not None
        self._answer = 0
        data = text.encode() + b"\n"
        while data:
            if not self._wait(selectors.EVENT_WRITE):
                continue
            try:
                data = data[os.write(process.stdin.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._crash() from None

    def line(self) -> str:
        """The next line that it says, without the end of line."""
        while b"\n" not in self._read:
            if len(self._read) > _LINE:
                raise Forfeit("answered with a line without end")
            self._wait(0)
        line, _, self._read = self._read.partition(b"\n")
        self._answer += len(line) + 1
        if len(line) > _LINE:
            raise Forfeit("answered with a line without end")
        if self._answer > _ANSWER:
            raise Forfeit("answered without end")
        return line.decode(errors="replace").strip("\r")

    def close(self, farewell: str | None = None) -> None:
        """Ends the process: politely first, where there is a word for it."""
        process, self._process, self._read = self._process, None, b""
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        if farewell is not None:
            with contextlib.suppress(OSError):
                os.write(process.stdin.fileno(), farewell.encode() + b"\n")
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.5)
        _kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()

    def _start(self) -> "subprocess.Popen[bytes]":
        self._read = self._errors = b""
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # so that Ctrl-C does not end it before we do, and all of it can be ended
            )
        except OSError as trouble:
            raise Forfeit(f"could not be started: {trouble.strerror}") from None
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        _alive.add(process)
        weakref.finalize(self, _kill, process)  # whoever forgets to close us
        self._process = process
        return process

    def _wait(self, wish: int) -> bool:
        """Waits for something to read (which is read), or with EVENT_WRITE until something can be written."""
        process = self._process
        if process is None:
            raise Forfeit("crashed: it does not run")
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        left = self._begun + self._limit - time.monotonic()
        if left <= 0:
            raise Forfeit(f"used {time.monotonic() - self._begun:.1f} s of {self._limit:g} s")
        writable = False
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not process.stderr.closed:
                selector.register(process.stderr, selectors.EVENT_READ)
            if wish:
                selector.register(process.stdin, wish)
            for key, _ in selector.select(left):
                if key.fileobj is process.stdin:
                    writable = True
                    continue
                data = os.read(key.fd, 1 << 16)
                if key.fileobj is process.stderr:
                    self._errors = (self._errors + data)[-2000:]
                    if not data:
                        process.stderr.close()
                elif data:
                    self._read += data
                    if len(self._read) > _ANSWER:
                        raise Forfeit("answered without end")
                elif b"\n" not in self._read:
                    raise self._crash()
        return writable

    def _crash(self) -> Forfeit:
        """Why it is gone: how it ended, and its last words."""
        process = self._process
        assert process is not None
        try:
            code = process.wait(timeout=1)
            how = f"killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        except subprocess.TimeoutExpired:
            how = "it closed its output"
        if process.stderr is not None and not process.stderr.closed:
            with contextlib.suppress(OSError):
                self._errors += os.read(process.stderr.fileno(), 2000)
        words = self._errors.decode(errors="replace").strip().splitlines()
        last = f" ({' '.join(words[-1].split())[:120]})" if words else ""
        return Forfeit(f"crashed: {how}{last}")
