"""Runs a model, and passes on what each of its layers reads and returns, one layer after another."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

import torch
from torch.overrides import TorchFunctionMode

from freeze_engine.measure.candidate import cloned
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.input_specs import spec_parts

#: Operators of an exported graph with a weight, and its place among the arguments.
_COMPUTE: Final = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d", "convolution", "_convolution"), 1),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "mm", "matmul", "bmm"), 1),
    **dict.fromkeys(("embedding", "embedding_bag"), 0),
    **dict.fromkeys(("addmm", "baddbmm"), 2),
}
#: Those of them that take the weight of a linear layer transposed.
_TRANSPOSED: Final = frozenset(("mm", "matmul", "addmm"))
#: Those that are transposed convolutions where an argument says so.
_GENERAL: Final = ("convolution", "_convolution")
#: Batch norms of an exported graph, and the place of ``eps`` among the arguments.
_BATCH_NORMS: Final = {"batch_norm": 7, "native_batch_norm": 7, "_native_batch_norm_legit_no_training": 6}


@dataclass(frozen=True)
class LayerRun:
    """What one call of a layer read and returned, each ``None`` if it is no tensor.

    Attributes:
        weight: dequantised.
        output: of the layer.
        weights: paths of the attributes that the weight is made of.
        channels: the weight's dimension of output channels.
        folded: the same with the batch norm that reads its output as a part of it, ``None`` if there is none.
    """

    weight: torch.Tensor | None
    output: torch.Tensor | None
    weights: tuple[str, ...]
    channels: int = 0
    folded: LayerRun | None = None


Take = Callable[[str, LayerRun], None]
"""Takes the path and the first call of a layer."""


class _Runs:
    """Passes on the first call of each layer, as soon as no batch norm can follow it any more.

    Args:
        wanted: paths of the layers.
        take: takes the path and the call of a layer.
    """

    def __init__(self, wanted: Container[str], take: Take) -> None:
        self._wanted, self._take = wanted, take
        self._seen: set[str] = set()
        self._last: tuple[str, LayerRun, object, int] | None = None

    def wants(self, path: str) -> bool:
        """Returns whether the next call of a layer is its first, and wanted."""
        return path in self._wanted and path not in self._seen

    def add(self, path: str, run: LayerRun) -> None:
        """Adds a call that is wanted; its output is copied, since an activation may write it in place."""
        self.end()
        self._seen.add(path)
        output = run.output
        version = 0 if output is None else output._version
        self._last = path, replace(run, output=None if output is None else output.detach().clone()), output, version

    def end(self) -> None:
        """Passes on the call that was added last."""
        if self._last is not None:
            path, run, _, _ = self._last
            self._last = None
            self._take(path, run)

    def normalised(self, value: torch.Tensor, scale: torch.Tensor, output: torch.Tensor) -> None:
        """Adds the batch norm of a value to the layer whose output it is, if that is the last one.

        Args:
            value: that the batch norm reads.
            scale: by which it multiplies each channel.
            output: of the batch norm.
        """
        if self._last is None:
            return
        path, run, last, version = self._last
        if value is last and value._version == version:
            folded = LayerRun(_scaled(run, scale, output), output.detach().clone(), run.weights)
            self._last = path, replace(run, folded=folded), last, version


def layer_paths(model: torch.nn.Module) -> frozenset[str]:
    """Returns the paths of the modules whose calls `run_layers` passes on, where they are called."""
    if not _is_graph(model):
        return frozenset(path for path, _ in _weighted(model))
    return frozenset(path for node in model.graph.nodes if (path := _path(node)) is not None)


def run_layers(model: torch.nn.Module, inputs: Inputs, wanted: Container[str], take: Take) -> None:
    """Runs a model once, and passes on the first call of each layer by the path of its module.

    Args:
        model: a module, or one that was exported.
        inputs: of the call; copies of them are used.
        wanted: paths of the layers.
        take: takes the path and the call of a layer; nothing else is kept of it.
    """
    given, runs = cloned(inputs), _Runs(wanted, take)
    if _is_graph(model):
        watching = _Watching(model, runs)
        watching.run(*graph_inputs(model, given))
    else:
        for path, module in _weighted(model):
            module.register_forward_hook(_hook(path, runs))
        with _BatchNormMode(runs):
            model(*given.args, **given.kwargs)
    runs.end()


def _is_graph(model: torch.nn.Module) -> TypeGuard[torch.fx.GraphModule]:
    """Returns whether a model is an exported graph, whose layers are no modules any more."""
    return isinstance(model, torch.fx.GraphModule) and not any(True for _ in _weighted(model))


def graph_inputs(model: torch.fx.GraphModule, given: Inputs) -> tuple[Any, ...]:
    """Returns the arguments of a graph, with every dictionary in the order that it had when the model was exported.

    The code of the module reads dictionaries by key, and `torch.fx.Interpreter` takes their values as they come
    (``_PyTreeCodeGen`` in ``torch/fx/graph.py``, torch 2.6 to 2.13).

    Args:
        model: the exported module.
        given: the inputs; arguments may be given by name.
    """
    values = tuple(inspect.signature(model.forward).bind(*given.args, **given.kwargs).arguments.values())
    spec = getattr(model, "_in_spec", None)
    if spec is None:
        return values
    parts = spec_parts(spec)
    if len(parts) == 2 and parts[0].type is tuple and parts[1].type is dict:
        parts = [*spec_parts(parts[0]), *spec_parts(parts[1])]
    if len(parts) != len(values):
        return values
    return tuple(map(_in_order, values, parts))


def _in_order(value: Any, spec: Any) -> Any:
    """Returns a value whose leaves have the order of a specification."""
    parts = spec_parts(spec)
    if isinstance(value, (list, tuple)) and len(value) == len(parts):
        return [_in_order(*pair) for pair in zip(value, parts, strict=True)]
    if not isinstance(value, dict):
        return value
    keys = spec.context[1] if spec.type is defaultdict else spec.context
    return {key: _in_order(value[key], part) for key, part in zip(keys, parts, strict=True)}


def _hook(path: str, runs: _Runs) -> Any:
    def called(module: torch.nn.Module, args: object, output: object) -> None:
        if not runs.wants(path):
            return
        fuses = type(module).__module__.startswith("torch.ao.nn.intrinsic")  # its output is that of an activation
        channels = int(getattr(module, "transposed", False) is True)
        own = (f"{path}.weight".lstrip("."),)
        runs.add(path, LayerRun(weight_of(module), None if fuses else _tensor(output), own, channels))

    return called


class _BatchNormMode(TorchFunctionMode):
    """Sees the batch norms of a module, also those that call the function themselves."""

    def __init__(self, runs: _Runs) -> None:
        super().__init__()
        self._runs = runs

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs a function of torch."""
        output = func(*args, **(kwargs or {}))
        if func is torch.nn.functional.batch_norm:
            given = inspect.signature(func).bind(*args, **(kwargs or {}))
            given.apply_defaults()
            norm = given.arguments
            if not norm["training"]:
                self._runs.normalised(norm["input"], _scale(norm["weight"], norm["running_var"], norm["eps"]), output)
        return output


def _scale(weight: torch.Tensor | None, variance: torch.Tensor, eps: float) -> torch.Tensor:
    """Returns what a batch norm multiplies each channel by."""
    scale = torch.rsqrt(variance + eps)
    return scale if weight is None else weight * scale


def _scaled(run: LayerRun, scale: torch.Tensor, output: torch.Tensor) -> torch.Tensor | None:
    """Returns a weight whose output channels are multiplied; ``None`` if they have no dimension of their own."""
    weight, at = run.weight, run.channels
    if weight is None or weight.shape[at] != output.shape[1]:  # of a transposed convolution in groups
        return None
    return weight * scale.reshape([-1 if dim == at else 1 for dim in range(weight.ndim)])


def weight_of(module: torch.nn.Module) -> torch.Tensor | None:
    """Returns the weight of a layer in floating point; ``None`` if it has none.

    Args:
        module: of `torch.nn`, of `torch.ao.nn.quantized`, or with a tensor subclass as its weight.
    """
    weight = _held_weight(module)
    if weight is None:
        return None
    weight = weight.detach()
    knows_how = type(weight).dequantize is not torch.Tensor.dequantize  # such as torchao's tensor subclasses
    return weight.dequantize() if weight.is_quantized or knows_how else weight


def _held_weight(module: torch.nn.Module) -> torch.Tensor | None:
    held = getattr(module, "weight", None)
    return _tensor(held() if callable(held) else held)


def _weighted(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yields the modules with a weight, except those of an exported graph, which nobody calls."""
    for path, module in model.named_modules():
        if type(module) is not torch.nn.Module and _held_weight(module) is not None:
            yield path, module


class _Watching(torch.fx.Interpreter):
    """Runs an exported graph, and keeps what its layers read and return."""

    def __init__(self, module: torch.fx.GraphModule, runs: _Runs) -> None:
        super().__init__(module)
        self.runs = runs

    def run_node(self, n: torch.fx.Node) -> Any:
        """Runs a node."""
        name = _name(n.target) if n.op == "call_function" else ""
        output = super().run_node(n)
        if name in _BATCH_NORMS:
            self._batch_norm(n, _BATCH_NORMS[name], output)
        place, path = _COMPUTE.get(name), _path(n)
        if place is None or path is None or place >= len(n.args) or not self.runs.wants(path):
            return output
        weights = _attributes(n.args[place])
        if weights:
            given, _ = self.fetch_args_kwargs_from_env(n)
            weight = _tensor(given[place])
            if weight is not None and weight.ndim > 1 and name in _TRANSPOSED:
                weight = weight.mT
            channels = int("transpose" in name or (name in _GENERAL and bool(given[6])))
            self.runs.add(path, LayerRun(weight, _tensor(output), weights, channels))
        return output

    def _batch_norm(self, n: torch.fx.Node, eps: int, output: Any) -> None:
        given, _ = self.fetch_args_kwargs_from_env(n)
        is_training = eps == 7 and given[5]
        if not is_training:
            value = output[0] if isinstance(output, tuple) else output
            self.runs.normalised(given[0], _scale(given[1], given[4], given[eps]), value)


def _name(target: object) -> str:
    packet = getattr(target, "overloadpacket", None)
    return getattr(packet, "__name__", "")


def _path(node: torch.fx.Node) -> str | None:
    stack = node.meta.get("nn_module_stack")
    return str(list(stack.values())[-1][0]) if stack else None


def _attributes(value: object) -> tuple[str, ...]:
    """Returns the attributes that a value of a graph is made of; none if an input is among its sources."""
    found: list[str] = []
    todo, seen = [value], set[torch.fx.Node]()
    while todo:
        node = todo.pop()
        if not isinstance(node, torch.fx.Node) or node in seen:
            continue
        seen.add(node)
        todo += node.all_input_nodes
        if node.op == "placeholder":
            return ()
        if node.op == "get_attr":
            found.append(str(node.target))
    return tuple(found)


def _tensor(value: object) -> torch.Tensor | None:
    return value if isinstance(value, torch.Tensor) else None
