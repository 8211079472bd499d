"""The page's Panel component: three values that the page shows, and the messages that it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from viewer.assets import read_asset

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Dashboard(JSComponent):  # type: ignore[misc]  # panel is not typed
    """The server's end of one browser tab's websocket.

    Args:
        answer: answers one message of the page.
        values: of `site`, `library` and `jobs`, see ``frontend/dashboard/panel.js``.
    """

    site = param.Dict(default={}, doc="What does not change while the server runs, and where to start.")
    library = param.Dict(default={}, doc="Examples and recent traces.")
    jobs = param.List(default=[], doc="The recordings, newest first.")

    _esm: ClassVar[str] = read_asset("bundles/dashboard_panel.js")
    _stylesheets: ClassVar[list[str]] = []

    def __init__(self, answer: Answer, **values: Any) -> None:
        super().__init__(**values, sizing_mode="stretch_both")
        self._answer = answer
        self._running: set[asyncio.Task[None]] = set()

    def _handle_msg(self, data: Any) -> None:
        task = asyncio.get_running_loop().create_task(self._reply(data))
        self._running.add(task)  # the loop itself keeps no strong reference
        task.add_done_callback(self._running.discard)

    async def _reply(self, data: Any) -> None:
        reply = await self._answer(data)
        self._next_tick(partial(self._send_msg, reply))

    def show(self, name: str, value: Any) -> None:
        """Takes a new value, and sends it to the browser at this session's next tick."""
        self._next_tick(partial(self.param.update, **{name: value}))

    def _next_tick(self, change: Callable[[], Any]) -> None:
        for document in self._documents:
            document.add_next_tick_callback(change)
