"""A client of the web app for tests: a real websocket to a real server."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tesuji.web import server as web
from tesuji.web.limits import Limits


class Client:
    """One connection; messages are heard in their order."""

    def __init__(self, port: int, host: str = "127.0.0.1", **options: Any) -> None:
        """``host``: that is asked for; the connection goes to this machine in any case."""
        link = socket.create_connection(("127.0.0.1", port))
        address = f"ws://{host}:{port}/ws"
        self._stack = contextlib.ExitStack()
        connected = connect(address, sock=link, max_size=None, compression=None, close_timeout=1, **options)
        self.socket: ClientConnection = self._stack.enter_context(connected)
        self.welcome = self.hear()
        assert self.welcome["is"] == "welcome"

    def hear(self, seconds: float = 60) -> dict[str, Any]:
        message = self.socket.recv(timeout=seconds)
        found: dict[str, Any] = json.loads(message)
        return found

    def say(self, do: str, **more: Any) -> None:
        self.socket.send(json.dumps({"do": do, **more}))

    def of(self, kind: str, seconds: float = 60, **facts: Any) -> dict[str, Any]:
        """The next message like that; those before it are passed over."""
        return self.wait(lambda m: m["is"] == kind and all(m.get(k) == v for k, v in facts.items()), seconds)

    def wait(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        until = time.monotonic() + seconds
        while True:
            message = self.hear(max(0.01, until - time.monotonic()))
            if wanted(message):
                return message

    def play_on(self, seconds: float = 60) -> dict[str, Any]:
        """Plays the first legal move whenever it is the person's turn, to the end of the game."""
        until = time.monotonic() + seconds
        while True:
            here = self.wait(lambda m: m["is"] == "position" and not m["thinking"], until - time.monotonic())
            if here["result"] is not None:
                return here
            if here["seats"][here["to_play"]] == "human":
                self.say("play", action=here["legal"][0], ply=here["ply"])

    def close(self) -> None:
        self._stack.close()


@contextlib.contextmanager
def serving(limits: Limits | None = None, **options: Any) -> Iterator[int]:
    """A server in a thread of its own; its port."""
    listening = web.bind("127.0.0.1", 0)
    running = web.runner(web.Server(limits=limits, **options))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield listening.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(timeout=20)
        listening.close()
        assert not thread.is_alive()


def raw(port: int, request: bytes) -> bytes:
    """What a server answers to bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        sock.sendall(request)
        answer = b""
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while part := sock.recv(1 << 16):
                answer += part
    return answer
