"""Which files lie inside of the folder that the user named: a link in it may lead to anywhere."""

from __future__ import annotations

from pathlib import Path


class Inside:
    """Says which paths lie in a folder once all links are followed.

    Args:
        folder: that the user named; it may be a link itself.

    Attributes:
        refused: paths that lead out of it, in the order in which `has` was called for them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.refused: dict[Path, None] = {}

    def has(self, path: Path) -> bool:
        """Returns whether a path leads into the folder."""
        try:
            if path.resolve().is_relative_to(self._folder):
                return True
        except (OSError, RuntimeError):  # links in a circle (RuntimeError until Python 3.12)
            pass
        self.refused[path] = None
        return False
