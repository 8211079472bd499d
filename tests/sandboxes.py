"""Skips tests that need a sandbox on machines without one."""

from __future__ import annotations

import pytest

from freeze_engine.worker import sandbox_status

STATUS = sandbox_status()
needs_sandbox = pytest.mark.skipif(STATUS.problem is not None, reason=f"{STATUS.problem}")
