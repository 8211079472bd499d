"""The package that ahead-of-time compilation made, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackagedConstant:
    """A constant of a compiled package.

    Attributes:
        name: in the generated code.
        key: the name by which ``load_constants`` knows it; that of the model's attribute where it is one.
        kind: torch's word: ``Parameter``, ``Buffer``, ``TensorConstant``, ``FoldedConstant`` or ``Unknown``.
        nbytes: its bytes in the package.
    """

    name: str
    key: str
    kind: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Package:
    """The files that ahead-of-time compilation made.

    Attributes:
        path: of the package, or of the first file where nothing was packaged; empty if it was not kept.
        nbytes: of the package, or of all files.
        constants: what it holds, in the order of the generated code.
    """

    path: str
    nbytes: int
    constants: tuple[PackagedConstant, ...] = ()
