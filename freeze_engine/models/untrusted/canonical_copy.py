"""Opens exported programs from somebody else: torch sees a copy with only what was understood."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Final, NoReturn

import torch

from freeze_engine.backends.common.torch_private import operator_namespaces, operator_types
from freeze_engine.errors import ModelSpecError
from freeze_engine.models.imports import missing_operators, missing_text
from freeze_engine.models.untrusted.exported_program import ProgramOrigin, RefusedError, write_canonical
from freeze_engine.models.untrusted.plain_pickles import PickleRefusedError
from freeze_engine.models.untrusted.plain_tensors import repickled
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError, zip_members
from freeze_engine.process.temporary_folders import temporary_folder

_PREFIX: Final = "freezer-program-"
#: Namespaces of operators that work on tensors, of torch and of packages that are known.
_NAMESPACES: Final = frozenset(("aten", "prims", "quantized_decomposed", "torchvision"))
#: Types of what operators on tensors get and give; none of them is a file, a stream, or any Python object.
_TYPE: Final = re.compile(
    r"(Optional\[)?(List\[)?(Optional\[)?(Tensor|int|bool|float|number|complex|Device|Generator|str)\]{0,3}"
)
#: Names of the texts that operators on tensors get: a mode, a norm, a message. Others name files (``aten::from_file``).
_TEXTS: Final = frozenset(
    (
        *(
            "activation",
            "algorithm",
            "api_name",
            "approximate",
            "assert_msg",
            "driver",
            "equation",
        ),
        *(
            "indexing",
            "interpolation",
            "mode",
            "norm",
            "ord",
            "p",
            "pad_mode",
            "padding",
        ),
        *(
            "padding_side",
            "reduce",
            "rounding_mode",
            "side",
            "UPLO",
        ),
    )
)
#: Operators that work with no tensor, but with sizes.
_ON_SIZES: Final = re.compile(r"torch\.ops\.aten\.(_assert_scalar|sym_constrain_range(_for_size)?)\.default")


@contextlib.contextmanager
def canonical_copy(path: Path, namespaces: Set[str] = frozenset()) -> Iterator[tuple[Path, ProgramOrigin]]:
    """Copies an exported program for the time of the block, so that opening the copy runs nothing but operators.

    Args:
        path: the file, from anywhere.
        namespaces: those of further operators that it may use: of the packages that the user imported for it.

    Yields:
        The copy, and what the program says of itself.

    Raises:
        ModelSpecError: it holds something that is not known to be harmless; the message says what.
    """
    with temporary_folder(_PREFIX) as folder:
        copy = folder / "program.pt2"
        yield copy, _copied(path, copy, namespaces)


def check_archive(path: Path) -> None:
    """Checks that no two readers can understand a zip file differently.

    Raises:
        ModelSpecError: they can; the message says why.
    """
    try:
        with path.open("rb") as stream:
            zip_members(stream)
    except ZipRefusedError as error:
        raise _ambiguous(path, error) from error


def _ambiguous(path: Path, error: ZipRefusedError) -> ModelSpecError:
    return ModelSpecError(
        f"{path} cannot be read: {error}. Only files as torch writes them are opened from here. Save the model again, "
        "or record it on the command line if you trust the file: freezer-ui record."
    )


def _copied(path: Path, copy: Path, namespaces: Set[str]) -> ProgramOrigin:
    try:
        with path.open("rb") as stream:
            origin = write_canonical(stream, zip_members(stream), copy, _repickled)
        _check_operators(path, origin.operators, namespaces)
    except ZipRefusedError as error:
        raise _ambiguous(path, error) from error
    except RefusedError as error:
        _refuse(path, str(error), error)
    return origin


def _repickled(data: bytes) -> bytes:
    try:
        return repickled(data)
    except (PickleRefusedError, ZipRefusedError) as error:
        raise RefusedError(f"something pickled that is not a tensor: {error}") from error


def _check_operators(path: Path, names: Iterable[str], namespaces: Set[str]) -> None:
    named = [name for name in names if name.startswith("torch.ops.") and ".higher_order." not in name]
    for name in named:
        space = name.split(".")[2]
        if space in operator_namespaces() and space not in _NAMESPACES and space not in namespaces:
            raise RefusedError(f"the operator {name!r}")
    absent = missing_operators(named)
    of_packages = [name for name in absent if name.split(".")[2] not in operator_namespaces()]
    if of_packages:
        raise ModelSpecError(f"{path} needs {missing_text(of_packages)}")
    for name in named:
        types = operator_types(name)
        if types is None:
            raise RefusedError(f"the operator {name!r}, which torch {torch.__version__} does not have")
        if any(not _TYPE.fullmatch(kind) or ("str" in kind and argument not in _TEXTS) for argument, kind in types):
            raise RefusedError(f"the operator {name!r}, which gets or gives more than tensors and numbers")
        if not _ON_SIZES.fullmatch(name) and not any("Tensor" in kind for _, kind in types):
            raise RefusedError(f"the operator {name!r}, which works on no tensor")


def _refuse(path: Path, what: str, error: Exception) -> NoReturn:
    raise ModelSpecError(
        f"{path} holds {what}: opening it could run code that is not an operator of torch, which is not done here. "
        "If you trust the file, record it on the command line: freezer-ui record."
    ) from error
