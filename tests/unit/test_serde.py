from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
import zlib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings

from freeze_engine import trace as model
from freeze_engine.errors import InvalidTraceError, TraceFileError
from freeze_engine.serde import MAX_BYTES, SCHEMA_VERSION, Instalments, dumps, file, joined, load, loads, save
from freeze_engine.serde.upgrade import upgraded
from freeze_engine.trace import Block, Constant, GraphInput, GraphSnapshot, Node, Step, Trace, Value
from freeze_engine.trace.rules.graphs import MAX_NESTING
from tests.builders import empty_trace, failed_trace, small_trace, synthetic_trace, traces
from tests.inductor_names import WEIGHT, projection

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / f"small_v{SCHEMA_VERSION}.fztrace"
HEADER_BYTES = 60
SMALL = dumps(small_trace())


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


@given(traces())
@settings(max_examples=50)
def test_any_trace_can_be_stored_while_it_grows(trace: Trace) -> None:
    instalments, told = Instalments(SCHEMA_VERSION), []
    for count in range(len(trace.steps) + 1):
        # What is known of a step may change after it was stored.
        begun = replace(trace, steps=tuple(replace(step, duration_ns=count) for step in trace.steps[:count]))
        told.append(json.loads(json.dumps(instalments.next(begun))))
        assert joined(told, SCHEMA_VERSION, MAX_BYTES) == begun
    told.append(instalments.next(trace))
    assert joined(told, SCHEMA_VERSION, MAX_BYTES) == trace
    assert joined([], SCHEMA_VERSION, MAX_BYTES) is None


def test_an_instalment_holds_only_what_is_new() -> None:
    trace = small_trace()
    instalments = Instalments(SCHEMA_VERSION)
    sizes = [
        len(json.dumps(instalments.next(replace(trace, steps=trace.steps[:count]))))
        for count in range(1, len(trace.steps) + 1)
    ]
    assert max(sizes[1:]) < sizes[0]
    with pytest.raises(InvalidTraceError, match="cannot be stored"):
        instalments.next(replace(trace, name=3))  # type: ignore[arg-type]


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
    given = (Node(str(number), "op", constant=zero) for number, zero in enumerate(zeros))
    nodes = loads(dumps(with_nodes(*given))).steps[0].graph.nodes
    assert [repr(node.constant.mean) for node in nodes if node.constant] == ["0.0", "-0.0"]


@pytest.mark.parametrize("text", ["😀", "\x00\x1f\x7f", "a\r\nb", "\n" * 20, "\u2028"])
def test_every_string_survives(text: str) -> None:
    trace = replace(empty_trace(), name=text)
    assert loads(dumps(trace)) == trace


def test_a_subclass_of_str_is_stored_as_a_str() -> None:
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


def test_nesting_has_a_limit() -> None:
    assert loads(dumps(with_nodes(nested(MAX_NESTING)))) == with_nodes(nested(MAX_NESTING))
    with pytest.raises(InvalidTraceError, match=f"nest more than {MAX_NESTING} deep"):
        dumps(with_nodes(nested(MAX_NESTING + 1)))


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
        (with_nodes(Node("a", "op", blocks=(None,))), "graph.nodes[0]: expected Block, found NoneType"),
        (replace(empty_trace(), backend="onnx"), "trace.backend: 'onnx' is none of torchscript, inductor"),  # type: ignore[arg-type]
        (Value("a", "b"), "expected Trace, found Value"),
    ],
)
def test_unstorable_value_is_refused_with_its_place(trace: Trace, message: str) -> None:
    with pytest.raises(InvalidTraceError) as raised:
        dumps(trace)
    assert message in str(raised.value)


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
    monkeypatch.delattr("os.O_TMPFILE", raising=False)
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
    for name in ("Backend", "Fate", "AttributeKind", "Reason", "Origin", "Claim"):
        assert f"| `{name}` | {', '.join(f'`{word}`' for word in get_args(getattr(model, name)))} |" in text
    assert f"\n| {SCHEMA_VERSION} | " in text.split("## Versions")[1]
    assert f"\n    {SCHEMA_VERSION}: " in (file.__doc__ or "")


def test_texts_of_version_2_are_fields_of_version_3() -> None:
    named = (GraphInput("arg0_1", attribute=WEIGHT), GraphInput("arg2_1", argument="image"))
    old = projection(())
    joined = replace(old.steps[1], name="constant_fold, binary_folding", passes=("constant_fold, binary_folding",))
    lines = ("Dynamo's compile 0/0", f"%arg0_1 is {WEIGHT}", "%arg2_1 is the argument image", "%gone is a guess")
    old = replace(old, steps=(replace(old.steps[0], log=lines), joined, *old.steps[2:]))
    new = upgraded(old, 2)
    assert (new.steps[0].log, new.steps[0].inputs) == ((lines[0], lines[3]), named)
    assert new.steps[1].passes == ("constant_fold", "binary_folding")
    assert upgraded(new, 3) is new
    assert upgraded(replace(old, backend="torchscript"), 1).steps[0].log == lines


def test_of_two_inputs_of_version_2_that_go_by_one_path_the_first_is_the_attribute() -> None:
    lines = (f"%arg0_1 is {WEIGHT}", f"%arg1_1 is {WEIGHT}")
    old = projection(())
    new = upgraded(replace(old, steps=(replace(old.steps[0], log=lines), *old.steps[1:])), 2)
    assert new.steps[0].inputs == (GraphInput("arg0_1", WEIGHT), GraphInput("arg1_1", argument=WEIGHT))


def test_a_renamed_option_has_its_name_of_today() -> None:
    trace = small_trace()
    options = (("optimize_numerics", "True"), ("without", "['FoldConvBatchnorm']"))
    assert upgraded(replace(trace, options=options), 5).options[1] == ("disabled_passes", "['FoldConvBatchnorm']")
    assert upgraded(trace, 5) is trace
