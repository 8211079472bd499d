"""The type hints of the dataclasses of a trace, worked out once: Python compiles them anew on every call."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints


@cache
def type_hints(kind: type) -> dict[str, Any]:
    """Returns the types of a dataclass's fields, by name."""
    return get_type_hints(kind)
