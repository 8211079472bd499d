"""Finds the operator and the user's line in the text of a failed call."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

_FRAME: Final = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in \S+')
_ORIGINAL: Final = "Traceback of TorchScript, original code"
_MARKED: Final = re.compile(r"^(?P<indent> *)~+.*<--- HERE")
_CALL: Final = re.compile(r"(?:torch\.(?:ops\.aten\.|nn\.functional\.|_C\._nn\.)?|F\.)(?P<operator>[a-z]\w*)")
_LIBRARY: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]|(?:^|[/\\])torch[/\\](?:nn|jit|fx|_\w+)[/\\.]|^<")
_SERIALIZED: Final = "code/__torch__"


def failure_place(error: str) -> str:
    """Returns the operator and the source line of a failed call.

    Args:
        error: text of the exception with its traceback, as torch wrote it for TorchScript, or as Python did.

    Returns:
        ``in embedding, line 9 of model.py``, or as much of it as the text tells.
    """
    _, has_original, original = error.partition(_ORIGINAL)
    lines = (original if has_original else error).splitlines()
    operator, place = "", ""
    for number, line in enumerate(lines):
        if frame := _FRAME.search(line):
            if _is_users(frame["file"]):
                place = f"line {frame['line']} of {PurePath(frame['file']).name}"
            if call := _CALL.search(lines[number + 1] if number + 1 < len(lines) else ""):
                operator = call["operator"]
        elif number and (mark := _MARKED.match(line)) and (call := _CALL.match(lines[number - 1], len(mark["indent"]))):
            operator = call["operator"]
    return ", ".join(filter(None, (f"in {operator}" if operator else "", place)))


def _is_users(file: str) -> bool:
    return not _LIBRARY.search(file) and not file.startswith(_SERIALIZED)
