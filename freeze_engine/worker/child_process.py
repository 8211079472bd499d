"""Starts a new Python process; the caller gets its lines, its end, and its last output.

It is started as ``python -c``, not by `multiprocessing`: that would run the caller's main script again, and keeps
further processes. It gets the caller's module search path, so that ``package.module:factory`` means the same.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from freeze_engine.errors import FreezerError
from freeze_engine.process.posix import require_posix
from freeze_engine.worker.child_main import CONFINED
from freeze_engine.worker.interpreter import Interpreter
from freeze_engine.worker.limits import Excess, Limits, LimitWatch, confined_limits, require_limits
from freeze_engine.worker.process_tree import ProcessTree
from freeze_engine.worker.sandbox import Confinement, sandboxed_process
from freeze_engine.worker.sandbox_view import environment as sandbox_environment, visible_search_path

#: Arguments: the task, the folder, descriptors of the lines and of the lifeline, bytes of memory (0 for no limit),
#: then the search path.
_BOOT = (
    "import sys; task, folder, lines, lifeline, memory, *sys.path[:] = sys.argv[1:]; sys.argv[1:] = []; "
    "from freeze_engine.worker.child_main import main; main(task, folder, int(lines), int(lifeline), int(memory))"
)
#: In another environment the caller's search path means nothing: it gets two parts around its own, with a mark between.
_BOOT_ELSEWHERE = (
    "import sys; task, folder, lines, lifeline, memory, *more = sys.argv[1:]; sys.argv[1:] = []; "
    "cut = more.index(''); sys.path[:] = [*more[:cut], *filter(None, sys.path), *more[cut + 1 :]]; "
    "from freeze_engine.worker.child_main import main; main(task, folder, int(lines), int(lifeline), int(memory))"
)
_READ_BYTES = 1 << 16
_LINE_BYTES = 1 << 22
_OUTPUT_BYTES = 1 << 16
_LOOK_S = 0.1
_AFTERWARDS_S = 1.0
_DEATH_S = 10.0
#: Looks at an ended process's pipes that are due whatever the time: a pipe holds at most 1 MiB.
_LAST_LOOKS = 32
#: A process that exceeds a limit prints its position before it is killed; it needs milliseconds on a quiet machine.
_STACK_S = 3.0
_STACK_LOOK_S = 0.02
#: Of each dump of `faulthandler`.
_STACK = b"(most recent call first)"
_NO_LIMITS = Limits()
_LAST_LINES = 5
Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[Stream, bytes], None]


class WorkerProcess:
    """A process that does one task.

    Its lines are read by `lines`, on one thread; `kill` may be called from any.

    Args:
        task: its name, see `freeze_engine.worker.child_main`.
        folder: what the task reads and writes.
        trusted: whether anything may be unpickled there.
        on_output: called with the output as `lines` reads it. The process then inherits standard input.
        limits: for it and all that it starts together; it is killed when it exceeds them.
        confinement: the sandbox that it runs in, with limits of its own; ``None`` for none.
        interpreter: the Python that it runs in, by default the caller's.

    Raises:
        FreezerError: the limits cannot be held here, or the sandbox does not show the interpreter.
    """

    def __init__(
        self,
        task: str,
        folder: Path,
        *,
        trusted: bool = True,
        on_output: OnOutput | None = None,
        limits: Limits = _NO_LIMITS,
        confinement: Confinement | None = None,
        interpreter: Interpreter | None = None,
    ) -> None:
        require_limits(limits)
        self._on_output = on_output
        require_posix("Recording or inspecting a model in a child process")
        self._interpreter = interpreter or Interpreter()
        self._confinement = confinement
        self._lock = threading.Lock()
        self._output = bytearray()
        self._written = 0
        self._unfinished = b""
        self._tree = ProcessTree()
        if confinement is not None:
            limits = confined_limits(limits)
        self._watch = LimitWatch(self._tree, limits, self._end_for_limit, folder)
        with contextlib.ExitStack() as stack, _without_interrupts():
            # The child writes lines to the first pipe, and ends when nobody holds the other end of the second.
            self._lines, lines = _pipe(stack)
            lifeline, self._lifeline = _pipe(stack)
            out, out_end = _pipe(stack)
            error, error_end = _pipe(stack)
            self._printed: dict[int, Stream] = {out: "stdout", error: "stderr"}
            self._process = subprocess.Popen(
                self._command(task, folder, (lines, lifeline, limits.memory_bytes or 0)),
                stdin=subprocess.DEVNULL if on_output is None else None,
                stdout=out_end,
                stderr=error_end,
                pass_fds=(lines, lifeline),
                env=self._tree.marked(
                    self._interpreter.environment(_environment(trusted, confined=confinement is not None))
                ),
                start_new_session=True,  # an interrupt at the terminal is for the caller
            )
            stack.pop_all()
        self._tree.begins_with(self._process.pid)
        self._watch.start()
        for descriptor in (lines, lifeline, out_end, error_end):
            os.close(descriptor)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Returns the exit code, negative for a signal; ``None`` until the end was noticed."""
        code = self._process.returncode
        return code if code is None or self._confinement is None else self._confinement.sandbox.exit_code(code)

    @property
    def excess(self) -> Excess | None:
        """The limit that it exceeded and was killed for; ``None`` if it was not."""
        return self._watch.excess

    @property
    def printed(self) -> tuple[str, ...]:
        """The last lines that it wrote to standard output and error."""
        return tuple(self._output.decode(errors="replace").splitlines())

    @property
    def last_words(self) -> str:
        """The last lines that it wrote, on one line."""
        return "; ".join(self.printed[-_LAST_LINES:]) or "it said nothing"

    @property
    def sandbox_problem(self) -> str | None:
        """Returns why the sandbox could not be made, ``None`` if it was."""
        said = self.printed[-1:]
        if self._confinement is None or self.exit_code != 1 or not said or not said[0].startswith("bwrap: "):
            return None
        return f"the sandbox cannot be made: {said[0]}"

    def lines(self, until_s: float | None = None) -> Iterator[bytes | None]:
        """Yields the lines it sends, without line ends, and ``None`` now and then when there are none.

        Stops when the process has ended; it is then gone, and so is all that it started in its session.

        Args:
            until_s: clock (`time.monotonic`) at which to stop waiting, with the process still there.
        """
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._lines, *self._printed):
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            ended_s: float | None = None
            looks, is_ready = 0, True

            def goes_on() -> bool:
                if ended_s is None:
                    return until_s is None or time.monotonic() < until_s
                # Its last output may still be unread, but other processes may hold the pipes open and write on.
                return is_ready and (looks < _LAST_LOOKS or time.monotonic() < ended_s + _AFTERWARDS_S)

            while goes_on():
                is_over = ended_s is not None and not selector.get_map()
                is_ready = bool(selector.select(0 if is_over else _LOOK_S))
                for descriptor, stream in self._printed.items():
                    self._keep_printed(stream, self._drain(selector, descriptor))
                yield from self._whole_lines(self._drain(selector, self._lines))
                if ended_s is not None:
                    looks += 1
                elif self._has_ended():
                    ended_s, is_ready = time.monotonic(), True

    def dump_stack(self) -> None:
        """Lets the process print where its Python is, if it can."""
        with self._lock:
            if self._process.returncode is None:
                self._signal(signal.SIGUSR1)

    def await_stack(self) -> None:
        """Lets the process print where its Python is, and reads that; gives up after some seconds."""
        self.dump_stack()
        before = -1
        for _ in self.lines(time.monotonic() + _STACK_S):
            if self._has_stack(before):
                return
            before = self._written

    def interrupt(self) -> None:
        """Raises `KeyboardInterrupt` in the process, as soon as its Python runs."""
        with self._lock:
            if self._process.returncode is None:
                self._signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends the process and whatever it started; returns at once."""
        with self._lock:
            if self._process.returncode is None:
                self._tree.kill()

    def close(self) -> None:
        """Ends the process, waits for that, and releases everything."""
        self._watch.stop()
        self.kill()
        # A process that hangs inside the kernel cannot be ended; it is left to itself.
        with self._lock, contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_DEATH_S)
            self._tree.kill()
        for descriptor in (self._lines, self._lifeline, *self._printed):
            os.close(descriptor)

    def _command(self, task: str, folder: Path, numbers: tuple[int, ...]) -> list[str]:
        python, entries, confinement = self._interpreter.executable, self._interpreter.entries, self._confinement
        boot = _BOOT if self._interpreter.python is None else _BOOT_ELSEWHERE
        if confinement is not None:
            if self._interpreter.python is not None:
                raise FreezerError(f"the sandbox shows this Python only, so {python} cannot record in it")
            entries = visible_search_path(entries)
        # -u: output right before a crash must not be lost with Python's buffers.
        command = [python, "-u", "-c", boot, task, str(folder), *map(str, numbers), *entries]
        return command if confinement is None else confinement.command(folder, command)

    def _signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process itself; where it runs in a sandbox that has only begun, ends the sandbox."""
        pid = self._process.pid if self._confinement is None else sandboxed_process(self._process.pid)
        if pid is None:
            self._tree.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def _has_ended(self) -> bool:
        with self._lock:
            if self._process.returncode is None and self._process.poll() is not None:
                self._tree.kill()
            return self._process.returncode is not None

    def _end_for_limit(self) -> None:
        """Runs on the thread of the limits, while another thread reads what the process prints."""
        self.dump_stack()
        until_s, before = time.monotonic() + _STACK_S, -1
        while self._process.returncode is None and time.monotonic() < until_s:
            if self._has_stack(before) or self._watch.is_far_exceeded():
                break
            before = self._written
            time.sleep(_STACK_LOOK_S)
        self.kill()

    def _has_stack(self, before: int) -> bool:
        """Returns whether a stack was printed, and nothing more since there were ``before`` bytes."""
        return _STACK in self._output and self._written == before

    def _whole_lines(self, data: bytes) -> tuple[bytes | None, ...]:
        *whole, self._unfinished = (self._unfinished + data).split(b"\n")
        if len(self._unfinished) > _LINE_BYTES:
            self.kill()
            self._unfinished = b""
        return tuple(whole) or (None,)

    def _keep_printed(self, stream: Stream, data: bytes) -> None:
        self._output += data
        del self._output[:-_OUTPUT_BYTES]
        self._written += len(data)
        if data and self._on_output is not None:
            self._on_output(stream, data)

    def _drain(self, selector: selectors.BaseSelector, descriptor: int) -> bytes:
        if descriptor not in selector.get_map():
            return b""
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            selector.unregister(descriptor)
        return data


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Blocks SIGINT for this thread, and for a process that it starts during the block: see `Interrupts`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    """Returns the reading and the writing end of a pipe, closed by ``stack`` unless all goes well."""
    ends = os.pipe()
    for descriptor in ends:
        stack.callback(os.close, descriptor)
    return ends


def _environment(trusted: bool, confined: bool) -> dict[str, str]:
    environment = sandbox_environment([(CONFINED, "1")]) if confined else dict(os.environ)
    if not trusted:
        # torch.export.load falls back to unpickling unless this forbids it (torch/serialization.py, torch 2.13.0).
        environment["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
        environment.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
    return environment
