"""Verifies the recording of a random module with torch: freezes changed modules and compares the results.

Nothing here uses the recorder's logic. The oracle removes a line that evidence names from the source, and the attribute
must freeze; it changes an attribute's values, and the constants that the trace names must change, and no others.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import _jit_internal

import freeze_engine as fe
from freeze_engine.trace import Evidence, Rewrite
from tests.random_modules.source import SHAPE, Program
from tests.torch.against_torch import frozen_modules, has, problems

#: Reasons that a change of the source removes, if their evidence names only lines.
_WRITTEN = ("set_in_method", "mutated_in_place", "aliases_preserved", "shared_class")
_CONSTANT = "prim::Constant"
#: torch parses the file of a class with overloads, such as an LSTM, anew for each instance that it scripts.
_source_lines = lru_cache(maxsize=256)(_jit_internal.get_source_lines_and_file)  # type: ignore[attr-defined]
Constants = dict[tuple[int, str, int], tuple[str, torch.Tensor]]


@dataclass(frozen=True)
class Examined:
    """The oracle's findings.

    Attributes:
        problems: in words; empty if all claims of the trace are true.
        refused: torch's message if it does not freeze the module; else empty.
        trace: the recording.
    """

    problems: tuple[str, ...]
    refused: str = ""
    trace: fe.Trace | None = None


def examine(program: Program, folder: Path, *, changed: int = 1_000_000) -> Examined:
    """Records a program's freeze and verifies the trace with torch.

    Args:
        program: the module.
        folder: for its source files.
        changed: number of attributes to change, one after the other.
    """
    with warnings.catch_warnings(), patch.object(_jit_internal, "get_source_lines_and_file", _source_lines):
        warnings.simplefilter("ignore")
        return _Oracle(program, folder).examined(changed)


class _Oracle:
    def __init__(self, program: Program, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._inputs = torch.rand(SHAPE, generator=torch.Generator().manual_seed(program.seed))
        self._files = 0

    def examined(self, changed: int) -> Examined:
        program = self._program
        try:
            plain = self._frozen(program.source)
        except RuntimeError as error:
            return Examined((), str(error).strip().splitlines()[-1])
        file, module = self._built(program.source)
        scripted = torch.jit.script(module)
        with fe.capture() as captured:
            frozen = torch.jit.freeze(scripted, list(program.preserved))
        (recorded,) = frozen_modules(captured)
        trace, constants = recorded.trace, read_constants(frozen)  # before a run, which may write into them
        found = problems(recorded)
        found += self._output_problems(plain, frozen)
        found += _unknown(trace)
        found += self._line_problems(trace, file)
        if not found:
            found += self._write_problems(trace, file)
            found += self._value_problems(trace, constants, changed)
        return Examined(tuple(found), "", trace)

    # -- making modules

    def _built(self, source: str) -> tuple[Path, torch.nn.Module]:
        """Returns the file of a source, and the module that it builds."""
        self._files += 1
        name = f"random_module_{self._program.seed}_{self._files}"
        file = self._folder / f"{name}.py"
        file.write_text(source)
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = str(file)
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
        return file, module.build()

    def _frozen(self, source: str) -> Any:
        return torch.jit.freeze(torch.jit.script(self._built(source)[1]), list(self._program.preserved))

    # -- questions

    def _output_problems(self, plain: Any, frozen: Any) -> Iterator[str]:
        if not self._program.runs:
            return
        try:
            expected = plain(self._inputs)
        except RuntimeError:
            return  # torch cannot run its own result
        if not torch.allclose(expected, frozen(self._inputs), rtol=0, atol=0, equal_nan=True):
            yield "the outputs are others than without a recording"

    def _line_problems(self, trace: fe.Trace, file: Path) -> Iterator[str]:
        """Evidence names only lines that write."""
        lines = file.read_text().splitlines()
        for fate in trace.attributes:
            for evidence in fate.evidence if fate.reason in _WRITTEN else ():
                source = evidence.source
                if source is None or Path(source.file) != file or not _is_write(evidence):
                    continue
                text = lines[source.line - 1].strip()
                if text not in self._program.writes:
                    yield f"{fate.path}: line {source.line} is no write: {text}"

    def _write_problems(self, trace: fe.Trace, file: Path) -> Iterator[str]:
        """Without the named lines an attribute freezes; with any one of them it does not."""
        for fate in trace.attributes:
            if fate.reason not in _WRITTEN or fate.kind == "submodule" or _is_requested(fate):
                continue
            named = {each.source.line for each in fate.evidence if each.source and Path(each.source.file) == file}
            if not named:
                yield f"{fate.path}: {fate.reason} names no line"
                continue
            if self._keeps(fate.path, named):
                yield f"{fate.path}: stays without the lines {sorted(named)}, {fate.reason}"
            for line in sorted(named) if len(named) > 1 else ():
                if not self._keeps(fate.path, named - {line}):
                    yield f"{fate.path}: line {line} alone does not keep it, {fate.reason}"

    def _keeps(self, path: str, lines: set[int]) -> bool:
        """Returns whether an attribute stays if some lines of the source are replaced by ``pass``."""
        source = self._program.source.splitlines()
        for line in lines:
            text = source[line - 1]
            source[line - 1] = text[: len(text) - len(text.lstrip())] + "pass"
        return has(self._frozen("\n".join(source)), path)

    def _value_problems(self, trace: fe.Trace, before: Constants, changed: int) -> Iterator[str]:
        """A changed attribute changes the constants at its locations and those of its rewrites, and no others."""
        paths = [fate.path for fate in trace.attributes if fate.dtype == "float32" and fate.fate != "preserved"]
        for path in paths[:changed]:
            found = self._frozen_with(path, 0.375)
            if before.keys() == found.keys():
                yield from self._moving_problems(trace, path, before, found)
                continue
            # torch pools other constants, so the graph differs: hold a recording of the changed module instead.
            apart, constants = self._recorded_with(path, 0.375)
            found = self._frozen_with(path, 0.75)
            if constants.keys() == found.keys():
                yield from self._moving_problems(apart, path, constants, found)

    def _changed(self, path: str, by: float) -> Any:
        _, module = self._built(self._program.source)
        with torch.no_grad():
            _tensor(module, path).add_(by)
        return torch.jit.script(module)

    def _frozen_with(self, path: str, by: float) -> Constants:
        return read_constants(torch.jit.freeze(self._changed(path, by), list(self._program.preserved)))

    def _recorded_with(self, path: str, by: float) -> tuple[fe.Trace, Constants]:
        scripted = self._changed(path, by)
        with fe.capture() as captured:
            frozen = torch.jit.freeze(scripted, list(self._program.preserved))
        (recorded,) = frozen_modules(captured)
        return recorded.trace, read_constants(frozen)

    def _moving_problems(self, trace: fe.Trace, path: str, before: Constants, after: Constants) -> Iterator[str]:
        read = {name for name, _ in before.values()}
        moved = {name for key, (name, value) in before.items() if not torch.equal(value, after[key][1])}
        (fate,) = (each for each in trace.attributes if each.path == path)
        held = {place.value for place in fate.locations}
        shared = _sharing(self._built(self._program.source)[1], path)
        others = {place.value for each in trace.attributes if each.path in shared for place in each.locations}
        if wrong := (held - moved) & read:  # constants only returned are not compared
            yield f"{path}: {fate.fate}, is said to be in {sorted(wrong)}, which does not move with it"
        if wrong := moved - held - others:
            yield f"{path}: {fate.fate}, moves {sorted(wrong)}, which is not said"
        for step, rewrite, made in _kept_rewrites(trace, read):
            if path in rewrite.attributes and not made & moved:
                yield f"{path}: {rewrite.kind} of step {step.index} names it, and none of {sorted(made)} moves with it"
            if made & moved and not shared & set(_rewritten(trace, made)):
                yield f"{path}: moves {sorted(made & moved)} of step {step.index}, whose rewrites do not name it"


def _kept_rewrites(trace: fe.Trace, read: set[str]) -> Iterator[tuple[fe.Step, Rewrite, set[str]]]:
    """Yields the rewrites all of whose constants are still read in the frozen module, with these constants."""
    for step in trace.steps:
        made_by = {node.id: node.outputs[0].name for node in step.graph.walk() if node.op == _CONSTANT}
        for rewrite in step.rewrites:
            made = {made_by[node] for node in rewrite.produced if node in made_by}
            if made and made <= read:
                yield step, rewrite, made


def _rewritten(trace: fe.Trace, made: set[str]) -> Iterator[str]:
    """Yields the attributes that any rewrite names which made one of some constants."""
    for _, rewrite, constants in _kept_rewrites(trace, made):
        if constants:
            yield from rewrite.attributes


def _unknown(trace: fe.Trace) -> Iterator[str]:
    yield from (f"{fate.path}: unknown" for fate in trace.attributes if fate.reason == "unknown")
    yield from (f"near miss {miss.kind}: unknown" for miss in trace.near_misses if miss.reason == "unknown")


def _is_write(evidence: Evidence) -> bool:
    return evidence.op not in ("prim::GetAttr", "prim::CallMethod", "prim::fork")


def _is_requested(fate: fe.AttributeFate) -> bool:
    return any("preserved_attrs" in evidence.fact or "requested" in evidence.fact for evidence in fate.evidence)


def _tensor(module: torch.nn.Module, path: str) -> torch.Tensor:
    owner, _, name = path.rpartition(".")
    found = getattr(module.get_submodule(owner), name)
    assert isinstance(found, torch.Tensor)
    return found


def _sharing(module: torch.nn.Module, path: str) -> set[str]:
    """Returns the paths of the tensors that share memory with one."""
    storage = _tensor(module, path).untyped_storage().data_ptr()
    tensors = chain(module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return {name for name, tensor in tensors if tensor.untyped_storage().data_ptr() == storage}


def read_constants(frozen: Any, method: str = "forward") -> Constants:
    """Returns the constant tensors that nodes read, by the node's index and operator, and the input's index."""
    graph = frozen._c._get_method(method).graph
    found = {}
    for place, (scope, node) in enumerate(each for each in _nodes(graph) if each[1].kind() != _CONSTANT):
        for position, value in enumerate(node.inputs()):
            maker = value.node()
            if maker.kind() != _CONSTANT or not maker.hasAttribute("value"):
                continue
            for part, tensor in enumerate(_tensors(value.toIValue())):
                found[place, node.kind(), position * 1000 + part] = (scope + value.debugName(), tensor.clone())
    return found


def _tensors(value: object) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    parts: Sequence[object] = ()
    if isinstance(value, (list, tuple)):
        parts = value
    elif isinstance(value, dict):
        parts = list(value.values())
    return [tensor for part in parts for tensor in _tensors(part)]


def _nodes(graph: Any, scope: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the nodes of a graph, nested ones and forked subgraphs included, each with the prefix of its names."""
    numbers: Counter[str] = Counter()
    for node in _in_blocks(graph):
        yield scope, node
        if node.hasAttribute("Subgraph"):
            kind = node.kind().rpartition("::")[2]
            yield from _nodes(node.g("Subgraph"), f"{scope}{kind}_{numbers[kind]}/")
            numbers[kind] += 1


def _in_blocks(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _in_blocks(inner)
