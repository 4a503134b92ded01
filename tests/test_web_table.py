"""A person's table, without HTTP: real searches in a real pool, and what is told about them."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tesuji
from tesuji.web import levels
from tesuji.web.limits import Limits
from tesuji.web.review import accuracy, reviewing, verdict
from tesuji.web.table import Desk, Table, Trouble
from tesuji.web.tree import GameTree, from_json, to_json
from tesuji.web.work import REPLY, REVIEW, Pool, Steps

QUICK = "player:mcts:visits=20"


class Person:
    """Sits at a table, and hears what is told in the order in which it is told."""

    def __init__(self, *, own: bool = True, limits: Limits | None = None) -> None:
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.pool = Pool(2, self._posted.put)
        self.desk = Desk(self.pool, limits)
        self.told: list[dict[str, Any]] = []
        self.table = Table(self.desk, self._hear, own=own)

    def _hear(self, message: dict[str, Any]) -> None:
        self.told.append(json.loads(json.dumps(message)))  # it must be JSON

    def do(self, what: str, **more: Any) -> None:
        self.table.obey({"do": what, **more})

    def refused(self, do: str, **more: Any) -> str:
        """The key of the refusal."""
        with pytest.raises(Trouble) as caught:
            self.table.obey({"do": do, **more})
        return caught.value.key

    def wait(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        """The next message like that; those before it are forgotten."""
        until = time.monotonic() + seconds
        while True:
            while self.told:
                message = self.told.pop(0)
                if wanted(message):
                    return message
            self._posted.get(timeout=max(0.01, until - time.monotonic()))()

    def of(self, kind: str, **facts: Any) -> dict[str, Any]:
        return self.wait(lambda m: m["is"] == kind and all(m.get(key) == value for key, value in facts.items()))

    @property
    def here(self) -> dict[str, Any]:
        return self.table.position()

    def play(self, *moves: str) -> None:
        game = tesuji.game(self.here["game"])
        for move in moves:
            self.do("play", action=game.parse(move))


@pytest.fixture
def person() -> Iterator[Person]:
    someone = Person()
    yield someone
    someone.table.close()
    someone.pool.close()


# ── Playing ──


def test_two_people_play_to_the_end(person: Person) -> None:
    person.do("new", game="gomoku3", seats=["human", "human"])
    first = person.of("position", ply=0)
    assert first["serial"] == 1
    assert first["legal"] == list(range(9))
    assert (first["result"], first["reason"], first["last"]) == (None, None, None)
    person.play("a3", "a1", "b3", "b1", "c3")
    last = person.of("position", ply=5)
    assert last["glyphs"] == ["XXX", "...", "OO."]
    assert (last["result"], last["reason"], last["legal"]) == (1, "rules", [])
    assert last["line"] == [0, 1, 2]
    assert (last["last"], last["previous"]) == (2, 7)
    assert last["path"] == [0, 1, 2, 3, 4, 5]
    assert last["tree"][5] == {"node": 5, "parent": 4, "action": 2, "text": "c3", "mover": 0}
    assert person.refused("play", action=4) == "over"


def test_the_program_replies_and_moves_first_when_it_is_first(person: Person) -> None:
    person.do("new", game="gomoku8", seats=[QUICK, "human"])
    assert person.of("thinking", on=True)["seat"] == 0
    assert person.of("position", thinking=True)["ply"] == 0
    assert person.of("thinking", on=False)["visits"] >= 20
    reply = person.of("position", thinking=False)
    assert reply["ply"] == 1
    person.do("play", action=reply["legal"][0], ply=1)
    assert person.of("position", ply=3)["to_play"] == 1


def test_all_levels_play_all_families(person: Person) -> None:
    for name in ("ultimate", "gomoku8", "nogo5", "dots3", "go5"):
        for level in levels.NAMES[:5]:
            person.do("new", game=name, seats=[level, "human"])
            assert person.wait(lambda m: m["is"] == "position" and m["ply"] > 0)["seats"] == [level, "human"]


def test_who_moves_twice_in_dots_and_boxes(person: Person) -> None:
    person.do("new", game="dots1", seats=["human", "human"])
    person.play("0", "1", "2", "3")
    assert person.here["score"] == -1  # Second drew the fourth edge
    assert person.here["owners"][4] == -1
    person.told.clear()
    person.do("new", game="dots1x2", seats=[QUICK, QUICK])
    assert person.wait(lambda m: m["is"] == "position" and m["result"] is not None, 60)["ply"] == 7


def test_a_stale_an_illegal_and_an_untimely_move_are_refused(person: Person) -> None:
    person.do("new", game="go9", seats=["human", "human"])
    person.play("e5")
    person.told.clear()
    assert person.refused("play", action=3, ply=0) == "stale"
    assert person.told[0]["is"] == "position"  # so that the page sees what is there
    assert person.refused("play", action=person.here["last"]) == "illegal"
    assert person.refused("play", action=999) == "illegal"
    for junk in (None, "e5", -1, 2.0, True, [1], 1 << 40):
        assert person.refused("play", action=junk) == "junk"
    person.do("new", game="go9", seats=["player:mcts:seconds=5", "human"])
    assert person.refused("play", action=3) == "turn"


def test_captured_stones_are_counted(person: Person) -> None:
    person.do("open", game="go9", moves=["a1", "b1", "e5", "a2"])
    assert person.of("position")["captured"] == [1, 0]
    person.do("new", game="dots3")
    assert "captured" not in person.here


# ── Taking back, variations ──


def test_undo_takes_back_both_moves(person: Person) -> None:
    person.do("new", game="gomoku8", seats=["human", QUICK])
    for ply in (0, 2, 4):
        person.do("play", action=person.here["legal"][0], ply=ply)
        person.of("position", ply=ply + 2)
    person.do("undo")
    assert person.here["ply"] == 4
    person.do("undo")
    assert (person.here["ply"], person.here["to_play"], len(person.here["tree"])) == (2, 0, 7)
    person.do("undo")
    assert person.refused("undo") == "nothing"


def test_undo_while_the_program_thinks_stops_it(person: Person) -> None:
    person.do("new", game="go9", seats=["human", "player:mcts:seconds=60"])
    person.play("e5")
    person.of("thinking", on=True)
    time.sleep(0.3)  # in which a thread takes it up
    person.do("undo")
    person.of("thinking", on=False)
    assert person.here["ply"] == 0
    assert not person.here["thinking"]
    person.pool.close()  # waits a while for the threads
    assert not any(thread.is_alive() for thread in person.pool._threads)  # the search has been stopped


def test_undo_of_two_people_takes_one_move(person: Person) -> None:
    person.do("new", game="gomoku8", seats=["human", "human"])
    person.play("a1", "b1", "c1")
    person.do("undo")
    assert person.here["ply"] == 2


def test_going_back_and_playing_another_move_starts_a_variation(person: Person) -> None:
    person.do("new", game="gomoku8", seats=["human", "human"])
    person.play("a1", "b1", "c1")
    person.do("go", node=1)
    assert person.here["path"] == [0, 1, 2, 3]  # on along the line one came from
    assert person.here["paused"]
    person.play("d4")
    assert person.here["node"] == 4
    assert person.here["path"] == [0, 1, 4]
    person.do("go", node=0)
    assert person.here["path"] == [0, 1, 4]  # the line that was looked at last
    person.play("a1")
    assert person.here["node"] == 1  # a move that is there already makes no new node
    assert len(person.here["tree"]) == 5
    for junk in (99, -1, "1", None, True, 1.0):
        assert person.refused("go", node=junk) == "junk"


def test_who_looks_back_is_left_in_peace_by_the_program(person: Person) -> None:
    person.do("new", game="gomoku8", seats=["human", QUICK])
    person.play("a1")
    person.of("position", ply=2)
    person.do("go", node=1)
    assert not person.here["thinking"]
    person.do("pause", on=False)  # now it may
    assert person.of("position", thinking=True)["node"] == 1
    person.of("position", ply=2)


def test_a_full_tree_takes_no_more() -> None:
    small = Person(limits=Limits(nodes=4))
    small.do("new", game="gomoku8", seats=["human", "human"])
    small.play("a1", "a2", "a3")
    assert small.refused("play", action=5) == "full"
    small.do("go", node=2)
    small.play("a3")  # known already
    small.told.clear()
    small.do("new", game="gomoku8", seats=["human", QUICK])
    small.play("a1")
    small.of("position", ply=2)
    small.play(tesuji.game("gomoku8").text(small.here["legal"][0]))
    assert small.of("trouble")["key"] == "full"
    assert small.here["paused"]
    small.pool.close()


# ── Seats ──


def test_resigning(person: Person) -> None:
    person.do("new", game="go9", seats=["human", "player:mcts:seconds=60"])
    person.play("e5")
    person.do("resign")
    here = person.here
    assert (here["result"], here["reason"], here["legal"], here["thinking"]) == (-1, "resign", [], False)
    assert person.refused("resign") == "over"
    assert person.refused("play", action=1) == "over"
    person.do("undo")  # takes the resignation back
    assert person.here["result"] is None
    person.do("seats", seats=["casual", "casual"])
    assert person.refused("resign") == "turn"


def test_swapping_sides_lets_the_program_move(person: Person) -> None:
    person.do("new", game="gomoku8", seats=["human", QUICK])
    person.do("swap")
    assert person.of("position", ply=1)["seats"] == [QUICK, "human"]


def test_program_against_program_can_be_paused(person: Person) -> None:
    person.do("new", game="gomoku8", seats=[QUICK, QUICK])
    person.of("position", ply=2)
    person.do("pause", on=True)
    ply = person.here["ply"]
    time.sleep(0.5)
    assert person.here["ply"] == ply
    assert not person.here["thinking"]
    person.do("pause", on=False)
    person.of("position", ply=ply + 2)
    person.do("undo")
    assert person.here["paused"]


@pytest.mark.parametrize(
    ("seat", "sentence"),
    [
        ("nobody", "there is no level 'nobody'"),
        ("player:gtp:gnugo --mode gtp", "reaches beyond the table"),
        ("player:net:/etc/passwd", "reaches beyond the table"),
        ("player:table:x,learn=1", "reaches beyond the table"),
        ("player:mcts:memory=1e12", "reaches beyond the table"),
        ("player:mcts:visits=0", "visits is 0"),
        ("player:nosuch", "there is no player 'nosuch'"),
    ],
)
def test_seats_that_are_refused(person: Person, seat: str, sentence: str) -> None:
    before = person.here
    with pytest.raises(ValueError, match=sentence):
        person.do("new", game="go9", seats=["human", seat])
    assert person.here == before


def test_strangers_seat_no_players_by_their_texts_and_have_no_lab() -> None:
    stranger = Person(own=False)
    assert stranger.refused("new", game="go9", seats=["human", QUICK]) == "level"
    assert stranger.refused("lab", what="runs") == "lab"
    stranger.pool.close()


def test_a_player_that_fails_pauses_the_game(person: Person) -> None:
    person.do("new", game="go9", seats=["human", "player:exact:nodes=1"])
    person.play("e5")
    trouble = person.of("trouble", about="reply")
    assert "exact does not know this position" in trouble["text"]
    assert person.of("position")["paused"]


def test_a_player_that_cannot_be_stopped_gets_little_time() -> None:
    someone = Person(limits=Limits(long_seconds=0.2))
    began = time.monotonic()
    for seat in ("player:alphabeta:depth=100", "player:alphabeta:seconds=1000", "player:alphabeta"):
        someone.told.clear()
        someone.do("new", game="go9", seats=[seat, "human"])
        assert someone.of("position", ply=1)
    assert time.monotonic() - began < 15
    someone.pool.close()


def test_a_player_that_takes_too_long_is_stopped() -> None:
    someone = Person(limits=Limits(reply_seconds=0.3))
    someone.do("new", game="go9", seats=["player:mcts:visits=2e9", "human"])
    assert "took more than 0.3 s" in someone.of("trouble", about="reply")["text"]
    someone.pool.close()


# ── Analysis, hints, reviews ──


def test_analysis_follows_the_position(person: Person) -> None:
    person.do("new", game="go5", seats=["human", "human"])
    person.do("analyse", on=True)
    told = person.of("analysis", node=0)
    again = person.of("analysis", node=0)
    assert again["visits"] > told["visits"] > 0
    best = again["candidates"][0]
    assert best["loss"] == 0
    assert best["line"][0] == tesuji.game("go5").text(best["action"])
    assert all(0 <= c["loss"] <= 2 for c in again["candidates"])
    assert len(again["ownership"]) == 25
    assert -1 <= again["value"] <= 1
    person.do("play", action=best["action"])
    follows = person.of("analysis", node=1)
    assert follows["visits"] > 0
    person.do("analyse", on=False)
    assert person.desk.reserved == 0
    person.told.clear()
    time.sleep(0.3)
    assert not person.told


def test_losses_belong_to_the_mover(person: Person) -> None:
    # Second to move must stop an open row of three at one of its ends: the worse end is better for First.
    person.do("open", game="gomoku8", moves=["c4", "a1", "d4", "h8", "e4"])
    person.do("analyse", on=True)
    told = person.wait(lambda m: m["is"] == "analysis" and m["visits"] >= 200 and len(m["candidates"]) > 1)
    assert tesuji.game("gomoku8").text(told["candidates"][0]["action"]) in ("b4", "f4")
    assert max(c["value"] for c in told["candidates"][1:]) > told["candidates"][0]["value"]
    assert max(c["loss"] for c in told["candidates"]) > 0


def test_an_analysis_that_is_proven_is_done(person: Person) -> None:
    person.do("open", game="gomoku3", moves=["a3", "a1", "b3", "b1"])
    person.do("analyse", on=True)
    told = person.of("analysis", done=True)
    assert (told["proven"], told["plies"], told["candidates"][0]["line"]) == (1, 1, ["c3"])


def test_analyses_of_all_tables_together_are_limited() -> None:
    someone = Person(limits=Limits(own_memory=1 << 26, memory=1 << 26))
    someone.do("new", game="go9", seats=["human", "human"])
    someone.do("analyse", on=True)
    assert someone.refused("hint") == "busy"
    someone.do("stop")
    assert someone.desk.reserved == 0
    someone.do("hint")
    someone.of("hint")
    assert someone.desk.reserved == 0
    someone.do("analyse", on=True)
    someone.table.close()
    assert someone.desk.reserved == 0
    someone.pool.close()


def test_an_analysis_ends_after_its_time() -> None:
    someone = Person(limits=Limits(analysis_seconds=0.2))
    someone.do("new", game="go9", seats=["human", "human"])
    someone.do("analyse", on=True)
    assert someone.of("analysis", done=True)["visits"] > 0
    someone.pool.close()


def test_a_hint_is_a_good_move(person: Person) -> None:
    person.do("open", game="gomoku8", moves=["b4", "a1", "c4", "h8", "d4", "a8", "e4", "h1"])
    person.do("hint")
    hint = person.of("hint")
    assert tesuji.game("gomoku8").text(hint["action"]) in ("a4", "f4")
    assert hint["value"] == 1
    assert person.here["ply"] == 8  # nothing is played


def test_a_review_finds_the_blunder(person: Person) -> None:
    # Second lets a row of three in Tic-Tac-Toe stand: a1 at ply 4 does not stop c3.
    person.do("open", game="gomoku3", moves=["a3", "b2", "b3", "a1", "c3"])
    person.do("review")
    told = person.of("review", done=True)
    assert told["progress"] == [6, 6]
    assert told["values"] == [0, 0, 0, 0, 1, 1]
    verdicts = [(m["text"], m["verdict"], m["loss"], m["best_text"]) for m in told["moves"]]
    assert verdicts[3] == ("a1", "gives", 1, "c3")
    assert [v[1] for v in verdicts].count("keeps") == 4
    assert all(m["exact"] for m in told["moves"])
    assert told["moves"][3]["node"] == 4
    assert told["accuracy"][0] == 100
    assert told["accuracy"][1] < 60
    assert person.desk.reserved == 0


def test_a_review_of_a_long_game_searches_and_comes_in_parts(person: Person) -> None:
    game = tesuji.game("go7")
    moves = [game.text(action) for action in game.random(5, 12).history]
    person.do("open", game="go7", moves=moves)
    person.do("review")
    part = person.of("review")
    assert not part["done"]
    told = person.of("review", done=True)
    assert len(told["moves"]) == 12
    assert {m["verdict"] for m in told["moves"]} & {"mistake", "blunder", "inaccuracy"}
    assert all(0 <= m["loss"] <= 2 for m in told["moves"])
    assert all(0 <= percent <= 100 for percent in told["accuracy"])


def test_there_is_nothing_to_review_before_the_first_move(person: Person) -> None:
    assert person.refused("review") == "nothing"


def test_verdicts_and_accuracy() -> None:
    words = [verdict(loss, best=False) for loss in (0.0, 0.03, 0.1, 0.3, 1.0)]
    assert words == ["best", "good", "inaccuracy", "mistake", "blunder"]
    assert verdict(0.3, best=True) == "best"
    assert accuracy([]) is None
    assert accuracy([0.0, 0.0]) == 100
    assert accuracy([0.2]) == pytest.approx(67, abs=0.1)


def test_a_review_can_be_given_up() -> None:
    game = tesuji.game("go9")
    steps = reviewing(game, game.random(1, 60).history, seconds=1, memory=1 << 24)
    next(steps)
    steps.close()


# ── Files ──


def tree_of(game: tesuji.Game, moves: list[str], *variations: tuple[int, list[str]]) -> GameTree:
    tree = GameTree(game)
    for after, line in [(0, moves), *variations]:
        node = after
        for move in line:
            node = tree.add(node, tree.state(node), game.parse(move))
    return tree


def test_json_keeps_a_game_with_its_variations(person: Person) -> None:
    tree = tree_of(tesuji.game("go9", komi=6.5), ["e5", "c3", "pass"], (1, ["g7", "pass"]), (4, ["a1"]), (0, ["d4"]))
    tree.nodes[6].resigned = 1
    text = to_json(tree, seats=["human", "club"], here=5)
    again, here, seats = from_json(text, 100)
    assert to_json(again, seats=seats, here=here) == text
    assert again.game == tree.game
    assert sorted(map(again.actions, range(8))) == sorted(map(tree.actions, range(8)))
    assert again.actions(here) == tree.actions(5)
    person.do("load", format="json", text=text)
    assert person.of("position")["seats"] == ["human", "club"]
    person.do("save", format="json")
    saved = person.of("saved")
    assert saved["text"] == text
    assert saved["name"].startswith("go9-")
    assert saved["name"].endswith(".json")


GOOD = {"format": "tesuji game 1", "game": "gomoku3", "moves": ["a1", "b1"]}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ([], '"format" must be'),
        ({}, '"format" must be'),
        ({**GOOD, "more": 1}, "has no 'more'"),
        ({**GOOD, "game": "gomoku4"}, "there is no game"),
        ({**GOOD, "game": 3}, '"game" must be a text'),
        ({**GOOD, "game": "go9", "numbers": {"komi": "x"}}, "komi must be a number"),
        ({**GOOD, "game": "go9", "numbers": {"komi": 1e9}}, "komi"),
        ({**GOOD, "moves": "a1"}, "must be a list of texts"),
        ({**GOOD, "moves": [1]}, "must be a list of texts"),
        ({**GOOD, "moves": ["a1", "a1"]}, "ply 2: a1 is not legal"),
        ({**GOOD, "moves": ["z9"]}, "ply 1: "),
        ({**GOOD, "moves": ["a1"] * 6000}, "too many"),
        ({**GOOD, "variations": {}}, "must be a list"),
        ({**GOOD, "variations": [{"after": 9, "moves": []}]}, "node 9, which is not there"),
        ({**GOOD, "variations": [{"after": True, "moves": []}]}, "which is not there"),
        ({**GOOD, "variations": [{"after": 1, "moves": ["b1"]}]}, "is there twice"),
        ({**GOOD, "variations": [{"after": 1}]}, "a variation has"),
        ({**GOOD, "resigned": [{"node": 1, "player": 2}]}, "who resigned"),
        ({**GOOD, "resigned": 3}, "must be a list"),
        ({**GOOD, "here": 7}, "no node of the tree"),
        ({**GOOD, "seats": ["human"]}, "must be two texts"),
    ],
)
def test_json_from_strangers_is_refused_with_a_sentence(person: Person, content: Any, sentence: str) -> None:
    before = person.here
    person.do("load", format="json", text=content if isinstance(content, str) else json.dumps(content))
    trouble = person.of("trouble", about="load", key="load")
    assert sentence in trouble["text"]
    assert person.here == before


def test_the_example_in_the_documentation_loads(person: Person) -> None:
    page = (Path(__file__).parent.parent / "docs/web.md").read_text(encoding="utf-8")
    person.do("load", format="json", text=page.split("```json\n")[1].split("```")[0])
    here = person.of("position")
    assert (here["node"], len(here["tree"]), here["seats"]) == (5, 7, ["human", "club"])


def test_sgf_keeps_a_game_with_its_variations(person: Person) -> None:
    person.do("open", game="go9", moves=["e5", "c3", "pass"], seats=["human", "human"], numbers={"komi": 6.5})
    person.do("go", node=1)
    person.play("g7")
    person.do("go", node=3)
    person.do("resign")
    before = person.here
    person.do("save", format="sgf")
    text = person.of("saved")["text"]
    assert "RE[B+R]" in text
    person.told.clear()
    person.do("load", format="sgf", text=text)
    here = person.of("position")
    assert {key: here[key] for key in ("glyphs", "numbers", "result", "reason", "ply")} == {
        key: before[key] for key in ("glyphs", "numbers", "result", "reason", "ply")
    }
    assert len(here["tree"]) == 5
    person.do("new", game="ultimate")
    with pytest.raises(ValueError, match="SGF has no words for ultimate"):
        person.do("save", format="sgf")
    for junk in ("(;GM[1]SZ[9];B[zz])", "(;GM[1]SZ[9]" + ";B[]" * 4000 + ")", "", "(" * 100_000):
        person.do("load", format="sgf", text=junk)
        assert person.of("trouble", key="load")["text"]


def test_a_link_opens_a_position(person: Person) -> None:
    person.do("open", game="go9", numbers={"komi": 5.5}, moves=["e5", "c3", "pass"], seats=["human", "human"])
    here = person.of("position")
    assert (here["ply"], here["numbers"], here["tree"][3]["text"]) == (3, {"komi": 5.5}, "pass")
    person.do("open", game="go9", moves=["e5"], seats=["human", "human"], resigned=1)
    assert (person.here["result"], person.here["reason"]) == (1, "resign")
    assert person.refused("open", game="go9", moves=["e5", "e5"]) == "illegal"
    assert person.refused("open", game="go9", moves="e5") == "junk"
    assert person.refused("open", game="go9", numbers={"komi": True}) == "junk"
    with pytest.raises(ValueError, match="did you mean"):
        person.do("open", game="go8", moves=[])
    with pytest.raises(ValueError, match="komi"):
        person.do("new", game="go9", numbers={"komi": 0.3})


def test_small_talk(person: Person) -> None:
    person.do("ping")
    assert person.told == [{"is": "pong"}]
    person.do("hello", language="zh-Hans")
    assert person.refused("hello", language=3) == "junk"
    assert person.refused("dance") == "unknown"
    assert person.refused("pause", on=1) == "junk"
    assert person.refused("load", format="pdf", text="") == "load"
    assert person.refused("save", format="pdf") == "load"


# ── The pool ──


def counting(log: list[str], name: str, steps: int, seconds: float = 0.0) -> Steps:
    for _ in range(steps):
        log.append(name)
        time.sleep(seconds)
        yield None
    return name


def test_urgent_work_comes_first_and_nobody_starves() -> None:
    log: list[str] = []
    done = threading.Semaphore(0)
    pool = Pool(1, lambda call: call())

    def end(_: object) -> None:
        done.release()

    gate = threading.Event()

    def wait() -> Steps:
        gate.wait(5)
        return None
        yield

    pool.start(wait(), patience=REPLY, done=end, fail=end)
    pool.start(counting(log, "review", 3, 0.11), patience=REVIEW, done=end, fail=end)
    pool.start(counting(log, "a", 4, 0.11), patience=REPLY, done=end, fail=end)
    pool.start(counting(log, "b", 4, 0.11), patience=REPLY, done=end, fail=end)
    gate.set()
    for _ in range(4):
        assert done.acquire(timeout=30)
    pool.close()
    assert log == [*("a", "b") * 4, *["review"] * 3]


def test_patience_ends() -> None:
    """A review that has waited long enough goes before fresh replies."""
    log: list[str] = []
    pool = Pool(1, lambda call: call())
    stop = threading.Event()

    def fresh(_: object = None) -> None:
        if not stop.is_set():
            pool.start(counting(log, "reply", 2, 0.06), patience=REPLY, done=fresh, fail=fresh)

    for _ in range(3):
        fresh()
    ended = threading.Event()
    pool.start(counting(log, "review", 1), patience=0.3, done=lambda _: ended.set(), fail=lambda _: None)
    assert ended.wait(10)
    stop.set()
    pool.close()
    assert log.index("review") > 2


def test_a_job_waits_for_the_one_before_it() -> None:
    log: list[str] = []
    pool = Pool(2, lambda call: call())
    ended = threading.Event()
    first = pool.start(counting(log, "first", 3, 0.05), patience=REPLY, done=lambda _: None, fail=lambda _: None)
    first.cancel()
    pool.start(
        counting(log, "second", 1),
        patience=REPLY,
        done=lambda _: ended.set(),
        fail=lambda _: None,
        after=first,
        delay=0.01,
    )
    assert ended.wait(20)
    pool.close()
    assert log.count("first") <= 1
    assert log[-1] == "second"


def test_long_steps_leave_a_thread_for_others() -> None:
    pool = Pool(2, lambda call: call())
    told: queue.SimpleQueue[object] = queue.SimpleQueue()
    gate = threading.Event()

    def slow() -> Steps:
        gate.wait(10)
        return "slow"
        yield

    for _ in range(3):
        pool.start(slow(), patience=REPLY, done=told.put, fail=told.put, long=True)
    pool.start(counting([], "quick", 2), patience=REPLY, done=told.put, fail=told.put)
    assert told.get(timeout=20) == "quick"
    gate.set()
    assert [told.get(timeout=20) for _ in range(3)] == ["slow"] * 3
    pool.close()


def test_a_failure_is_told_and_the_thread_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    pool = Pool(1, lambda call: call())
    told: queue.SimpleQueue[object] = queue.SimpleQueue()

    def broken() -> Steps:
        yield None
        raise RuntimeError("broken")

    pool.start(broken(), patience=REPLY, done=told.put, fail=told.put)
    assert isinstance(told.get(timeout=20), RuntimeError)
    assert "a job failed" in caplog.text
    pool.start(counting([], "next", 1), patience=REPLY, done=told.put, fail=told.put)
    assert told.get(timeout=20) == "next"
    pool.close()


# ── Levels ──


@pytest.mark.parametrize("name", tesuji.games())
def test_every_game_has_all_levels(name: str) -> None:
    game = tesuji.game(name)
    found = levels.levels(game)
    assert [level.name for level in found] == list(levels.NAMES)
    for level in found:
        tesuji.player(level.player, game)


def test_ratings_rise_with_the_levels() -> None:
    """Neighbours may be within each other's error; those two steps apart are not in the wrong order."""
    measured = [name for name in tesuji.games() if levels.levels(tesuji.game(name))[0].rating is not None]
    assert {"ultimate", "gomoku8", "nogo9", "dots5", "go9"} <= set(measured)
    for name in measured:
        ratings = [level.rating or 0 for level in levels.levels(tesuji.game(name))]
        assert all(low < high for low, high in zip([0, *ratings], ratings[1:], strict=False)), name


def test_the_default_level_moves_within_a_second() -> None:
    for name in ("ultimate", "gomoku15", "nogo9", "dots5", "go9", "go19"):
        game = tesuji.game(name)
        text = next(level.player for level in levels.levels(game) if level.name == levels.DEFAULT)
        player = tesuji.player(text, game)
        assert min(_seconds(player, game.start()) for _ in range(3)) < 1


def _seconds(player: tesuji.Player, state: tesuji.State) -> float:
    began = time.perf_counter()
    player.think(state)
    return time.perf_counter() - began


def test_levels_are_measured_and_kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "levels.toml"
    file.write_text("")
    monkeypatch.setattr(levels, "_FILE", file)
    levels._file.cache_clear()
    game = tesuji.game("gomoku3")
    told: list[tuple[str, str, int, float]] = []
    measured = levels.measure(game, games=2, seconds=1, watch=lambda *facts: told.append(facts))
    assert [(a, b) for a, b, _, _ in told] == list(zip(("random", *levels.NAMES), levels.NAMES, strict=False))
    levels.write(game, measured, "tesuji levels gomoku3 --games 2")
    levels.write(tesuji.game("gomoku6x4"), measured, "another")
    assert levels.levels(game) == measured
    assert all(level.rating is not None and level.error is not None for level in measured)
    monkeypatch.undo()
    levels._file.cache_clear()
