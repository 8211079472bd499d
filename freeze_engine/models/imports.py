"""Imports the modules that a user names, such as those that register the operators of a saved program."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from freeze_engine.backends.common.torch_private import operator_namespaces, operator_types
from freeze_engine.errors import ModelSpecError

_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_KNOWN: Final = {
    "quantized_decomposed": "torchao.quantization.pt2e",
    "torchao": "torchao",
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "fbgemm": "fbgemm_gpu",
    "xformers": "xformers.ops",
}
"""Packages that register operators of these namespaces."""


_registered: dict[str, frozenset[str]] = {}
"""Namespaces by the module whose import registered them; a second import of it registers nothing."""


def import_modules(names: Sequence[str], *, trusted: bool = True) -> frozenset[str]:
    """Imports modules, and returns the namespaces of the operators that they registered.

    Args:
        names: dotted names, as of an ``import`` statement.
        trusted: whether modules of the working directory are found, too, as with ``python -m``; otherwise only
            installed ones are.

    Raises:
        ModelSpecError: a name is malformed, there is no such module, or importing it raises something.
    """
    if isinstance(names, str):
        raise ModelSpecError(f"imports={names!r} is a text: pass a tuple, imports=({names!r},)")
    here = str(Path.cwd())
    if names and trusted and here not in sys.path:
        sys.path.insert(0, here)
    for name in names:
        before = operator_namespaces()
        _import(name)
        _registered[name] = _registered.get(name, frozenset()) | (operator_namespaces() - before)
    return frozenset[str]().union(*(_registered[name] for name in names))


def missing_operators(targets: Iterable[str]) -> tuple[str, ...]:
    """Returns the operators that this process does not have.

    Args:
        targets: of an exported program's nodes, such as ``torch.ops.aten.add.Tensor``.
    """
    named = sorted({each for each in targets if each.startswith("torch.ops.") and ".higher_order." not in each})
    return tuple(each for each in named if operator_types(each) is None)


def missing_text(missing: Sequence[str]) -> str:
    """Returns what is missing, and the remedy, as the end of a sentence.

    Args:
        missing: as of `missing_operators`, at least one.
    """
    spaces = dict.fromkeys(each.split(".")[2] for each in missing)
    known = list(dict.fromkeys(_KNOWN[space] for space in spaces if space in _KNOWN))
    told = " ".join(f"--import {package}" for package in known) or "--import PACKAGE"
    argument = ", ".join(repr(package) for package in known) or "'PACKAGE'"
    count = f"the operator {missing[0]}" if len(missing) == 1 else f"{len(missing)} operators: {', '.join(missing)}"
    return (
        f"{count}. torch has no such operators until a package registers them: import it first, by "
        f" {told} (imports=({argument},) in Python, Import in the form)"
    )


def _import(name: str) -> None:
    if not isinstance(name, str) or not _MODULE.fullmatch(name):
        raise ModelSpecError(
            f"--import {name!r} is not the name of a module; give one such as torchao.quantization.pt2e"
        )
    importlib.invalidate_caches()
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModelSpecError(
            f"--import {name}: there is no module {error.name!r}. Install the package into the Python that records."
        ) from error
    except (Exception, SystemExit) as error:  # code that is not ours may raise anything
        raise ModelSpecError(f"--import {name}: importing it raised {type(error).__name__}: {error}") from error
