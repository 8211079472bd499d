"""How the dashboard's server ends: its imports, and what it says."""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClosedError

from viewer.dashboard.end_signals import EndedEarlyError, EndSignals, is_fault


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (asyncio.CancelledError(), False),
        (WebSocketClosedError(), False),
        (ConnectionResetError("gone"), True),
        (None, True),
    ],
)
def test_truncated_message_raises_no_error(error: BaseException | None, told: bool) -> None:
    information: Any = error and (type(error), error, None)
    record = logging.LogRecord("tornado.application", logging.ERROR, "", 0, "Uncaught exception", None, information)
    assert is_fault(record) is told


def test_a_signal_ends_the_imports_of_one_thread_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "imported_elsewhere.py").touch()
    (tmp_path / "imported_before.py").touch()
    (tmp_path / "shielded.py").write_text("try:\n    import not_reached\nexcept Exception:\n    pass\n")
    before = list(sys.meta_path)
    with EndSignals() as signals, ThreadPoolExecutor(1) as pool, signals.ends_imports():
        importlib.import_module("imported_before")
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(EndedEarlyError):
            importlib.import_module("shielded")
        pool.submit(importlib.import_module, "imported_elsewhere").result()
    assert sys.meta_path == before
