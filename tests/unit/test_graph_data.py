from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, SourceRef, Trace, Value
from tests.builders import empty_trace, small_trace, synthetic_trace, traces
from viewer.views.graph_data import FORMAT, delta, graph_data


class Reader:
    """Reads the format as its documentation says, apart from the code that writes it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.strings: list[str] = data["strings"]
        self.lists: list[list[int]] = []
        for base, *code in data["lists"]:
            self.lists.append(apply(self.lists[base] if base >= 0 else [], code))

    def snapshot(self, index: int) -> GraphSnapshot:
        values, body, outputs = self.data["snapshots"][index]
        return GraphSnapshot(self.values(values), self.body(body), self.texts(outputs))

    def texts(self, indices: list[int]) -> tuple[str, ...]:
        return tuple(self.strings[index] for index in indices)

    def pairs(self, flat: list[int]) -> tuple[tuple[str, str], ...]:
        texts = self.texts(flat)
        return tuple(zip(texts[::2], texts[1::2], strict=True))

    def values(self, flat: list[int]) -> tuple[Value, ...]:
        return tuple(Value(name, type) for name, type in self.pairs(flat))

    def body(self, index: int) -> tuple[Node, ...]:
        return tuple(self.node(self.data["nodes"][row]) for row in self.lists[index])

    def node(self, row: list[Any]) -> Node:
        defaults: list[Any] = [0, 0, [], [], 0, [], 0, 0, []]
        id, op, inputs, outputs, module, attributes, source, constant, blocks = row + defaults[len(row) :]
        name, kind, path = self.texts([id, op, module])
        place = self.data["sources"][source - 1] if source else None
        return Node(
            name,
            kind,
            self.texts(inputs),
            self.values(outputs),
            self.pairs(attributes),
            tuple(
                Block(self.values(given), self.body(body), self.texts(made), self.strings[scope])
                for given, body, made, scope in blocks
            ),
            path,
            SourceRef(self.strings[place[0]], *place[1:]) if place else None,
            self.constant(constant) if constant else None,
        )

    def constant(self, row: list[Any]) -> Constant:
        shape, dtype, device, nbytes, storage, digest, *rest = row
        dtype, device = self.texts([dtype, device])
        return Constant(
            tuple(shape), dtype, device, nbytes, self.strings[storage] or None, self.strings[digest] or None, *rest
        )


def apply(base: list[int], code: list[int]) -> list[int]:
    made: list[int] = []
    while code:
        if code[0] < 0:
            count, code = -code[0], code[1:]
            made, code = made + code[:count], code[count:]
        else:
            start, count, *code = code
            made += base[start : start + count]
    return made


def rounded(nodes: tuple[Node, ...]) -> list[Any]:
    """Nodes without what the format does not keep: digits behind the sixth, and empty storage or digest texts."""
    return [
        (
            node.id,
            node.op,
            node.inputs,
            node.outputs,
            node.attributes,
            node.module,
            node.source,
            node.constant and rounded_constant(node.constant),
            [(block.inputs, rounded(block.nodes), block.outputs, block.scope) for block in node.blocks],
        )
        for node in nodes
    ]


def rounded_constant(constant: Constant) -> tuple[Any, ...]:
    statistics = (constant.minimum, constant.maximum, constant.mean, constant.std)
    return (
        constant.shape,
        constant.dtype,
        constant.device,
        constant.nbytes,
        constant.storage or None,
        constant.digest or None,
        [None if number is None else f"{number:.6g}" for number in statistics],
        constant.nonfinite,
    )


def assert_reads_back(trace: Trace) -> None:
    data = json.loads(json.dumps(graph_data(trace), allow_nan=False))
    reader = Reader(data)
    latest: dict[str, int] = {}
    for step, row in zip(trace.steps, data["steps"], strict=True):
        graph = reader.snapshot(row["after"])
        assert (graph.inputs, rounded(graph.nodes), graph.outputs) == (
            step.graph.inputs,
            rounded(step.graph.nodes),
            step.graph.outputs,
        )
        assert row == {
            "index": step.index,
            "stage": step.stage,
            "name": step.name,
            "method": step.method,
            "changed": step.changed,
            "before": latest.get(step.method),
            "after": row["after"],
            "names": row["names"],
        }
        latest[step.method] = row["after"]


def test_every_snapshot_can_be_read_back() -> None:
    assert_reads_back(small_trace())
    assert_reads_back(synthetic_trace(300, 12, "transformer"))


@settings(max_examples=60, deadline=None)
@given(traces())
def test_any_trace_can_be_read_back(trace: Trace) -> None:
    assert_reads_back(trace)


def test_a_trace_without_steps_is_empty_tables() -> None:
    assert graph_data(empty_trace()) == {
        "format": FORMAT,
        "name": "",
        "strings": [""],
        "sources": [],
        "nodes": [],
        "lists": [],
        "snapshots": [],
        "names": [],
        "steps": [],
    }


def test_the_same_trace_gives_the_same_bytes() -> None:
    assert json.dumps(graph_data(small_trace())) == json.dumps(graph_data(small_trace()))


def test_equal_nodes_and_graphs_are_written_once() -> None:
    whole = graph_data(synthetic_trace(200, 1, changed=0))
    steps = graph_data(synthetic_trace(200, 5, changed=0))
    assert {**steps, "steps": []} == {**whole, "steps": []}


def test_constants_that_differ_only_behind_the_sixth_digit_stay_apart() -> None:
    nodes = tuple(
        Node(
            "w", "prim::Constant", (), (Value("w", "Tensor"),), constant=Constant((1,), "float32", "cpu", 4, mean=mean)
        )
        for mean in (0.12345678, 0.12345679)
    )
    base = small_trace()
    steps = tuple(
        type(step)(index, "input", "pass", "forward", GraphSnapshot((), (node,), ("w",)), index > 0)
        for index, (step, node) in enumerate(zip(base.steps, nodes, strict=False))
    )
    data = graph_data(type(base)("m", "torchscript", "", (), (), base.environment, steps))
    first, second = data["nodes"]
    assert first == second
    assert data["lists"] == [[-1, -1, 0], [0, -1, 1]]


@pytest.mark.parametrize(
    ("base", "target", "code"),
    [
        ([], [], []),
        ([], [7, 8], [-2, 7, 8]),
        ([1, 2, 3], [1, 2, 3], [0, 3]),
        ([1, 2, 3, 4], [1, 9, 4], [0, 1, -1, 9, 3, 1]),
        ([1, 2, 3], [3, 1, 2], [2, 1, 0, 2]),
        ([1, 2], [], []),
    ],
)
def test_delta(base: list[int], target: list[int], code: list[int]) -> None:
    assert delta(base, target) == code
    assert apply(base, code) == target


def test_ten_thousand_nodes_and_thirty_steps_stay_small() -> None:
    text = json.dumps(graph_data(synthetic_trace(10_000, 30)), separators=(",", ":"))
    assert len(text) <= 2_000_000
