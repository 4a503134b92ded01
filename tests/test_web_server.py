"""The server of the web app: a real one on a free port, real websockets, and people who mean no good."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from webclient import Client, raw, serving
from websockets.exceptions import ConnectionClosed, InvalidStatus

import tesuji
from tesuji.web import server as web
from tesuji.web.limits import Limits

ROOT = Path(__file__).parent.parent

# A client's keepalive draws from the global chance now and then, in a thread of its own; no strategy here does.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pages, with things beside it that are nobody's business."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "secret.txt").write_text("secret")
    static = folder / "static"
    (static / "deep").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html><title>Tesuji</title>")
    (static / "app.js").write_text("export {};")
    (static / "deep" / "board.css").write_text("body {}")
    (static / ".hidden").write_text("secret")
    (static / "link.txt").symlink_to(folder / "secret.txt")
    return static


@pytest.fixture(scope="module")
def port(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(static=pages, runs=tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture
def client(port: int) -> Iterator[Client]:
    someone = Client(port)
    yield someone
    someone.close()


def get(port: int, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


# ── Pages ──


def test_pages_and_their_headers(port: int) -> None:
    status, headers, text = get(port, "/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Tesuji" in text
    assert headers["cache-control"] == "no-store"
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers
    status, headers, _ = get(port, "/static/app.js")
    assert (status, headers["cache-control"]) == (200, "no-cache")
    assert headers["content-type"].startswith("text/javascript")
    assert get(port, "/static/deep/board.css")[0] == 200
    status, _, text = get(port, "/healthz")
    assert (status, json.loads(text)["ok"]) == (200, True)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../secret.txt",
        "/static/%2e%2e/secret.txt",
        "/static/..%2fsecret.txt",
        "/static/deep/../../secret.txt",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/.hidden",
        "/static/link.txt",
        "/static/deep",
        "/static/",
        "/static/app.js%00.html",
        "/static/..\\secret.txt",
        "/docs/games/..%2fweb.md",
        "/docs/games/secret.md",
        "/secret.txt",
        "/nothing",
    ],
)
def test_no_other_file_is_served(port: int, path: str) -> None:
    status, _, text = get(port, path)
    assert status == 404
    assert "secret" not in text


def test_other_hosts_are_refused(port: int) -> None:
    """A stranger's name that stands for our address must not get through."""
    assert get(port, "/", Host="evil.example")[0] == 421
    assert get(port, "/", Host="127.0.0.1.evil.example")[0] == 421
    assert get(port, "/", Host="")[0] in (400, 421)
    for host in ("localhost", f"localhost:{port}", "127.0.0.1", "[::1]:80", "192.168.1.7"):
        assert get(port, "/", Host=host)[0] == 200
    with pytest.raises(InvalidStatus, match="421"):
        Client(port, "evil.example")


def test_a_name_can_be_allowed(pages: Path) -> None:
    with serving(static=pages, hosts=("play.example",)) as port:
        assert get(port, "/", Host="play.example")[0] == 200
        # Behind a proxy nobody sits at this very machine.
        someone = Client(port, additional_headers={"X-Forwarded-For": "203.0.113.5"})
        assert not someone.welcome["own"]
        assert not someone.welcome["lab"]
        someone.close()


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://evil.example:{port}"])
def test_other_origins_are_refused(port: int, origin: str) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        Client(port, origin=origin.format(port=port))


def test_the_own_origin_may_connect(port: int) -> None:
    Client(port, origin=f"http://127.0.0.1:{port}").close()


def test_junk_instead_of_http(port: int) -> None:
    assert b"400" in raw(port, b"\x00\xff nonsense\r\n\r\n")
    assert raw(port, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n")[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431", b"")
    assert get(port, "/healthz")[0] == 200


# ── Talking ──


def test_the_welcome_says_all_that_pages_need(client: Client) -> None:
    welcome = client.welcome
    assert welcome["version"] == tesuji.__version__
    assert [game["name"] for game in welcome["games"]] == tesuji.games()
    assert welcome["families"] == ["ultimate", "gomoku", "nogo", "dots", "go"]
    games = {game["name"]: game for game in welcome["games"]}
    go9 = games["go9"]
    assert go9["numbers"] == {"komi": {"default": 7, "step": 0.5, "least": 0, "most": 81}}
    assert (go9["texts"][81], go9["cells"][81], go9["cells"][0]) == ("pass", None, 0)
    assert (go9["look"], go9["sgf"], go9["owned"], go9["scored"]) == ("crossings", True, True, True)
    assert games["dots3"]["look"] == "edges"
    assert not games["dots3"]["sgf"]
    assert sum(games["dots3"]["ownable"]) == 9
    assert games["ultimate"]["block"] == 3
    assert [level["name"] for level in welcome["levels"]["go9"]][::6] == ["seedling", "strongest"]
    assert welcome["own"]
    assert welcome["lab"]


@pytest.mark.parametrize("name", ["ultimate", "gomoku6x4", "nogo5", "dots3", "go5"])
def test_a_whole_game_of_each_family(client: Client, name: str) -> None:
    client.say("new", game=name, seats=["human", "seedling"])
    assert client.play_on()["result"] in (-1, 0, 1)


def test_every_command(client: Client) -> None:
    client.say("hello", language="zh-Hant")
    client.say("new", game="gomoku8", seats=["human", "human"])
    here = client.of("position")
    client.say("play", action=here["legal"][5], ply=0)
    assert client.of("position")["ply"] == 1
    client.say("undo")
    assert client.of("position")["ply"] == 0
    client.say("go", node=1)
    assert client.of("position")["node"] == 1
    client.say("swap")
    client.of("position")
    client.say("hint")
    assert client.of("hint")["line"]
    client.say("analyse", on=True)
    assert client.of("analysis")["visits"] > 0
    client.say("analyse", on=False)
    client.say("review")
    assert client.of("review", done=True)["accuracy"]
    for form in ("sgf", "json"):
        client.say("save", format=form)
        saved = client.of("saved", format=form)
        client.say("load", format=form, text=saved["text"])
        assert client.of("position")["ply"] == 1
    client.say("open", game="go9", numbers={"komi": 5.5}, moves=["e5"], seats=["human", "human"])
    assert client.of("position")["game"] == "go9"
    client.say("seats", seats=["casual", "casual"])
    client.say("pause", on=True)
    assert client.of("position", paused=True)
    client.say("seats", seats=["human", "human"])
    client.say("resign")
    assert client.of("position", reason="resign")["result"] == 1
    client.say("stop")
    client.say("lab", what="runs")
    assert client.of("runs")["runs"] == []
    client.say("ping")
    client.of("pong")


def test_two_people_do_not_disturb_each_other(port: int, client: Client) -> None:
    other = Client(port)
    client.say("new", game="gomoku8", seats=["human", "human"])
    other.say("new", game="go9", seats=["human", "human"])
    client.say("play", action=3)
    client.of("position", ply=1)
    other.say("play", action=40)
    assert other.of("position", ply=1)["game"] == "go9"
    other.close()
    client.say("undo")
    assert client.of("position", ply=0)["game"] == "gomoku8"


# ── Junk, floods, people who leave ──


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[]",
        "3",
        '"play"',
        "null",
        "{}",
        '{"do": null}',
        '{"do": ["new"]}',
        '{"do": "nosuch"}',
        '{"do": "new"}',
        '{"do": "new", "game": 3}',
        '{"do": "new", "game": "go9", "numbers": [1]}',
        '{"do": "new", "game": "go9", "numbers": {"komi": NaN}}',
        '{"do": "new", "game": "go9", "numbers": {"__class__": 1}}',
        '{"do": "new", "game": "go9", "seats": "human"}',
        '{"do": "play", "action": 1e999}',
        '{"do": "play", "action": {"a": 1}}',
        '{"do": "go", "node": -1}',
        '{"do": "lab", "what": "watch", "run": "../../etc"}',
        '{"do": "lab", "what": "start", "game": "go9", "minutes": "long"}',
        '{"do": "load", "format": "json", "text": {}}',
        '{"a":' * 30_000,
        "[" * 200_000,
        "😀 \u0000",
    ],
)
def test_junk_gets_a_sentence_and_the_table_lives_on(client: Client, text: str) -> None:
    client.socket.send(text)
    trouble = client.of("trouble")
    assert trouble["text"]
    assert trouble["key"]
    assert "log" not in trouble["text"]  # nothing unforeseen
    client.say("ping")
    client.of("pong")


def test_bytes_are_refused(client: Client) -> None:
    client.socket.send(b"\x00\x01")
    assert "not bytes" in client.of("trouble")["text"]


def test_a_message_that_is_too_long_ends_the_connection(port: int) -> None:
    someone = Client(port)
    with contextlib.suppress(ConnectionClosed):
        someone.socket.send("x" * ((1 << 18) + 1))
        someone.of("pong")
    assert someone.socket.close_code == 1009
    other = Client(port)
    other.close()


def test_a_flood_is_warned_of_and_then_ended(port: int) -> None:
    someone = Client(port)
    with contextlib.suppress(ConnectionClosed):
        for _ in range(1000):
            someone.say("ping")
    heard: list[dict[str, Any]] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            heard.append(someone.hear())
    kinds = [message["is"] for message in heard]
    assert kinds.count("pong") < 200
    assert [m["key"] for m in heard if m["is"] == "trouble"] == ["flood"]
    assert heard[-1] == {"is": "gone", "text": "you sent too many messages"}


def test_who_leaves_in_the_middle_of_a_thought_takes_the_work_along(port: int, client: Client) -> None:
    before = cpu_seconds()
    for _ in range(8):
        someone = Client(port)
        someone.say("new", game="go9", seats=["player:mcts:seconds=60", "human"])
        someone.say("analyse", on=True)
        someone.say("review")
        someone.of("thinking", on=True)
        someone.socket.socket.close()  # without a word

    def calm() -> bool:
        began = cpu_seconds()
        time.sleep(0.5)
        return cpu_seconds() - began < 0.3

    assert any(calm() for _ in range(20))
    assert cpu_seconds() - before < 15
    client.say("new", game="gomoku8", seats=["casual", "human"])
    assert client.of("position", ply=1)


def cpu_seconds() -> float:
    return time.process_time()


def test_who_does_not_read_is_left_behind(pages: Path) -> None:
    """The server neither waits nor hoards: its queue is bounded, and the others play on."""
    with serving(Limits(waiting=20, waiting_seconds=1, rate=1e6, burst=10**6), static=pages) as port:
        lazy, other = Client(port), Client(port)
        lazy.say("open", game="go19", moves=[tesuji.game("go19").text(a) for a in range(0, 300, 2)])
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            lazy.socket.socket.settimeout(0.5)
            for node in range(2000):
                lazy.say("go", node=node % 140)
        other.say("new", game="gomoku8", seats=["human", "casual"])
        other.say("play", action=27)
        assert other.of("position", ply=2)
        until = time.monotonic() + 30
        while json.loads(get(port, "/healthz")[2])["tables"] > 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        other.close()


def test_tables_are_limited_and_idle_ones_closed(pages: Path) -> None:
    with serving(Limits(tables=2, idle_seconds=0.5), static=pages) as port:
        one, two = Client(port), Client(port)
        with pytest.raises(InvalidStatus, match="503"):
            Client(port)
        for _ in range(4):  # a ping is no sign of life
            time.sleep(0.2)
            with contextlib.suppress(ConnectionClosed):
                one.say("ping")
        assert "nothing happened" in one.of("gone")["text"]
        two.close()


COMMANDS = ["new", "open", "play", "go", "undo", "resign", "swap", "seats", "pause", "hint", "analyse", "review"]
COMMANDS += ["stop", "load", "save", "hello", "ping", "lab"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["go5", "gomoku3", "dots2", "human", "casual", "a1", "sgf", "json", "runs", "zh-Hans", "(;GM[1])"]
    )
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner), max_leaves=6
)
KEYS = st.sampled_from(
    ["game", "numbers", "seats", "action", "ply", "node", "on", "format", "text", "moves", "language", "what", "run"]
)
FUZZED = st.fixed_dictionaries({"do": st.sampled_from(COMMANDS)}).flatmap(
    lambda head: st.dictionaries(KEYS, VALUES, max_size=4).map(lambda more: more | head)
)


@pytest.fixture(scope="module")
def patient(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client whom nobody calls a flood."""
    with serving(
        Limits(rate=1e6, burst=10**6, ping_seconds=600), static=pages, runs=tmp_path_factory.mktemp("none")
    ) as port:
        someone = Client(port)
        yield someone
        someone.close()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FUZZED, min_size=1, max_size=6))
def test_fuzzed_commands_never_break_a_table(patient: Client, commands: list[dict[str, Any]]) -> None:
    for command in commands:
        if command["do"] == "lab" and command.get("what") == "start":
            continue
        patient.socket.send(json.dumps(command))
    patient.say("new", game="gomoku3", seats=["human", "human"])
    patient.say("the end")
    told: list[dict[str, Any]] = []
    while not told or told[-1].get("about") != "the end":
        told.append(patient.hear())
    assert any(m["is"] == "position" and m["game"] == "gomoku3" and m["ply"] == 0 for m in told)
    assert all("log" not in m["text"] for m in told if m["is"] == "trouble")


# ── The command ──


def test_the_command_serves_soon_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tesuji.cli", "play", "go9", "--no-browser", "--port", "0", "--runs", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            line = process.stdout.readline()
            assert line.startswith("Tesuji plays at http://127.0.0.1:")
            assert "#go9" in line
            port = int(line.split(":")[2].split("/")[0])
            get(port, "/")
            someone = Client(port)
            took = time.perf_counter() - began
            assert took < 5 * (1 + os.getloadavg()[0] / (os.cpu_count() or 1))
            someone.say("new", game="go9", seats=["strongest", "human"])
            someone.of("thinking", on=True)
            process.send_signal(signal.SIGINT)
            assert "server has ended" in someone.of("gone")["text"]
            assert process.wait(timeout=10) == 0
            assert process.stdout.read() == ""
        finally:
            process.kill()


def test_a_taken_port_leads_to_the_next() -> None:
    with contextlib.closing(web.bind("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with contextlib.closing(web.bind("127.0.0.1", number)) as found:
            assert number < found.getsockname()[1] < number + 50
    with pytest.raises(ValueError, match="no address"):
        web.bind("nosuch.invalid", 0)


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, tesuji.cli, tesuji.web.server; print([m for m in ('torch', 'onnxruntime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_twenty_clients_play_at_once() -> None:
    """A small version of what benchmarks/web_load.py measures."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from web_load import load
    finally:
        sys.path.pop(0)
    with serving(threads=2) as port:
        figures = load(port, clients=20, games=1, level="novice", names=["gomoku6x4", "dots3", "ultimate"])
    assert figures.errors == []
    assert figures.games == 20
    assert figures.moves > 200
