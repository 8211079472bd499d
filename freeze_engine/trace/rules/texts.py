"""Makes every text of a trace one that can be written.

A lone surrogate is no character: no file, page or terminal takes it. Python has them in the names of files that are not
UTF-8, and a model can put them into a message or a name.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from freeze_engine.trace import Trace
from freeze_engine.trace.rules.values import is_text, value_problems


def plain_text(text: str) -> str:
    r"""Returns a text with each lone surrogate spelled out, such as ``\udcff``."""
    return text if is_text(text) else text.encode(errors="backslashreplace").decode()


def with_plain_texts(trace: Trace) -> Trace:
    """Returns a trace with all its texts as `plain_text` gives them; the same object where nothing changes.

    Args:
        trace: as recorded.
    """
    if next(value_problems(trace), None) is None:
        return trace
    plain: Trace = _Plain().of(trace)
    return (
        plain
        if plain is trace
        else replace(plain, attributes=tuple(sorted(plain.attributes, key=lambda fate: fate.path)))
    )


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
