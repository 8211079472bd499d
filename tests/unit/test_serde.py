from __future__ import annotations

import hashlib
import json
import math
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeze_engine import trace as model
from freeze_engine.errors import InvalidTraceError, TraceFileError
from freeze_engine.serde import SCHEMA_VERSION, dumps, file, load, loads, save
from freeze_engine.serde.delta import spliced, splices
from freeze_engine.serde.schema import MAX_NESTING
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, Step, Trace, Value
from tests.builders import empty_trace, failed_trace, small_trace, synthetic_trace, traces

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / f"small_v{SCHEMA_VERSION}.fztrace"
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


def with_nodes(*nodes: Node, **step: Any) -> Trace:
    graph = GraphSnapshot((), nodes, ())
    return replace(empty_trace(), steps=(replace(Step(0, "input", "input", "forward", graph, False), **step),))


def nested(depth: int) -> Node:
    node = Node("0", "prim::If")
    for level in range(1, depth):
        node = Node(str(level), "prim::If", blocks=(Block((), (node,), ()),))
    return node


@pytest.mark.parametrize("trace", [small_trace(), failed_trace(), empty_trace(), synthetic_trace(200, 5)])
def test_a_trace_survives_its_file(trace: Trace, tmp_path: Path) -> None:
    save(trace, tmp_path / "a.fztrace")
    assert load(tmp_path / "a.fztrace") == trace
    assert (tmp_path / "a.fztrace").read_bytes() == dumps(trace)
    assert [path.name for path in tmp_path.iterdir()] == ["a.fztrace"]


@given(traces())
@settings(max_examples=50)
def test_any_trace_survives_and_gives_the_same_bytes_again(trace: Trace) -> None:
    data = dumps(trace)
    assert loads(data) == trace
    assert dumps(loads(data)) == data


def test_bytes_do_not_depend_on_which_equal_parts_are_shared() -> None:
    shared = small_trace()
    unshared = replace(
        shared,
        steps=tuple(
            replace(step, graph=replace(step.graph, nodes=tuple(map(replace, step.graph.nodes))))
            for step in shared.steps
        ),
    )
    assert unshared.steps[7].graph is not unshared.steps[6].graph
    assert dumps(unshared) == dumps(shared)


def test_equal_parts_are_shared_after_loading() -> None:
    steps = loads(SMALL).steps
    assert steps[7].graph is steps[6].graph
    before, after = steps[4].graph, steps[6].graph
    common = set(before.nodes) & set(after.nodes)
    assert {id(node) for node in before.nodes if node in common} == {id(node) for node in after.nodes if node in common}


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, -0.0, 0.0, 5e-324, 1.7976931348623157e308, 0.1])
def test_every_float_survives(number: float) -> None:
    kept = Constant((), "float32", "cpu", 4, mean=number)
    read = loads(dumps(with_nodes(Node("a", "prim::Constant", constant=kept)))).steps[0].graph.nodes[0].constant
    assert read is not None
    assert repr(read.mean) == repr(number)


def test_signed_zeros_are_not_taken_for_equal() -> None:
    zeros = [Constant((), "float32", "cpu", 4, mean=zero) for zero in (0.0, -0.0)]
    nodes = loads(dumps(with_nodes(*(Node("a", "op", constant=zero) for zero in zeros)))).steps[0].graph.nodes
    assert [repr(node.constant.mean) for node in nodes if node.constant] == ["0.0", "-0.0"]


@pytest.mark.parametrize("text", ["\ud800", "\ud83d\ude00", "😀", "\x00\x1f\x7f", "a\r\nb", "\n" * 20, "\u2028"])
def test_every_string_survives(text: str) -> None:
    trace = replace(empty_trace(), name=text)
    assert loads(dumps(trace)) == trace


def test_subclasses_of_str_and_float_are_stored_as_what_they_are() -> None:
    class Version(str):
        __slots__ = ()

    trace = replace(empty_trace(), environment=replace(empty_trace().environment, torch=Version("2.13.0")))
    assert type(loads(dumps(trace)).environment.torch) is str


def test_code_is_stored_as_what_changed() -> None:
    lines = [
        f"  x{number} = torch.relu(x{number - 1})  # {hashlib.sha256(bytes([number])).hexdigest()}"
        for number in range(200)
    ]
    codes = ["\n".join(["def forward(self, x):", *lines[:skip], *lines[skip + 1 :]]) for skip in range(20)]
    steps = tuple(
        replace(with_nodes().steps[0], index=index, changed=False, code=code) for index, code in enumerate(codes)
    )
    trace = replace(empty_trace(), steps=steps)
    assert loads(dumps(trace)) == trace
    assert len(dumps(trace)) < 1.5 * len(dumps(replace(trace, steps=steps[:1])))


def test_a_step_costs_what_it_changes() -> None:
    whole = synthetic_trace(2_000, 20)
    graphs = [step.graph for step in whole.steps]
    bare = replace(whole, attributes=(), steps=tuple(replace(step, rewrites=()) for step in whole.steps))
    first = replace(bare, steps=bare.steps[:1])
    created = len(set().union(*(graph.nodes for graph in graphs))) - len(graphs[0].nodes)
    per_node = len(dumps(first)) / len(graphs[0].nodes)
    assert len(dumps(bare)) < len(dumps(first)) + 2 * per_node * created + 200 * len(graphs)


@given(st.lists(st.integers(0, 12)), st.lists(st.integers(0, 12)))
def test_splices_turn_any_list_into_any_other(base: list[int], new: list[int]) -> None:
    found = splices(base, new)
    assert spliced(base, found) == new
    assert sum(len(inserted) for _, _, inserted in found) <= len(new)


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        ([], [], []),
        ([], [1, 2], [(0, 0, [1, 2])]),
        ([1, 2, 3], [1, 2, 3], []),
        ([1, 2, 3, 4], [1, 9, 4], [(1, 2, [9])]),
        ([1, 2, 3, 4], [4, 1, 2, 3], [(0, 0, [4]), (3, 1, [])]),
        ([1, 2, 3], [], [(0, 3, [])]),
    ],
)
def test_splices_insert_no_more_than_is_new(base: list[int], new: list[int], expected: list[Any]) -> None:
    assert splices(base, new) == expected


@pytest.mark.parametrize("wrong", [[(0, 4, [])], [(-1, 0, [])], [(1, -1, [])], [(2, 1, []), (1, 1, [])], [(4, 0, [])]])
def test_splices_outside_their_base_are_refused(wrong: list[Any]) -> None:
    with pytest.raises(ValueError, match="does not fit a base of 3"):
        spliced([1, 2, 3], wrong)


def test_the_golden_file_is_what_the_small_trace_gives(update_golden: bool) -> None:
    if update_golden:
        GOLDEN.write_bytes(SMALL)
    golden = GOLDEN.read_bytes()
    assert zlib.decompress(golden[HEADER_BYTES:]) == zlib.decompress(SMALL[HEADER_BYTES:])
    assert load(GOLDEN) == small_trace()


@pytest.mark.skipif("ng" in zlib.ZLIB_RUNTIME_VERSION, reason="zlib-ng compresses to other bytes than zlib")
def test_the_golden_file_is_the_same_byte_by_byte() -> None:
    assert GOLDEN.read_bytes() == SMALL


def test_every_golden_file_still_loads() -> None:
    assert all(load(path) for path in GOLDEN.parent.glob("*.fztrace"))


def test_an_older_file_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    def older(payload: dict[str, Any]) -> dict[str, Any]:
        return {"columns": payload["columns"], "tables": payload["tables"], "trace": payload["recording"]}

    monkeypatch.setattr(file, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(file, "MIGRATIONS", {1: older, 2: lambda payload: payload})
    payload = payload_of(SMALL)
    payload["recording"] = payload.pop("trace")
    assert loads(sealed(json.dumps(payload).encode(), version=1)) == small_trace()


@pytest.mark.parametrize("payload", ["[]", "{}", "null", "3"])
def test_a_migration_never_sees_what_is_no_object(payload: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
        (sealed(b"{}", version=3), "x: written by a newer version (schema 3, this is 1); upgrade"),
        (sealed(b"{}", version=0), "x: has the unknown schema 0"),
        (SMALL + b"\x00", "bytes after its header instead of"),
        (SMALL[:-1] + bytes([SMALL[-1] ^ 1]), "x: is damaged (its SHA-256 differs)"),
        (sealed(b"{", unpacked_bytes=2), "unpacks to another length than the header states"),
        (sealed(b"[" * 100_000), "x: does not fit schema 1: "),
        (sealed(b'{"trace": NaN}'), "NaN is no JSON"),
        (sealed(b"9" * 5000), "x: does not fit schema 1: "),
        (sealed(b"\xff"), "x: does not fit schema 1: payload"),
        (sealed(b"[]"), "expected an object with exactly columns, tables, trace"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(data: bytes, message: str) -> None:
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
        (_set("trace.0", "Net"), "trace.name: 'Net' is no position in the table str"),
        (_set("trace.0", -1), "trace.name: -1 is no position"),
        (_set("trace.0", 10**30), "trace.name: 1000000"),
        (_set("trace.0", True), "trace.name: True is no position"),
        (_set("trace.1", 0), "trace.backend: 'self' is none of torchscript, inductor"),
        (_set("trace.6.3.0", "3"), "trace.steps[3].index: expected int, found str"),
        (_set("trace.6.3.0", 3.0), "trace.steps[3].index: expected int, found float"),
        (_set("trace.6.3.0", False), "trace.steps[3].index: expected int, found bool"),
        (_set("trace.6.3.5", 1), "trace.steps[3].changed: expected bool, found int"),
        (_set("trace.6.3", [1]), "trace.steps[3]: expected 16 items, found 1"),
        (_set("trace.3.0", [1]), "trace.options[0]: expected 2 items, found 1"),
        (_set("tables.str.0", None), "tables.str[0]: expected list, found NoneType"),
        (_set("tables.str.0", [None, [[0, 0, [0]]]]), "tables.str[0]: 0 is no position in the table str of 0"),
        (_set("tables.str.2", [0, []]), "tables.str[2]: 0 is no earlier row made of splices"),
        (_set("tables.Node.0.0", 10**6), "tables.Node[0].id: 1000000 is no position"),
        (_set("tables.Constant.0.6", "NaN"), "tables.Constant[0].minimum: expected float, found str"),
        (_set("tables.Constant.0.6", 1), "tables.Constant[0].minimum: expected float, found int"),
        (_set("tables.GraphSnapshot.0.0", 0), "tables.GraphSnapshot[0]: 0 is no earlier row"),
        (_set("tables.GraphSnapshot.1.0", [0]), "tables.GraphSnapshot[1]: [0] is no earlier row"),
        (_set("tables.GraphSnapshot.0.2", [[0, 1, []]]), "tables.GraphSnapshot[0]: the splice at 0 (removes 1)"),
        (_set("tables.GraphSnapshot.0.2", [["0", 0, []]]), "tables.GraphSnapshot[0]: expected int, found str"),
        (_set("tables.GraphSnapshot.0.2", [[0, 0, [-1]]]), "tables.GraphSnapshot[0].nodes[0]: -1 is no position"),
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
    with pytest.raises(TraceFileError, match=r"^x: unpacks to more than 1000000 bytes; .* larger max_bytes$"):
        loads(bomb, "x", max_bytes=1_000_000)
    lying = sealed(b" " * 50_000_000, unpacked_bytes=10)
    with pytest.raises(TraceFileError, match="another length"):
        loads(lying, "x", max_bytes=1_000_000)


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
    with pytest.raises(TraceFileError, match="unpacks to more than 20000000 bytes"):
        loads(altered(alter), "x", max_bytes=20_000_000)


def _deep(payload: Any) -> None:
    nodes = payload["tables"]["Node"]
    blocks = _field("Node", "blocks")
    for _ in range(300):
        nodes.append([*nodes[0][:blocks], [[[], [len(nodes) - 1], [], 0]], *nodes[0][blocks + 1 :]])


def test_nesting_has_a_limit_on_both_sides() -> None:
    assert loads(dumps(with_nodes(nested(MAX_NESTING)))) == with_nodes(nested(MAX_NESTING))
    with pytest.raises(InvalidTraceError, match=f"nest more than {MAX_NESTING} deep"):
        dumps(with_nodes(nested(MAX_NESTING + 1)))
    with pytest.raises(TraceFileError, match=f"nest more than {MAX_NESTING} deep"):
        loads(altered(_deep))


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (with_nodes(duration_ns=1.5), "trace.steps[0].duration_ns: expected int, found float"),
        (with_nodes(round=True), "trace.steps[0].round: expected int, found bool"),
        (with_nodes(changed=1), "trace.steps[0].changed: expected bool, found int"),
        (with_nodes(log=["a"]), "trace.steps[0].log: expected tuple, found list"),
        (with_nodes(log=("a", None)), "trace.steps[0].log[1]: expected str, found NoneType"),
        (with_nodes(graph=None), "trace.steps[0].graph: expected GraphSnapshot, found NoneType"),
        (with_nodes(Node("a", "op", inputs=(1,))), "trace.steps[0].graph.nodes[0].inputs[0]: expected str, found int"),  # type: ignore[arg-type]
        (with_nodes(Node("a", "op", attributes=(("a",),))), "attributes[0]: expected 2 items, found 1"),  # type: ignore[arg-type]
        (with_nodes(Node("a", "op", blocks=(None,))), "graph.nodes[0]: expected Block, found NoneType"),  # type: ignore[arg-type]
        (replace(empty_trace(), backend="onnx"), "trace.backend: 'onnx' is none of torchscript, inductor"),  # type: ignore[arg-type]
        (Value("a", "b"), "expected Trace, found Value"),
    ],
)
def test_what_cannot_be_stored_is_said(trace: Trace, message: str) -> None:
    with pytest.raises(InvalidTraceError) as raised:
        dumps(trace)
    assert message in str(raised.value)


def test_a_missing_file_or_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match=r"none\.fztrace: cannot be read: No such file or directory"):
        load(tmp_path / "none.fztrace")
    with pytest.raises(TraceFileError, match=r"cannot be read: Is a directory"):
        load(tmp_path)
    with pytest.raises(TraceFileError, match="cannot be read"):
        load("a\0b")


def test_saving_where_one_cannot_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match=r"there is no folder .*missing; make it first"):
        save(empty_trace(), tmp_path / "missing" / "a.fztrace")
    for name in ("a\0b", "n" * 300, "."):
        with pytest.raises(TraceFileError, match="cannot be written"):
            save(empty_trace(), tmp_path / name)
    (tmp_path / "folder").mkdir()
    with pytest.raises(TraceFileError, match="cannot be written"):
        save(empty_trace(), tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_failed_save_keeps_the_file_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.fztrace"
    save(small_trace(), path)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(TraceFileError, match=r"a\.fztrace: cannot be written: No space left on device"):
        save(empty_trace(), path)
    assert load(path) == small_trace()
    assert [found.name for found in tmp_path.iterdir()] == ["a.fztrace"]


def test_a_file_opens_without_torch() -> None:
    code = f"import sys; from freeze_engine.serde import load; load({str(GOLDEN)!r}); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def _documented() -> dict[str, list[tuple[str, str]]]:
    """Returns the (field, type) rows under each heading of the schema part of the docs."""
    text = (ROOT / "docs" / "trace-format.md").read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str]]] = {}
    for section in text.split("## Schema\n")[1].split("### ")[1:]:
        name, *lines = section.splitlines()
        rows = [line.replace("\\|", "¦").split("|")[1:4] for line in lines if line.startswith("| `")]
        assert all(meaning.strip() for *_, meaning in rows), name
        found[name] = [(field.strip(" `"), kind.strip(" `").replace("¦", "|")) for field, kind, _ in rows]
    return found


def test_the_docs_list_every_type_and_field() -> None:
    types = [kind for kind in vars(model).values() if isinstance(kind, type) and is_dataclass(kind)]
    assert _documented() == {kind.__name__: [(field.name, str(field.type)) for field in fields(kind)] for kind in types}


def test_the_docs_list_every_word_and_version() -> None:
    text = (ROOT / "docs" / "trace-format.md").read_text(encoding="utf-8")
    for name in ("Backend", "Fate", "AttributeKind", "Reason"):
        assert f"| `{name}` | {', '.join(f'`{word}`' for word in get_args(getattr(model, name)))} |" in text
    assert f"\n| {SCHEMA_VERSION} | " in text.split("## Versions")[1]
    assert f"\n    {SCHEMA_VERSION}: " in (file.__doc__ or "")
