"""Holds the recording of a random module's compile against torch: changes its values in place and looks what moves.

Nothing here asks the recorder how it came to what it says. What the trace calls preserved must move the outputs, what
it calls folded or dropped must not; what is inlined must move them exactly where its constants share its memory.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree

import freeze_engine as fe
from freeze_engine.trace import Location
from tests.random_modules.inductor_source import SHAPE
from tests.random_modules.oracle import Examined
from tests.random_modules.source import Program
from tests.torch.inductor_recording import fresh

_INLINING = "replace_params_with_constants"
_READ = ("mutated_input", "aliases_output", "read_live")
_Outputs = list[torch.Tensor]


def examine_compile(program: Program, folder: Path, *, again: bool = False) -> Examined:
    """Records a program's compile with freezing and holds the trace against torch.

    Args:
        program: the module.
        folder: where its source goes.
        again: whether to compile it without a recording as well, and compare the outputs.
    """
    with warnings.catch_warnings(), fresh():
        warnings.simplefilter("ignore")
        return _Oracle(program, folder, again).examined()


class _Oracle:
    def __init__(self, program: Program, folder: Path, again: bool) -> None:
        name = f"random_compiled_{program.seed}"
        file = folder / f"{name}.py"
        file.write_text(program.source)
        built = sys.modules[name] = types.ModuleType(name)
        built.__file__ = str(file)
        exec(compile(program.source, file, "exec", dont_inherit=True), built.__dict__)
        self._model: nn.Module = built.build()
        self._lines = program.source.splitlines()
        self._file = file
        self._again = again
        self._input = torch.rand(SHAPE, generator=torch.Generator().manual_seed(program.seed))
        self._tensors = dict(_tensors(self._model))
        self._values = {path: tensor.clone() for path, tensor in self._tensors.items()}

    def examined(self) -> Examined:
        eager = self._run(self._model)
        recording = fe.record(self._model, fe.Inputs((self._input,)), backend="inductor", measure=None)
        trace = recording.trace
        found = [*fe.problems(trace), *self._said(trace)]
        compiled = self._run(recording.module)
        found += _differ("eager code", eager, compiled)
        found += self._moving(trace, recording.module, compiled)
        found += self._anew(trace, recording.module)
        if self._again:  # last, as the recorded module compiles anew after a reset, without freezing
            torch.compiler.reset()
            with torch._inductor.config.patch(freezing=True):
                plain = torch.compile(self._model)
                found += _differ("torch.compile with freezing", self._run(plain), compiled)
            torch.compiler.reset()
        return Examined(tuple(found), "", trace)

    def _run(self, module: Any) -> _Outputs:
        """Returns the outputs for the values that the module began with, whatever a run before wrote."""
        with torch.no_grad():
            found = module(self._input)
            outputs = [tensor.clone() for tensor in _pytree.tree_leaves(found)]
            self._put_back()
        return outputs

    def _put_back(self) -> None:
        with torch.no_grad():
            for path, tensor in self._tensors.items():
                _hold(self._model, path, tensor)
                tensor.copy_(self._values[path])

    # -- questions

    def _said(self, trace: fe.Trace) -> Iterator[str]:
        """Each fate has its evidence, and no line is named that does not write."""
        judged = {fate.path for fate in trace.attributes}
        yield from (f"{path}: has no fate" for path in self._tensors.keys() - judged)
        for fate in trace.attributes:
            if fate.reason == "unknown":
                yield f"{fate.path}: unknown"
            if not fate.evidence:
                yield f"{fate.path}: {fate.fate} without evidence"
            elif fate.fate in ("inlined", "folded") and not any(each.node for each in fate.evidence):
                yield f"{fate.path}: {fate.fate}, and its evidence names no constant"
            for evidence in fate.evidence:
                if "assigns" in evidence.fact and evidence.source is not None:
                    text = self._lines[evidence.source.line - 1]
                    if f"self.{fate.path.rpartition('.')[2]} = " not in text:
                        yield f"{fate.path}: line {evidence.source.line} is no assignment: {text.strip()}"

    def _moving(self, trace: fe.Trace, compiled: Any, before: _Outputs) -> Iterator[str]:
        for fate in trace.attributes:
            expected = _moves(trace, fate)
            if expected is None or fate.path not in self._tensors:
                continue
            with torch.no_grad():
                tensor = self._tensors[fate.path]  # a layer norm takes an equal shift of all elements away
                tensor.add_(torch.linspace(0.2, 0.6, tensor.numel()).reshape(tensor.shape))
            after = self._run(compiled)
            # Two calls with equal values differ in last bits: where memory lies decides how a loop is vectorised.
            moved = any(not torch.allclose(*pair, rtol=1e-5, atol=1e-5) for pair in zip(before, after, strict=True))
            if moved != expected:
                yield f"{fate.path}: {fate.fate} {fate.reason or ''}, and it {'moves' if moved else 'moves no'} output"

    def _anew(self, trace: fe.Trace, compiled: Any) -> Iterator[str]:
        """Two more calls compile anew exactly where the trace says so; the second finds what the first assigned."""
        told = any(notice.code == "compiled_anew" for notice in trace.notices)
        counts = torch._dynamo.utils.counters["stats"]
        begun = counts["unique_graphs"]
        with torch.no_grad(), torch._inductor.config.patch(freezing=True):
            compiled(self._input)
            compiled(self._input)
        self._put_back()
        made = counts["unique_graphs"] - begun
        if told != bool(made):
            yield f"compiled_anew is {'' if told else 'not '}told, and {made} graphs were compiled"


def _moves(trace: fe.Trace, fate: fe.AttributeFate) -> bool | None:
    """Whether the trace says that writing an attribute in place moves the outputs; ``None`` where it does not say."""
    if fate.dtype != "float32" or "running_var" in fate.path:
        return None
    if fate.fate == "preserved":
        return True if fate.reason in _READ else None
    if fate.fate != "inlined":
        return False
    shared = [_is_shared(trace, fate, location) for location in fate.locations]
    return shared[0] if len(set(shared)) == 1 else None


def _is_shared(trace: fe.Trace, fate: fe.AttributeFate, location: Location) -> bool | None:
    """Whether a constant of the last graph lies in the memory of the attribute, as torch inlined it."""
    inlined = next(step for step in trace.steps if step.name == _INLINING and step.method == location.method)
    named = [each.node for each in fate.evidence if each.step == inlined.index]
    begun = [node.constant for node in inlined.graph.nodes if node.id in named and node.constant is not None]
    last = trace.final(location.method)
    assert last is not None
    held = next(node.constant for node in last.graph.nodes if node.outputs[0].name == location.value)
    if held is None or not begun:
        return None
    if len(held.shape) < 2 and held.nbytes <= 8 * 4:
        return False  # so few elements are written into the generated code (can_inline_constant, torch 2.13)
    return held.storage is not None and held.storage in {constant.storage for constant in begun}


def _differ(what: str, expected: _Outputs, found: _Outputs) -> Iterator[str]:
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if not torch.allclose(one, other, rtol=1e-4, atol=1e-5):
            yield f"output {number} is another than that of {what}"


def _tensors(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields every tensor that a module holds, by its path."""
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)
    for prefix, part in model.named_modules():
        for name, value in vars(part).items():
            path = f"{prefix}.{name}" if prefix else name
            if isinstance(value, torch.Tensor):
                yield path, value
            elif isinstance(value, list):
                yield from ((f"{path}.{number}", each) for number, each in enumerate(value))


def _hold(model: nn.Module, path: str, tensor: torch.Tensor) -> None:
    """Puts a tensor back where it was held; those in lists are never assigned."""
    owner, _, name = path.rpartition(".")
    if not name.isdigit():
        setattr(model.get_submodule(owner), name, tensor)
