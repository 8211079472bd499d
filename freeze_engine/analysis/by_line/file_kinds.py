"""Whose file a source file is, by its name: the trace may be from another machine."""

from __future__ import annotations

import re
from typing import Final

from freeze_engine.analysis.by_line.outcome import FileKind

#: How torch names the code inside a file of its own (`torch.jit.save`).
_SAVED: Final = "code/__torch__"
_LIBRARY: Final = re.compile(
    r"[\\/](?:site|dist)-packages[\\/]"  # an installed package
    r"|[\\/]lib[\\/]python3(?:\.\d+)?[\\/]|[\\/]Python3\d+[\\/]Lib[\\/]"  # Python's own modules
    r"|[\\/]torch[\\/](?:nn|jit|_dynamo|_inductor|_functorch|fx|ao|_refs|_decomp)[\\/]"  # torch, built in place
    r"|^<(?!ipython-input-)"  # no file, but for the cells of older notebooks
)
_SAVED_LIBRARY: Final = re.compile(r"^code/__torch__/(?:torch|torchvision|torchaudio|timm|transformers)(?:/|\.)")
_TORCH: Final = re.compile(
    r"[\\/](?:site|dist)-packages[\\/]torch[\\/]|^code/__torch__/torch/|[\\/]torch[\\/](?:nn|jit)[\\/]"
)


def file_kind(file: str) -> FileKind:
    """Returns whose file a source file is.

    Args:
        file: path as in `SourceRef.file`; the cells of a notebook are the user's own.
    """
    if file.startswith(_SAVED):
        return "library" if _SAVED_LIBRARY.match(file) else "saved"
    return "library" if _LIBRARY.search(file) else "own"


def is_torch(file: str) -> bool:
    """Returns whether the file of a library is torch's own."""
    return bool(_TORCH.search(file))
