"""The Python API: states are values, and whatever is wrong is refused with one sentence."""

import copy
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
from boards import place
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tesuji

GAMES = tesuji.games()
ONE_A_FAMILY = ["ultimate", "gomoku6x4", "nogo5", "dots3", "go5"]  # where all of a family would be more of the same
every_game = pytest.mark.parametrize("name", GAMES)
one_a_family = pytest.mark.parametrize("name", ONE_A_FAMILY)


def look(state: tesuji.State) -> tuple[object, ...]:
    """All that can be seen of a state, to tell whether it changed."""
    planes = [state.planes(encoding).tobytes() for encoding in state.game.encodings]
    owners = np.ravel(state.ownership()).tolist() if state.game.owned else None
    return str(state), repr(state), state.history, state.to_play, state.legal(), state.score, planes, owners


@contextmanager
def refused(*kinds: type[Exception], match: str | None = None) -> Iterator[None]:
    """A block that must raise one of these (ValueError or TypeError where none is said), with one sentence as text."""
    with pytest.raises(kinds or (ValueError, TypeError), match=match) as caught:
        yield
    text = str(caught.value)
    assert len(text) > 10, "a sentence, please"
    assert len(text) < 300, "not all that was given"
    assert "\n" not in text
    assert "\r" not in text
    assert "incompatible function arguments" not in text
    text.encode()  # it can be printed


# ── What is public ──


def test_the_public_list_is_what_is_public() -> None:
    """Every public name that is no module stands in __all__, and nothing else does."""
    names = {name for name, value in vars(tesuji).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert names == set(tesuji.__all__)
    assert tesuji.__all__ == sorted(tesuji.__all__)


def test_the_games_of_the_design_are_there() -> None:
    """By the names that users type, none twice."""
    wanted = "ultimate gomoku6x4 gomoku8 gomoku15 nogo4 nogo5 nogo6 nogo7 nogo9 dots3 dots3-paper dots4 dots5 "
    wanted += "go5 go7 go9 go13 go19 ultimate-count"
    assert set(wanted.split()) <= set(GAMES)
    assert len(set(GAMES)) == len(GAMES)
    assert [tesuji.game(name).name for name in GAMES] == GAMES


def test_an_illegal_move_is_a_value_error() -> None:
    """So that who catches ValueError catches it too."""
    assert issubclass(tesuji.IllegalMove, ValueError)


# ── States are values ──


@every_game
def test_play_leaves_the_old_state_alone(name: str) -> None:
    """Along a whole game: the state before a move looks the same after it."""
    state = tesuji.game(name).start()
    for action in tesuji.game(name).random(1).history[:60]:
        before = look(state)
        after = state.play(action)
        assert look(state) == before
        assert after != state
        assert after.history == [*state.history, action]
        state = after


@every_game
def test_equal_moves_give_equal_states(name: str) -> None:
    """Equality and hash, of states and games."""
    game = tesuji.game(name)
    state, again = game.random(3, plies=6), tesuji.game(name).random(3, plies=6)
    assert state == again
    assert hash(state) == hash(again)
    assert game == again.game
    assert hash(game) == hash(again.game)
    assert len({state, again, game.start()}) == 2


@pytest.mark.parametrize("other", [None, 1, "go5", [], (), object()], ids=lambda other: type(other).__name__)
def test_nothing_else_is_equal(other: object) -> None:
    """A comparison with something else says no, and raises nothing."""
    game = tesuji.game("go5")
    for value in (game, game.start()):
        assert not value == other  # noqa: SIM201 (both operators are asked)
        assert value != other
        assert other != value
    assert game != game.start()


@every_game
def test_hashes_tell_states_apart(name: str) -> None:
    """Among thousands of states near each other, equal hashes mean equal boards, movers and legal moves."""
    game = tesuji.game(name)
    seen: dict[int, tuple[object, ...]] = {}
    for seed in range(3):
        layer = [game.random(seed, plies=3 * seed)]
        while layer and len(seen) < 1500 * (seed + 1):
            layer = [state.play(action) for state in layer[:60] for action in state.legal()]
            for state in layer:
                # The hash is of what bears on the rest of the game: in Dots and Boxes not who owns which box. In Go
                # superko also remembers how a position came about; the hash does not.
                legal = () if "komi" in game.numbers else state.legal()
                cells = () if game.look == "edges" else state.glyphs()
                sight = (*cells, state.to_play, state.score, *legal)
                assert seen.setdefault(hash(state), sight) == sight
    assert len(seen) > 1000 or name in ("dots1", "dots1x2", "dots2", "gomoku3", "nogo3", "go3")


def test_games_differ_by_name_and_numbers() -> None:
    """Komi makes another game, and states of different games are never equal."""
    seven = tesuji.game("go9", komi=7)
    assert seven == tesuji.game("go9") == tesuji.game("go9", komi=7.0)  # the default
    assert seven != tesuji.game("go9", komi=5.5)
    assert seven.start() != tesuji.game("go9", komi=5.5).start()
    assert tesuji.game("dots3").start() != tesuji.game("dots3-paper").start()
    assert tesuji.game("ultimate").start() != tesuji.game("ultimate-count").start()
    assert len({tesuji.game("go9"), tesuji.game("go9", komi=7), tesuji.game("go9", komi=6)}) == 2


def test_numbers_are_seen() -> None:
    """In the game, in its text, and in the score."""
    game = tesuji.game("go9", komi=5.5)
    assert game.numbers == {"komi": 5.5}
    assert repr(game) == "tesuji.game('go9', komi=5.5)"
    assert game.start().score == -5.5
    assert tesuji.game("dots3", early_end=1).numbers == {"early_end": 1}
    assert tesuji.game("ultimate").numbers == {}
    assert tesuji.game("go9", komi=np.float32(6.5)).numbers == {"komi": 6.5}
    assert game.number_ranges == {"komi": (7, 0, 81, 0.5, "points that Second gets for moving second")}
    assert tesuji.game("ultimate").number_ranges == {}


def test_transpositions_are_equal_where_order_bears_on_nothing() -> None:
    """Dots and Boxes forgets the order; Go remembers it, for superko."""
    dots, go = tesuji.game("dots3"), tesuji.game("go5")
    assert dots.replay("0 8 15 23") == dots.replay("15 23 0 8")
    assert hash(dots.replay("0 8 15 23")) == hash(dots.replay("15 23 0 8"))
    assert go.replay("a1 e5 c3") != go.replay("c3 e5 a1")
    assert go.replay("a1 e5 c3").glyphs() == go.replay("c3 e5 a1").glyphs()


@every_game
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_pickling_and_copying(name: str, copied: Callable[[object], object]) -> None:
    """Games and states come back as they were, in the middle and at the end."""
    game = tesuji.game(name)
    assert copied(game) == game
    for state in [game.start(), game.random(5, plies=7), game.random(5)]:
        back = copied(state)
        assert isinstance(back, tesuji.State)
        assert back == state
        assert look(back) == look(state)


def test_pickles_keep_the_numbers() -> None:
    """Komi and the early end travel along."""
    for game in [tesuji.game("go5", komi=3.5), tesuji.game("dots2", early_end=1)]:
        assert pickle.loads(pickle.dumps(game)).numbers == game.numbers
        assert pickle.loads(pickle.dumps(game.random(1))).game == game


@every_game
def test_repr_can_be_evaluated(name: str) -> None:
    """What a state prints of itself leads to it again."""
    state = tesuji.game(name).random(2, plies=8)
    assert eval(repr(state), {"tesuji": tesuji}) == state


# ── Replay ──


def test_replay_takes_lists_and_texts() -> None:
    """Actions, moves, or both; blanks or commas between moves, as many as one likes; also State(game, moves)."""
    game = tesuji.game("go9")
    state = game.start().play("e5").play("c3").play("pass")
    assert state.history == [40, 56, 81]
    forms: list[object] = [
        ["e5", "c3", "pass"],
        ("e5", 56, "pass"),
        [40, 56, 81],
        np.array([40, 56, 81]),
        (move for move in ["e5", "c3", "pass"]),
        "e5 c3 pass",
        "  e5\tc3\n pass ",
        "e5,c3,pass",
        "e5, c3, pass,",
        "E5 C3 PASS",
    ]
    for moves in forms:
        assert game.replay(moves) == state
    assert tesuji.State(game, "e5 c3 pass") == state
    assert tesuji.State(game) == game.start() == game.replay("") == game.replay([]) == game.replay(" , ")


@every_game
def test_history_replays(name: str) -> None:
    """A whole game by its actions and by its texts."""
    game = tesuji.game(name)
    state = game.random(7)
    assert state.result in (-1, 0, 1)
    assert game.replay(state.history) == state
    assert game.replay([game.text(action) for action in state.history]) == state
    assert look(game.replay(" ".join(map(game.text, state.history)))) == look(state)


@every_game
def test_texts(name: str) -> None:
    """Every action has a text of its own, which is read back; moves() are the texts of legal()."""
    game = tesuji.game(name)
    texts = [game.text(action) for action in range(game.actions)]
    assert len(set(texts)) == game.actions
    assert [game.parse(text) for text in texts] == list(range(game.actions))
    state = game.random(4, plies=5)
    assert state.moves() == [game.text(action) for action in state.legal()]


def test_coordinates() -> None:
    """Row 1 is at the bottom; Go and NoGo alone skip the letter i; actions go by rows from the top left."""
    go, gomoku = tesuji.game("go19"), tesuji.game("gomoku15")
    assert [go.text(0), go.text(8), go.text(18), go.text(19), go.text(360), go.text(361)] == [
        "a19",
        "j19",
        "t19",
        "a18",
        "t1",
        "pass",
    ]
    assert [gomoku.text(0), gomoku.text(8), gomoku.text(224)] == ["a15", "i15", "o1"]
    assert tesuji.game("ultimate").text(8) == "i9"
    assert tesuji.game("nogo9").text(8) == "j9"
    assert go.locate("pass") is None
    assert go.locate("a18") == 19
    for name in ["go19", "nogo9"]:
        with refused(ValueError, match="no i"):
            tesuji.game(name).parse("i5")


# ── Symmetries ──


@every_game
def test_permutations_are_a_group(name: str) -> None:
    """Number 0 is the identity; each is a permutation; one after another is again one of them."""
    game = tesuji.game(name)
    images = [tuple(game.permutation(symmetry).tolist()) for symmetry in range(game.symmetries)]
    identity = tuple(range(game.actions))
    assert game.symmetries in ((1, 2, 4, 8) if game.rows == game.cols else (1, 2, 4))
    assert images[0] == identity
    assert all(sorted(image) == list(identity) for image in images)
    assert len(set(images)) == game.symmetries
    for one, other in product(images, images):
        assert tuple(one[action] for action in other) in images


@every_game
def test_carried_states_are_images(name: str) -> None:
    """Legal moves go by the permutation, planes by turning the grid, the result stays; and carrying composes."""
    game = tesuji.game(name)
    for state in [game.random(11, plies=7), game.random(11)]:
        for symmetry in range(game.symmetries):
            to = game.permutation(symmetry)
            image = state.carried(symmetry)
            assert image.history == to[state.history].tolist()
            assert image.legal() == sorted(to[state.legal()].tolist())
            assert (image.to_play, image.result, image.score) == (state.to_play, state.result, state.score)
            planes = state.planes()
            if symmetry & 4:
                planes = planes.transpose(0, 2, 1)
            if symmetry & 2:
                planes = planes[:, ::-1]
            if symmetry & 1:
                planes = planes[:, :, ::-1]
            assert np.array_equal(image.planes(), planes)
            both = image.carried(1)
            composed = game.permutation(1)[to]
            same = [s for s in range(game.symmetries) if np.array_equal(game.permutation(s), composed)]
            assert [state.carried(s) == both for s in same] == [True]


def test_symmetries_by_name() -> None:
    """1 is left-right, 2 top-bottom, 4 the transposition; a pass stays."""
    game = tesuji.game("go5")
    for symmetry, image in [(0, "a1"), (1, "e1"), (2, "a5"), (3, "e5"), (4, "e5")]:
        assert game.text(int(game.permutation(symmetry)[game.parse("a1")])) == image
        assert game.permutation(symmetry)[game.parse("pass")] == game.parse("pass")
    assert game.replay("a2").carried(4) == game.replay("d5")


# ── Chance ──


@every_game
def test_random_games(name: str) -> None:
    """The same seed gives the same game, others give others; so many plies, or to the end."""
    game = tesuji.game(name)
    assert game.random(1) == game.random(1)
    assert game.random(1).history == game.random(1).history
    assert game.random(1).result is not None
    assert len({tuple(game.random(seed).history) for seed in range(20)}) > 10 - 8 * (name == "dots1")
    assert len(game.random(1, plies=3).history) == 3
    assert game.random(1, plies=3).history == game.random(1).history[:3]
    assert game.random(1, plies=0) == game.start()
    assert game.random(1, plies=1_000_000) == game.random(1)


@every_game
def test_playouts_are_deterministic_results(name: str) -> None:
    """An array of −1, 0 and 1, by seed."""
    game = tesuji.game(name)
    for uniform in (False, True):
        results = game.playouts(300, seed=1, uniform=uniform)
        assert results.shape == (300,)
        assert results.dtype == np.int8
        assert set(results.tolist()) <= {-1, 0, 1}
        assert np.array_equal(results, game.playouts(300, seed=1, uniform=uniform))
        assert np.array_equal(results[:50], game.playouts(50, seed=1, uniform=uniform))
        assert name == "dots1" or not np.array_equal(results, game.playouts(300, seed=2, uniform=uniform))
    assert game.playouts(0).shape == (0,)
    end = game.random(1)
    assert set(end.playouts(5).tolist()) == {end.result}


@pytest.mark.parametrize("name", [name for name in GAMES if not name.startswith("go") or name.startswith("gomoku")])
@pytest.mark.parametrize("plies", [0, 5])
def test_playouts_are_as_likely_as_uniform_moves(name: str, plies: int) -> None:
    """Fast playouts take short cuts; their results must come as often as those of plainly drawn legal moves."""
    state = tesuji.game(name).random(6, plies=plies)
    games = 20_000 if name != "nogo9" else 10_000
    fast, plain = state.playouts(games, seed=1), state.playouts(games, seed=2, uniform=True)
    for result in (-1, 0, 1):
        shares = np.mean(fast == result), np.mean(plain == result)
        share = sum(shares) / 2
        error = np.sqrt(2 * share * (1 - share) / games)
        assert abs(shares[0] - shares[1]) <= 4 * error


@pytest.mark.parametrize("name", ["go3", "go5", "go7", "go9", "go13"])
def test_go_playouts_end_of_themselves(name: str) -> None:
    """About 1.4 plies a point (111 on 9×9), far from the bound: who fills no eyes of his own runs out of moves."""
    game = tesuji.game(name)
    games, plies = game.time_playouts(0.02, seed=1)
    assert games >= 16
    assert 1.1 * game.rows**2 < plies / games < 2 * game.rows**2


def test_go_playouts_fill_no_eyes() -> None:
    """Two living groups and nothing else to play: both pass, and the score stands. Uniform moves destroy it."""
    alive = """
        .X.XO
        XXXXO
        OOOOO
        O.O.O
        OOOOO
    """
    state = place(tesuji.game("go5", komi=0), alive)
    assert state.score == 8 - 17
    assert set(state.playouts(200).tolist()) == {-1}
    assert 1 in state.playouts(200, uniform=True)


# ── Planes ──


@every_game
def test_planes_can_be_written_into_an_array(name: str) -> None:
    """The same numbers as without, all of them, into the very array that is given."""
    state = tesuji.game(name).random(8, plies=9)
    for encoding in state.game.encodings:
        planes = state.planes(encoding)
        out = np.full_like(planes, np.nan)
        assert state.planes(encoding, out=out) is out
        assert np.array_equal(out, planes)
        assert len(state.game.plane_names(encoding)) == len(planes)
        planes[:] = 9  # a new array each time: nobody else sees this
        assert np.array_equal(state.planes(encoding), out)


@every_game
def test_packed_planes_unpack_to_planes(name: str) -> None:
    """A bit a cell, plane after plane; then the scalars, two a word. Read here without the core."""
    game = tesuji.game(name)
    states = [game.random(seed, plies=3 * seed) for seed in range(5)]
    for encoding in game.encodings:
        planes = np.stack([state.planes(encoding) for state in states])
        packed = np.stack([state.packed(encoding) for state in states])
        assert packed.dtype == np.uint64
        assert packed.shape == (5, game.packed_words(encoding))
        cells, scalars = game.rows * game.cols, game.scalar_count(encoding)
        words, binary = -(-cells // 64), planes.shape[1] - scalars
        bits = np.unpackbits(packed[:, : binary * words].copy().view(np.uint8), axis=1, bitorder="little")
        bits = bits.reshape(5, binary, 64 * words)
        assert not bits[:, :, cells:].any()
        assert np.array_equal(bits[:, :, :cells].reshape(planes[:, :binary].shape), planes[:, :binary])
        numbers = packed[:, binary * words :].copy().view(np.float32)
        assert np.array_equal(numbers[:, :scalars], planes[:, binary:, 0, 0])
        assert not numbers[:, scalars:].any()
        assert np.array_equal(game.unpack(packed, encoding), planes)
        out = np.full_like(planes, np.nan)
        assert game.unpack(packed, encoding, out=out) is out
        assert np.array_equal(out, planes)


@one_a_family
def test_packed_planes_that_do_not_fit_are_refused(name: str) -> None:
    game = tesuji.game(name)
    words, shape = game.packed_words(), (2, *game.start().planes().shape)
    good = np.zeros((2, words), np.uint64)
    for packed in [good[0], good[:, 1:], good.view(np.int64), np.zeros((words, 2), np.uint64).T, "rows", None]:
        with refused(match=re.escape(f"packed must be a uint64 array of shape [positions, {words}]")):
            game.unpack(packed)
    frozen = np.zeros(shape, np.float32)
    frozen.flags.writeable = False
    for out in [np.zeros(shape), np.zeros((1, *shape[1:]), np.float32), np.zeros(shape[1:], np.float32), frozen, 3]:
        with refused(match=r"out must be a writable float32 array of shape \[2, "):
            game.unpack(good, out=out)
    assert game.unpack(good[:0]).shape == (0, *shape[1:])


@one_a_family
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    """Shape, type, order and writability; nothing is written."""
    state = tesuji.game(name).start()
    shape = state.planes().shape
    frozen = np.zeros(shape, np.float32)
    frozen.flags.writeable = False
    wrong = [
        np.zeros(shape, np.float64),
        np.zeros(shape, np.float16),
        np.zeros(shape, np.int32),
        np.zeros(shape, ">f4"),
        np.zeros((shape[0] + 1, *shape[1:]), np.float32),
        np.zeros((shape[0] - 1, *shape[1:]), np.float32),
        np.zeros(shape[1:], np.float32),
        np.zeros((1, *shape), np.float32),
        np.zeros(0, np.float32),
        np.zeros(np.prod(shape), np.float32),
        np.zeros(shape[::-1], np.float32).T,
        np.zeros((*shape[:2], 2 * shape[2]), np.float32)[:, :, ::2],
        frozen,
    ]
    for out in wrong:
        with refused(match=re.escape(f"[{shape[0]}, {shape[1]}, {shape[2]}]")):
            state.planes(out=out)
        assert not out.any()
    for junk in [5, "planes", [[[0.0]]], object(), memoryview(b"1234")]:
        with refused():
            state.planes(out=junk)


# ── What is wrong is refused with one sentence ──

JUNK = [
    "",
    " ",
    "\n",
    "z",
    "a0",
    "a00",
    "a01",
    "a1a",
    "a1\n",
    "a-1",
    "zz99",
    "a99",
    "1a",
    "é5",
    "e５",
    "passs",
    "\x1b[2J",
]
JUNK += ["\0", "a1\0", "\0a1", "🙂", "🙂" * 50, "x" * 1_000_000, "🙂" * 300_000, "\ud800", "a1\udfff", "ab\ud800" * 50]


@one_a_family
def test_unreadable_texts_are_refused(name: str) -> None:
    """Whatever it is, the sentence is short, names the game, and nothing changes."""
    game = tesuji.game(name)
    state = game.random(1, plies=4)
    before = look(state)
    for text in JUNK:
        with refused(ValueError, match=name):
            state.play(text)
        with refused(ValueError, match=name):
            game.parse(text)
        if "".join(text.split()) not in ("", "a1"):  # a replay takes blanks away
            with refused(ValueError, match="move 1: "):
                game.replay([text])
    assert look(state) == before


@pytest.mark.parametrize("text", ["\x7f", "\x1b]0;", "\x85", "a1\u2028b", "\u2029", "\x9b2J", "\u202ea1"], ids=ascii)
def test_refusals_hold_only_what_prints(text: str) -> None:
    """Line separators, terminal controls and turned writing do not pass through a sentence to the terminal."""
    with pytest.raises(ValueError, match="is not a move") as caught:
        tesuji.game("go5").parse(text)
    assert str(caught.value).isprintable()


def readable(game: tesuji.Game, text: str) -> bool:
    try:
        return game.parse(text) in range(game.actions)
    except ValueError:
        return False


@one_a_family
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(text=st.text(max_size=30) | st.from_regex(r"[a-tA-T]?[0-9]{0,3}|[hv] ?-?[0-9]* ?[0-9]*", fullmatch=True))
@example(text="pass")
@example(text="h 0 0")
def test_a_text_is_a_move_or_is_refused(name: str, text: str) -> None:
    """Nothing is read that is not written so: a cell's name in small or capital letters, or an edge."""
    game = tesuji.game(name)
    spelled = game.text(game.parse(text)) if readable(game, text) else None
    if spelled is None:
        with refused(ValueError, match=name):
            game.parse(text)
        with refused(ValueError, match=name):
            game.start().play(text)
    elif name == "dots3":
        assert re.fullmatch(r" *[0-9]+|[hv] *[0-9]+ +[0-9]+", text)
    else:
        assert text.lower() == spelled


@one_a_family
def test_actions_that_are_none_are_refused(name: str) -> None:
    """Out of range, of another kind, or not legal here; the state stays as it was."""
    game = tesuji.game(name)
    state = game.random(1, plies=4)
    before = look(state)
    taken = state.history[0]
    for action in [game.actions, -1, -2, 10**6, 2**31, 2**32, 2**63, 2**64 + 1, 10**30, -(10**30), 10**5000]:
        with refused(tesuji.IllegalMove, match="out of range"):
            state.play(action)
        with refused(tesuji.IllegalMove, match="out of range"):
            game.text(action)
    with refused(tesuji.IllegalMove, match="not legal"):
        state.play(taken)
    with refused(tesuji.IllegalMove, match="not legal"):
        state.play(np.int64(taken))
    for junk in [0.0, 2.5, float("nan"), True, False, None, b"a1", [0], (0,), {}, 1j, object(), np.float32(0)]:
        with refused(TypeError, match="move is a text or an integer action"):
            state.play(junk)
    assert look(state) == before


def test_numpy_integers_are_actions() -> None:
    """So are other things that are integers."""
    state = tesuji.game("go5").start()
    for action in [np.int8(3), np.uint64(3), np.array([3])[0], np.array(3)]:
        assert state.play(action) == state.play(3)


@every_game
def test_moves_after_the_end_are_refused(name: str) -> None:
    """Whatever the move, the game is over."""
    state = tesuji.game(name).random(1)
    before = look(state)
    for action in range(state.game.actions):
        with refused(tesuji.IllegalMove, match="over"):
            state.play(action)
    assert look(state) == before
    assert state.moves() == []


def test_unknown_games_are_refused() -> None:
    """With a suggestion where one is near."""
    for text, near in [
        ("go8", "go9"),
        ("gommoku8", "gomoku8"),
        ("Go19", "go19"),
        ("dots", "dots3"),
        ("utimate", "ultimate"),
    ]:
        with refused(ValueError, match=near):
            tesuji.game(text)
    for text in ["", "chess?", "🙂", "x" * 1_000_000, "\ud800", "go9\n", "\n", "\0", "go9 "]:
        with refused(ValueError, match="there is no game"):
            tesuji.game(text)
    for junk in [None, 9, 1.5, b"go9", ["go9"], True]:
        with refused(TypeError):
            tesuji.game(junk)


def test_rule_numbers_are_refused() -> None:
    """Komi is a multiple of a half from 0 to the size of the board; the early end is 0 or 1."""
    for komi in [-1, -0.5, 0.3, 7.25, 81.5, 1e300, -1e300, float("nan"), float("inf"), -float("inf"), 10**30]:
        with refused(ValueError, match="komi"):
            tesuji.game("go9", komi=komi)
    for junk in ["7", "", None, True, b"7", [7], 7j, object()]:
        with refused(TypeError, match="komi"):
            tesuji.game("go9", komi=junk)
    for early in [2, -1, 0.5]:
        with refused(ValueError, match="early_end"):
            tesuji.game("dots3", early_end=early)
    with refused(ValueError, match="komi"):
        tesuji.game("go9", kommi=7)
    with refused(ValueError, match="it has none"):
        tesuji.game("ultimate", komi=7)
    assert tesuji.game("go9", komi=0).numbers["komi"] == 0
    assert tesuji.game("go9", komi=81).numbers["komi"] == 81


@pytest.mark.parametrize("komi", [10**400, -(10**400)], ids=["large", "small"])
def test_a_komi_that_no_float_holds_is_refused(komi: int) -> None:
    """As any other that is too large."""
    with refused(ValueError, TypeError, match="komi"):
        tesuji.game("go9", komi=komi)


DIRECT: dict[str, Callable[[], object]] = {
    "no game": lambda: tesuji.Game("go8"),
    "a line break": lambda: tesuji.Game("go5\n"),
    "half a character": lambda: tesuji.Game("\ud800"),
    "a megabyte": lambda: tesuji.Game("x" * 1_000_000),
    "no name": lambda: tesuji.Game(None),
    "a number": lambda: tesuji.Game(5),
    "numbers that are none": lambda: tesuji.Game("go5", 7),
    "a text for a number": lambda: tesuji.Game("go5", {"komi": "7"}),
    "an unknown number": lambda: tesuji.Game("go5", {"kommi": 7.0}),
    "an impossible number": lambda: tesuji.Game("go5", {"komi": 0.3}),
    "a line break in a number's name": lambda: tesuji.Game("go5", {"a\nb": 7.0}),
    "a state of nothing": lambda: tesuji.State(None),
    "a state of a name": lambda: tesuji.State("go5"),
    "no moves": lambda: tesuji.State(tesuji.game("go5"), 5),
    "no such move": lambda: tesuji.State(tesuji.game("go5"), "z9"),
    "an illegal move": lambda: tesuji.State(tesuji.game("go5"), ["a1", "a1"]),
}


@pytest.mark.parametrize("make", DIRECT.values(), ids=DIRECT.keys())
def test_the_types_themselves_refuse_too(make: Callable[[], object]) -> None:
    """tesuji.Game and tesuji.State are public: called directly, they speak in sentences as well."""
    with refused():
        make()


@one_a_family
def test_whole_numbers_out_of_bounds_are_refused(name: str) -> None:
    """Depths, games, plies, seeds and symmetries: each must be a whole number within its bounds."""
    game = tesuji.game(name)
    state = game.start()
    junk: list[object] = [2.5, float("nan"), "3", None, b"3", [3], 1j, True, object()]
    calls: list[tuple[Callable[[object], object], list[object]]] = [
        (game.perft, [-1, 31, 10**30, -(10**30)]),
        (state.perft, [-1, 31, 10**30, -(10**30)]),
        (game.playouts, [-1, 10**9 + 1, 10**30, -(10**30)]),
        (state.playouts, [-1, 10**9 + 1, 10**30, -(10**30)]),
        (game.random, [-1, 10**30]),
        (lambda seed: game.playouts(1, seed=seed), [-1, 10**30]),
        (lambda seed: state.playouts(1, seed=seed), [-1, 10**30]),
        (game.permutation, [-1, 8, 10**30]),
        (state.carried, [-1, 8, 10**30]),
        (lambda games: game.broken_laws(games), [-1, 10**30]),
    ]
    for call, numbers in calls:
        for number in numbers:
            with refused(ValueError):
                call(number)
        for wrong in junk:
            with refused(TypeError):
                call(wrong)
    for plies in [-1, 10**30]:
        with refused(ValueError):
            game.random(1, plies=plies)
    for wrong in set(junk[:3]):
        with refused(TypeError):
            game.random(1, plies=wrong)


def test_a_symmetry_that_a_rectangle_lacks_is_refused() -> None:
    """2×3 boxes cannot be turned by a quarter."""
    game = tesuji.game("dots2x3")
    with refused(ValueError, match="symmetry"):
        game.permutation(4)
    with refused(ValueError, match="symmetry"):
        game.start().carried(4)


def test_a_count_that_no_machine_finishes_is_refused() -> None:
    """At once, and with the reason."""
    for name in ["go19", "gomoku15", "ultimate"]:
        with refused(ValueError, match="too deep"):
            tesuji.game(name).perft(30)


def test_times_are_refused() -> None:
    """A time is a number of seconds, above 0, at most an hour."""
    for seconds in [0, -1, float("nan"), float("inf"), 3601]:
        with refused(ValueError, match="seconds"):
            tesuji.game("dots1").time_playouts(seconds)


@pytest.mark.parametrize("seconds", ["1", None, b"1", [1], 10**400], ids=lambda seconds: type(seconds).__name__)
def test_times_are_numbers(seconds: object) -> None:
    """What is none, or more than a float holds, is refused in one line too."""
    with refused(match="seconds"):
        tesuji.game("dots1").time_playouts(seconds)


@pytest.mark.parametrize(
    "encoding",
    ["", "Tesuji", "papers", "a\nb", "x" * 100_000, "\ud800", "é" * 40, "🙂" * 40, "'tesuji'", "\0"],
    ids=lambda encoding: ascii(encoding)[:20],
)
@pytest.mark.parametrize("name", ["go5", "dots3"])
def test_unknown_encodings_are_refused(name: str, encoding: str) -> None:
    """The sentence names those that there are."""
    state = tesuji.game(name).start()
    with refused(ValueError, match="no encoding.*it has tesuji"):
        state.planes(encoding)
    with refused(ValueError, match="no encoding.*it has tesuji"):
        state.game.plane_names(encoding)


def test_encodings_are_texts() -> None:
    """And 'paper' is one only where a study has its own."""
    state = tesuji.game("dots3").start()
    for junk in [5, None, b"tesuji", ["tesuji"]]:
        with refused(TypeError):
            state.planes(junk)
    assert state.game.encodings == ["tesuji"]
    with refused(ValueError, match="it has tesuji"):
        state.planes("paper")


def test_replays_of_something_else_are_refused() -> None:
    """What is neither a list nor a text."""
    game = tesuji.game("go19")
    for junk in [5, None, 2.5, True, object(), [None], [2.5], [b"e5"], [["e5"]]]:
        with refused(TypeError):
            game.replay(junk)


def test_bytes_are_no_moves() -> None:
    """As a list of numbers b"e5" would be the actions 101 and 53, which 19×19 has."""
    with refused(TypeError):
        tesuji.game("go19").replay(b"e5")


def test_one_bad_move_among_good_ones_is_refused_by_its_number() -> None:
    """The sentence says which."""
    game = tesuji.game("go9")
    for moves in ["e5 e5", ["e5", 40], "e5 i5", "e5, z9, c3", ["e5", "🙂"], ["e5", 10**30], ["e5", -1], "e5 \ud800"]:
        with refused(ValueError, match="move 2: "):
            game.replay(moves)
    with refused(tesuji.IllegalMove, match="move 4: .*over"):
        game.replay("e5 pass pass c3")
