"""Facts about the server that the page shows and that stay the same while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from freeze_engine import requests
from viewer.dashboard.form_options import BACKENDS, options_view


@dataclass(frozen=True, slots=True)
class Site:
    """The server's own facts.

    Attributes:
        upload_limit_bytes: largest size of an uploaded file.
        devices: of this machine, ``None`` until the first inspection of a model reports them.
        at_once: how many recordings may run at the same time.
    """

    upload_limit_bytes: int
    devices: tuple[str, ...] | None = None
    at_once: int = 1

    def view(self) -> dict[str, Any]:
        """Returns the facts as the page reads them."""
        return {
            "version": installed_version("freezer-ui"),
            "torch": installed_version("torch"),
            "start": None,  # the printed address contains what to open
            "upload_limit_bytes": self.upload_limit_bytes,
            "backends": BACKENDS,
            "options": options_view(),
            "devices": None if self.devices is None else list(self.devices),
            "at_once": self.at_once,
            "dtypes": list(requests.DTYPES),
            "home": str(Path.cwd()),
        }


def installed_version(package: str) -> str | None:
    """Returns a package's version without importing it, ``None`` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
