"""Receives uploads: streams them to a folder of the server, where `upload_store` keeps them."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final

from tornado.web import stream_request_body

import freeze_engine as fe
from freeze_engine import models, opening
from viewer.dashboard.handlers_base import JsonHandler
from viewer.dashboard.upload_store import Upload, UploadStore

_NOT_IN_NAMES: Final = re.compile(r"[^\w.+-]+")
_MAX_NAME: Final = 120
_MAX_BYTES: Final = 240
_LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)

_CLOSED: Final = "{} comes from a page that is not open. Load the page again."
_READ_PAST: Final = 1 << 30
"""Most bytes read of a refused body: a browser does not see the answer while it still sends."""


def safe_name(text: str) -> str:
    """Returns a file's name without folders and without characters that are special to a file system or a shell."""
    last = re.split(r"[\\/]", text)[-1]
    name = _NOT_IN_NAMES.sub("_", last).lstrip(".-")[-_MAX_NAME:]
    return name.encode()[-_MAX_BYTES:].decode("utf-8", "ignore") or "upload"


@stream_request_body
class UploadHandler(JsonHandler):
    """``PUT upload?name=&page=``: keeps the body as a file, if the file can be opened or recorded."""

    def initialize(self, store: UploadStore) -> None:
        """Takes the store of the files."""
        self._store = store
        self._upload: Upload | None = None
        self._stream: BinaryIO | None = None
        self._refusal: tuple[HTTPStatus, str] | None = None

    def prepare(self) -> None:
        """Checks the headers before the body is read."""
        if self.request.method != "PUT":
            return
        length = self.request.headers.get("Content-Length", "")
        if not _LENGTH.fullmatch(length) or "Transfer-Encoding" in self.request.headers:
            self.refuse(HTTPStatus.LENGTH_REQUIRED, "An upload has to say how long it is (Content-Length).")
            return
        self.request.connection.set_max_body_size(int(length))  # type: ignore[union-attr]
        self._begin(self.get_query_argument("page", ""), safe_name(self.get_query_argument("name", "")), int(length))
        if self._refusal is not None and int(length) > _READ_PAST:
            self.refuse(*self._refusal)

    def _begin(self, page: str, name: str, size_bytes: int) -> None:
        if not self._store.knows(page):
            self._refusal = HTTPStatus.CONFLICT, _CLOSED.format(name)
            return
        try:
            self._upload = self._store.promise(page, name, size_bytes)
            self._stream = self._upload.path.open("xb", buffering=0)
        except fe.FreezerError as error:
            self._refusal = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error)
        except OSError as error:
            self._fail(name, error)

    def data_received(self, chunk: bytes) -> None:
        """Writes a chunk of the body."""
        if self._stream is None or self._upload is None:
            return
        if not self._store.holds(self._upload):
            self._refusal = HTTPStatus.CONFLICT, _CLOSED.format(self._upload.path.name)
            self._drop()
            return
        try:
            self._write(self._stream, memoryview(chunk))
        except OSError as error:
            self._fail(self._upload.path.name, error)
        else:
            self._upload.written_bytes += len(chunk)

    @staticmethod
    def _write(stream: BinaryIO, left: memoryview) -> None:
        while left:
            left = left[stream.write(left) :]

    def _fail(self, name: str, error: OSError) -> None:
        """Refuses the upload after a failed write, such as on a full disk; the rest of the body is discarded."""
        self._drop()
        reason = (
            f"{name} could not be written: {error.strerror}. Make room on this machine, or open the file by its path."
        )
        self._refusal = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason

    async def put(self) -> None:
        """Keeps the file, and answers with its path and kind."""
        if self._refusal is not None:
            self.refuse(*self._refusal)
            return
        if self._stream is None or self._upload is None:
            return
        self._stream.close()
        upload = self._upload
        kind = await asyncio.to_thread(_kind, upload.path)
        if not self._store.holds(upload):
            self.refuse(HTTPStatus.CONFLICT, _CLOSED.format(upload.path.name))
            return
        if kind in (None, "legacy") and await asyncio.to_thread(opening.existing_kind, upload.path) is None:
            found = await asyncio.to_thread(models.other_file, upload.path)
            self._drop()
            text = f"{upload.path.name} is {found.what}. {found.page_remedy}"
            self.refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, text)
            return
        self._upload = None
        self.finish({"path": str(upload.path), "name": upload.path.name, "kind": kind, "size_bytes": upload.size_bytes})

    def on_connection_close(self) -> None:
        """Removes a partial upload."""
        self._drop()

    def on_finish(self) -> None:
        """Removes the file unless `put` kept it."""
        self._drop()

    def _drop(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self._upload is not None:
            self._store.drop(self._upload)
            self._upload = None


def _kind(path: Path) -> str | None:
    return (
        models.file_kind(path) if path.is_file() else None
    )  # its page may have closed meanwhile, which removes the file
