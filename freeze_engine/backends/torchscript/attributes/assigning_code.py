"""Reads assignments of attributes in source lines: the objects that they mean, as paths from ``self``."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

ANY: Final = "*"
"""Stands for one part of a path that the code does not show, as that of ``part`` in ``for part in self.parts``."""
Holders = tuple[tuple[str, ...], ...]
"""Objects that code may mean, each as the parts of a path from the module it runs in; none where it does not show."""

_WORD: Final = re.compile(r"\w+")


def assigned(statement: ast.stmt) -> Iterator[ast.Attribute]:
    """Yields the attributes that a statement's first line assigns; a branch may have its body after the colon."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Assign) and each.lineno == 1:
            targets = each.targets
        elif isinstance(each, (ast.AugAssign, ast.AnnAssign)) and each.lineno == 1:
            targets = [each.target]
        else:
            continue
        for target in targets:
            yield from _attributes(target)


def literal(statement: ast.stmt) -> float | None:
    """Returns the number that a statement assigns, ``None`` if it assigns no plain number."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant):
        number = value.operand.value
        return -number if isinstance(number, (int, float)) else None
    return float(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) else None


def holders(target: ast.Attribute, names: Mapping[str, Holders]) -> Holders:
    """Returns the objects whose attribute a target may be.

    Args:
        target: the attribute.
        names: the local variables of the function that are parts of ``self``.
    """
    return _paths(target.value, names)


def local_names(lines: Sequence[str]) -> dict[str, Holders]:
    """Returns the local variables of a function that stand for parts of ``self``, each with all that it stands for.

    Args:
        lines: those of the function that are known.
    """
    found: dict[str, Holders] = {}
    for line in lines:
        for name, value in _bound(line):
            found[name] = (*found.get(name, ()), *_paths(value, found))
    return found


def inside_strings(lines: Sequence[str]) -> frozenset[int]:
    """Returns the numbers of the lines, from 0, that begin inside a string, such as those of a docstring."""
    found: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            if token.type == tokenize.STRING:
                found.update(range(token.start[0], token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        pass  # the lines end within the function
    return frozenset(found)


def mentions(text: str, name: str) -> bool:
    """Returns whether a line has a word."""
    return name in text and name in _WORD.findall(text)


def _attributes(target: ast.expr) -> Iterator[ast.Attribute]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _attributes(each)
    elif isinstance(target, ast.Attribute):
        yield target


def _paths(expression: ast.expr, names: Mapping[str, Holders]) -> Holders:
    if isinstance(expression, ast.Name):
        return ((),) if expression.id == "self" else names.get(expression.id, ())
    if isinstance(expression, ast.Attribute):
        part = expression.attr
    elif isinstance(expression, ast.Subscript):
        part = _index(expression.slice)
    else:
        return ()
    return tuple((*path, part) for path in _paths(expression.value, names))


def _index(index: ast.expr) -> str:
    try:
        value = ast.literal_eval(index)
    except ValueError:
        return ANY
    return str(value) if isinstance(value, (int, str)) else ANY


def _bound(line: str) -> Iterator[tuple[str, ast.expr]]:
    """Yields the names that a line binds, with the value of each."""
    text = line.strip()
    try:
        (statement,) = ast.parse(f"{text} pass" if text.endswith(":") else text).body
    except (SyntaxError, ValueError):
        return
    if isinstance(statement, ast.Assign):
        yield from ((target.id, statement.value) for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.For):
        yield from _bound_in_loop(statement)


def _bound_in_loop(loop: ast.For) -> Iterator[tuple[str, ast.expr]]:
    last = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    several = loop.iter
    if isinstance(several, ast.Call):
        wraps = isinstance(several.func, ast.Name) and several.func.id == "enumerate" and several.args
        several = several.args[0] if wraps else several.func
    if isinstance(several, ast.Attribute) and several.attr in ("items", "values") and several is not loop.iter:
        several = several.value
    if isinstance(last, ast.Name):
        yield last.id, ast.Subscript(value=several, slice=ast.Name(id=ANY))
