"""Reads a TorchScript file without torch, and without running anything of it.

`torch.jit.load` compiles the code of a file and runs the ``__setstate__`` of its classes. Here the code stays text, an
object of a class in the file is a note of its state, and a tensor is a description of its bytes.
"""

from __future__ import annotations

import hashlib
import io
import math
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from freeze_engine.models.untrusted.plain_pickles import ELEMENT_BYTES, STORAGES, PickleRefusedError, check_opcodes
from freeze_engine.models.untrusted.strict_zip import (
    ZipMember,
    ZipRefusedError,
    member_chunks,
    unpacked_bytes,
    zip_members,
)

MAX_CODE_BYTES: Final = 16 << 20
"""The longest code of one class file that is read."""

_MAX_PICKLE_BYTES: Final = 64 << 20
_MAX_DIMENSIONS: Final = 64
_MAX_NAME: Final = 1_000
_MAX_CLASSES: Final = 10_000
_MORE_OPCODES: Final = frozenset(("NEWOBJ", "EMPTY_LIST", "LONG4", "TUPLE", "BINSTRING", "SHORT_BINSTRING"))
_CLASS: Final = re.compile(r"__torch__(\.[^\W\d]\w*)*")
_QUANTISED: Final = {
    "QInt8Storage": "qint8",
    "QUInt8Storage": "quint8",
    "QInt32Storage": "qint32",
    "QUInt4x2Storage": "quint4x2",
    "QUInt2x4Storage": "quint2x4",
}
_FIRST_GLOBAL: Final = re.compile(rb"\x80\x02c(?P<module>[\w.]{1,1000})\n(?P<name>\w{1,1000})\n", re.ASCII)
_FLAG: Final = "  training : bool"


class ScriptObject:
    """An object of a class whose code is in the file: a module, or an object of C++.

    Attributes:
        class_name: its qualified name (``__torch__.torch.nn.modules.conv.Conv2d``).
        state: what the file keeps of it: its slots by name, where it has no ``__setstate__`` of its own.
    """

    class_name = ""
    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Sealed:
    """A note that a pickle cannot change once it is made (``BUILD``)."""

    def __setstate__(self, state: Any) -> NoReturn:
        raise PickleRefusedError(f"a changed {type(self).__name__.lstrip('_')}")


@dataclass(frozen=True)
class ArchivedTensor(_Sealed):
    """A tensor of the file.

    Attributes:
        dtype: torch's name without the prefix.
        device: that it was saved from.
        shape, stride: sizes, and steps between elements.
        offset: of its first element in the storage, in elements.
        storage: names the storage within the file (``constants/3``).
    """

    dtype: str
    device: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    storage: str

    @property
    def nbytes(self) -> int:
        """Bytes that its elements take."""
        return math.prod(self.shape) * ELEMENT_BYTES.get(self.dtype, 1)


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """What a TorchScript file holds.

    Attributes:
        module: the top module.
        constants: of the code, by number (``CONSTANTS.c3`` is number 3).
        code: texts of the class files, by their dotted names (``__torch__.torch.nn``).
        digests: of the storages that a tensor fills contiguously, as `freeze_engine.trace.Constant` has them.
    """

    module: ScriptObject
    constants: tuple[Any, ...]
    code: Mapping[str, str]
    digests: Mapping[ArchivedTensor, str]


def is_frozen_file(path: Path, names: frozenset[str]) -> bool:
    """Returns whether a TorchScript file holds a module that was frozen before it was saved.

    Freezing removes the flag ``training`` from the top module; every other module has it (torch 2.13,
    ``torch/csrc/jit/passes/freeze_module.cpp``). A module frozen with ``training`` preserved counts as not frozen.

    Args:
        path: of the file.
        names: of its members.
    """
    root = next((name.partition("/")[0] for name in sorted(names) if name.endswith("/constants.pkl")), "")
    try:
        with path.open("rb") as stream:
            members = {member.name: member for member in zip_members(stream)}
            first = _FIRST_GLOBAL.match(unpacked_bytes(stream, members[f"{root}/data.pkl"], _MAX_PICKLE_BYTES))
            if first is None or not first["module"].startswith(b"__torch__"):
                return False
            member = members[f"{root}/code/{first['module'].decode().replace('.', '/')}.py"]
            code = unpacked_bytes(stream, member, MAX_CODE_BYTES).decode(errors="replace")
    except (ZipRefusedError, KeyError):
        return False
    begin = rf"^class {first['name'].decode()}\(Module\):\n"
    head = re.search(begin + r"(?P<fields>(  \S.*\n)*?)(  def |\Z|^\S)", code, re.MULTILINE)
    return head is not None and _FLAG not in head["fields"]


def read_script_file(path: Path) -> ScriptFile:
    """Reads a TorchScript file.

    Args:
        path: of the file.

    Raises:
        PickleRefusedError: it holds something that is not understood; the text says what.
        freeze_engine.models.untrusted.strict_zip.ZipRefusedError: it is no zip file, a damaged one, or one that may be
            understood in two ways.
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        archive = _Archive(stream, zip_members(stream))
        module = archive.unpickled("data")
        constants = archive.unpickled("constants")
        if not isinstance(module, ScriptObject) or type(constants) not in (tuple, list):
            raise PickleRefusedError("no module")
        tensors = [each for each in constants if isinstance(each, ArchivedTensor)]
        return ScriptFile(module, tuple(constants), dict(archive.code()), archive.digests(tensors))


class _Archive:
    """The members of one file."""

    def __init__(self, stream: Any, members: tuple[ZipMember, ...]) -> None:
        self._stream = stream
        self._members = {member.name.partition("/")[2]: member for member in members}

    def unpickled(self, name: str) -> Any:
        """Returns what a pickle of the file holds, classes and tensors as notes."""
        member = self._members.get(f"{name}.pkl")
        if member is None:
            raise PickleRefusedError(f"no {name}.pkl")
        content = unpacked_bytes(self._stream, member, _MAX_PICKLE_BYTES)
        check_opcodes(content, _MORE_OPCODES)
        try:
            return _Unpickler(content, name, self._members).load()
        except (RecursionError, MemoryError, pickle.UnpicklingError) as error:
            raise PickleRefusedError(str(error) or type(error).__name__) from error
        except (TypeError, ValueError, AttributeError, KeyError, IndexError, EOFError, OverflowError) as error:
            raise PickleRefusedError(f"a pickle that is not understood ({error})") from error

    def code(self) -> Iterator[tuple[str, str]]:
        """Yields the class files by their dotted names."""
        left = MAX_CODE_BYTES
        for name, member in self._members.items():
            if name.startswith("code/") and name.endswith(".py"):
                text = unpacked_bytes(self._stream, member, left)
                left -= len(text)
                yield name[len("code/") : -len(".py")].replace("/", "."), text.decode(errors="replace")

    def digests(self, tensors: list[ArchivedTensor]) -> dict[ArchivedTensor, str]:
        """Returns digests of the tensors that are all of their storage, in order; each storage is read once."""
        by_storage: dict[str, str] = {}
        found: dict[ArchivedTensor, str] = {}
        for tensor in tensors:
            member = self._members[tensor.storage]
            if tensor.offset or not _is_contiguous(tensor) or tensor.nbytes != member.size_bytes:
                continue
            if tensor.dtype in _QUANTISED.values():
                continue  # its scale belongs to its digest
            if tensor.storage not in by_storage:
                digest = hashlib.sha256()
                for chunk in member_chunks(self._stream, member):
                    digest.update(chunk)
                by_storage[tensor.storage] = digest.hexdigest()[:16]
            found[tensor] = by_storage[tensor.storage]
        return found


def _is_contiguous(tensor: ArchivedTensor) -> bool:
    expected = 1
    for size, step in zip(reversed(tensor.shape), reversed(tensor.stride), strict=True):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


class _Word(_Sealed):
    """A global that only stands for itself, such as a dtype."""

    def __init__(self, word: str) -> None:
        self.word = word


class _Function(_Sealed):
    """A global that is called."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)


class _Storage(_Sealed):
    """Bytes of the file: their dtype, the device that they were on, and the member's name."""

    def __init__(self, dtype: str, device: str, name: str) -> None:
        self.dtype = dtype
        self.device = device
        self.name = name


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, folder: str, members: Mapping[str, ZipMember]) -> None:
        super().__init__(io.BytesIO(content))
        self._folder = folder
        self._members = members
        self._classes: dict[str, type] = {}

    def find_class(self, module: str, name: str) -> Any:
        qualified = f"{module}.{name}"
        if len(qualified) > _MAX_NAME:
            raise PickleRefusedError(f"a class with a name of {len(qualified)} characters")
        if _CLASS.fullmatch(qualified):
            if qualified not in self._classes:
                if len(self._classes) >= _MAX_CLASSES:
                    raise PickleRefusedError(f"objects of more than {_MAX_CLASSES} classes")
                self._classes[qualified] = type("ScriptObject", (ScriptObject,), {"class_name": qualified})
            return self._classes[qualified]
        if module == "torch" and name in _STORAGE_DTYPES:
            return _Word(_STORAGE_DTYPES[name])
        known = _FUNCTIONS.get((module, name))
        if known is None:
            raise PickleRefusedError(f"it names {qualified}, which is not known here")
        return known

    def persistent_load(self, pid: Any) -> _Storage:
        kind, storage, key, location, numel = pid
        if any(type(each) is not str or len(each) > _MAX_NAME for each in (key, location)):
            raise PickleRefusedError("a tensor that is not understood")
        name = f"{self._folder}/{key}"
        if kind != "storage" or not isinstance(storage, _Word) or name not in self._members:
            raise PickleRefusedError(f"a tensor without bytes ({key!r})")
        if type(numel) is not int or not 0 <= numel < 2**62:
            raise PickleRefusedError("a tensor that is not understood")
        return _Storage(storage.word, location, name)


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, *_rest: Any) -> ArchivedTensor:
    if not isinstance(storage, _Storage):
        raise PickleRefusedError("a tensor without bytes")
    sizes, steps = tuple(shape), tuple(stride)
    if (
        len(sizes) > _MAX_DIMENSIONS
        or len(sizes) != len(steps)
        or any(type(each) is not int or not 0 <= each < 2**62 for each in (offset, *sizes, *steps))
    ):
        raise PickleRefusedError("a tensor of impossible sizes")
    if math.prod(sizes) * 16 >= 2**62:
        raise PickleRefusedError("a tensor of impossible sizes")
    return ArchivedTensor(storage.dtype, storage.device, sizes, steps, offset, storage.name)


def _tagged(value: Any, _type: Any) -> Any:
    return value


_STORAGE_DTYPES: Final = {**STORAGES, **_QUANTISED}
_FUNCTIONS: Final[Mapping[tuple[str, str], Any]] = {
    ("torch._utils", "_rebuild_tensor_v2"): _Function(_tensor),
    ("torch._utils", "_rebuild_qtensor"): _Function(_tensor),
    ("collections", "OrderedDict"): _Function(dict),
    **dict.fromkeys(
        [("torch.jit._pickle", f"build_{kind}list") for kind in ("int", "double", "bool", "tensor")], _Function(list)
    ),
    ("torch.jit._pickle", "restore_type_tag"): _Function(_tagged),
    ("torch", "device"): _Function(_Word),
    **{
        ("torch", name): _Word(name)
        for name in ("per_tensor_affine", "per_channel_affine", "per_channel_affine_float_qparams")
    },
}
