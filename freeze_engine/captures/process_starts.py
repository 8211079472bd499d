"""Sees the processes that this one starts, may give them another environment, and sees its own end without a word."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import threading
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

    def environment(self, words: Sequence[str], given: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Returns the environment that a process is to get, ``None`` for that of this one.

        Args:
            words: of the command, the program included.
            given: the environment that the user's code gives it, ``None`` for that of this process.
        """

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
    """Reports starts, those of forks too, and the end of this process to an observer during the block.

    Args:
        observer: its exceptions are left out: starting and ending are the user's.
    """
    own = os.getpid()

    def leaving(by: str) -> None:
        if os.getpid() == own:
            with contextlib.suppress(Exception):
                observer.leaving(by)

    names = [name for name in _STARTING if hasattr(os, name)]
    found = [Patch(os, name, _observed(name, getattr(os, name), observer, leaving)) for name in names]
    found += [
        Patch(os, "system", _observed_shell(os.system, observer)),
        Patch(os, "_exit", _observed_exit(os._exit, leaving)),
        Patch(subprocess.Popen, "__init__", _observed_popen(subprocess.Popen.__init__, observer)),
    ]
    with contextlib.suppress(ImportError):  # a POSIX system has it
        import _posixsubprocess

        found.append(Patch(_posixsubprocess, "fork_exec", _observed_fork(_posixsubprocess.fork_exec, observer)))
    with patched(tuple(found)):
        yield


class _InPopen(threading.local):
    """Whether this thread is in `subprocess.Popen`, which calls other functions that are observed."""

    now = False


_in_popen = _InPopen()


def _observed(
    name: str, original: Callable[..., Any], observer: StartObserver, leaving: Callable[[str], None]
) -> Callable[..., Any]:
    program, words, environment = _STARTING[name]

    @functools.wraps(original)
    def start(*args: Any, **named: Any) -> Any:
        with contextlib.suppress(Exception):  # a wrong call is for the function itself to refuse
            given = None if environment is None else _decoded(args[environment])
            new = _tell(observer, args[program], args[words], given)
            if environment is not None and new is not given:
                args = (*args[:environment], new, *args[environment + 1 :])
        if name in _BECOMING and args and _can_run(args[program]):
            leaving(f"os.{name}")
        return original(*args, **named)

    return start


def _can_run(program: Any) -> bool:
    """Returns whether there is such a program: `os.execvp` tries one folder of PATH after the other."""
    try:
        return Path(os.fsdecode(program)).is_file() and os.access(program, os.X_OK)
    except (TypeError, ValueError, OSError):
        return False


def _observed_shell(original: Callable[..., int], observer: StartObserver) -> Callable[..., int]:
    @functools.wraps(original)
    def system(command: Any) -> int:
        with contextlib.suppress(Exception):
            _tell_shell(observer, os.fsdecode(command), None)
        return original(command)

    return system


def _observed_exit(original: Callable[..., Any], leaving: Callable[[str], None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def leave(*args: Any, **named: Any) -> Any:
        try:
            leaving("os._exit")
        finally:
            original(*args, **named)

    return leave


def _observed_popen(original: Callable[..., None], observer: StartObserver) -> Callable[..., None]:
    @functools.wraps(original)
    def start(self: Any, args: Any, *more: Any, **named: Any) -> None:
        with contextlib.suppress(Exception):
            words = [os.fsdecode(each) for each in ([args] if isinstance(args, (str, bytes, os.PathLike)) else args)]
            given = _decoded(named.get("env"))
            if named.get("shell"):
                new = _tell_shell(observer, words[0], given)
            else:
                new = _tell(observer, named.get("executable") or words[0], words, given)
            if new is not given:
                named["env"] = new
        before, _in_popen.now = _in_popen.now, True
        try:
            original(self, args, *more, **named)
        finally:
            _in_popen.now = before

    return start


def _observed_fork(original: Callable[..., int], observer: StartObserver) -> Callable[..., int]:
    """Observes the function by which `multiprocessing`, and loky, start a Python: words, programs, …, environment."""

    @functools.wraps(original)
    def fork_exec(*args: Any) -> int:
        with contextlib.suppress(Exception):
            given = None if args[5] is None else dict(os.fsdecode(each).split("=", 1) for each in args[5])
            new = _tell(observer, args[1][0], args[0], given)
            if new is not None and new is not given:
                args = (*args[:5], [os.fsencode(f"{key}={text}") for key, text in new.items()], *args[6:])
        return original(*args)

    return fork_exec


def _tell(
    observer: StartObserver, program: Any, words: Sequence[Any], given: Mapping[str, str] | None
) -> Mapping[str, str] | None:
    """Reports a start, and returns the environment for it."""
    if _in_popen.now:
        return given
    texts = [os.fsdecode(each) for each in words]
    environment = observer.environment(texts, given)
    observer.started(os.fsdecode(program), texts, environment)
    return environment


def _tell_shell(observer: StartObserver, command: str, given: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Reports the programs of a shell, and returns the environment for it."""
    environment = observer.environment((), given)
    for words, changed in shell_commands(command, os.environ if environment is None else environment):
        observer.started(words[0], words, environment if changed is None else changed)
    return environment


def _decoded(environment: Any) -> Mapping[str, str] | None:
    if environment is None or environment is os.environ:
        return None
    return {os.fsdecode(key): os.fsdecode(text) for key, text in environment.items()}
