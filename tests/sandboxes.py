"""Skips tests that need a sandbox on machines without one."""

from __future__ import annotations

import pytest

import freeze_engine as fe

STATUS = fe.sandbox_status()
needs_sandbox = pytest.mark.skipif(STATUS.problem is not None, reason=f"{STATUS.problem}")
