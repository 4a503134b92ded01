"""What games know for sure without a search: checked against solvers, and played out."""

import random

import pytest

import tesuji
from tesuji import State, _core


def chains_left(game: tesuji.Game, seed: int) -> State:
    """A position of dots in which every edge gives a box away, or close to it: safe edges first, in random order."""
    drawing = random.Random(seed)
    state = game.start()
    while True:
        actions, _ = _core.candidates(state)
        safe = [a for a in actions if state.play(a).to_play != state.to_play and not takeable(state.play(a))]
        if not safe:
            return state
        state = state.play(drawing.choice(safe))


def takeable(state: State) -> bool:
    return any(state.play(a).score != state.score for a in state.legal())


@pytest.mark.parametrize(("name", "games"), [("dots2x3", 30), ("dots3", 60), ("dots4", 20), ("dots5", 8)])
def test_dots_knows_what_chains_and_loops_are_worth(name: str, games: int) -> None:
    game = tesuji.game(name)
    drawing = random.Random(name)
    known = 0
    for seed in range(games):
        state = chains_left(game, seed)
        while state.result is None:
            if (verdict := _core.verdict(state)) is not None:
                solved = tesuji.solve(state, seconds=20)
                assert verdict == (solved.result, solved.result, len(state.legal()), None), state
                known += 1
            state = state.play(drawing.choice(_core.candidates(state)[0]))
    assert known >= games


def forced(state: State) -> int:
    """Plays a verdict's moves against every answer; how many plies it took at most."""
    verdict = _core.verdict(state)
    assert verdict is not None
    low, result, plies, move = verdict
    assert low == result == (1 if state.to_play == 0 else -1)
    after = state.play(move)
    if after.result is not None:
        assert after.result == result
        return 1
    most = 0
    for answer in after.legal():
        following = after.play(answer)
        assert following.result is None
        most = max(most, 2 + forced(following))
    assert most <= plies
    return most


@pytest.mark.parametrize(("name", "plies"), [("gomoku6x4", 12), ("gomoku8", 24), ("gomoku15", 60)])
def test_gomoku_knows_wins_that_leave_no_choice(name: str, plies: int) -> None:
    game = tesuji.game(name)
    longest = 0
    for seed in range(60):
        state = game.random(seed, plies)
        if state.result is None and _core.verdict(state) is not None:
            longest = max(longest, forced(state))
    assert longest >= 5


def test_gomoku_stops_the_other_on_the_way() -> None:
    game = tesuji.game("gomoku15")
    assert forced(game.replay("e7 h8 f7 h9 g7 h10 a1 a15")) == 3  # an open three
    # Second has four, closed at one end: h7 stops it, and makes an open four.
    closed = game.replay("e7 h8 f7 h9 g7 h10 h12 h11")
    assert (forced(closed), _core.verdict(closed)) == (3, (1, 1, 3, game.parse("h7")))
    # Open at both ends, it cannot be stopped; closed by k7, it is stopped by k12, which makes nothing.
    assert _core.verdict(game.replay("e7 h8 f7 h9 g7 h10 a1 h11")) is None
    assert _core.verdict(game.replay("e7 k8 f7 k9 g7 k10 k7 k11")) is None


def test_ultimate_knows_who_can_win_no_more() -> None:
    """Whatever is played afterwards; and it is seen long before the end."""
    game = tesuji.game("ultimate")
    drawing = random.Random(7)
    seen = {(0, 0): 0, (0, 1): 0, (-1, 0): 0}
    early = 0
    for seed in range(300):
        state = game.random(seed, 30)
        told = [(-1, 1)]
        while state.result is None:
            if (verdict := _core.verdict(state)) is not None:
                low, high, plies, move = verdict
                assert told[-1][0] <= low <= high <= told[-1][1], state
                assert (plies, move) == (0, None)
                told.append((low, high))
                early += low == high and len(state.legal()) > 5
            state = state.play(drawing.choice(state.legal()))
        assert told[-1][0] <= state.result <= told[-1][1], state
        for bounds in set(told) & set(seen):
            seen[bounds] += 1
    assert min(seen.values()) >= 20
    assert early >= 10
    # Where boards are counted, who has no line may still win.
    assert _core.verdict(tesuji.game("ultimate-count").random(3, 50)) is None


def test_games_that_know_nothing_say_so() -> None:
    for name in ("ultimate", "nogo9", "go9"):
        assert _core.verdict(tesuji.game(name).start()) is None
    ended = tesuji.game("gomoku8").replay("a1 a2 b1 b2 c1 c2 d1 d2 e1")
    assert ended.result == 1
    assert _core.verdict(ended) is None
