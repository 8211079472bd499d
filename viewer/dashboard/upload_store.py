"""The files that pages have uploaded: total size, pages that use them, and removal.

A file is removed when the last page that uses it is closed and no recording needs it. Bokeh keeps a session without a
connection for some 30 s, so a reloaded page can take over its predecessor's uploads.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import freeze_engine as fe
from freeze_engine import worker

MAX_FILES: Final = 1_000
"""Most uploads kept at once."""

SPARE_BYTES: Final = 64 << 20
"""Space on the disk that uploads leave free."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Limits on uploads.

    Attributes:
        file_bytes: in one file.
        total_bytes: in all files, complete or in transfer.
    """

    file_bytes: int
    total_bytes: int


@dataclass(slots=True)
class Upload:
    """One uploaded file.

    Attributes:
        path: absolute, in a folder of its own.
        size_bytes: as the browser announced it before the body.
        written_bytes: so far.
        pages: that use it.
    """

    path: Path
    size_bytes: int
    written_bytes: int = 0
    pages: set[str] = field(default_factory=set)


class UploadStore:
    """The uploads of one server. Only the server's thread may use it.

    Args:
        folder: that holds the files; removed when the server ends.
        limits: on uploads.
        needed: returns the requests of the recordings that wait or run.
        on_removed: called with the path of every removed upload.
    """

    def __init__(
        self,
        folder: Path,
        limits: UploadLimits,
        needed: Callable[[], Iterable[worker.RecordRequest]] = tuple,
        on_removed: Callable[[Path], object] = lambda path: None,
    ) -> None:
        self.limits = limits
        self._folder = folder
        self._needed = needed
        self._on_removed = on_removed
        self._pages: set[str] = set()
        self._uploads: dict[Path, Upload] = {}

    def join(self, page: str) -> None:
        """Registers a page, which may then upload."""
        self._pages.add(page)

    def leave(self, page: str) -> None:
        """Unregisters a closed page, and removes the uploads that are no longer used."""
        self._pages.discard(page)
        for upload in self._uploads.values():
            upload.pages.discard(page)
        self.sweep()

    def knows(self, page: str) -> bool:
        """Returns whether a page is open."""
        return page in self._pages

    def take_over(self, page: str, before: str) -> None:
        """Lets a reloaded page use the uploads of its predecessor."""
        for upload in self._uploads.values():
            if before in upload.pages:
                upload.pages.add(page)

    def use(self, text: str, page: str) -> None:
        """Records that a page uses a file, which may be an upload of another page.

        Args:
            text: contains the path of the file.
            page: that uses it.

        Raises:
            FreezerError: the upload has been removed.
        """
        if str(self._folder) not in text:
            return
        used = [upload for upload in self._uploads.values() if str(upload.path) in text]
        for upload in used:
            upload.pages |= {page} & self._pages
        if not used:
            raise fe.FreezerError(
                f"{Path(text).name} was uploaded by a page that has been closed since, so it was removed. Upload it "
                "again."
            )

    def promise(self, page: str, name: str, size_bytes: int) -> Upload:
        """Reserves room for an upload.

        Args:
            page: that sends it.
            name: of the file, without folders.
            size_bytes: as the browser announces it.

        Raises:
            FreezerError: it is too large, there are too many, or there is no room.
        """
        if refusal := self._refusal(name, size_bytes):
            raise fe.FreezerError(refusal)
        try:
            path = Path(tempfile.mkdtemp(dir=self._folder)) / name
        except OSError as error:
            raise fe.FreezerError(
                f"{name} could not be written: {error.strerror}. Make room on this machine."
            ) from error
        upload = self._uploads[path] = Upload(path, size_bytes, pages={page})
        return upload

    def holds(self, upload: Upload) -> bool:
        """Returns whether an upload has not been removed."""
        return upload.path in self._uploads

    def drop(self, upload: Upload) -> None:
        """Removes an upload, complete or partial."""
        if self._uploads.pop(upload.path, None) is not None:
            shutil.rmtree(upload.path.parent, ignore_errors=True)

    def sweep(self) -> None:
        """Removes the uploads that no page uses and no recording needs."""
        requests = tuple(self._needed())
        for upload in tuple(self._uploads.values()):
            if not upload.pages and not any(_needs(request, upload.path) for request in requests):
                self.drop(upload)
                self._on_removed(upload.path)

    def _refusal(self, name: str, size_bytes: int) -> str | None:
        limits = self.limits
        if size_bytes > limits.file_bytes:
            return (
                f"{name} has {_mib(size_bytes)}; uploads may have {_mib(limits.file_bytes)}. Open the file by its path "
                "on this machine, or start the server with a larger --upload-limit."
            )
        promised = sum(upload.size_bytes for upload in self._uploads.values())
        if promised + size_bytes > limits.total_bytes or len(self._uploads) >= MAX_FILES:
            return (
                f"{name} has {_mib(size_bytes)}, and of the {_mib(limits.total_bytes)} for all uploads "
                f"{_mib(promised)} are taken by {len(self._uploads)} files. Close pages whose uploads are no longer "
                "needed, open the file by its path on this machine, or start the server with a larger --upload-total."
            )
        to_come = sum(upload.size_bytes - upload.written_bytes for upload in self._uploads.values())
        free_bytes = shutil.disk_usage(self._folder).free - SPARE_BYTES - to_come
        if size_bytes > free_bytes:
            return (
                f"{name} has {_mib(size_bytes)}, and the disk of {self._folder.parent} has room for "
                f"{_mib(max(0, free_bytes))}. Make room there, or open the file by its path on this machine."
            )
        return None


@dataclass(frozen=True, slots=True)
class PageUploads:
    """The uploads as one page sees them.

    Attributes:
        store: of the server.
        page: the page's secret id.
    """

    store: UploadStore
    page: str

    def use(self, text: str) -> None:
        """Records that the page uses a file, see `UploadStore.use`."""
        self.store.use(text, self.page)

    def take_over(self, before: str) -> None:
        """Keeps the uploads of the page's predecessor."""
        self.store.take_over(self.page, before)


def _needs(request: worker.RecordRequest, path: Path) -> bool:
    return str(path) in (request.model, request.float_model) or any(str(path) in text for text in request.inputs)


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.0f} MiB"
