"""Notebooks' kernels: one that runs a whole notebook, and a second client of one that runs already."""

from __future__ import annotations

import ast
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300
"""Time limit of waits for a server, a kernel or torch's import, in s; they take seconds on a quiet machine."""


def until(condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """Polls ``condition`` and returns its first true value."""
    end = time.monotonic() + patience_s
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {patience_s} s in vain: {what}"
        time.sleep(0.1)
    return value


def notebook_of(*sources: str, **metadata: Any) -> Any:
    """Returns a notebook with these code cells."""
    import nbformat  # takes longer than most tests; collecting the tests would end the laziness of a lazy module

    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources], metadata=metadata)


def read_notebook(path: Path | str) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def write_notebook(notebook: Any, path: Path) -> None:
    import nbformat

    nbformat.write(notebook, path)


def execute(notebook: Any, folder: Path, *, allow_errors: bool = False) -> Any:
    """Returns the notebook as it is after all of its cells have run in ``folder``."""
    from nbclient import NotebookClient

    environment = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTHONPATH": str(ROOT)}
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=580, resources=resources, allow_errors=allow_errors)
    return client.execute(env=environment)


class Kernel:
    """A second client of an open notebook's kernel."""

    def __init__(self, connection: Path) -> None:
        self._client = BlockingKernelClient(connection_file=str(connection))
        self._client.load_connection_file()
        self._client.start_channels()

    def value(self, expression: str) -> Any:
        """Returns the JSON-compatible value of an expression in the notebook's namespace."""
        text = f"__import__('json').dumps({expression})"
        reply = self._client.execute("", silent=True, user_expressions={"told": text}, reply=True, timeout=PATIENCE_S)
        told = reply["content"]["user_expressions"]["told"]
        assert told["status"] == "ok", told
        return json.loads(ast.literal_eval(told["data"]["text/plain"]))

    def run(self, code: str) -> dict[str, Any]:
        """Runs code in the kernel and returns the reply."""
        reply: dict[str, Any] = self._client.execute(code, reply=True, timeout=PATIENCE_S)["content"]
        return reply

    def close(self) -> None:
        """Disconnects from the kernel, which continues to run."""
        self._client.stop_channels()
