"""The server: pages, one websocket a table, and limits that keep one client from spoiling it for the others."""

import asyncio
import collections
import contextlib
import errno
import ipaddress
import json
import logging
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

import tesuji
from tesuji.games import family
from tesuji.machine import cores
from tesuji.web import levels
from tesuji.web.lab import Lab
from tesuji.web.limits import Limits
from tesuji.web.table import Desk, Message, Table, Trouble
from tesuji.web.tree import has_sgf
from tesuji.web.work import Pool

__all__ = ["Server", "bind", "runner", "serve"]

_STATIC = Path(__file__).with_name("static")
_RULES = Path(__file__).parents[3] / "docs/games"  # in a checkout; an installed package has no documentation
_SAFE_PATH = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Streams: of these only the newest is worth sending to a client that is slow to read.
_STREAMS = ("analysis", "review")

_TOKEN = 0.004  # seconds of work of the one thread that talks to all: they count as a message more
_LINGER = 5.0  # seconds after its end in which a connection may still be written to

_log = logging.getLogger("tesuji.web")


# ── What the pages are told first ──


def describe(name: str) -> Message:
    """All that a page needs of a game: it knows no rules."""
    game = tesuji.game(name)
    return {
        "name": game.name,
        "family": family(game),
        "title": game.title,
        "rows": game.rows,
        "cols": game.cols,
        "look": game.look,
        "block": game.block,
        "actions": game.actions,
        "numbers": {
            key: {"default": initial, "step": step, "least": least, "most": most}
            for key, (initial, least, most, step, _) in game.number_ranges.items()
        },
        "cells": [game.locate(action) for action in range(game.actions)],
        "texts": [game.text(action) for action in range(game.actions)],
        "ownable": [bool(cell) for cell in game.ownable().ravel()],
        "sgf": has_sgf(game),
        "owned": game.owned,
        "scored": game.scored,
        "symmetries": game.symmetries,
    }


# ── One connection ──


class _Connection:
    """A websocket and its table. What is to be sent waits in a queue that cannot grow without bound."""

    def __init__(self, server: "Server", websocket: WebSocket, *, own: bool) -> None:
        self._websocket = websocket
        self._limits = server.limits
        self._waiting: collections.deque[Message] = collections.deque()
        self._changed = asyncio.Event()
        self._gone: str | None = None  # why the connection ends
        self._code = 1008
        self._tokens, self._counted = float(server.limits.burst), time.monotonic()
        self._warned = False
        self._active = time.monotonic()
        self._own = own
        self._server = server
        self._table = Table(server.desk, self.tell, own=own)

    def tell(self, message: Message) -> None:
        if self._gone is not None:
            return
        if message["is"] in _STREAMS:
            for i, old in enumerate(self._waiting):
                if old["is"] == message["is"]:
                    self._waiting[i] = message
                    return
        if len(self._waiting) >= self._limits.waiting:
            self._waiting.clear()
            self.leave("you did not read what was sent")
            return
        self._waiting.append(message)
        self._changed.set()

    def leave(self, why: str, code: int = 1008) -> None:
        """Ends the connection, with a sentence."""
        if self._gone is None:
            self._gone, self._code = why, code
            self._changed.set()

    async def run(self) -> None:
        tasks = [asyncio.create_task(call()) for call in (self._receive, self._send, self._watch_idle)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._table.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self) -> None:
        """What the person says, until nothing more comes."""
        while True:
            event = await self._websocket.receive()
            if event["type"] == "websocket.disconnect":
                return
            if self._admit():
                began = time.thread_time()
                self._obey(event.get("text"))
                self._tokens -= (time.thread_time() - began) / _TOKEN
            await asyncio.sleep(0)  # others have their turn

    def _admit(self) -> bool:
        """Counts messages. Too many are answered once with a word of warning, then with the end."""
        now = time.monotonic()
        limits = self._limits
        self._tokens = min(limits.burst, self._tokens + (now - self._counted) * limits.rate)
        self._counted = now
        self._tokens -= 1
        if self._tokens >= 0:
            self._warned = self._warned and self._tokens < limits.burst / 2
            return True
        if not self._warned:
            self._warned = True
            self._trouble("flood", "flood", f"that is too fast: send at most {limits.rate:g} messages a second")
        elif self._tokens < -limits.burst:
            self.leave("you sent too many messages")
        return False

    def _obey(self, text: str | None) -> None:
        about = ""
        try:
            if text is None:
                raise Trouble("junk", "messages are texts, not bytes")
            try:
                command = json.loads(text)
            except (ValueError, RecursionError):
                raise Trouble("junk", "this is no JSON") from None
            if not isinstance(command, dict):
                raise Trouble("junk", 'a command is an object with a "do"')
            about = str(command.get("do"))[:30]
            if about != "ping":
                self._active = time.monotonic()
            self._table.obey(command)
        except Trouble as trouble:
            self._trouble(about, trouble.key, str(trouble))
        except (ValueError, TypeError) as refusal:
            self._trouble(about, "refused", str(refusal))
        except Exception:
            _log.exception("a command failed")
            self._trouble(about, "failed", "something went wrong here; the server's log says what")

    def _trouble(self, about: str, key: str, text: str) -> None:
        self.tell({"is": "trouble", "about": about, "key": key, "text": text})

    async def _send(self) -> None:
        """What is waiting, one after the other; at the end a word of goodbye."""
        await self._send_text(self._server.welcome(own=self._own))
        while self._gone is None:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting:
                began = time.thread_time()
                text = json.dumps(self._waiting.popleft(), ensure_ascii=False)
                self._tokens -= (time.thread_time() - began) / _TOKEN
                await self._send_text(text)
        await self._send_text(json.dumps({"is": "gone", "text": self._gone}))
        await self._websocket.close(self._code)

    async def _send_text(self, text: str) -> None:
        async with asyncio.timeout(self._limits.waiting_seconds):
            await self._websocket.send_text(text)

    async def _watch_idle(self) -> None:
        while (left := self._active + self._limits.idle_seconds - time.monotonic()) > 0:
            await asyncio.sleep(left)
        self.leave("nothing happened here for a long time")
        await asyncio.sleep(self._limits.waiting_seconds)


# ── The application ──


class Server:
    """An ASGI application, and what its connections share."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        threads: int | None = None,
        hosts: tuple[str, ...] = (),
        runs: Path = Path("runs"),
        static: Path = _STATIC,
    ) -> None:
        """``hosts``: names besides addresses and ``localhost`` under which the server may be asked for."""
        self.limits = limits or Limits()
        self._threads = threads or max(2, cores())  # one is always there for quick replies
        self._lab = Lab(runs, self.limits.runs)
        self._hosts = {host.lower() for host in hosts}
        self._static = static.resolve()
        self._connections: dict[_Connection, str] = {}  # and their addresses
        self._welcome: dict[bool, str] = {}
        routes = [
            Route("/", self._page("index.html")),
            Route("/lab", self._page("lab.html")),
            Route("/healthz", self._health),
            Route("/static/{path:path}", self._file),
            Route("/docs/games/{family}.md", self._rules),
            WebSocketRoute("/ws", self._socket),
        ]
        self.app: ASGIApp = _Guard(Starlette(routes=routes, lifespan=self._lifespan), self.knows)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        self.desk = Desk(Pool(self._threads, loop.call_soon_threadsafe), self.limits, self._lab)
        try:
            yield
        finally:
            await asyncio.to_thread(self.desk.pool.close)
            await asyncio.to_thread(self._lab.close)

    def welcome(self, *, own: bool) -> str:
        """The first message, made once."""
        if own not in self._welcome:
            games = [describe(name) for name in tesuji.games()]
            limits = self.limits
            self._welcome[own] = json.dumps(
                {
                    "is": "welcome",
                    "version": tesuji.__version__,
                    "games": games,
                    "families": list(dict.fromkeys(game["family"] for game in games)),
                    "levels": {
                        name: [level.to_json() for level in levels.levels(tesuji.game(name))] for name in tesuji.games()
                    },
                    "default_level": levels.DEFAULT,
                    "lab": own,
                    "own": own,
                    "docs": _RULES.is_dir(),
                    "limits": {"message": limits.message, "nodes": limits.nodes, "rate": limits.rate},
                },
                ensure_ascii=False,
            )
        return self._welcome[own]

    def goodbye(self) -> None:
        """Tells everybody that the server ends."""
        for connection in list(self._connections):
            connection.leave("the server has ended", 1001)

    # Who may ask

    def knows(self, connection: HTTPConnection) -> bool:
        """Whether the host that was asked for is one of ours. A stranger's name may stand for our address (DNS
        rebinding); an address cannot.
        """
        name = _host(connection.headers.get("host", ""))
        if name in self._hosts or name in _LOOPBACK:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _same_origin(self, websocket: WebSocket) -> bool:
        """Programs give no origin; a browser gives that of the page, which must be ours."""
        origin = websocket.headers.get("origin")
        return origin is None or urlsplit(origin).netloc.lower() == websocket.headers.get("host", "").lower()

    def _own(self, connection: HTTPConnection) -> bool:
        """Whether the person sits at this very machine, and not behind a proxy."""
        headers = connection.headers
        forwarded = any(name in headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
        return not forwarded and _host(headers.get("host", "")) in _LOOPBACK and _is_loopback(_address(connection))

    # Pages

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def page(request: Request) -> Response:
            path = self._static / name
            if not path.is_file():
                return PlainTextResponse("the pages are not installed", 404)
            return FileResponse(path, headers={"cache-control": "no-store"})

        return page

    async def _file(self, request: Request) -> Response:
        name = request.path_params["path"]
        path = (self._static / name).resolve() if _SAFE_PATH.fullmatch(name) else None
        if path is None or not path.is_relative_to(self._static) or not path.is_file():
            return PlainTextResponse("not found", 404)
        caching = "no-store" if path.suffix == ".html" else "no-cache"
        return FileResponse(path, headers={"cache-control": caching})

    async def _rules(self, request: Request) -> Response:
        """The page of a family of games, as a text."""
        name = request.path_params["family"]
        path = _RULES / f"{name}.md"
        if name not in {family(tesuji.game(game)) for game in tesuji.games()} or not path.is_file():
            return PlainTextResponse("not found", 404)
        return FileResponse(path, media_type="text/plain; charset=utf-8", headers={"cache-control": "no-cache"})

    async def _health(self, request: Request) -> Response:
        told = {"ok": True, "version": tesuji.__version__, "tables": len(self._connections)}
        return JSONResponse(told, headers={"cache-control": "no-store"})

    # The websocket

    async def _socket(self, websocket: WebSocket) -> None:
        if not self._same_origin(websocket):
            await websocket.send_denial_response(PlainTextResponse("this origin may not connect", 403))
            return
        address = _address(websocket)
        theirs = sum(other == address for other in self._connections.values())
        full = len(self._connections) >= self.limits.tables
        if full or (not _is_loopback(address) and theirs >= self.limits.tables_an_address):
            await websocket.send_denial_response(PlainTextResponse("there is no free table: come back later", 503))
            return
        await websocket.accept()
        connection = _Connection(self, websocket, own=self._own(websocket))
        self._connections[connection] = address
        try:
            with contextlib.suppress(WebSocketDisconnect):
                await connection.run()
        finally:
            del self._connections[connection]


class _Guard:
    """Refuses hosts that are not ours, and adds headers that keep browsers careful."""

    def __init__(self, app: ASGIApp, knows: Callable[[HTTPConnection], bool]) -> None:
        self._app = app
        self._knows = knows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def careful(event: Event) -> None:
            if event["type"] in ("http.response.start", "websocket.http.response.start"):
                event["headers"] = [
                    *event.get("headers", []),
                    *((name.encode(), value.encode()) for name, value in _HEADERS.items()),
                ]
            await send(event)

        if not self._knows(HTTPConnection(scope)):
            refusal = PlainTextResponse("this host is not known here", 421)
            if scope["type"] == "websocket":
                await WebSocket(scope, receive, careful).send_denial_response(refusal)
            else:
                await refusal(scope, receive, careful)
            return
        await self._app(scope, receive, careful)


def _host(header: str) -> str:
    """The name of a host header, without its port."""
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]*)(?::\d+)?", header)
    return found[1].lower() if found else ""


def _address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client is not None else ""


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


# ── Running it ──


def bind(host: str, port: int, *, tries: int = 50) -> socket.socket:
    """A socket that listens at a port, or the next free one; port 0: any free one."""
    try:
        kind = socket.AF_INET6 if ipaddress.ip_address(host).version == 6 else socket.AF_INET
    except ValueError:
        kind = socket.AF_INET
    for candidate in range(port, min(port + tries, 65536) if port else 1):
        listening = socket.socket(kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(1024)
        except OSError as trouble:
            listening.close()
            if isinstance(trouble, socket.gaierror):
                raise ValueError(f"there is no address {host!r}") from None
            if candidate == port + tries - 1 or trouble.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise ValueError(f"{host} port {candidate} cannot be opened: {trouble.strerror}") from None
            continue
        return listening
    raise ValueError(f"no port from {port} on is free")


class _Protocol(WebSocketsSansIOProtocol):
    """A websocket whose end is one: what a client does not read is not kept for it."""

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        self.loop.call_later(_LINGER, self.transport.abort)


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._tables = server

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._tables.goodbye()
        await asyncio.sleep(0.05)  # so that the word is heard
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)


def runner(server: Server) -> uvicorn.Server:
    """What runs a server on sockets, until it is told to end."""
    config = uvicorn.Config(
        server.app,
        ws=_Protocol,
        ws_max_size=server.limits.message,
        ws_ping_interval=server.limits.ping_seconds,
        ws_ping_timeout=server.limits.ping_seconds,
        ws_per_message_deflate=False,
        http="h11",
        loop="asyncio",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="error",  # junk is not worth a line each
        timeout_keep_alive=20,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=1 << 16,
    )
    return _Uvicorn(config, server)


def serve(server: Server, listening: socket.socket) -> None:
    """Serves until Ctrl-C or SIGTERM."""
    with contextlib.suppress(KeyboardInterrupt):
        runner(server).run(sockets=[listening])
