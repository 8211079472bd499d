"""Errors for passes that cannot be disabled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from freeze_engine.errors import FreezerError

LEFT_OUT = "left_out"
"""Code of the notice that names the disabled passes of a freeze."""


def left_out_text(names: Iterable[str], call: str) -> str:
    """Returns the notice of a freeze with disabled passes.

    Args:
        names: of the passes.
        call: what would have run them.
    """
    listed = ", ".join(names)
    return f"Left out, as asked for: {listed}. This is not what {call} gives."


def check_can_be_left_out(names: Iterable[str], possible: Iterable[str], impossible: Mapping[str, str]) -> None:
    """Checks that passes can be disabled.

    Args:
        names: theirs.
        possible: names of the passes that can be.
        impossible: for others that are known, why they cannot.

    Raises:
        FreezerError: one cannot be disabled, or there is none of that name.
    """
    choice = tuple(name for name in dict.fromkeys(possible) if name not in impossible)
    for name in names:
        if name in choice:
            continue
        listed = f"what can be left out: {', '.join(choice)}"
        if name in impossible:
            raise FreezerError(f"without {name}: it cannot be left out, for {impossible[name]}; {listed}")
        close = _closest(name, (*choice, *impossible))
        meant = f" (did you mean {close}?)" if close else ""
        raise FreezerError(f"without {name}: there is no such pass{meant}; {listed}")


def _closest(name: str, known: Iterable[str]) -> str | None:
    spelt = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), spelt, n=1, cutoff=0.5)
    return spelt[found[0]] if found else None
