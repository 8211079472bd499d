"""Sees the processes that this one starts, and the moments at which it ends without a word."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from freeze_engine.backends.common.patching import Patch, patched
from freeze_engine.captures.shell_commands import shell_commands

#: Functions of `os` that start a process or become one: the place of the program, of its words, of its environment.
#: The other functions of these families, such as `os.execlp`, call one of these.
_STARTING: Final = {
    "execv": (0, 1, None),
    "execve": (0, 1, 2),
    "spawnv": (1, 2, None),
    "spawnve": (1, 2, 3),
    "spawnvp": (1, 2, None),
    "spawnvpe": (1, 2, 3),
    "posix_spawn": (0, 1, 2),
    "posix_spawnp": (0, 1, 2),
}
_BECOMING: Final = ("execv", "execve")


class StartObserver(Protocol):
    """Receives what the process starts, and its end."""

    def started(self, program: str, words: Sequence[str], environment: Mapping[str, str] | None) -> None:
        """Receives a process that is about to start.

        Args:
            program: what is run.
            words: of the command, the program included.
            environment: of the process, ``None`` for that of this one.
        """

    def leaving(self, by: str) -> None:
        """Receives the function of `os` that ends this process, or makes it another program, without exit handlers."""


@contextlib.contextmanager
def observing_starts(observer: StartObserver) -> Iterator[None]:
    """Reports starts and ends in this process to an observer during the block; forks are left out.

    Args:
        observer: its exceptions are left out: starting and ending are the user's.
    """
    own = os.getpid()

    def here(tell: Callable[[], None]) -> None:
        if os.getpid() == own:
            with contextlib.suppress(Exception):  # a wrong call is for the function itself to refuse
                tell()

    names = [name for name in _STARTING if hasattr(os, name)]
    found = [Patch(os, name, _observed(name, getattr(os, name), observer, here)) for name in names]
    found += [
        Patch(os, "system", _observed_shell(os.system, observer, here)),
        Patch(os, "_exit", _observed_exit(os._exit, observer, here)),
        Patch(subprocess.Popen, "__init__", _observed_popen(subprocess.Popen.__init__, observer, here)),
    ]
    with patched(tuple(found)):
        yield


_Here = Callable[[Callable[[], None]], None]


def _observed(name: str, original: Callable[..., Any], observer: StartObserver, here: _Here) -> Callable[..., Any]:
    program, words, environment = _STARTING[name]

    @functools.wraps(original)
    def start(*args: Any, **named: Any) -> Any:
        def tell() -> None:
            given = None if environment is None else _decoded(args[environment])
            observer.started(os.fsdecode(args[program]), [os.fsdecode(each) for each in args[words]], given)

        def tell_end() -> None:
            if _can_run(args[program]):
                observer.leaving(f"os.{name}")

        here(tell)
        if name in _BECOMING:
            here(tell_end)
        return original(*args, **named)

    return start


def _can_run(program: Any) -> bool:
    """Returns whether there is such a program: `os.execvp` tries one folder of PATH after the other."""
    return Path(os.fsdecode(program)).is_file() and os.access(program, os.X_OK)


def _observed_shell(original: Callable[..., int], observer: StartObserver, here: _Here) -> Callable[..., int]:
    @functools.wraps(original)
    def system(command: Any) -> int:
        here(lambda: _tell_shell(observer, os.fsdecode(command), None))
        return original(command)

    return system


def _observed_exit(original: Callable[..., Any], observer: StartObserver, here: _Here) -> Callable[..., Any]:
    @functools.wraps(original)
    def leave(*args: Any, **named: Any) -> Any:
        try:
            here(lambda: observer.leaving("os._exit"))
        finally:
            original(*args, **named)

    return leave


def _observed_popen(original: Callable[..., None], observer: StartObserver, here: _Here) -> Callable[..., None]:
    @functools.wraps(original)
    def start(self: Any, args: Any, *more: Any, **named: Any) -> None:
        def tell() -> None:
            words = [os.fsdecode(each) for each in ([args] if isinstance(args, (str, bytes, os.PathLike)) else args)]
            environment = _decoded(named.get("env"))
            if named.get("shell"):
                _tell_shell(observer, words[0], environment)
            else:
                observer.started(os.fsdecode(named.get("executable") or words[0]), words, environment)

        here(tell)
        original(self, args, *more, **named)

    return start


def _tell_shell(observer: StartObserver, command: str, environment: Mapping[str, str] | None) -> None:
    for words, changed in shell_commands(command, os.environ if environment is None else environment):
        observer.started(words[0], words, environment if changed is None else changed)


def _decoded(environment: Any) -> Mapping[str, str] | None:
    if environment is None or environment is os.environ:
        return None
    return {os.fsdecode(key): os.fsdecode(text) for key, text in environment.items()}
