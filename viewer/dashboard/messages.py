"""Answers the page's requests over its websocket: one method for each type of message."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import freeze_engine as fe
from freeze_engine import analysis, opening, requests, worker
from viewer.dashboard.consent import DANGER, sandbox_of
from viewer.dashboard.folder_listing import folder_view, page_path
from viewer.dashboard.library import drop_if_empty, recordings_folder
from viewer.dashboard.record_request import (
    form_values,
    model_kind,
    page_float_model,
    page_imports,
    page_model,
    read_request,
    record_request,
    tried_call,
)
from viewer.dashboard.server_state import State
from viewer.dashboard.upload_store import PageUploads

log: Final = logging.getLogger(__name__)
_DEVICE: Final = re.compile(r"cpu|mps|(cuda|xpu):\d{1,3}")

Reply = dict[str, Any]
Message = dict[str, Any]
Result = TypeVar("Result")


class Messages:
    """Answers the messages of all sessions.

    Args:
        state: shared by the sessions.
        uploads: of the page, ``None`` if pages upload nothing.
    """

    def __init__(self, state: State, uploads: PageUploads | None = None) -> None:
        self._state = state
        self._uploads = uploads
        self._answers: dict[str, Callable[[Message], Awaitable[Reply]]] = {
            "record": self._record,
            "cancel": self._cancel,
            "dismiss": self._dismiss,
            "forget": self._forget,
            "inspect": self._inspect,
            "try": self._try,
            "sandbox": self._sandbox,
            "parse_input": self._parse_input,
            "parse_command": self._parse_command,
            "list": self._list,
            "open": self._open,
            "read": self._read,
            "take_over": self._take_over,
        }

    async def answer(self, message: object) -> Reply:
        """Answers one message.

        Args:
            message: ``{"id", "type", …}`` as the page sent it.

        Returns:
            ``{"id", "reply"}`` or ``{"id", "error"}``; the page receives every error.
        """
        if not isinstance(message, dict):
            return {"id": None, "error": "A message has to be an object."}
        id_, kind = message.get("id"), message.get("type")
        answer = self._answers.get(kind) if isinstance(kind, str) else None
        if answer is None:
            return {"id": id_, "error": f"There is no message of type {kind!r:.80}."}
        try:
            return {"id": id_, "reply": await answer(message)}
        except fe.FreezerError as error:
            return {"id": id_, "error": str(error)}
        except Exception as error:
            log.exception("answering %s", kind)
            return {"id": id_, "error": f"The server failed: {type(error).__name__}: {error}"}

    async def _record(self, message: Message) -> Reply:
        named = message.get("model")
        self._use(named, message.get("float_model"), *_list_of(message.get("inputs")))
        sandbox = await self._sandbox_of(message, page_model(named)) if isinstance(named, str) else None
        # Looking at a file takes a while if it has many members, or is on a slow disk.
        float_model = await asyncio.to_thread(page_float_model, message)
        if float_model is not None:
            of_float = await self._sandbox_of(message, float_model, "float_consent")
            sandbox = of_float if sandbox is None else sandbox
        request = await asyncio.to_thread(record_request, message, recordings_folder(), datetime.now())
        return self._begin(replace(request, sandbox=sandbox))

    def _begin(self, request: worker.RecordRequest) -> Reply:
        try:
            return {"job": self._state.jobs.record(request)}
        except (fe.FreezerError, OSError, RuntimeError):  # too many wait, or no more processes, or no more threads
            drop_if_empty(request.output)
            raise

    async def _cancel(self, message: Message) -> Reply:
        self._state.jobs.cancel(_field(message, "job"))
        return {}

    async def _dismiss(self, message: Message) -> Reply:
        self._state.jobs.dismiss(_field(message, "job"))
        return {}

    async def _forget(self, message: Message) -> Reply:
        self._state.library.forget(_field(message, "path"))
        self._state.tell("library")
        return {}

    async def _inspect(self, message: Message) -> Reply:
        self._use(message.get("model"))
        model = page_model(_field(message, "model"))
        sandbox = await self._sandbox_of(message, model)
        imports = page_imports(message, model)
        summary = await _in_daemon_thread(
            lambda: worker.inspect_model(model, imports=imports, trusted=False, sandbox=sandbox)
        )
        # All pages see the devices, and an untrusted model may have invented them.
        is_likely = all(_DEVICE.fullmatch(device) for device in summary.devices)
        if is_likely and self._state.site.devices != summary.devices:
            self._state.site = replace(self._state.site, devices=summary.devices)
            self._state.tell("site")
        return asdict(summary) | {"kind": await asyncio.to_thread(model_kind, model)}

    async def _try(self, message: Message) -> Reply:
        """Calls the model once, on the inputs that the form shows."""
        self._use(message.get("model"), *_list_of(message.get("inputs")))
        request = tried_call(message)
        sandbox = await self._sandbox_of(message, request.model)
        trial = await _in_daemon_thread(
            lambda: worker.try_model(
                request.model,
                request.inputs,
                imports=request.imports,
                trusted=False,
                device=request.device,
                memory_bytes=request.memory_bytes,
                sandbox=sandbox,
            )
        )
        return asdict(trial)

    async def _sandbox(self, message: Message) -> Reply:
        """Returns whether a model can be opened in the sandbox, or what it is if nothing of it would be run."""
        existing = await self._existing(_field(message, "model"))
        if existing is not None:
            return existing
        model = page_model(_field(message, "model"))
        status = await _in_daemon_thread(worker.sandbox_status)
        kind = await asyncio.to_thread(model_kind, model)
        problem = None if kind == "example" else status.problem
        return {"model": model, "problem": problem, "danger": DANGER}

    async def _existing(self, text: str) -> Reply | None:
        """Returns what a path is that can only be read, such as a log or a folder of one; ``None`` for a model."""
        path = page_path(text)
        try:
            kind = await asyncio.to_thread(opening.existing_kind, path)
        except OSError:  # the form says why
            kind = None
        if kind is None:
            return None
        return {"model": str(path), "problem": None, "danger": DANGER, "existing": analysis.ORIGINS[kind]}

    async def _sandbox_of(self, message: Message, model: str, agreed: str = "consent") -> Literal[False] | None:
        status = await _in_daemon_thread(worker.sandbox_status)
        return await asyncio.to_thread(sandbox_of, message, model, status, agreed)

    async def _parse_input(self, message: Message) -> Reply:
        return {"ok": True, "says": input_text(requests.parse_input(_field(message, "text")))}

    async def _parse_command(self, message: Message) -> Reply:
        """Returns what the form needs to record again what a command recorded; ``None`` if it is no such command."""
        request = worker.parse_recording_command(_field(message, "text"))
        return {"request": None if request is None else form_values(request)}

    async def _list(self, message: Message) -> Reply:
        path = page_path(_field(message, "path")) if message.get("path") else Path.cwd()
        return await asyncio.to_thread(folder_view, path)

    async def _open(self, message: Message) -> Reply:
        self._use(_field(message, "path"))
        path = page_path(_field(message, "path"))
        entry = await self._state.remember(path)
        return {"trace": entry.path, "name": entry.name}

    async def _read(self, message: Message) -> Reply:
        """Starts to read what exists already, such as a frozen file; the job is ``None`` for anything else."""
        self._use(_field(message, "path"))
        path = page_path(_field(message, "path"))
        try:
            kind = await asyncio.to_thread(opening.existing_kind, path)
        except OSError:  # the form says why
            kind = None
        if kind is None:
            return {"job": None}
        # Nothing of the file is run, so it is read without consent where there is no sandbox.
        status = await _in_daemon_thread(worker.sandbox_status)
        request = read_request(path, recordings_folder(), datetime.now())
        return self._begin(replace(request, sandbox=None if status.problem is None else False))

    async def _take_over(self, message: Message) -> Reply:
        """Takes over the uploads of the page that this one replaced on a reload."""
        if self._uploads is not None:
            self._uploads.take_over(_field(message, "page"))
        return {}

    def _use(self, *texts: object) -> None:
        """Records which uploads the page uses."""
        for text in texts:
            if self._uploads is not None and isinstance(text, str):
                self._uploads.use(text)


async def _in_daemon_thread(call: Callable[[], Result]) -> Result:
    """Runs a call that may take a minute; unlike with `asyncio.to_thread`, the server can end before the call does."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Result] = loop.create_future()

    def settle(settle_as: Callable[[Any], None], value: object) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: None if result.done() else settle_as(value))

    def work() -> None:
        try:
            value = call()
        except Exception as error:  # noqa: BLE001 - raised again where it is awaited
            settle(result.set_exception, error)
        else:
            settle(result.set_result, value)

    threading.Thread(target=work, daemon=True).start()
    return await result


def input_text(request: requests.InputRequest) -> str:
    """Describes an ``--input`` in words."""
    value = request.value
    if isinstance(value, requests.RandomTensor):
        shape = "×".join(map(str, value.shape))
        drawn = "standard normal" if value.values is None else f"{value.values.start} to {value.values.stop - 1}"
        says = f"{value.dtype} {shape}, {'true or false' if value.dtype == 'bool' else drawn}"
    elif isinstance(value, requests.SavedTensor):
        says = f"the tensor saved in {value.path}"
    else:
        says = f"{type(value).__name__} {value}"
    return says if request.keyword is None else f"{request.keyword} = {says}"


def _list_of(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _field(message: Message, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        raise fe.FreezerError(f"The message lacks {name}.")
    return value
