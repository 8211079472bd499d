"""Parses Python text that others wrote, and never runs it."""

from __future__ import annotations

import ast
import warnings
from typing import Literal, overload


@overload
def parse(text: str, mode: Literal["exec"] = ...) -> ast.Module: ...
@overload
def parse(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """Parses a text as `ast.parse` does, without Python's warnings about its style.

    Raises:
        SyntaxError: the text is no Python.
        ValueError: it has a zero byte, or a number of too many digits.
        RecursionError: it nests too deeply.
        MemoryError: as before, found by the parser itself.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)  # what SyntaxWarning was before Python 3.12
        return ast.parse(text, mode=mode)  # type: ignore[return-value]
