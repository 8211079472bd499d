"""Writes advice: what to change so that a preserved attribute freezes, by its kind, its type and all causes.

``tests/torch/test_advice.py`` follows each text literally and checks that the attribute freezes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final, Protocol

import torch

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.torchscript.attributes.advice_texts import text
from freeze_engine.backends.torchscript.attributes.aliases import is_own
from freeze_engine.backends.torchscript.attributes.verdicts import Cause, Verdict
from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute
from freeze_engine.trace import ASSUMED, Evidence, SourceRef

_AS_ASKED: Final = ("requested", "ancestor_of_requested")
_MOST: Final = 3
"""Most lines, and most attributes of a submodule, that one advice names."""
#: Written by functions of ``torch/nn/functional.py`` that are called with ``inplace=True`` (torch 2.13.0).
_WITH_FLAG: Final = frozenset(
    {
        *("aten::relu_", "aten::relu6_", "aten::hardtanh_", "aten::elu_", "aten::selu_", "aten::celu_"),
        *("aten::leaky_relu_", "aten::rrelu_", "aten::silu_", "aten::mish_", "aten::hardswish_", "aten::hardsigmoid_"),
        *("aten::threshold_", "aten::dropout_", "aten::alpha_dropout_", "aten::feature_dropout_"),
        *("aten::feature_alpha_dropout_", "aten::clamp_min_"),
    }
)
#: Operators that write to lists and dictionaries only.
_OF_CONTAINERS: Final = frozenset(
    f"aten::{name}"
    for name in (
        *("append", "extend", "insert", "pop", "popitem", "clear", "sort", "reverse", "remove", "Delete"),
        *("_set_item", "update", "setdefault"),
    )
)
#: Texts for operators that torch only assumes to write.
_OWN_TEXT: Final = {"aten::wait": "waited", "aten::instance_norm": "statistics"}
_PACKAGE: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\](?P<name>[^/\\.]+)")


class WriteFacts(Protocol):
    """The writes in the evidence, as the graphs show them."""

    def type_of(self, evidence: Evidence, link: int = 0) -> str:
        """Returns torch's text of the type of the written value, or of another link; empty where that is not known."""

    def is_in_branch(self, evidence: Evidence) -> bool:
        """Returns whether the writing node is in a branch of an if."""

    def assigns_what_it_writes(self, evidence: Evidence) -> bool:
        """Returns whether what an assignment assigns was written in place, as ``self.b += 1`` does with a tensor."""


class Adviser:
    """Writes advice.

    Args:
        slots: of the original module, by path.
        verdicts: on every slot of the frozen module.
        writes: what the graphs show of the writes in the evidence.
    """

    def __init__(
        self,
        slots: Mapping[str, ModuleAttribute],
        verdicts: Mapping[str, Verdict],
        writes: WriteFacts,
    ) -> None:
        self._slots = slots
        self._verdicts = verdicts
        self._writes = writes

    def advice(self, path: str) -> str:
        """Returns advice against every cause that keeps an attribute; empty if the user asked to preserve it."""
        verdict = self._verdicts[path]
        if verdict.reason in _AS_ASKED:
            return ""
        clauses = [*dict.fromkeys(clause for cause in verdict.causes for clause in self._clauses(path, cause))]
        if not clauses:
            return ""
        left = len(clauses) - _MOST
        advice = "; and ".join(clauses[:_MOST])
        if left > 0:
            advice += f"; and the like for {left} more, which the evidence names"
        if self._slots[path].kind != "submodule" and verdict.reason in ("set_in_method", "mutated_in_place"):
            advice += f"; or list {path!r} in preserved_attrs if it is meant to stay"
        return advice

    def _clauses(self, path: str, cause: Cause) -> Iterator[str]:
        other = cause.other
        if cause.remedy:
            yield cause.remedy
        elif other.startswith(f"{path}.") and other in self._verdicts:
            for inner in self._verdicts[other].without_class.causes:
                yield from self._clauses(other, inner)
        elif other and cause.reason == "shared_class":
            yield self._own_class(path, other)
        elif cause.reason == "aliases_preserved":
            yield self._own_memory(path, other)
        elif cause.reason == "set_in_method":
            yield self._unassigned(other or path, cause)
        elif cause.reason == "mutated_in_place":
            yield from self._unwritten(path, cause)
        elif cause.reason == "module_preserved":
            yield text("single_attributes", other=other)
        elif cause.reason == "not_constant":
            yield self._as_constant(other or path)
        elif cause.reason == "unresolved_path":
            yield text("straight", path=path)

    def _unassigned(self, path: str, cause: Cause) -> str:
        found = [evidence for evidence in cause.evidence if evidence.op == "prim::SetAttr"]
        package = next((name for name in map(_package, found) if name), "")
        own = "written_and_assigned" if any(map(self._writes.assigns_what_it_writes, found)) else "not_assigned"
        return text("traced" if package else own, path=path, places=_places(found), package=package)

    def _own_class(self, path: str, other: str) -> str:
        if self._slots[path].kind == "submodule":
            return text("own_class_around", other=other)
        if self._is_same(path, other):
            return text("same_tensor", other=other)
        return text("own_class", owner=path.rpartition(".")[0], other=other)

    def _own_memory(self, path: str, other: str) -> str:
        if self._is_same(path, other):
            return text("same_tensor", other=other)
        what = repr(path) if isinstance(self._slots[path].value, torch.Tensor) else f"the tensors in {path!r}"
        return text("own_memory", what=what)

    def _is_same(self, path: str, other: str) -> bool:
        """Returns whether two paths are one tensor at one place of one class, of a submodule with two names."""
        one, two = self._slots[path], self._slots[other]
        if not isinstance(one.value, torch.Tensor) or not isinstance(two.value, torch.Tensor):
            return False
        is_same_slot = one.owner == two.owner and path.rpartition(".")[2] == other.rpartition(".")[2]
        return is_same_slot and one.value.data_ptr() == two.value.data_ptr() != 0

    def _unwritten(self, path: str, cause: Cause) -> Iterator[str]:
        """Yields, for each kind of write, how to write to something else."""
        owner = path.rpartition(".")[0]
        training = self._slots.get(f"{owner}.training" if owner else "training")
        ways: dict[tuple[str, str, str], list[Evidence]] = {}
        for evidence in cause.evidence:
            if evidence.method is not None:
                ways.setdefault((*self._instead(path, evidence), _package(evidence)), []).append(evidence)
        for (name, what, package), found in ways.items():
            if name in _OWN_TEXT.values():
                yield text(name, places=_places(found))
            elif package == "torch" and training is not None and training.value is True:
                yield text("evaluation", what=repr(owner) if owner else "the module")
            elif package == "torch" and all(map(_counts_batches, found)):
                yield text("evaluation_traced", what=repr(owner) if owner else "the module")
            elif package == "torch" and all(evidence.op in _WITH_FLAG for evidence in found):
                yield text("not_inplace", what=_out_of_place(found), places=_places(found))
            elif package:
                in_branch = all(map(self._writes.is_in_branch, found))
                kind_of_text = "own_layer_or_traced" if in_branch else "own_layer"
                yield text(kind_of_text, path=path, places=_places(found), package=package)
            else:
                yield text(name, path=path, what=what, places=_places(found))

    def _instead(self, path: str, evidence: Evidence) -> tuple[str, str]:
        """Returns the name of a text, and the words for the thing to change."""
        if evidence.op in _OWN_TEXT:
            return _OWN_TEXT[evidence.op], ""
        if _is_assumed(evidence) and not is_own(evidence.op):
            return "taken", repr(path)
        kind, is_direct = self._slots[path].type, len(evidence.chain) <= 1
        written = kind if is_direct or kind == "Tensor" else self._writes.type_of(evidence)
        is_container = written.endswith("[]") or written.startswith(("List", "Dict"))
        if _is_assumed(evidence):
            return "wildcard_copy" if is_container or evidence.op in _OF_CONTAINERS else "wildcard", repr(path)
        is_whole = is_direct or written == self._writes.type_of(evidence, -1)
        what = repr(path) if is_whole else f"what is taken from {path!r}"
        return "copy" if is_container else "clone", what

    def _as_constant(self, path: str) -> str:
        tensors = self._slots[path].tensors
        if any(tensor.layout != torch.strided for tensor in tensors):
            return text("dense", path=path)
        return text("detached" if any(tensor.requires_grad for tensor in tensors) else "constant_type", path=path)


def _places(found: list[Evidence]) -> str:
    """Names the methods, and the lines as far as they are known."""
    methods = dict.fromkeys(evidence.method for evidence in found if evidence.method)
    lines = [*dict.fromkeys(_line(evidence.source) for evidence in found if evidence.source)]
    return listed(methods, joint=" and ") + (f" ({listed(lines)})" if lines else "")


def _line(source: SourceRef) -> str:
    return f"{PurePath(source.file).name}:{source.line}"


def _out_of_place(found: list[Evidence]) -> str:
    """Names the operators without writes, as TorchScript code calls them."""
    names = dict.fromkeys((evidence.op or "").removeprefix("aten::").removesuffix("_") for evidence in found)
    spelt = (f"torch.{name}" if hasattr(torch, name) else f"torch.ops.aten.{name}" for name in names)
    return listed(spelt, joint=" and ")


def _is_assumed(evidence: Evidence) -> bool:
    return ASSUMED in evidence.fact


def _counts_batches(evidence: Evidence) -> bool:
    """Returns whether the forward of a batch norm writes, as it does in training mode only."""
    return evidence.source is not None and evidence.source.file.endswith("nn/modules/batchnorm.py")


def _package(evidence: Evidence) -> str:
    match = _PACKAGE.search(evidence.source.file) if evidence.source else None
    return match["name"] if match else ""
