"""Makes every text of a trace one that can be written.

A lone surrogate is no character: no file, page or terminal takes it. Python has them in the names of files that are not
UTF-8, and a model can put them into a message or a name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from freeze_engine.trace import Node, Trace
from freeze_engine.trace.rules.hints import type_hints
from freeze_engine.trace.rules.values import is_text


def plain_text(text: str) -> str:
    r"""Returns a text with each lone surrogate spelled out, such as ``\udcff``."""
    return text if is_text(text) else text.encode(errors="backslashreplace").decode()


def with_plain_texts(trace: Trace) -> Trace:
    """Returns a trace with all its texts as `plain_text` gives them; the same object where nothing changes.

    Args:
        trace: as recorded.
    """
    if _are_plain(trace):
        return trace
    plain: Trace = _Plain().of(trace)
    return (
        plain
        if plain is trace
        else replace(plain, attributes=tuple(sorted(plain.attributes, key=lambda fate: fate.path)))
    )


def _are_plain(trace: Trace) -> bool:
    """Returns whether all texts of a trace are plain; what is shared is visited once."""
    seen: set[int] = set()
    texts: set[str] = set()  # a trace repeats few texts many times
    waiting: list[Any] = [trace]
    while waiting:
        value = waiting.pop()
        kind: type = type(value)
        if kind is str:
            texts.add(value)
        elif id(value) not in seen:
            seen.add(id(value))
            if kind is Node:
                _gather(value, texts, waiting)
            else:
                waiting += value if kind is tuple else _parts(kind)(value)
    return all(text.isascii() or is_text(text) for text in texts)


def _gather(node: Node, texts: set[str], waiting: list[Any]) -> None:
    """Adds the texts at hand in a node, which most of a trace is, and the parts that have others."""
    texts.update((node.id, node.op, node.module), node.inputs, *node.attributes)
    for each in node.outputs:
        texts.add(each.name)
        texts.add(each.type)
    if node.source is not None:
        waiting.append(node.source)
    if node.constant is not None:
        waiting.append(node.constant)
    if node.blocks:
        waiting += node.blocks


@functools.cache
def _parts(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Returns a function that reads the fields that may hold texts; other objects than dataclasses have none."""
    given = fields(kind) if is_dataclass(kind) else ()
    names = [field.name for field in given if _may_hold_texts(type_hints(kind)[field.name])]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _may_hold_texts(hint: Any) -> bool:
    arguments = [each for each in get_args(hint) if each is not Ellipsis]
    if get_origin(hint) is Literal:
        return True
    return any(map(_may_hold_texts, arguments)) if arguments else hint not in (int, float, bool, NoneType)


class _Plain:
    """Replaces texts, each shared part once."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """Returns a value with plain texts, itself where it has no others."""
        if isinstance(value, str):
            return plain_text(value)
        if isinstance(value, tuple):
            parts = tuple(map(self.of, value))
            return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
        if not is_dataclass(value) or isinstance(value, type):
            return value
        if id(value) not in self._known:
            given = {field.name: getattr(value, field.name) for field in fields(value)}
            changed = {name: new for name, old in given.items() if (new := self.of(old)) is not old}
            self._known[id(value)] = replace(value, **changed) if changed else value
        return self._known[id(value)]
