"""Renders in the test's own process, for tests that do not cover the renderer process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from viewer.dashboard.payloads import MAKERS, Kind, Payload
from viewer.dashboard.render_process import RenderProcess


class InProcess:
    """Replaces `viewer.dashboard.renderers.Renderers`."""

    async def render(self, kind: Kind, paths: Sequence[Path]) -> Payload:
        return MAKERS[kind](paths)

    def adopt(self, kind: Kind, paths: Sequence[Path], process: RenderProcess) -> None:
        raise AssertionError("no process is handed over here")

    def warm(self) -> None:
        pass

    async def close(self) -> None:
        pass
