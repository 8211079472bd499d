"""Disables passes, or single matches of a pattern, during a compile."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from freeze_engine.backends.common.disabled_pass_errors import check_can_be_disabled
from freeze_engine.backends.common.patching import Patch, patched
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.capture import replace_inside
from freeze_engine.backends.inductor.capture.known_pass_names import names_in_use, unknown
from freeze_engine.backends.inductor.capture.pass_observer import FREEZING_PASSES, JOINT_GRAPH, POST_GRAD
from freeze_engine.errors import FreezerError

LAYOUT_DECISION = "decide_layout_opt"

#: The passes that are functions of their own, by their names in a trace; each with its key in `private.OPTIONAL`.
_FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "convert_conv_weights_to_channels_last": ("channels_last",),
    "view_to_reshape": ("view_to_reshape", "late_view_to_reshape"),
    "fx_graph_cse": ("cse",),
    "constant_fold": ("constant_fold",),
    "mark_mixed_dtype_allowed_computation_ops": ("mark_mixed_dtype",),
    "recover_original_precision_folded_computation_ops": ("recover_precision",),
    "eliminate_duplicate_packed_nodes": ("deduplicate_packed",),
}
#: Passes that any compile may reach; others are known only once a compile has reached them.
_ALWAYS = (LAYOUT_DECISION, *_FUNCTIONS, "binary_folding", "pass_patterns[0]", "pass_patterns[1]", "pass_patterns[2]")
_NEEDED: Mapping[str, str] = {
    "replace_params_with_constants": "it is what freezing does",
    "fake_tensor_prop": "the passes after it read the shapes that it notes",
    "stable_topological_sort": "what runs a graph needs its nodes in order",
    "stable_sort": "what runs a graph needs its nodes in order",
    **dict.fromkeys(("freeze", "freezing_passes", "joint_graph_passes", "post_grad_passes"), "it is many passes"),
}
#: Where pattern groups and the passes that torch names run.
_STAGES = (JOINT_GRAPH, FREEZING_PASSES, POST_GRAD)
_UNASKED = ("fuse_seed_creation_pass", "fuse_offset_creation_pass")
#: The caches do not know about disabled passes.
_UNCACHED = {"fx_graph_cache": False, "fx_graph_remote_cache": False}
_lock = threading.RLock()


@dataclass(slots=True)
class DisabledPasses:
    """The passes that are disabled in one compile.

    Attributes:
        passes: names of passes.
        nodes: names of nodes; a match of a pattern that contains one is skipped.
        met: names of the passes that can be disabled and that the compile reached.
    """

    passes: tuple[str, ...] = ()
    nodes: frozenset[str] = frozenset()
    met: dict[str, None] = field(default_factory=dict)

    def skips(self, name: str) -> bool:
        """Notes that a pass would begin, and returns whether to skip it."""
        self.met[name] = None
        return name in self.passes

    def check_met(self) -> None:
        """Checks, after the compile, that passes of these names exist.

        Raises:
            FreezerError: there is none of a name.
        """
        for name in self.passes:
            if name not in (*self.met, *_ALWAYS) and name in names_in_use():
                raise FreezerError(f"without {name}: compiling this model does not reach that pass; drop the option")
        check_can_be_disabled(self.passes, (*self.met, *_ALWAYS), _NEEDED)


_spared: contextvars.ContextVar[frozenset[str]] = contextvars.ContextVar("inductor_spared_nodes", default=frozenset())
_current: contextvars.ContextVar[DisabledPasses | None] = contextvars.ContextVar("disabled_passes", default=None)


def can_be_disabled(stage: str, name: str) -> bool:
    """Returns whether a pass of a trace can be disabled; not every pass that torch names has a check before it."""
    return name in _FUNCTIONS or (stage in _STAGES and name not in (*_NEEDED, *_UNASKED))


def check_disabled_passes(names: tuple[str, ...]) -> None:
    """Checks names as far as possible before any compile; `DisabledPasses.check_met` makes the final check.

    Args:
        names: of the passes.

    Raises:
        FreezerError: one cannot be disabled, or no pass has its name.
    """
    wrong = {*(name for name in names if name in _NEEDED), *unknown(name for name in names if name not in _ALWAYS)}
    check_can_be_disabled([name for name in names if name in wrong], (*_ALWAYS, *names_in_use()), _NEEDED)


@contextlib.contextmanager
def sparing_nodes(nodes: frozenset[str]) -> Iterator[None]:
    """Skips the matches of patterns on these nodes in compiles within `disabling` until the block ends.

    Args:
        nodes: their names in the graph.
    """
    token = _spared.set(nodes)
    try:
        yield
    finally:
        _spared.reset(token)


@contextlib.contextmanager
def disabling(passes: tuple[str, ...]) -> Iterator[DisabledPasses]:
    """Disables passes in the compiles of this thread until the block ends.

    It must be entered within a capture, which then does not see the disabled passes. Only one thread at a time can do
    this.

    Args:
        passes: names as traces have them.

    Yields:
        The passes and nodes, with the passes reached so far.
    """
    disabled = DisabledPasses(passes, _spared.get())
    if not passes and not disabled.nodes:
        yield disabled
        return
    with _lock:
        replace_inside()
        config = {**_UNCACHED, **({"layout_optimization": False} if LAYOUT_DECISION in passes else {})}
        token = _current.set(disabled)
        try:
            with patched(_patches()), torch_private.inductor_config().patch(config):
                yield disabled
        finally:
            _current.reset(token)


def _patches() -> tuple[Patch, ...]:
    found = [(_function(name), key) for name, keys in _FUNCTIONS.items() for key in keys]
    found += [(_group, "apply_patterns"), (_observed, "apply_gm_pass"), (_observed, "apply_graph_pass")]
    found += [(_match, key) for key in ("graph_entry", "lowering_entry", "replacement_entry")]
    known = [(make, torch_private.OPTIONAL[key]) for make, key in found]
    return tuple(Patch(each.owner, each.attribute, make(each.found)) for make, each in known if each.found is not None)


def _function(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(graph: Any, *args: Any, **kwargs: Any) -> Any:
            disabled = _current.get()
            if disabled is None or not disabled.skips(name):
                return original(graph, *args, **kwargs)
            # Only common subexpression elimination returns a value: the graph that replaces the old one.
            return graph if name == "fx_graph_cse" else None

        return call

    return wrap


def _group(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply(group: Any, graph: Any) -> Any:
        disabled = _current.get()
        name = group.pass_name or torch_private.pattern_group_name(group)
        if disabled is None or name is None or not disabled.skips(name):
            return original(group, graph)
        return 0

    return apply


def _observed(original: Callable[..., Any]) -> Callable[..., Any]:
    """torch runs its named passes this way; its setting ``disabled_passes`` also accepts parts of names."""

    @functools.wraps(original)
    def apply(observer: Any, function: Any) -> Any:
        disabled = _current.get()
        if disabled is None or not disabled.skips(observer.passname):
            return original(observer, function)
        return None

    return apply


def _match(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply(entry: Any, match: Any, graph: Any, node: Any) -> Any:
        disabled = _current.get()
        if disabled is None or disabled.nodes.isdisjoint(each.name for each in match.nodes):
            return original(entry, match, graph, node)
        return None

    return apply
