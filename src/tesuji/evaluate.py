"""Evaluators: nets that answer positions, on the CPU by our own kernel or ONNX Runtime, on a GPU by torch.

Self-play hands positions over in *lanes*: arrays of fixed size that stay where they are. The core writes packed planes
into ``lane.planes``; ``lane.submit()`` starts the work and ``lane.wait()`` returns when ``lane.policy`` and
``lane.value`` are there. With two lanes the core grows trees while the GPU works.

torch is imported only where a net for learning or a GPU is asked for: playing does without.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tesuji._core import CpuNet, Game, State
from tesuji.fastnet import fast_net
from tesuji.netinfo import NetInfo

if TYPE_CHECKING:
    import torch

    from tesuji.fused import FusedNet
    from tesuji.nets import Net

__all__ = [
    "Evaluator",
    "Kernel",
    "Lane",
    "OnnxEvaluator",
    "TorchEvaluator",
    "choose_device",
    "evaluator",
    "shared_evaluator",
]

Floats = NDArray[np.float32]
Precision = Literal["auto", "fp32", "fp16", "bf16", "int8"]
Kernel = Literal["auto", "fused", "compiled", "torch", "onnx"]


class Lane(Protocol):
    """A batch of fixed size on its way to a net and back. Its arrays keep their addresses."""

    planes: NDArray[np.uint64]  # [batch, packed_words], written by the core
    policy: Floats  # [batch, actions] logits
    value: Floats  # [batch] in [−1, 1], for the mover

    def submit(self) -> None:
        """Starts the work on what stands in planes."""

    def wait(self) -> None:
        """Until policy and value are there."""


class Evaluator(Protocol):
    """A net that answers positions of one game."""

    game: Game
    info: NetInfo

    @property
    def core(self) -> CpuNet | None:
        """The net as the core can ask it by itself; None where it cannot, or where several threads are to answer."""

    @property
    def busy(self) -> float:
        """Seconds that the net was at work for lanes; on a CPU summed over their threads."""

    def lane(self, batch: int) -> Lane:
        """A new lane."""

    def answer(self, states: Sequence[State]) -> tuple[Floats, Floats]:
        """Logits [states, actions] and values [states], each for its state's mover."""

    def answer_planes(self, planes: Floats) -> tuple[Floats, Floats]:
        """The same for planes [n, C, H, W] in the net's encoding."""

    def ownership(self, state: State) -> Floats | None:
        """[rows, cols] in [−1, 1], for the mover: who will own each cell; None where the game has no owners."""

    def update(self, net: Net) -> None:
        """Takes the weights of another net of the same build; lanes stay valid."""


def evaluator(
    source: Path | str | Net,
    game: Game | None = None,
    device: str = "auto",
    *,
    precision: Precision = "auto",
    threads: int = 1,
    kernel: Kernel = "auto",
) -> Evaluator:
    """The evaluator of a file (.onnx or .safetensors) or a net.

    ``device``: ``cpu``, ``cuda``, ``cuda:1``, or ``auto``: a GPU where there is one and the source is no .onnx.
    """
    if isinstance(source, Path | str):
        path = Path(source)
        if path.suffix == ".onnx":
            if device not in ("auto", "cpu"):
                raise ValueError(f"{path} is an ONNX file, which runs on the CPU: give the .safetensors for {device}")
            return OnnxEvaluator(path, game, precision=precision, threads=threads, kernel=kernel)
        if path.suffix != ".safetensors":
            raise ValueError(f"{path} is no net: give a file .onnx or .safetensors")
        net = _nets().load(path, game)
    else:
        net = source
        net.info.check("the net", game)
    device = choose_device(device)
    if device == "cpu":
        return OnnxEvaluator(net, game, precision=precision, threads=threads, kernel=kernel)
    return TorchEvaluator(net, game, device=device, precision=precision, kernel=kernel)


def shared_evaluator(path: Path | str, game: Game, device: str = "auto", *, threads: int = 1) -> Evaluator:
    """The evaluator of a file, one for all who ask for the same: it is only to be asked, never updated."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as trouble:
        raise ValueError(f"{path} cannot be read: {trouble.strerror}") from None
    with _SHARING:
        return _shared(Path(path), changed, game.name, device, threads)


_SHARING = threading.Lock()


def averaged(evaluator: Evaluator, game: Game, planes: Floats) -> tuple[Floats, Floats]:
    """What the net answers on average over all symmetries of the game; as ``Evaluator.answer_planes``."""
    images, count = [], len(planes)
    # Symmetries are numbered by core/grid.hpp: its bits are 4 transpose, then 2 top-bottom, then 1 left-right.
    for symmetry in range(game.symmetries):
        image = planes.swapaxes(2, 3) if symmetry & 4 else planes
        image = image[:, :, ::-1] if symmetry & 2 else image
        images.append(image[..., ::-1] if symmetry & 1 else image)
    policy, value = evaluator.answer_planes(np.concatenate(images))
    logits = policy.reshape(game.symmetries, count, -1)
    carried = np.stack([logits[s][:, game.permutation(s)] for s in range(game.symmetries)])
    carried -= np.logaddexp.reduce(carried, axis=2, keepdims=True)  # nets add any constant to their logits
    return carried.mean(axis=0), value.reshape(game.symmetries, count).mean(axis=0)


@functools.lru_cache(maxsize=16)
def _shared(path: Path, changed: int, game: str, device: str, threads: int) -> Evaluator:
    return evaluator(path, Game(game), device, threads=threads)


def choose_device(device: str) -> str:
    """``auto`` is the GPU where torch finds one, else the CPU."""
    if device != "auto":
        return device
    return "cuda" if _torch().cuda.is_available() else "cpu"


def _nets() -> Any:
    try:
        from tesuji import nets
    except ImportError as missing:
        raise ValueError(f"nets for learning need the package {missing.name}: pip install 'tesuji[train]'") from None
    return nets


def _packed(game: Game, encoding: str, states: Sequence[State]) -> NDArray[np.uint64]:
    for state in states:
        if state.game.name != game.name:
            raise ValueError(f"a state of {state.game.name} cannot be answered by a net for {game.name}")
    if not states:
        raise ValueError("there is nothing to answer: give at least one state")
    return np.stack([state.packed(encoding) for state in states])


def _check_batch(batch: int) -> None:
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= 1 << 20:
        raise ValueError(f"batch is {batch}: give a whole number from 1 to {1 << 20}")


# ── The CPU ──


class OnnxEvaluator:
    """A net on the CPU, from an ONNX file. Several threads may use it, each with its own lane."""

    # Positions a call of ONNX Runtime: more would push the net's numbers out of the processor's caches.
    chunk = 32

    def __init__(
        self,
        source: Path | str | bytes | Net,
        game: Game | None = None,
        *,
        precision: Precision = "auto",
        threads: int = 1,
        kernel: Kernel = "auto",
    ) -> None:
        """A file, or its content, runs as it is; of a net ``precision`` may be fp32 (also ``auto``) or int8.

        ``kernel``: fused is our own (see ``fastnet``), the fastest; onnx is ONNX Runtime, which takes every net.
        auto: the first of these that can be.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1024:
            raise ValueError(f"threads is {threads}: give a whole number from 1 to 1024")
        if precision not in ("auto", "fp32", "int8"):
            raise ValueError(f"precision {precision!r} does not go with the CPU: give fp32 or int8")
        self._threads = threads
        self._crew = ThreadPoolExecutor(threads) if threads > 1 else None
        self._int8 = precision == "int8"
        if kernel not in ("auto", "fused", "onnx"):
            raise ValueError(f"the kernel {kernel!r} does not go with the CPU: give auto, fused or onnx")
        self._wanted = kernel
        self._lanes: list[_OnnxLane] = []
        if isinstance(source, Path | str):
            if precision != "auto":
                raise ValueError(f"{source} has its own precision: leave precision at auto")
            try:
                content = Path(source).read_bytes()
            except OSError as trouble:
                raise ValueError(f"{source} cannot be read: {trouble.strerror}") from None
            self._open(content, source, game)
        else:
            self._open(self._exported(source), "the net", game)

    def _exported(self, net: Net | bytes) -> bytes:
        if isinstance(net, bytes):
            return net
        content: bytes = _nets().onnx_bytes(net, "int8" if self._int8 else "fp32")
        return content

    def _open(self, content: bytes, where: Path | str, game: Game | None) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise ValueError("nets on the CPU need the package onnxruntime: pip install onnxruntime") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what is wrong is said below
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception:  # its exceptions have no common base
            raise ValueError(f"{where} is no net of Tesuji, or is damaged") from None
        info = NetInfo.from_metadata(session.get_modelmeta().custom_metadata_map, where)
        found = info.check(where, game)
        shapes = {part.name: part.shape[1:] for part in (*session.get_inputs(), *session.get_outputs())}
        wanted = {"planes": [info.channels, found.rows, found.cols], "policy": [info.actions], "value": []}
        for name, shape in wanted.items():
            if shapes.get(name) != shape:
                raise ValueError(f"{where} is damaged: its {name} do not have the shape that it says")
        self.game = found
        self.info = info
        self._session = session
        self._outputs = set(shapes)
        own = "ONNX Runtime was asked for" if self._wanted == "onnx" else fast_net(content, info, found)
        if isinstance(own, str) and self._wanted == "fused":
            raise ValueError(f"the kernel fused does not go with this net: {own}")
        self._own: CpuNet | None = None if isinstance(own, str) else own
        self.kernel = "onnx" if self._own is None else "fused"

    @property
    def core(self) -> CpuNet | None:
        return self._own if self._crew is None else None

    @property
    def busy(self) -> float:
        return sum(lane.busy for lane in self._lanes)

    def lane(self, batch: int) -> Lane:
        _check_batch(batch)
        self._lanes.append(_OnnxLane(self, batch))
        return self._lanes[-1]

    def answer(self, states: Sequence[State]) -> tuple[Floats, Floats]:
        packed = _packed(self.game, self.info.encoding, states)
        return self.answer_planes(self.game.unpack(packed, self.info.encoding))

    def answer_planes(self, planes: Floats) -> tuple[Floats, Floats]:
        if self._own is None:
            policy, value = self._session.run(["policy", "value"], {"planes": planes})
            return policy, value
        policy, value = np.empty((len(planes), self.game.actions), np.float32), np.empty(len(planes), np.float32)
        planes = np.ascontiguousarray(planes)
        if self._crew is None or len(planes) == 1:
            self._own.answer(planes, policy, value)
        else:
            share = -(-len(planes) // self._threads)
            parts = [slice(start, start + share) for start in range(0, len(planes), share)]
            list(
                self._crew.map(
                    self._own.answer, *([whole[part] for part in parts] for whole in (planes, policy, value))
                )
            )
        return policy, value

    def ownership(self, state: State) -> Floats | None:
        if "ownership" not in self._outputs:
            return None
        packed = _packed(self.game, self.info.encoding, [state])
        (owners,) = self._session.run(["ownership"], {"planes": self.game.unpack(packed, self.info.encoding)})
        return np.asarray(owners, np.float32).reshape(self.game.rows, self.game.cols)

    def update(self, net: Net | bytes) -> None:
        if not isinstance(net, bytes) and net.info.settings != self.info.settings:
            raise ValueError("the new net is built otherwise than the old: make a new evaluator")
        self._open(self._exported(net), "the net", self.game)


class _OnnxLane:
    def __init__(self, owner: OnnxEvaluator, batch: int) -> None:
        game, encoding = owner.game, owner.info.encoding
        self._owner = owner
        self._waiting = False
        self.busy = 0.0
        self._unpacked: Floats = np.zeros(
            (min(batch, owner.chunk), owner.info.channels, game.rows, game.cols), np.float32
        )
        self.planes: NDArray[np.uint64] = np.zeros((batch, game.packed_words(encoding)), np.uint64)
        self.policy: Floats = np.zeros((batch, game.actions), np.float32)
        self.value: Floats = np.zeros(batch, np.float32)

    def submit(self) -> None:
        self._waiting = True

    def wait(self) -> None:
        if not self._waiting:
            return
        self._waiting = False
        began = time.perf_counter()
        owner, size = self._owner, len(self._unpacked)
        if owner.core is not None:
            owner.core.answer_packed(owner.game, owner.info.encoding, self.planes, self.policy, self.value)
            self.busy += time.perf_counter() - began
            return
        for start in range(0, len(self.planes), size):
            part = slice(start, min(start + size, len(self.planes)))
            unpacked = self._unpacked[: part.stop - start]
            owner.game.unpack(self.planes[part], owner.info.encoding, out=unpacked)
            self.policy[part], self.value[part] = owner.answer_planes(unpacked)
        self.busy += time.perf_counter() - began


# ── The GPU ──


class TorchEvaluator:
    """A net in torch. On a GPU a lane replays one graph of everything: unpacking, the net, the value.

    The device ``cpu`` runs the same code without graphs: for tests.
    """

    core: CpuNet | None = None

    def __init__(
        self,
        net: Net,
        game: Game | None = None,
        *,
        device: str = "cuda",
        precision: Precision = "auto",
        kernel: Kernel = "auto",
    ) -> None:
        """``precision``: auto is fp16 on a GPU (finer than bf16, and as fast) and fp32 on the CPU.

        ``kernel``: fused is one kernel of our own for the whole net (see ``fused``), the fastest, for fp16 alone;
        compiled takes torch.compile, a minute at the start; torch neither. auto: the first of these that can be.
        """
        torch, nets = _torch(), _nets()
        try:
            self.device = torch.device(device)
        except RuntimeError:
            raise ValueError(f"there is no device {device!r}: give cpu or cuda") from None
        on_gpu = self.device.type == "cuda"
        if on_gpu and not torch.cuda.is_available():
            raise ValueError("there is no GPU here that torch can use: give the device cpu")
        if precision == "auto":
            precision = "fp16" if on_gpu else "fp32"
        types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
        if precision not in types:
            raise ValueError(f"precision {precision!r} does not go with torch: give fp32, fp16 or bf16")
        self.game = net.info.check("the net", game)
        self.info = net.info
        self._type = types[precision]
        self._net = net.folded().to(self.device, self._type)
        self._net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's types forget it
        self._unpack = nets.Unpack(self.game, self.info.encoding).to(self.device)
        self.busy = 0.0
        self._busy_until = 0.0
        self._lock = threading.Lock()
        self._zero: Any = None
        self.run: Any = self._run
        self._fused: FusedNet | None = None
        if kernel == "auto":
            kernel = "torch" if not on_gpu else "compiled" if self._why_not_fused() else "fused"
        if kernel == "fused":
            if reason := self._why_not_fused():
                raise ValueError(f"the kernel fused does not go with this net: {reason}")
            from tesuji.fused import FusedNet

            self._fused = FusedNet(self._net, self.device)
            self.run = self._run_fused
        elif kernel == "compiled":
            self.run = torch.compile(self._run, mode="max-autotune-no-cudagraphs", dynamic=False)
        elif kernel != "torch":
            raise ValueError(f"there is no kernel {kernel!r}: there are auto, fused, compiled and torch")
        self.kernel = kernel

    def _why_not_fused(self) -> str:
        from tesuji.fused import why_not

        return why_not(self._net, self.device) if self._type is _torch().float16 else "it computes in fp16"

    def _run_fused(self, as_bytes: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._fused is not None
        return self._fused(as_bytes)

    def _run(self, as_bytes: torch.Tensor, as_floats: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self._answer(self._unpack(as_bytes, as_floats, self._type))

    def _answer(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        policy, wdl = self._net.play(planes)
        chances = wdl.float().softmax(1)
        return policy.float(), chances[:, 0] - chances[:, 2]

    def was_busy(self, begin: float, end: float) -> None:
        """Counts the seconds from begin to end, but none twice where lanes overlap."""
        with self._lock:
            self.busy += max(0.0, end - max(begin, self._busy_until))
            self._busy_until = max(self._busy_until, end)

    def zero(self) -> Any:
        """The GPU's event from which lanes count time: the same for all."""
        if self._zero is None:
            self._zero = _torch().cuda.Event(enable_timing=True)
            self._zero.record(_torch().cuda.current_stream(self.device))
        return self._zero

    def lane(self, batch: int) -> Lane:
        _check_batch(batch)
        return _CudaLane(self, batch) if self.device.type == "cuda" else _TorchLane(self, batch)

    def answer(self, states: Sequence[State]) -> tuple[Floats, Floats]:
        packed = _packed(self.game, self.info.encoding, states)
        return self.answer_planes(self.game.unpack(packed, self.info.encoding))

    def answer_planes(self, planes: Floats) -> tuple[Floats, Floats]:
        torch = _torch()
        with torch.no_grad():
            policy, value = self._answer(torch.from_numpy(planes).to(self.device, self._type))
        return policy.cpu().numpy(), value.cpu().numpy()

    def ownership(self, state: State) -> Floats | None:
        torch = _torch()
        packed = _packed(self.game, self.info.encoding, [state])
        planes = torch.from_numpy(self.game.unpack(packed, self.info.encoding)).to(self.device, self._type)
        with torch.no_grad():
            logits = self._net(planes).ownership
        if logits is None:
            return None
        owners: Floats = logits.float().tanh().reshape(self.game.rows, self.game.cols).cpu().numpy()
        return owners

    def update(self, net: Net) -> None:
        torch = _torch()
        if net.info.settings != self.info.settings or net.info.game != self.info.game:
            raise ValueError("the new net is built otherwise than the old: make a new evaluator")
        new = net.folded()
        on_gpu = self.device.type == "cuda"
        if on_gpu:
            torch.cuda.synchronize(self.device)  # no lane reads while weights change
        with torch.no_grad():
            for mine, theirs in zip(self._net.parameters(), new.parameters(), strict=True):
                mine.copy_(theirs)
            if self._fused is not None:
                self._fused.update(new)
        if on_gpu:
            torch.cuda.synchronize(self.device)
        self.info = net.info


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ValueError("this needs the package torch: pip install 'tesuji[train]'") from None
    return torch


class _TorchLane:
    """On the CPU: the work is done in wait."""

    def __init__(self, owner: TorchEvaluator, batch: int) -> None:
        torch, game = _torch(), owner.game
        # torch knows no shifts of uint64: the same memory goes by int64.
        pinned = owner.device.type == "cuda"
        words = game.packed_words(owner.info.encoding)
        self._owner = owner
        self._waiting = False
        self._planes = torch.zeros((batch, words), dtype=torch.int64, pin_memory=pinned)
        self._policy = torch.zeros((batch, game.actions), pin_memory=pinned)
        self._value = torch.zeros(batch, pin_memory=pinned)
        self.planes: NDArray[np.uint64] = self._planes.numpy().view(np.uint64)
        self.policy: Floats = self._policy.numpy()
        self.value: Floats = self._value.numpy()

    def submit(self) -> None:
        self._waiting = True

    def wait(self) -> None:
        if not self._waiting:
            return
        self._waiting = False
        began = time.perf_counter()
        with _torch().no_grad():
            policy, value = self._owner.run(*self._owner._unpack.views(self._planes))
        self._policy.copy_(policy)
        self._value.copy_(value)
        self._owner.was_busy(began, time.perf_counter())


class _CudaLane(_TorchLane):
    """On a GPU: a stream of its own, pinned memory at both ends, and one captured graph between."""

    def __init__(self, owner: TorchEvaluator, batch: int) -> None:
        super().__init__(owner, batch)
        torch = _torch()
        self._stream = torch.cuda.Stream(owner.device)
        # Waiting spins: the thread that drives lanes has a core to itself, and waking it up would take longer.
        self._done = torch.cuda.Event(enable_timing=True)
        self._begun = torch.cuda.Event(enable_timing=True)
        self._zero = owner.zero()
        self._on_gpu = torch.zeros_like(self._planes, device=owner.device)
        views = owner._unpack.views(self._on_gpu)
        self._graph = torch.cuda.CUDAGraph()
        self._stream.wait_stream(torch.cuda.current_stream(owner.device))
        torch.backends.cudnn.benchmark = True  # of several ways to convolve the fastest here
        with torch.no_grad(), torch.cuda.device(owner.device):
            with torch.cuda.stream(self._stream):
                for _ in range(3):  # what is compiled or tried out must be so before the capture
                    owner.run(*views)
            self._stream.synchronize()
            # Another thread may train meanwhile. The way to the GPU and back is part of the graph: one call starts all.
            with torch.cuda.graph(self._graph, stream=self._stream, capture_error_mode="thread_local"):
                self._on_gpu.copy_(self._planes, non_blocking=True)
                policy, value = owner.run(*views)
                self._policy.copy_(policy, non_blocking=True)
                self._value.copy_(value, non_blocking=True)

    def submit(self) -> None:
        with _torch().cuda.stream(self._stream):
            self._begun.record(self._stream)
            self._graph.replay()
            self._done.record(self._stream)
        self._waiting = True

    def wait(self) -> None:
        if self._waiting:
            self._done.synchronize()  # without the interpreter's lock
            self._waiting = False
            self._owner.was_busy(*(self._zero.elapsed_time(event) / 1000 for event in (self._begun, self._done)))
