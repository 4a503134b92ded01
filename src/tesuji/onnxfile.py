"""Nets as ONNX files. The graph is read off the net's own `forward` by torch.fx: what a net does is written once.

Only the few operations that our architectures use are known here; another one is refused by its name. A file that was
written here can be read back, to learn on from a net of which nothing else is left.
"""

import logging
import operator
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, fx, nn
from torch.nn import functional as F  # noqa: N812 (torch's own custom)

from tesuji._core import Game
from tesuji.fastnet import weights_of
from tesuji.netinfo import NetInfo
from tesuji.nets import Answer, ConvNorm, Net, built

__all__ = ["read", "write"]

_OPSET = 17
_IR_VERSION = 8
_CALIBRATION = 256  # positions


def write(net: Net, precision: Literal["fp32", "fp16", "int8"]) -> bytes:
    """The bytes of the file."""
    model = _Graph(net, half=precision == "fp16").model()
    onnx.checker.check_model(model)
    if precision == "int8":
        model = _quantised(model, net)
    helper.set_model_props(model, net.info.to_metadata())
    content: bytes = model.SerializeToString()
    return content


def read(path: Path | str, game: Game | None = None) -> Net:
    """The net of a file that ``write`` wrote, but in 8 bits. Its norms, which were folded into the convolutions before
    them, are set up anew by what the convolutions give on positions of random games."""
    try:
        content = Path(path).read_bytes()
    except OSError as trouble:
        raise ValueError(f"{path} cannot be read: {trouble.strerror or 'there is no such file'}") from None
    try:
        model = onnx.load_from_string(content)
    except Exception:  # protobuf's own, which has no public name
        raise ValueError(f"{path} is no net of Tesuji, or is damaged") from None
    info = NetInfo.from_metadata({entry.key: entry.value for entry in model.metadata_props}, path)
    net = built(info, path, game)
    plain = net.folded()
    weights = weights_of(memoryview(content))
    with torch.no_grad():
        for name, parameter in plain.named_parameters():
            found = weights.get(_name_of(name))
            if found is None and name.endswith("spread.weight"):
                continue  # not learned, and the same in all nets
            if found is None or found.size != parameter.numel():
                raise ValueError(f"{path} does not hold the weights {name}: a file in 8 bits is for playing alone")
            parameter.copy_(torch.from_numpy(found.copy()).reshape(parameter.shape))
    _unfold(plain, net)
    return net.eval()


def _name_of(parameter: str) -> str:
    """As torch.fx names the layer, and ``write`` its weights."""
    layer, _, kind = parameter.rpartition(".")
    return f"{layer.replace('.', '_')}.{kind}"


def _unfold(plain: Net, net: Net) -> None:
    """Gives `net` the weights of `plain`, which has no norms; `net` computes the same, and learns as usual."""
    given: dict[str, tuple[Tensor, Tensor]] = {}  # by convolution: mean and variance of what it gives, without bias

    def see(name: str, layer: ConvNorm, output: Tensor) -> None:
        assert layer.conv.bias is not None
        bare = output - layer.conv.bias[:, None, None]
        given[name] = bare.mean(dim=(0, 2, 3)), bare.var(dim=(0, 2, 3), unbiased=False)

    layers = {name: layer for name, layer in plain.named_modules() if isinstance(layer, ConvNorm)}
    hooks = [
        layer.conv.register_forward_hook(lambda _, __, output, name=name, layer=layer: see(name, layer, output))
        for name, layer in layers.items()
    ]
    with torch.no_grad():
        plain(torch.from_numpy(_positions(plain)))
        for hook in hooks:
            hook.remove()
        weights = plain.state_dict()
        for name, parameter in net.named_parameters():
            if name in weights:
                parameter.copy_(weights[name])
        for name, layer in net.named_modules():
            if isinstance(layer, ConvNorm) and layer.norm is not None:
                mean, variance = given[name]
                bias = layers[name].conv.bias
                assert bias is not None
                assert layer.norm.running_mean is not None
                assert layer.norm.running_var is not None
                layer.norm.running_mean.copy_(mean)
                layer.norm.running_var.copy_(variance)
                layer.norm.weight.copy_(torch.sqrt(variance + layer.norm.eps))
                layer.norm.bias.copy_(bias + mean)


class _Graph:
    """Nodes and weights, collected."""

    def __init__(self, net: Net, *, half: bool) -> None:
        self._net = net
        self._half = half
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._names: dict[fx.Node, str] = {}

    def model(self) -> onnx.ModelProto:
        net, game = self._net, self._net.game
        traced = fx.symbolic_trace(net.folded().float().cpu())
        answer: list[str | None] = []
        for node in traced.graph.nodes:
            if node.target is Answer:
                answer = [None if part is None else self._names[part] for part in node.args]
            elif node.op != "output":
                self._names[node] = self._translate(traced, node)
        policy, wdl, ownership, score = answer
        assert policy is not None and wdl is not None  # noqa: PT018 (every net has them)
        cells = game.rows * game.cols
        outputs: dict[str, list[str | int]] = {"policy": ["n", game.actions], "wdl": ["n", 3], "value": ["n"]}
        self._add("Identity", [policy], output="policy")
        self._add("Softmax", [wdl], output="wdl", axis=1)
        sides = self._weight("sides", np.array([1, 0, -1], np.float32))
        self._add("MatMul", ["wdl", sides], output="value")
        if ownership is not None:
            outputs["ownership"] = ["n", cells]
            self._add("Tanh", [ownership], output="ownership")
        if score is not None:
            outputs["score"] = ["n"]
            self._add("Identity", [score], output="score")
        planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["n", net.planes, game.rows, game.cols])
        graph = helper.make_graph(
            self._nodes,
            f"tesuji-{game.name}",
            [planes],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self._weights,
        )
        opset = helper.make_opsetid("", _OPSET)
        return helper.make_model(graph, producer_name="tesuji", ir_version=_IR_VERSION, opset_imports=[opset])

    def _add(self, kind: str, inputs: list[str], *, output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def _weight(self, name: str, values: NDArray[Any]) -> str:
        if self._half and values.dtype == np.float32 and values.size > 16:
            # Stored in half the bytes, and cast back once when the file is loaded.
            stored = self._weight(f"{name}.half", values.astype(np.float16))
            return self._add("Cast", [stored], output=name, to=TensorProto.FLOAT)
        self._weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _translate(self, traced: fx.GraphModule, node: fx.Node) -> str:
        """Adds what a traced operation is in ONNX; the name of its output."""
        if node.op == "placeholder":
            return "planes"
        if node.op == "get_attr":
            return self._weight(str(node.target), operator.attrgetter(str(node.target))(traced).detach().numpy())
        if node.op == "call_module":
            return self._module(traced.get_submodule(str(node.target)), node)
        translate = _FUNCTIONS.get(node.target)
        if translate is None:
            raise ValueError(f"the operation {node.target} cannot be written to ONNX")
        return translate(self, node)

    def _module(self, module: nn.Module, node: fx.Node) -> str:
        source = self._names[node.all_input_nodes[0]]
        if not isinstance(module, nn.Conv2d | nn.Linear):
            raise ValueError(f"a layer {type(module).__name__} cannot be written to ONNX")
        inputs = [source, self._weight(f"{node.name}.weight", module.weight.detach().numpy())]
        if module.bias is not None:
            inputs.append(self._weight(f"{node.name}.bias", module.bias.detach().numpy()))
        if isinstance(module, nn.Linear):
            return self._add("Gemm", inputs, output=node.name, transB=1)
        size, around = module.kernel_size, module.padding
        assert isinstance(around, tuple)
        shape = {"kernel_shape": list(size), "pads": [*around, *around], "strides": list(module.stride)}
        return self._add("Conv", inputs, output=node.name, **shape)

    def _binary(self, kind: str, node: fx.Node) -> str:
        names = [
            self._names[part] if isinstance(part, fx.Node) else self._weight(f"{node.name}.{i}", np.float32(part))  # type: ignore[arg-type]
            for i, part in enumerate(node.args)
        ]
        return self._add(kind, [*names], output=node.name)

    def _inputs(self, node: fx.Node) -> list[str]:
        return [self._names[part] for part in node.all_input_nodes]

    def _reduced(self, kind: str, node: fx.Node) -> str:
        axes, keep = list(node.kwargs["dim"]), int(bool(node.kwargs.get("keepdim", False)))  # type: ignore[arg-type]
        return self._add(kind, self._inputs(node), output=node.name, axes=axes, keepdims=keep)

    def _flattened(self, node: fx.Node) -> str:
        if len(node.args) == 1:  # to one axis
            shape = self._weight(f"{node.name}.shape", np.array([-1], np.int64))
            return self._add("Reshape", [*self._inputs(node), shape], output=node.name)
        return self._add("Flatten", self._inputs(node), output=node.name, axis=1)

    def _narrowed(self, node: fx.Node) -> str:
        _, axis, start, length = node.args
        bounds = [
            self._weight(f"{node.name}.{name}", np.array([value], np.int64))
            for name, value in (("start", start), ("end", start + length), ("axis", axis))  # type: ignore[operator]
        ]
        return self._add("Slice", [*self._inputs(node), *bounds], output=node.name)


_FUNCTIONS: dict[Any, Callable[[_Graph, fx.Node], str]] = {
    F.relu: lambda graph, node: graph._add("Relu", graph._inputs(node), output=node.name),
    operator.add: lambda graph, node: graph._binary("Add", node),
    operator.mul: lambda graph, node: graph._binary("Mul", node),
    torch.cat: lambda graph, node: graph._add("Concat", graph._inputs(node), output=node.name, axis=1),
    torch.mean: lambda graph, node: graph._reduced("ReduceMean", node),
    torch.amax: lambda graph, node: graph._reduced("ReduceMax", node),
    torch.flatten: lambda graph, node: graph._flattened(node),
    torch.index_select: lambda graph, node: graph._add("Gather", graph._inputs(node), output=node.name, axis=1),
    torch.narrow: lambda graph, node: graph._narrowed(node),
}


def _quantised(model: onnx.ModelProto, net: Net) -> onnx.ModelProto:
    """With the 3×3 convolutions in 8 bits; the ranges of numbers in them are seen on positions of random games."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._batches: Iterator[NDArray[np.float32]] = iter(np.array_split(_positions(net), _CALIBRATION // 32))

        def get_next(self) -> dict[str, NDArray[np.float32]] | None:
            planes = next(self._batches, None)
            return None if planes is None else {"planes": planes}

    convolutions = [
        node.name
        for node in model.graph.node
        if node.op_type == "Conv" and any(a.name == "kernel_shape" and list(a.ints) == [3, 3] for a in node.attribute)
    ]
    log = logging.getLogger()
    level = log.level
    log.setLevel(logging.ERROR)  # it would advise to optimise the graph, which is as good as done
    try:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "int8.onnx"
            quantization.quantize_static(
                model,
                target,
                Reader(),
                quant_format=quantization.QuantFormat.QDQ,
                nodes_to_quantize=convolutions,
                per_channel=True,
                activation_type=quantization.QuantType.QUInt8,
                weight_type=quantization.QuantType.QInt8,
            )
            return onnx.load(target)
    finally:
        log.setLevel(level)


def _positions(net: Net) -> NDArray[np.float32]:
    """Planes of positions from all parts of random games."""
    game, seed = net.game, 0
    planes: list[NDArray[np.float32]] = []
    while len(planes) < _CALIBRATION:
        plies = len(game.random(seed).history)
        planes += [game.random(seed, plies=ply).planes(net.encoding) for ply in range(seed % 4, plies, 4)]
        seed += 1
    return np.stack(planes[:_CALIBRATION])
