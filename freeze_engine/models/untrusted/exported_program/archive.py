"""The files in an exported program: which there may be, and a new program with exactly these."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from freeze_engine.models.untrusted.exported_program.rules import RefusedError, Rule, read_json, write_json
from freeze_engine.models.untrusted.exported_program.schema import exported_program, payloads
from freeze_engine.models.untrusted.strict_zip import ZipMember, member_bytes, member_chunks

#: How long JSON, and a pickle of inputs, may be.
_LONGEST_TEXT_BYTES: Final = 128 << 20
_ROOT: Final = "program"
_MODEL: Final = "models/model.json"
_OLD_MODEL: Final = "serialized_exported_program.json"
_SAMPLE_INPUTS: Final = "data/sample_inputs/model.pt"
_CONFIGS: Final = {
    "data/weights/": ("data/weights/model_weights_config.json", re.compile(r"weight_\d{1,9}", re.ASCII)),
    "data/constants/": ("data/constants/model_constants_config.json", re.compile(r"tensor_\d{1,9}", re.ASCII)),
}
#: Pickled weights of programs from before torch 2.9, which torch still opens.
_OLD_WEIGHTS: Final = ("data/weights/model.pt", "data/constants/model.pt")
_OLD_PICKLES: Final = ("serialized_state_dict.pt", "serialized_constants.pt", "serialized_example_inputs.pt")
#: What is not needed; other models, for torch.export.load gives only the one that is named "model".
_UNUSED: Final = re.compile(
    r"extra/.+|extra_files/.+|\.data/serialization_id|\.format_version|\.storage_alignment|models/[^/]+\.json"
    r"|data/(weights|constants)/([^/]+_(weights|constants)_config\.json|[^/]+\.pt|(weight|tensor|custom_obj|opaque_obj)_\d+)"
    r"|data/sample_inputs/[^/]+\.pt"
)
_COMPILED: Final = re.compile(r"data/(aotinductor|executorch|mtia|xl_model_weights)/.*|.*\.(so|pyc|o|cubin)")
#: Short files with one right content.
_MARKS: Final = {
    "archive_format": re.compile(rb"pt2"),
    "archive_version": re.compile(rb"\d{1,9}"),
    "byteorder": re.compile(sys.byteorder.encode()),
    ".data/version": re.compile(rb"\d{1,3}\n?"),
    "version": re.compile(rb"\d{1,3}(\.\d{1,3})?\n?"),
}

Repickle = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class ProgramOrigin:
    """The origin of an exported program.

    Attributes:
        torch_version: the version of torch that wrote it, as it says itself.
        schema_version: of its JSON, such as ``8.20``.
        operators: the names of all operators that it uses, each once.
    """

    torch_version: str
    schema_version: str
    operators: tuple[str, ...]


def is_exported_program(names: Iterable[str]) -> bool:
    """Returns whether a zip file with these names is an exported program, in today's form or that before torch 2.8.

    A package of AOTInductor is an archive of the same form, with compiled code in the place of programs.
    """
    found = set(names)
    roots = {name.partition("/")[0] for name in found}
    archives = {f"{root}/" for root in roots if f"{root}/archive_format" in found}
    packages = {root for root in archives if any(name.startswith(f"{root}data/aotinductor/") for name in found)}
    programs = {root for root in archives if any(name.startswith(f"{root}models/") for name in found)}
    return _OLD_MODEL in found or bool(archives - (packages - programs))


def program_operators(path: Path) -> tuple[str, ...]:
    """Returns the names of the operators in an exported program, each once; nothing if they cannot be read.

    Args:
        path: of a file that the user trusts.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            named = next(each for each in archive.namelist() if each == _OLD_MODEL or each.endswith(f"/{_MODEL}"))
            program = json.loads(archive.read(named))
    except (OSError, ValueError, RecursionError, StopIteration, NotImplementedError, zipfile.BadZipFile):
        return ()
    return tuple(sorted(set(_operators(program))))


def write_canonical(
    stream: IO[bytes], members: tuple[ZipMember, ...], target: Path, repickle: Repickle
) -> ProgramOrigin:
    """Writes a new exported program from the known, harmless parts of another one.

    Args:
        stream: the other one.
        members: its members, from `strict_zip.zip_members`.
        target: where the new one goes; its folder is there.
        repickle: makes new bytes of what `torch.save` wrote of tensors, lists, tuples, dictionaries, numbers and texts,
            and raises RefusedError for anything else.

    Returns:
        What the program says of itself.

    Raises:
        RefusedError: it holds something that is not known, or known to run code.
        freeze_engine.models.untrusted.strict_zip.ZipRefusedError: a member is compressed or damaged.
    """
    is_old = any(member.name == _OLD_MODEL for member in members)
    found = {_inner(member.name, is_old): member for member in members}
    if not is_old and len({member.name.partition("/")[0] for member in members}) > 1:
        raise RefusedError("files in more than one folder")
    program = _parsed(exported_program, stream, found, _OLD_MODEL if is_old else _MODEL)
    parts = _old_parts(stream, found, repickle) if is_old else _parts(stream, found, repickle)
    root = "" if is_old else f"{_ROOT}/"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        _write(archive, f"{root}{_OLD_MODEL if is_old else _MODEL}", [write_json(program)])
        for name, chunks in parts:
            _write(archive, root + name, chunks)
    version = program["schema_version"]
    return ProgramOrigin(
        program.get("torch_version", "unknown"),
        f"{version['major']}.{version['minor']}",
        tuple(sorted(set(_operators(program)))),
    )


def _write(archive: zipfile.ZipFile, name: str, chunks: Iterable[bytes]) -> None:
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
        for chunk in chunks:
            member.write(chunk)


def _inner(name: str, is_old: bool) -> str:
    """Returns a name below the top folder, which a program has since torch 2.8."""
    inner = name if is_old else name.partition("/")[2]
    if _COMPILED.fullmatch(inner):
        raise RefusedError(f"compiled code ({name})")
    known = (_OLD_MODEL, *_OLD_PICKLES) if is_old else (_MODEL, _SAMPLE_INPUTS, *_OLD_WEIGHTS)
    if inner not in known and inner not in _MARKS and not _UNUSED.fullmatch(inner):
        raise RefusedError(f"a file that torch.export.save does not write ({name})")
    return inner


def _parts(
    stream: IO[bytes], found: Mapping[str, ZipMember], repickle: Repickle
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yields names and contents of all files but the program itself."""
    yield from _marks(stream, found, ("archive_format", "archive_version"), ("byteorder", ".data/version", "version"))
    for (folder, (config, pattern)), old in zip(_CONFIGS.items(), _OLD_WEIGHTS, strict=True):
        if old in found:
            yield old, [_repickled(stream, found, old, repickle)]
            continue
        used: dict[str, None] = {}
        rule = payloads(partial(_payload_file, folder, pattern, found, used))
        content = _parsed(rule, stream, found, config)
        _check_sizes(content, folder, found)
        yield config, [write_json(content)]
        for name in used:
            yield folder + name, member_chunks(stream, found[folder + name])
    yield _SAMPLE_INPUTS, [_repickled(stream, found, _SAMPLE_INPUTS, repickle)]


def _old_parts(
    stream: IO[bytes], found: Mapping[str, ZipMember], repickle: Repickle
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yields names and contents of all files but the program itself, before torch 2.8."""
    yield from _marks(stream, found, ("version",), ())
    for name in _OLD_PICKLES:
        yield name, [_repickled(stream, found, name, repickle)]


def _marks(
    stream: IO[bytes], found: Mapping[str, ZipMember], needed: tuple[str, ...], more: tuple[str, ...]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    for name in (*needed, *(name for name in more if name in found)):
        content = member_bytes(stream, _member(found, name), 100)
        if not _MARKS[name].fullmatch(content):
            raise RefusedError(f"{content!r} in {name}")
        yield name, [content]


def _payload_file(
    folder: str, pattern: re.Pattern[str], found: Mapping[str, ZipMember], used: dict[str, None], value: Any
) -> str:
    """Takes the name of a file with the bytes of a tensor, which must be there."""
    if type(value) is not str or not pattern.fullmatch(value):
        raise RefusedError(f"{value!r}, which is pickled and no tensor")
    _member(found, folder + value)
    used[value] = None
    return value


def _check_sizes(content: Any, folder: str, found: Mapping[str, ZipMember]) -> None:
    """Checks that no tensor without bytes has elements: torch would make it, however large it is."""
    for name, payload in content["config"].items():
        meta = payload["tensor_meta"]
        sizes = [size.get("as_int", 1) for size in meta["sizes"]]
        is_empty = found[folder + payload["path_name"]].size_bytes == 0
        if is_empty and 0 not in sizes and meta["device"]["type"] != "meta":
            raise RefusedError(f"the tensor {name!r} without its values")


def _parsed(rule: Rule, stream: IO[bytes], found: Mapping[str, ZipMember], name: str) -> Any:
    content = read_json(member_bytes(stream, _member(found, name), _LONGEST_TEXT_BYTES))
    try:
        return rule(content)
    except RecursionError as error:
        raise RefusedError(f"{name}, which is nested too deeply") from error


def _repickled(stream: IO[bytes], found: Mapping[str, ZipMember], name: str, repickle: Repickle) -> bytes:
    content = b"".join(member_chunks(stream, _member(found, name)))
    return repickle(content) if content else content


def _member(found: Mapping[str, ZipMember], name: str) -> ZipMember:
    if name not in found:
        raise RefusedError(f"no {name!r}")
    return found[name]


def _operators(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _operators(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("target", "as_operator") and isinstance(each, str):
                yield each
            else:
                yield from _operators(each)
