"""The player `alphabeta`: exact where it can be, quick to see wins, obedient to its limits."""

import time
from functools import cache

import pytest
from boards import place

import tesuji
from tesuji import Game, State, _core

ENGINE = cache(lambda name: _core.AlphaBeta(tesuji.game(name)))


def side(state: State) -> int:
    return 1 if state.to_play == 0 else -1


def minimax(state: State, memo: dict[State, int]) -> int:
    """First's result with best play, by looking at everything."""
    if state.result is not None:
        return state.result
    if state not in memo:
        memo[state] = side(state) * max(side(state) * minimax(state.play(a), memo) for a in state.legal())
    return memo[state]


def longest(state: State, memo: dict[State, int]) -> int:
    """As minimax, in units of 100 less the plies to the end: the shortest win, the longest loss."""
    if state.result is not None:
        return state.result * 100
    if state not in memo:
        best = max(side(state) * longest(state.play(a), memo) for a in state.legal())
        memo[state] = side(state) * (best - (best > 0) + (best < 0))
    return memo[state]


def late(game: Game, left: int, count: int) -> list[State]:
    """Positions of random play with at most so many legal moves, long before or shortly before the end."""
    found: list[State] = []
    for seed in range(300):
        history = game.random(seed).history
        for plies in range(len(history)):
            state = game.replay(history[:plies])
            free = "".join(state.glyphs()).count(".") if game.name.startswith("ultimate") else len(state.legal())
            if free <= left:
                found.append(state)
                break
        if len(found) == count:
            break
    assert found
    return found


@pytest.mark.parametrize(
    ("name", "left", "count"),
    [
        ("dots1", 4, 4),
        ("dots2", 9, 12),
        ("dots2x3", 9, 12),
        ("dots3", 9, 8),
        ("dots3-paper", 8, 4),
        ("dots4", 9, 6),
        ("gomoku3", 7, 12),
        ("gomoku6x4", 7, 12),
        ("nogo3", 7, 6),
        ("nogo4", 8, 12),
        ("nogo5", 7, 8),
        ("ultimate", 8, 12),
        ("ultimate-count", 8, 6),
    ],
)
def test_equals_plain_minimax(name: str, left: int, count: int) -> None:
    game = tesuji.game(name)
    for state in late(game, left, count):
        found = ENGINE(name).think(state, depth=100)
        memo: dict[State, int] = {}
        result = minimax(state, memo)
        assert found["proven"] == result, (state, found)
        assert found["value"] == result
        assert minimax(state.play(found["action"]), memo) == result, "the move keeps the value"
        assert state.play(found["line"][0]) == state.play(found["action"])


def test_every_opening_of_tic_tac_toe() -> None:
    game = tesuji.game("gomoku3")
    memo: dict[State, int] = {}
    for seed in range(40):
        state = game.random(seed, seed % 5)
        if state.result is None:
            assert ENGINE("gomoku3").think(state, depth=9)["proven"] == minimax(state, memo)


@pytest.mark.parametrize(("name", "left"), [("nogo3", 9), ("nogo4", 8), ("gomoku3", 6), ("gomoku6x4", 6)])
def test_the_shortest_win_and_the_longest_loss(name: str, left: int) -> None:
    game = tesuji.game(name)
    memo: dict[State, int] = {}
    decided = 0
    for state in late(game, left, 10):
        value = longest(state, memo)
        found = ENGINE(name).think(state, depth=100)
        if value:
            decided += 1
            assert found["plies_to_end"] == 100 - abs(value)
            assert len(found["line"]) <= found["plies_to_end"]
    assert decided > 2


def test_a_player_who_moves_again_keeps_his_sign() -> None:
    # Eleven edges of dots2x3 and more, where most moves come in a row: the mover's sign, never the ply's.
    game = tesuji.game("dots2x3")
    memo: dict[State, int] = {}
    for seed in range(6):
        state = game.random(seed, 17 - 10)
        assert ENGINE("dots2x3").think(state, depth=17)["proven"] == minimax(state, memo)


@cache
def margin(state: State) -> int:
    """The mover's boxes less the other's over the rest of a game of dots, by looking at everything."""
    return max((gains(state)).values(), default=0)


def gains(state: State) -> dict[int, int]:
    values = {}
    for action in state.legal():
        after = state.play(action)
        gain = side(state) * int(after.score - state.score)
        rest = 0 if after.result is not None else margin(after)
        values[action] = gain + (rest if after.to_play == state.to_play else -rest)
    return values


@pytest.mark.parametrize(("name", "left"), [("dots2", 12), ("dots2x3", 10), ("dots3", 9), ("dots4", 9)])
def test_of_dots_the_best_margin_is_among_the_candidates(name: str, left: int) -> None:
    game = tesuji.game(name)
    seen: set[State] = set()

    def walk(state: State) -> None:
        if state.result is not None or state in seen:
            return
        seen.add(state)
        values = gains(state)
        actions, enough = _core.candidates(state)
        assert enough
        assert max(values[a] for a in actions) == max(values.values()), state
        for action in state.legal():
            walk(state.play(action))

    for seed in range(1 if name == "dots2" else 3):
        walk(game.random(seed, game.actions - left))


def test_the_last_twelve_edges_of_dots3_are_exact() -> None:
    game = tesuji.game("dots3")
    for seed in range(2):
        state = game.random(seed, 12)
        found = ENGINE("dots3").think(state, depth=24)
        lead = side(state) * state.score
        best = lead + margin(state)
        assert found["proven"] == side(state) * (1 if best > 0 else -1)
        values = gains(state)
        assert (lead + values[found["action"]] > 0) == (best > 0)


@pytest.mark.parametrize(("name", "result"), [("nogo3", 1), ("gomoku3", 0), ("dots2", 1), ("dots2x3", -1)])
def test_small_games_from_the_start(name: str, result: int) -> None:
    found = ENGINE(name).think(tesuji.game(name).start(), depth=100)
    assert found["proven"] == result


@pytest.mark.parametrize(
    ("name", "drawing", "to_play", "moves", "plies"),
    [
        (
            "gomoku6x4",
            """
            ......
            .XXX..
            .OO...
            ..O...
            ......
            ......
            """,
            0,
            {"a5", "e5"},
            1,
        ),
        (
            "gomoku6x4",  # two in a row with room on both sides become three with two ends
            """
            ......
            ......
            ..XX..
            ......
            ......
            O....O
            """,
            0,
            {"b4", "e4"},
            3,
        ),
        (
            "gomoku8",
            """
            ........
            ........
            ..O.....
            ..XXX...
            ........
            ...O.O..
            ........
            ........
            """,
            0,
            {"b5", "f5"},
            3,
        ),
        (
            "gomoku8",  # Second must see it as well
            """
            ........
            ........
            ..X...X.
            ..OOO...
            ........
            .X......
            .X......
            ........
            """,
            1,
            {"b5", "f5"},
            3,
        ),
        (
            "nogo4",  # a move that leaves Second none wins
            """
            .XO.
            XXOO
            XXOO
            .X.O
            """,
            0,
            {"c1"},
            1,
        ),
    ],
)
def test_finds_the_win(name: str, drawing: str, to_play: int, moves: set[str], plies: int) -> None:
    state = place(tesuji.game(name), drawing, to_play)
    found = ENGINE(name).think(state, depth=plies)
    assert found["proven"] == side(state)
    assert found["plies_to_end"] == plies
    assert state.game.text(found["action"]) in moves
    thought = tesuji.player(f"alphabeta:depth={plies}", state.game).think(state)
    assert thought.move in moves
    assert thought.value == thought.proven == side(state)
    assert len(thought.lines[0].moves) == plies


def test_stops_the_win() -> None:
    state = place(
        tesuji.game("gomoku8"),
        """
        ........
        ........
        ........
        .XOOO...
        ........
        ...X.X..
        ........
        ........
        """,
    )
    # Three with one end open make no threat that must be met; with the next stone they would.
    assert tesuji.player("alphabeta:depth=4", state.game).think(state).proven != -1
    state = place(
        tesuji.game("gomoku8"),
        """
        ........
        ........
        ........
        .XOOOO..
        ........
        ...X.X..
        ..X.....
        ........
        """,
    )
    assert tesuji.player("alphabeta:depth=1", state.game).think(state).move == "g5"


def test_ultimate_takes_the_third_board() -> None:
    game = tesuji.game("ultimate")
    tried = 0
    for seed in range(60):
        history = game.random(seed).history
        if game.random(seed).result == 0:
            continue
        for back, plies in ((1, 1), (3, 3)):
            state = game.replay(history[:-back])
            found = ENGINE("ultimate").think(state, depth=plies)
            if back == 1:
                assert found["proven"] == side(state)
                assert state.play(found["action"]).result == side(state)
                tried += 1
            elif found["proven"] == side(state):
                # Whatever the other answers, there is a win at once.
                after = state.play(found["action"])
                assert after.result == side(state) or all(
                    any(after.play(b).play(a).result == side(state) for a in after.play(b).legal())
                    for b in after.legal()
                )
    assert tried > 10


@pytest.mark.parametrize("name", ["ultimate", "gomoku8", "nogo5", "dots4", "go5"])
def test_depth_and_nodes_give_the_same_search_every_time(name: str) -> None:
    game = tesuji.game(name)
    state = game.random(5, 6)
    for limits in ({"depth": 4}, {"nodes": 20000}, {"depth": 5, "nodes": 10000}):
        fresh = _core.AlphaBeta(game).think(state, **limits)
        used = ENGINE(name)
        used.think(game.random(6, 4), nodes=3000)  # what an engine looked at before has no influence
        assert used.think(state, **limits) == fresh


@pytest.mark.parametrize("name", tesuji.games())
def test_obeys_its_limits(name: str) -> None:
    game = tesuji.game(name)
    state = game.start()
    for nodes in (1, 2, 100, 5000):
        found = ENGINE(name).think(state, nodes=nodes)
        assert found["nodes"] <= nodes
        assert found["action"] in state.legal()
    assert ENGINE(name).think(state, depth=2)["depth"] <= 2


def test_stops_in_time() -> None:
    for name in ("ultimate", "gomoku15", "dots5", "go19"):
        game = tesuji.game(name)
        state = game.random(1, 5)
        ENGINE(name).think(state, nodes=1)  # the table is made on first use
        began = time.perf_counter()
        thought = tesuji.player("alphabeta:seconds=0.1", game).think(state)
        assert time.perf_counter() - began < 10
        assert thought.seconds < 10
        assert thought.action in state.legal()


def test_a_thought_tells_what_was_seen() -> None:
    game = tesuji.game("ultimate")
    state = game.random(2, 10)
    thought = tesuji.player("alphabeta:depth=5", game).think(state)
    assert thought.move == game.text(thought.action)
    assert thought.value is not None
    assert -1 < thought.value < 1
    assert thought.proven is None
    assert set(thought.visits) <= set(state.legal())
    assert thought.visits[thought.action] > 0
    assert thought.lines[0].moves[0] == thought.move
    assert thought.lines[0].visits >= sum(thought.visits.values())
    for move in thought.lines[0].moves:
        state = state.play(move)


def test_of_go_nothing_is_called_proven() -> None:
    # Superko may forbid on one path what it allows on another.
    thought = tesuji.player("alphabeta:depth=6", tesuji.game("go3")).think(tesuji.game("go3").replay("b2 pass"))
    assert thought.proven is None


@pytest.mark.parametrize("name", tesuji.games())
def test_heuristics_lie_between_the_results_and_look_symmetric(name: str) -> None:
    game = tesuji.game(name)
    for seed in range(10):
        for plies in range(0, game.max_plies, max(1, game.max_plies // 12)):
            state = game.random(seed, plies)
            if state.result is not None:
                break
            value = _core.heuristic(state)
            assert value is not None
            assert -1 < value < 1
            if not name.startswith("dots"):  # there safe edges are drawn in their order
                images = [_core.heuristic(state.carried(s)) for s in range(game.symmetries)]
                assert images == pytest.approx([value] * len(images), abs=1e-5)


def test_heuristics_change_sign_with_the_players() -> None:
    go = tesuji.game("go5", komi=0)
    for drawing in ("..X.. .XX.. OO.X. ..O.. O....", "XX... .OX.. .OO.. ..... ....."):
        rows = "\n".join(drawing.split())
        mine = _core.heuristic(place(go, rows, 0))
        theirs = _core.heuristic(place(go, rows.translate(str.maketrans("XO", "OX")), 1))
        assert mine is not None
        assert mine != 0
        assert theirs == pytest.approx(-mine)


def test_heuristics_know_who_is_ahead() -> None:
    three = """
        ........
        ........
        ..O.....
        ..XXX...
        ........
        ...O.O..
        ........
        ........
        """
    assert _core.heuristic(place(tesuji.game("gomoku8"), three, 0)) > 0.5
    more = three.translate(str.maketrans("XO", "OX")).replace("........", "...X....", 1)
    assert _core.heuristic(place(tesuji.game("gomoku8"), more, 1)) < -0.5


def play(first: str, second: str, name: str, seed: int) -> int:
    game = tesuji.game(name)
    players = [tesuji.player(text, game, seed=seed) for text in (first, second)]
    state = game.start()
    while state.result is None:
        state = state.play(players[state.to_play].think(state).action)
    return state.result


@pytest.mark.parametrize(
    "name", ["ultimate", "gomoku6x4", "gomoku8", "gomoku15", "nogo5", "nogo7", "dots3", "dots4", "go5"]
)
def test_beats_random(name: str) -> None:
    results = [play("alphabeta:nodes=10000", "random", name, seed) for seed in range(2)]
    results += [-play("random", "alphabeta:nodes=10000", name, seed) for seed in range(2)]
    if name == "go5":  # Second's komi is half of the board
        results = results[2:]
    assert min(results) == 1


@pytest.mark.parametrize("name", ["ultimate", "gomoku8", "nogo5", "dots3", "dots4"])
def test_beats_a_quick_search(name: str) -> None:
    strong, weak = "alphabeta:nodes=5000", "mcts:visits=100"
    results = [play(strong, weak, name, seed) for seed in range(2)]
    results += [-play(weak, strong, name, seed) for seed in range(2)]
    assert sum(results) >= 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("alphabeta:depth=0", "depth is 0: give at least 1"),
        ("alphabeta:nodes=-3", "nodes is -3: give at least 1"),
        ("alphabeta:seconds=0", "seconds is 0.0: give a number above 0"),
        ("alphabeta:seconds=nan", "seconds is nan: give a number above 0"),
        ("alphabeta:seconds=inf", "seconds is inf: give a number above 0"),
        ("alphabeta:depth=two", "depth of alphabeta must be a whole number, not 'two'"),
        ("alphabeta:depth=", "depth of alphabeta must be a whole number"),
        ("alphabeta:seconds=long", "seconds of alphabeta must be a number, not 'long'"),
        ("alphabeta:visits=3", "alphabeta has no option 'visits': it has depth, nodes, seconds"),
        ("alphabet", "there is no player 'alphabet': did you mean alphabeta?"),
    ],
)
def test_bad_options_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match="^" + sentence.replace("?", r"\?")):
        tesuji.player(text, tesuji.game("gomoku3"))


def test_refuses_another_game_and_a_game_that_is_over() -> None:
    thinker = tesuji.player("alphabeta:depth=2", tesuji.game("gomoku3"))
    with pytest.raises(ValueError, match="this player plays gomoku3, not nogo3"):
        thinker.think(tesuji.game("nogo3").start())
    with pytest.raises(ValueError, match="the game is over"):
        thinker.think(tesuji.game("gomoku3").random(1))
