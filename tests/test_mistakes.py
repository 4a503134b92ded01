"""Moves judged by the exact solvers."""

import random

import tesuji
from tesuji.exact import margins
from tesuji.mistakes import judge
from tesuji.records import GameRecord


def record(game, moves, number=1, opening=()):
    state = tesuji.game(game).replay([*opening, *moves])
    return GameRecord(
        number=number,
        game=game,
        numbers={},
        first="A",
        second="B",
        players={"A": "one", "B": "two"},
        opening=tuple(opening),
        moves=tuple(moves),
        result=state.result,
        reason="played out",
        seconds=(0.0,) * len(moves),
        visits=(0,) * len(moves),
        values=(None,) * len(moves),
    )


def test_a_win_that_was_given_away_is_a_mistake():
    # Tic-Tac-Toe: b2 a1 is fine for both; c1 a3 a2 c2: First blocks, Second overlooks nothing.
    fine = record("gomoku3", ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"])
    accounts = judge({1: fine})
    assert (accounts["A", 0].moves, accounts["A", 0].lost_result) == (5, 0)
    assert (accounts["B", 1].moves, accounts["B", 1].lost_result) == (4, 0)
    assert accounts["A", 1].moves == 0
    # b1 in answer to b2 loses: Second's one mistake, and First then wins.
    lost = record("gomoku3", ["b2", "b1", "a1", "c3", "a3", "a2", "c1"])
    accounts = judge({1: lost})
    assert accounts["B", 1].lost_result == 1
    assert accounts["A", 0].lost_result == 0
    assert accounts["A", 0].margin_rate is None


def test_boxes_given_away_are_counted_beside_results():
    game = tesuji.game("dots2")
    best, choose = margins(game), random.Random(3)

    def value(state):
        """First's final margin by best play, from the table of margins for the mover."""
        edges = sum(1 << action for action in state.history)
        return state.score + (1 if state.to_play == 0 else -1) * int(best[edges])

    def sign(margin):
        return (margin > 0) - (margin < 0)

    lost_results, lost_margins = [0, 0], [0, 0]  # by player
    state = game.start()
    while state.result is None:
        player, side = state.to_play, 1 if state.to_play == 0 else -1
        after = state.play(choose.choice(state.legal()))
        before, now = side * value(state), side * value(after)
        lost_results[player] += sign(now) < sign(before)
        lost_margins[player] += now < before
        state = after
    accounts = judge({1: record("dots2", [game.text(action) for action in state.history])})
    for label, player in (("A", 0), ("B", 1)):
        assert accounts[label, player].lost_result == lost_results[player]
        assert accounts[label, player].lost_margin == lost_margins[player]
    assert sum(lost_margins) > 0


def test_what_cannot_be_solved_is_not_judged():
    accounts = judge({1: record("gomoku8", ["a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4", "a5"])}, seconds=0.001)
    book = accounts["A", 0]
    assert book.moves + book.unknown == 5
    assert book.unknown > 0
    assert accounts["B", 0].rate is None


def test_the_command(tmp_path, command):
    file = str(tmp_path / "games.json")
    assert command("match", "random", "exact", "--game", "dots2", "--games", "4", "--out", file).returncode == 0
    told = command("mistakes", file)
    assert told.returncode == 0
    rows = {line[:11].strip(): line[11:].split() for line in told.stdout.splitlines() if " as " in line}
    assert rows["B as First"][2:] == ["0", "(0.00%)", "0", "(0.00%)"]
    assert rows["B as Second"][2:] == ["0", "(0.00%)", "0", "(0.00%)"]
    assert int(rows["A as First"][4]) > 0
    missing = command("mistakes", str(tmp_path / "none.json"))
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert "cannot be read" in missing.stderr
