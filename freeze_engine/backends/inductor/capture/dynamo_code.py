"""What the code that Dynamo writes around a graph reads from the module, and what it assigns to it.

Dynamo loads a tensor that a function returns unchanged from where the function got it, and assigns attributes after the
graph has run (``OutputGraph.codegen_suffix`` in ``torch/_dynamo/output_graph.py``, torch 2.13). No graph shows either.
"""

from __future__ import annotations

import contextvars
import functools
import linecache
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from freeze_engine.backends.common.patching import Patch
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.raw import Assignment
from freeze_engine.backends.inductor.graph.graph_inputs import Inventory, source_path
from freeze_engine.backends.inductor.graph.snapshot import source_ref
from freeze_engine.trace import SourceRef

_TABLE = re.compile(r"\.(?:_buffers|_parameters|__dict__\['_(?:buffers|parameters)'\])$")
"""The end of Dynamo's name of a module's table of registered tensors, by how the function came to it."""
_MISSING = object()


@dataclass(slots=True)
class _Code:
    """Notes on the code around one graph.

    Attributes:
        context: torch's context of the compile.
        loaded: Dynamo's names of the values that the code loads to return them or to pass them on.
        assigned: Dynamo's name of each attribute that it assigns, with the user's line.
        changed: those of them that held a plain value, and get another.
        written: of those that get a tensor of the graph, written in place, its name there.
        is_whole: whether all of it could be read; another torch may lay it out otherwise.
    """

    context: Any
    loaded: set[str] = field(default_factory=set)
    assigned: dict[str, SourceRef | None] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    written: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True


_code: contextvars.ContextVar[_Code | None] = contextvars.ContextVar("inductor_dynamo_code", default=None)


def dynamo_patches(is_watched: Callable[[], bool]) -> tuple[Patch, ...]:
    """Returns the replacements that note what Dynamo's code does.

    Args:
        is_watched: whether anybody watches what is compiled now.
    """
    hooks = {"restore_stack": _restoring, "update_mutated": _updating}
    known = ((torch_private.OPTIONAL[key], hook) for key, hook in hooks.items())
    return tuple(
        Patch(name.owner, name.attribute, hook(name.found, is_watched))
        for name, hook in known
        if name.found is not None
    )


def live_paths(context: Any, notes: Mapping[str, Any], inventory: Inventory) -> frozenset[str] | None:
    """Returns the attributes that the code around the graph reads from the module at every call.

    Args:
        context: torch's, of the compile that runs now.
        notes: what Dynamo noted on the graph.
        inventory: of the model.

    Returns:
        Their paths; ``None`` where this torch does not show it.
    """
    if context is None or torch_private.OPTIONAL["restore_stack"].found is None or not _of(context).is_whole:
        return None
    tensors = _tensors(context, notes)
    loaded = [path for name in _of(context).loaded for path in _paths(name, tensors, inventory)]
    inner = [name for path in loaded for name in inventory.attributes[path].inner]
    return frozenset((*loaded, *inner))


def assignments(context: Any, notes: Mapping[str, Any], inventory: Inventory) -> tuple[Assignment, ...]:
    """Returns the attributes that the function assigns although torch checks before each call that they are the same.

    Args:
        context: torch's, of the compile that runs now.
        notes: what Dynamo noted on the graph.
        inventory: of the model.
    """
    if context is None:
        return ()
    code, tensors, guarded = _of(context), _tensors(context, notes), torch_private.guarded_names(context)
    held = context.module_context.nn_modules
    found = []
    for name, source in code.assigned.items():
        paths = _paths(name, tensors, inventory)
        kept = held.get(code.written.get(name, ""))
        if isinstance(kept, torch.Tensor) and not set(paths).isdisjoint(inventory.paths(kept)):
            continue  # such as ``self.count += 1``: the tensor stays the one that torch checks for
        known = (inventory.attributes[path] for path in paths)
        # Assigning a registered tensor looks it up in the module's table, so Dynamo checks that one as well.
        found += [Assignment(each.path, source, True) for each in known if each.touched or each.kind != "attribute"]
        if not paths and name in code.changed and name in guarded:
            found.append(Assignment(source_path(name)[1], source, False))
    return tuple(found)


def _of(context: Any) -> _Code:
    code = _code.get()
    if code is None or code.context is not context:
        code = _Code(context)
        _code.set(code)
    return code


@contextmanager
def _reading(context: Any) -> Iterator[_Code]:
    """Gives the notes on a compile; what torch lays out otherwise than 2.13 does leaves them incomplete.

    The block runs within the user's own compile, which must not fail for what is only noted.
    """
    code = _of(context)
    try:
        yield code
    except (AttributeError, LookupError, NotImplementedError, RecursionError, TypeError, ValueError):
        code.is_whole = False


def _tensors(context: Any, notes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tensors that Dynamo made attributes of its graph, by its names of where they come from."""
    held = context.module_context.nn_modules
    return {torch_private.source_name(source): held[name] for name, source in notes["sources"].items() if name in held}


def _paths(name: str, tensors: Mapping[str, Any], inventory: Inventory) -> tuple[str, ...]:
    known = inventory.paths(tensors[name]) if isinstance(tensors.get(name), torch.Tensor) else ()
    path = source_path(name)[1]
    return known or ((path,) if path in inventory.attributes else ())


def _restoring(original: Callable[..., Any], is_watched: Callable[[], bool]) -> Callable[..., Any]:
    @functools.wraps(original)
    def restore(codegen: Any, *args: Any, **kwargs: Any) -> Any:
        context = torch_private.tracing_context() if is_watched() else None
        if context is None:
            return original(codegen, *args, **kwargs)
        before = Counter(codegen.uses)
        result = original(codegen, *args, **kwargs)
        with _reading(context) as code:
            loaded = [value for value in codegen.uses - before if torch_private.is_source(value)]
            # torch 2.6 counts uses of variables only, not of the sources from which it loads them.
            loaded = loaded or list(_sources(args[0] if args else kwargs["stack_values"]))
            code.loaded.update(map(torch_private.source_name, loaded))
        return result

    return restore


def _sources(values: Iterable[Any]) -> Iterator[Any]:
    """Yields the sources of the values on Dynamo's stack, and of the values that lists and dictionaries there hold."""
    for value in values:
        source, items = getattr(value, "source", None), getattr(value, "items", ())
        if source is not None:
            yield source
        elif isinstance(items, Mapping):
            yield from _sources(items.values())
        elif isinstance(items, (list, tuple)):
            yield from _sources(items)


def _updating(original: Callable[..., Any], is_watched: Callable[[], bool]) -> Callable[..., Any]:
    @functools.wraps(original)
    def update(effects: Any, *args: Any, **kwargs: Any) -> Any:
        context = torch_private.tracing_context() if is_watched() else None
        if context is not None:
            with _reading(context) as code:
                for holder, attribute, value, before in _written(effects):
                    name = f"{holder}.{attribute}"
                    code.written[name] = _written_tensor(value)
                    code.assigned[name] = _line(value, attribute)
                    if _is_other(value, before):
                        code.changed.add(name)
        return original(effects, *args, **kwargs)

    return update


def _written(effects: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """Yields the holder, the name, the new and the old value of each attribute that gets another value."""
    for variable, values in getattr(effects, "store_attr_mutations", {}).items():
        if getattr(variable, "source", None) is None:
            continue
        holder = torch_private.source_name(variable.source)
        for attribute, value in values.items():
            if not _is_itself(value, f"{holder}.{attribute}"):
                yield holder, attribute, value, getattr(getattr(variable, "value", None), attribute, _MISSING)
    for variable in getattr(effects, "id_to_variable", {}).values():
        name = torch_private.source_name(variable.source) if getattr(variable, "source", None) is not None else ""
        table = _TABLE.search(name)
        if table is not None and isinstance(getattr(variable, "items", None), dict):
            originals = getattr(variable, "original_items", {})
            for key, value in variable.items.items():
                if originals.get(key) is not value and getattr(value, "source", None) is None:
                    yield name[: table.start()], str(key.vt.as_python_constant()), value, _MISSING


def _is_itself(value: Any, name: str) -> bool:
    source = getattr(value, "source", None)
    return source is not None and torch_private.source_name(source) == name


def _written_tensor(value: Any) -> str:
    """Returns the name of the graph's tensor that a new value is, after operators that write in place; else empty."""
    node = getattr(getattr(value, "proxy", None), "node", None)
    while node is not None and node.op in ("call_function", "call_method"):
        # Under fake tensors, too, such an operator returns the object that it was given (torch 2.13.0).
        made = node.meta.get("example_value")
        node = next((each for each in node.all_input_nodes if each.meta.get("example_value") is made), None)
    return "" if node is None else str(node.target)


def _is_other(value: Any, before: Any) -> bool:
    """Whether a plain value is replaced by another."""
    if not isinstance(before, (bool, int, float, str)) or not value.is_python_constant():
        return isinstance(before, (int, float))  # what is computed in the graph is another number every time
    return bool(value.as_python_constant() != before)


def _line(value: Any, attribute: str) -> SourceRef | None:
    """Returns the line that computes a value, if its text assigns the attribute."""
    node = getattr(getattr(value, "proxy", None), "node", None)
    place = source_ref(getattr(node, "stack_trace", None))
    text = linecache.getline(place.file, place.line) if place is not None else ""
    return place if re.search(rf"\.{re.escape(attribute)}\s*(:[^=]+)?([-+*/@|&^%]|//|\*\*)?=[^=]", text) else None
