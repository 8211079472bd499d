from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from freeze_engine import trace as model
from freeze_engine.errors import TraceFileError
from freeze_engine.serde import SCHEMA_VERSION, dumps, file, load, loads, save
from freeze_engine.trace.rules.graphs import MAX_NESTING
from tests.builders import small_trace

HEADER_BYTES = 60
SMALL = dumps(small_trace())


def payload_of(data: bytes) -> Any:
    return json.loads(zlib.decompress(data[HEADER_BYTES:]).decode("utf-8", "surrogatepass"))


def sealed(payload: bytes, version: int = SCHEMA_VERSION, unpacked_bytes: int | None = None) -> bytes:
    """Returns a file with this payload whose header is right, whatever the payload is."""
    packed = zlib.compress(payload)
    length = len(payload) if unpacked_bytes is None else unpacked_bytes
    start = struct.pack(">8sIQQ", b"\x89FZT\r\n\x1a\n", version, len(packed), length)
    return start + hashlib.sha256(start + packed).digest() + packed


def altered(alter: Callable[[Any], object]) -> bytes:
    """Returns the small trace's file with its payload changed in place and its header right again."""
    payload = payload_of(SMALL)
    alter(payload)
    return sealed(json.dumps(payload).encode())


def test_an_older_file_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    def older(payload: dict[str, Any]) -> dict[str, Any]:
        return {"columns": payload["columns"], "tables": payload["tables"], "trace": payload["recording"]}

    monkeypatch.setattr(file, "SCHEMA_VERSION", SCHEMA_VERSION + 2)
    monkeypatch.setattr(file, "MIGRATIONS", {SCHEMA_VERSION: older})
    payload = payload_of(SMALL)
    payload["recording"] = payload.pop("trace")
    assert loads(sealed(json.dumps(payload).encode(), version=SCHEMA_VERSION)) == small_trace()


@pytest.mark.parametrize("payload", ["[]", "{}", "null", "3"])
def test_migration_receives_objects_only(payload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "SCHEMA_VERSION", 2)
    monkeypatch.setattr(file, "MIGRATIONS", {1: lambda payload: {**payload, "trace": payload["recording"]}})
    with pytest.raises(TraceFileError, match=r"^x: does not fit schema 1: "):
        loads(sealed(payload.encode(), version=1), "x")


def test_a_file_truncated_anywhere_is_refused() -> None:
    for length in range(len(SMALL)):
        with pytest.raises(TraceFileError, match=r"^cut\.fztrace: .+; (copy|record) it|^cut\.fztrace: is empty"):
            loads(SMALL[:length], "cut.fztrace")


@given(st.integers(0, len(SMALL) * 8 - 1))
def test_a_flipped_bit_is_noticed(bit: int) -> None:
    data = bytearray(SMALL)
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(TraceFileError, match=r"^x: "):
        loads(bytes(data), "x")


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused(data: bytes) -> None:
    for damaged in (data, SMALL + data + b"\x00", SMALL[:HEADER_BYTES] + data, sealed(data)):
        with pytest.raises(TraceFileError):
            loads(damaged)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x: is empty; record the trace again"),
        (b"PK\x03\x04rest", "x: is not a trace file but a zip archive (a TorchScript file or an exported program?)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(80), "x: is not a trace file but a PNG image"),
        (b'{"steps": []}', "x: is not a trace file but JSON text"),
        (b"GIF89a", "x: is not a trace file but something else"),
        (
            sealed(b"{}", version=SCHEMA_VERSION + 1),
            f"x: written by a newer version (schema {SCHEMA_VERSION + 1}, this is {SCHEMA_VERSION}); upgrade",
        ),
        (sealed(b"{}", version=0), "x: has the unknown schema 0"),
        (SMALL + b"\x00", "bytes after its header instead of"),
        (SMALL[:-1] + bytes([SMALL[-1] ^ 1]), "x: is damaged (its SHA-256 differs)"),
        (sealed(b"{", unpacked_bytes=2), "unpacks to another length than the header states"),
        (sealed(b"[" * 100_000), f"x: does not fit schema {SCHEMA_VERSION}: "),
        (sealed(b'{"trace": NaN}'), "NaN is not JSON"),
        (sealed(b"9" * 5000), f"x: does not fit schema {SCHEMA_VERSION}: "),
        (sealed(b"\xff"), f"x: does not fit schema {SCHEMA_VERSION}: payload"),
        (sealed(b"[]"), "expected an object with exactly columns, tables, trace"),
    ],
)
def test_damaged_file_is_refused_with_its_fault(data: bytes, message: str) -> None:
    with pytest.raises(TraceFileError) as raised:
        loads(data, "x")
    assert message in str(raised.value)


def _set(path: str, value: Any) -> Callable[[Any], None]:
    *parents, last = (int(part) if part.lstrip("-").isdigit() else part for part in path.split("."))

    def alter(payload: Any) -> None:
        for part in parents:
            payload = payload[part]
        payload[last] = value

    return alter


def _field(kind: str, name: str) -> int:
    return [field.name for field in fields(getattr(model, kind))].index(name)


@pytest.mark.parametrize(
    ("alter", "place"),
    [
        (_set("columns.Node", ["id", "op"]), "columns.Node: expected the fields id, op, inputs"),
        (_set("columns.Extra", []), "columns: expected exactly the types"),
        (_set("tables.Extra", []), "tables: expected exactly the tables"),
        (_set("extra", 1), "expected an object with exactly"),
        (_set("trace", {}), "trace: expected list, found dict"),
        (_set("trace.0", "Net"), "trace.name: 'Net' is not a position in the table str"),
        (_set("trace.0", -1), "trace.name: -1 is not a position"),
        (_set("trace.0", 10**30), "trace.name: 1000000"),
        (_set("trace.0", True), "trace.name: True is not a position"),
        (_set("trace.1", 0), "trace.backend: 'self' is none of torchscript, inductor"),
        (_set("trace.6.3.0", "3"), "trace.steps[3].index: expected int, found str"),
        (_set("trace.6.3.0", 3.0), "trace.steps[3].index: expected int, found float"),
        (_set("trace.6.3.0", False), "trace.steps[3].index: expected int, found bool"),
        (_set("trace.6.3.5", 1), "trace.steps[3].changed: expected bool, found int"),
        (_set("trace.6.3", [1]), "trace.steps[3]: expected 18 items, found 1"),
        (_set("trace.3.0", [1]), "trace.options[0]: expected 2 items, found 1"),
        (_set("tables.str.0", None), "tables.str[0]: expected list, found NoneType"),
        (_set("tables.str.0", [None, [[0, 0, [0]]]]), "tables.str[0]: 0 is not a position in the table str of 0"),
        (_set("tables.str.2", [0, []]), "tables.str[2]: 0 is not an earlier row made of splices"),
        (_set("tables.Node.0.0", 10**6), "tables.Node[0].id: 1000000 is not a position"),
        (_set("tables.Constant.0.6", "NaN"), "tables.Constant[0].minimum: expected float, found str"),
        (_set("tables.Constant.0.6", 1), "tables.Constant[0].minimum: expected float, found int"),
        (_set("tables.GraphSnapshot.0.0", 0), "tables.GraphSnapshot[0].nodes: 0 is not an earlier row"),
        (_set("tables.GraphSnapshot.1.0", [0]), "tables.GraphSnapshot[1].nodes: [0] is not an earlier row"),
        (_set("tables.GraphSnapshot.0.2", [[0, 1, []]]), "tables.GraphSnapshot[0].nodes: the splice at 0 (removes 1)"),
        (_set("tables.GraphSnapshot.0.2", [["0", 0, []]]), "tables.GraphSnapshot[0].nodes: expected int, found str"),
        (_set("tables.GraphSnapshot.0.2", [[0, 0, [-1]]]), "tables.GraphSnapshot[0].nodes: -1 is not a position"),
    ],
)
def test_a_payload_that_does_not_fit_names_the_place(alter: Callable[[Any], None], place: str) -> None:
    with pytest.raises(TraceFileError) as raised:
        loads(altered(alter), "x")
    assert str(raised.value).startswith(f"x: does not fit schema {SCHEMA_VERSION}: {place}"), raised.value


def test_a_number_beyond_floats_is_refused() -> None:
    payload = payload_of(SMALL)
    payload["tables"]["Constant"][0][_field("Constant", "mean")] = "huge"
    data = sealed(json.dumps(payload).replace('"huge"', "1e999").encode())
    with pytest.raises(TraceFileError, match="expected a finite number"):
        loads(data)


def _numbers(payload: Any) -> list[tuple[Any, int]]:
    found = []
    waiting = [payload["tables"], payload["trace"]]
    while waiting:
        item = waiting.pop()
        parts = item.items() if isinstance(item, dict) else enumerate(item)
        for key, part in parts:
            if isinstance(part, list | dict):
                waiting.append(part)
            else:
                found.append((item, key))
    return found


JUNK = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([]), st.just({}))


@given(st.data(), JUNK)
def test_a_payload_with_anything_anywhere_is_a_trace_or_refused(data: st.DataObject, junk: Any) -> None:
    payload = payload_of(SMALL)
    holder, key = data.draw(st.sampled_from(_numbers(payload)))
    holder[key] = junk
    try:
        trace = loads(sealed(json.dumps(payload).encode("utf-8", "surrogatepass")), "x")
    except TraceFileError:
        return
    assert dumps(loads(dumps(trace))) == dumps(trace)


def test_a_payload_larger_than_allowed_is_refused_before_it_is_unpacked() -> None:
    bomb = sealed(b" " * 50_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(TraceFileError, match=r"^x: takes more than 2000000 bytes of memory; .* larger max_bytes$"):
        loads(bomb, "x", max_bytes=2_000_000)
    lying = sealed(b" " * 50_000_000, unpacked_bytes=10)
    with pytest.raises(TraceFileError, match="another length"):
        loads(lying, "x", max_bytes=2_000_000)


def _many_snapshots(payload: Any) -> None:
    rows = payload["tables"]["GraphSnapshot"]
    rows[0][1 + _field("GraphSnapshot", "nodes")] = [[0, 0, [0] * 50_000]]
    rows += [[0, [], [], []] for _ in range(500)]


def _doubling_texts(payload: Any) -> None:
    texts = payload["tables"]["str"]
    texts += [[None, [[0, 0, [len(texts) - 1 + number] * 2]]] for number in range(60)]


def _doubling_nodes(payload: Any) -> None:
    nodes = payload["tables"]["Node"]
    blocks = _field("Node", "blocks")
    for _ in range(60):
        held = [[], [len(nodes) - 1] * 2, [], 0]
        nodes.append([*nodes[0][:blocks], [held], *nodes[0][blocks + 1 :]])
    payload["tables"]["GraphSnapshot"][0][1 + _field("GraphSnapshot", "nodes")] = [[0, 0, [len(nodes) - 1]]]


@pytest.mark.parametrize("alter", [_many_snapshots, _doubling_texts, _doubling_nodes])
def test_much_from_little_is_refused(alter: Callable[[Any], None]) -> None:
    with pytest.raises(TraceFileError, match="takes more than 20000000 bytes"):
        loads(altered(alter), "x", max_bytes=20_000_000)


def _deep(payload: Any) -> None:
    nodes = payload["tables"]["Node"]
    blocks = _field("Node", "blocks")
    for _ in range(300):
        nodes.append([*nodes[0][:blocks], [[[], [len(nodes) - 1], [], 0]], *nodes[0][blocks + 1 :]])


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match=r"none\.fztrace: cannot be read: No such file or directory"):
        load(tmp_path / "none.fztrace")
    with pytest.raises(TraceFileError, match=r"cannot be read: Is a directory"):
        load(tmp_path)
    with pytest.raises(TraceFileError, match="cannot be read"):
        load("a\0b")


def test_a_device_or_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(TraceFileError, match="pipe: cannot be written: it is not an ordinary file"):
        save(small_trace(), pipe)
    assert pipe.is_fifo()


def test_blocks_nested_too_deep_are_refused() -> None:
    with pytest.raises(TraceFileError, match=f"nest more than {MAX_NESTING} deep"):
        loads(altered(_deep))


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"GGUF", "is not a trace file but something else"),
        (struct.pack(">8sIQQ", b"\x89FZT\r\n\x1a\n", SCHEMA_VERSION, 2**40, 10), "takes more than 1000 bytes"),
        (SMALL, "has more bytes after its header instead of"),
    ],
)
def test_too_large_file_is_refused_without_reading_it_all(start: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "huge.fztrace"
    path.write_bytes(start)
    os.truncate(path, 2**36)  # a hole: it takes no room on disk, and reading it would take all memory
    with pytest.raises(TraceFileError, match=said):
        load(path, max_bytes=1000 if start is not SMALL else 10**6)
