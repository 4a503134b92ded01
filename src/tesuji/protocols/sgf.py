"""SGF (FF[4]): games of Go (GM[1]), NoGo (GM[1]RU[NoGo]) and Gomoku (GM[4]), with their variations and comments.

Files come from strangers: text, nodes and depth are bounded, nothing recurs, and what is wrong is told with its place.
"""

import codecs
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tesuji import __version__
from tesuji._core import Game, State
from tesuji.games import family, games
from tesuji.protocols.setup import placed

__all__ = ["Node", "Sgf", "decode", "read", "write"]

MAX_CHARACTERS = 2_000_000
MAX_NODES = 20_000
MAX_DEPTH = 1_000  # of variations inside variations

# What a file says of the game as a whole, as texts that are kept.
INFO = ("GN", "EV", "RO", "DT", "PC", "PB", "BR", "PW", "WR", "RE", "RU", "TM", "OT", "AN", "US", "SO", "CP", "GC")

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CHARSETS = {
    "utf-8",
    "ascii",
    "iso8859-1",
    "gb2312",
    "gbk",
    "gb18030",
    "big5",
    "shift_jis",
    "cp932",
    "euc_jp",
    "euc_kr",
}
_IDENTIFIER = re.compile(r"[A-Za-z]{1,64}")
_SPACE = re.compile(r"\s*")
_VALUE_END = re.compile(r"(?:[^\\\]]++|\\[\s\S])*+\]")


@dataclass(slots=True)
class Node:
    """A position of the tree: where it comes from, by which action, and what was said of it."""

    parent: int  # its number in the list; −1 of the root
    action: int | None  # None of the root
    comment: str = ""


@dataclass(slots=True)
class Sgf:
    """A game with its variations. Of several children the first in the list goes on with the main line."""

    game: Game
    nodes: list[Node] = field(default_factory=lambda: [Node(-1, None)])  # parents before their children
    info: dict[str, str] = field(default_factory=dict)  # texts by SGF's names, such as PB

    @classmethod
    def of(cls, game: Game, actions: Iterable[int], **info: str) -> "Sgf":
        """A game without variations."""
        nodes = [Node(-1, None)]
        for action in actions:
            nodes.append(Node(len(nodes) - 1, action))
        return cls(game, nodes, info)

    def line(self) -> list[int]:
        """The actions of the main line."""
        follows: dict[int, int] = {}
        for number, node in enumerate(self.nodes):
            follows.setdefault(node.parent, number)
        actions, at = [], 0
        while at in follows:
            at = follows[at]
            action = self.nodes[at].action
            assert action is not None
            actions.append(action)
        return actions


# ── Reading ──


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, or what it says of itself (CA), or Latin-1, which can hold anything."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    said = re.search(rb"CA\s*\[\s*([\w.:-]{1,40})\s*\]", data[:10_000])
    if said:
        try:
            name = codecs.lookup(said[1].decode("ascii")).name
            if name in _CHARSETS:
                return data.decode(name, errors="replace")
        except (LookupError, UnicodeDecodeError):
            pass
    return data.decode("latin-1")


def read(text: str | bytes) -> Sgf:
    """The first game of a file. ValueError with a sentence and the place where it cannot be read."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"this SGF is too long: {len(text):,} characters, and at most {MAX_CHARACTERS:,} are read")
    text = decode(text) if isinstance(text, bytes) else text
    raw = _parse(text)
    root = raw[0]
    try:
        game = _game_of(root.properties)
    except ValueError as trouble:
        raise _at(text, root.place, str(trouble)) from None
    return _Reader(text, game, raw).read()


@dataclass(slots=True)
class _Raw:
    """A node as it stands in the text."""

    parent: int
    place: int
    properties: dict[str, list[str]]
    children: int = 0


def _at(text: str, place: int, sentence: str) -> ValueError:
    line = text.count("\n", 0, place) + 1
    column = place - (text.rfind("\n", 0, place) + 1) + 1
    return ValueError(f"SGF, line {line}, character {column}: {sentence}")


def _parse(text: str) -> list[_Raw]:
    """The nodes of the first game tree, parents first."""
    # Some files begin with words of a mail or a BOM: a game begins where "(;" stands.
    begin = re.search(r"\(\s*;", text)
    if begin is None:
        raise _at(text, 0, "there is no game here: it would begin with (;")
    nodes: list[_Raw] = []
    branches: list[int] = []  # the node before each open parenthesis
    at, here = begin.start(), -1
    while True:
        at = _skip(text, at)
        mark = text[at : at + 1]
        if mark == "(":
            if len(branches) >= MAX_DEPTH:
                raise _at(text, at, f"there are more than {MAX_DEPTH:,} variations inside each other")
            first = _skip(text, at + 1)
            if text[first : first + 1] != ";":
                raise _at(text, at, "a variation must begin with a node, that is with a semicolon")
            branches.append(here)
            at += 1
        elif mark == ")":
            here = branches.pop()
            at += 1
            if not branches:
                return nodes
        elif mark == ";":
            if len(nodes) >= MAX_NODES:
                raise _at(text, at, f"there are more than {MAX_NODES:,} nodes")
            place = at
            properties, at = _properties(text, at + 1)
            if here >= 0:
                nodes[here].children += 1
            nodes.append(_Raw(here, place, properties))
            here = len(nodes) - 1
        elif mark:
            raise _at(text, at, f"{mark!r} does not belong here")
        else:
            raise _at(text, at, "the game is not closed: a ) is missing")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _properties(text: str, at: int) -> tuple[dict[str, list[str]], int]:
    """The properties of a node and the place after them."""
    properties: dict[str, list[str]] = {}
    while found := _IDENTIFIER.match(text, at := _skip(text, at)):
        # Old files write names with small letters in between, which do not count.
        name = "".join(letter for letter in found[0] if letter.isupper())
        at = _skip(text, found.end())
        if text[at : at + 1] != "[":
            raise _at(text, at, f"after {found[0]} a value in brackets is missing")
        values = properties.setdefault(name, [])
        while text[at : at + 1] == "[":
            end = _VALUE_END.match(text, at + 1)
            if end is None:
                raise _at(text, at, f"the value of {found[0]} is not closed: a ] is missing")
            values.append(text[at + 1 : end.end() - 1])
            at = _skip(text, end.end())
    return properties, at


def _said(value: str) -> str:
    """A text without its escapes; other white space than ends of lines is a space."""
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    value = re.sub(r"\\(\n|[\s\S])", lambda found: "" if found[1] == "\n" else found[1], value)
    return re.sub(r"[^\S\n]", " ", value)


def _simple(value: str) -> str:
    """The same in one line."""
    return _said(value).replace("\n", " ").strip()


def _one(properties: dict[str, list[str]], name: str) -> str:
    return _simple(properties[name][0]) if name in properties else ""


@functools.cache
def _kinds() -> dict[tuple[str, str, int], str]:
    """The games that SGF has words for, by GM, the mark in RU, and size."""
    found = {}
    for name in games():
        game = Game(name)
        kind = family(game)
        if kind in ("go", "nogo", "gomoku") and game.rows == game.cols:
            found["4" if kind == "gomoku" else "1", "nogo" if kind == "nogo" else "", game.rows] = name
    return found


def _game_of(properties: dict[str, list[str]]) -> Game:
    """The game that a root names."""
    kind = _one(properties, "GM") or "1"
    size_text = _one(properties, "SZ") or ("15" if kind == "4" else "19")
    width, _, height = size_text.partition(":")
    if not re.fullmatch(r"\s*\d{1,3}\s*", width) or not re.fullmatch(r"\s*\d{0,3}\s*", height):
        raise ValueError(f"SZ[{size_text[:20]}] is no size of a board")
    if height and int(height) != int(width):
        raise ValueError(f"the board is {width}×{height}: only square boards are read")
    mark = "nogo" if kind == "1" and _one(properties, "RU").lower() == "nogo" else ""
    kinds = _kinds()
    if (kind, mark, int(width)) not in kinds:
        if kind not in ("1", "4"):
            raise ValueError(f"GM[{kind[:20]}] is another game: Go (1), NoGo (1 with RU[NoGo]) and Gomoku (4) are read")
        sizes = sorted(size for k, m, size in kinds if (k, m) == (kind, mark))
        name = "Gomoku" if kind == "4" else "NoGo" if mark else "Go"
        raise ValueError(f"there is no {name} of size {int(width)} here: the sizes are {', '.join(map(str, sizes))}")
    name = kinds[kind, mark, int(width)]
    komi = _one(properties, "KM")
    if not komi or "komi" not in Game(name).numbers:
        return Game(name)
    try:
        number = float(komi)
    except ValueError:
        raise ValueError(f"KM[{komi[:20]}] is no number") from None
    return Game(name, {"komi": number})


class _Reader:
    """From nodes of the text to nodes of a game."""

    def __init__(self, text: str, game: Game, raw: list[_Raw]) -> None:
        self._text = text
        self._game = game
        self._raw = raw
        self._sgf = Sgf(game)
        self._places = {game.locate(action): action for action in range(game.actions)}

    def read(self) -> Sgf:
        raw, sgf = self._raw, self._sgf
        root = raw[0].properties
        sgf.info = {name: _simple(root[name][0]) for name in INFO if name in root}
        numbers: list[int] = []  # [raw nodes]: each one's number in the result
        states: dict[int, State] = {}  # of raw nodes whose children are still to come
        for number, node in enumerate(raw):
            parent = node.parent
            state, mine = (self._game.start(), 0) if parent < 0 else (states[parent], numbers[parent])
            try:
                state, mine = self._follow(node, state, mine)
            except ValueError as trouble:
                raise _at(self._text, node.place, str(trouble)) from None
            numbers.append(mine)
            if node.children:
                states[number] = state
            if parent >= 0:
                raw[parent].children -= 1
                if raw[parent].children == 0:
                    del states[parent]
            if "C" in node.properties:
                comment = _said(node.properties["C"][0])
                before = sgf.nodes[mine].comment
                sgf.nodes[mine].comment = f"{before}\n{comment}" if before else comment
        return sgf

    def _follow(self, node: _Raw, state: State, mine: int) -> tuple[State, int]:
        """The state and the number after a node's stones and move."""
        properties = node.properties
        if any(name in properties for name in ("AB", "AW", "AE")):
            if state.history or "AE" in properties:
                raise ValueError("stones are set up in the middle of a game, which is not read: only moves are")
            first, second = (self._points(properties.get(name, [])) for name in ("AB", "AW"))
            state = placed(self._game, first, second, {"B": 0, "W": 1}.get(_one(properties, "PL").upper()[:1]))
            for action in state.history:
                self._sgf.nodes.append(Node(mine, action))
                mine = len(self._sgf.nodes) - 1
        for name, side in (("B", 0), ("W", 1)):
            if name not in properties:
                continue
            action = self._action(properties[name][0])
            is_pass = self._game.locate(action) is None
            if state.result is not None and is_pass:
                continue  # more passes than the two that end a game
            if state.to_play != side and state.result is None:
                gap = self._places.get(None)
                if gap is None:
                    raise ValueError(f"{'Black' if side == 0 else 'White'} moves twice in a row")
                state, mine = self._play(state, gap, mine)
            state, mine = self._play(state, action, mine)
        return state, mine

    def _play(self, state: State, action: int, mine: int) -> tuple[State, int]:
        state = state.play(action)
        self._sgf.nodes.append(Node(mine, action))
        return state, len(self._sgf.nodes) - 1

    def _action(self, value: str) -> int:
        point = _simple(value)
        if point in ("", "tt") and (not point or self._game.cols <= 19):
            if None not in self._places:
                raise ValueError(f"a pass is not possible in {self._game.name}")
            return self._places[None]
        return self._point(point)

    def _point(self, point: str) -> int:
        if len(point) == 2 and point.isascii() and point.isalpha():
            col, row = map(_LETTERS.index, point)
            if col < self._game.cols and row < self._game.rows:
                return self._places[row * self._game.cols + col]
        raise ValueError(f"[{point[:20]}] is no point of a board of size {self._game.cols}")

    def _points(self, values: list[str]) -> list[int]:
        """Points, and rectangles of points such as aa:cc; each once."""
        found: dict[int, None] = {}
        for value in values:
            corner, _, opposite = _simple(value).partition(":")
            cells = [self._game.locate(self._point(point)) or 0 for point in (corner, opposite or corner)]
            (top, left), (bottom, right) = (divmod(cell, self._game.cols) for cell in cells)
            for row in range(top, bottom + 1):
                for col in range(left, right + 1):
                    found[self._places[row * self._game.cols + col]] = None
        return list(found)


# ── Writing ──


def write(sgf: Sgf) -> str:
    """The text of a game with its variations."""
    game = sgf.game
    kind = family(game)
    if kind not in ("go", "nogo", "gomoku") or game.rows != game.cols:
        raise ValueError(f"SGF has no words for {game.name}: it can hold Go, NoGo and Gomoku")
    info = dict(sgf.info)
    root = f";FF[4]GM[{4 if kind == 'gomoku' else 1}]CA[UTF-8]AP[Tesuji:{__version__}]SZ[{game.rows}]"
    if "komi" in game.numbers:
        root += f"KM[{game.numbers['komi']:g}]"
    if kind == "nogo":
        info["RU"] = "NoGo"
    elif kind == "go":
        info.setdefault("RU", "Chinese")
    root += "".join(f"{name}[{_escaped(info[name])}]" for name in INFO if info.get(name))
    children: list[list[int]] = [[] for _ in sgf.nodes]
    depth = [0] * len(sgf.nodes)
    for number, node in enumerate(sgf.nodes[1:], 1):
        children[node.parent].append(number)
        depth[number] = depth[node.parent] + 1
    out: list[str] = []
    todo: list[int | str] = [")\n", 0, "("]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        node = sgf.nodes[item]
        # In the games that SGF holds the sides take turns, without exception.
        move = "" if node.action is None else f";{'WB'[depth[item] % 2]}[{_point(game, node.action)}]"
        out.append((move or root) + (f"C[{_escaped(node.comment)}]" if node.comment else ""))
        below = children[item]
        if len(below) == 1:
            todo.append(below[0])
        else:
            for child in reversed(below):
                todo += [")", child, "\n("]
    return "".join(out)


def _point(game: Game, action: int) -> str:
    cell = game.locate(action)
    if cell is None:
        return ""
    row, col = divmod(cell, game.cols)
    return _LETTERS[col] + _LETTERS[row]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
