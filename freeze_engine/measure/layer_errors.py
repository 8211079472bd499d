"""The errors of the layers of a quantised model against those of the float model that it was made from.

Each model runs once on the recorded inputs. A layer is known by the path of its module, which a module has by itself
and the nodes of an exported graph have in ``nn_module_stack``. The weight is compared as the layer reads it, that is
dequantised; the output includes the errors of the layers before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import torch

from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.measure.outputs import output_error
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import LayerError, Notice, OutputError, Trace

WEIGHT: Final = "weight"
OUTPUT: Final = "output"
#: Operators of an exported graph with a weight, and its place among the arguments.
_COMPUTE: Final = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d", "convolution", "_convolution"), 1),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "mm", "matmul", "bmm"), 1),
    **dict.fromkeys(("embedding", "embedding_bag"), 0),
    **dict.fromkeys(("addmm", "baddbmm"), 2),
}


@dataclass(frozen=True)
class LayerRun:
    """What one call of a layer read and returned, each ``None`` if it is no tensor.

    Attributes:
        weight: dequantised.
        output: of the layer.
        weights: paths of the attributes that the weight is made of.
    """

    weight: torch.Tensor | None
    output: torch.Tensor | None
    weights: tuple[str, ...]


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
        watching.run(*given.args, *given.kwargs.values())
        return watching.found
    found: dict[str, LayerRun] = {}

    def hook(path: str) -> Any:
        def called(module: torch.nn.Module, args: object, output: object) -> None:
            found.setdefault(path, LayerRun(weight_of(module), _tensor(output), (f"{path}.weight".lstrip("."),)))

        return called

    for path, module in _weighted(model):
        module.register_forward_hook(hook(path))
    model(*given.args, **given.kwargs)
    return found


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
        self.found: dict[str, LayerRun] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        """Runs a node."""
        place = _COMPUTE.get(_name(n.target)) if n.op == "call_function" else None
        path = _path(n)
        if place is None or path is None:
            return super().run_node(n)
        args, _ = self.fetch_args_kwargs_from_env(n)
        output = super().run_node(n)
        weight, source = (args[place], n.args[place]) if place < len(args) else (None, None)
        self.found.setdefault(path, LayerRun(_tensor(weight), _tensor(output), tuple(_attributes(source))))
        return output


def _name(target: object) -> str:
    packet = getattr(target, "overloadpacket", None)
    return getattr(packet, "__name__", "")


def _path(node: torch.fx.Node) -> str | None:
    stack = node.meta.get("nn_module_stack")
    return str(list(stack.values())[-1][0]) if stack else None


def _attributes(value: object) -> Iterator[str]:
    """Yields the attributes that a value of a graph is made of."""
    todo, seen = [value], set[torch.fx.Node]()
    while todo:
        node = todo.pop()
        if not isinstance(node, torch.fx.Node) or node in seen:
            continue
        seen.add(node)
        todo += node.all_input_nodes
        if node.op == "get_attr":
            yield str(node.target)


def _tensor(value: object) -> torch.Tensor | None:
    return value if isinstance(value, torch.Tensor) else None


def _compared(path: str, ours: LayerRun, theirs: LayerRun) -> LayerError:
    pairs = ((WEIGHT, ours.weight, theirs.weight), (OUTPUT, ours.output, theirs.output))
    found = [_error(name, mine, other) for name, mine, other in pairs if mine is not None and other is not None]
    return LayerError(path, tuple(error for error in found if error is not None), tuple(sorted(ours.weights)))


def _error(name: str, actual: torch.Tensor, expected: torch.Tensor) -> OutputError | None:
    if actual.shape != expected.shape and actual.ndim == 2 and actual.t().shape == expected.shape:
        actual = actual.t()
    return output_error(name, actual, expected, True) if actual.shape == expected.shape else None


def _unmeasured(trace: Trace, why: str) -> Trace:
    text = f"The error of each layer against the float model was not measured: {why}."
    return replace(trace, notices=(*trace.notices, Notice("not_measured", text)))
