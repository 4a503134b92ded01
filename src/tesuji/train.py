"""Learning: batches of positions, what became of them and what the search thought of them, go into a net's weights."""

import copy
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own custom)

from tesuji.checks import check_numbers
from tesuji.nets import Answer, Net, Unpack

__all__ = ["Learner", "TrainSettings", "pack", "unpack"]

_PATIENCE = 5  # steps in a row without a finite loss before learning gives up


class Batch(Protocol):
    """What a step learns from: n positions, everything from the mover's side."""

    @property
    def planes(self) -> NDArray[np.uint64]: ...  # [n, packed_words]
    @property
    def policy(self) -> NDArray[np.float32]: ...  # [n, actions], sums to 1
    @property
    def wdl(self) -> NDArray[np.float32]: ...  # [n, 3]
    @property
    def ownership(self) -> NDArray[np.int8]: ...  # [n, cells]
    @property
    def aux_weight(self) -> NDArray[np.float32]: ...  # [n]
    @property
    def score(self) -> NDArray[np.float32]: ...  # [n]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """How a net learns."""

    optimizer: Literal["adamw", "sgd"] = "adamw"
    rate: float = 1e-3
    """The learning rate after the warm-up."""
    momentum: float = 0.9
    """Of sgd."""
    warmup: int = 100
    """Steps in which the rate rises to its height."""
    decay: Literal["constant", "cosine", "step"] = "constant"
    """Then it stays, falls to ``floor`` of its height by ``decay_steps``, or falls by a factor at ``decay_at``."""
    decay_steps: int = 100_000
    decay_minutes: float = 0.0
    """cosine: if above 0, by so many minutes of the run instead, however many steps a machine makes in them."""
    floor: float = 0.05
    decay_at: tuple[int, ...] = ()
    decay_factor: float = 0.5
    weight_decay: float = 0.01
    """Pull of weights towards 0, beside the loss (adamw) or in it (sgd); not on norms and biases."""
    clip: float = 5.0
    """The longest gradient; 0: any."""
    batch: int = 1024
    """Positions a step."""
    average: float = 0.999
    """The net to play with is a running average of the weights: what stays of it at each step; 0: no average."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """auto: bf16 on a GPU, fp32 on the CPU."""
    compile: bool = False
    """Whether torch compiles the net: slow to start, faster afterwards."""
    value_weight: float = 1.0
    ownership_weight: float = 0.15
    score_weight: float = 0.05
    """Of the losses, beside the policy's 1."""

    def __post_init__(self) -> None:
        bounds: dict[str, tuple[float, float]] = {
            "rate": (0, 10),
            "momentum": (0, 1),
            "warmup": (0, 1e9),
            "decay_steps": (1, 1e12),
            "floor": (0, 1),
            "decay_factor": (0, 1),
            "weight_decay": (0, 10),
            "clip": (0, 1e9),
            "decay_minutes": (0, 1e7),
            "batch": (1, 1 << 20),
            "average": (0, 1),
            "value_weight": (0, 1e6),
            "ownership_weight": (0, 1e6),
            "score_weight": (0, 1e6),
        }
        check_numbers(self, bounds)
        choices = {
            "optimizer": ("adamw", "sgd"),
            "decay": ("constant", "cosine", "step"),
            "precision": ("auto", "fp32", "bf16"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}: give {', '.join(known[:-1])} or {known[-1]}")

    def rate_at(self, step: int, minutes: float = 0.0) -> float:
        """The learning rate of that step, counted from 0, after so many minutes."""
        rate = self.rate * min(1.0, (step + 1) / (self.warmup + 1))
        if self.decay == "cosine":
            done = min(1.0, minutes / self.decay_minutes if self.decay_minutes else step / self.decay_steps)
            rate *= self.floor + (1 - self.floor) * (1 + math.cos(math.pi * done)) / 2
        elif self.decay == "step":
            rate *= self.decay_factor ** sum(step >= at for at in self.decay_at)
        return rate


class Learner:
    """A net that learns, step by step."""

    def __init__(self, net: Net, settings: TrainSettings | None = None, device: str = "auto") -> None:
        self.settings = settings or TrainSettings()
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise ValueError("there is no GPU here that torch can use: give the device cpu")
        self._on_gpu = self.device.type == "cuda"
        self.net = net.to(self.device).train()
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's types forget it
        self.steps = net.step
        self.minutes = 0.0  # of learning so far, as the run counts them
        self.refused = 0  # steps whose loss was no number
        self._refused_in_a_row = 0
        self._unpack = Unpack(net.game, net.encoding).to(self.device)
        self._ownable = torch.from_numpy(net.game.ownable().astype(np.float32).ravel()).to(self.device)
        self._forward: Any = torch.compile(self.net) if self.settings.compile else self.net
        self._half = self._on_gpu if self.settings.precision == "auto" else self.settings.precision == "bf16"
        self._parameters = [parameter for parameter in self.net.parameters() if parameter.requires_grad]
        self._statistics = [buffer for buffer in self.net.buffers() if buffer.is_floating_point()]
        self._optimizer = self._make_optimizer()
        self._average = copy.deepcopy(net.state_dict()) if self.settings.average else None

    def _make_optimizer(self) -> torch.optim.Optimizer:
        s = self.settings
        groups = [
            {"params": [p for p in self._parameters if p.ndim > 1], "weight_decay": s.weight_decay},
            {"params": [p for p in self._parameters if p.ndim <= 1], "weight_decay": 0.0},
        ]
        if s.optimizer == "sgd":
            return torch.optim.SGD(groups, lr=s.rate, momentum=s.momentum, nesterov=s.momentum > 0, fused=self._on_gpu)
        return torch.optim.AdamW(groups, lr=s.rate, fused=self._on_gpu)

    # ── A step ──

    def step(self, batch: Batch) -> dict[str, float]:
        """Learns from a batch; what was measured on the way. A step whose loss is no number changes nothing."""
        statistics = [buffer.clone() for buffer in self._statistics]
        rate = self.settings.rate_at(self.steps, self.minutes)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad(set_to_none=True)
        measured = self._losses(batch)
        measured["loss"].backward()  # type: ignore[no-untyped-call]
        measured["grad_norm"] = nn.utils.clip_grad_norm_(self._parameters, self.settings.clip or math.inf)
        # The one place where the GPU is waited for.
        numbers = torch.stack([value.detach().float() for value in measured.values()]).tolist()
        metrics = dict(zip(measured, numbers, strict=True)) | {"rate": rate}
        if not all(map(math.isfinite, (metrics["loss"], metrics["grad_norm"]))):
            self._refuse(statistics, metrics)
            return metrics
        self._refused_in_a_row = 0
        self._optimizer.step()
        self.steps += 1
        self.net.step = self.steps
        self._update_average()
        return metrics

    def _refuse(self, statistics: list[Tensor], metrics: dict[str, float]) -> None:
        for buffer, before in zip(self._statistics, statistics, strict=True):
            buffer.copy_(before)
        self.refused += 1
        self._refused_in_a_row += 1
        if self._refused_in_a_row >= _PATIENCE:
            raise ArithmeticError(
                f"the loss was no finite number in {_PATIENCE} steps in a row (step {self.steps}, loss "
                f"{metrics['loss']:g}, gradient {metrics['grad_norm']:g}): lower the rate, or look at the data"
            )

    def _losses(self, batch: Batch) -> dict[str, Tensor]:
        s = self.settings
        planes = self._unpack(*Unpack.views(self._upload(batch.planes.view(np.int64))))
        policy = self._upload(batch.policy)
        wdl, aux = self._upload(batch.wdl), self._upload(batch.aux_weight)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._half):
            answer: Answer = self._forward(planes)
        logs = F.log_softmax(answer.policy.float(), dim=1)
        measured = {
            "policy_loss": -(policy * logs).sum(1).mean(),
            "value_loss": self._value_loss(answer.wdl.float(), wdl),
        }
        loss = measured["policy_loss"] + s.value_weight * measured["value_loss"]
        if answer.ownership is not None:
            owned = self._upload(batch.ownership).float()
            errors = ((answer.ownership.float().tanh() - owned) ** 2 * self._ownable).sum(1) / self._ownable.sum()
            measured["ownership_loss"] = _mean(errors, aux)
            loss = loss + s.ownership_weight * measured["ownership_loss"]
        if answer.score is not None:
            scale = self.net.score_scale
            score = self._upload(batch.score)
            errors = F.huber_loss(answer.score.float() / scale, score / scale, reduction="none")
            measured["score_loss"] = _mean(errors, aux)
            loss = loss + s.score_weight * measured["score_loss"]
        with torch.no_grad():
            measured["target_entropy"] = -torch.special.xlogy(policy, policy).sum(1).mean()
            measured["policy_entropy"] = -(logs.exp() * logs).sum(1).mean()
            measured["accuracy"] = (logs.argmax(1) == policy.argmax(1)).float().mean()
        return {"loss": loss, **measured}

    def _value_loss(self, logits: Tensor, wdl: Tensor) -> Tensor:
        if not self.net.scalar_value:
            return F.cross_entropy(logits, wdl)
        chances = logits.softmax(1)  # the studies' (z − v)²
        return F.mse_loss(chances[:, 0] - chances[:, 2], wdl[:, 0] - wdl[:, 2])

    def _upload(self, array: NDArray[Any]) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        return tensor.pin_memory().to(self.device, non_blocking=True) if self._on_gpu else tensor

    # ── The average ──

    def _update_average(self) -> None:
        if self._average is None:
            return
        # An average of few steps forgets faster: it should not remember the start.
        keep = min(self.settings.average, self.steps / (self.steps + 9))
        with torch.no_grad():
            for name, now in self.net.state_dict().items():
                if now.is_floating_point():
                    self._average[name].lerp_(now, 1 - keep)
                else:
                    self._average[name].copy_(now)

    def averaged(self) -> Net:
        """A copy of the net to play with: its averaged weights."""
        net: Net = copy.deepcopy(self.net).eval()
        if self._average is not None:
            net.load_state_dict(self._average)
        return net

    # ── To stop and go on ──

    def state(self) -> dict[str, Any]:
        """All that a learner needs to go on as if it had not been stopped."""
        whole = {
            "steps": self.steps,
            "refused": self.refused,
            "refused_in_a_row": self._refused_in_a_row,
            "net": self.net.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "average": self._average,
        }
        copied: dict[str, Any] = _copied(whole)
        return copied

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` gave."""
        state = _copied(dict(state))
        try:
            self.net.load_state_dict(state["net"])
            self._optimizer.load_state_dict(state["optimizer"])
            average = state["average"]
            self.steps, self.refused = state["steps"], state["refused"]
            self._refused_in_a_row = state["refused_in_a_row"]
        except (KeyError, ValueError, RuntimeError):
            raise ValueError("the state to go on from belongs to another net or other settings") from None
        self.net.step = self.steps
        if self._average is not None:
            for name, tensor in self._average.items():
                tensor.copy_((average or self.net.state_dict())[name])


def pack(state: Mapping[str, Any]) -> bytes:
    """What `state` gave, and whatever plain things lie beside it, for a file."""
    content = io.BytesIO()
    torch.save(state, content)
    return content.getvalue()


def unpack(content: bytes) -> dict[str, Any]:
    """What `pack` was given. Nothing in it is run."""
    found: dict[str, Any] = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return found


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    """The weighted mean; 0 where nothing has weight."""
    return (values * weights).sum() / weights.sum().clamp(min=1e-6)


def _copied(value: Any) -> Any:
    """With all tensors copied to the CPU."""
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copied(inner) for inner in value)
    return value
