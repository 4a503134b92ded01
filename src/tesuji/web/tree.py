"""One game with its variations: a tree of moves. It can be written as SGF, and as JSON (docs/web.md has the form).

Nodes are numbered in the order in which they came; 0 is the start. A node's first child is its main line.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tesuji._core import Game, State
from tesuji.games import game as game_of
from tesuji.protocols import sgf

__all__ = ["FORMAT", "GameTree", "Node", "from_json", "from_sgf", "has_sgf", "to_json", "to_sgf"]

FORMAT = "tesuji game 1"


@dataclass(slots=True)
class Node:
    """A position: what was played to come to it, by whom."""

    number: int
    parent: int | None
    action: int | None
    mover: int | None  # 0 First, 1 Second
    ply: int
    children: list[int] = field(default_factory=list)
    latest: int | None = None  # the child that was looked at last
    resigned: int | None = None  # who gave the game up here


class GameTree:
    """The moves of a game and of its variations. States are not kept: they are replayed when they are asked for."""

    def __init__(self, game: Game, most: int = 1 << 30) -> None:
        """``most``: nodes that the tree may have."""
        self.game = game
        self.most = most
        self.nodes = [Node(0, None, None, None, 0)]

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(self.nodes)

    def add(self, parent: int, state: State, action: int) -> int:
        """The node after a move from a node, whose state is given; a new one where there is none yet."""
        for child in self.nodes[parent].children:
            if self.nodes[child].action == action:
                return child
        if len(self.nodes) >= self.most:
            raise ValueError(f"this tree is full with {self.most} positions: begin a new game")
        above = self.nodes[parent]
        node = Node(len(self.nodes), parent, action, state.to_play, above.ply + 1)
        self.nodes.append(node)
        above.children.append(node.number)
        return node.number

    def visit(self, number: int) -> None:
        """Remembers the way to a node, so that going on from its ancestors leads here."""
        node = self.nodes[number]
        while node.parent is not None:
            above = self.nodes[node.parent]
            above.latest = node.number
            node = above

    def path(self, number: int) -> list[int]:
        """The nodes from the start to a node."""
        found = [number]
        while (parent := self.nodes[found[-1]].parent) is not None:
            found.append(parent)
        return found[::-1]

    def line(self, number: int) -> list[int]:
        """The same, and on along the children that were looked at last (or else the first ones) to a leaf."""
        found = self.path(number)
        while children := self.nodes[found[-1]].children:
            latest = self.nodes[found[-1]].latest
            found.append(children[0] if latest is None else latest)
        return found

    def actions(self, number: int) -> list[int]:
        """The moves that lead from the start to a node."""
        return [action for node in self.path(number) if (action := self.nodes[node].action) is not None]

    def state(self, number: int) -> State:
        return self.game.replay(self.actions(number))

    def result(self, number: int, state: State) -> tuple[int | None, str | None]:
        """At a node, whose state is given: the result, and the reason: rules or resign."""
        if state.result is not None:
            return state.result, "rules"
        resigned = self.nodes[number].resigned
        return (None, None) if resigned is None else ((-1, 1)[resigned], "resign")


# ── JSON ──


def to_json(tree: GameTree, *, seats: list[str] | None = None, here: int | None = None) -> str:
    """A tree as a text. Nodes get new numbers: the main line first, then the variations."""
    text = tree.game.text
    numbers = {0: 0}  # ours to those in the text
    lines: list[dict[str, Any]] = []
    starts = [0]
    while starts:
        number = starts.pop()
        parent = tree.nodes[number].parent
        line: dict[str, Any] = {"after": 0 if parent is None else numbers[parent], "moves": []}
        while True:
            node = tree.nodes[number]
            if node.action is not None:
                numbers[number] = len(numbers)
                line["moves"].append(text(node.action))
            if not node.children:
                break
            starts += reversed(node.children[1:])
            number = node.children[0]
        lines.append(line)
    content: dict[str, Any] = {"format": FORMAT, "game": tree.game.name, "numbers": tree.game.numbers}
    if seats is not None:
        content["seats"] = seats
    content["moves"] = lines[0]["moves"]
    content["variations"] = lines[1:]
    resigned = [
        {"node": numbers[node.number], "player": node.resigned} for node in tree.nodes if node.resigned is not None
    ]
    if resigned:
        content["resigned"] = resigned
    if here is not None:
        content["here"] = numbers[here]
    return json.dumps(content, ensure_ascii=False) + "\n"


def from_json(text: str, most: int) -> tuple[GameTree, int, list[str] | None]:
    """The tree, the node to look at and the seats, where it says so. Anything wrong is refused with a sentence."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("this is no JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'this is no game in JSON: its "format" must be "{FORMAT}"')
    unknown = set(content) - {"format", "game", "numbers", "seats", "moves", "variations", "resigned", "here"}
    if unknown:
        raise ValueError(f"a game in JSON has no {min(unknown)[:30]!r}")
    tree = GameTree(_game(content.get("game"), content.get("numbers", {})), most)
    _add_line(tree, 0, content.get("moves", []), "moves")
    variations = content.get("variations", [])
    if not isinstance(variations, list):
        raise ValueError('"variations" must be a list')
    for variation in variations:
        if not isinstance(variation, dict) or set(variation) != {"after", "moves"}:
            raise ValueError('a variation has "after" and "moves", and nothing else')
        if variation["after"] not in tree:
            raise ValueError(f"a variation begins after node {str(variation['after'])[:20]}, which is not there")
        _add_line(tree, variation["after"], variation["moves"], "moves of a variation")
    resigned = content.get("resigned", [])
    if not isinstance(resigned, list):
        raise ValueError('"resigned" must be a list')
    for one in resigned:
        if not isinstance(one, dict) or one.get("node") not in tree or one.get("player") not in (0, 1):
            raise ValueError('who resigned is told by a "node" of the tree and a "player", 0 or 1')
        tree.nodes[one["node"]].resigned = int(one["player"])
    here = content.get("here", tree.line(0)[-1])
    if here not in tree:
        raise ValueError(f'"here" is {str(here)[:20]}, which is no node of the tree')
    seats = content.get("seats")
    if seats is not None and not (isinstance(seats, list) and len(seats) == 2 and all(type(s) is str for s in seats)):
        raise ValueError('"seats" must be two texts')
    return tree, here, seats


def _game(name: object, numbers: object) -> Game:
    if not isinstance(name, str) or not isinstance(numbers, dict):
        raise ValueError('"game" must be a text, and "numbers" must be numbers by name')
    game_of(name.partition(":")[0])  # refuses an unknown name with a suggestion
    try:
        return Game(name, numbers)
    except TypeError as refusal:
        raise ValueError(str(refusal)) from None


def _add_line(tree: GameTree, after: int, moves: object, what: str) -> None:
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        raise ValueError(f"{what} must be a list of texts")
    if len(tree) + len(moves) > tree.most:
        raise ValueError(f"this game has more than {tree.most} positions: that is too many")
    state = tree.state(after)
    for move in moves:
        ply = len(state.history) + 1
        try:
            action = tree.game.parse(move)
            following = state.play(action)
        except ValueError as refusal:
            raise ValueError(f"ply {ply}: {refusal}") from None
        before = len(tree)
        number = tree.add(after, state, action)
        if len(tree) == before:
            raise ValueError(f"ply {ply}: {move[:20]} is there twice after node {after}")
        after, state = number, following


# ── SGF ──


def has_sgf(game: Game) -> bool:
    """Whether SGF has words for a game."""
    try:
        sgf.write(sgf.Sgf(game))
    except ValueError:
        return False
    return True


def to_sgf(tree: GameTree, seats: list[str]) -> str:
    """A tree as a text; who sat where and the result of the main line go with it."""
    written = sgf.Sgf(tree.game, info={"PB": seats[0], "PW": seats[1]})
    written.nodes = [sgf.Node(-1 if node.parent is None else node.parent, node.action) for node in tree.nodes]
    last = _main_line(tree)[-1]
    state = tree.state(last)
    result, reason = tree.result(last, state)
    if result is not None:
        margin = "R" if reason == "resign" else f"{abs(state.score):g}" if state.score else ""
        written.info["RE"] = "0" if result == 0 else f"{'B' if result > 0 else 'W'}+{margin}"
    return sgf.write(written)


def from_sgf(text: str, most: int) -> tuple[GameTree, int]:
    """The tree, and the end of its main line."""
    read = sgf.read(text)
    tree = GameTree(read.game, most)
    numbers = [0]
    states: dict[int, State] = {0: tree.game.start()}
    for node in read.nodes[1:]:
        parent = numbers[node.parent]
        assert node.action is not None
        state = states[parent] if parent in states else tree.state(parent)
        number = tree.add(parent, state, node.action)
        numbers.append(number)
        states = {number: state.play(node.action)}  # mostly the next one follows
    last = _main_line(tree)[-1]
    if read.info.get("RE", "").upper().endswith(("+R", "+RESIGN")) and tree.state(last).result is None:
        tree.nodes[last].resigned = 1 if read.info["RE"].upper().startswith("B") else 0
    return tree, last


def _main_line(tree: GameTree) -> list[int]:
    found = [0]
    while children := tree.nodes[found[-1]].children:
        found.append(children[0])
    return found
