"""Learning: a net learns by heart, goes on where it was stopped, and refuses what is no number."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from networks import batch_of, lively

import tesuji
from tesuji.nets import named
from tesuji.train import Learner, TrainSettings

QUICK = TrainSettings(rate=3e-3, warmup=5, weight_decay=1e-4)


def learner(name: str = "go5", preset: str = "tiny", settings: TrainSettings = QUICK, **changes: object) -> Learner:
    torch.manual_seed(1)
    return Learner(named(tesuji.game(name), preset, **{"blocks": 1, **changes}), settings, "cpu")


# ── What is learned ──


def test_a_tiny_net_learns_positions_by_heart() -> None:
    """64 positions with targets drawn at random: all heads come close."""
    student = learner(settings=TrainSettings(rate=6e-3, warmup=5, weight_decay=1e-4))
    batch = batch_of(student.net, 64)
    batch.score = np.clip(batch.score, -5, 5)
    first = student.step(batch)
    for _ in range(180):
        last = student.step(batch)
    assert first["policy_loss"] > first["target_entropy"] + 1
    assert last["policy_loss"] < last["target_entropy"] + 0.2
    assert first["value_loss"] == pytest.approx(math.log(3), abs=0.1)
    assert last["value_loss"] < 0.15
    assert last["ownership_loss"] < 0.8 * first["ownership_loss"]
    assert last["score_loss"] < 0.3 * first["score_loss"]
    assert last["accuracy"] > 0.9
    assert student.steps == student.net.step == 181


@pytest.mark.parametrize(("name", "preset"), [("ultimate", "dual16"), ("gomoku6x4", "conv3"), ("go5", "zero")])
def test_the_studies_networks_learn_by_squared_error(name: str, preset: str) -> None:
    student = learner(name, preset, channels=32)
    batch = batch_of(student.net, 16)
    first = student.step(batch)
    for _ in range(40):
        last = student.step(batch)
    assert {"ownership_loss", "score_loss"}.isdisjoint(last)
    assert last["loss"] < 0.9 * first["loss"]
    drawn = SimpleNamespace(**{**vars(batch), "wdl": np.tile(np.float32([0, 1, 0]), (16, 1))})
    assert 0 <= student.step(drawn)["value_loss"] <= 1  # a draw is worth 0, and its loss is finite


def test_losses_are_what_they_say() -> None:
    """Computed a second time, with numpy, from what the net answers."""
    net = lively(tesuji.game("dots3"))
    batch = batch_of(net, 20)
    net.train()
    planes = torch.from_numpy(net.game.unpack(batch.planes))
    with torch.no_grad():
        policy, wdl, ownership, score = (
            part.numpy().astype(float) for part in lively(tesuji.game("dots3")).train()(planes)
        )

    def mean(values: np.ndarray, weights: np.ndarray) -> float:
        return (values * weights).sum() / weights.sum()

    def logs(x: np.ndarray) -> np.ndarray:
        return x - np.log(np.exp(x).sum(1, keepdims=True))

    metrics = Learner(net, QUICK, "cpu").step(batch)
    assert metrics["policy_loss"] == pytest.approx(-(batch.policy * logs(policy)).sum(1).mean(), 1e-3)
    assert metrics["value_loss"] == pytest.approx(-(batch.wdl * logs(wdl)).sum(1).mean(), 1e-3)
    ownable = net.game.ownable().ravel().astype(bool)
    errors = ((np.tanh(ownership) - batch.ownership)[:, ownable] ** 2).mean(1)
    assert metrics["ownership_loss"] == pytest.approx(mean(errors, batch.aux_weight), 1e-3)
    far = np.abs(score - batch.score) / 3  # nine boxes: margins in units of 3
    assert metrics["score_loss"] == pytest.approx(
        mean(np.where(far < 1, far**2 / 2, far - 0.5), batch.aux_weight), 1e-3
    )
    assert metrics["loss"] == pytest.approx(
        metrics["policy_loss"]
        + metrics["value_loss"]
        + QUICK.ownership_weight * metrics["ownership_loss"]
        + QUICK.score_weight * metrics["score_loss"],
        1e-5,
    )


def test_positions_without_weight_teach_nothing() -> None:
    """A batch of fast searches in games that were not played out: no policy, no owners, no margins to learn."""
    student = learner()
    batch = batch_of(student.net, 8)
    batch.policy[:] = batch.aux_weight[:] = 0
    metrics = student.step(batch)
    assert metrics["policy_loss"] == metrics["ownership_loss"] == metrics["score_loss"] == 0
    assert metrics["loss"] == pytest.approx(metrics["value_loss"])


def test_the_average_follows() -> None:
    student = learner(settings=TrainSettings(rate=0.01, warmup=0, average=0.9))
    batch = batch_of(student.net, 8)
    name = "body.trunk.first.conv.weight"
    seen = [student.net.state_dict()[name].clone()]
    for _ in range(30):
        student.step(batch)
        seen.append(student.net.state_dict()[name].clone())
    average = student.averaged().state_dict()[name]
    assert not torch.equal(average, seen[-1])
    assert (average - torch.stack(seen[-10:]).mean(0)).norm() < 0.5 * (average - seen[0]).norm()
    assert student.averaged().step == 30
    plain = learner(settings=TrainSettings(average=0))
    plain.step(batch)
    assert torch.equal(plain.averaged().state_dict()[name], plain.net.state_dict()[name])


# ── Rates ──


def test_rates_rise_and_fall() -> None:
    assert [TrainSettings(rate=1, warmup=3).rate_at(i) for i in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    study = TrainSettings(rate=0.001, warmup=0, decay="step", decay_at=(50, 80))
    assert [study.rate_at(i) for i in (0, 49, 50, 79, 80)] == [0.001, 0.001, 0.0005, 0.0005, 0.00025]
    cosine = TrainSettings(rate=1, warmup=0, decay="cosine", decay_steps=100, floor=0.1)
    assert [cosine.rate_at(i) for i in (0, 50, 100, 500)] == pytest.approx([1, 0.55, 0.1, 0.1])
    by_time = TrainSettings(rate=1, warmup=0, decay="cosine", decay_minutes=10, floor=0.1)
    assert [by_time.rate_at(7, minutes) for minutes in (0, 5, 10, 99)] == pytest.approx([1, 0.55, 0.1, 0.1])
    student = learner(settings=TrainSettings(rate=1e-3, warmup=9))
    assert student.step(batch_of(student.net, 4))["rate"] == pytest.approx(1e-4)


def test_norms_and_biases_do_not_decay() -> None:
    """With nothing to learn only the decay moves weights."""
    student = learner(settings=TrainSettings(rate=0.1, warmup=0, weight_decay=0.1, value_weight=0, average=0))
    batch = batch_of(student.net, 4)
    batch.policy[:] = batch.aux_weight[:] = 0
    before = {name: parameter.detach().clone() for name, parameter in student.net.named_parameters()}
    student.step(batch)
    for name, parameter in student.net.named_parameters():
        kept = 0.99 if parameter.ndim > 1 else 1
        assert torch.allclose(parameter, kept * before[name], rtol=1e-5), name


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rate": -1}, "rate is -1"),
        ({"rate": "fast"}, "rate must be a number, not str"),
        ({"batch": 0}, "batch is 0"),
        ({"average": 1.5}, "average is 1.5"),
        ({"optimizer": "lion"}, "optimizer is 'lion': give adamw or sgd"),
        ({"decay": "linear"}, "decay is 'linear': give constant, cosine or step"),
        ({"precision": "fp8"}, "precision is 'fp8'"),
        ({"clip": math.nan}, "clip is nan"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        TrainSettings(**settings)


# ── What is no number ──


def test_a_loss_that_is_no_number_changes_nothing() -> None:
    student = learner()
    good = batch_of(student.net, 8)
    student.step(good)
    before = student.state()
    bad = SimpleNamespace(**{**vars(good), "policy": good.policy * np.nan})
    assert math.isnan(student.step(bad)["loss"])
    assert (student.steps, student.refused) == (1, 1)
    # Planes may hold it too (a scalar): then batch norm's statistics must come back.
    mad = SimpleNamespace(**{**vars(good), "planes": good.planes.copy()})
    mad.planes[:, -1] = 0x7FC000007FC00000
    student.step(mad)
    assert student.refused == 2
    after = student.state()
    assert all(torch.equal(before["net"][name], after["net"][name]) for name in before["net"] if "tracked" not in name)
    assert math.isfinite(student.step(good)["loss"])
    for _ in range(4):
        student.step(bad)
    with pytest.raises(ArithmeticError, match="no finite number in 5 steps in a row"):
        student.step(bad)


# ── To stop and go on ──


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_learner_goes_on_as_if_it_had_not_been_stopped(
    optimizer: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bit by bit, through a file."""
    settings = TrainSettings(optimizer=optimizer, rate=0.01, warmup=5, decay="cosine", decay_steps=20)
    student = learner(settings=settings)
    batches = [batch_of(student.net, 8, seed) for seed in range(10)]
    for batch in batches[:5]:
        student.step(batch)
    path = tmp_path_factory.mktemp("state") / "state.pt"
    torch.save(student.state(), path)
    torch.manual_seed(99)
    other = Learner(named(student.net.game, "tiny", blocks=1), settings, "cpu")
    other.restore(torch.load(path, weights_only=True))
    for batch in batches[5:]:
        assert student.step(batch) == other.step(batch)
    assert other.steps == 10
    for one, two in ((student.net, other.net), (student.averaged(), other.averaged())):
        assert all(map(torch.equal, one.state_dict().values(), two.state_dict().values()))


def test_a_state_is_a_copy_and_must_fit() -> None:
    student = learner()
    batch = batch_of(student.net, 4)
    student.step(batch)
    state = student.state()
    before = state["net"]["body.trunk.first.conv.weight"].clone()
    student.step(batch)
    assert torch.equal(state["net"]["body.trunk.first.conv.weight"], before)
    with pytest.raises(ValueError, match="belongs to another net"):
        learner(channels=8).restore(state)
    with pytest.raises(ValueError, match="belongs to another net"):
        student.restore({})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("compiled", [False, True])
def test_a_gpu_learns_too(compiled: bool) -> None:
    student = Learner(named(tesuji.game("go9"), "tiny"), TrainSettings(warmup=5, rate=3e-3, compile=compiled), "cuda")
    batch = batch_of(student.net, 64)
    first = student.step(batch)
    for _ in range(60):
        last = student.step(batch)
    assert last["loss"] < 0.7 * first["loss"]
    again = Learner(named(tesuji.game("go9"), "tiny"), student.settings, "cuda")
    again.restore(student.state())
    assert again.step(batch)["loss"] == pytest.approx(student.step(batch)["loss"], rel=0.05)
