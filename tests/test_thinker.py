"""Who thinks behind an engine: limits of its own, of a clock, and of nobody."""

import time

import pytest

import tesuji
from tesuji.analysis import best_player
from tesuji.protocols.thinker import Thinker


def seconds_of(thinker: Thinker, state: tesuji.State, seconds: float | None = None) -> float:
    began = time.monotonic()
    assert thinker.think(state, seconds).action in state.legal()
    return time.monotonic() - began


def test_whom_nobody_named_thinks_as_long_as_the_clock_lets_it() -> None:
    for name in ("go9", "nogo9"):
        game = tesuji.game(name)
        thinker = Thinker(game)
        assert thinker.text == best_player(game)
        # A plan of visits may be done a little early, and far too early where it was made in a busy moment.
        assert any(1.0 < seconds_of(thinker, game.start(), 1.4) < 4 for _ in range(3))
        assert any(seconds_of(thinker, game.start(), 0.1) < 1 for _ in range(3))
        if thinker.text != "net":
            assert 0.8 < seconds_of(thinker, game.start()) < 15


def test_a_fast_net_thinks_where_a_clock_is_the_limit() -> None:
    game = tesuji.game("ultimate")
    seen = {text: Thinker(game, text).think(game.start(), 0.5) for text in ("", "net:visits=100000")}
    assert {name: thought.stop for name, thought in seen.items()} == {"": "seconds", "net:visits=100000": "seconds"}
    assert sum(seen[""].visits.values()) > 5 * sum(seen["net:visits=100000"].visits.values())
    assert seconds_of(Thinker(game), game.start()) < 15


@pytest.mark.parametrize("text", ["mcts:visits=50", "alphabeta:depth=1", "random", "mcts:seconds=0.1"])
def test_a_player_keeps_to_its_own_limits(text: str) -> None:
    game = tesuji.game("gomoku8")
    assert seconds_of(Thinker(game, text), game.start(), 60) < 15


def test_visits_are_those_of_the_text_with_those_that_were_kept() -> None:
    game = tesuji.game("gomoku8")
    thinker = Thinker(game, "mcts:visits=300")
    state = game.start()
    for _ in range(4):
        thought = thinker.think(state)
        assert thinker.analysis.visits == 300
        state = state.play(thought.action)
    only = game.replay("a1 a2 a3")
    assert thinker.think(only).action in only.legal()


def test_it_can_be_interrupted_and_watched() -> None:
    game = tesuji.game("go9")
    thinker = Thinker(game, "mcts:visits=1000000000")
    seen: list[int] = []
    began = time.monotonic()
    thinker.think(
        game.start(),
        interrupted=lambda: len(seen) >= 3,
        watch=lambda thought: seen.append(sum(thought.visits.values())),
    )
    assert time.monotonic() - began < 15
    assert seen == sorted(seen)
    assert len(seen) == 3


def test_another_move_than_one() -> None:
    game = tesuji.game("gomoku6x4")
    state = game.replay("a1 f1 a2 f2 a3 f3")  # a4 wins at once; without it f4 must be stopped
    thinker = Thinker(game, "mcts:visits=500")
    assert thinker.think(state).move == "a4"
    assert thinker.think_without(state, game.parse("a4")).move == "f4"


def test_a_net_plays_by_its_own_rule_and_can_be_interrupted_and_watched() -> None:
    game = tesuji.game("gomoku15")
    thinker = Thinker(game)
    assert thinker.text == "net"
    # An open three is a win by fours, which the analysis of all moves does not look for.
    assert thinker.think(game.replay("e7 a1 f7 a3 g7 a5"), 5).proven == 1
    seen: list[int] = []
    began = time.monotonic()
    thought = thinker.think(
        game.replay("h8"),
        30,
        interrupted=lambda: len(seen) >= 2,
        watch=lambda told: seen.append(sum(told.visits.values())),
    )
    assert time.monotonic() - began < 15
    assert seen == sorted(seen)
    assert len(seen) == 3  # twice on the way, and at the end
    assert sum(thought.visits.values()) == seen[-1]
