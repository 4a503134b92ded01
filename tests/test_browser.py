"""The pages in a real browser: whole games by clicks, touch and keys, analysis, review, languages, files, reconnecting.

One server, one browser. Pictures go to build/screenshots, to be looked at.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

import tesuji
from tesuji.web.levels import NAMES

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "src/tesuji/web/static"
PICTURES = ROOT / "build/screenshots"
LANGUAGES = ("en", "zh-Hans", "zh-Hant")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium (Debian's package chromium)")

# Every game to its end, on small boards where there are some. Quick levels: what is tested is the page.
GAMES = ("ultimate", "gomoku6x4", "nogo4", "dots2", "go5")

PATIENCE = 30_000  # milliseconds, on a busy machine
expect.set_options(timeout=PATIENCE)


class Served:
    """A server in its own process, at a port that stays the same when it is started again."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._port = "0"
        self.address = ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tesuji.cli", "play", "--no-browser", "--port", self._port]
        self._process = subprocess.Popen(
            [*command, "--runs", str(self._runs)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert self._process.stdout is not None
        found = re.search(r"http://[\d.]+:(\d+)/", self._process.stdout.readline())
        assert found, "the server did not start"
        self.address, self._port = found[0], found[1]

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=20)


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = Served(tmp_path_factory.mktemp("runs"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield made
        made.close()


class Visit:
    """A visitor's page, and what one does there. Anything that the browser complains about fails the test."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)
        self.address = address

    def see(self, place: str = "") -> "Visit":
        """The page, at a link; a first visitor is asked what to play."""
        self.page.goto(self.address + place)
        if not place:
            self.at("#new[open]").wait_for()
        return self

    def at(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def spot(self, action: int) -> Locator:
        return self.at(f'.spot[data-action="{action}"]')

    def open_spots(self) -> list[int]:
        script = "spots => spots.map(spot => Number(spot.dataset.action))"
        return self.at("#board .spot.legal").evaluate_all(script)

    def start(self, game: str, *, level: str = "seedling", who: str = "program", side: str = "first") -> None:
        """A new game by the dialog."""
        if not self.at("#new[open]").count():
            self.at("#do-new").click()
        family = next(name for name in ("ultimate", "gomoku", "nogo", "dots", "go") if game.startswith(name))
        self.at(f'#new input[name=family][value="{family}"]').check()
        self.at(f'#new input[name=size][value="{game}"]').check()
        self.at(f'#new input[name=who][value="{who}"]').check()
        if who == "program":
            self.at(f'#new input[name=side][value="{side}"]').check()
            self.at(f'#new input[name=level][value="{level}"]').check()
        self.at("#new-start").click()
        self.page.wait_for_function("game => location.hash.slice(1).split(/[:/]/)[0] === game", arg=game)

    def ply(self) -> int:
        return int(self.at("#steps .count").inner_text().split("/")[0])

    def wait_for_turn(self) -> bool:
        """Until the person may move, or the game is over; whether it goes on."""
        self.page.wait_for_function(
            "() => document.querySelector('#board .spot.legal, #do-pass:enabled')"
            " || !document.querySelector('#result').hidden"
        )
        return not self.at("#result").is_visible()

    def play(self, action: int) -> None:
        ply = self.ply()
        self.spot(action).click(force=True)
        self.wait_ply(ply + 1)

    def wait_ply(self, least: int) -> None:
        self.page.wait_for_function(
            "least => parseInt(document.querySelector('#steps .count').textContent) >= least", arg=least
        )

    def picture(self, name: str) -> None:
        self.page.screenshot(path=PICTURES / f"{name}.png")

    def leave(self) -> None:
        """The next visitor at this window is a new one."""
        self.page.evaluate("localStorage.clear()")
        self.page.emulate_media(color_scheme="light")
        self.page.goto("about:blank")
        complaints, self.complaints = self.complaints, []
        assert complaints == []


def context(browser: Browser, **options: Any) -> BrowserContext:
    settings = {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", "reduced_motion": "reduce"}
    return browser.new_context(**(settings | options))


@pytest.fixture(scope="module")
def window(browser: Browser, served: Served) -> Visit:
    """A browser window of common size and settings."""
    return Visit(context(browser), served.address)


@pytest.fixture
def visit(window: Visit) -> Iterator[Visit]:
    yield window
    window.leave()


# ── Whole games ──


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_by_clicks(visit: Visit, game: str) -> None:
    visit.see().start(game)
    rules = tesuji.game(game)
    turns = 0
    while visit.wait_for_turn():
        turns += 1
        spots = visit.open_spots()
        if game == "go5" and (turns > 8 or not spots):
            ply = visit.ply()
            visit.at("#do-pass").click()
            visit.wait_ply(ply + 1)
        else:
            visit.play(spots[(7 * turns) % len(spots)])
        if turns == 4:
            visit.picture(f"{game}-light")
        assert turns <= rules.max_plies
    # The link has the whole game: the rules themselves say how it ended.
    state = rules.replay(visit.page.url.partition("/#")[2].partition("/")[2].split("-"))
    assert state.result is not None
    expect(visit.at("#result strong")).to_have_text({1: "You won", 0: "Drawn", -1: "You lost"}[state.result])
    assert visit.at("#panel-moves .move").count() == len(state.history)
    visit.page.keyboard.press("d")
    visit.picture(f"{game}-dark")


def test_second_side_and_swap(visit: Visit) -> None:
    visit.see().start("dots2", side="second")
    visit.wait_ply(1)
    expect(visit.at("#seat-bottom")).to_contain_text("Orange")
    visit.wait_for_turn()
    visit.at(".more summary").click()
    visit.at("#do-swap").click()
    expect(visit.at("#seat-bottom")).to_contain_text("Blue")


def test_two_people_undo_resign(visit: Visit) -> None:
    visit.see().start("gomoku6x4", who="humans")
    for action in (14, 15, 20):
        visit.play(action)
    visit.at("#do-undo").click()
    expect(visit.at("#steps .count")).to_have_text("2 / 3")
    visit.play(21)  # another move from there: a variation
    expect(visit.at("#panel-moves .variation .move")).to_have_count(1)
    visit.picture("variation")
    visit.at("#do-resign").click()
    visit.at("#resign-yes").click()
    expect(visit.at("#result")).to_contain_text("Black won by resignation")


def test_undo_takes_both_moves_back(visit: Visit) -> None:
    visit.see().start("gomoku6x4")
    visit.play(14)
    visit.wait_ply(2)
    visit.wait_for_turn()
    visit.page.keyboard.press("u")
    expect(visit.at("#steps .count")).to_have_text("0 / 2")


def test_a_reload_keeps_the_game_and_who_plays(visit: Visit) -> None:
    visit.see().start("gomoku6x4")
    visit.play(14)
    visit.wait_ply(2)
    visit.wait_for_turn()
    visit.page.reload()
    expect(visit.at("#steps .count")).to_have_text("2 / 2")
    expect(visit.at("#seat-top")).to_contain_text("Seedling")


def test_a_link_that_leads_nowhere(visit: Visit) -> None:
    visit.see("#go5/c3-c3")
    expect(visit.at(".toast")).to_contain_text("c3 is not legal")
    visit.start("go5", who="humans")
    expect(visit.at("#board .pieces .stone")).to_have_count(0)


def test_programs_against_each_other(visit: Visit) -> None:
    visit.see().start("gomoku6x4", who="watch")
    visit.wait_ply(2)
    visit.at("#do-pause").click()
    expect(visit.at("#do-go-on")).to_be_visible()
    visit.at("#do-go-on").click()
    expect(visit.at("#do-pause")).to_be_visible()


def test_a_move_that_is_not_allowed_gets_a_sentence(visit: Visit) -> None:
    visit.see("#ultimate/e5-e6").spot(72).click()
    expect(visit.at(".toast")).to_contain_text("the last move sends you to another small board")


# ── Hint, analysis, review ──


def test_hint(visit: Visit) -> None:
    visit.see("#gomoku6x4/c3-a3-d3-a2-b3")  # Black threatens four in a row
    visit.at("#do-hint").click()
    expect(visit.at("#board .hinted")).to_have_count(1)
    expect(visit.at(".toast")).to_contain_text("Hint: e3")


def test_analysis(visit: Visit) -> None:
    visit.see("#go5/c3-b2")
    expect(visit.at("#board .pieces .stone")).to_have_count(2)
    visit.page.keyboard.press("a")
    expect(visit.at("#board .candidate.best")).to_have_count(1)
    expect(visit.at("#valuebar")).to_be_visible()
    expect(visit.at("#board .ownership > *").first).to_be_attached()
    expect(visit.at("#panel-analysis tbody tr").nth(2)).to_be_visible()
    # The best line under the pointer, in the table and on the board.
    visit.at("#panel-analysis tbody tr").first.hover()
    expect(visit.at("#board .number").nth(1)).to_be_attached()
    visit.picture("analysis-line")
    visit.at("#panel-analysis .toggle:has-text('Policy')").click()
    expect(visit.at("#board .heat").first).to_be_attached()
    visit.page.mouse.move(0, 0)
    visit.picture("analysis-policy")
    # It follows the board, and its values draw the graph.
    visit.page.keyboard.press("ArrowLeft")
    expect(visit.at("#steps .count")).to_have_text("1 / 2")
    expect(visit.at("#graph svg")).to_be_visible()
    expect(visit.at("#board .candidate.best")).to_have_count(1)
    visit.at("#do-analyse").click()
    expect(visit.at("#board .candidate")).to_have_count(0)


def test_review(visit: Visit) -> None:
    visit.see(
        "#dots2/2-10-1-6-3-7-8-9-11-0-4-5"
    )  # small enough to be solved: edges 3, 7, 8, 9 and 0 give something away
    expect(visit.at("#result")).to_contain_text("Orange won")
    visit.at("#result-review").click()
    expect(visit.at(".accuracy strong").nth(1)).to_have_text(re.compile(r"\d+%"))
    expect(visit.at("#panel-review progress")).to_have_count(0)
    expect(visit.at(".mistake .badge")).to_have_text(["exact"] * 5)
    assert set(visit.at(".mistake strong").all_inner_texts()) == {"3", "7", "8", "9", "0"}
    expect(visit.at("#graph .graph-mark").first).to_be_attached()
    visit.picture("review")
    costs = [int(cost.strip("−")) for cost in visit.at(".mistake .cost").all_inner_texts()]
    assert costs == sorted(costs, reverse=True)
    visit.page.keyboard.press("Home")
    expect(visit.at("#steps .count")).to_have_text("0 / 12")
    visit.page.keyboard.press("m")  # to the board before the first mistake, with what was better
    expect(visit.at("#board .hinted")).to_have_count(1)
    visit.at("#graph svg").click(position={"x": 5, "y": 20})
    expect(visit.at("#steps .count")).to_have_text("0 / 12")


# ── Touch, keys, light, language ──


def test_phone_with_a_tap_and_a_confirmation(browser: Browser, served: Served) -> None:
    small = context(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = Visit(small, served.address)
    phone.see()
    phone.picture("phone-new")
    phone.start("go9", who="humans")
    phone.spot(40).tap()
    expect(phone.at("#confirm-yes")).to_have_text("Play e5")
    expect(phone.at("#board .stone.chosen")).to_have_count(1)
    assert phone.ply() == 0
    phone.picture("phone-confirm")
    phone.spot(41).tap()  # another place: nothing is played yet
    expect(phone.at("#confirm-yes")).to_have_text("Play f5")
    phone.at("#confirm-yes").tap()
    phone.wait_ply(1)
    phone.spot(30).tap()
    phone.spot(30).tap()  # the same place twice plays too
    phone.wait_ply(2)
    phone.picture("phone")
    wide = phone.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide, "the page must not scroll sideways"
    phone.leave()
    small.close()


def test_keyboard_only(visit: Visit) -> None:
    """From the first dialog to the end of a game without a pointer."""
    visit.see()
    keys = visit.page.keyboard
    visit.at("#new input[name=family]:checked").wait_for()
    for _ in range(3):
        keys.press("ArrowRight")  # ultimate, gomoku, nogo, dots
    expect(visit.at("#new input[name=family][value=dots]")).to_be_checked()
    keys.press("Tab")
    while visit.page.evaluate("document.activeElement.value") != "dots1":
        keys.press("ArrowLeft")
    keys.press("Enter")
    expect(visit.at("#board .spot")).to_have_count(4)
    expect(visit.at("#title")).to_contain_text("1×1")
    for _ in range(4):
        if not visit.wait_for_turn():
            break
        keys.press("b")
        label = visit.page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert re.fullmatch(r"edge \d, empty, legal", label)
        ply = visit.ply()
        keys.press("Enter")
        visit.wait_ply(ply + 1)
    assert not visit.wait_for_turn()
    assert re.search("You (won|lost)", visit.at("#live").inner_text())
    keys.press("?")
    expect(visit.at("#help")).to_be_visible()
    visit.picture("help")
    with visit.context.expect_page() as rules:
        visit.at("#help a").click()
    expect(rules.value.locator("body")).to_contain_text("# Dots and Boxes")
    rules.value.close()
    keys.press("Escape")
    expect(visit.at("#help")).to_be_hidden()


def test_arrows_go_to_legal_places(visit: Visit) -> None:
    visit.see("#go5/c3")
    expect(visit.at("#board .pieces .stone")).to_have_count(1)
    keys = visit.page.keyboard
    keys.press("b")
    visit.spot(11).focus()
    keys.press("ArrowLeft")
    keys.press("ArrowRight")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert visit.page.evaluate(focused) == "b3, empty, legal"
    keys.press("ArrowRight")  # over the stone
    assert visit.page.evaluate(focused) == "d3, empty, legal"
    keys.press("Shift+ArrowLeft")  # to every place
    assert visit.page.evaluate(focused) == "c3, Black"


def test_language_is_switched_and_kept(visit: Visit) -> None:
    visit.see("#go9/e5")
    for language, name in (("zh-Hans", "围棋"), ("zh-Hant", "圍棋"), ("en", "Go"), ("zh-Hans", "围棋")):
        visit.at("#language").select_option(language)
        expect(visit.at("#title")).to_contain_text(name)
        assert visit.at("html").get_attribute("lang") == language
    expect(visit.spot(0)).to_have_attribute("aria-label", "a9，空，可下")
    visit.page.keyboard.press("n")
    visit.at("#new[open]").wait_for()
    visit.picture("chinese")
    visit.page.reload()
    expect(visit.at("#title")).to_contain_text("围棋")
    expect(visit.at("#do-review")).to_contain_text("复盘")


def test_dark(browser: Browser, served: Served) -> None:
    """As the system says, until the visitor says otherwise."""
    night = context(browser, color_scheme="dark")
    dark = Visit(night, served.address)
    background = "getComputedStyle(document.body).backgroundColor"
    dark.see("#nogo5/c3")
    expect(dark.at("html")).to_have_attribute("data-light", "dark")
    assert dark.page.evaluate(background) == "rgb(20, 22, 25)"
    dark.at("#light").click()
    assert dark.page.evaluate(background) == "rgb(244, 241, 234)"
    dark.page.reload()
    expect(dark.at("html")).to_have_attribute("data-light", "light")
    dark.leave()
    night.close()


@pytest.mark.parametrize("light", ["light", "dark"])
def test_contrast(visit: Visit, light: Literal["light", "dark"]) -> None:
    """Texts stand out from what is behind them, 4.5 to 1 at least."""
    visit.page.emulate_media(color_scheme=light)
    visit.see("#dots2/0-1-2")
    expect(visit.at("#panel-moves .move")).to_have_count(3)
    weak = visit.page.evaluate(
        """() => {
          const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          const rgba = (colour) => {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data];
          };
          const bright = (colour) => {
            const [r, g, b] = colour.map((part) => {
              const share = part / 255;
              return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const behind = (element) => {
            for (let at = element; at; at = at.parentElement) {
              const colour = rgba(getComputedStyle(at).backgroundColor);
              if (colour[3] === 255) return colour;
            }
            return [255, 255, 255, 255];
          };
          const weak = [];
          for (const element of document.querySelectorAll("body *")) {
            const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
            if (!own || !element.checkVisibility() || element.closest("svg, .unseen, :disabled, .skip")) continue;
            const [a, b] = [bright(rgba(getComputedStyle(element).color)), bright(behind(element))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) weak.push(`${element.className}: ${element.textContent} ${ratio.toFixed(1)}`);
          }
          return weak;
        }"""
    )
    assert weak == []


# ── Files, links, reconnecting ──


@pytest.mark.parametrize(("place", "format"), [("go5:komi=3.5/c3-b2-pass", "sgf"), ("ultimate/e5-e4-d3", "json")])
def test_save_and_load(visit: Visit, tmp_path: Path, place: str, format: str) -> None:
    visit.see(f"#{place}")
    expect(visit.at("#steps .count")).to_have_text("3 / 3")
    visit.at(".more summary").click()
    with visit.page.expect_download() as download:
        visit.at(f"#do-save-{format}").click()
    path = tmp_path / download.value.suggested_filename
    assert path.suffix == f".{format}"
    download.value.save_as(path)
    visit.page.keyboard.press("Escape")
    visit.start("dots2", who="humans")
    visit.at("#file").set_input_files(path)
    expect(visit.at("#steps .count")).to_have_text("3 / 3")
    assert visit.page.url.endswith(f"#{place}")


def test_a_file_that_is_none_gets_a_sentence(visit: Visit, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({"format": "something"}))
    visit.see("#go5/c3")
    expect(visit.at("#board .pieces .stone")).to_have_count(1)
    visit.at("#file").set_input_files(wrong)
    expect(visit.at(".toast")).to_be_visible()
    expect(visit.at("#board .pieces .stone")).to_have_count(1)


def test_a_dropped_file(visit: Visit) -> None:
    visit.see("#go5/c3")
    expect(visit.at("#board .pieces .stone")).to_have_count(1)
    text = "(;GM[1]FF[4]SZ[5]KM[7.5];B[cc];W[bb])"
    visit.page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], "game.sgf"));
          dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
        }""",
        text,
    )
    expect(visit.at("#steps .count")).to_have_text("2 / 2")


def test_a_link_restores_a_position(visit: Visit) -> None:
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.see().start("nogo4", who="humans")
    for action in (0, 5, 10):
        visit.play(action)
    visit.page.keyboard.press("l")
    expect(visit.at(".toast")).to_have_text("Link copied")
    copied = visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("#nogo4/a4-b3-c2")
    other = Visit(visit.context, visit.address)
    other.page.goto(copied)
    expect(other.at("#board .pieces .stone")).to_have_count(3)
    other.page.close()
    assert other.complaints == []


def test_reconnects_and_restores_the_position(visit: Visit, served: Served) -> None:
    visit.see().start("gomoku6x4", who="humans")
    for action in (14, 15, 20):
        visit.play(action)
    visit.page.keyboard.press("ArrowLeft")
    expect(visit.at("#steps .count")).to_have_text("2 / 3")
    served.stop()
    expect(visit.at("#notice")).to_contain_text("Connection lost")
    expect(visit.at("#board .spot.legal")).to_have_count(0)  # nothing can be played that would be lost
    visit.picture("lost")
    served.start()
    expect(visit.at("#notice")).to_be_hidden()
    expect(visit.at("#steps .count")).to_have_text("2 / 3")
    expect(visit.at("#board .pieces .stone")).to_have_count(2)
    visit.play(20)
    # The browser tells of the connections that failed meanwhile.
    visit.complaints = [told for told in visit.complaints if "ERR_CONNECTION_REFUSED" not in told]


# ── Lab ──


def test_lab_starts_a_run_shows_it_learn_and_stops_it(visit: Visit) -> None:
    visit.see("lab")
    visit.at("#start-game").select_option("dots1")  # learned from the first round on
    visit.at("#start-minutes").fill("1")
    visit.at("#start button").click()
    expect(visit.at("#run-name")).to_have_text("dots1-1")
    expect(visit.at(".run .alive")).to_be_visible()
    expect(visit.at("#chart-loss .curve")).to_have_count(3, timeout=60000)
    expect(visit.at("#chart-entropy .curve")).to_have_count(2)
    expect(visit.at("#board .goban")).to_be_visible()
    visit.at("#lab-last").click()
    expect(visit.at("#board .pieces .edge")).to_have_count(4)
    visit.picture("lab")
    visit.at("#lab-first").click()
    expect(visit.at("#board .pieces .edge")).to_have_count(0)
    visit.at(".runs .quiet").click()
    expect(visit.at(".run .alive")).to_have_count(0)


# ── Words ──


def keys_used() -> tuple[set[str], set[str]]:
    """The catalogue's keys that the pages use; and beginnings of keys that are put together."""
    whole: set[str] = set()
    begun: set[str] = set()
    for path in STATIC.glob("*.*"):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            whole |= set(re.findall(r'data-t(?:-label)?="([^"]+)"', text))
        elif path.suffix == ".js" and path.name != "locales.js":
            whole |= set(re.findall(r'"([a-z]+\.[\w.-]+)"', text)) - {"icons.svg"}
            begun |= set(re.findall(r"\b(?:t|known)\(`([a-z]+\.(?:[\w-]+\.)?)\$\{", text))
    return {key for key in whole if not key.endswith((".js", ".css"))}, begun


def test_catalogue(visit: Visit) -> None:
    """No word is missing in a language, none is used that is not there, none is there that is not used."""
    visit.see()
    catalogue: dict[str, list[str]] = visit.page.evaluate("import('/static/locales.js').then(m => m.CATALOGUE)")
    assert [key for key, texts in catalogue.items() if len(texts) != len(LANGUAGES) or not all(texts)] == []
    holes = {key: {frozenset(re.findall(r"\{\w+\}", text)) for text in texts} for key, texts in catalogue.items()}
    assert [key for key, found in holes.items() if len(found) > 1] == []
    # Chinese texts are Chinese: the two scripts differ from English (numbers and signs apart).
    copied = [key for key, texts in catalogue.items() if texts[0] in texts[1:] and re.search("[a-z]{3}", texts[0])]
    assert [key for key in copied if key != "level.rating"] == []
    whole, begun = keys_used()
    assert sorted(whole - set(catalogue)) == []
    assert sorted(key for key in catalogue if key not in whole and not key.startswith(tuple(begun))) == []
    wanted = [f"level.{name}" for name in NAMES]
    wanted += [f"game.{page.stem}" for page in (ROOT / "docs/games").glob("*.md")]
    wanted += [f"side.{tesuji.game(name).look}.{side}" for name in tesuji.games() for side in (0, 1)]
    wanted += [f"number.{number}" for name in tesuji.games() for number in tesuji.game(name).numbers]
    assert [key for key in wanted if key not in catalogue] == []


def test_modules_are_loaded_at_once() -> None:
    """The page names all its modules, so that the browser need not find them one after the other."""
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:modulepreload" href|module" src)="/static/([a-z]+\.js)"', page))
    assert named == {path.name for path in STATIC.glob("*.js")} - {"lab.js"}
