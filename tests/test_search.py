"""The tree: proofs, limits, reuse, the border with networks. Values belong to First; who moves is asked of the game."""

import itertools
import time

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

import tesuji
from tesuji import _core
from tesuji.evaluate import OnnxEvaluator, shared_evaluator
from tesuji.netplayer import shipped
from tesuji.players import thinking

Array = NDArray[np.float32]


class Book:
    """Plain minimax with a memory: what the results are with best play."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], int] = {}

    def value(self, state: tesuji.State) -> int:
        if state.result is not None:
            return state.result
        key = (*state.glyphs(), state.to_play, state.score)
        if key not in self.known:
            values = [self.value(state.play(action)) for action in state.legal()]
            self.known[key] = max(values) if state.to_play == 0 else min(values)
        return self.known[key]


def think(state: tesuji.State, **settings: object) -> tesuji.Thought:
    """A search with random games."""
    return tesuji.Search(state.game, [state], **settings).run("rollout").thoughts()[0]


# ── Proofs ──


def late(game: tesuji.Game, seed: int) -> tesuji.State:
    """A state of a random game from which at most eight open cells are left: few enough for minimax in Python."""
    history = game.random(seed).history
    states = (game.replay(history[:plies]) for plies in range(len(history)))
    return next((state for state in states if sum(row.count(".") for row in state.glyphs()) <= 8), game.start())


@pytest.mark.parametrize("rule", ["uct", "puct", "gumbel"])
@pytest.mark.parametrize("name", ["gomoku3", "nogo3", "nogo4", "dots2", "dots2x3", "ultimate", "ultimate-count"])
def test_proofs_are_what_minimax_says(name: str, rule: str) -> None:
    """In late positions a search ends with a proof; its value and its move are those of minimax."""
    game, book, checked = tesuji.game(name), Book(), 0
    for seed in range(12):
        state = late(game, seed)
        if not state.history:
            continue  # that game ended with more cells open
        thought = think(state, visits=100_000, rule=rule, seed=seed, transpositions=seed % 2 == 1)
        assert thought.stop == "proven", (state, thought)
        assert thought.proven == thought.value == book.value(state)
        assert book.value(state.play(thought.action)) == thought.proven
        checked += 1
    assert checked >= 3


def test_a_player_who_moves_again_keeps_the_sign() -> None:
    """Dots and Boxes: after a box the same player moves. Sign by ply would take these positions for their opposites."""
    game, book = tesuji.game("dots2"), Book()
    again = 0
    for seed in range(60):
        state = game.random(seed, plies=6)
        gains = [a for a in state.legal() if state.play(a).to_play == state.to_play]
        if not gains:
            continue
        again += 1
        assert think(state, visits=100_000, seed=seed).proven == book.value(state)
    assert again >= 10


def test_the_shortest_win_and_the_longest_loss() -> None:
    """Four in a row: First wins at once by b3 (or in more plies otherwise); Second, lost, resists as long as he can."""
    game = tesuji.game("gomoku6x4")
    state = game.replay("c3 a6 d3 c6 e3 e6")  # First has an open three
    thought = think(state, visits=5000, rule="uct", c=1.0)
    assert (thought.proven, thought.plies) == (1, 1)
    assert thought.move in ("b3", "f3")
    lost = game.replay("c3 a6 d3 c6 e3")  # Second can block one end only
    thought = think(lost, visits=300_000, rule="uct", c=1.0)
    assert (thought.proven, thought.plies) == (1, 2)
    assert thought.lines[0].proven == 1


def test_a_proven_draw_is_kept_rather_than_a_loss() -> None:
    """Tic-Tac-Toe: Second answers a corner in the centre, the only reply that does not lose."""
    thought = think(tesuji.game("gomoku3").replay("a1"), visits=100_000)
    assert thought.proven == 0
    assert thought.move == "b2"
    assert {line.moves[0]: line.proven for line in thought.lines}["b2"] == 0


# ── Limits ──


def test_visits_are_as_asked() -> None:
    game = tesuji.game("go9")
    for visits in (1, 2, 37, 500):
        thought = think(game.start(), visits=visits)
        assert thought.stop == "visits"
        assert sum(thought.visits.values()) == visits


def test_seconds_end_a_search() -> None:
    start = time.perf_counter()
    thought = think(tesuji.game("go9").start(), visits=2**31 - 1, seconds=0.2)
    assert thought.stop == "seconds"
    assert 0.2 <= time.perf_counter() - start < 15


def test_the_dynamic_stop_ends_at_a_checkpoint() -> None:
    """Study U: where one move has most visits, the rest of the budget is saved."""
    game = tesuji.game("gomoku6x4")
    forced = game.replay("c3 a6 d3 c6 e3 f3 b4")  # First threatens b3
    spent = think(forced, visits=10_000, rule="uct", c=0.2, checkpoint=500, share=0.8)
    assert spent.stop in ("share", "proven")
    assert sum(spent.visits.values()) < 10_000
    even = think(game.start(), visits=2000, rule="uct", c=2.0, checkpoint=500, share=0.8)
    assert even.stop == "visits"


def test_a_full_tree_stops_and_still_answers() -> None:
    thought = think(tesuji.game("gomoku15").start(), visits=100_000, memory=1 << 20)
    assert thought.stop == "full"
    assert thought.memory <= 1 << 20
    assert thought.action in tesuji.game("gomoku15").start().legal()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"visits": 0}, "visits is 0"),
        ({"visits": "many"}, "visits must be a number, not str"),
        ({"visits": True}, "visits must be a number, not bool"),
        ({"seconds": -1}, "seconds is -1"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"rule": "best"}, "there is no rule 'best'"),
        ({"leaves": 0}, "leaves is 0"),
        ({"memory": 10}, "memory is 10"),
        ({"share": 2}, "share is 2"),
        ({"vizits": 5}, "a search has no setting 'vizits'"),
        ({"threads": 0}, "threads is 0"),
        ({"encoding": "mine"}, "go9 has no encoding 'mine'"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], sentence: str) -> None:
    game = tesuji.game("go9")
    with pytest.raises((ValueError, TypeError), match=sentence):
        tesuji.Search(game, [game.start()], **settings)


def test_a_finished_game_and_another_game_are_refused() -> None:
    game = tesuji.game("gomoku3")
    over = game.random(1)
    with pytest.raises(ValueError, match="the game is over"):
        think(over)
    with pytest.raises(ValueError, match="the game is over"):
        tesuji.player("mcts", game).think(over)
    with pytest.raises(ValueError, match="another game"):
        tesuji.Search(game, [tesuji.game("go9").start()])


# ── The same seed, the same search ──


@pytest.mark.parametrize("rule", ["uct", "puct", "gumbel"])
def test_searches_are_deterministic(rule: str) -> None:
    state = tesuji.game("ultimate").random(3, plies=10)
    one, again, other = (think(state, visits=500, rule=rule, seed=seed, noise_weight=0.25) for seed in (1, 1, 2))
    assert one.visits == again.visits
    assert one.lines == again.lines
    assert one.visits != other.visits


def test_threads_change_nothing() -> None:
    game = tesuji.game("go5")
    states = [game.random(seed, plies=5) for seed in range(20)]
    one, two = (tesuji.Search(game, states, visits=200, threads=n).run().thoughts() for n in (1, 3))
    assert [t.visits for t in one] == [t.visits for t in two]
    assert len({tuple(t.visits.items()) for t in one}) > 10  # trees are searched each for itself


# ── What is kept between moves ──


def test_the_tree_is_kept_between_moves() -> None:
    """The next search begins with the visits that the moves played have; a state from elsewhere begins anew."""
    game = tesuji.game("gomoku8")
    search = tesuji.Search(game, [game.start()], visits=3000, rule="uct").run()
    thought = search.thoughts()[0]
    reply = thought.lines[0].moves[1]
    kept = game.start().play(thought.move).play(reply)
    search.continue_from(0, kept)
    before = sum(search.thoughts()[0].visits.values())
    assert 0 < before < 3000
    assert search.run().thoughts()[0].stop == "visits"
    assert sum(search.thoughts()[0].visits.values()) >= 3000 - 1
    assert set(search.thoughts()[0].visits) == set(kept.legal())
    search.continue_from(0, game.replay("a1 h8"))
    with pytest.raises(ValueError, match="nothing"):
        search.thoughts()  # not yet searched: no edges


def test_the_depth_of_a_tree() -> None:
    game = tesuji.game("gomoku3")
    search = tesuji.Search(game, [game.start()], visits=9, rule="uct").run("rollout")
    assert search.depth(0) == (1, 1.0)  # each of the nine moves once
    deep = tesuji.Search(game, [game.start()], visits=5000, rule="uct").run("rollout")
    most, mean = deep.depth(0)
    assert 1 < mean < most <= 9
    with pytest.raises(ValueError, match="there is no tree 1"):
        deep.depth(1)


def test_transpositions_share_nodes() -> None:
    state = tesuji.game("dots3").random(1, plies=14)
    apart, shared = (think(state, visits=3000, rule="uct", transpositions=yes) for yes in (False, True))
    assert shared.nodes < 0.8 * apart.nodes


def test_lines_are_legal_and_begin_with_their_move() -> None:
    for name in ("ultimate", "dots3", "go9", "nogo9", "gomoku8"):
        state = tesuji.game(name).random(2, plies=6)
        thought = think(state, visits=800)
        assert thought.lines[0].moves[0] == thought.move
        assert {line.moves[0] for line in thought.lines} == set(state.moves())
        for line in thought.lines[:5]:
            at = state
            for move in line.moves:
                at = at.play(move)
        assert all(-1 <= line.value <= 1 for line in thought.lines if line.value is not None)
        assert sum(thought.policy.values()) == pytest.approx(1, abs=1e-3)


# ── The border with networks ──


def answer_all(search: tesuji.Search, game: tesuji.Game) -> list[int]:
    """A network that has no opinion: flat logits, value 0. The batch sizes."""
    sizes = []
    for leaves in search:
        planes = leaves.planes
        assert planes.shape == (leaves.count, len(game.plane_names()), game.rows, game.cols)
        sizes.append(leaves.count)
        leaves.answer(np.zeros((leaves.count, game.actions), np.float32), np.zeros(leaves.count, np.float32))
    return sizes


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
def test_a_network_answers_one_batch_of_all_trees(rule: str) -> None:
    game = tesuji.game("go5")
    states = [game.random(seed, plies=4) for seed in range(7)]
    search = tesuji.Search(game, states, visits=50, rule=rule, threads=2)
    sizes = answer_all(search, game)
    assert sizes[0] == 7  # the roots
    for thought in search.thoughts():
        assert sum(thought.visits.values()) == 49  # and the root's own evaluation
    assert sum(sizes) <= 7 * 50


def test_leaves_show_the_states_that_are_asked() -> None:
    """The first batch are the roots themselves, the second their first children: compared with states played on."""
    game = tesuji.game("nogo5")
    states = [game.random(seed, plies=3) for seed in range(3)]
    batches = itertools.islice(tesuji.Search(game, states, visits=10), 2)
    policy = np.zeros((3, game.actions), np.float32)
    chosen = [state.legal()[2] for state in states]
    policy[range(3), chosen] = 9
    first = next(batches)
    assert np.array_equal(first.planes, np.stack([state.planes() for state in states]))
    first.answer(policy, np.zeros(3, np.float32))
    second = next(batches)
    assert np.array_equal(second.planes, np.stack([s.play(a).planes() for s, a in zip(states, chosen, strict=True)]))


def test_the_networks_value_is_the_movers() -> None:
    """A network that always likes First: the root is worth +1 for First, whoever moves there."""
    game = tesuji.game("nogo5")
    states = [game.random(seed, plies=plies) for seed, plies in enumerate((2, 3))]
    search = tesuji.Search(game, states, visits=60, encoding="paper")
    for leaves in search:
        first_to_move = leaves.planes[:, 3, 0, 0]
        leaves.answer(np.zeros((leaves.count, game.actions), np.float32), 2 * first_to_move - 1)
    assert [t.value for t in search.thoughts()] == pytest.approx([1, 1])


def test_values_lead_the_search() -> None:
    """A network that likes one cell for whoever holds it: PUCT and Gumbel both come to play there."""
    game = tesuji.game("gomoku8")
    for rule in ("puct", "gumbel"):
        search = tesuji.Search(game, [game.start()], visits=300, rule=rule, considered=64)
        for leaves in search:
            own, other = leaves.planes[:, 0, 4, 4], leaves.planes[:, 1, 4, 4]
            leaves.answer(np.zeros((leaves.count, 64), np.float32), 0.9 * (own - other))
        assert search.thoughts()[0].action == 4 * 8 + 4


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
def test_a_position_is_worth_what_its_good_moves_are_worth(rule: str) -> None:
    """A network that likes one cell alone. Gumbel looks at poor moves too, which say little of the position."""
    game = tesuji.game("gomoku8")
    cell = 4 * 8 + 4
    search = tesuji.Search(game, [game.replay("a1 h8 a3")], visits=64, rule=rule, considered=16, seed=3)
    for leaves in search:
        own, other = leaves.planes[:, 0, 4, 4], leaves.planes[:, 1, 4, 4]
        policy = np.zeros((leaves.count, game.actions), np.float32)
        policy[:, cell] = 3  # so that it is among those considered
        leaves.answer(policy, 0.8 * (own - other))
    thought = search.thoughts()[0]
    looked = [(line.value, line.visits, game.parse(line.moves[0])) for line in thought.lines if line.visits]
    mean = np.average([value for value, _, _ in looked], weights=[visits for _, visits, _ in looked])
    assert thought.value is not None
    assert thought.action == cell
    if rule == "puct":
        assert thought.value == pytest.approx(mean, abs=0.03)  # the root's own answer is a visit too
    else:
        shares = [thought.policy.get(action, 0) for _, _, action in looked]
        assert thought.value == pytest.approx(np.average([value for value, _, _ in looked], weights=shares), abs=1e-3)
        assert thought.value < mean - 0.1  # Second moves; values are First's


def test_priors_lead_a_search_of_one_visit() -> None:
    game = tesuji.game("go9")
    policy = np.zeros((1, 82), np.float32)
    policy[0, 17] = 5
    search = tesuji.Search(game, [game.start()], visits=1)
    for leaves in search:
        leaves.answer(policy, np.zeros(1, np.float32))
    thought = search.thoughts()[0]
    assert thought.action == 17
    assert thought.lines[0].prior == pytest.approx(np.exp(5) / (np.exp(5) + 81))


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
def test_a_net_of_the_core_is_asked_as_one_outside(rule: str) -> None:
    """The same leaves, the same answers, the same trees."""
    game = tesuji.game("ultimate")
    judge = shared_evaluator(shipped(game), game)
    assert isinstance(judge, OnnxEvaluator)
    states = [game.random(seed, 9) for seed in range(5)]
    settings = {"visits": 80, "rule": rule, "leaves": 4, "encoding": judge.info.encoding, "seed": 3}
    inside, outside = (tesuji.Search(game, states, **settings) for _ in range(2))
    inside.run(judge.core)
    for leaves in outside:
        leaves.answer(*judge.answer_planes(leaves.planes))
    assert [t.visits for t in inside.thoughts()] == [t.visits for t in outside.thoughts()]
    other = tesuji.Search(tesuji.game("go9"), [tesuji.game("go9").start()], visits=5)
    with pytest.raises(ValueError, match="the net is for another game"):
        other.run(judge.core)


@pytest.mark.parametrize("rule", ["uct", "puct", "gumbel"])
def test_a_proven_draw_is_worth_its_price(rule: str) -> None:
    """Tic-tac-toe is a draw, for both players; the result stays what it is."""
    game = tesuji.game("gomoku3")
    for plies, side in ((2, 1), (3, -1)):
        state = next(s for s in (game.random(seed, plies) for seed in range(20)) if tesuji.solve(s).result == 0)
        for draw in (-0.4, 0.7):
            proven = think(state, visits=100_000, rule=rule, draw=draw)
            assert (proven.proven, proven.value) == (0, 0)
            drawn = [line.value for line in proven.lines if line.proven == 0]
            assert drawn
            assert drawn == pytest.approx([side * draw] * len(drawn))
            assert all(line.value == line.proven for line in proven.lines if line.proven)


def test_a_leaf_has_the_price_of_its_chance_of_a_draw() -> None:
    """Of random games; and of a net, which says how likely a draw is."""
    game = tesuji.game("ultimate")
    judge = shared_evaluator(shipped(game), game)
    assert isinstance(judge, OnnxEvaluator)
    session = onnxruntime.InferenceSession(shipped(game), providers=["CPUExecutionProvider"])
    for plies, side in ((20, 1), (21, -1)):
        state = game.random(3, plies)
        (wdl,) = session.run(["wdl"], {"planes": state.planes(judge.info.encoding)[None]})
        assert wdl[0, 1] > 0.05
        worth = {}
        for draw in (-1.0, 0.0, 0.5):
            asked = tesuji.Search(game, [state], visits=1, encoding=judge.info.encoding, draw=draw).run(judge.core)
            expected = wdl[0, 0] - wdl[0, 2] + draw * wdl[0, 1]
            assert side * asked.thoughts()[0].value == pytest.approx(expected, abs=2e-3)
            played = tesuji.Search(game, [state], visits=1, draw=draw, seed=5).run(rollouts=300)
            worth[draw] = side * played.thoughts()[0].value
        assert worth[0.5] - worth[0.0] == pytest.approx((worth[0.0] - worth[-1.0]) / 2, abs=1e-6)
        assert worth[0.0] - worth[-1.0] > 0.05


def test_a_sure_draw_is_taken_or_left_by_its_price() -> None:
    game = tesuji.game("ultimate")
    state = game.random(131, 42)  # one move draws for certain, and of the others a short search cannot tell
    settings = {"visits": 60, "rule": "uct", "solve": 300}
    cheap, dear = (tesuji.Search(game, [state], draw=draw, **settings).run().thoughts()[0] for draw in (-1.0, 1.0))
    assert (cheap.proven, dear.proven) == (None, None)
    assert (cheap.lines[0].proven, dear.lines[0].proven) == (None, 0)
    assert 0 in {line.proven for line in cheap.lines}


def test_a_tree_whose_draws_were_worth_something_else_is_not_kept() -> None:
    game = tesuji.game("gomoku6x4")
    for draw, kept in ((0.0, True), (-0.3, False)):
        search = tesuji.Search(game, [game.start()], visits=2000, rule="uct", draw=draw).run()
        best = search.thoughts()[0]
        search.continue_from(0, game.start().play(best.action))  # the other's turn: his draws cost the other way
        assert (search.visits(0) > 0) == kept
    search = tesuji.Search(game, [game.start()], visits=4000, rule="uct", draw=-0.3).run()
    line = search.thoughts()[0].lines[0].moves[:2]
    search.continue_from(0, game.start().play(line[0]).play(line[1]))
    assert search.visits(0) > 0, "two moves on he is the same"


def test_several_leaves_a_tree() -> None:
    """Visits under way push the next walk elsewhere, and are all taken back in the end."""
    game = tesuji.game("go9")
    search = tesuji.Search(game, [game.start()], visits=200, leaves=8)
    sizes = answer_all(search, game)
    assert max(sizes) == 8
    assert sum(search.thoughts()[0].visits.values()) >= 199


@pytest.mark.parametrize("visits", [2, 3, 8, 17, 64])
def test_gumbel_halves_what_it_considers(visits: int) -> None:
    """Budgets from 2 up: so many simulations, spent on at most `considered` actions."""
    game = tesuji.game("go9")
    search = tesuji.Search(game, [game.start()], visits=visits, rule="gumbel", considered=8, seed=visits)
    answer_all(search, game)
    visited = [n for n in search.thoughts()[0].visits.values() if n]
    assert sum(visited) == visits - 1
    assert len(visited) <= 8
    if visits == 64:
        assert max(visited) > 2 * min(visited)  # the better half got more


def answered(search: tesuji.Search) -> list[int]:
    """Answers all leaves with nothing known; how many there were in each batch."""
    counts = []
    for leaves in search:
        policy = np.zeros((leaves.count, search._states[0].game.actions), np.float32)
        leaves.answer(policy, np.zeros(leaves.count, np.float32))
        counts.append(leaves.count)
    return counts


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
@pytest.mark.parametrize("name", ["dots2", "dots2x3", "dots3", "gomoku3"])
def test_candidates_are_enough_for_proofs(name: str, rule: str) -> None:
    """Searches that look only at candidates prove what minimax over all moves says, and ask less."""
    book, game, asked = Book(), tesuji.game(name), [0, 0]
    states = [late(game, seed) for seed in range(6)]
    for candidates in (False, True):
        search = tesuji.Search(game, states, visits=100_000, rule=rule, considered=100, seed=1, candidates=candidates)
        asked[candidates] = sum(answered(search))
        for state, thought in zip(states, search.thoughts(), strict=True):
            assert thought.proven == book.value(state) or thought.stop == "only"
            assert book.value(state.play(thought.action)) == book.value(state)
    assert asked[1] < asked[0] or name == "gomoku3"  # where a row of three leaves little to choose


def test_an_only_move_is_not_searched() -> None:
    """In Gomoku the one move that wins, or that stops a five, is followed without asking about it."""
    game = tesuji.game("gomoku15")
    # First made four, closed at one end: Second must play h7, and then there is a choice.
    closed = game.replay("h8 h12 h9 a3 h10 a5 h11")
    search = tesuji.Search(game, [closed], visits=50, candidates=True)
    assert answered(search) == [1, 1]
    thought = search.thoughts()[0]
    assert (thought.move, len(thought.lines), thought.stop, search.visits(0)) == ("h7", 1, "only", 2)
    plain = tesuji.Search(game, [closed], visits=50)
    assert sum(answered(plain)) > 20
    assert len(plain.thoughts()[0].lines) == 225 - 7
    # Open at both ends: whatever he does, First wins at once, and nobody is asked about that.
    lost = tesuji.Search(game, [game.replay("h8 a1 h9 a3 h10 a5 h11")], visits=50, candidates=True)
    assert answered(lost) == [1]
    assert (lost.thoughts()[0].proven, lost.thoughts()[0].plies) == (1, 2)


def test_a_verdict_ends_a_walk() -> None:
    """A win by fours is seen without a question, and its first move is all that the root looks at."""
    game = tesuji.game("gomoku15")
    open_three = game.replay("e7 a1 f7 a3 g7 a5")
    search = tesuji.Search(game, [open_three], visits=50, candidates=True)
    assert answered(search) == [1]
    thought = search.thoughts()[0]
    assert (thought.proven, thought.plies, len(thought.lines)) == (1, 3, 1)
    assert thought.move in ("d7", "h7")
    # Second must stop the three that will be one: elsewhere he is seen to lose at once.
    search = tesuji.Search(game, [game.replay("e7 a1 f7 a3 g7")], visits=1000, rule="puct", candidates=True)
    answered(search)
    lines = search.thoughts()[0].lines
    assert {line.moves[0] for line in lines if line.visits and line.proven is None} <= {"d7", "h7"}
    assert sum(line.proven == 1 for line in lines) > 5


@pytest.mark.parametrize(("seed", "plies"), [(110, 45), (35, 48)])
def test_who_cannot_win_draws_instead(seed: int, plies: int) -> None:
    """Whatever a network says of his chances: what it gives to a win that cannot come is a draw's."""
    game = tesuji.game("ultimate")
    state = game.random(seed, plies)
    player = state.to_play
    assert _core.verdict(state) == ((-1, 0), (0, 1))[player] + (0, None)
    for believes in (False, True):
        search = tesuji.Search(game, [state], visits=60, candidates=believes)
        for leaves in search:  # the network believes in that player: Second is to move where he has fewer marks
            marks = leaves.planes[:, :2].sum((2, 3))
            moves = (marks[:, 0] < marks[:, 1]) == (player == 1)
            leaves.answer(np.zeros((leaves.count, 81), np.float32), np.where(moves, 1, -1).astype(np.float32))
        side = 1 if player == 0 else -1
        thought = search.thoughts()[0]
        worth = [side * line.value for line in thought.lines if line.value is not None]
        assert (max(worth) <= 0) == believes
        assert (side * thought.value <= 0) == believes


def test_a_temperature_of_priors_softens_them() -> None:
    game = tesuji.game("gomoku3")
    logits = np.linspace(-2, 3, 9, dtype=np.float32)

    def priors(temperature: float, rule: str) -> np.ndarray:
        search = tesuji.Search(
            game, [game.start()], visits=30, rule=rule, gumbel_noise=False, prior_temperature=temperature
        )
        for leaves in search:
            leaves.answer(np.tile(logits, (leaves.count, 1)), np.zeros(leaves.count, np.float32))
        prior = {line.moves[0]: line.prior for line in search.thoughts()[0].lines}
        return np.array([prior[game.text(action)] for action in range(9)])

    for rule in ("puct", "gumbel"):
        for temperature in (0.5, 1, 2):
            wanted = np.exp(logits / temperature)
            np.testing.assert_allclose(priors(temperature, rule), wanted / wanted.sum(), rtol=1e-5)
    with pytest.raises(ValueError, match="prior_temperature is 0"):
        tesuji.Search(game, [game.start()], prior_temperature=0)


def test_gumbel_without_noise_does_not_depend_on_the_seed() -> None:
    game = tesuji.game("gomoku8")

    def visits(seed: int, noise: bool) -> dict[int, int]:
        search = tesuji.Search(game, [game.start()], visits=64, rule="gumbel", gumbel_noise=noise, seed=seed)
        for leaves in search:
            logits = np.tile(np.linspace(0, 1, game.actions, dtype=np.float32), (leaves.count, 1))
            leaves.answer(logits, np.zeros(leaves.count, np.float32))
        return search.thoughts()[0].visits

    assert visits(1, noise=False) == visits(2, noise=False)
    assert visits(1, noise=True) != visits(2, noise=True)


def test_wrong_answers_are_refused_with_a_sentence() -> None:
    game = tesuji.game("go5")
    leaves = next(iter(tesuji.Search(game, [game.start()] * 2, visits=5)))
    good, value = np.zeros((2, 26), np.float32), np.zeros(2, np.float32)
    for policy, values in [(good[:1], value), (good[:, :25], value), (good, value[:1]), (good.ravel(), value)]:
        with pytest.raises(ValueError, match=r"must be a float32 array of shape \[2"):
            leaves.answer(policy, values)
    with pytest.raises(ValueError, match="no number"):
        leaves.answer(good, np.array([np.nan, 0], np.float32))
    leaves.answer(good, value)


def test_leaves_must_be_answered() -> None:
    game = tesuji.game("go5")
    with pytest.raises(ValueError, match="not answered"):
        list(tesuji.Search(game, [game.start()], visits=5))


def test_noise_is_in_the_priors_of_the_root_alone() -> None:
    game = tesuji.game("go5")
    plain, noisy = (tesuji.Search(game, [game.start()], visits=40, noise_weight=w, seed=3) for w in (0.0, 0.25))
    for search in (plain, noisy):
        answer_all(search, game)
    priors = [[line.prior for line in search.thoughts()[0].lines] for search in (plain, noisy)]
    assert np.ptp(priors[0]) == pytest.approx(0, abs=1e-6)
    assert np.ptp(priors[1]) > 0.03
    assert sum(p for p in priors[1] if p is not None) == pytest.approx(1, abs=1e-3)


# ── The player ──


@pytest.mark.parametrize("name", ["ultimate", "gomoku6x4", "nogo5", "dots3", "go5"])
def test_mcts_beats_random(name: str) -> None:
    game = tesuji.game(name, **({"komi": 0.5} if name == "go5" else {}))
    won = 0
    for number in range(10):
        sides = [tesuji.player("mcts:visits=300", game, seed=number), tesuji.player("random", game, seed=number)]
        state, ours = game.start(), number % 2
        while state.result is None:
            state = state.play(sides[state.to_play ^ ours].think(state).action)
        won += (1, -1)[ours] * state.result
    assert won >= 7


def test_mcts_with_the_settings_of_study_ultimate() -> None:
    """81 simulations in a tree of its own for every move; at 27 or 54 it ends if a move has more than 0.8 of them."""
    game = tesuji.game("ultimate")
    player, seen = tesuji.player("mcts:study=ultimate", game, seed=1), set()
    for seed in range(40):
        state = game.random(seed, plies=30)
        while state.result is None:
            thought = player.think(state)
            simulations, most = sum(thought.visits.values()), max(thought.visits.values())
            if thought.stop == "share":
                assert simulations in (27, 54, 81)
                assert most > 0.8 * simulations
            elif thought.stop == "visits":
                assert simulations == 81
            seen.add((thought.stop, simulations))
            state = state.play(thought.action)
    assert {("visits", 81), ("share", 27), ("share", 54)} <= seen


def test_mcts_with_the_settings_of_study_gomoku() -> None:
    game = tesuji.game("gomoku8")
    player, state = tesuji.player("mcts:study=gomoku", game, seed=1), game.start()
    for _ in range(3):
        thought = player.think(state)
        assert (sum(thought.visits.values()), thought.stop) == (4701, "visits")
        assert thought.seconds > 0
        state = state.play(thought.action)
    other = tesuji.player("mcts:study=gomoku,visits=100,reuse=1", game, seed=1).think(game.start())
    assert sum(other.visits.values()) == 100


def test_the_temperature_of_mcts_varies_the_move() -> None:
    game = tesuji.game("gomoku8")

    def moves(temperature: float) -> set[str]:
        text = f"mcts:visits=200,temperature={temperature:g}"
        return {tesuji.player(text, game, seed=seed).think(game.start()).move for seed in range(12)}

    assert len(moves(1)) > 8
    assert len(moves(100)) > 8
    again = {tesuji.player("mcts:visits=200,temperature=1", game, seed=3).think(game.start()).move for _ in range(3)}
    assert len(again) == 1
    # A move that was looked at far more often than the others is nearly always drawn at a low temperature.
    four = game.replay("b4 a1 c4 h8 d4 a8 e4")
    for seed in range(12):
        cold = tesuji.player("mcts:visits=2000,temperature=0.05", game, seed=seed).think(four)
        assert cold.action == max(cold.visits, key=lambda action: cold.visits[action])


def test_a_move_that_is_proven_to_lose_is_not_drawn() -> None:
    """Second must stop three in a row; as soon as the search has seen that, no temperature makes it play elsewhere."""
    game = tesuji.game("gomoku3")
    state = game.replay("a3 b2 b3")
    for seed in range(20):
        thought = tesuji.player("mcts:visits=60,temperature=100", game, seed=seed).think(state)
        lost = {line.moves[0] for line in thought.lines if line.proven == 1}
        assert lost
        assert thought.move not in lost


def test_a_thought_in_slices_is_the_same_thought() -> None:
    game = tesuji.game("go9")
    whole = tesuji.player("mcts:visits=6000", game, seed=1).think(game.start())
    steps = thinking(tesuji.player("mcts:visits=6000", game, seed=1), game.start())
    slices = 0
    while True:
        try:
            next(steps)
            slices += 1
        except StopIteration as end:
            thought = end.value
            break
    assert slices > 0
    assert (thought.visits, thought.move) == (whole.visits, whole.move)
    # One that was given up in the middle leaves no trace but its random numbers.
    player = tesuji.player("mcts:visits=100000", game, seed=1)
    given_up = thinking(player, game.start())
    next(given_up)
    given_up.close()
    assert sum(player.think(game.replay("e5")).visits.values()) >= 90_000


def test_a_tree_that_is_not_reused_begins_anew() -> None:
    game = tesuji.game("gomoku6x4")
    state = game.start()
    nodes = {}
    for reuse in (0, 1):
        player = tesuji.player(f"mcts:visits=2000,reuse={reuse}", game, seed=1)
        thought = player.think(state)
        again = player.think(state.play(thought.action).play(thought.lines[0].moves[1]))
        nodes[reuse] = again.nodes
    assert nodes[1] != nodes[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mcts:visits=0", "visits is 0"),
        ("mcts:visits=x", "visits of mcts must be a whole number, not 'x'"),
        ("mcts:seconds=-1", "seconds is -1"),
        ("mcts:rollouts=0", "rollouts is 0"),
        ("mcts:depth=3", "mcts has no option 'depth'"),
        ("mcts:reuse=2", "reuse is 2: give 0 or 1"),
        ("mcts:temperature=-1", "temperature is -1: give a number from 0 to 100"),
        ("mcts:study=chess", "there is no study 'chess' of plain search: there are ultimate, gomoku"),
    ],
)
def test_options_of_mcts_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        tesuji.player(text, tesuji.game("go5")).think(tesuji.game("go5").start())


@pytest.mark.parametrize(
    ("name", "plies"), [("ultimate", 54), ("gomoku6x4", 14), ("nogo4", 5), ("dots3", 13), ("go3", 8)]
)
def test_what_the_solvers_know_the_search_finds(name: str, plies: int) -> None:
    """Wins, losses and draws that are known exactly: the search proves the same, and plays so that it stays so."""
    game, checked = tesuji.game(name, **({"komi": 0.5} if name == "go3" else {})), 0
    for seed in range(25):
        state = game.random(seed, plies=plies)
        if state.result is not None:
            continue
        known = tesuji.solve(state, nodes=200_000).result
        if known is None:
            continue
        thought = think(state, visits=150_000, rule="uct", c=1.0, seed=seed, transpositions=game.transposes)
        assert thought.proven == known, (state, thought.stop)
        assert tesuji.solve(state.play(thought.action)).result == known
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
def test_a_leaf_that_a_solver_settles_is_proven(rule: str) -> None:
    """And nobody is asked about it; what the root then knows is right, though not how far away it is."""
    game = tesuji.game("ultimate")
    states = [state for seed in range(40) if (state := game.random(seed, 50)).result is None]
    asked, proven = {}, {}
    for solve in (0, 5000):
        search = tesuji.Search(game, states, visits=60, rule=rule, seed=1, solve=solve)
        asked[solve] = sum(answered(search))
        proven[solve] = [thought.proven for thought in search.thoughts()]
    assert asked[5000] < asked[0] / 2
    assert sum(known is not None for known in proven[5000]) > sum(known is not None for known in proven[0])
    for state, known in zip(states, proven[5000], strict=True):
        assert known in (None, tesuji.solve(state).result)
    # What one leaf showed serves the next: nothing is settled otherwise, and no less.
    noted = tesuji.Search(game, states, visits=60, rule=rule, seed=1, solve=5000, notes=True)
    assert sum(answered(noted)) <= asked[5000]
    for state, known in zip(states, (thought.proven for thought in noted.thoughts()), strict=True):
        assert known in (None, tesuji.solve(state).result)
    far = tesuji.Search(game, states, visits=60, solve=5000).run("uniform").thoughts()
    assert any(thought.proven is not None and thought.plies is None for thought in far)
