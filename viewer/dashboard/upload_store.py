"""What the pages have uploaded: how much in all, whose it is, and when it goes.

A file goes when the last page that uses it is gone and no recording needs it. Bokeh keeps a session without a
connection for some 30 s, so a page that is loaded again can take over what its predecessor uploaded.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import freeze_engine as fe

MAX_FILES: Final = 1_000
"""How many uploads are kept at once."""

SPARE_BYTES: Final = 64 << 20
"""How much of the disk is left free."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How much may be uploaded.

    Attributes:
        file_bytes: in one file.
        total_bytes: in all files that are kept or under way.
    """

    file_bytes: int
    total_bytes: int


@dataclass(slots=True)
class Upload:
    """One file.

    Attributes:
        path: absolute, in a folder of its own.
        size_bytes: promised by the browser before the body came.
        written_bytes: so far.
        pages: that use it.
    """

    path: Path
    size_bytes: int
    written_bytes: int = 0
    pages: set[str] = field(default_factory=set)


class UploadStore:
    """The uploads of one server. Belongs to the server's thread.

    Args:
        folder: where they are kept; goes when the server ends.
        limits: how much may be uploaded.
        needed: returns what the recordings that wait or run were asked for.
        on_removed: called with the path of every upload that was removed.
    """

    def __init__(
        self,
        folder: Path,
        limits: UploadLimits,
        needed: Callable[[], Iterable[fe.RecordRequest]] = tuple,
        on_removed: Callable[[Path], object] = lambda path: None,
    ) -> None:
        self.limits = limits
        self._folder = folder
        self._needed = needed
        self._on_removed = on_removed
        self._pages: set[str] = set()
        self._uploads: dict[Path, Upload] = {}

    def join(self, page: str) -> None:
        """Lets a page upload."""
        self._pages.add(page)

    def leave(self, page: str) -> None:
        """Removes what nobody uses once a page is gone."""
        self._pages.discard(page)
        for upload in self._uploads.values():
            upload.pages.discard(page)
        self.sweep()

    def knows(self, page: str) -> bool:
        """Returns whether a page is open."""
        return page in self._pages

    def take_over(self, page: str, before: str) -> None:
        """Lets a page use what the one that it was loaded in the place of has uploaded."""
        for upload in self._uploads.values():
            if before in upload.pages:
                upload.pages.add(page)

    def use(self, text: str, page: str) -> None:
        """Notes that a page uses a file, which may be an upload of another page.

        Args:
            text: names the file by its path, in whatever surroundings.
            page: that uses it.

        Raises:
            FreezerError: it was uploaded, and is gone.
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
        """Makes room for a file that will come.

        Args:
            page: that sends it.
            name: of the file, without folders.
            size_bytes: as the browser says it.

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
        """Returns whether a file is still to be kept."""
        return upload.path in self._uploads

    def drop(self, upload: Upload) -> None:
        """Removes a file, or what has come of it."""
        if self._uploads.pop(upload.path, None) is not None:
            shutil.rmtree(upload.path.parent, ignore_errors=True)

    def sweep(self) -> None:
        """Removes what no page uses and no recording needs."""
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
        page: the page's id, which only it knows.
    """

    store: UploadStore
    page: str

    def use(self, text: str) -> None:
        """Notes that the page uses a file, see `UploadStore.use`."""
        self.store.use(text, self.page)

    def take_over(self, before: str) -> None:
        """Keeps what the page before this one has uploaded."""
        self.store.take_over(self.page, before)


def _needs(request: fe.RecordRequest, path: Path) -> bool:
    return str(path) == request.model or any(str(path) in text for text in request.inputs)


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.0f} MiB"
