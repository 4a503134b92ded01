"""Our own kernel on the CPU says what torch says, on boards of every size; the rest is left to ONNX Runtime."""

import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from networks import lively, states_of

import tesuji
from tesuji import _core
from tesuji.evaluate import OnnxEvaluator, evaluator
from tesuji.fastnet import fast_net
from tesuji.netplayer import shipped
from tesuji.nets import Net, NetSettings, export_onnx, onnx_bytes

SIZES = {"tiny": (32, 16, 16), "small": (64, 32, 32), "wide": (128, 32, 32), "uneven": (48, 24, 8)}


def built(name: str, size: str = "tiny", **more: int) -> Net:
    channels, policy, value = SIZES[size]
    return lively(
        tesuji.game(name), channels=channels, policy_channels=policy, value_channels=value, value_hidden=24, **more
    )


def said(net: Net, states: list[tesuji.State]) -> tuple[np.ndarray, np.ndarray]:
    with torch.no_grad():
        answer = net(torch.from_numpy(np.stack([state.planes(net.encoding) for state in states])))
    chances = answer.wdl.softmax(1).numpy()
    return answer.policy.numpy(), chances[:, 0] - chances[:, 2]


@pytest.mark.parametrize("name", tesuji.games())
def test_it_says_what_torch_says_in_every_game(name: str) -> None:
    net = built(name)
    states = states_of(net.game, 9)
    judge = OnnxEvaluator(net, kernel="fused")
    for ours, theirs in zip(judge.answer(states), said(net, states), strict=True):
        assert np.ptp(theirs) > 1e-4
        assert np.abs(ours - theirs).max() < 1e-4


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("blocks", [0, 1, 3])
def test_it_takes_nets_of_every_size(size: str, blocks: int) -> None:
    net = built("go7", size, blocks=blocks)
    states = states_of(net.game, 23)
    for ours, theirs in zip(OnnxEvaluator(net, kernel="fused").answer(states), said(net, states), strict=True):
        assert np.abs(ours - theirs).max() < 2e-4


@pytest.mark.parametrize("name", ["ultimate", "ultimate-count"])
@pytest.mark.parametrize(("channels", "hidden", "last"), [(64, 512, 32), (16, 32, 48), (48, 96, 16)])
def test_a_mosaic_says_what_torch_says(name: str, channels: int, hidden: int, last: int) -> None:
    net = lively(tesuji.game(name), "mosaic", channels=channels, value_hidden=hidden, value_channels=last)
    states = states_of(net.game, 81)
    policy, value = OnnxEvaluator(net, kernel="fused").answer(states)
    logits, worth = said(net, states)
    assert np.ptp(worth) > 1e-2
    assert np.abs(value - worth).max() < 2e-3  # it computes in whole numbers of 16 bits
    for state, ours, theirs in zip(states, policy, logits, strict=True):
        boards = state.planes("boards")[2].reshape(-1) > 0  # of boards that one may play in: taken cells too
        assert set(state.legal()) <= set(np.flatnonzero(boards))
        assert np.abs(ours - theirs)[boards].max(initial=0) < 2e-2
        assert not ours[~boards].any(), "what nobody may play has no opinion"
    assert np.ptp(policy) > 1e-1


def test_rows_of_a_mosaic_are_the_same_whoever_meets_them_first() -> None:
    """Cases are worked out when they are met: by many threads at once, in any order."""
    net = lively(tesuji.game("ultimate"), "mosaic", channels=16, value_hidden=64)
    states = [state for seed in range(40) for state in states_of(net.game, 81 - seed)]
    packed = np.stack([state.packed(net.encoding) for state in states])
    judge = OnnxEvaluator(net, kernel="fused")
    assert judge.core is not None
    found: list[np.ndarray] = []

    def ask(seed: int) -> None:
        assert judge.core is not None
        order = np.random.default_rng(seed).permutation(len(packed))
        policy, value = np.empty((len(packed), 81), np.float32), np.empty(len(packed), np.float32)
        judge.core.answer_packed(net.game, net.encoding, packed[order], policy, value)
        found.append(np.column_stack([policy, value])[np.argsort(order)])

    crew = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    assert len(found) == 6
    assert all(np.array_equal(found[0], other) for other in found)


def test_planes_of_no_board_do_no_harm() -> None:
    judge = OnnxEvaluator(lively(tesuji.game("ultimate"), "mosaic"), kernel="fused")
    for wrong in (1.0, -5.0, 1e30, np.inf, np.nan):
        policy, value = judge.answer_planes(np.full((2, 3, 9, 9), wrong, np.float32))
        assert np.isfinite(policy).all()
        assert (np.abs(value) <= 1).all()


@pytest.mark.parametrize("name", ["go7", "ultimate"])
def test_packed_planes_have_the_same_answers(name: str) -> None:
    net = lively(tesuji.game(name), "mosaic") if name == "ultimate" else built(name)
    states = states_of(net.game, 70)
    judge = OnnxEvaluator(net)
    lane = judge.lane(len(states))
    lane.planes[:] = np.stack([state.packed(net.encoding) for state in states])
    lane.submit()
    lane.wait()
    for ours, theirs in zip((lane.policy, lane.value), judge.answer(states), strict=True):
        assert np.array_equal(ours, theirs)
    assert judge.core is not None
    with pytest.raises(ValueError, match="do not fit the net"):
        judge.core.answer_packed(net.game, net.encoding, lane.planes[:3].copy(), lane.policy, lane.value)


@pytest.mark.parametrize("name", ["gomoku8", "ultimate"])
def test_a_position_has_one_answer_whoever_asks_with_it(name: str) -> None:
    """Alone, among others, by several threads: the same to the last bit."""
    net = lively(tesuji.game(name), "mosaic") if name == "ultimate" else built(name)
    states = states_of(net.game, 41)
    alone = OnnxEvaluator(net)
    assert alone.kernel == "fused"
    policy, value = alone.answer(states)
    for i in (0, 17, 40):
        one = alone.answer([states[i]])
        assert np.array_equal(one[0][0], policy[i])
        assert one[1][0] == value[i]
    shared = OnnxEvaluator(net, threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(shared.answer(states), (policy, value), strict=True))
    seen: list[bool] = []

    def ask() -> None:
        for count in (41, 1, 7):
            seen.append(np.array_equal(alone.answer(states[:count])[0], policy[:count]))

    crew = [threading.Thread(target=ask) for _ in range(4)]
    for one_thread in crew:
        one_thread.start()
    for one_thread in crew:
        one_thread.join()
    assert seen == [True] * 12


def test_nets_that_ship_use_it() -> None:
    for name in ("ultimate", "gomoku15", "dots5", "go9"):
        game = tesuji.game(name)
        ours, theirs = (evaluator(shipped(game), game, kernel=kernel) for kernel in ("auto", "onnx"))
        assert (ours.kernel, theirs.kernel) == ("fused", "onnx")  # type: ignore[attr-defined]
        states = states_of(game, 12)
        for a, b in zip(ours.answer(states), theirs.answer(states), strict=True):
            assert np.abs(a - b).max() < 1e-3


def test_new_weights_take_effect() -> None:
    net, other = built("go5", seed=1), built("go5", seed=2)
    judge = OnnxEvaluator(net, kernel="fused")
    states = states_of(net.game, 5)
    judge.update(other)
    assert np.abs(judge.answer(states)[0] - said(other, states)[0]).max() < 1e-4


@pytest.mark.parametrize(
    ("net", "precision", "reason"),
    [
        (lambda: lively(tesuji.game("go5"), pooling=1), "fp32", "without pooling"),
        (lambda: lively(tesuji.game("go5"), "zero", channels=16, blocks=1), "fp32", "architectures residual"),
        (lambda: lively(tesuji.game("ultimate"), "mosaic", channels=20), "fp32", "its units do not fit"),
        (lambda: lively(tesuji.game("go5"), channels=20), "fp32", "its channels do not fit"),
        (lambda: lively(tesuji.game("go5"), policy_channels=5), "fp32", "its heads do not fit"),
        (lambda: built("go5"), "int8", "8 bits"),
    ],
)
def test_what_it_does_not_take_is_left_to_onnx_runtime(net: object, precision: str, reason: str) -> None:
    made = net()  # type: ignore[operator]
    with pytest.raises(ValueError, match=f"the kernel fused does not go with this net: .*{reason}"):
        OnnxEvaluator(made, precision=precision, kernel="fused")  # type: ignore[arg-type]
    judge = OnnxEvaluator(made, precision=precision)  # type: ignore[arg-type]
    assert judge.kernel == "onnx"
    states = states_of(made.game, 3)
    assert np.abs(judge.answer(states)[0] - said(made, states)[0]).max() < 0.5


def test_a_kernel_that_is_none_is_refused(tmp_path: Path) -> None:
    net = built("go5")
    with pytest.raises(ValueError, match="the kernel 'compiled' does not go with the CPU: give auto, fused or onnx"):
        OnnxEvaluator(net, kernel="compiled")
    export_onnx(net, tmp_path / "net.onnx")
    assert evaluator(tmp_path / "net.onnx", kernel="onnx").kernel == "onnx"  # type: ignore[attr-defined]


def test_files_cut_short_or_changed_are_no_trouble() -> None:
    """Whatever a file holds, the answer is a net or a reason."""
    net = built("go5")
    content, chance = onnx_bytes(net), np.random.default_rng(1)
    for _ in range(300):
        spoilt = bytearray(content[: int(chance.integers(1, len(content)))])
        for at in chance.integers(0, len(spoilt), 3):
            spoilt[at] = int(chance.integers(256))
        assert isinstance(fast_net(bytes(spoilt), net.info, net.game), str | _core.ResidualNet)


def test_the_core_refuses_what_does_not_fit() -> None:
    net = built("go5")
    made = fast_net(onnx_bytes(net), net.info, net.game)
    assert isinstance(made, _core.ResidualNet)
    planes = np.zeros((2, net.planes, 5, 5), np.float32)
    for shapes in (((1, 26), 2), ((2, 25), 2), ((2, 26), 1)):
        with pytest.raises(ValueError, match="do not fit the net"):
            made.answer(planes, np.zeros(shapes[0], np.float32), np.zeros(shapes[1], np.float32))
    with pytest.raises(ValueError, match="the weights do not fit the shape: number 0"):
        _core.ResidualNet(
            rows=5,
            cols=5,
            planes=3,
            channels=16,
            blocks=0,
            policy=8,
            value=8,
            hidden=4,
            off_board=0,
            order=[],
            weights=[],
        )


def test_settings_in_a_file_that_no_net_can_have() -> None:
    net = Net(tesuji.game("go5"), NetSettings(channels=16, blocks=1, policy_channels=8, value_channels=8), seed=1)
    content = onnx_bytes(net)
    for key, value in (("channels", -16), ("blocks", 10**6), ("value_hidden", "many"), ("policy_channels", 24)):
        info = net.info
        info.settings[key] = value
        assert isinstance(fast_net(content, info, net.game), str)
