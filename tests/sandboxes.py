"""Whether this machine has a sandbox: tests that need one are skipped by name where it has none."""

from __future__ import annotations

import pytest

import freeze_engine as fe

STATUS = fe.sandbox_status()
needs_sandbox = pytest.mark.skipif(STATUS.problem is not None, reason=f"{STATUS.problem}")
