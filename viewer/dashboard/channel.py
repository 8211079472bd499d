"""The page's websocket: Bokeh's, restricted to the messages that the page sends.

Bokeh lets a browser change any property of any model of its document, and create new ones. Here a page may fetch its
document and send messages (`messages`), as plain data. Property changes are ignored: Panel's scripts report the
browser's state that way, and all properties are the server's. Anything else is refused with an error to this page.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from bokeh.util.token import check_token_signature, get_token_payload
from panel.io.server import WSHandler

from viewer.dashboard.application import POLICY_VIOLATION

MAX_MESSAGE_BYTES: Final = 1 << 20

_EVENTS: Final = ("data_event", "document_ready")
_MAX_DEPTH: Final = 32
_NO_SESSION: Final = "The page's session is not known here. Load the page again."
_NOT_TAKEN: Final = "A page may only fetch its document and send messages; this was neither, and nothing was changed."


class ChannelHandler(WSHandler):  # type: ignore[misc]  # panel is not typed
    """One page's websocket; `channels` of the application holds the open ones."""

    async def prepare(self) -> None:
        """Refuses a handshake without a valid session before the websocket opens."""
        await super().prepare()
        if self._finished:
            return
        names = [each.strip() for each in self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        if len(names) != 2 or names[0] != "bokeh" or not self._is_session(names[1]):
            self.set_status(HTTPStatus.BAD_REQUEST)
            self.finish({"error": _NO_SESSION})

    def _is_session(self, token: str) -> bool:
        key = self.application.secret_key
        try:
            # Bokeh (3.9) decodes parts of an unsigned token all the same, and lets the decoder's exceptions through.
            return check_token_signature(token, signed=True, secret_key=key) and "session_expiry" in get_token_payload(
                token
            )
        except Exception:  # noqa: BLE001
            return False

    def open(self, *arguments: str, **named: str) -> Any:
        """Adds the websocket to the open ones."""
        self.application.channels.add(self)
        return super().open(*arguments, **named)

    def on_close(self) -> None:
        """Removes the websocket from the open ones."""
        self.application.channels.discard(self)
        super().on_close()

    async def on_message(self, fragment: str | bytes) -> None:
        """Takes one of the fragments that make up a message."""
        if self.receiver is None or self.connection is None:
            self.close(POLICY_VIOLATION, "The session is not open yet.")
            return
        try:
            message = await self.receiver.consume(fragment)
            is_taken = message is None or _is_taken(message, self.connection.session.document)
        except Exception:  # noqa: BLE001 - Bokeh (3.9) raises various types for a page's faulty messages
            self.close(POLICY_VIOLATION, "This is no message.")
            return
        if message is None:
            return
        if not is_taken:
            await self.send_message(self.connection.error(message, _NOT_TAKEN))
            return
        if message.msgtype == "PATCH-DOC" and not message.content["events"]:
            await self.send_message(self.connection.ok(message))
            return
        work = await self._handle(message)
        if work:
            await self._schedule(work)


def _is_taken(message: Any, document: Any) -> bool:
    """Returns whether Bokeh may handle a message; removes the ignored events from it."""
    if message.msgtype != "PATCH-DOC":
        return message.msgtype in ("PULL-DOC-REQ", "SERVER-INFO-REQ")
    events = [event for event in message.content["events"] if event["kind"] != "ModelChanged"]
    message.content = {"events": events}
    return all(_is_event(event, document) for event in events)


def _is_event(event: Mapping[str, Any], document: Any) -> bool:
    if event["kind"] != "MessageSent" or event["msg_type"] != "bokeh_event":
        return False
    data = event["msg_data"]
    name, values = data["name"], data["values"]
    if data["type"] != "event" or name not in _EVENTS or values["type"] != "map":
        return False
    fields = dict(values.get("entries", ()))
    if name == "document_ready":
        return not fields
    model = fields.pop("model")
    return document.get_model_by_id(model["id"]) in document.roots and set(fields) <= {"data"} and _is_plain(fields)


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Returns whether a value in Bokeh's notation is plain data: no model, no buffer, nothing to look up."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, list):
        return all(_is_plain(each, depth + 1) for each in value)
    if not isinstance(value, dict):
        return True
    if "type" not in value:
        return "id" not in value and all(_is_plain(each, depth + 1) for each in value.values())
    if value["type"] == "number":
        return set(value) == {"type", "value"} and value["value"] in ("nan", "-inf", "+inf")
    entries = value.get("entries", [])
    is_map = value["type"] == "map" and set(value) <= {"type", "entries"} and isinstance(entries, list)
    return is_map and all(_is_entry(each, depth) for each in entries)


def _is_entry(entry: Any, depth: int) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and _is_plain(entry[1], depth + 1)
