"""Self-play and its records: endless games, their frames on disk, and the samples drawn from them."""

import zlib
from collections import Counter

import numpy as np
import pytest

import tesuji
from tesuji import _core
from tesuji.replay import Window
from tesuji.selfplay import SelfPlay, SelfPlaySettings


class Steady:
    """A lane that answers every leaf alike: all moves equally good, and one value for whoever moves."""

    def __init__(self, game, games, value=0.0):
        self.planes = np.zeros((games, game.packed_words()), np.uint64)
        self.policy = np.zeros((games, game.actions), np.float32)
        self.value = np.full(games, value, np.float32)

    def submit(self):
        pass

    def wait(self):
        pass


def selfplay(name, *, games=8, lanes=1, value=0.0, threads=1, seed=1, **settings):
    game = tesuji.game(name)
    chosen = SelfPlaySettings(**{"visits": 8, **settings})
    table = [Steady(game, games, value) for _ in range(lanes)]
    return SelfPlay(game, table, chosen, threads=threads, seed=seed)


def records(name, frames):
    return _core.read_frames(tesuji.game(name), frames)


@pytest.mark.parametrize("name", tesuji.games())
def test_every_game_is_played_to_its_end_and_its_records_replay(name):
    game = tesuji.game(name)
    play = selfplay(name, visits=4, temperature_plies=1000, rule="puct")
    frames = b""
    for _ in range(200):
        frames += play.play(positions=500)
        if play.counters()["games"] >= 4:
            break
    found = records(name, frames)
    totals = play.counters()
    assert len(found) == totals["games"] >= 4
    window = Window(game)
    window.append(frames)
    assert window.games == len(found)
    assert window.positions == sum(sum(map(bool, record["policies"])) for record in found)
    assert _core.scan_frames(frames) == (len(frames), window.games, window.positions)
    for record in found:
        state = _core.Game(game.name, record["numbers"]).start()
        for action, policy in zip(record["actions"], record["policies"], strict=True):
            assert set(policy) <= set(state.legal())
            assert sum(policy.values()) == pytest.approx(1, abs=0.01)
            state = state.play(action)
        if record["ending"] == "played out":
            assert state.result == record["result"]


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
def test_the_same_seed_gives_the_same_records_on_any_number_of_threads(rule):
    def frames(threads, seed):
        play = selfplay("dots2", games=40, threads=threads, seed=seed, rule=rule, full_share=0.5, fast_visits=4)
        return b"".join(play.play(positions=100) for _ in range(4))

    assert frames(1, 1) == frames(3, 1)
    assert frames(1, 1) != frames(1, 2)


def test_lanes_on_threads_of_their_own():
    play = selfplay("gomoku6x4", lanes=3, threads=2)
    frames = play.play(positions=2000)
    totals = play.counters()
    assert play.games == 24
    assert totals["positions"] >= 2000
    assert totals["games"] == _core.scan_frames(frames)[1] > 0
    assert totals["seconds"] > 0


def test_an_error_in_one_lane_ends_the_others():
    class Broken(Steady):
        def wait(self):
            raise RuntimeError("the device is gone")

    game = tesuji.game("dots2")
    play = SelfPlay(game, [Steady(game, 4), Broken(game, 4)], SelfPlaySettings(visits=4))
    with pytest.raises(RuntimeError, match="the device is gone"):
        play.play(seconds=60)


def test_games_under_way_go_on_at_the_next_call():
    one = selfplay("nogo4", seed=3)
    whole = one.play(positions=400)
    two = selfplay("nogo4", seed=3)
    parts = b"".join(two.play(positions=50) for _ in range(8))
    shorter, longer = sorted((whole, parts), key=len)
    assert longer.startswith(shorter)
    assert len(shorter) > 0


def test_playout_caps():
    play = selfplay("gomoku6x4", games=32, visits=24, fast_visits=6, full_share=0.25, reuse=False)
    found = records("gomoku6x4", play.play(positions=1500))
    searched = [(seen, bool(policy)) for r in found for seen, policy in zip(r["visits"], r["policies"], strict=True)]
    assert sum(full for _, full in searched) / len(searched) == pytest.approx(0.25, abs=0.05)
    assert max(seen for seen, full in searched if full) == 24
    assert max(seen for seen, full in searched if not full) == 6


def test_the_dynamic_stop_saves_simulations():
    def simulations(**settings):
        # Priors alike and no price for the untried: visits spread out, and only a share of almost none stops a search.
        play = selfplay("gomoku3", visits=27, rule="puct", noise_weight=0.0, fpu=0.0, reuse=False, **settings)
        play.play(positions=200)
        return play.counters()["simulations"] / play.counters()["plies"]

    assert simulations(checkpoint=9, share=0.01) < 0.5 * simulations()
    assert simulations(checkpoint=9, share=1.0) == simulations()


def test_openings_are_random_and_nothing_is_learned_of_them():
    play = selfplay("gomoku8", games=32, opening_share=0.5, opening_plies=6)
    found = records("gomoku8", play.play(positions=4000))
    lengths = [sum(seen == 0 for seen in record["visits"]) for record in found]
    assert set(lengths) <= set(range(7))
    assert 0 < lengths.count(0) < len(lengths)
    for record, length in zip(found, lengths, strict=True):
        assert all(seen == 0 for seen in record["visits"][:length])
        assert not any(record["policies"][:length])


def test_rule_numbers_vary_within_their_steps():
    play = selfplay("go5", games=32, visits=2, vary={"komi": 3.0}, vary_share=0.5)
    found = records("go5", play.play(positions=6000))
    komi = Counter(record["numbers"]["komi"] for record in found)
    usual = tesuji.game("go5").numbers["komi"]
    assert len(komi) > 3
    assert all(value >= 0 and 2 * value == int(2 * value) for value in komi)
    assert komi[usual] / len(found) > 0.3


def test_what_is_proven_is_played_out_and_not_given_away():
    play = selfplay("gomoku3", games=16, visits=200)
    found = records("gomoku3", play.play(positions=200))
    assert {record["ending"] for record in found} == {"played out"}
    for record in found:
        known = [proven for proven in record["proven"] if proven is not None]
        assert len(known) > 1
        assert set(known) == {record["result"]}


class Doomed(Steady):
    """A lane of Gomoku that never sees any hope for First."""

    def wait(self):
        own, other = (np.bitwise_count(self.planes[:, plane]) for plane in (0, 1))
        self.value[:] = np.where(own == other, -0.99, 0.99)


def test_giving_up_and_how_often_it_is_wrong():
    game = tesuji.game("gomoku8")
    assert game.plane_names()[:2] == ["own stones", "other's stones"]
    settings = SelfPlaySettings(visits=2, resign=0.9, resign_plies=2, resign_checked=0.0)
    hopeless = SelfPlay(game, [Doomed(game, 8)], settings)
    found = records("gomoku8", hopeless.play(positions=300))
    assert {record["ending"] for record in found} == {"resigned"}
    assert {len(record["actions"]) for record in found} == {3}
    assert {record["result"] for record in found} == {-1}

    game = tesuji.game("gomoku3")
    settings = SelfPlaySettings(visits=2, resign=0.9, resign_plies=2, resign_checked=1.0)
    checked = SelfPlay(game, [Doomed(game, 32)], settings)
    found = records("gomoku3", checked.play(positions=1500))
    totals = checked.counters()
    assert {record["ending"] for record in found} == {"played out"}
    assert totals["resign_checked"] == pytest.approx(totals["games"], rel=0.1)
    assert totals["resign_wrong"] / totals["resign_checked"] > 0.05
    assert checked.resign > 0.9  # so players give up later from now on


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"visits": 1}, "visits is 1: give a number from 2 to 65535"),
        ({"full_share": 0}, "full_share is 0: then there is nothing to learn from"),
        ({"full_share": 1.5}, "full_share is 1.5: give a number from 0 to 1"),
        ({"rule": "best"}, "there is no rule 'best'"),
        ({"vary": {"komi": -1}}, "the spread of komi must be a number"),
    ],
)
def test_settings_that_make_no_sense(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        SelfPlaySettings(**wrong)


def test_a_number_that_the_game_lacks_cannot_vary():
    with pytest.raises(ValueError, match="gomoku8 has no rule number komi to vary: it has none"):
        selfplay("gomoku8", vary={"komi": 1.0})


def test_arrays_of_a_wrong_shape_are_refused():
    game = tesuji.game("dots2")
    group = _core.SelfPlay(game, "tesuji", _settings(), 4, 1, _core.Crew(1))
    good = Steady(game, 4)
    with pytest.raises(ValueError, match=r"policy must be an array of shape \[4, 12\] in row order"):
        group.begin_step(good.policy[:, :3].copy(), good.value, good.planes)
    with pytest.raises(ValueError, match=r"planes must be an array of shape"):
        group.begin_step(good.policy, good.value, good.planes[:3])


def _settings():
    from dataclasses import asdict

    return asdict(SelfPlaySettings(visits=4))


@pytest.mark.parametrize("name", ["dots3x4", "ultimate"])
def test_a_solver_ends_games_and_is_right(name):
    play = selfplay(name, visits=4, solve=2000, play_on=0.25, games=16)
    found = records(name, play.play(positions=3000))
    endings = Counter(record["ending"] for record in found)
    assert endings["solved"] == play.counters()["solved"] > endings["played out"] > 0
    assert set(endings) == {"solved", "played out"}
    checked = 0
    for record in found:
        states = replayed(name, record)
        if record["ending"] == "solved":
            assert tesuji.solve(states[-1].play(record["actions"][-1])).result == record["result"]
            continue
        # Played on, it knows from some ply on what every position is worth.
        known = [result is not None for result in record["proven"]]
        assert known[-1]
        for state, result in zip(states, record["proven"], strict=True):
            if result is not None and checked < 60:
                checked += 1
                assert tesuji.solve(state).result == result
    assert checked > 20


def test_a_solver_of_games_is_not_asked_of_leaves():
    """Unless told so: then leaves are proven that would have had to be evaluated."""
    settings = {"visits": 24, "full_share": 1.0, "games": 8, "opening_share": 1.0, "opening_plies": 60}

    def evaluations(**changes):
        play = selfplay("ultimate", **settings, **changes)
        play.play(positions=400)
        counters = play.counters()
        return counters["evaluations"] / counters["simulations"]

    of_games, of_leaves = evaluations(solve=2000), evaluations(solve=2000, solve_leaves=2000)
    assert of_leaves < 0.98 * of_games


def test_without_hope_no_solver_is_asked():
    play = selfplay("go5", visits=4, solve=2000)
    found = records("go5", play.play(positions=500))
    assert {record["ending"] for record in found} == {"played out"}
    with pytest.raises(ValueError, match="solve is -1"):
        SelfPlaySettings(solve=-1)


# ── Frames ──


@pytest.fixture(scope="module")
def frames():
    return selfplay("dots2", visits=12, full_share=0.7).play(positions=400)


def test_a_frame_is_a_length_a_checksum_and_a_record(frames):
    length = int.from_bytes(frames[:4], "little")
    assert int.from_bytes(frames[4:8], "little") == zlib.crc32(frames[8 : 8 + length])


def test_frames_cut_off_anywhere_keep_those_before(frames):
    ends = [0]
    while ends[-1] < len(frames):
        ends.append(ends[-1] + 8 + int.from_bytes(frames[ends[-1] : ends[-1] + 4], "little"))
    assert ends[-1] == len(frames)
    for cut in range(0, ends[4] + 1):
        whole = max(end for end in ends if end <= cut)
        assert _core.scan_frames(frames[:cut])[:2] == (whole, ends.index(whole))


def test_damaged_frames_are_refused(frames):
    window = Window(tesuji.game("dots2"))
    window.append(frames)
    before = window.digest
    for damaged in (frames[:-1], frames[:20] + bytes([frames[20] ^ 1]) + frames[21:], b"nonsense" * 9):
        with pytest.raises(ValueError, match="these records are damaged, or cut off"):
            window.append(damaged)
    assert window.digest == before


def test_records_of_another_game_are_refused(frames):
    with pytest.raises(ValueError, match="a record does not replay as a game of"):
        Window(tesuji.game("go5")).append(frames)
    with pytest.raises(ValueError, match="a record does not replay as a game of dots3"):
        Window(tesuji.game("dots3")).append(selfplay("dots2", visits=4).play(positions=100))


# ── Samples ──


def test_the_window_drops_its_oldest_games(frames):
    window = Window(tesuji.game("dots2"))
    window.append(frames)
    positions = window.positions
    window.trim(positions)
    assert window.positions == positions
    window.trim(positions // 2)
    assert 0 < window.positions <= positions // 2
    window.trim(0)
    assert (window.games, window.positions) == (0, 0)
    with pytest.raises(ValueError, match="the window is empty"):
        window.sample(4, 1)


def test_equal_contents_have_equal_digests(frames):
    def digest(*parts):
        window = Window(tesuji.game("dots2"))
        for part in parts:
            window.append(part)
        return window.digest

    first = 8 + int.from_bytes(frames[:4], "little")
    assert digest(frames) == digest(frames[:first], frames[first:]) != digest(frames[first:], frames[:first])


def outcome(record, ply):
    """What was proven first at or after a ply; else the result."""
    return next((proven for proven in record["proven"][ply:] if proven is not None), record["result"])


def test_what_was_proven_counts_more_than_what_came_of_it():
    # Moves are drawn so freely that won games are lost again.
    frames = selfplay("dots2", rule="puct", visits=8, final_temperature=50, temperature=50, games=32).play(
        positions=2000
    )
    turned = 0
    while frames:
        length = 8 + int.from_bytes(frames[:4], "little")
        frame, frames = frames[:length], frames[length:]
        [record] = records("dots2", frame)
        if outcome(record, 0) == record["result"]:
            continue
        turned += 1
        worth = {
            state.packed().tobytes(): (1, -1)[state.to_play] * outcome(record, ply)
            for ply, state in enumerate(replayed("dots2", record))
        }
        window = Window(tesuji.game("dots2"))
        window.append(frame)
        batch = window.sample(200, seed=1)
        rows = [row for row in range(200) if batch.planes[row].tobytes() in worth]
        assert len(rows) > 10
        assert [1 - batch.wdl[row].argmax() for row in rows] == [worth[batch.planes[row].tobytes()] for row in rows]
    assert turned >= 3


def replayed(name, record):
    """The states in which a record's moves were played."""
    states = [tesuji.game(name).start()]
    for action in record["actions"]:
        states.append(states[-1].play(action))
    return states[:-1]


@pytest.mark.parametrize("name", ["dots2", "dots2x3", "gomoku6x4", "ultimate", "nogo4", "go5", "dots3-paper"])
def test_samples_are_positions_of_the_records_seen_through_a_symmetry(name):
    game = tesuji.game(name)
    frames = selfplay(
        name,
        visits=6,
        full_share=0.5,
        fast_visits=3,
        games=4,
        vary={"komi": 2.0} if "go5" in name else {},
        vary_share=0.5,
    ).play(positions=150)
    # All that may be drawn, by planes.
    known = {}
    for record in records(name, frames):
        start = _core.Game(name, record["numbers"]).start()
        for s in range(game.symmetries):
            carried = game.permutation(s)
            states = [start]
            for action in record["actions"]:
                states.append(states[-1].play(int(carried[action])))
            for ply, (state, policy) in enumerate(zip(states, record["policies"], strict=False)):
                if policy:
                    wanted = np.zeros(game.actions)
                    for action, share in policy.items():
                        wanted[carried[action]] = share
                    side = 1 if state.to_play == 0 else -1
                    known.setdefault(state.packed().tobytes(), []).append(
                        (wanted, side * outcome(record, ply), side, record, states[-1])
                    )
    window = Window(game, threads=2)
    window.append(frames)
    batch = window.sample(300, seed=5)
    drawn = set()
    for row in range(300):
        key = batch.planes[row].tobytes()
        drawn.add(key)
        fits = [
            (side, record, end)
            for wanted, worth, side, record, end in known[key]
            if np.allclose(wanted / wanted.sum(), batch.policy[row], atol=1e-4) and batch.wdl[row].argmax() == 1 - worth
        ]
        assert fits
        assert batch.policy[row].sum() == pytest.approx(1, abs=1e-5)
        assert sorted(batch.wdl[row]) == [0, 0, 1]
        if batch.aux_weight[row]:
            assert any(
                (end.score is None or batch.score[row] == pytest.approx(side * end.score))
                and (end.ownership() is None or (batch.ownership[row] == side * end.ownership().ravel()).all())
                for side, record, end in fits
                if record["ending"] == "played out"
            )
        else:
            assert not batch.ownership[row].any()
    assert len(drawn) > 100


def test_the_same_seed_draws_the_same_batch(frames):
    one, two = (Window(tesuji.game("dots2"), threads=threads) for threads in (1, 3))
    one.append(frames)
    two.append(frames)
    a, b, c = one.sample(64, 9), two.sample(64, 9), two.sample(64, 10)
    assert (a.planes == b.planes).all()
    assert (a.policy == b.policy).all()
    assert (a.planes != c.planes).any()
    assert [batch.planes.tobytes() for batch in one.batches(64, iter([9, 10]))] == [
        a.planes.tobytes(),
        c.planes.tobytes(),
    ]


def test_the_value_to_learn_mixes_result_and_search():
    frames = selfplay("gomoku6x4", visits=4, value=0.5, rule="puct").play(positions=400)
    half = Window(tesuji.game("gomoku6x4"), value_mix=0.5)
    half.append(frames)
    batch = half.sample(200, 1)
    assert np.allclose(batch.wdl.sum(1), 1)
    mixed = batch.wdl[np.isclose(batch.wdl.max(1), 1) == 0]
    assert len(mixed) > 50
    assert (mixed.max(1) >= 0.5 - 1e-6).all()
    with pytest.raises(ValueError, match="value_mix is 2: give a number from 0 to 1"):
        Window(tesuji.game("gomoku6x4"), value_mix=2)


@pytest.mark.parametrize(("mix", "plies"), [(1.0, 1.0), (1.0, 6.0), (0.5, 4.0)])
def test_the_searches_from_a_position_on_are_averaged_up_to_the_outcome(mix, plies):
    game = tesuji.game("ultimate")
    frames = selfplay("ultimate", visits=6, value=0.3, full_share=0.7, fast_visits=3, opening_share=0.5).play(
        positions=1500
    )
    found = records("ultimate", frames)
    assert {record["result"] for record in found} == {-1, 0, 1}
    wanted = {}
    for record in found:
        mean, end = float(record["result"]), record["result"]
        targets = []
        looked = list(zip(record["visits"], record["values"], record["proven"], record["policies"], strict=True))
        for visits, value, proven, policy in reversed(looked):
            if proven is not None:
                mean, end = float(proven), proven
            elif visits:
                mean = value / plies + (1 - 1 / plies) * mean
            share = 0 if proven is not None else mix  # what is proven needs no search
            draw = 1 - abs(mean) if end == 0 else 0
            searched = np.array([1 - draw + mean, 2 * draw, 1 - draw - mean]) / 2
            targets.append((1 - share) * np.eye(3)[1 - end] + share * searched if policy else None)
        for s in range(game.symmetries):
            carried, state = game.permutation(s), game.start()
            for action, target in zip(record["actions"], reversed(targets), strict=True):
                if target is not None:
                    wdl = target if state.to_play == 0 else target[::-1]
                    wanted.setdefault(state.packed().tobytes(), []).append(wdl)
                state = state.play(int(carried[action]))
    window = Window(game, value_mix=mix, value_plies=plies)
    window.append(frames)
    batch = window.sample(300, 3)
    for planes, wdl in zip(batch.planes, batch.wdl, strict=True):
        assert any(np.allclose(wdl, target, atol=1e-5) for target in wanted[planes.tobytes()])
    assert (batch.wdl[:, 1] > 0).any()
    with pytest.raises(ValueError, match="value_plies is 0: give a number from 1 to 1000"):
        Window(game, value_plies=0)
