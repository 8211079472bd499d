"""Validates the address of a request before any handler runs, Bokeh's and tornado's own included.

Handlers receive addresses of plain text only: none has to expect NUL bytes, broken UTF-8 or a name that no file system
accepts, and none can fail on them.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote_to_bytes

from tornado.httputil import HTTPServerRequest

MAX_ADDRESS: Final = 1 << 14
"""Most characters of an address, with the escapes counted."""

MAX_VALUE: Final = 1 << 12
"""Most bytes of a path or an argument: as many as a path of Linux may have."""


def fault(request: HTTPServerRequest) -> str | None:
    """Returns the fault of a request's address, ``None`` if it is valid.

    Args:
        request: any request, with its headers read.
    """
    if not request.path.startswith("/") or request.path.startswith("//"):
        return "The address has to be a path on this server."
    if len(request.uri or "") > MAX_ADDRESS:
        return f"The address is longer than {MAX_ADDRESS} characters."
    parts = [("path", unquote_to_bytes(request.path.encode("latin-1", "replace")))]
    for name, values in request.query_arguments.items():
        if len(values) > 1:
            return f"The address has the argument {name!r:.80} more than once."
        if name.startswith("bokeh-"):  # pages get their session from this server, and never name one
            return f"The argument {name!r:.80} is not taken."
        parts += [("name of an argument", name.encode("latin-1", "replace")), (f"argument {name!r:.80}", values[0])]
    if "Bokeh-Session-Id" in request.headers:
        return "The header Bokeh-Session-Id is not taken."
    return next((text for what, value in parts if (text := _fault_of(what, value))), None)


def _fault_of(what: str, value: bytes) -> str | None:
    if len(value) > MAX_VALUE:
        return f"The {what} is longer than {MAX_VALUE} bytes."
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return f"The {what} is not UTF-8."
    if "\0" in text:
        return f"The {what} has a NUL byte."
    return None
