"""Runs a command as on a system without POSIX: ``python other_system.py FOLDER``; a test starts it in a process.

What such a Python lacks is taken away once the standard library and other packages are imported, for they choose their
own ways on import.
"""

from __future__ import annotations

import asyncio  # noqa: F401
import contextlib
import faulthandler
import importlib
import importlib.abc
import io
import multiprocessing  # noqa: F401
import os
import pkgutil
import signal
import subprocess  # noqa: F401
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import bokeh.embed  # noqa: F401
import jinja2  # noqa: F401
import panel  # noqa: F401
import platformdirs  # noqa: F401
import tornado.httpserver
import tornado.websocket  # noqa: F401

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")
NAMES: dict[ModuleType, Sequence[str]] = {
    os: (
        *(
            "fork",
            "forkpty",
            "register_at_fork",
            "killpg",
            "setsid",
            "getuid",
            "geteuid",
            "getgid",
            "getpgid",
            "setpgid",
        ),
        *("waitid", "WNOHANG", "O_TMPFILE", "O_NOFOLLOW", "O_DIRECTORY", "sched_getaffinity", "fchmod", "mkfifo"),
    ),
    signal: (
        *("SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "SIGQUIT", "pthread_sigmask", "setitimer"),
        *("pthread_kill", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK", "pidfd_send_signal"),
    ),
    faulthandler: ("register", "unregister"),
}


class Missing(importlib.abc.MetaPathFinder):
    """Finds no module that only POSIX has."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuses those modules."""
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def become_another() -> None:
    """Takes away what the other system does not have."""
    for module, names in NAMES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Missing())
    sys.platform = "win32"


def imported(package: str) -> list[str]:
    """Imports all modules of a package that work without torch, and returns their names."""
    found = importlib.import_module(package)
    names = [each.name for each in pkgutil.walk_packages(found.__path__, f"{package}.", onerror=lambda name: None)]
    for name in names:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    return names


def said(*words: str) -> tuple[int, str]:
    """Runs a command of ``freezer-ui``, and returns its exit code and what it printed."""
    from viewer.cli import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = main(list(words))
        except SystemExit as ended:  # of argparse
            code = int(ended.code or 0)
    return code, out.getvalue()


def main(folder: Path) -> None:
    """Looks at traces, and tries what is refused."""
    become_another()
    for package in ("viewer", "freeze_engine.analysis", "freeze_engine.opening", "freeze_engine.serde"):
        imported(package)
    for room in ("captures", "export", "models", "process", "requests", "sweep", "trace", "worker"):
        importlib.import_module(f"freeze_engine.{room}")
    importlib.import_module("freeze_engine.sweep.folder")
    importlib.import_module("freeze_engine.worker.recording_process")
    assert "torch" not in sys.modules
    os.chdir(folder)
    for words in (
        ("stats", "small.fztrace"),
        ("summary", "small.fztrace"),
        ("report", "small.fztrace", "-o", "small.html"),
        ("diff", "small.fztrace", "small.fztrace"),
        ("summary", "small.fztrace", "--markdown"),
        ("summary", "small.fztrace", "small.fztrace"),
        ("diff", "small.fztrace", "small.fztrace", "--json", "--html", "diff.html"),
        ("report", "small.fztrace", "--card", "small.svg"),
        ("export", "small.fztrace", "--format", "perfetto", "-o", "small.json"),
        ("export", "small.fztrace", "--format", "csv", "-o", "small.csv"),
        ("export", "small.fztrace", "--format", "model-explorer", "-o", "small.explorer.json"),
        ("record", "frozen.pt", "-o", "read.fztrace", "--report", "read.html"),
        ("stats", "read.fztrace"),
        ("report", "read.fztrace", "-o", "again.html"),
        ("record", "compile.log", "-o", "log.fztrace"),
        ("record", "compile.log.gz", "-o", "packed.fztrace"),
        ("record", "torch_compile_debug", "-o", "debug.fztrace"),
        ("--help",),
        ("--version",),
    ):
        code, text = said(*words)
        assert code == 0, (words, code, text)
    code, text = said("check", "small.fztrace", "--max-error", "1")
    assert code in (0, 1), text
    for words in (
        ("doctor",),
        ("diff", "log.fztrace", "debug.fztrace"),
        ("check", "log.fztrace", "--no-failed-checks"),
        ("check", "read.fztrace", "--stays-quantised"),
    ):
        code, text = said(*words)
        assert code in (0, 1), (words, text)
        assert "Traceback" not in text
    for words in (
        ("record", "example:counter"),
        ("run", "--", "script.py"),
        ("example:counter", "--no-browser"),
        ("sweep", "models.toml"),
    ):
        code, text = said(*words)
        assert (code, "needs Linux or macOS, and this is win32: record there" in text) == (2, True), (words, code, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
