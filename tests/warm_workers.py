"""Starts the worker processes of tests as forks of a process that has torch already.

A worker is a new Python, and importing torch takes most of a small recording's time (Inductor doubles that). The forks
differ from it in nothing that a test sees: their parent, command line, marked environment, descriptors, session and
signal mask are those of a process that `WorkerProcess` starts itself. It does that where anything else is special: in a
sandbox, with a memory limit, for another Python or other variables, and in tests with the mark ``cold_workers``.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import freeze_engine
from freeze_engine.worker import child_process
from freeze_engine.worker.request import REQUEST

#: They may differ between a worker and the process that it is forked from: nothing reads them at an import, except the
#: number of compile threads, which changes no recording. The first two are of one process: Panel's import sets one
#: (pyviz_comms 3), Inductor the other, an address, before it loads a kernel (torch/_inductor/codecache.py, 2.13).
_READ_LATE: Final = (
    *("_PYVIZ_COMMS_INSTALLED", "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR", "FREEZER_WORKER", "PYTEST_CURRENT_TEST"),
    *("TMPDIR", "TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCHINDUCTOR_CACHE_DIR", "TORCHINDUCTOR_COMPILE_THREADS"),
    *("TRITON_CACHE_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME"),
)
WARM_COMMAND: Final = (
    "import sys; from tests.warm_workers import warm; from viewer.cli import main; warm(); sys.exit(main())"
)
"""Code of a process that does as ``freezer-ui`` does, with warm workers."""
_SERVE: Final = "from tests.warm_workers import worker; exec(worker({number}, inductor={inductor}))"
#: Room for a worker's command line, or its mark, where the system shows those of its first process.
_ROOM: Final = "=" * 4096
_MESSAGE_BYTES: Final = 1 << 20
_PR_SET_CHILD_SUBREAPER: Final = 36
_MOST_DESCRIPTORS: Final = 8
#: Of a worker's arguments: the numbers of its descriptors; of ``/proc/self/stat``: see proc_pid_stat(5).
_NUMBERS: Final = slice(2, 4)
_ADDRESSES: Final = slice(45, 49)
#: Packages whose modules a compile imports, if it is the first: some 0.5 s of each worker.
_IMPORTED_BY_A_COMPILE: Final = (
    "sympy.combinatorics",
    "sympy.physics.units",
    "sympy.tensor",
    "torch._inductor.fx_passes.serialized_patterns",
)
_NOT_IN_EACH_WORKER: Final = ("inductor", "pytest_plugin", "ipython", "__main__")


class WarmWorkers:
    """Replaces the module `subprocess` of `freeze_engine.worker.child_process`."""

    SubprocessError = subprocess.SubprocessError
    TimeoutExpired = subprocess.TimeoutExpired
    DEVNULL = subprocess.DEVNULL

    def __init__(self) -> None:
        self.is_cold = False
        self._environment = dict(os.environ)
        self._sources: dict[bool, _Source] = {}
        self._lock = threading.Lock()

    def Popen(self, command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:  # noqa: N802
        """Returns a started worker."""
        if self.is_cold or not self._fits(command, how["env"]):
            return subprocess.Popen(command, **how)
        request = Path(command[5]) / REQUEST
        inductor = request.exists() and '"inductor"' in request.read_text()
        with self._lock:
            if inductor not in self._sources:
                self._sources[inductor] = _Source(self._environment, inductor)
            return self._sources[inductor].worker(command, **how)

    def close(self) -> None:
        """Ends the processes that the workers are forked from."""
        for source in self._sources.values():
            source.close()

    def changed_variables(self) -> set[str]:
        """Returns the variables of this process that have changed for good, so that every later worker starts cold."""
        return self._differing(os.environ)

    def _differing(self, environment: Mapping[str, str]) -> set[str]:
        names = (self._environment.keys() | environment.keys()) - {*_READ_LATE}
        return {name for name in names if self._environment.get(name) != environment.get(name)}

    def _fits(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        if sys.platform != "linux":
            return False
        is_plain = list(command[:4]) == [sys.executable, "-u", "-c", child_process._BOOT] and command[8] == "0"
        return is_plain and not self._differing(environment)


def warm() -> None:
    """Does for a process that runs a command what the fixture does for the tests."""
    workers = WarmWorkers()
    atexit.register(workers.close)
    vars(child_process)["subprocess"] = workers


class _Worker(subprocess.Popen[bytes]):
    """A worker that was forked, as a process that this one started."""

    def __init__(self, pid: int, command: Sequence[str]) -> None:
        self.args = command
        self.pid = pid
        self.returncode = None
        self.stdin = self.stdout = self.stderr = None
        self._child_created = True
        self._waitpid_lock = threading.Lock()
        self._sigint_wait_secs = 0.0


class _Source:
    """The process that workers are forked from."""

    def __init__(self, environment: Mapping[str, str], inductor: bool) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-c", _SERVE.format(number=theirs.fileno(), inductor=inductor), _ROOM],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={**environment, "FREEZER_ROOM": _ROOM, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
                start_new_session=True,
            )

    def worker(
        self,
        command: Sequence[str],
        *,
        stdin: int | None,
        stdout: int,
        stderr: int,
        pass_fds: tuple[int, ...],
        env: Mapping[str, str],
        start_new_session: bool,
    ) -> _Worker:
        assert start_new_session
        told = json.dumps({"words": command[3:], "environment": env, "folder": str(Path.cwd())})
        with contextlib.ExitStack() as stack:
            if stdin is None:
                numbers = [0, stdout, stderr, *pass_fds]
            else:
                numbers = [stack.enter_context(Path(os.devnull).open()).fileno(), stdout, stderr, *pass_fds]
            # The fork's parent ends at once, perhaps before this process runs again. The fork is then a child of this
            # process, if only now; else its exit code is lost, and it seems to have ended at once.
            _adopt(True)
            try:
                socket.send_fds(self._socket, [told.encode()], numbers)
                answer = self._socket.recv(_MESSAGE_BYTES)
            finally:
                _adopt(False)
        return _Worker(int(answer), command)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


def _adopt(orphans: bool) -> None:
    """Decides whether the orphans among this process's descendants become its children."""
    assert ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(orphans), 0, 0, 0) == 0


# -- in the process that workers are forked from


def worker(number: int, *, inductor: bool) -> str:
    """Forks a worker at each order until the tests end; returns in the forks only, with what they execute.

    Args:
        number: descriptor of the socket for orders.
        inductor: whether the workers need Inductor.
    """
    _import_all(inductor)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=number) as orders:
        while True:
            order, descriptors, _, _ = socket.recv_fds(orders, _MESSAGE_BYTES, _MOST_DESCRIPTORS)
            if not order:
                os._exit(0)
            middle = os.fork()
            if middle == 0:
                parent = os.getpid()
                if os.fork():
                    os._exit(0)
                return _become_worker(orders, json.loads(order), descriptors, parent)
            os.waitpid(middle, 0)
            for descriptor in descriptors:
                os.close(descriptor)


def _become_worker(orders: socket.socket, order: dict[str, Any], descriptors: list[int], parent: int) -> str:
    boot, *words = order["words"]
    for stream, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    words[_NUMBERS] = map(str, descriptors[3:])
    sys.argv[:] = ["-c", *words]
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    os.setsid()
    _show([sys.executable, "-u", "-c", boot, *words], os.environ["FREEZER_WORKER"])
    while os.getppid() == parent:
        os.sched_yield()
    orders.send(str(os.getpid()).encode())
    return boot


def _show(command: Sequence[str], mark: str) -> None:
    """Overwrites what the system shows as this process's command line, and a variable with the mark of its worker."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end, variables_start, variables_end = map(int, fields[_ADDRESSES])
    text = "\0".join(command).encode()[: end - start - 1]
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)
    variables = ctypes.string_at(variables_start, variables_end - variables_start)
    room = variables_start + variables.index(_ROOM.encode())
    ctypes.memmove(room, mark.encode().ljust(len(_ROOM), b"\0"), len(_ROOM))


def _import_all(inductor: bool) -> None:
    importlib.import_module("torch")
    for module in pkgutil.walk_packages(freeze_engine.__path__, "freeze_engine."):
        if not any(name in module.name for name in _NOT_IN_EACH_WORKER):
            importlib.import_module(module.name)
    if inductor:
        importlib.import_module("torch._inductor.compile_fx")
        importlib.import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
        for name in _IMPORTED_BY_A_COMPILE:
            package = importlib.import_module(name)
            for module in pkgutil.iter_modules(package.__path__, f"{name}."):
                importlib.import_module(module.name)
