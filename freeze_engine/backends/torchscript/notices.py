"""Notices about a freeze, made only where they matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from freeze_engine.trace import Environment, Node, Notice, Step

#: Operators and constants that ``torch.jit.save`` cannot write (``optimize_for_inference`` says so itself).
_UNSAVABLE = ("prim::ConstantMKLDNNTensor", "prim::mkldnn_convolution", "aten::to_mkldnn", "prim::MKLDNNGroup")


#: torch's defaults (2.13.0); any other value changes the results or the speed of a frozen module.
_USUAL = {
    "onednn_fusion": "False",
    "texpr_fuser": "True",
    "profiling_mode": "True",
    "profiling_executor": "True",
    "inline_everything": "False",
    "fusion_strategy": "[('STATIC', 2), ('DYNAMIC', 10)]",
}


def notices(steps: Sequence[Step], finals: Sequence[Step], environment: Environment) -> tuple[Notice, ...]:
    """Yields the notices that follow from the recorded graphs and the settings of the freeze and its measurements.

    Args:
        steps: all steps.
        finals: the last step of each method.
        environment: where the recording was made.

    Returns:
        Notices, in the order of the steps they belong to.
    """
    return (
        *_unusual_settings(environment),
        *_baked_in_constants(finals),
        *_device_literals(steps, finals),
        *_unsavable(steps),
    )


def _unusual_settings(environment: Environment) -> Iterator[Notice]:
    for name, value in environment.settings:
        if name in _USUAL and value not in (_USUAL[name], "unknown"):
            yield Notice(
                "unusual_setting",
                f"{name} is {value}; torch comes with {_USUAL[name]}. It changes how frozen code is compiled, and how "
                "fast it runs.",
            )


def _baked_in_constants(finals: Sequence[Step]) -> Iterator[Notice]:
    kinds: Counter[str] = Counter()
    for step in finals:
        for node in step.graph.walk():
            if node.constant is not None and node.constant.nbytes and node.constant.storage is not None:
                kinds[f"{node.constant.dtype} on {node.constant.device}"] += 1
    if not kinds:
        return
    what = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items()))
    yield Notice(
        "constants_baked_in",
        f"Tensors are constants of the graph now ({what}): .to(), .half() and load_state_dict() no longer reach them. "
        "Choose device and dtype before freezing, or give torch.jit.load a map_location.",
    )


def _device_literals(steps: Sequence[Step], finals: Sequence[Step]) -> Iterator[Notice]:
    for step in finals:
        for node in step.graph.walk():
            device = _device(node)
            if device is not None:
                yield Notice(
                    "device_baked_in",
                    f"{step.method} names the device {device} in %{node.outputs[0].name}: neither .to() nor "
                    "map_location changes that. In scripted code derive it from an input (x.device); trace a model on "
                    "the device that it will run on.",
                    _first_with(device, step, steps),
                )


def _first_with(device: str, final: Step, steps: Sequence[Step]) -> int:
    """Returns the first step of a method whose graph names a device: mostly that is where the model does."""
    of_method = (step for step in steps if step.method == final.method)
    return next(step.index for step in of_method if any(_device(node) == device for node in step.graph.walk()))


def _device(node: Node) -> str | None:
    if node.op != "prim::Constant" or not node.outputs or node.outputs[0].type != "Device":
        return None
    return (node.attribute("value") or "").strip('"')


def _unsavable(steps: Sequence[Step]) -> Iterator[Notice]:
    told: set[str] = set()
    seen: set[int] = set()
    for step in steps:
        if id(step.graph) in seen:
            continue
        seen.add(id(step.graph))
        names = sorted({node.op for node in step.graph.walk() if node.op in _UNSAVABLE})
        if names and step.method not in told:
            told.add(step.method)
            yield Notice(
                "not_serializable",
                f"{step.name} brought {', '.join(names)} into {step.method}: torch.jit.save cannot store these. "
                "Save the module before optimize_for_inference, and run that after loading.",
                step.index,
            )
