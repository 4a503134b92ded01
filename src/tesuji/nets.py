"""Networks: what sees a position's planes and answers with a policy and a value, in torch.

A net is a trunk of convolutions and heads. Ours are ``residual`` and, for boards of small boards, ``mosaic``, a hundred
times as fast on a CPU; ``dual16``, ``conv3`` and ``zero`` are the networks of the studies with their own heads. The
policy head is laid out by ``game.locate``, so that one net fits every game: an action's logit stands at its cell, and
what is off the board (a pass) is judged from the whole position.

Shapes: n positions, C planes, H × W cells.
"""

import copy
import difflib
import math
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own custom)

from tesuji._core import Game
from tesuji.checks import check_numbers
from tesuji.netinfo import NetInfo, policy_layout
from tesuji.records import write_safely

__all__ = [
    "PRESETS",
    "Answer",
    "Net",
    "NetSettings",
    "Unpack",
    "built",
    "encoding_for",
    "export_onnx",
    "load",
    "named",
    "onnx_bytes",
    "preset",
    "save",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetSettings:
    """How a net is built."""

    architecture: Literal["residual", "mosaic", "dual16", "conv3", "zero"] = "residual"
    """Ours, for every game or for boards of small boards; or a study's: U's dual network, the three convolutions of G
    and N, W's net in the style of AlphaGo Zero."""
    channels: int = 64
    """Of the trunk (conv3: of its last convolution; mosaic: what is told of a small board)."""
    blocks: int = 6
    """Residual blocks (conv3 and mosaic have none)."""
    pooling: int = 0
    """residual: in every so many-th block means and maxima of some channels bias the others; 0: in none."""
    policy_channels: int = 32
    """residual: of the policy head."""
    value_channels: int = 32
    """residual: of the value head before it is pooled."""
    value_hidden: int = 64
    """residual: units of the value head's hidden layer; mosaic: units that look at all small boards."""

    def __post_init__(self) -> None:
        if self.architecture not in _BUILDERS:
            raise ValueError(f"there is no architecture {self.architecture!r}: there are {', '.join(_BUILDERS)}")
        bounds = {
            "channels": (4, 4096),
            "blocks": (0, 1000),
            "pooling": (0, 1000),
            "policy_channels": (1, 4096),
            "value_channels": (1, 4096),
            "value_hidden": (1, 65536),
        }
        check_numbers(self, bounds, whole=True)


class Answer(NamedTuple):
    """What a net says of n positions, all from the mover's side."""

    policy: Tensor  # [n, actions] logits
    wdl: Tensor  # [n, 3] logits of win, draw, loss
    ownership: Tensor | None  # [n, H·W] logits; tanh: +1 the mover's … −1 the other's. None where the game has none
    score: Tensor | None  # [n] the mover's margin; None where the game has none


# ── Parts ──


class ConvNorm(nn.Module):
    """A convolution that keeps the board's size, and batch norm, which folds into it for evaluation."""

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        self.norm: nn.BatchNorm2d | None = nn.BatchNorm2d(outputs)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return x if self.norm is None else self.norm(x)

    def fold(self) -> None:
        """Puts the norm, with the statistics it has now, into the convolution."""
        norm = self.norm
        if norm is None or norm.running_mean is None or norm.running_var is None:
            return
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        self.conv.weight = nn.Parameter(self.conv.weight * scale[:, None, None, None])
        self.conv.bias = nn.Parameter(norm.bias - norm.running_mean * scale)
        self.norm = None


def pooled(x: Tensor) -> Tensor:
    """[n, c, H, W] → [n, 2c, 1, 1]: mean and maximum of each channel."""
    return torch.cat([torch.mean(x, dim=(2, 3), keepdim=True), torch.amax(x, dim=(2, 3), keepdim=True)], dim=1)


class Block(nn.Module):
    """A residual block: two convolutions beside a straight way."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, 3)
        self.second = ConvNorm(channels, channels, 3)
        _begin_at_zero(self.second)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(F.relu(self.first(x))))


class PoolingBlock(nn.Module):
    """A residual block in which a quarter of the channels is pooled over the board and biases the others."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pooled = channels // 4
        self.others = channels - self.pooled
        self.first = ConvNorm(channels, channels, 3)
        self.bias = nn.Conv2d(2 * self.pooled, self.others, 1)
        self.second = ConvNorm(self.others, channels, 3)
        _begin_at_zero(self.second)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        seen = pooled(F.relu(torch.narrow(y, 1, 0, self.pooled)))
        y = F.relu(torch.narrow(y, 1, self.pooled, self.others) + self.bias(seen))
        return F.relu(x + self.second(y))


def _begin_at_zero(last: ConvNorm) -> None:
    """A new block passes on what it gets: deep nets then learn from the start."""
    assert last.norm is not None
    nn.init.zeros_(last.norm.weight)


class Trunk(nn.Module):
    """A convolution and residual blocks: what all heads look at."""

    def __init__(self, planes: int, settings: NetSettings) -> None:
        super().__init__()
        self.first = ConvNorm(planes, settings.channels, 3)
        every = settings.pooling
        self.blocks = nn.Sequential(
            *(
                PoolingBlock(settings.channels) if every and (i + 1) % every == 0 else Block(settings.channels)
                for i in range(settings.blocks)
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.blocks(F.relu(self.first(x))))


class ScalarValue(nn.Module):
    """One number x for a value of tanh x, as the studies have it, in the form of win, draw and loss logits."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.value = nn.Linear(inputs, 1)
        # Logits (x, −30, −x): P(win) − P(loss) = tanh x, and no draws.
        self.spread = nn.Linear(1, 3)
        self.spread.weight = nn.Parameter(torch.tensor([[1.0], [0.0], [-1.0]]), requires_grad=False)
        self.spread.bias = nn.Parameter(torch.tensor([0.0, -30.0, 0.0]), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.spread(self.value(x)))


# ── Architectures: planes → Answer ──

_SMALL = 3  # cells across a small board


class Residual(nn.Module):
    """Ours: heads that fit every game by `locate`, with ownership and score where the game has them."""

    scalar_value = False

    def __init__(self, game: Game, planes: int, settings: NetSettings) -> None:
        super().__init__()
        self.trunk = Trunk(planes, settings)
        c, hidden = settings.channels, settings.value_hidden
        # Policy: a logit a cell, then one for each action off the board; `order` picks an action's among them.
        cells = game.rows * game.cols
        order, off_board = policy_layout(game)
        self.policy_features = ConvNorm(c, settings.policy_channels, 1)
        self.policy_cells = nn.Conv2d(settings.policy_channels, 1, 1)
        self.policy_off_board = nn.Linear(hidden, off_board) if off_board else None
        self.in_order = order == list(range(cells + off_board))
        self.register_buffer("order", torch.tensor(order), persistent=False)
        # Value: features of cells, pooled.
        self.value_features = ConvNorm(c, settings.value_channels, 1)
        self.value_hidden = nn.Linear(2 * settings.value_channels, hidden)
        self.value = nn.Linear(hidden, 3)
        self.ownership = nn.Conv2d(settings.value_channels, 1, 1) if game.owned else None
        self.score = nn.Linear(hidden, 1) if game.scored else None
        # Margins are learned in units of this.
        self.score_scale = math.sqrt(int(game.ownable().sum()) or cells)
        # An untrained net has next to no opinion.
        for last in (self.policy_cells, self.policy_off_board, self.value, self.ownership, self.score):
            if last is not None:
                nn.init.normal_(last.weight, std=0.01)
                nn.init.zeros_(cast(Tensor, last.bias))

    def play(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Policy and wdl logits; and what the other heads look at: features [n, c, H, W] and hidden units."""
        x = self.trunk(planes)
        features = F.relu(self.value_features(x))
        hidden = F.relu(self.value_hidden(torch.flatten(pooled(features), 1)))
        policy = torch.flatten(self.policy_cells(F.relu(self.policy_features(x))), 1)
        if self.policy_off_board is not None:
            policy = torch.cat([policy, self.policy_off_board(hidden)], dim=1)
        if not self.in_order:
            policy = torch.index_select(policy, 1, cast(Tensor, self.order))
        return policy, self.value(hidden), features, hidden

    def forward(self, planes: Tensor) -> Answer:
        policy, wdl, features, hidden = self.play(planes)
        ownership = None if self.ownership is None else torch.flatten(self.ownership(features), 1)
        score = None if self.score is None else torch.flatten(self.score(hidden)) * self.score_scale
        return Answer(policy, wdl, ownership, score)


class Mosaic(nn.Module):
    """Ours for boards that are cut into small ones of 3 × 3 cells: the same units look at each by itself, and dense
    layers at what they tell of all.

    What is told of a small board depends on nothing else, so that a table can hold it (``cpp/net/mosaic``).
    """

    scalar_value = False

    def __init__(self, game: Game, planes: int, settings: NetSettings) -> None:
        super().__init__()
        order, off_board = policy_layout(game)
        if game.block != _SMALL or off_board or planes != 3:
            raise ValueError(
                f"the architecture mosaic is for boards of small boards and the encoding boards, not for {game.name}"
            )
        c, hidden, cells = settings.channels, settings.value_hidden, game.rows * game.cols
        boards = cells // _SMALL**2
        self.look = nn.Conv2d(planes, 4 * c, _SMALL, stride=_SMALL)
        self.tell = nn.Conv2d(4 * c, c, 1)
        self.policy_inside = nn.Conv2d(4 * c, _SMALL**2, 1)
        self.hidden = nn.Linear(c * boards, hidden)
        self.policy = nn.Linear(hidden, cells)
        self.last = nn.Linear(hidden, settings.value_channels)
        self.value = nn.Linear(settings.value_channels, 3)
        self.ownership = nn.Linear(settings.value_channels, boards) if game.owned else None
        # Of each cell: its small board among all, and its logit among those inside of all.
        grid = [divmod(cell, game.cols) for cell in range(cells)]
        board = [row // _SMALL * (game.cols // _SMALL) + col // _SMALL for row, col in grid]
        inside = [(row % _SMALL * _SMALL + col % _SMALL) * boards for row, col in grid]
        self.register_buffer("order", torch.tensor(order), persistent=False)
        self.register_buffer("board", torch.tensor(board), persistent=False)
        self.register_buffer("inside", torch.tensor(inside) + torch.tensor(board), persistent=False)
        for last in (self.policy_inside, self.policy, self.value, self.ownership):
            if last is not None:
                nn.init.normal_(last.weight, std=0.01)
                nn.init.zeros_(cast(Tensor, last.bias))

    def forward(self, planes: Tensor) -> Answer:
        seen = F.relu(self.look(planes))
        x = F.relu(self.hidden(torch.flatten(F.relu(self.tell(seen)), 1)))
        inside = torch.index_select(torch.flatten(self.policy_inside(seen), 1), 1, cast(Tensor, self.inside))
        policy = torch.index_select(inside + self.policy(x), 1, cast(Tensor, self.order))
        x = F.relu(self.last(x))
        ownership = None
        if self.ownership is not None:
            ownership = torch.index_select(self.ownership(x), 1, cast(Tensor, self.board))
        return Answer(policy, self.value(x), ownership, None)


class Dual(nn.Module):
    """Study U: a residual trunk, pooled; policy and value are dense layers on that."""

    scalar_value = True

    def __init__(self, game: Game, planes: int, settings: NetSettings) -> None:
        super().__init__()
        self.trunk = Trunk(planes, settings)
        self.policy = nn.Linear(settings.channels, game.actions)
        self.value = ScalarValue(settings.channels)

    def forward(self, planes: Tensor) -> Answer:
        x = torch.mean(self.trunk(planes), dim=(2, 3))
        return Answer(self.policy(x), self.value(x), None, None)


class Convolutions(nn.Module):
    """Studies G and N: three convolutions (32, 64, 128), a policy of 4 filters, a value of 2 filters and 64 units."""

    scalar_value = True

    def __init__(self, game: Game, planes: int, settings: NetSettings) -> None:
        super().__init__()
        cells = game.rows * game.cols
        widths = [settings.channels // 4, settings.channels // 2, settings.channels]
        self.first = nn.Conv2d(planes, widths[0], 3, padding=1)
        self.second = nn.Conv2d(widths[0], widths[1], 3, padding=1)
        self.third = nn.Conv2d(widths[1], widths[2], 3, padding=1)
        self.policy_features = nn.Conv2d(widths[2], 4, 1)
        self.policy = nn.Linear(4 * cells, game.actions)
        self.value_features = nn.Conv2d(widths[2], 2, 1)
        self.value_hidden = nn.Linear(2 * cells, 64)
        self.value = ScalarValue(64)

    def forward(self, planes: Tensor) -> Answer:
        x = F.relu(self.third(F.relu(self.second(F.relu(self.first(planes))))))
        policy = self.policy(torch.flatten(F.relu(self.policy_features(x)), 1))
        hidden = F.relu(self.value_hidden(torch.flatten(F.relu(self.value_features(x)), 1)))
        return Answer(policy, self.value(hidden), None, None)


class Zero(nn.Module):
    """Study W: a residual trunk with AlphaGo Zero's heads: a policy of 2 filters, a value of 1 filter and 64 units."""

    scalar_value = True

    def __init__(self, game: Game, planes: int, settings: NetSettings) -> None:
        super().__init__()
        cells = game.rows * game.cols
        self.trunk = Trunk(planes, settings)
        self.policy_features = ConvNorm(settings.channels, 2, 1)
        self.policy = nn.Linear(2 * cells, game.actions)
        self.value_features = ConvNorm(settings.channels, 1, 1)
        self.value_hidden = nn.Linear(cells, 64)
        self.value = ScalarValue(64)

    def forward(self, planes: Tensor) -> Answer:
        x = self.trunk(planes)
        policy = self.policy(torch.flatten(F.relu(self.policy_features(x)), 1))
        hidden = F.relu(self.value_hidden(torch.flatten(F.relu(self.value_features(x)), 1)))
        return Answer(policy, self.value(hidden), None, None)


_BUILDERS: dict[str, type[Residual] | type[Mosaic] | type[Dual] | type[Convolutions] | type[Zero]] = {
    "residual": Residual,
    "mosaic": Mosaic,
    "dual16": Dual,
    "conv3": Convolutions,
    "zero": Zero,
}

# Sizes by name, and the studies' networks.
PRESETS: dict[str, NetSettings] = {
    "tiny": NetSettings(channels=32, blocks=3, policy_channels=16, value_channels=16, value_hidden=32),
    "small": NetSettings(channels=64, blocks=4),
    "medium": NetSettings(channels=64, blocks=6),
    "large": NetSettings(channels=128, blocks=10, pooling=3, value_hidden=128),
    "mosaic": NetSettings(architecture="mosaic", channels=64, blocks=0, value_channels=32, value_hidden=512),
    "dual16": NetSettings(architecture="dual16", channels=128, blocks=16),
    "conv3": NetSettings(architecture="conv3", channels=128, blocks=0),
    "zero": NetSettings(architecture="zero", channels=64, blocks=4),
}


class Net(nn.Module):
    """A network for one game, in one encoding."""

    def __init__(
        self, game: Game, settings: NetSettings | None = None, encoding: str = "tesuji", *, seed: int | None = None
    ) -> None:
        """``seed``: decides the first weights; without one they are different each time."""
        super().__init__()
        self.game = game
        self.settings = settings or NetSettings()
        self.encoding = encoding
        self.planes = len(game.plane_names(encoding))
        self.step = 0  # of training
        self.extra: dict[str, Any] = {}  # whatever else a file keeps
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            self.body = _BUILDERS[self.settings.architecture](game, self.planes, self.settings)

    @property
    def scalar_value(self) -> bool:
        """Whether the value head has one number (and knows no draws), as in the studies."""
        return self.body.scalar_value

    @property
    def score_scale(self) -> float:
        """Margins are learned in units of this."""
        return getattr(self.body, "score_scale", 1.0)

    @property
    def info(self) -> NetInfo:
        """What a file says of this net."""
        return NetInfo(
            game=self.game.name,
            game_version=self.game.version,
            encoding=self.encoding,
            channels=self.planes,
            actions=self.game.actions,
            settings=asdict(self.settings),
            step=self.step,
            extra=self.extra,
        )

    def forward(self, planes: Tensor) -> Answer:
        """[n, C, H, W] → an answer."""
        return cast(Answer, self.body(planes))

    def play(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Policy and wdl logits alone: what a search needs."""
        answer = self.body.play(planes) if isinstance(self.body, Residual) else self.body(planes)
        return answer[0], answer[1]

    def folded(self) -> "Net":
        """A copy to evaluate with: batch norm is folded into the convolutions."""
        folded = copy.deepcopy(self).eval().requires_grad_(False)
        with torch.no_grad():
            for module in folded.modules():
                if isinstance(module, ConvNorm):
                    module.fold()
        return folded.requires_grad_(False)

    def parameter_count(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)

    def flops(self) -> int:
        """Of one position: two for each multiplication and addition in convolutions and dense layers."""
        count = 0

        def add(module: nn.Module, _: Any, output: Tensor) -> None:
            nonlocal count
            weight = cast(Tensor, module.weight)
            count += 2 * output.numel() * (weight.numel() // weight.shape[0])

        probe = copy.deepcopy(self).cpu().eval()
        for module in probe.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                module.register_forward_hook(add)
        with torch.no_grad():
            probe(torch.zeros(1, self.planes, self.game.rows, self.game.cols))
        return count

    def describe(self) -> str:
        """The net in a line."""
        s = self.settings
        size = f"{s.architecture} {s.channels}" + (f"×{s.blocks}" if s.blocks else "")
        pooling = f", pooling in every {s.pooling}. block" if s.pooling else ""
        return (
            f"{size}{pooling} for {self.game.name} ({self.encoding}, {self.planes} planes): "
            f"{self.parameter_count():,} parameters, {self.flops() / 1e6:.1f} MFLOP a position"
        )


def preset(name: str) -> NetSettings:
    """The settings that go by a name."""
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(PRESETS)}"
        raise ValueError(f"there is no net {name[:30]!r}: {hint}")
    return PRESETS[name]


def named(game: Game, name: str, encoding: str | None = None, **changes: Any) -> Net:
    """The net of a preset, with changes of its settings; a study's network sees what the study showed it."""
    known = [field.name for field in fields(NetSettings)]
    for key in changes:
        if key not in known:
            raise ValueError(f"a net has no setting {key[:30]!r}: it has {', '.join(known)}")
    settings = replace(preset(name), **changes)
    return Net(game, settings, encoding or encoding_for(game, settings))


def encoding_for(game: Game, settings: NetSettings) -> str:
    """The planes that a net so built sees: ours, those of small boards, or, for a study's network, the study's."""
    own = {"residual": "tesuji", "mosaic": "boards"}.get(settings.architecture, "paper")
    return own if own in game.encodings else "tesuji"


class Unpack(nn.Module):
    """Packed planes to planes, on whatever device they are: one expression over bytes, which a compiler can fuse."""

    def __init__(self, game: Game, encoding: str) -> None:
        super().__init__()
        self.rows, self.cols = game.rows, game.cols
        self.scalars = game.scalar_count(encoding)
        self.binary = len(game.plane_names(encoding)) - self.scalars
        self.plane_bytes = 8 * -(-game.rows * game.cols // 64)
        self.register_buffer("shifts", torch.arange(8, dtype=torch.uint8), persistent=False)

    @staticmethod
    def views(packed: Tensor) -> tuple[Tensor, Tensor]:
        """The same memory, int64 [n, words], as bytes and as floats: what `forward` takes."""
        return packed.view(torch.uint8), packed.view(torch.float32)

    def forward(self, as_bytes: Tensor, as_floats: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """→ [n, C, H, W], the last axis but one in memory being the planes (channels last)."""
        n, cells, used = len(as_bytes), self.rows * self.cols, self.binary * self.plane_bytes
        columns = torch.narrow(as_bytes, 1, 0, used).reshape(n, self.binary, self.plane_bytes, 1)
        bits = ((columns >> cast(Tensor, self.shifts)) & 1).reshape(n, self.binary, 8 * self.plane_bytes)
        planes = torch.narrow(bits, 2, 0, cells).to(dtype)
        if self.scalars:
            numbers = torch.narrow(as_floats, 1, used // 4, self.scalars).to(dtype)
            planes = torch.cat([planes, numbers[:, :, None].expand(n, self.scalars, cells)], dim=1)
        return planes.reshape(n, -1, self.rows, self.cols).contiguous(memory_format=torch.channels_last)


# ── Files ──


def save(net: Net, path: Path | str, extra: dict[str, Any] | None = None) -> None:
    """Writes a net to go on learning with: safetensors, all or nothing."""
    net.extra = net.extra | (extra or {})
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.body.state_dict().items()}
    write_safely(Path(path), safetensors.torch.save(tensors, net.info.to_metadata()))


def load(path: Path | str, game: Game | None = None) -> Net:
    """Reads what `save` wrote. Another file, or a net that does not fit the game, is refused with a sentence."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            info = NetInfo.from_metadata(file.metadata() or {}, path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
    except OSError as trouble:
        raise ValueError(f"{path} cannot be read: {trouble.strerror or 'there is no such file'}") from None
    except safetensors.SafetensorError:
        raise ValueError(f"{path} is no net of Tesuji, or is damaged") from None
    net = built(info, path, game)
    wanted = net.body.state_dict()
    for name in sorted(wanted.keys() | tensors.keys()):
        if name not in tensors or name not in wanted or tensors[name].shape != wanted[name].shape:
            raise ValueError(f"{path} is damaged: its weights {name[:60]!r} do not fit what it says of itself")
        if not tensors[name].isfinite().all():
            raise ValueError(f"{path} holds what is no number (NaN or infinite) in {name[:60]!r}")
    net.body.load_state_dict(tensors)
    return net.eval()


def built(info: NetInfo, where: Path | str, game: Game | None = None) -> Net:
    """A net as a file says of itself, with weights by chance as yet; refused where it does not fit the game."""
    found = info.check(where, game)
    try:
        net = Net(found, NetSettings(**info.settings), info.encoding)
    except (TypeError, ValueError) as trouble:
        raise ValueError(f"{where} has settings that no net can have: {trouble}") from None
    net.step, net.extra = info.step, info.extra
    return net


# ── ONNX ──


def export_onnx(net: Net, path: Path | str, precision: Literal["fp32", "fp16", "int8"] = "fp32") -> None:
    """Writes a net to play with, all or nothing.

    ``fp16`` halves the file and computes as before; ``int8`` quarters it and computes in 8 bits: faster, less exact.
    Outputs: policy logits [n, actions], wdl probabilities [n, 3], value [n] = P(win) − P(loss); ownership [n, cells] in
    [−1, 1] and score [n] where the net has them. All for the mover.
    """
    write_safely(Path(path), onnx_bytes(net, precision))


def onnx_bytes(net: Net, precision: Literal["fp32", "fp16", "int8"] = "fp32") -> bytes:
    """The file that `export_onnx` writes."""
    if precision not in ("fp32", "fp16", "int8"):
        raise ValueError(f"there is no precision {precision!r}: there are fp32, fp16 and int8")
    try:
        from tesuji import onnxfile
    except ImportError:
        raise ValueError("writing ONNX needs the package onnx: pip install 'tesuji[train]'") from None
    return onnxfile.write(net, precision)
