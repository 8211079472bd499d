"""Finds the kernels in the code that Inductor generated."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from freeze_engine.process import foreign_code

Kind = Literal["cpp", "triton", "extern"]

_COMPILED = re.compile(r"^(\w+) = async_compile\.(\w+)\(", re.MULTILINE)
_BUFFER = re.compile(r"buf\d+")
_EXTERN = re.compile(r"(extern_kernels|torch\.ops|aten|inductor_ops)\.\w")
#: Operators by which the generated code arranges its memory; they compute nothing.
_ARRANGING = {"torch.ops.inductor._alloc_from_pool", "inductor_ops._alloc_from_pool"}
#: Start of the code that Inductor writes below the program, to run it on random inputs.
_BENCHMARKS = {"get_args", "benchmark_compiled_module"}


@dataclass(frozen=True, slots=True)
class Call:
    """A place where the generated code calls a kernel.

    Attributes:
        name: of the kernel.
        kind: what it is.
        line, column: where the call begins in the code; the line 1-based, the column 0-based.
        buffers: names of its buffer arguments, in order, whether it reads or writes them.
    """

    name: str
    kind: Kind
    line: int
    column: int
    buffers: tuple[str, ...] = ()


def calls(code: str) -> tuple[Call, ...]:
    """Returns the calls of kernels in generated code, in their order.

    Args:
        code: text of the Python module that Inductor wrote; that of a C++ wrapper has none that can be read.
    """
    try:
        module = foreign_code.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # zero bytes, or brackets that nest too deeply
        return ()
    compiled: dict[str, Kind] = {name: _kind(language) for name, language in _COMPILED.findall(code)}
    return tuple(sorted(_calls(module, compiled), key=lambda call: (call.line, call.column)))


def kernel_lines(code: str) -> Iterator[str]:
    """Yields a line for each kernel that the generated code compiles, and each library function that it calls.

    Args:
        code: text of the Python module that Inductor wrote.
    """
    for name, language in _COMPILED.findall(code):
        yield f"kernel {name} ({language})"
    for name, count in Counter(call.name for call in calls(code) if call.kind == "extern").items():
        yield f"calls {name}" + (f" ({count} times)" if count > 1 else "")


def _calls(module: ast.Module, compiled: Mapping[str, Kind]) -> Iterator[Call]:
    waiting: list[ast.AST] = [
        each
        for each in module.body
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name not in _BENCHMARKS
    ]
    while waiting:
        node = waiting.pop()
        waiting += ast.iter_child_nodes(node)
        if not isinstance(node, ast.Call) or (name := dotted(node.func)) is None:
            continue
        kernel = name.removesuffix(".run")
        if kernel in compiled:
            yield Call(kernel, compiled[kernel], node.lineno, node.col_offset, _buffers(node))
        elif _EXTERN.match(name) and name not in _ARRANGING:
            full = f"torch.ops.{name}" if name.startswith("aten.") else name
            yield Call(full, "extern", node.lineno, node.col_offset, _buffers(node))


def _buffers(call: ast.Call) -> tuple[str, ...]:
    names = (
        each.id
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for each in ast.walk(argument)
        if isinstance(each, ast.Name) and _BUFFER.fullmatch(each.id)
    )
    return tuple(dict.fromkeys(names))


def dotted(function: ast.expr) -> str | None:
    """Returns the dotted name of the called function, ``None`` for anything that is not simply a name."""
    parts = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return None
    return ".".join((function.id, *reversed(parts)))


def _kind(language: str) -> Kind:
    if language.startswith("cpp"):
        return "cpp"
    return "triton" if language.startswith("triton") else "extern"
