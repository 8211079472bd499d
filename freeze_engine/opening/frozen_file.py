"""Makes a trace of a TorchScript file whose module was frozen before it was saved, without running any of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from freeze_engine.backends.torchscript.folds.near_misses import near_misses
from freeze_engine.errors import ModelSpecError
from freeze_engine.models.untrusted.plain_pickles import PickleRefusedError
from freeze_engine.models.untrusted.script_archive import ArchivedTensor, ScriptFile, ScriptObject, read_script_file
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError
from freeze_engine.opening.code_graph import UNREAD, parsed
from freeze_engine.opening.environment import UNKNOWN_ENVIRONMENT
from freeze_engine.opening.remaining import Slot, constant_chains, remaining_attributes
from freeze_engine.opening.script_code import method_graph
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import Constant, NearMiss, Notice, Step, Trace

_INPUT: Final = "input"
_PASSES: Final = (
    "RemoveDropout",
    "FoldFrozenConvBatchnorm",
    "FoldFrozenConvAddOrSub",
    "FoldFrozenConvMulOrDiv",
    "FoldFrozenLinearBatchnorm",
)
_MAX_OBJECTS: Final = 100_000
_MAX_DEPTH: Final = 60
_CHAINS_SHOWN: Final = 3
_UNEXPLAINED: Final = (
    "Nothing in the graph prevents it: the module may have been frozen with optimize_numerics=False, or by a torch "
    "that does not make this fold."
)


def open_frozen_file(path: Path, name: str | None = None, call: str = "") -> Trace:
    """Returns the trace of a frozen TorchScript file: one step for each of its methods.

    Args:
        path: of a file for which `freeze_engine.models.file_kinds.file_kind` says ``frozen``.
        name: of the model in the trace, by default the file's stem.
        call: the call or command to show in the trace.

    Raises:
        ModelSpecError: the file is damaged, or holds what torch does not write.
    """
    try:
        file = read_script_file(path)
        classes = {f"{module}.{each.name}": each for module, each in _classes(file)}
    except (PickleRefusedError, ZipRefusedError) as error:
        raise ModelSpecError(
            f"{path} cannot be read as a frozen TorchScript file: {error}. Copy it again, or save the module again."
        ) from error
    head = Trace(name or path.stem, "torchscript", call, (), (), UNKNOWN_ENVIRONMENT, (), origin="frozen_file")
    recorder = Recorder(head)
    slots = tuple(_slots(file.module, classes))
    constants = _constants(file)
    modules = {"": file.module} | {slot.path: slot.value for slot in slots if isinstance(slot.value, ScriptObject)}
    for prefix, module in modules.items():
        for method in _methods(classes.get(module.class_name)):
            named = f"{prefix}.{method.name}" if prefix else method.name
            recorder.add_step(_INPUT, _INPUT, named, method_graph(method, constants), changed=False)
    for step in recorder.steps:
        recorder.update(step.index, constant_bytes=_bytes(step))
    recorder.attributes = remaining_attributes(slots, recorder.steps)
    recorder.near_misses += _left_folds(recorder.steps)
    recorder.notices += _notices(recorder.steps)
    return recorder.finish()


def _classes(file: ScriptFile) -> Iterator[tuple[str, ast.ClassDef]]:
    for module, text in file.code.items():
        for each in parsed(text, f"code/{module}.py").body:
            if isinstance(each, ast.ClassDef):
                yield module, each


def _methods(found: ast.ClassDef | None) -> Iterator[ast.FunctionDef]:
    if found is not None:
        yield from (each for each in found.body if isinstance(each, ast.FunctionDef))


def _slots(
    module: ScriptObject, classes: Mapping[str, ast.ClassDef], prefix: str = "", left: list[int] | None = None
) -> Iterator[Slot]:
    """Yields what a module still holds, and what the modules in it hold.

    Raises:
        PickleRefusedError: the modules nest too deeply, or hold too much.
    """
    left = [_MAX_OBJECTS] if left is None else left
    if prefix.count(".") > _MAX_DEPTH:
        raise PickleRefusedError("modules that nest too deeply")
    state = module.state if isinstance(module.state, dict) else {}
    types = _annotations(classes.get(module.class_name))
    for name, value in state.items():
        left[0] -= 1
        if left[0] < 0 or type(name) is not str:
            raise PickleRefusedError("more attributes than a module has")
        kind, text = types.get(name, ("attribute", "?"))
        path = f"{prefix}{name}"
        if isinstance(value, ScriptObject) and _is_module(classes.get(value.class_name)):
            yield Slot(path, "submodule", value.class_name, value)
            yield from _slots(value, classes, f"{path}.", left)
        else:
            yield Slot(path, kind, text, value, _summary(value) if isinstance(value, ArchivedTensor) else None)


def _is_module(found: ast.ClassDef | None) -> bool:
    return found is not None and any(isinstance(base, ast.Name) and base.id == "Module" for base in found.bases)


def _annotations(found: ast.ClassDef | None) -> dict[str, tuple[Any, str]]:
    """Returns kind and type of the attributes that a class declares."""
    types: dict[str, str] = {}
    named: dict[str, list[str]] = {"__parameters__": [], "__buffers__": []}
    for each in found.body if found is not None else ():
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            types[each.target.id] = ast.unparse(each.annotation)
        elif (
            isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and isinstance(each.value, ast.List)
        ):
            words = [one.value for one in each.value.elts if isinstance(one, ast.Constant)]
            named.setdefault(each.targets[0].id, []).extend(word for word in words if isinstance(word, str))
    kinds = dict.fromkeys(named["__parameters__"], "parameter") | dict.fromkeys(named["__buffers__"], "buffer")
    return {name: (kinds.get(name, "attribute"), text) for name, text in types.items()}


def _constants(file: ScriptFile) -> dict[str, Constant | str]:
    found: dict[str, Constant | str] = {}
    for number, value in enumerate(file.constants):
        if isinstance(value, ArchivedTensor):
            found[f"c{number}"] = _summary(value, file.digests.get(value))
        else:
            found[f"c{number}"] = value.class_name if isinstance(value, ScriptObject) else type(value).__name__
    return found


def _summary(tensor: ArchivedTensor, digest: str | None = None) -> Constant:
    return Constant(tensor.shape, tensor.dtype, tensor.device, tensor.nbytes, tensor.storage, digest)


def _bytes(step: Step) -> int:
    """Returns the bytes of the step's constants; tensors that share a storage count once, as the largest of them."""
    storages: dict[str, int] = {}
    for node in step.graph.walk():
        if node.constant is not None and node.constant.storage is not None:
            storages[node.constant.storage] = max(storages.get(node.constant.storage, 0), node.constant.nbytes)
    return sum(storages.values())


def _left_folds(steps: tuple[Step, ...]) -> Iterator[NearMiss]:
    """Yields the folds that freezing did not make; how the module was frozen is not in the file."""
    for step in steps:
        for name in _PASSES:
            for miss in near_misses(step.index, name, step.graph, step.graph):
                yield miss if miss.reason != "unknown" else replace(miss, detail=_UNEXPLAINED)


def _notices(steps: tuple[Step, ...]) -> Iterator[Notice]:
    for step in steps:
        chains = constant_chains(step.graph)
        if chains:
            nodes = sum(map(len, chains))
            listed = ", ".join(f"%{chain[-1].outputs[0].name} ({chain[-1].op})" for chain in chains[:_CHAINS_SHOWN])
            more = f" and {len(chains) - _CHAINS_SHOWN} more" if len(chains) > _CHAINS_SHOWN else ""
            text = (
                f"{step.method} computes from constants alone, at every call: {nodes} operations that give {listed}"
                f"{more}. Freezing did not fold them."
            )
            yield Notice("constant_chain", text, step.index)
        unread = sum(node.op == UNREAD for node in step.graph.walk())
        if unread:
            text = f"{unread} statements of {step.method} are not understood; the graph shows their text instead."
            yield Notice("unread", text, step.index)
