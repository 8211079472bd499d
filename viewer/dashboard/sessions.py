"""The sessions of open pages: Bokeh's application, reduced to the start of a session and its websocket.

This module imports Panel, which takes about a second; the server loads it in a thread.
"""

from __future__ import annotations

import secrets
from typing import Final

import panel as pn
from bokeh.server.tornado import BokehTornado
from panel.io.application import build_applications
from panel.io.server import DocHandler, WSHandler
from tornado.ioloop import IOLoop

from viewer.dashboard.application import Channel
from viewer.dashboard.channel import MAX_MESSAGE_BYTES, ChannelHandler
from viewer.dashboard.component import Dashboard
from viewer.dashboard.handlers_base import JsonHandler, SecurityHeaders
from viewer.dashboard.messages import Messages
from viewer.dashboard.server_state import State
from viewer.dashboard.upload_store import PageUploads, UploadStore

UNUSED_MS: Final = 30_000
"""How long a session lasts without a websocket; a busy machine takes more than Bokeh's 15 s from page to websocket."""


class SessionStartHandler(JsonHandler, DocHandler):  # type: ignore[misc]  # panel is not typed
    """``/session``: starts the session of a page."""

    async def get(self) -> None:
        """Writes what the page connects with: the token of the session, its root, and its id for uploads."""
        session = await self.get_session()
        root = session.document.roots[0]
        # Panel's own are on another machine, and the root is not visible.
        await session.with_document_locked(root.update, stylesheets=[])
        page = session.document.template_variables["page"]
        self.finish({"token": session.token, "root": root.id, "page": page})


class SessionApplication(BokehTornado):  # type: ignore[misc]  # bokeh is not typed here
    """Bokeh's web application with one route for the start of a session and one for its websocket.

    Args:
        state: shared by the sessions.
        uploads: of all pages.
        channels: gets the open websockets.
    """

    def __init__(self, state: State, uploads: UploadStore, channels: set[Channel]) -> None:
        self._state = state
        self._uploads = uploads
        self.channels = channels
        super().__init__(
            build_applications(self._page, title="Freezer", location=False),
            use_index=False,
            extra_websocket_origins=["*"],  # the guard has checked the Origin already
            secret_key=secrets.token_bytes(32),
            sign_sessions=True,
            unused_session_lifetime_milliseconds=UNUSED_MS,
            check_unused_sessions_milliseconds=UNUSED_MS // 8,
            # Else the page would hold, in its session's token, the cookie that scripts must not see.
            include_headers=[],
            include_cookies=[],
            websocket_max_message_size_bytes=MAX_MESSAGE_BYTES,
        )
        (context,) = self.applications.values()
        options = {"application_context": context, "bokeh_websocket_path": "/ws"}
        # The page uses none of Bokeh's other routes: its page, its script for pages of other sites, its list of models.
        rules = self.wildcard_router.rules
        rules[:] = [rule for rule in rules if issubclass(rule.target, WSHandler)]
        rules[0].target = ChannelHandler
        self.wildcard_router.add_rules([("/session", SessionStartHandler, options)])
        self.add_transform(SecurityHeaders)
        self.initialize(IOLoop.current())

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of the routes."""
        return tuple(rule.matcher.regex.pattern for rule in self.wildcard_router.rules)

    def _page(self) -> Dashboard:
        """Creates one session's page; Panel calls it for every tab."""
        document = pn.state.curdoc
        id_ = secrets.token_urlsafe(16)
        document.template_variables["page"] = id_
        document.config.reconnect_session = False  # the page's address holds a lost session's state
        document.config.notify_connection_status = False
        dashboard = Dashboard(Messages(self._state, PageUploads(self._uploads, id_)).answer, **self._state.view())
        self._state.join(dashboard)
        self._uploads.join(id_)
        document.on_session_destroyed(lambda context: self._left(dashboard, id_))
        return dashboard

    def _left(self, dashboard: Dashboard, id_: str) -> None:
        self._state.leave(dashboard)
        self._uploads.leave(id_)
