"""Our rules against OpenSpiel's: random games of every game that both know, compared ply by ply.

A reference is OpenSpiel's side of a game, in our words. Where OpenSpiel's actions or rules differ from ours, the
reference derives ours from them:

* Ultimate: a free move is two actions there, the small board and then the cell.
* Gomoku: no difference; more than k in a row wins there, too.
* Dots and Boxes: the edges are numbered in another order.
* Go: here no move may recreate an earlier position. There only the immediate retaking of a ko is forbidden, and any
  other move that recreates a position ends the game as a draw. Suicide is forbidden in both.
* NoGo: there is none, but Go there tells which moves are suicide and which capture.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

import pyspiel
import pytest

import tesuji
from tesuji import Game, State

# OpenSpiel's characters as our glyphs. Whatever is empty is a full stop.
GLYPHS = str.maketrans("xobw12+ ─│┌┬┐├┼┤└┴┘", "XOXOXO..-|+++++++++")
RESULTS = {1: "First won", 0: "drawn", -1: "Second won"}


@cache
def load(spiel: str) -> pyspiel.Game:
    return pyspiel.load_game(spiel)


class Reference:
    """OpenSpiel's side of one game, in our words: our actions, results and glyphs."""

    def __init__(self, game: Game, spiel: str) -> None:
        self.game = game
        self.state = load(spiel).new_initial_state()
        self.met: set[str] = set()  # the notable things that happened in the game

    def to_play(self) -> int:
        return self.state.current_player()

    def legal(self) -> list[int]:
        return self.state.legal_actions()

    def play(self, action: int) -> None:
        self.state.apply_action(action)

    def result(self) -> int | None:
        first = self.state.returns()[0]
        return (first > 0) - (first < 0) if self.state.is_terminal() else None

    def board(self) -> list[str]:
        """The glyphs, a text a row from the top."""
        raise NotImplementedError

    def score(self) -> float | None:
        """First's margin; None where OpenSpiel does not tell."""
        return None

    def ownership(self) -> list[int] | None:
        """Of each cell +1, 0 or −1; None where OpenSpiel does not tell."""
        return None


class UltimateReference(Reference):
    """A cell is a small board and a cell in it there, both numbered by rows."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, "ultimate_tic_tac_toe")

    def is_free(self) -> bool:
        return str(self.state).endswith("Forced board: any")

    def legal(self) -> list[int]:
        if self.is_free():
            after_choice = {board: self.state.child(board) for board in self.state.legal_actions()}
        else:
            after_choice = {int(str(self.state)[-1]): self.state}
        return sorted(
            27 * (board // 3) + 9 * (inner // 3) + 3 * (board % 3) + inner % 3
            for board, state in after_choice.items()
            for inner in state.legal_actions()
        )

    def play(self, action: int) -> None:
        row, col = divmod(action, 9)
        if self.is_free():
            self.state.apply_action(row // 3 * 3 + col // 3)
        self.state.apply_action(row % 3 * 3 + col % 3)
        if self.is_free():
            self.met.add("a free move")

    def board(self) -> list[str]:
        return str(self.state).partition("\nCurrent")[0].replace(" ", "").translate(GLYPHS).split()


class GomokuReference(Reference):
    """Tic-Tac-Toe, Gomoku or an m,n,k-game: cells are numbered by rows, as ours."""

    def __init__(self, game: Game, spiel: str, connect: int) -> None:
        super().__init__(game, spiel)
        self.connect = connect

    def play(self, action: int) -> None:
        mark = "XO"[self.to_play()]
        super().play(action)
        if self.result() and self.has_run(mark * (self.connect + 1)):
            self.met.add("an overline")

    def board(self) -> list[str]:
        return str(self.state).translate(GLYPHS).split()[-self.game.rows :]

    def has_run(self, run: str) -> bool:
        # A bar after each row keeps the slices, which are rows, columns and diagonals, from running over the rim.
        text, width = "|".join(self.board()), self.game.cols + 1
        return any(run in text[start::step] for step in (1, width - 1, width, width + 1) for start in range(step))


class DotsReference(Reference):
    """Horizontal edges are numbered before vertical ones there."""

    def __init__(self, game: Game) -> None:
        spiel = f"dots_and_boxes(num_rows={game.rows // 2},num_cols={game.cols // 2},utility_margin=True)"
        super().__init__(game, spiel)
        self.our_actions = our_edges(game, spiel)

    def legal(self) -> list[int]:
        return sorted(self.our_actions[action] for action in self.state.legal_actions())

    def play(self, action: int) -> None:
        mover = self.to_play()
        super().play(self.our_actions.index(action))
        if self.to_play() == mover:
            self.met.add("a second move in a row")

    def board(self) -> list[str]:
        # Every second character is a cell of ours:  ┌───┬╴ ╶┐
        #                                            │ 1 │   │
        return [line[::2].translate(GLYPHS) for line in str(self.state).splitlines()]

    def score(self) -> float:
        cells = "".join(self.board())
        return self.state.returns()[0] if self.state.is_terminal() else cells.count("X") - cells.count("O")


@cache
def our_edges(game: Game, spiel: str) -> list[int]:
    """Our number of each edge there, which is named as in P1(h,0,2)."""
    start = load(spiel).new_initial_state()
    names = [re.findall(r"[hv]|\d+", start.action_to_string(action)[2:]) for action in start.legal_actions()]
    return [game.parse(" ".join(name)) for name in names]


class GoReference(Reference):
    """Points are numbered from the bottom row there; the bound on the length can be set to ours."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, go_with_komi(game, game.numbers["komi"]))
        self.flip = flipped(game.rows)
        self.positions: set[str] = set()  # all whole boards so far
        self.one_sided: set[str] = set()  # the same without First's stones, and without Second's
        self.remember()

    def remember(self) -> None:
        self.position = "".join(self.board())
        self.positions.add(self.position)
        self.one_sided.update(self.position.replace(mark, ".") for mark in "XO")

    def legal(self) -> list[int]:
        moves = sorted(self.flip[action] for action in self.state.legal_actions())
        # Of the mover's stones a move adds one and takes none: that alone tells most moves from every earlier position.
        mark, other = "XO" if self.to_play() == 0 else "OX"
        own = self.position.replace(other, ".")
        suspects = {move for move in moves if own[:move] + mark + own[move + 1 :] in self.one_sided}
        return [move for move in moves if move not in suspects or not self.recreates(move)]

    def recreates(self, move: int) -> bool:
        """Whether the move recreates an earlier position. If so, OpenSpiel must draw the game."""
        child = self.state.child(self.flip[move])
        if "".join(go_board(child, self.game)) not in self.positions:
            return False
        moves = " ".join(self.game.text(self.flip[action]) for action in child.history())
        assert (child.is_terminal(), child.returns()) == (True, [0, 0]), f"OpenSpiel draws no repetition: {moves}"
        self.met.add("a forbidden repetition")
        return True

    def play(self, action: int) -> None:
        super().play(self.flip[action])
        self.remember()

    def board(self) -> list[str]:
        return go_board(self.state, self.game)

    def score(self) -> float | None:
        """The winner alone is told, and only at the end: the area margin is the komi with which the game is drawn."""
        if not self.state.is_terminal():
            return None
        komis = range(-len(self.position), len(self.position) + 1)
        return komis[bisect_left(komis, True, key=self.second_holds)] - self.game.numbers["komi"]

    def second_holds(self, komi: int) -> bool:
        """Whether Second wins or draws the same game with that komi."""
        state = load(go_with_komi(self.game, komi)).new_initial_state()
        for action in self.state.history():
            state.apply_action(action)
        return state.returns()[0] <= 0


class NoGoReference(Reference):
    """A game of Go there, in which the legal moves that capture nothing are played: no pass, and so no repetition."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, f"go(board_size={game.rows})")
        self.flip = flipped(game.rows)
        self.quiet = self.quiet_moves(self.state)

    def quiet_moves(self, state: pyspiel.State) -> list[int]:
        *points, _pass = state.legal_actions()
        left = empty_points(state) - 1
        return sorted(self.flip[point] for point in points if empty_points(state.child(point)) == left)

    def legal(self) -> list[int]:
        return self.quiet

    def play(self, action: int) -> None:
        super().play(self.flip[action])
        self.quiet = self.quiet_moves(self.state)

    def result(self) -> int | None:
        return None if self.quiet else (-1, 1)[self.to_play()]

    def board(self) -> list[str]:
        return go_board(self.state, self.game)

    def ownership(self) -> list[int] | None:
        """At the end the mover can play nowhere, so what the other could play is his alone."""
        if self.quiet:
            return None
        passed = self.state.child(len(self.flip) - 1)
        sign, others = (1, -1)[passed.current_player()], self.quiet_moves(passed)
        return [sign * (cell in others) for cell in range(len(self.flip) - 1)]


def go_with_komi(game: Game, komi: float) -> str:
    return f"go(board_size={game.rows},max_game_length={game.max_plies},komi={float(komi)})"


@cache
def flipped(size: int) -> list[int]:
    """Our action of each action of Go there, and the other way round; the last is the pass."""
    return [(size - 1 - row) * size + col for row in range(size) for col in range(size)] + [size * size]


def go_board(state: pyspiel.State, game: Game) -> list[str]:
    """The glyphs of Go there, which follow a heading, a blank line and, in each row, the row's number."""
    return [line[3:].translate(GLYPHS) for line in str(state).split("\n")[2 : 2 + game.rows]]


def empty_points(state: pyspiel.State) -> int:
    return str(state).count("+")


Player = Callable[[State, list[int], Random], int]


def uniform(_state: State, legal: list[int], random: Random) -> int:
    return random.choice(legal)


def lingering(state: State, legal: list[int], random: Random) -> int:
    """Avoids the end of the game, so that boards fill up and long lines get joined."""
    moves = random.sample(legal, min(10, len(legal)))
    return next((move for move in moves if state.play(move).result is None), moves[0])


def hasty(_state: State, legal: list[int], random: Random) -> int:
    """Passes so often that games end with much of the board open."""
    return legal[-1] if random.random() < 0.15 else random.choice(legal)


def filling(_state: State, legal: list[int], random: Random) -> int:
    """Passes only where nothing else is legal: eyes get filled, and whole groups are captured again and again."""
    return random.choice(legal[:-1] or legal)


def sensible(state: State, legal: list[int], random: Random) -> int:
    """Fills no point that only own stones surround, and else passes: two passes end the game when all is settled."""
    rows = state.glyphs()
    own, size = "XO"[state.to_play], len(rows)
    for move in random.sample(legal[:-1], len(legal) - 1):
        row, col = divmod(move, size)
        beside = [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)]
        if any(rows[r][c] != own for r, c in beside if 0 <= r < size and 0 <= c < size):
            return move
    return legal[-1]


@dataclass(frozen=True)
class Case:
    """Random games of one of our games against a reference, and what must have happened in some of them."""

    name: str
    games: int
    reference: Callable[[Game], Reference]
    meets: set[str]
    players: tuple[Player, ...] = (uniform,)
    against: str = ""


def gomoku(name: str, games: int, spiel: str, connect: int, meets: set[str]) -> Case:
    def reference(game: Game) -> Reference:
        return GomokuReference(game, spiel, connect)

    return Case(name, games, reference, meets, (uniform, lingering), against=spiel.partition("(")[0])


def go(name: str, games: int, meets: set[str]) -> Case:
    return Case(name, games, GoReference, meets, (hasty, filling, sensible))


WON = {"First won", "Second won"}
ALL = WON | {"drawn"}
RARE_IN_GO = {"a forbidden repetition", "the longest game"}
CASES = [
    Case("ultimate", 600, UltimateReference, ALL | {"a free move"}),
    gomoku("gomoku3", 500, "tic_tac_toe", 3, ALL),
    gomoku("gomoku6x4", 500, "gomoku(size=6,connect=4)", 4, ALL | {"an overline"}),
    gomoku("gomoku8", 400, "gomoku(size=8,connect=5)", 5, ALL | {"an overline"}),
    gomoku("gomoku8", 40, "mnk(m=8,n=8,k=5)", 5, ALL | {"an overline"}),
    gomoku("gomoku15", 75, "gomoku(size=15,connect=5)", 5, WON | {"an overline"}),
    Case("dots1", 25, DotsReference, {"Second won"}),
    Case("dots1x2", 100, DotsReference, ALL | {"a second move in a row"}),
    Case("dots2", 500, DotsReference, ALL | {"a second move in a row"}),
    Case("dots2x3", 500, DotsReference, ALL | {"a second move in a row"}),
    Case("dots3", 500, DotsReference, WON | {"a second move in a row"}),
    Case("dots3x4", 250, DotsReference, ALL | {"a second move in a row"}),
    Case("dots4", 250, DotsReference, ALL | {"a second move in a row"}),
    Case("dots5", 200, DotsReference, WON | {"a second move in a row"}),
    go("go3", 450, ALL | RARE_IN_GO),
    go("go5", 300, ALL | RARE_IN_GO),
    go("go7", 150, ALL | RARE_IN_GO),
    go("go9", 75, WON | RARE_IN_GO),
    go("go13", 22, WON | RARE_IN_GO),
    go("go19", 7, WON | RARE_IN_GO),
    Case("nogo3", 200, NoGoReference, WON),
    Case("nogo4", 200, NoGoReference, WON),
    Case("nogo5", 150, NoGoReference, WON),
    Case("nogo6", 100, NoGoReference, WON),
    Case("nogo7", 60, NoGoReference, WON),
    Case("nogo9", 30, NoGoReference, WON),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.against}".rstrip("-"))
def test_random_games_agree_with_openspiel(case: Case) -> None:
    met: set[str] = set()
    for number in range(case.games):
        random = Random(f"{case.name} {number}")
        game = tesuji.game(case.name)
        if "komi" in game.numbers:  # whole numbers among them, with which a game can be drawn
            game = tesuji.game(case.name, komi=random.randint(0, 2 * game.rows) / 2)
        reference = case.reference(game)
        play_and_compare(game, reference, case.players[number % len(case.players)], random)
        met |= reference.met
    assert case.meets <= met, f"{case.games} random games met no {' and no '.join(sorted(case.meets - met))}"


def play_and_compare(game: Game, reference: Reference, player: Player, random: Random) -> None:
    state = game.start()
    compare(state, reference)
    while state.result is None:
        action = player(state, state.legal(), random)
        state = state.play(action)
        reference.play(action)
        compare(state, reference)
    reference.met.add(RESULTS[state.result])
    if len(state.history) == game.max_plies:
        reference.met.add("the longest game")


def compare(state: State, reference: Reference) -> None:
    """Fails with the moves so far where the two sides differ."""

    def agree(what: str, ours: object, theirs: object) -> None:
        assert ours == theirs, f"{what}: {ours} here, {theirs} by OpenSpiel, after {state!r}"

    agree("result", state.result, reference.result())
    agree("board", [row.replace(" ", ".") for row in state.glyphs()], reference.board())
    agree("legal actions", state.legal(), reference.legal())
    if state.result is None:
        agree("player to move", state.to_play, reference.to_play())
    if (score := reference.score()) is not None:
        agree("score", state.score, score)
    if (ownership := reference.ownership()) is not None:
        agree("ownership", state.ownership().ravel().tolist(), ownership)
