"""Errors for passes that cannot be disabled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from freeze_engine.errors import FreezerError


def disabled_passes_text(names: Iterable[str], call: str) -> str:
    """Returns the notice of a freeze with disabled passes.

    Args:
        names: of the passes.
        call: what would have run them.
    """
    listed = ", ".join(names)
    return f"Disabled passes: {listed}. {call} alone gives another result."


def check_can_be_disabled(names: Iterable[str], possible: Iterable[str], impossible: Mapping[str, str]) -> None:
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
        listed = f"passes that can be disabled: {', '.join(choice)}"
        if name in impossible:
            raise FreezerError(f"without {name}: this pass cannot be disabled, because {impossible[name]}; {listed}")
        close = _closest(name, (*choice, *impossible))
        meant = f" (did you mean {close}?)" if close else ""
        raise FreezerError(f"without {name}: there is no such pass{meant}; {listed}")


def _closest(name: str, known: Iterable[str]) -> str | None:
    spelt = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), spelt, n=1, cutoff=0.5)
    return spelt[found[0]] if found else None
