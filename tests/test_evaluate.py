"""Evaluators: torch, the folded net and ONNX say the same in every game; lanes; the player net."""

import statistics
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from networks import lively, states_of

import tesuji
from tesuji.evaluate import Evaluator, Kernel, OnnxEvaluator, TorchEvaluator, averaged, evaluator
from tesuji.netplayer import shipped
from tesuji.nets import Net, export_onnx, named, save

ARCHITECTURES = {"mosaic": "ultimate", "dual16": "ultimate", "conv3": "gomoku6x4", "zero": "go5"}


def said(net: Net, states: list[tesuji.State]) -> tuple[np.ndarray, np.ndarray]:
    """What the net itself says, batch norm and all."""
    with torch.no_grad():
        answer = net(torch.from_numpy(np.stack([state.planes(net.encoding) for state in states])))
    chances = answer.wdl.softmax(1).numpy()
    return answer.policy.numpy(), chances[:, 0] - chances[:, 2]


def check_agreement(net: Net) -> None:
    states = states_of(net.game, 9)
    policy, value = said(net, states)
    assert np.ptp(policy) > 0.1
    assert np.ptp(value) > 1e-4
    legal = np.zeros(policy.shape, bool)
    for row, state in zip(legal, states, strict=True):
        row[state.legal()] = True
    for made in (OnnxEvaluator(net), TorchEvaluator(net, device="cpu")):
        theirs = made.answer(states)
        # The kernel of small boards says nothing of moves that nobody may play, and computes in whole numbers.
        small = net.encoding == "boards" and isinstance(made, OnnxEvaluator)
        judged = legal if small else np.ones_like(legal)
        assert np.allclose(theirs[0][judged], policy[judged], atol=2e-2 if small else 1e-4)
        assert np.allclose(theirs[1], value, atol=2e-3 if small else 1e-4)
        assert theirs[0].dtype == theirs[1].dtype == np.float32


@pytest.mark.parametrize("name", tesuji.games())
def test_all_ways_to_evaluate_agree(name: str) -> None:
    check_agreement(lively(tesuji.game(name), pooling=2))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_all_ways_to_evaluate_a_studys_network_agree(architecture: str) -> None:
    check_agreement(lively(tesuji.game(ARCHITECTURES[architecture]), architecture, channels=32, blocks=2, seed=3))


def test_onnx_tells_owners_and_margins_too(tmp_path: Path) -> None:
    net = lively(tesuji.game("dots3"))
    export_onnx(net, tmp_path / "net.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    planes = np.stack([state.planes() for state in states_of(net.game, 5)])
    policy, wdl, value, ownership, score = session.run(None, {"planes": planes})
    with torch.no_grad():
        theirs = [part.numpy() for part in net(torch.from_numpy(planes))]
    assert np.allclose(policy, theirs[0], atol=1e-4)
    assert np.allclose(wdl[:, 0] / wdl[:, 2], np.exp(theirs[1][:, 0] - theirs[1][:, 2]), rtol=1e-3)
    assert np.allclose(value, wdl[:, 0] - wdl[:, 2], atol=1e-6)
    assert np.allclose(ownership, np.tanh(theirs[2]), atol=1e-4)
    assert np.allclose(score, theirs[3], atol=1e-3)


def test_int8_says_nearly_the_same() -> None:
    net = lively(tesuji.game("gomoku8"))
    states = states_of(net.game, 40)
    (policy, value), (theirs, values) = said(net, states), OnnxEvaluator(net, precision="int8").answer(states)
    assert np.corrcoef(policy.ravel(), theirs.ravel())[0, 1] > 0.98
    assert np.abs(value - values).max() < 0.1


# ── Lanes ──


@pytest.mark.parametrize("made", [OnnxEvaluator, lambda net: TorchEvaluator(net, device="cpu")])
def test_lanes_keep_their_arrays(made: type[OnnxEvaluator]) -> None:
    """A batch that is no multiple of anything, twice through the same memory; then with other weights."""
    net, other = (lively(tesuji.game("go5"), seed=seed) for seed in (1, 2))
    judge: Evaluator = made(net)
    lane = judge.lane(45)
    where = [array.ctypes.data for array in (lane.planes, lane.policy, lane.value)]
    assert lane.planes.shape == (45, net.game.packed_words())
    assert (lane.policy.shape, lane.value.shape) == ((45, 26), (45,))
    for shift, now in ((0, net), (3, net), (3, other)):
        judge.update(now)
        states = [net.game.random(seed + shift, plies=seed % 20) for seed in range(45)]
        lane.planes[:] = [state.packed() for state in states]
        lane.submit()
        lane.wait()
        policy, value = said(now, states)
        assert np.allclose(lane.policy, policy, atol=1e-4)
        assert np.allclose(lane.value, value, atol=1e-4)
        lane.wait()  # nothing more to wait for
    assert where == [array.ctypes.data for array in (lane.planes, lane.policy, lane.value)]


def test_threads_share_an_evaluator() -> None:
    net = lively(tesuji.game("go5"))
    judge = OnnxEvaluator(net)
    states = [net.game.random(seed, plies=seed % 20) for seed in range(64)]
    policy, _ = said(net, states)
    lanes = [judge.lane(64) for _ in range(4)]

    def work(lane: object) -> None:
        for _ in range(10):
            lane.planes[:] = [state.packed() for state in states]
            lane.submit()
            lane.wait()

    threads = [threading.Thread(target=work, args=(lane,)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for lane in lanes:
        assert np.allclose(lane.policy, policy, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("kernel", ["compiled", "torch"])
@pytest.mark.parametrize("name", ["go9", "dots3"])
def test_a_gpu_says_the_same(name: str, kernel: Kernel) -> None:
    """Two lanes under way at once, a captured graph each; new weights reach the graphs in place."""
    net, other = (lively(tesuji.game(name), pooling=2, seed=seed) for seed in (1, 2))
    for precision, close in (("fp32", 0.02), ("fp16", 0.05), ("bf16", 0.3)):  # fp32 may go through TF32
        judge = TorchEvaluator(net, device="cuda", precision=precision, kernel=kernel)
        lanes = [judge.lane(64), judge.lane(64)]
        for now in (net, other):
            judge.update(now)
            for number, lane in enumerate(lanes):
                lane.planes[:] = [net.game.random(64 * number + i, plies=i % 20).packed() for i in range(64)]
                lane.submit()
            for number, lane in enumerate(lanes):
                lane.wait()
                states = [net.game.random(64 * number + i, plies=i % 20) for i in range(64)]
                policy, value = said(now, states)
                assert np.abs(lane.policy - policy).max() < close
                assert np.abs(lane.value - value).max() < close


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("channels", [32, 64, 128])
@pytest.mark.parametrize("name", ["go9", "go19", "gomoku15", "nogo4", "dots3", "dots5", "ultimate"])
def test_the_fused_kernel_says_the_same(name: str, channels: int) -> None:
    """Also where the last block of threads is not full; new weights reach it in place."""
    if (name, channels) == ("go19", 128):
        pytest.skip("a board of 19×19 with 128 channels does not fit the shared memory")
    net, other = (lively(tesuji.game(name), channels=channels, seed=seed) for seed in (1, 2))
    judge = TorchEvaluator(net, device="cuda")
    assert judge.kernel == "fused"
    states = [net.game.random(i, plies=i % 20) for i in range(101)]
    lane = judge.lane(len(states))
    lane.planes[:] = [state.packed() for state in states]
    for now in (net, other):
        judge.update(now)
        lane.submit()
        lane.wait()
        policy, value = said(now, states)
        assert np.abs(lane.policy - policy).max() < 0.05
        assert np.abs(lane.value - value).max() < 0.05


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_what_cannot_be_fused_says_why() -> None:
    game = tesuji.game("go9")
    for changes, sentence in (({"pooling": 2}, "without pooling"), ({"channels": 40}, "multiple of 16")):
        with pytest.raises(ValueError, match=sentence):
            TorchEvaluator(named(game, "small", **changes), device="cuda", kernel="fused")
    with pytest.raises(ValueError, match="fp16"):
        TorchEvaluator(named(game, "small"), device="cuda", kernel="fused", precision="bf16")


def test_what_an_evaluator_cannot_do_is_refused(tmp_path: Path) -> None:
    game = tesuji.game("go5")
    net = named(game, "tiny", blocks=1)
    export_onnx(net, tmp_path / "net.onnx")
    judge = evaluator(tmp_path / "net.onnx")
    for batch in (0, -1, True, 2.0, 1 << 30):
        with pytest.raises(ValueError, match="batch is"):
            judge.lane(batch)
    with pytest.raises(ValueError, match="a state of go9 cannot be answered by a net for go5"):
        judge.answer([tesuji.game("go9").start()])
    with pytest.raises(ValueError, match="built otherwise"):
        judge.update(named(game, "tiny", blocks=2))
    with pytest.raises(ValueError, match="runs on the CPU"):
        evaluator(tmp_path / "net.onnx", game, "cuda")
    with pytest.raises(ValueError, match="is no net: give a file"):
        evaluator(tmp_path / "net.bin", game)
    with pytest.raises(ValueError, match="there is no device 'abacus'"):
        evaluator(net, game, "abacus")
    with pytest.raises(ValueError, match="does not go with the CPU"):
        evaluator(net, game, "cpu", precision="bf16")
    with pytest.raises(ValueError, match="threads is 0"):
        evaluator(net, game, "cpu", threads=0)
    with pytest.raises(ValueError, match="there is no kernel 'best'"):
        TorchEvaluator(net, device="cpu", kernel="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not go with this net"):
        TorchEvaluator(net, device="cpu", kernel="fused")
    with pytest.raises(ValueError, match="give at least one state"):
        judge.answer([])
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="there is no GPU here"):
            evaluator(net, game, "cuda")


# ── The player ──


@pytest.fixture(scope="module")
def go5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nets")
    torch.manual_seed(1)
    net = named(tesuji.game("go5"), "tiny", blocks=1)
    export_onnx(net, folder / "go5.onnx")
    save(net, folder / "go5.safetensors")
    return folder / "go5.onnx"


def test_the_player_searches_and_keeps_its_tree(go5: Path) -> None:
    game = tesuji.game("go5")
    player = tesuji.player(f"net:{go5},visits=200,leaves=4", game)
    thought = player.think(game.start())
    assert sum(thought.visits.values()) >= 199
    again = player.think(game.start().play(thought.move).play(thought.lines[0].moves[1]))
    assert again.action in game.start().play(thought.move).play(thought.lines[0].moves[1]).legal()
    assert again.seconds < 60
    for text in (f"net:{go5.with_suffix('.safetensors')},visits=5", f"net:{go5},seconds=0.05", f"net:{go5}"):
        assert tesuji.player(text, game).think(game.start()).move in game.start().moves()
    stopped = tesuji.player(f"net:{go5},visits=81,checkpoint=27,share=0", game).think(game.start())
    assert stopped.stop == "share"
    assert 26 <= sum(stopped.visits.values()) <= 28  # leaves come in pairs
    with pytest.raises(ValueError, match="reuse is 2: give 0 or 1"):
        tesuji.player(f"net:{go5},reuse=2", game)
    assert tesuji.player(f"net:{go5},rule=gumbel,visits=50", game).think(game.start()).stop == "visits"


def test_a_search_with_a_net_finds_a_win() -> None:
    """First has three in a row: even an untrained net's search proves it."""
    game = tesuji.game("gomoku6x4")
    net = named(game, "tiny", blocks=1)
    search = tesuji.Search(game, [game.replay("c3 a6 d3 c6 e3 e6")], visits=500)
    judge = OnnxEvaluator(net)
    for leaves in search:
        leaves.answer(*judge.answer_planes(leaves.planes))
    assert search.thoughts()[0].proven == 1


def test_temperature_varies_the_move(go5: Path) -> None:
    game = tesuji.game("go5")
    moves = {
        tesuji.player(f"net:{go5},visits=60,temperature=1", game, seed=s).think(game.start()).move for s in range(8)
    }
    assert len(moves) > 2
    best = {tesuji.player(f"net:{go5},visits=60", game, seed=s).think(game.start()).move for s in range(3)}
    assert len(best) == 1


def test_the_player_can_average_over_symmetries(go5: Path) -> None:
    game = tesuji.game("go5")
    plain, average = (
        tesuji.player(f"net:{go5},visits=2{more}", game).think(game.start()) for more in ("", ",average=1")
    )
    assert len({round(line.prior or 0, 6) for line in average.lines}) < 8  # equal moves have equal priors
    assert len({round(line.prior or 0, 6) for line in plain.lines}) > 8


def test_playing_does_not_import_torch(go5: Path) -> None:
    script = (
        "import sys, tesuji; game = tesuji.game('go5'); "
        f"print(tesuji.player('net:{go5},visits=20', game).think(game.start()).move); "
        "sys.exit('torch' in sys.modules or 'onnx' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("name", ["ultimate", "gomoku8", "dots3", "dots2x3", "go5"])
def test_averaged_answers_do_not_depend_on_how_the_board_is_turned(name: str) -> None:
    """The average of a turned position is the turned average; the net's own answers differ."""
    game = tesuji.game(name)
    judge = OnnxEvaluator(lively(game))
    states = [game.random(seed, plies=5) for seed in range(3)]
    policy, value = averaged(judge, game, np.stack([state.planes() for state in states]))
    assert np.allclose(np.exp(policy).sum(1), 1, atol=0.5)  # logarithms of chances, but for their average
    for symmetry in range(1, game.symmetries):
        turned = np.stack([state.carried(symmetry).planes() for state in states])
        theirs = averaged(judge, game, turned)
        assert np.allclose(theirs[0][:, game.permutation(symmetry)], policy, atol=1e-4)
        assert np.allclose(theirs[1], value, atol=1e-5)
        assert not np.allclose(judge.answer_planes(turned)[1], judge.answer(states)[1], atol=1e-5)


def test_texts_of_the_player_that_are_refused(go5: Path) -> None:
    game = tesuji.game("gomoku3")
    with pytest.raises(ValueError, match="no net ships for gomoku3: train one"):
        tesuji.player("net:visits=400", game)
    with pytest.raises(ValueError, match="no net ships for gomoku3"):
        tesuji.player("net", game)
    with pytest.raises(ValueError, match="no net ships"):
        shipped(game)
    for option in ("reuse", "average", "candidates"):
        with pytest.raises(ValueError, match=f"{option} is 2: give 0 or 1"):
            tesuji.player(f"net:{go5},{option}=2", tesuji.game("go5"))
    with pytest.raises(ValueError, match="is a net for go5, not for gomoku3"):
        tesuji.player(f"net:{go5}", game)
    with pytest.raises(ValueError, match=r"nowhere.onnx cannot be read"):
        tesuji.player("net:nowhere.onnx", game)
    for text, sentence in {
        "net:vizits=3": "net has no option 'vizits'",
        "net:visits=x": "visits of net must be a whole number",
        f"net:{go5},visits=0": "visits is 0",
        f"net:{go5},rule=best": "there is no rule 'best' of net",
        f"net:{go5},temperature=-1": "temperature is -1",
        f"net:{go5},threads=0": "threads is 0",
        f"net:{go5},seconds=0": "seconds is 0",
        f"net:{go5},seconds=-1": "seconds is -1",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            tesuji.player(text, tesuji.game("go5"))


def test_the_player_plans_what_its_seconds_are_worth(go5: Path) -> None:
    """Gumbel shares out a number of visits: the first search feels its way, the next ones use the whole time."""
    game = tesuji.game("go5")
    state, player = game.start(), tesuji.player(f"net:{go5},seconds=0.3", game)
    seconds = []
    for _ in range(5):
        thought = player.think(state)
        seconds.append(thought.seconds)
        assert sum(thought.visits.values()) > 32
        assert thought.stop in ("visits", "seconds")
        state = state.play(thought.action)
    assert 0.2 < statistics.median(seconds) < 0.6  # one of them may have met a busy moment
    hasty = tesuji.player(f"net:{go5}", game)
    assert hasty.think(game.start(), 1e-6).action in game.start().legal()  # type: ignore[call-arg]
    assert 395 < sum(hasty.think(game.start()).visits.values()) < 410  # a limit is of one move alone
    few = tesuji.player(f"net:{go5},seconds=30,visits=40", game).think(game.start())
    assert (sum(few.visits.values()), few.stop) == (39, "visits")
    assert few.seconds < 15


def test_the_rule_of_the_player_suits_its_temperature(go5: Path) -> None:
    """Gumbel looks at sixteen moves in turn; PUCT goes where visits are, which is what a temperature draws by."""
    game = tesuji.game("go5")

    def visits(options: str) -> list[int]:
        return sorted(tesuji.player(f"net:{go5},visits=200{options}", game).think(game.start()).visits.values())

    assert visits("") == visits(",rule=gumbel")
    assert visits(",temperature=0.5,seed=1") == visits(",rule=puct")
    assert visits(",rule=puct") != visits("")
