"""The errors of the layers of a quantised model against those of the float model that it was made from.

Each model runs once on the recorded inputs. A layer is known by the path of its module, which a module has by itself
and the nodes of an exported graph have in ``nn_module_stack``. The weight is compared as the layer reads it, that is
dequantised; the output includes the errors of the layers before it. Where one model only has a batch norm behind a
layer, that is folded into its weight and output first: ``prepare_pt2e`` does so with the quantised model's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode

from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.measure.outputs import output_error
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import LayerError, Notice, Trace

WEIGHT: Final = "weight"
OUTPUT: Final = "output"
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


@dataclass
class _Runs:
    """Collects the first call of each layer.

    Attributes:
        found: by path.
    """

    found: dict[str, LayerRun] = field(default_factory=dict)
    _last: tuple[str, object, int] = ("", None, 0)

    def add(self, path: str, run: LayerRun) -> None:
        """Adds a call; its output is copied, since an activation may write it in place."""
        output = run.output
        if path not in self.found:
            self.found[path] = replace(run, output=None if output is None else output.detach().clone())
            self._last = path, output, 0 if output is None else output._version

    def normalised(self, value: torch.Tensor, scale: torch.Tensor, output: torch.Tensor) -> None:
        """Adds the batch norm of a value to the layer whose output it is, if that is the last one.

        Args:
            value: that the batch norm reads.
            scale: by which it multiplies each channel.
            output: of the batch norm.
        """
        path, last, version = self._last
        if value is last and value._version == version:
            run = self.found[path]
            folded = LayerRun(_scaled(run, scale, output), output.detach().clone(), run.weights)
            self.found[path] = replace(run, folded=folded)


def layer_errors(model: torch.nn.Module, float_model: torch.nn.Module, inputs: Inputs) -> tuple[LayerError, ...]:
    """Compares the layers that both models have, in the order of the quantised model's calls.

    Args:
        model: the quantised one; a copy of it runs.
        float_model: the one that it was made from; a copy of it runs.
        inputs: of both.

    Raises:
        CandidateError: a model cannot be copied or run.
    """
    with inference(), reported():
        ours, theirs = layer_runs(replica(model), inputs), layer_runs(replica(float_model), inputs)
        return tuple(_compared(path, ours[path], theirs[path]) for path in ours if path in theirs)


def layers_compared(model: torch.nn.Module, float_model: torch.nn.Module, inputs: Inputs) -> Callable[[Trace], Trace]:
    """Compares the layers of two models.

    Args:
        model, float_model, inputs: as of `layer_errors`.

    Returns:
        A function that puts the errors into a trace, or a notice why there are none.
    """
    try:
        errors = layer_errors(model, float_model, inputs)
    except CandidateError as error:
        why = " ".join(str(error).split())
        return lambda trace: _unmeasured(trace, why)
    if not errors:
        return lambda trace: _unmeasured(trace, "none of its layers has the path of a layer of the recorded model")
    return lambda trace: replace(trace, layer_errors=errors)


def layer_runs(model: torch.nn.Module, inputs: Inputs) -> Mapping[str, LayerRun]:
    """Runs a model once, and returns the first call of each layer by the path of its module.

    Args:
        model: a module, or one that was exported.
        inputs: of the call; copies of them are used.
    """
    given = cloned(inputs)
    if isinstance(model, torch.fx.GraphModule) and not any(True for _ in _weighted(model)):
        watching = _Watching(model)
        bound = inspect.signature(model.forward).bind(*given.args, **given.kwargs)
        watching.run(*bound.args, *bound.kwargs.values())
        return watching.runs.found
    runs = _Runs()

    def hook(path: str) -> Any:
        def called(module: torch.nn.Module, args: object, output: object) -> None:
            fuses = type(module).__module__.startswith("torch.ao.nn.intrinsic")  # its output is that of an activation
            channels = int(getattr(module, "transposed", False) is True)
            own = (f"{path}.weight".lstrip("."),)
            runs.add(path, LayerRun(weight_of(module), None if fuses else _tensor(output), own, channels))

        return called

    for path, module in _weighted(model):
        module.register_forward_hook(hook(path))
    with _BatchNormMode(runs):
        model(*given.args, **given.kwargs)
    return runs.found


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
    held = getattr(module, "weight", None)
    weight = held() if callable(held) else held
    if not isinstance(weight, torch.Tensor):
        return None
    weight = weight.detach()
    knows_how = type(weight).dequantize is not torch.Tensor.dequantize  # such as torchao's tensor subclasses
    return weight.dequantize() if weight.is_quantized or knows_how else weight


def _weighted(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yields the modules with a weight, except those of an exported graph, which nobody calls."""
    for path, module in model.named_modules():
        if type(module) is not torch.nn.Module and weight_of(module) is not None:
            yield path, module


class _Watching(torch.fx.Interpreter):
    """Runs an exported graph, and keeps what its layers read and return."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.runs = _Runs()

    def run_node(self, n: torch.fx.Node) -> Any:
        """Runs a node."""
        name = _name(n.target) if n.op == "call_function" else ""
        output = super().run_node(n)
        if name in _BATCH_NORMS:
            self._batch_norm(n, _BATCH_NORMS[name], output)
        place, path = _COMPUTE.get(name), _path(n)
        if place is None or path is None or place >= len(n.args):
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


def _compared(path: str, ours: LayerRun, theirs: LayerRun) -> LayerError:
    if (ours.folded is None) != (theirs.folded is None):
        ours, theirs = ours.folded or ours, theirs.folded or theirs
    pairs = ((WEIGHT, ours.weight, theirs.weight), (OUTPUT, ours.output, theirs.output))
    found = [
        output_error(name, mine, other, True)
        for name, mine, other in pairs
        if mine is not None and other is not None and mine.shape == other.shape
    ]
    return LayerError(path, tuple(found), tuple(sorted(ours.weights)))


def _unmeasured(trace: Trace, why: str) -> Trace:
    text = f"The error of each layer against the float model was not measured: {why}."
    return replace(trace, notices=(*trace.notices, Notice("not_measured", text)))
