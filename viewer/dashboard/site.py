"""What the page needs to know of the server, and does not change while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import freeze_engine as fe

BACKENDS: Final[list[dict[str, Any]]] = [
    {
        "id": "torchscript",
        "label": "TorchScript: torch.jit.freeze",
        "options": [
            {
                "id": "optimize_numerics",
                "label": "Folds that can change the numbers",
                "kind": "flag",
                "help": "such as a batch norm into its convolution; the last digits may differ",
                "default": True,
            },
            {
                "id": "optimize_for_inference",
                "label": "Optimize for inference",
                "kind": "flag",
                "help": "go on with torch.jit.optimize_for_inference",
                "default": False,
            },
            {
                "id": "other_methods",
                "label": "Other methods",
                "kind": "names",
                "help": "methods besides forward to preserve and to optimize",
                "default": [],
            },
        ],
    }
]
"""The backends and their options; an option's ``id`` is its name in the backend's options class."""


@dataclass(frozen=True, slots=True)
class Site:
    """The server's own facts.

    Attributes:
        upload_limit_bytes: how large an uploaded file may be.
        devices: of this machine, once a look at a model has told them.
    """

    upload_limit_bytes: int
    devices: tuple[str, ...] | None = None

    def view(self) -> dict[str, Any]:
        """Returns what the page reads."""
        return {
            "version": installed_version("freezer-ui"),
            "torch": installed_version("torch"),
            "start": None,  # what to open stands in the address that is printed
            "upload_limit_bytes": self.upload_limit_bytes,
            "backends": BACKENDS,
            "devices": None if self.devices is None else list(self.devices),
            "dtypes": list(fe.DTYPES),
            "home": str(Path.cwd()),
        }


def installed_version(package: str) -> str | None:
    """Returns a package's version without importing it, ``None`` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
