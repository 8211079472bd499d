"""Files that the page brings: streamed to a folder of the server's own, which goes when the server ends."""

from __future__ import annotations

import asyncio
import re
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final

from tornado.web import stream_request_body

import freeze_engine as fe
from viewer.dashboard.web import JsonHandler

_NOT_IN_NAMES: Final = re.compile(r"[^\w.+-]+")
_MAX_NAME: Final = 120


def safe_name(text: str) -> str:
    """Returns a file's name without folders and without anything that is special to a file system or a shell."""
    last = re.split(r"[\\/]", text)[-1]
    return _NOT_IN_NAMES.sub("_", last).lstrip(".-")[-_MAX_NAME:] or "upload"


@stream_request_body
class UploadHandler(JsonHandler):
    """``PUT upload?name=``: keeps the body as a file, if it is one that can be opened or recorded."""

    def initialize(self, folder: Path, limit_bytes: int) -> None:
        """Takes where files are kept, and how large one may be."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._target: Path | None = None
        self._stream: BinaryIO | None = None

    def prepare(self) -> None:
        """Looks at the headers, before the body is read."""
        if self.request.method != "PUT":
            return
        length = self.request.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.refuse(HTTPStatus.LENGTH_REQUIRED, "An upload has to say how long it is (Content-Length).")
            return
        # What is too long is refused here; the rest of it is read past, so that the browser gets to see the answer.
        self.request.connection.set_max_body_size(max(int(length), self._limit_bytes))  # type: ignore[union-attr]
        name = safe_name(self.get_query_argument("name", ""))
        if int(length) > self._limit_bytes:
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(name, int(length), self._limit_bytes))
            return
        self._target = Path(tempfile.mkdtemp(dir=self._folder)) / name
        self._stream = self._target.open("xb")

    def data_received(self, chunk: bytes) -> None:
        """Writes a piece of the body."""
        if self._stream is not None:
            self._stream.write(chunk)

    async def put(self) -> None:
        """Keeps the file, and tells where and what it is."""
        if self._stream is None or self._target is None:
            return
        self._stream.close()
        kind = await asyncio.to_thread(fe.file_kind, self._target)
        if kind in (None, "legacy"):
            name = self._target.name
            self._drop()
            self.refuse(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"{name} is neither a trace, a TorchScript file, an exported program nor a saved tensor; it may be "
                "truncated. What torch.save wrote of a module is not opened: it would have to be unpickled.",
            )
            return
        path, self._target = self._target, None
        self.finish({"path": str(path), "name": path.name, "kind": kind, "size_bytes": path.stat().st_size})

    def on_connection_close(self) -> None:
        """Removes what has come of an upload that was broken off."""
        self._drop()

    def on_finish(self) -> None:
        """Removes what is not to be kept."""
        self._drop()

    def _drop(self) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._target is not None:
            self._target.unlink(missing_ok=True)
            self._target.parent.rmdir()
            self._target = None


def _too_large(name: str, size_bytes: int, limit_bytes: int) -> str:
    return (
        f"{name} has {size_bytes / 2**20:,.0f} MiB; uploads may have {limit_bytes / 2**20:,.0f} MiB. Open the file by "
        "its path on this machine, or start the server with a larger --upload-limit."
    )
