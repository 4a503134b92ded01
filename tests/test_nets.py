"""Nets: shapes and layouts in every game, batch norm folded, files that come back, and files that are refused."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from networks import lively, states_of

import tesuji
from tesuji import onnxfile
from tesuji.evaluate import OnnxEvaluator
from tesuji.nets import PRESETS, Net, NetSettings, Unpack, export_onnx, load, named, save

GAMES = tesuji.games()
every_game = pytest.mark.parametrize("name", GAMES)
ARCHITECTURES = {"residual": "go5", "mosaic": "ultimate", "dual16": "ultimate", "conv3": "nogo5", "zero": "go5"}


def planes_of(net: Net, count: int = 6) -> torch.Tensor:
    return torch.from_numpy(np.stack([state.planes(net.encoding) for state in states_of(net.game, count)]))


# ── Shapes and layouts ──


@every_game
def test_answers_have_the_shapes_of_the_game(name: str) -> None:
    game = tesuji.game(name)
    net = named(game, "tiny").eval()
    policy, wdl, ownership, score = net(planes_of(net, 3))
    assert policy.shape == (3, game.actions)
    assert wdl.shape == (3, 3)
    assert (ownership is not None) == game.owned
    assert ownership is None or ownership.shape == (3, game.rows * game.cols)
    assert (score is not None) == game.scored
    assert score is None or score.shape == (3,)
    assert policy.std() < 0.2, "an untrained net has next to no opinion"


@pytest.mark.parametrize("name", ["ultimate", "gomoku6x4", "dots3", "go5"])
def test_an_actions_logit_stands_at_its_cell(name: str) -> None:
    """A net without borders to feel: one 1×1 look at one plane. What moves a cell's logit is that cell alone."""
    game = tesuji.game(name)
    net = lively(game, blocks=0).folded()
    with torch.no_grad():
        kernel = net.body.trunk.first.conv.weight
        centre = kernel[:, :, 1, 1].clone()
        kernel.zero_()
        kernel[:, :, 1, 1] = centre
    blank = torch.zeros(1, net.planes, game.rows, game.cols)
    for action in range(0, game.actions, 5):
        cell = game.locate(action)
        if cell is None:
            continue
        marked = blank.clone()
        marked[0, :, cell // game.cols, cell % game.cols] = 2
        moved = (net(marked).policy - net(blank).policy)[0].abs()
        on_board = [a for a in range(game.actions) if game.locate(a) is not None]
        assert [a for a in on_board if moved[a] > 1e-6] == [action]


def test_a_pass_is_judged_from_the_whole_board() -> None:
    game = tesuji.game("go5")
    net = lively(game)
    x = planes_of(net, 1)
    passed = net(x).policy[0, game.parse("pass")]
    x[0, 0, 4, 4] += 1
    assert net(x).policy[0, game.parse("pass")] != passed


def test_pooling_sees_the_whole_board() -> None:
    """Two blocks reach five cells far; with pooling the other corner is felt."""
    game = tesuji.game("go13")
    for pooling, felt in ((0, False), (1, True)):
        net = lively(game, blocks=1, pooling=pooling).folded()
        x = torch.zeros(1, net.planes, 13, 13)
        before = net.body.trunk(x)[0, :, 12, 12]
        x[0, :, 0, 0] = 5
        assert bool((net.body.trunk(x)[0, :, 12, 12] != before).any()) == felt


def test_presets() -> None:
    assert (PRESETS["small"].channels, PRESETS["small"].blocks) == (64, 4)
    assert (PRESETS["medium"].channels, PRESETS["medium"].blocks) == (64, 6)
    game = tesuji.game("go9")
    assert named(game, "small").describe() == (
        "residual 64×4 for go9 (tesuji, 15 planes): 313,479 parameters, 49.9 MFLOP a position"
    )
    assert named(game, "tiny", blocks=1).settings.blocks == 1


def test_the_studies_networks() -> None:
    """Their sizes, counted by hand from what the papers say, and the planes that they showed."""
    net = named(tesuji.game("nogo9"), "conv3")
    assert (net.encoding, net.planes, net.scalar_value) == ("paper", 4, True)
    trunk = 4 * 32 * 9 + 32 + 32 * 64 * 9 + 64 + 64 * 128 * 9 + 128
    policy, value = 128 * 4 + 4 + 324 * 81 + 81, 128 * 2 + 2 + 162 * 64 + 64 + 64 + 1
    assert net.parameter_count() == trunk + policy + value
    assert named(tesuji.game("gomoku8"), "conv3").planes == 2
    assert named(tesuji.game("go9"), "zero").planes == 7
    dual = named(tesuji.game("ultimate"), "dual16")
    assert (dual.planes, dual.settings.blocks) == (2, 16)
    assert named(tesuji.game("dots3"), "dual16").encoding == "tesuji"  # no paper's encoding there


def test_a_mosaic_sees_each_small_board_by_itself() -> None:
    game = tesuji.game("ultimate")
    net = lively(game, "mosaic")
    assert (net.encoding, net.planes, net.scalar_value) == ("boards", 3, False)
    blank = torch.zeros(1, 3, 9, 9)
    marked = blank.clone()
    marked[0, 0, 4, 7] = 1  # in the small board at the right, in the middle
    moved = (net.body.tell(torch.relu(net.body.look(marked))) - net.body.tell(torch.relu(net.body.look(blank))))[0]
    assert [tuple(board) for board in torch.nonzero(moved.abs().amax(0) > 1e-6).tolist()] == [(1, 2)]
    assert (net(marked).policy != net(blank).policy).all()  # all of it bears on every move
    owners = net(marked).ownership.reshape(3, 3, 3, 3)
    assert (owners == owners[:, :1, :, :1]).all(), "a small board has one owner"


def test_a_mosaic_is_for_small_boards_alone() -> None:
    for name in ("go9", "dots3"):
        with pytest.raises(ValueError, match=f"mosaic is for boards of small boards .* not for {name}"):
            named(tesuji.game(name), "mosaic")
    with pytest.raises(ValueError, match="and the encoding boards"):
        Net(tesuji.game("ultimate"), PRESETS["mosaic"])


def test_a_scalar_value_is_a_tanh() -> None:
    net = lively(tesuji.game("nogo5"), "conv3")
    wdl = net(planes_of(net)).wdl
    chances = wdl.softmax(1)
    assert torch.allclose(chances[:, 0] - chances[:, 2], torch.tanh(wdl[:, 0]), atol=1e-6)
    assert chances[:, 1].max() < 1e-6


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"channels": 0}, "channels is 0"),
        ({"blocks": 1.5}, "blocks must be a whole number, not float"),
        ({"pooling": True}, "pooling must be a whole number, not bool"),
        ({"architecture": "vgg"}, "there is no architecture 'vgg'"),
        ({"chanels": 3}, "a net has no setting 'chanels'"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        named(tesuji.game("go5"), "tiny", **changes)


def test_unknown_nets_and_encodings_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no net 'smal': did you mean small"):
        named(tesuji.game("go5"), "smal")
    with pytest.raises(ValueError, match="no encoding 'mine'"):
        Net(tesuji.game("go5"), NetSettings(), "mine")


# ── Folding and unpacking ──


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_folding_changes_nothing(architecture: str) -> None:
    game = tesuji.game(ARCHITECTURES[architecture])
    name = "tiny" if architecture == "residual" else architecture
    net = lively(game, name, channels=16, blocks=3, pooling=2)
    folded = net.folded()
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in folded.modules())
    assert not any(parameter.requires_grad for parameter in folded.parameters())
    for ours, theirs in zip(net(planes_of(net)), folded(planes_of(net)), strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or torch.allclose(ours, theirs, atol=1e-4)


@every_game
def test_planes_unpack_as_in_the_core(name: str) -> None:
    game = tesuji.game(name)
    for encoding in game.encodings:
        packed = np.stack([state.packed(encoding) for state in states_of(game, 7)])
        planes = Unpack(game, encoding)(*Unpack.views(torch.from_numpy(packed.view(np.int64))))
        assert np.array_equal(planes.numpy(), game.unpack(packed, encoding))
        assert planes.is_contiguous(memory_format=torch.channels_last)


# ── Files ──


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_net_comes_back_from_its_file(architecture: str, tmp_path: Path) -> None:
    game = tesuji.game(ARCHITECTURES[architecture])
    net = lively(game, "tiny" if architecture == "residual" else architecture, channels=16, blocks=2)
    net.step = 1234
    save(net, tmp_path / "net.safetensors", {"note": "für später"})
    again = load(tmp_path / "net.safetensors", game)
    assert again.info == net.info
    assert (again.step, again.extra) == (1234, {"note": "für später"})
    assert not again.training
    x = planes_of(net)
    assert torch.equal(again(x).policy, net(x).policy)
    assert [path.name for path in tmp_path.iterdir()] == ["net.safetensors"]
    assert load(tmp_path / "net.safetensors").game.name == game.name


def rewritten(path: Path, change: Callable[[dict[str, str]], object]) -> None:
    """The same safetensors file with other metadata: 8 bytes of length, a header in JSON, then the weights."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    change(header["__metadata__"])
    words = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(words)) + words + content[8 + length :])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: m.update(format="other"), "is no net of Tesuji"),
        (lambda m: m.clear(), "is no net of Tesuji"),
        (lambda m: m.update(format_version="99"), "has format version 99: this Tesuji reads version 1"),
        (lambda m: m.update(game="chess"), "is a net for 'chess', a game that is not here"),
        (lambda m: m.update(game_version="77"), "was made for version 77 of go5"),
        (lambda m: m.update(encoding="other"), "wants the encoding 'other'"),
        (lambda m: m.update(encoding="paper"), "is for 15 planes and 26 actions, but go5 has 7 and 26"),
        (lambda m: m.update(actions="5"), "is for 15 planes and 5 actions"),
        (lambda m: m.update(actions="five"), "is damaged"),
        (lambda m: m.pop("step"), "is damaged"),
        (lambda m: m.update(settings="[]"), "is damaged"),
        (lambda m: m.update(settings='{"channels": -5}'), "has settings that no net can have"),
        (lambda m: m.update(settings='{"color": "red"}'), "has settings that no net can have"),
        (
            lambda m: m.update(settings=m["settings"].replace('"channels": 32', '"channels": 8')),
            "is damaged: its weights",
        ),
    ],
)
def test_a_net_that_does_not_fit_is_refused(
    change: Callable[[dict[str, str]], object], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.safetensors"
    save(named(tesuji.game("go5"), "tiny", blocks=1), path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=sentence) as refusal:
        load(path)
    assert "\n" not in str(refusal.value)


def test_a_net_for_another_game_is_refused(tmp_path: Path) -> None:
    net = named(tesuji.game("go5"), "tiny", blocks=1)
    save(net, tmp_path / "net.safetensors")
    export_onnx(net, tmp_path / "net.onnx")
    with pytest.raises(ValueError, match="is a net for go5, not for go9"):
        load(tmp_path / "net.safetensors", tesuji.game("go9"))
    with pytest.raises(ValueError, match="is a net for go5, not for go9"):
        OnnxEvaluator(tmp_path / "net.onnx", tesuji.game("go9"))
    load(tmp_path / "net.safetensors", tesuji.game("go5", komi=0.5))  # komi is something that it sees


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "other"}, "is no net of Tesuji"),
        ({"game_version": "77"}, "was made for version 77 of go5"),
        ({"encoding": "other"}, "wants the encoding 'other'"),
        ({"channels": "7", "encoding": "paper"}, "is damaged: its planes do not have the shape"),
        ({"game": "go7", "actions": "50"}, "is damaged: its planes do not have the shape"),
    ],
)
def test_an_onnx_file_that_does_not_fit_is_refused(changes: dict[str, str], sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    export_onnx(named(tesuji.game("go5"), "tiny", blocks=1), path)
    model = onnx.load(path)
    words = {part.key: part.value for part in model.metadata_props} | changes
    onnx.helper.set_model_props(model, words)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=sentence):
        OnnxEvaluator(path)


@pytest.mark.parametrize("kind", ["safetensors", "onnx"])
def test_truncated_and_other_files_are_refused(kind: str, tmp_path: Path) -> None:
    net, path = named(tesuji.game("go5"), "tiny", blocks=1), tmp_path / f"net.{kind}"
    open_it: Callable[[Path], object] = load if kind == "safetensors" else OnnxEvaluator
    (save if kind == "safetensors" else export_onnx)(net, path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:100], whole[:-1], b"", b"something else\n" * 50, b"\0" * 1000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is no net of Tesuji|is damaged") as refusal:
            open_it(path)
        assert "\n" not in str(refusal.value)
    path.unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        open_it(path)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    net = named(tesuji.game("go5"), "tiny", blocks=1)
    with torch.no_grad():
        net.body.value.bias[1] = torch.nan
    save(net, tmp_path / "net.safetensors")
    with pytest.raises(ValueError, match="holds what is no number"):
        load(tmp_path / "net.safetensors")


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.safetensors"
    save(named(tesuji.game("go5"), "tiny", blocks=1), path, {"number": 1})

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk"):
        save(named(tesuji.game("go5"), "tiny", blocks=1), path, {"number": 2})
    assert load(path).extra == {"number": 1}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_onnx_file_can_be_learned_on_from(architecture: str, tmp_path: Path) -> None:
    """It says the same as before, and its norms know what they will meet."""
    net = lively(tesuji.game(ARCHITECTURES[architecture]), "tiny" if architecture == "residual" else architecture)
    net.step = 7
    export_onnx(net, tmp_path / "net.onnx")
    again = onnxfile.read(tmp_path / "net.onnx", net.game)
    assert (again.step, again.settings, again.training) == (7, net.settings, False)
    planes = planes_of(net)
    with torch.no_grad():
        for ours, theirs in zip(again(planes), net(planes), strict=True):
            assert (ours is None) == (theirs is None)
            assert ours is None or torch.allclose(ours, theirs, atol=1e-3)
    assert {name for name, _ in again.named_parameters()} == {name for name, _ in net.named_parameters()}
    for module in again.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            assert torch.allclose(module.weight**2, module.running_var + module.eps)


def test_onnx_files_that_cannot_be_learned_on_from(tmp_path: Path) -> None:
    net = lively(tesuji.game("go5"))
    export_onnx(net, tmp_path / "small.onnx", "int8")
    (tmp_path / "other.onnx").write_bytes(b"something else")
    for name, sentence in (
        ("small", "8 bits is for playing alone"),
        ("other", "no net of Tesuji"),
        ("nowhere", "cannot be read"),
    ):
        with pytest.raises(ValueError, match=sentence):
            onnxfile.read(tmp_path / f"{name}.onnx")


def test_onnx_files_of_half_the_size(tmp_path: Path) -> None:
    net = lively(tesuji.game("go5"))
    export_onnx(net, tmp_path / "whole.onnx")
    export_onnx(net, tmp_path / "half.onnx", "fp16")
    sizes = [(tmp_path / name).stat().st_size for name in ("whole.onnx", "half.onnx")]
    assert sizes[1] < 0.6 * sizes[0]
    states = states_of(net.game, 20)
    whole, half = (OnnxEvaluator(tmp_path / name).answer(states) for name in ("whole.onnx", "half.onnx"))
    assert np.allclose(whole[0], half[0], atol=0.02)
    assert np.allclose(whole[1], half[1], atol=0.01)
    with pytest.raises(ValueError, match="there is no precision 'fp8'"):
        export_onnx(net, tmp_path / "x.onnx", "fp8")
