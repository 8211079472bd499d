"""Collects the compiles of one capture, and the modules they come from."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any, Literal

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.events import CompileObserver
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.graph_inputs import outermost, source_path

UnrecordedCompile = Literal["gradients", "not_configured"]
"""Why Inductor froze nothing: gradients were on, although freezing is configured; freezing is off."""


class CompileCapture:
    """The compiles seen by one ``with`` block, in the order they began.

    Args:
        model: the module from which the paths of attributes start, if it is known.
        keep_inputs: whether to keep alive the tensors that the compiled graphs were first called with.
        observer: receives the events of compiles.
        freezing: whether to see the compiles with freezing, or those without it.
    """

    def __init__(
        self,
        model: torch.nn.Module | None = None,
        keep_inputs: bool = False,
        observer: CompileObserver | None = None,
        freezing: bool = True,
    ) -> None:
        self.compiles: list[RawCompile] = []
        #: Counts of compiles that are not in the list, by the code of the reason.
        self.unrecorded: Counter[UnrecordedCompile] = Counter()
        #: How many functions Dynamo had compiled when the capture began.
        self.compiled_before = torch_private.compiled_functions()
        #: The exceptions of this package that kept compiles from being recorded, in words.
        self.unread: list[str] = []
        #: How many functions torch.compile made for Inductor, and how many graphs Dynamo passed on of any.
        self.functions_made = self.graphs_seen = 0
        self.freezing = freezing
        self.observer = observer
        self.keep_inputs = keep_inputs
        self._model = model
        self._roots: list[weakref.ref[torch.nn.Module]] = []

    def continued(self, compiled: RawCompile) -> None:
        """Emits that something was added to a compile that had ended."""
        if self.observer is not None:
            self.observer.compile_ended(compiled)

    def roots(self, context: Any, is_function: bool = False) -> tuple[tuple[str, torch.nn.Module], ...]:
        """Returns the outermost modules that a graph comes from, each with the prefix of its paths.

        After a graph break inside a submodule, Dynamo compiles that module's own ``forward``; its paths are still
        those from the outermost module that the capture has seen.

        Args:
            context: Dynamo's, of the compile.
            is_function: whether a function was compiled that is no method of a module: paths then begin with the name
                by which it reaches the module.
        """
        if self._model is not None:
            return (("", self._model),)
        held = dict(context.module_context.nn_modules) if context is not None else {}
        named = {name: module for name, module in held.items() if not _is_subgraph(name, module)}
        modules = {id(module): name for name, module in named.items()}
        known = [root for reference in self._roots if (root := reference()) is not None]
        found = outermost([*known, *named.values()])
        self._roots = [weakref.ref(root) for root in found]
        mine = [root for root in found if any(id(module) in modules for module in root.modules())]
        if len(mine) == 1 and not is_function:
            return (("", mine[0]),)
        places = (source_path(modules.get(id(root), "")) for root in mine)
        return tuple((".".join(filter(None, place)), root) for place, root in zip(places, mine, strict=True))


def _is_subgraph(name: str, module: Any) -> bool:
    """Returns whether Dynamo made a module itself, for a branch or the like: it has no name in the user's code."""
    return isinstance(module, torch.fx.GraphModule) and not source_path(name)[0]
