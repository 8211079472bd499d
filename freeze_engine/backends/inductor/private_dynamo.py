"""Private names of Dynamo: its call of the backend, the running compile, and its notes on a graph."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import require_recent
from freeze_engine.backends.inductor.private_name import PrivateName, check

_DOOR = PrivateName("torch", "_TorchCompileInductorWrapper.__call__", "input", "compiles before Inductor is imported")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")


def is_dynamo_imported() -> bool:
    """Returns whether the part of Dynamo that writes code around graphs has been imported."""
    found = sys.modules.get("torch._dynamo")
    # A module that is being imported right now has no functions to replace yet.
    return found is not None and not getattr(found.__spec__, "_initializing", False)


def front_door() -> PrivateName:
    """Returns the function that gets every graph from ``torch.compile``, before that imports Inductor.

    Raises:
        UnsupportedTorchError: this torch is too old, or does not have it.
    """
    require_recent()
    check(_DOOR)
    return _DOOR


def isolated_backend(mode: str | None, dynamic: bool | None) -> Any:
    """Returns Inductor as a backend that equals no other, for `torch.compile`.

    Dynamo keeps what it compiled with the code of a function, and runs it for every module whose guards pass and whose
    backend is equal. Code compiled without freezing takes the parameters as inputs, has guards that any module of the
    class passes, and would be run in the place of frozen code from then on (torch 2.13).

    Args:
        mode: of ``torch.compile``.
        dynamic: likewise.
    """
    wrapper = front_door().owner
    members = {"__eq__": object.__eq__, "__hash__": object.__hash__}
    return type("IsolatedInductor", (wrapper,), members)(mode or "default", None, dynamic)


def compile_arguments(wrapper: Any) -> Mapping[str, Any]:
    """Returns the arguments of the ``torch.compile`` call whose graph Dynamo hands over now, as far as they are kept.

    torch turns a mode into options, and takes no options beside a mode (torch 2.13).

    Args:
        wrapper: Inductor as ``torch.compile``'s backend.

    Returns:
        ``mode``, ``dynamic``, ``fullgraph`` and ``options``; what torch does not tell is left out.
    """
    options, dynamic = dict(getattr(wrapper, "config", None) or {}), getattr(wrapper, "dynamic", None)
    modes: Mapping[str, Any] = getattr(importlib.import_module("torch._inductor"), "list_mode_options", dict)()
    mode = next((name for name, settings in modes.items() if settings == options), None)
    found = {"options": options} if mode is None else {"mode": mode}
    translator = getattr(importlib.import_module("torch._dynamo.symbolic_convert"), "InstructionTranslator", None)
    try:
        is_one = translator.current_tx().one_graph if translator is not None else None
    except AttributeError:  # this torch keeps it elsewhere, or Dynamo does not run
        is_one = None
    known = {"dynamic": dynamic, "fullgraph": is_one}
    return {**found, **{name: value for name, value in known.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """The user's function whose graph Dynamo hands over, where that is no method of a module.

    Attributes:
        name: qualified name, such as ``Server.answer``.
        arguments: names of what its caller passes; anything else it reads from its closure, its object, or a global.
    """

    name: str
    arguments: frozenset[str]


def compiled_function() -> CompiledFunction | None:
    """Returns the function that Dynamo translates now; ``None`` for a module's, or if this torch does not keep it."""
    code, values = _translated()
    if code is None:
        return None
    # Callables of torch's own go through a function of Dynamo's (torch/_dynamo/external_utils.py, wrap_inline).
    wrapped = values.get("fn") if code.co_filename.endswith("external_utils.py") else None
    wrapped = getattr(wrapped, "cell_contents", wrapped)
    receiver = _receiver(code, values)
    if isinstance(values.get(receiver), torch.nn.Module) or isinstance(wrapped, torch.nn.Module):
        return None
    name = getattr(wrapped, "__qualname__", "") or getattr(code, "co_qualname", code.co_name)  # new in Python 3.11
    count = code.co_argcount + code.co_kwonlyargcount
    count += sum(bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS))
    arguments = frozenset(code.co_varnames[:count]) - {receiver}
    resumed = _RESUMED.fullmatch(code.co_name)
    return CompiledFunction(resumed[1] if resumed else name.rpartition("<locals>.")[2], arguments)


def is_resumed() -> bool:
    """Returns whether the code that Dynamo translates now is the rest of a function, after a graph break."""
    code, _ = _translated()
    return code is not None and _RESUMED.fullmatch(code.co_name) is not None


def _translated() -> tuple[types.CodeType | None, Mapping[str, Any]]:
    """Returns the code that Dynamo translates now, and its variables; no code if this torch does not keep it."""
    translator = getattr(importlib.import_module("torch._dynamo.symbolic_convert"), "InstructionTranslator", None)
    try:
        running: Any = translator.current_tx() if translator is not None else None
        return running.f_code, running.f_locals
    except AttributeError:
        return None, {}


def _receiver(code: types.CodeType, values: Mapping[str, Any]) -> str:
    """Returns the name of the argument that is the object whose method runs, whatever that method calls it."""
    if "self" in values:
        return "self"
    resumed = _RESUMED.fullmatch(code.co_name)
    for name in code.co_varnames[: code.co_argcount]:
        method = inspect.getattr_static(type(values.get(name)), resumed[1] if resumed else code.co_name, None)
        written = getattr(getattr(method, "__wrapped__", method), "__code__", None)  # of a decorated one, too
        if isinstance(written, types.CodeType) and (written.co_filename, written.co_varnames[:1]) == (
            code.co_filename,
            (name,),
        ):
            return name
    return ""


def compiled_functions() -> int:
    """Returns how many functions Dynamo has compiled since its last reset, and still holds."""
    codes = getattr(sys.modules.get("torch._dynamo.convert_frame"), "output_codes", None)
    return sum(code() is not None for code in getattr(codes, "seen", ()))


def tracing_context() -> Any:
    """Returns the context of Dynamo and AOTAutograd for the graph that is compiled now, ``None`` outside a compile."""
    return importlib.import_module("torch._guards").TracingContext.try_get()


def current_compile_id() -> str | None:
    """Returns Dynamo's name of the compile that runs now (``0/1``: frame 0, its second compile), if it has one."""
    found = importlib.import_module("torch._guards").CompileContext.current_compile_id()
    return None if found is None else str(found)


def without_modes() -> AbstractContextManager[Any]:
    """Returns a context in which operators run as outside a compile, where torch treats every tensor as fake."""
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    modes: AbstractContextManager[Any] = dispatch._disable_current_modes()
    return modes


def source_name(source: Any) -> str:
    """Returns the name of where a value comes from, such as ``L['self'].scale``; empty for a cell, which has none."""
    try:
        name = source.name
        return str(name() if callable(name) else name)  # a method up to torch 2.9
    except NotImplementedError:  # LocalCellSource, torch 2.13
        return ""


def is_source(value: Any) -> bool:
    """Returns whether a value of Dynamo's code generation is a source, and not a value that it tracks."""
    return isinstance(value, importlib.import_module("torch._guards").Source)


def guarded_names(context: Any) -> frozenset[str]:
    """Returns the sources that Dynamo has guards on in a compile, by name.

    Args:
        context: what `tracing_context` returns.
    """
    guards = getattr(getattr(context, "guards_context", None), "dynamo_guards", ())
    return frozenset(str(guard.name) for guard in guards)


def graph_notes(module: Any) -> Mapping[str, Any]:
    """Returns Dynamo's notes on its captured graph.

    Returns:
        ``reason``: the reason for the graph's end; ``sources``: the Python source of each name of the graph;
        ``paths``: the path in the user's module of each parameter and buffer, by the graph's flat name.
    """
    return {
        "reason": getattr(module, "compile_subgraph_reason", None),
        "sources": getattr(module, "_param_name_to_source", None) or {},
        "paths": getattr(module, "meta", {}).get("dynamo_flat_name_to_original_fqn", {}),
    }
