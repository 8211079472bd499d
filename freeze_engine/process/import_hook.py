"""Calls a function right after a module has been imported for the first time."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType


@contextlib.contextmanager
def after_import(name: str, call: Callable[[], object]) -> Iterator[None]:
    """Calls a function in the thread that imports a module, once it is executed; only during the block.

    Nothing is called for a module that is imported already.

    Args:
        name: full name of the module.
        call: the function; its exceptions reach the importing code.
    """
    finder = AfterImport(name, call)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        # Somebody else may have taken it out, or replaced the list.
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(finder)


class AfterImport:
    """A finder of modules that finds one module as the others do, and calls a function after its execution.

    Args:
        name: full name of the module.
        call: the function.
    """

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self._name = name
        self._call = call
        self._searching = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of the module, its loader wrapped; ``None`` for any other module."""
        if name != self._name or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            vars(spec.loader).pop("exec_module", None)  # another finder of this kind may have taken its own away
            execute(module)
            self._call()

        # On the loader itself, so that the module keeps a loader of the usual class.
        spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]
        return spec
