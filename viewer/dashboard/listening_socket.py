"""Opens the server's socket before the heavy imports, so that the browser can start meanwhile."""

from __future__ import annotations

import errno
import socket
from typing import Final

import freeze_engine as fe

DEFAULT_PORT: Final = 7007
_PORTS_TRIED: Final = 50
_BACKLOG: Final = 128


def listen(host: str, port: int | None) -> socket.socket:
    """Opens a listening socket.

    Args:
        host: address to listen on.
        port: to listen on; ``None`` for the default port, or the next one that is free.

    Raises:
        FreezerError: the port is taken, or the address is not this machine's.
    """
    if port is not None:
        return _bound(host, port)
    for number in range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED):
        try:
            return _bind(host, number)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise _refused(host, number, error) from error
    return _bound(host, 0)


def port_of(listening: socket.socket) -> int:
    """Returns the port that a socket listens on."""
    port: int = listening.getsockname()[1]
    return port


def _bound(host: str, port: int) -> socket.socket:
    try:
        return _bind(host, port)
    except OSError as error:
        raise _refused(host, port, error) from error


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    listening.setblocking(False)
    return listening


def _refused(host: str, port: int, error: OSError) -> fe.FreezerError:
    if error.errno == errno.EADDRINUSE:
        return fe.FreezerError(f"port {port} is taken; give another one, or leave out --port to get one that is free")
    cause = (error.strerror or str(error)).partition(" (while")[0]  # socket.create_server says the address once more
    return fe.FreezerError(f"cannot listen on {host}, port {port}: {cause}; give another --host")
