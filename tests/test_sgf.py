"""SGF: what we write others read, what others write we read, and junk is refused with a sentence."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as mill

import tesuji
from tesuji.protocols import sgf
from tesuji.protocols.sgf import Node, Sgf

NAMES = ["go9", "go19", "go13", "nogo9", "nogo5", "gomoku15", "gomoku8", "gomoku6x4"]


def with_variations(name: str, seed: int) -> Sgf:
    """A random game, with comments and a few variations that begin somewhere in it."""
    game = tesuji.game(name)
    whole = game.random(seed)
    tree = Sgf.of(game, whole.history, PB="Tesuji [strong]", PW="a\\b", RE="B+R")
    for ply in range(0, min(len(whole.history) - 1, 12), 3):
        state, at = game.replay(whole.history[:ply]), ply
        for _ in range(2):
            action = next((a for a in state.legal() if a != whole.history[len(state.history)]), None)
            if action is None:
                break
            state = state.play(action)
            tree.nodes.append(Node(at, action))
            at = len(tree.nodes) - 1
    tree.nodes[0].comment = "line 1\nline 2: [x] and \\ and ] 手筋"
    tree.nodes[-1].comment = ":;()[]\\"
    return tree


def paths(tree: Sgf) -> list[tuple[list[int], str]]:
    """Every node as the actions that lead to it, with its comment."""
    found: list[tuple[list[int], str]] = []
    for node in tree.nodes:
        found.append(([] if node.action is None else [*found[node.parent][0], node.action], node.comment))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(name: str) -> None:
    tree = with_variations(name, 7)
    again = sgf.read(sgf.write(tree))
    assert again.game == tree.game
    assert again.line() == tree.line()
    assert sorted(paths(again)) == sorted(paths(tree))
    assert again.info["PB"] == "Tesuji [strong]"
    assert again.info["PW"] == "a\\b"
    assert sgf.write(again) == sgf.write(sgf.read(sgf.write(again)))
    assert sgf.read(sgf.write(tree).encode()).line() == tree.line()


@pytest.mark.parametrize("name", NAMES)
def test_sgfmill_reads_what_we_write(name: str) -> None:
    tree = with_variations(name, 11)
    read = mill.Sgf_game.from_bytes(sgf.write(tree).encode())
    game = tree.game
    assert read.get_size() == game.rows
    if "komi" in game.numbers:
        assert read.get_komi() == game.numbers["komi"]
    assert read.get_player_name("b") == "Tesuji [strong]"
    assert read.get_root().get("C") == tree.nodes[0].comment
    moves = [node.get_move() for node in read.get_main_sequence()[1:]]
    assert len(moves) == len(tree.line())
    for ply, (action, (colour, point)) in enumerate(zip(tree.line(), moves, strict=True)):
        assert colour == "bw"[ply % 2]
        cell = game.locate(action)
        expected = None if cell is None else (game.rows - 1 - cell // game.cols, cell % game.cols)
        assert point == expected
    # And all variations: as many leaves as ours.
    parents = {node.parent for node in tree.nodes}
    leaves = sum(number not in parents for number in range(len(tree.nodes)))
    assert count_leaves(read.get_root()) == leaves


def count_leaves(root: object) -> int:
    todo, leaves = [root], 0
    while todo:
        node = todo.pop()
        todo += list(node)  # type: ignore[call-overload]
        leaves += not len(node)  # type: ignore[arg-type]
    return leaves


@pytest.mark.parametrize("seed", range(5))
def test_we_read_what_sgfmill_writes(seed: int) -> None:
    game = tesuji.game("go13", komi=6.5)
    state = game.random(seed, plies=60)
    written = mill.Sgf_game(size=13)
    written.get_root().set("KM", 6.5)
    written.get_root().set("PB", "黒 ]\\[")
    for ply, action in enumerate(state.history):
        node = written.extend_main_sequence()
        cell = game.locate(action)
        node.set_move("bw"[ply % 2], None if cell is None else (12 - cell // 13, cell % 13))
        node.set("C", f"ply {ply}: \\ ]")
    side = written.get_root().new_child()
    side.set_move("b", (3, 3))
    read = sgf.read(written.serialise())
    assert read.game == game
    assert read.line() == state.history
    assert read.info["PB"] == "黒 ]\\["
    assert read.nodes[1].comment == "ply 0: \\ ]"
    assert len(read.nodes) == len(state.history) + 2


def test_handicap_is_played_with_passes_between() -> None:
    read = sgf.read("(;GM[1]SZ[9]HA[3]KM[0.5]AB[gc][cg][gg];W[ee];B[cc])")
    state = read.game.replay(read.line())
    assert read.game.numbers["komi"] == 0.5
    assert sum(row.count("X") for row in state.glyphs()) == 4
    assert state.to_play == 1
    to_play = sgf.read("(;SZ[9]AB[aa:bb]AW[ii]PL[B])")
    state = to_play.game.replay(to_play.line())
    assert state.to_play == 0
    assert "".join(state.glyphs()).count("X") == 4
    assert sgf.read("(;GM[4]SZ[15]AB[hh][ii]AW[hi])").line()  # by turns


def test_what_other_programs_do_is_understood() -> None:
    old = sgf.read("Some mail\n\n(;GaMe[1] SiZe[9]\n;Black[cc];White[tt];B[];W[])")
    assert [old.game.text(action) for action in old.line()] == ["c7", "pass", "pass"]  # the fourth is beyond the end
    twice = sgf.read("(;SZ[9];B[cc];B[dd])")
    assert [twice.game.text(action) for action in twice.line()] == ["c7", "pass", "d6"]
    unknown = sgf.read("(;SZ[9]XX[a\\]b][c]YY[];B[cc]BL[12.5]TR[aa][bb](;W[dd])(;W[ee]))(;SZ[19])")
    assert len(unknown.nodes) == 4
    assert len(unknown.line()) == 2
    assert sgf.read("(;CA[gb2312]SZ[9]PB[柯洁])".encode("gb2312")).info["PB"] == "柯洁"
    assert sgf.read("(;SZ[9]C[caf\xe9])".encode("latin-1")).nodes[0].comment == "café"
    assert sgf.read("(;SZ[9]C[one\\\ntwo\tthree\r\nfour])").nodes[0].comment == "onetwo three\nfour"
    assert sgf.read("(;GM[4]SZ[8];B[aa];W[hh])").game.name == "gomoku8"
    assert sgf.read("(;GM[1]RU[nogo]SZ[9];B[aa])").game.name == "nogo9"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no game"),
        ("(;SZ[9];B[cc]", "line 1, character 14: the game is not closed"),
        ("(;SZ[9];B[cc", "the value of B is not closed"),
        ("(;SZ[9];B)", "a value in brackets is missing"),
        ("(;SZ[9]\n;B[zz])", r"line 2, character 1: \[zz\] is no point"),
        ("(;SZ[9];B[cc];W[cc])", "c7 is not legal for Second"),
        ("(;SZ[9](B[cc]))", "must begin with a node"),
        ("(;SZ[9];B[cc]!)", "does not belong here"),
        ("(;SZ[8];B[cc])", "there is no Go of size 8 here: the sizes are 3, 5, 7, 9, 13, 19"),
        ("(;SZ[19:13])", "only square boards"),
        ("(;SZ[x])", "is no size"),
        ("(;GM[2])", r"GM\[2\] is another game"),
        ("(;SZ[9]KM[x])", r"KM\[x\] is no number"),
        ("(;SZ[9]KM[1e400])", "komi"),
        ("(;SZ[9]KM[nan])", "komi"),
        ("(;SZ[9];B[cc];AW[dd])", "in the middle of a game"),
        ("(;GM[4]SZ[15]AB[aa][bb][cc])", "gomoku15 has no pass"),
        ("(;GM[4]SZ[15];B[])", "a pass is not possible"),
        ("(;GM[4]SZ[15];B[aa];B[bb])", "Black moves twice in a row"),
        ("(;SZ[9]AB[ab][ba]AW[aa])", "captured|not legal"),
        ("(;SZ[9]" * 1001, "more than 1,000 variations"),
        ("(;SZ[9]" + ";" * 20_000, "more than 20,000 nodes"),
        ("(" * 100_000, "there is no game"),
        ("x" * 2_000_001, "too long"),
        (";B[" + "\\" * 100_000, "there is no game"),
        ("(;C[" + "\\" * 100_001, "is not closed"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        sgf.read(text)


def test_games_that_sgf_has_no_words_for_are_refused() -> None:
    with pytest.raises(ValueError, match="no words for ultimate"):
        sgf.write(Sgf.of(tesuji.game("ultimate"), []))


_PIECES = [
    "(",
    ")",
    ";",
    "[",
    "]",
    "\\",
    "B",
    "W",
    "AB",
    "SZ[9]",
    "GM[4]",
    "C[",
    "[aa]",
    "[ss]",
    "[]",
    "\n",
    "KM[-1e9]",
]


def read_or_refusal(text: str | bytes) -> Sgf | str:
    try:
        return sgf.read(text)
    except ValueError as refusal:
        return str(refusal)


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(_PIECES), max_size=60).map("".join), st.binary()))
def test_junk_is_read_or_refused(junk: str | bytes) -> None:
    found = read_or_refusal(junk)
    if isinstance(found, str):
        assert re.match(r"SGF, line \d+, character \d+: ", found)
    else:
        assert sgf.read(sgf.write(found)).line() == found.line()


@settings(deadline=None)
@given(st.data())
def test_a_game_with_bytes_changed_is_read_or_refused(data: st.DataObject) -> None:
    text = bytearray(sgf.write(with_variations("nogo5", 3)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    found = read_or_refusal(bytes(text))
    assert isinstance(found, Sgf) or found.startswith("SGF, line ")
