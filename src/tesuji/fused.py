"""A residual net as one kernel on a GPU: whole boards stay in a multiprocessor's shared memory from planes to answers.

``fused.cu`` is compiled for one net when it is asked for, by NVRTC, which comes with torch: seconds, where
``torch.compile`` takes a minute. It needs a GPU of compute capability 8.0 or more, and takes the architecture
``residual`` without pooling blocks; ``why_not`` says what stands in the way of a net.
"""

import ctypes
import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from tesuji.netinfo import policy_layout
from tesuji.nets import ConvNorm, Net, Residual

__all__ = ["FusedNet", "why_not"]


class Shape(NamedTuple):
    """How a block of threads is laid out."""

    boards: int
    warps: int


class FusedNet:
    """The kernel of one net. Called with packed planes it gives policy logits and values."""

    def __init__(self, net: Net, device: torch.device) -> None:
        """``net`` must be folded."""
        if reason := why_not(net, device):
            raise ValueError(f"this net cannot be fused: {reason}")
        self._device = device
        self._actions = net.game.actions
        self._shape = _shape(net, device)
        self._bytes = _bytes(net, self._shape.boards)
        body = net.body
        assert isinstance(body, Residual)
        self._order = cast(Tensor, body.order).to(device, torch.int32)
        self._weights, self._biases, self._dense = (part.to(device) for part in _packed(net))
        sizes = {**_sizes(net), "BOARDS": self._shape.boards, "WARPS": self._shape.warps}
        with torch.cuda.device(device):
            self._function = _function(_compiled(tuple(sizes.items()), torch.cuda.get_device_capability(device)))
            _shared_memory(self._function, self._bytes)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """[n, …] bytes or words → logits [n, actions] and values [n], in the current stream."""
        n = len(planes)
        policy = torch.empty((n, self._actions), device=self._device)
        value = torch.empty(n, device=self._device)
        pointers = (self._weights, self._biases, self._dense, self._order, policy, value)
        _launch(
            self._function,
            -(-n // self._shape.boards),
            32 * self._shape.warps,
            self._bytes,
            torch.cuda.current_stream(self._device).cuda_stream,
            [ctypes.c_void_p(planes.data_ptr()), ctypes.c_int(n)]
            + [ctypes.c_void_p(tensor.data_ptr()) for tensor in pointers],
        )
        return policy, value

    def update(self, net: Net) -> None:
        """Takes the weights of another folded net of the same build."""
        for mine, theirs in zip((self._weights, self._biases, self._dense), _packed(net), strict=True):
            mine.copy_(theirs)


def why_not(net: Net, device: torch.device) -> str:
    """Why a net cannot be fused there; empty where it can."""
    s = net.settings
    if s.architecture != "residual" or s.pooling:
        return "only the architecture residual without pooling is"
    if s.channels % 16 or s.channels > 128:
        return "its channels must be a multiple of 16, and 128 at most"
    if net.planes > s.channels or s.policy_channels + s.value_channels > s.channels:
        return "its planes, and the channels of both heads together, must not be more than its channels"
    if 4 * (2 * s.value_channels + s.value_hidden) > net.game.rows * net.game.cols * (2 * s.channels + 16):
        return "the hidden layer of its value is too wide for so small a board"
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (8, 0):
        return "it needs a GPU of compute capability 8.0 or more"
    if _bytes(net, 1) > _most_shared(device):
        return "a board does not fit the GPU's shared memory"
    return ""


def _sizes(net: Net) -> dict[str, int]:
    game, s = net.game, net.settings
    scalars = game.scalar_count(net.encoding)
    return {
        "ROWS": game.rows,
        "COLS": game.cols,
        "PLANES": net.planes - scalars,
        "SCALARS": scalars,
        "CHANNELS": s.channels,
        "BLOCKS": s.blocks,
        "POLICY": s.policy_channels,
        "VALUE": s.value_channels,
        "HIDDEN": s.value_hidden,
        "ACTIONS": game.actions,
        "OFF_BOARD": policy_layout(game)[1],
    }


def _tiles(net: Net, boards: int) -> int:
    return math.ceil(boards * net.game.rows * net.game.cols / 16)


def _bytes(net: Net, boards: int) -> int:
    """Of shared memory that a block takes: activations twice, the weights of a tap twice."""
    pitch = 2 * net.settings.channels + 16
    return 2 * (16 * _tiles(net, boards) + 1) * pitch + 2 * net.settings.channels * pitch


def _most_shared(device: torch.device) -> int:
    optin = 97  # CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    found = ctypes.c_int()
    number = torch.cuda.current_device() if device.index is None else device.index
    _check(_driver().cuDeviceGetAttribute(ctypes.byref(found), optin, number), "asking for the shared memory")
    return found.value


# A warp keeps the sums of its tiles in registers: how many floats a thread has room for, by the warps of a block.
_ROOM = {8: 160, 12: 96, 16: 64}


def _shape(net: Net, device: torch.device) -> Shape:
    """The one that wastes least: tiles should come out even, and a warp should have several, for they share weights."""
    most, found, least = _most_shared(device), Shape(1, 8), math.inf
    for boards in range(1, 65):
        if _bytes(net, boards) > most:
            break
        for warps, room in _ROOM.items():
            each = math.ceil(_tiles(net, boards) / warps)  # tiles of a warp
            if each * net.settings.channels // 2 > room:
                continue
            time = (warps * each + 0.15 * warps) / boards
            if time <= least:
                found, least = Shape(boards, warps), time
    return found


def _packed(net: Net) -> tuple[Tensor, Tensor, Tensor]:
    """Weights [tap, outputs, inputs] of one convolution after the other, their biases, and the dense layers."""
    body = net.body
    assert isinstance(body, Residual)
    channels, stem = net.settings.channels, -(-net.planes // 16) * 16
    weights, biases = [], []

    def add(weight: Tensor, bias: Tensor, inputs: int) -> None:
        full = torch.zeros(channels, inputs, *weight.shape[2:], device=weight.device)
        full[: weight.shape[0], : weight.shape[1]] = weight
        weights.append(full.permute(2, 3, 0, 1).flatten())
        biases.append(torch.cat([bias, bias.new_zeros(channels - len(bias))]).float())

    def parts(layer: ConvNorm) -> tuple[Tensor, Tensor]:
        assert layer.conv.bias is not None, "the net must be folded"
        return layer.conv.weight.float(), layer.conv.bias.float()

    add(*parts(body.trunk.first), stem)
    for block in body.trunk.blocks:
        add(*parts(block.first), channels)  # type: ignore[arg-type]
        add(*parts(block.second), channels)  # type: ignore[arg-type]
    both = [parts(body.policy_features), parts(body.value_features)]
    add(torch.cat([weight for weight, _ in both]), torch.cat([bias for _, bias in both]), channels)
    dense = [body.value_hidden.weight.T, body.value_hidden.bias, body.value.weight, body.value.bias]
    if body.policy_off_board is not None:
        dense += [body.policy_off_board.weight, body.policy_off_board.bias]
    assert body.policy_cells.bias is not None
    dense += [body.policy_cells.weight, body.policy_cells.bias]
    return (
        torch.cat(weights).to(torch.float16),
        torch.cat(biases),
        torch.cat([part.float().flatten() for part in dense]),
    )


# ── The compiler and the driver ──


@cache
def _compiled(sizes: tuple[tuple[str, int], ...], capability: tuple[int, int]) -> bytes:
    """The kernel's code for these sizes and that kind of GPU."""
    nvrtc = _nvrtc()
    source = (Path(__file__).parent / "fused.cu").read_bytes()
    program = ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"fused.cu", 0, None, None), "NVRTC")
    options = [f"--gpu-architecture=sm_{capability[0]}{capability[1]}", "--std=c++17", "--use_fast_math"]
    options += [f"-D{name}={value}" for name, value in sizes]
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    failed = nvrtc.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"NVRTC refused fused.cu: {log.value.decode(errors='replace')}")
    _check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "NVRTC")
    code = ctypes.create_string_buffer(size.value)
    _check(nvrtc.nvrtcGetCUBIN(program, code), "NVRTC")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


@cache
def _nvrtc() -> Any:
    """The library, which torch brings along."""
    major = (torch.version.cuda or "0").split(".")[0]
    names = [f"libnvrtc.so.{major}", "libnvrtc.so"]
    packages = Path(torch.__file__).parents[1] / "nvidia"
    names += [str(path) for path in sorted(packages.glob(f"*/lib/libnvrtc.so.{major}"))]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError(f"libnvrtc.so.{major} was not found")


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _check(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"{what} failed with code {code}")


def _function(code: bytes) -> Any:
    torch.cuda.current_stream().synchronize()  # the driver works in torch's context
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _check(_driver().cuModuleLoadData(ctypes.byref(module), code), "loading the kernel")
    _check(_driver().cuModuleGetFunction(ctypes.byref(function), module, b"answer"), "finding the kernel")
    return function


def _shared_memory(function: Any, size: int) -> None:
    most_dynamic = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    _check(_driver().cuFuncSetAttribute(function, most_dynamic, size), "asking for shared memory")


def _launch(function: Any, blocks: int, threads: int, shared: int, stream: int, given: list[Any]) -> None:
    pointers = (ctypes.c_void_p * len(given))(*(ctypes.addressof(value) for value in given))
    code = _driver().cuLaunchKernel(
        function, blocks, 1, 1, threads, 1, 1, shared, ctypes.c_void_p(stream), pointers, None
    )
    _check(code, "launching the kernel")
