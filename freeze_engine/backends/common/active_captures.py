"""Active captures of each thread; torch stays patched as long as any thread has one."""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from freeze_engine.backends.common.patching import Patch, patched

CaptureT = TypeVar("CaptureT")
ResultT = TypeVar("ResultT")
MakePatches = Callable[[], tuple[Patch, ...]]

_apart: contextvars.ContextVar[bool] = contextvars.ContextVar("apart_from_captures", default=False)


def apart(make: Callable[..., ResultT], *args: Any, **kwargs: Any) -> ResultT:
    """Calls a function so that no capture sees what it compiles or freezes.

    Args:
        make: the function.
        *args: its arguments.
        **kwargs: its arguments.

    Returns:
        Its result.
    """

    def called() -> ResultT:
        _apart.set(True)
        return make(*args, **kwargs)

    return contextvars.Context().run(called)


class ActiveCaptures(Generic[CaptureT]):
    """The active captures of one backend.

    A capture belongs to the thread, or async task, that entered it, or to all threads. The functions of torch are one
    per process: the first capture to begin replaces them, the last to end restores them.

    Args:
        name: of the context variable that holds them.
    """

    def __init__(self, name: str) -> None:
        self._inside: contextvars.ContextVar[tuple[CaptureT, ...]] = contextvars.ContextVar(name, default=())
        self._everywhere: tuple[CaptureT, ...] = ()
        self._lock = threading.RLock()
        self._patched = contextlib.ExitStack()
        self._made: list[MakePatches] = []
        self._count = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def here(self) -> tuple[CaptureT, ...]:
        """Returns the active captures of the running thread, outer ones first."""
        return self._inside.get() if _apart.get() else (*self._everywhere, *self._inside.get())

    @contextlib.contextmanager
    def entered(self, capture: CaptureT, *patches: MakePatches, threads: bool = False) -> Iterator[None]:
        """Makes a capture active until the block ends.

        Args:
            capture: it belongs to this thread.
            patches: make the replacements in torch for it.
            threads: whether it belongs to all threads of the process instead.
        """
        with self._lock:
            self._count += 1
        try:
            for make in patches:
                self.patch(make)
            if threads:
                with self._lock:
                    self._everywhere = (*self._everywhere, capture)
            else:
                self._inside.set((*self._inside.get(), capture))
            yield
        finally:
            # Captures may end in another order than they began.
            with self._lock:
                self._everywhere = tuple(each for each in self._everywhere if each is not capture)
            self._inside.set(tuple(each for each in self._inside.get() if each is not capture))
            self._leave()

    def patch(self, make: MakePatches) -> None:
        """Replaces functions of torch until the last capture ends, unless they are replaced already or none is active.

        Args:
            make: makes the patches; it also identifies them.
        """
        with self._lock:
            if not self._count or make in self._made:
                return
            # Making patches imports modules, and an import may ask for the same ones in this thread.
            self._made.append(make)
            try:
                self._patched.enter_context(patched(make()))
            except BaseException:
                self._made.remove(make)
                raise

    def _renew_lock(self) -> None:
        """In a forked child no thread is left that could release the lock."""
        self._lock = threading.RLock()

    def _leave(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                self._made.clear()
                self._patched.close()
