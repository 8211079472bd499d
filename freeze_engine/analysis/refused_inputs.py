"""Short reasons why a model does not run on its inputs, from the exceptions of Python or torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_QUOTED: Final = re.compile(r"'([^']*)'")
_ERROR: Final = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): ")
_REPEATED: Final = re.compile(r"^(\w+): \1: ")
_CALLER: Final = r"(?:\w+\.)*(?P<method>\w+)\(\)"
_MOST: Final = 300


def _names(text: str) -> str:
    *first, last = _QUOTED.findall(text) or [text]
    return f"{', '.join(first)} and {last}" if first else last


def _missing(match: re.Match[str]) -> str:
    return f"{match['method']}() is missing {_names(match['names'])}"


def _too_many(match: re.Match[str]) -> str:
    most, given = int(match["most"].split()[-1]) - 1, int(match["given"]) - 1  # without self
    takes = f"{most} input" if most == 1 else f"{most} inputs"
    return f"{match['method']}() takes {'no inputs' if not most else takes}, and {given} were given"


def _unknown(match: re.Match[str]) -> str:
    return f"{match['method']}() has no input {match['name']}"


def _twice(match: re.Match[str]) -> str:
    return f"{match['method']}() gets its input {match['name']} twice"


def _type(match: re.Match[str]) -> str:
    wanted = match["wanted"].removesuffix(" (inferred)")
    return f"{match['method']}() takes a value of type {wanted} for {match['name']}, and got one of type {match['got']}"


#: Messages of Python about a module's ``forward`` (3.10 to 3.13), and of torch about a ScriptModule's (2.6 to 2.13,
#: ``aten/src/ATen/core/function_schema_inl.h``), and how to put it. All of it counts ``self``.
_KNOWN: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(_CALLER + r" missing \d+ required (?:positional|keyword-only) arguments?: (?P<names>.+)"), _missing),
    (re.compile(_CALLER + r" is missing value for argument (?P<names>'[^']*')"), _missing),
    (
        re.compile(_CALLER + r" takes (?P<most>(?:from \d+ to )?\d+) positional arguments? but (?P<given>\d+) w"),
        _too_many,
    ),
    (
        re.compile(_CALLER + r" expected at most (?P<most>\d+) argument\(s\) but received (?P<given>\d+)"),
        _too_many,
    ),
    (re.compile(_CALLER + r" got an unexpected keyword argument '(?P<name>[^']*)'"), _unknown),
    (re.compile(r"Unknown keyword argument '(?P<name>[^']*)' for operator '(?P<method>\w+)'"), _unknown),
    (re.compile(_CALLER + r" got multiple values for argument '(?P<name>[^']*)'"), _twice),
    (
        re.compile(
            _CALLER + r" Expected a value of type '(?P<wanted>[^']*)' for argument '(?P<name>[^']*)' but instead "
            r"found type '(?P<got>[^']*)'"
        ),
        _type,
    ),
)


def plain_refusal(error: str) -> str:
    """Returns why a model refused its inputs, in one line.

    Args:
        error: type and text of what it raised, such as ``TypeError: Net.forward() missing 1 required …``.

    Returns:
        ``forward() is missing mask`` and the like; what is not known stays as it is, without torch's traceback.
    """
    kind = _ERROR.match(error)
    head = error[kind.end() :] if kind else error
    for pattern, words in _KNOWN:
        if match := pattern.match(head):
            return words(match)
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if not lines:
        return error
    raised = [line for line in lines if _ERROR.match(line)]
    said = _REPEATED.sub(r"\1: ", raised[-1] if raised else lines[0])
    return said if len(said) <= _MOST else f"{said[: _MOST - 1]}…"
