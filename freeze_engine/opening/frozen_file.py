"""Makes a trace of a TorchScript file whose module was frozen before it was saved, without running any of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.torchscript.folds.near_misses import near_misses
from freeze_engine.errors import ModelSpecError
from freeze_engine.models.untrusted.plain_pickles import PickleRefusedError
from freeze_engine.models.untrusted.script_archive import ArchivedTensor, ScriptFile, ScriptObject, read_script_file
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError
from freeze_engine.opening.bounds import MAX_DEPTH, MAX_GRAPHS, MAX_NAME, PartBudget, TooMuchError, parts
from freeze_engine.opening.code_graph import UNREAD, parsed, shortened
from freeze_engine.opening.environment import UNKNOWN_ENVIRONMENT
from freeze_engine.opening.held_tensors import held_tensors, kind_text
from freeze_engine.opening.remaining import Slot, constant_chains, remaining_attributes
from freeze_engine.opening.script_code import method_graph
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import AttributeKind, Constant, GraphSnapshot, NearMiss, Notice, Step, Trace

_INPUT: Final = "input"
_PRODUCTS: Final = ("aten::matmul", "aten::mm")
_LOST: Final = "prim::ConstantMKLDNNTensor"
_PASSES: Final = (
    "RemoveDropout",
    "FoldFrozenConvBatchnorm",
    "FoldFrozenConvAddOrSub",
    "FoldFrozenConvMulOrDiv",
    "FoldFrozenLinearBatchnorm",
)
_MAX_OBJECTS: Final = 100_000
_MAX_PATH: Final = 4 * MAX_NAME
_MAX_TYPE: Final = 500
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
    try:
        slots = tuple(_Slots(classes).of(file.module))
        modules = {"": file.module} | {slot.path: slot.value for slot in slots if isinstance(slot.value, ScriptObject)}
        for method, graph in _graphs(modules, classes, _constants(file)):
            recorder.add_step(_INPUT, _INPUT, method, graph, changed=False)
    except TooMuchError as error:
        raise ModelSpecError(f"{path} cannot be read as a frozen TorchScript file: {error}.") from error
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


def _graphs(
    modules: Mapping[str, ScriptObject],
    classes: Mapping[str, ast.ClassDef],
    constants: Mapping[str, Constant | str],
) -> Iterator[tuple[str, GraphSnapshot]]:
    """Yields the methods of modules with their graphs; modules of one class share the graphs of its methods.

    Args:
        modules: by path.
        classes: definitions by qualified name.
        constants: as in `method_graph`.

    Raises:
        TooMuchError: the methods are too many, or too large together.
    """
    made: dict[str, list[tuple[str, GraphSnapshot, int]]] = {}
    read, shown, count = PartBudget(), PartBudget(), 0
    for prefix, module in modules.items():
        kind = module.class_name
        if kind not in made:
            body = classes[kind].body if kind in classes else ()
            methods = islice((each for each in body if isinstance(each, ast.FunctionDef)), MAX_GRAPHS + 1)
            graphs = [(each.name, method_graph(each, constants, read)) for each in methods]
            made[kind] = [(name, graph, parts(graph)) for name, graph in graphs]
        for name, graph, size in made[kind]:
            method = f"{prefix}.{name}" if prefix else name
            shown.take(size, f"the method {shortened(method)}")
            count += 1
            if count > MAX_GRAPHS:
                raise TooMuchError(f"it has more than {MAX_GRAPHS} methods; {shortened(method)} is the first beyond")
            yield method, graph


class _Slots:
    """Finds what modules still hold, and what the modules in them hold.

    Args:
        classes: definitions by qualified name.
    """

    def __init__(self, classes: Mapping[str, ast.ClassDef]) -> None:
        self._classes = classes
        self._types: dict[str, dict[str, tuple[AttributeKind, str]]] = {}
        self._left = _MAX_OBJECTS

    def of(self, module: ScriptObject, prefix: str = "", depth: int = 0) -> Iterator[Slot]:
        """Yields what a module holds.

        Args:
            module: to look at.
            prefix: begin of the paths.
            depth: how many modules this one is in.

        Raises:
            TooMuchError: the modules nest too deeply, or hold too much, or under too long names.
        """
        where = f"the module {shortened(prefix[:-1]) or '(top)'}"
        if depth > MAX_DEPTH:
            raise TooMuchError(f"{where} is in more than {MAX_DEPTH} others")
        state = module.state if isinstance(module.state, dict) else {}
        types = self._annotations(module.class_name)
        for name, value in state.items():
            self._left -= 1
            if self._left < 0:
                raise TooMuchError(f"its modules hold more than {_MAX_OBJECTS} attributes, the last of them in {where}")
            if type(name) is not str or len(name) > MAX_NAME:
                raise TooMuchError(f"{where} has an attribute with an impossible name")
            kind, text = types.get(name, ("attribute", "?"))
            path = f"{prefix}{name}"
            if len(path) > _MAX_PATH:
                raise TooMuchError(f"the path of the attribute {shortened(path)} has more than {_MAX_PATH} characters")
            if isinstance(value, ScriptObject) and _is_module(self._classes.get(value.class_name)):
                yield Slot(path, "submodule", value.class_name, value)
                yield from self.of(value, f"{path}.", depth + 1)
            else:
                held = None if isinstance(value, ArchivedTensor) else held_tensors(value)
                tensor = _summary(value) if isinstance(value, ArchivedTensor) else None
                yield Slot(path, kind, text, value, tensor, 0 if held is None else held.nbytes)

    def _annotations(self, kind: str) -> dict[str, tuple[AttributeKind, str]]:
        if kind not in self._types:
            self._types[kind] = _annotations(self._classes.get(kind))
        return self._types[kind]


def _is_module(found: ast.ClassDef | None) -> bool:
    return found is not None and any(isinstance(base, ast.Name) and base.id == "Module" for base in found.bases)


def _annotations(found: ast.ClassDef | None) -> dict[str, tuple[AttributeKind, str]]:
    """Returns kind and type of the attributes that a class declares."""
    types: dict[str, str] = {}
    named: dict[str, list[str]] = {"__parameters__": [], "__buffers__": []}
    for each in found.body if found is not None else ():
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            types[each.target.id] = shortened(ast.unparse(each.annotation), _MAX_TYPE)
        elif (
            isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and isinstance(each.value, ast.List)
        ):
            words = [one.value for one in each.value.elts if isinstance(one, ast.Constant)]
            named.setdefault(each.targets[0].id, []).extend(word for word in words if isinstance(word, str))
    kinds: dict[str, AttributeKind] = dict.fromkeys(named["__parameters__"], "parameter")
    kinds |= dict.fromkeys(named["__buffers__"], "buffer")
    return {name: (kinds.get(name, "attribute"), text) for name, text in types.items()}


def _constants(file: ScriptFile) -> dict[str, Constant | str]:
    found: dict[str, Constant | str] = {}
    if len(file.constants) > _MAX_OBJECTS:
        raise TooMuchError(f"it has {len(file.constants)} constants; up to {_MAX_OBJECTS} are read")
    for number, value in enumerate(file.constants):
        found[f"c{number}"] = (
            _summary(value, file.digests.get(value))
            if isinstance(value, ArchivedTensor)
            else held_tensors(value) or kind_text(value)
        )
    return found


def _summary(tensor: ArchivedTensor, digest: str | None = None) -> Constant:
    return Constant(tensor.shape, tensor.dtype, tensor.device, tensor.nbytes, tensor.storage, digest)


def _bytes(step: Step) -> int:
    """Returns the bytes of the step's constants; tensors that share a storage count once, as the largest of them."""
    storages: dict[str, int] = {}
    for node in step.graph.walk():
        if node.constant is not None:
            storage = node.constant.storage or f"of {node.id}"
            storages[storage] = max(storages.get(storage, 0), node.constant.nbytes)
    return sum(storages.values())


def _left_folds(steps: tuple[Step, ...]) -> Iterator[NearMiss]:
    """Yields the folds that freezing did not make; how the module was frozen is not in the file."""
    for step in steps:
        operations = {node.id: node.op for node in step.graph.walk()}
        for name in _PASSES:
            for miss in near_misses(step.index, name, step.graph, step.graph):
                # optimize_for_inference writes every linear so, and the file does not say who wrote this one.
                if miss.kind == "linear_add" and operations.get(miss.neighbour) in _PRODUCTS:
                    continue
                yield miss if miss.reason != "unknown" else replace(miss, detail=_UNEXPLAINED)


def _notices(steps: tuple[Step, ...]) -> Iterator[Notice]:
    for step in steps:
        lost = sum(node.op == _LOST and node.constant is None for node in step.graph.walk())
        if lost:
            text = (
                f"{step.method} reads {lost} {'weight' if lost == 1 else 'weights'} in oneDNN's layout, which "
                "torch.jit.save leaves out: torch cannot load this file. Save the module before "
                "torch.jit.optimize_for_inference, and call that after loading."
            )
            yield Notice("not_serializable", text, step.index)
        chains = constant_chains(step.graph)
        if chains.operations:
            given = listed(f"%{each.outputs[0].name} ({each.op})" for each in chains.ends)
            text = (
                f"{step.method} computes from constants alone, at every call: {chains.operations} operations that give "
                f"{given}. Freezing did not fold them."
            )
            yield Notice("constant_chain", text, step.index)
        unread = sum(node.op == UNREAD for node in step.graph.walk())
        if unread:
            text = f"{unread} statements of {step.method} are not understood; the graph shows their text instead."
            yield Notice("unread", text, step.index)
