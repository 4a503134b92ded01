"""Nets on the CPU by our own kernel (``cpp/net``): several times as fast as ONNX Runtime.

Weights come from an ONNX file that ``onnxfile`` wrote; of its format (protocol buffers) only what they need is read
here, so that playing needs no package ``onnx``. There are kernels for the architectures ``residual`` without pooling
and ``mosaic``, with numbers of 16 or 32 bits; everything else is left to ONNX Runtime.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tesuji._core import CpuNet, Game, MosaicNet, ResidualNet
from tesuji.netinfo import NetInfo, policy_layout

__all__ = ["fast_net", "weights_of"]

Floats = NDArray[np.float32]


def fast_net(content: bytes, info: NetInfo, game: Game) -> CpuNet | str:
    """The net of a file, or why no kernel takes it."""
    settings = info.settings
    architecture = settings.get("architecture")
    if architecture not in ("residual", "mosaic") or settings.get("pooling"):
        return "it takes the architectures residual, without pooling, and mosaic"
    try:
        weights = weights_of(memoryview(content))
        order, off_board = policy_layout(game)

        def of(names: Iterable[str]) -> list[Floats]:
            return [weights[f"body_{name}.{part}"] for name in names for part in ("weight", "bias")]

        if architecture == "mosaic":
            return MosaicNet(
                down=game.rows // 3,
                across=game.cols // 3,
                first=4 * settings["channels"],
                features=settings["channels"],
                hidden=settings["value_hidden"],
                last=settings["value_channels"],
                order=order,
                weights=of(("look", "tell", "policy_inside", "hidden", "policy", "last", "value")),
            )
        return ResidualNet(
            rows=game.rows,
            cols=game.cols,
            planes=info.channels,
            channels=settings["channels"],
            blocks=settings["blocks"],
            policy=settings["policy_channels"],
            value=settings["value_channels"],
            hidden=settings["value_hidden"],
            off_board=off_board,
            order=order,
            weights=of(_residual(settings["blocks"], off_board)),
        )
    except KeyError as missing:
        return f"it finds no {missing} in the file, which may hold numbers of 8 bits"
    except (IndexError, ValueError, TypeError) as trouble:
        return f"it cannot take this net: {trouble}"


def _residual(blocks: int, off_board: int) -> Iterator[str]:
    """Of the layers, in the order that the kernel wants."""
    yield "trunk_first_conv"
    for block in range(blocks):
        yield f"trunk_blocks_{block}_first_conv"
        yield f"trunk_blocks_{block}_second_conv"
    yield from ("policy_features_conv", "policy_cells", "value_features_conv", "value_hidden", "value")
    if off_board:
        yield "policy_off_board"


# ── Protocol buffers: a message is a list of fields, each with its number and the way it is written ──


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: numbers, and parts of the message for texts, bytes and messages in it."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number is too long")

    while at < len(message):
        tag = number()
        match tag & 7:
            case 0:
                yield tag >> 3, number()
            case 1 | 5:
                at += 8 if tag & 7 == 1 else 4
            case 2:
                size = number()
                if size > len(message) - at:
                    raise ValueError("the file ends too early")
                yield tag >> 3, message[at : at + size]
                at += size
            case _:
                raise ValueError("it is no ONNX file")


_GRAPH, _INITIALIZER, _TYPE, _NAME, _RAW = 7, 5, 2, 8, 9  # of ModelProto, GraphProto and TensorProto
_TYPES: dict[int, np.dtype[Any]] = {1: np.dtype("<f4"), 10: np.dtype("<f2")}


def weights_of(model: memoryview) -> dict[str, Floats]:
    """All weights of a file that ``onnxfile`` wrote, by their names, as long lists of 32 bits."""
    found: dict[str, Floats] = {}
    for field, graph in _fields(model):
        for part, tensor in _fields(graph) if field == _GRAPH else ():
            if part != _INITIALIZER:
                continue
            parts = dict(_fields(tensor))
            if _RAW in parts and parts.get(_TYPE) in _TYPES:
                name = bytes(parts[_NAME]).decode().removesuffix(".half")
                found[name] = np.frombuffer(parts[_RAW], _TYPES[parts[_TYPE]]).astype(np.float32)
    return found
