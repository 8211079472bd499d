"""Reads what `torch.save` wrote of plain values, without torch and without calling anything that the file names.

Unpickling calls functions. Here all that a file can name are the few things below, which only note what is in the
file; everything else is refused. What comes out is inert: numbers, texts, lists, tuples, dictionaries, and descriptions
of tensors, whose bounds have been compared with the bytes that are there.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from freeze_engine.models.untrusted.refusals import UntrustedFileError
from freeze_engine.models.untrusted.strict_zip import ZipMember, member_bytes, zip_members

_LONGEST_PICKLE_BYTES: Final = 64 << 20
_MOST_VALUES: Final = 200_000
_MOST_OPCODES: Final = 5_000_000
_FILES: Final = re.compile(
    r"data\.pkl|data/\d{1,9}|byteorder|version|\.format_version|\.storage_alignment|\.data/(version|serialization_id)",
    re.ASCII,
)
#: Those of protocol 2, which torch writes; none makes objects of classes, or has effects.
_OPCODES: Final = frozenset(
    (
        *(
            "PROTO",
            "MARK",
            "GLOBAL",
            "BINPUT",
            "LONG_BINPUT",
            "BINGET",
            "LONG_BINGET",
            "EMPTY_TUPLE",
        ),
        *(
            "TUPLE",
            "TUPLE1",
            "TUPLE2",
            "TUPLE3",
            "EMPTY_LIST",
            "APPEND",
            "APPENDS",
            "EMPTY_DICT",
        ),
        *(
            "SETITEM",
            "SETITEMS",
            "BINUNICODE",
            "BININT",
            "BININT1",
            "BININT2",
            "LONG1",
            "BINFLOAT",
        ),
        *(
            "NEWTRUE",
            "NEWFALSE",
            "NONE",
            "BINPERSID",
            "REDUCE",
            "BUILD",
            "STOP",
        ),
    )
)
STORAGES: Final = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
ELEMENT_BYTES: Final = {
    **dict.fromkeys(("complex128",), 16),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32"), 4),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("int8", "uint8", "bool", "untyped"), 1),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"), 1),
}
_LOCATION: Final = re.compile(r"cpu|[a-z]{2,12}:\d{1,3}", re.ASCII)


class PickleRefusedError(UntrustedFileError):
    """The file holds something that is neither a tensor nor plain data; the text says what."""


@dataclass(frozen=True, slots=True)
class SavedStorage:
    """Bytes in the file.

    Attributes:
        key: which ones.
        dtype: the name of a torch dtype, ``untyped`` for bytes.
        location: the device it was on.
        numel: how many elements it has.
        data: the bytes.
    """

    key: str
    dtype: str
    location: str
    numel: int
    data: bytes


@dataclass(frozen=True, slots=True)
class TensorDescription:
    """A tensor in the file; all its elements lie in its storage.

    Attributes:
        storage: its bytes; tensors that share memory share this.
        dtype: the name of a torch dtype.
        offset: of its first element, in elements.
        shape: sizes.
        stride: steps between elements.
        requires_grad: whether it does.
        is_parameter: whether it is a parameter.
    """

    storage: SavedStorage
    dtype: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool
    is_parameter: bool = False


def read_plain(data: bytes) -> Any:
    """Reads a file of `torch.save`.

    Args:
        data: the whole file, a zip file as torch writes since 1.6.

    Returns:
        What it holds, with a `TensorDescription` for each tensor.

    Raises:
        PickleRefusedError: it holds something else.
        freeze_engine.models.untrusted.strict_zip.ZipRefusedError: it is no zip file, or one that may be understood in
            two ways.
    """
    stream = io.BytesIO(data)
    found: dict[str, ZipMember] = {}
    members = zip_members(stream)
    for member in members:
        root, _, name = member.name.partition("/")
        if not _FILES.fullmatch(name) or root != members[0].name.partition("/")[0]:
            raise PickleRefusedError(f"the file {member.name!r}, which torch.save does not write")
        found[name] = member
    if "data.pkl" not in found:
        raise PickleRefusedError("no pickle")
    if "byteorder" in found and member_bytes(stream, found["byteorder"], 10) != sys.byteorder.encode():
        raise PickleRefusedError("numbers of another byte order")
    content = member_bytes(stream, found["data.pkl"], _LONGEST_PICKLE_BYTES)
    check_opcodes(content)
    try:
        value = _Unpickler(content, stream, found).load()
        return _checked(value, [_MOST_VALUES])
    except (PickleRefusedError, RecursionError, MemoryError, pickle.UnpicklingError) as error:
        raise PickleRefusedError(str(error)) from error
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, EOFError, OverflowError) as error:
        raise PickleRefusedError(f"a pickle that is not understood ({error})") from error


def check_opcodes(content: bytes, more: frozenset[str] = frozenset()) -> None:
    """Checks that a pickle has no other opcodes than plain values need.

    Args:
        content: the pickle.
        more: names of further opcodes that it may have.

    Raises:
        PickleRefusedError: it has others, or is none.
    """
    try:
        for number, (opcode, argument, position) in enumerate(pickletools.genops(content)):
            if number >= _MOST_OPCODES:
                raise PickleRefusedError(f"a pickle of more than {_MOST_OPCODES} operations")
            if opcode.name not in _OPCODES and opcode.name not in more:
                raise PickleRefusedError(f"a pickle with {opcode.name}")
            # Python keeps a table of that length.
            if opcode.name == "LONG_BINPUT" and (argument or 0) > len(content):
                raise PickleRefusedError("a pickle with a table that is too long")
            if opcode.name == "STOP" and position != len(content) - 1:
                raise PickleRefusedError("a pickle with something after it")
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise PickleRefusedError(f"a pickle that is not understood ({error})") from error


class _Named:
    """A global that a file may name: a function that takes notes, or a word."""

    __slots__ = ("call", "word")

    def __init__(self, word: str, call: Callable[..., Any] | None = None) -> None:
        self.word = word
        self.call = call

    def __call__(self, *arguments: Any) -> Any:
        if self.call is None:
            raise PickleRefusedError(f"a call of {self.word}")
        return self.call(*arguments)

    def __setstate__(self, state: Any) -> NoReturn:
        raise PickleRefusedError(f"a changed {self.word}")


class _Ordered(dict[Any, Any]):
    """A dictionary; what else was kept with it (the versions of modules, with a state dict) is left out."""

    def __setstate__(self, state: Any) -> None:
        pass


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, stream: io.BytesIO, found: Mapping[str, ZipMember]) -> None:
        super().__init__(io.BytesIO(content))
        self._stream = stream
        self._found = found
        self._storages: dict[tuple[str, str], SavedStorage] = {}

    def find_class(self, module: str, name: str) -> Any:
        known = _GLOBALS.get((module, name))
        if known is None:
            raise PickleRefusedError(f"{module}.{name}")
        return known

    def persistent_load(self, pid: Any) -> SavedStorage:
        kind, storage, key, location, numel = pid
        if kind != "storage" or not isinstance(storage, _Named) or storage.word not in ELEMENT_BYTES:
            raise PickleRefusedError("bytes that belong to no tensor")
        name = f"data/{key}"
        if type(key) is not str or name not in self._found or not _LOCATION.fullmatch(location):
            raise PickleRefusedError(f"a tensor without bytes ({key!r} on {location!r})")
        if (key, storage.word) not in self._storages:
            data = member_bytes(self._stream, self._found[name], sys.maxsize)
            if type(numel) is not int or numel * ELEMENT_BYTES[storage.word] != len(data):
                raise PickleRefusedError(f"a tensor with {len(data)} bytes for {numel} elements")
            self._storages[key, storage.word] = SavedStorage(key, storage.word, location, numel, data)
        return self._storages[key, storage.word]


def _tensor(
    storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any, hooks: Any, metadata: Any = None
) -> TensorDescription:
    return _described(storage, offset, shape, stride, requires_grad, metadata or hooks, storage.dtype)


def _tensor_of_dtype(
    storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any, metadata: Any = None
) -> TensorDescription:
    return _described(storage, offset, shape, stride, requires_grad, metadata or hooks, dtype.word)


def _described(
    storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any, more: Any, dtype: Any
) -> TensorDescription:
    if more:
        raise PickleRefusedError("a tensor with hooks or with data of its own")
    return TensorDescription(storage, dtype, offset, shape, stride, requires_grad)


def _parameter(tensor: Any, requires_grad: Any, hooks: Any) -> TensorDescription:
    if type(tensor) is not TensorDescription or hooks:
        raise PickleRefusedError("a parameter with hooks or with data of its own")
    return TensorDescription(
        tensor.storage, tensor.dtype, tensor.offset, tensor.shape, tensor.stride, requires_grad, is_parameter=True
    )


def _size(sizes: Any) -> tuple[Any, ...]:
    return tuple(sizes)


def _ordered() -> _Ordered:
    return _Ordered()


_GLOBALS: Final[dict[tuple[str, str], _Named]] = {
    ("torch._utils", "_rebuild_tensor_v2"): _Named("a tensor", _tensor),
    ("torch._utils", "_rebuild_tensor_v3"): _Named("a tensor", _tensor_of_dtype),
    ("torch._utils", "_rebuild_parameter"): _Named("a parameter", _parameter),
    ("collections", "OrderedDict"): _Named("a dictionary", _ordered),
    ("torch", "Size"): _Named("a size", _size),
    **{("torch", name): _Named(dtype) for name, dtype in STORAGES.items()},
    ("torch.storage", "UntypedStorage"): _Named("untyped"),
    **{("torch", name): _Named(name) for name in ELEMENT_BYTES if name != "untyped"},
}


def _checked(value: Any, left: list[int]) -> Any:
    """Returns a value that holds only plain data, every list and dictionary of its own."""
    left[0] -= 1
    if left[0] < 0:
        raise PickleRefusedError(f"more than {_MOST_VALUES} values")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is TensorDescription:
        return _checked_tensor(value)
    if type(value) in (list, tuple):
        return type(value)(_checked(each, left) for each in value)
    if type(value) in (dict, _Ordered):
        if any(type(key) not in (str, int) for key in value):
            raise PickleRefusedError("a dictionary with keys that are neither texts nor numbers")
        return {key: _checked(each, left) for key, each in value.items()}
    raise PickleRefusedError(value.word if isinstance(value, _Named) else type(value).__name__)


def _checked_tensor(tensor: TensorDescription) -> TensorDescription:
    """Checks all that the file may have put into a description, also after it was made (BUILD)."""
    storage = tensor.storage
    if type(storage) is not SavedStorage or type(storage.data) is not bytes or type(storage.key) is not str:
        raise PickleRefusedError("a tensor without bytes")
    if tensor.dtype not in ELEMENT_BYTES or tensor.dtype == "untyped":
        raise PickleRefusedError(f"a tensor of {tensor.dtype!r}")
    if type(tensor.requires_grad) is not bool or type(tensor.is_parameter) is not bool:
        raise PickleRefusedError("a tensor that is not understood")
    shape, stride, offset = tuple(tensor.shape), tuple(tensor.stride), tensor.offset
    if any(type(each) is not int or not 0 <= each < 2**62 for each in (offset, *shape, *stride)):
        raise PickleRefusedError("a tensor of impossible sizes")
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    # A tensor without elements may begin behind the last one.
    end = offset if 0 in shape else last + 1
    if end * ELEMENT_BYTES[tensor.dtype] > len(storage.data):
        raise PickleRefusedError("a tensor that reaches beyond its bytes")
    return replace(tensor, shape=shape, stride=stride)
