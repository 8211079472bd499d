from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given

from freeze_engine.recorder.node_identity import assign_ids
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import Block, GraphSnapshot, Node, SourceRef, Value
from tests.builders import empty_trace, node, snapshots, synthetic_trace


def _graph(*nodes: Node) -> GraphSnapshot:
    return GraphSnapshot((Value("self", "__torch__.Net"),), nodes, ())


def _silent(provisional: str, op: str, inputs: str = "", *bodies: tuple[Node, ...], line: int = 1) -> Node:
    blocks = tuple(Block((), body, ()) for body in bodies)
    return Node(provisional, op, tuple(inputs.split()), blocks=blocks, source=SourceRef("model.py", line))


def _recorded(graphs: Iterable[GraphSnapshot]) -> list[GraphSnapshot]:
    """The graphs as a recorder keeps them, where no id ever means two nodes."""
    recorder = Recorder(empty_trace())
    return [recorder.add_step("stage", "pass", "forward", graph).graph for graph in graphs]


def _ids(graph: GraphSnapshot) -> list[str]:
    return [one.id for one in graph.walk()]


def test_a_first_snapshot_names_nodes_after_their_values_and_numbers_the_rest() -> None:
    two = node("a", "prim::If", outputs=(Value("a", "int"), Value("b", "int")), id="whatever")
    graph = _graph(two, _silent("x", "prim::SetAttr"), _silent("y", "prim::Print"), _silent("z", "prim::SetAttr"))
    assert _ids(assign_ids(None, graph)) == ["a", "prim::SetAttr#0", "prim::Print#0", "prim::SetAttr#1"]


def test_an_unchanged_snapshot_is_the_same_object() -> None:
    graph = _graph(node("a", "aten::relu", "x"), _silent("q", "prim::SetAttr", "a"))
    first = assign_ids(None, graph)
    assert assign_ids(first, graph) is first
    assert assign_ids(first, first) is first


def test_a_node_that_changes_keeps_the_parts_that_do_not() -> None:
    before = assign_ids(None, _graph(node("a", "aten::relu", "x"), node("b", "aten::neg", "a")))
    moved = replace(node("a", "aten::relu", "x"), module="layer")
    after = assign_ids(before, _graph(moved, node("b", "aten::neg", "x")))
    assert after == _graph(moved, node("b", "aten::neg", "x"))
    assert after.nodes[0].inputs is before.nodes[0].inputs
    assert [one.outputs is other.outputs for one, other in zip(after.nodes, before.nodes, strict=True)] == [True, True]


def test_nodes_that_stay_equal_are_the_same_objects_also_inside_blocks() -> None:
    kept, nested = node("a", "aten::relu", "x"), node("b", "aten::neg", "a")
    before = assign_ids(None, _graph(kept, node("c", "prim::If", "t", blocks=(Block((), (nested,), ("b",)),))))
    body = Block((), (replace(nested), node("d", "aten::exp", "b")), ("d",))
    after = assign_ids(before, _graph(replace(kept), node("c", "prim::If", "t", blocks=(body,))))
    assert after.nodes[0] is before.nodes[0]
    assert after.nodes[1].blocks[0].nodes[0] is before.nodes[1].blocks[0].nodes[0]
    assert _ids(after) == ["a", "c", "b", "d"]


def test_a_name_with_another_operator_is_another_node_and_stays_so() -> None:
    graphs = [_graph(node("25", op)) for op in ("aten::add", "aten::mul", "aten::mul", "aten::sub")]
    assert [_ids(graph) for graph in _recorded(graphs)] == [["25"], ["25'2"], ["25'2"], ["25'3"]]


def test_an_id_is_never_given_to_a_second_node() -> None:
    relu, written = node("a", "aten::relu", "x"), _silent("w", "prim::SetAttr")
    graphs = [_graph(relu, written), _graph(), _graph(relu, written)]
    assert [_ids(graph) for graph in _recorded(graphs)] == [
        ["a", "prim::SetAttr#0"],
        [],
        ["a'2", "prim::SetAttr#1"],
    ]


def test_a_node_that_loses_its_first_value_keeps_its_id() -> None:
    none = _silent("q", "prim::If", "t", ())
    both = replace(none, id="a", outputs=(Value("a", "int"), Value("b", "int")))
    before = assign_ids(None, _graph(both))
    assert _ids(assign_ids(before, _graph(replace(both, id="b", outputs=both.outputs[1:])))) == ["a"]
    assert _ids(assign_ids(before, _graph(none))) == ["a"]


def test_a_value_s_namesake_does_not_take_the_id_of_the_node_that_lost_it() -> None:
    before = assign_ids(None, _graph(node("a", "prim::If", outputs=(Value("a", "int"), Value("b", "int")))))
    after = _graph(node("b", "prim::If", outputs=(Value("b", "int"),)), node("a", "aten::add"))
    assert _ids(assign_ids(before, after)) == ["a", "a'2"]


def test_nodes_without_values_keep_their_ids_when_their_inputs_are_renamed() -> None:
    before = assign_ids(
        None, _graph(*(_silent(f"p{line}", "prim::SetAttr", f"v{line}", line=line) for line in (1, 2, 3)))
    )
    after = _graph(_silent("p0", "prim::SetAttr", "w1", line=1), _silent("p1", "prim::SetAttr", "w3", line=3))
    assert _ids(assign_ids(before, after)) == ["prim::SetAttr#0", "prim::SetAttr#2"]


def test_copies_of_one_line_are_distinguished_by_their_inputs() -> None:
    before = assign_ids(None, _graph(*(_silent(f"p{n}", "prim::Print", f"v{n}") for n in range(4))))
    after = _graph(_silent("p0", "prim::Print", "v1"), _silent("p1", "prim::Print", "v3"))
    assert _ids(assign_ids(before, after)) == ["prim::Print#1", "prim::Print#3"]


def test_copies_of_one_branch_are_distinguished_by_their_content() -> None:
    bodies = [(node(f"n{n}", "aten::neg", "x"), _silent(f"r{n}", "prim::RaiseException", "m")) for n in range(3)]
    before = assign_ids(None, _graph(*(_silent(f"i{n}", "prim::If", "t", body) for n, body in enumerate(bodies))))
    after = assign_ids(before, _graph(_silent("i", "prim::If", "renamed", bodies[1])))
    assert _ids(after) == ["prim::If#1", "n1", "prim::RaiseException#1"]


def test_nodes_of_different_blocks_are_not_mixed_up() -> None:
    raising = _silent("p", "prim::RaiseException", "m")
    before = assign_ids(None, _graph(_silent("i", "prim::If", "t", (raising,), (replace(raising, id="q"),))))
    after = assign_ids(before, _graph(_silent("i", "prim::If", "t", (), (raising,))))
    assert _ids(after) == ["prim::If#0", "prim::RaiseException#1"]


def test_a_node_keeps_its_id_when_its_branch_is_resolved() -> None:
    printing = _silent("p", "prim::Print", "m", line=7)
    before = assign_ids(None, _graph(_silent("q", "prim::Print", "m"), _silent("i", "prim::If", "t", (printing,), ())))
    after = assign_ids(before, _graph(_silent("q", "prim::Print", "m"), printing))
    assert _ids(after) == ["prim::Print#0", "prim::Print#1"]


def test_a_new_node_never_takes_an_id_that_a_later_one_keeps() -> None:
    before = assign_ids(None, _graph(_silent("p", "prim::Print", line=9)))
    after = _graph(_silent("a", "prim::Print", line=3), _silent("b", "prim::Print", line=9))
    assert _ids(assign_ids(before, after)) == ["prim::Print#1", "prim::Print#0"]


@given(snapshots(), snapshots())
def test_ids_are_unique_and_nothing_but_ids_changes(before: GraphSnapshot, after: GraphSnapshot) -> None:
    first, second = _recorded([before, after])
    for raw, final in ((before, first), (after, second)):
        assert len(set(_ids(final))) == len(_ids(final))
        assert _without_ids(final) == _without_ids(raw)
    assert assign_ids(second, after) is second


@given(snapshots(), snapshots())
def test_equal_nodes_are_shared(before: GraphSnapshot, after: GraphSnapshot) -> None:
    first, second = _recorded([before, after])
    earlier = {one.id: one for one in first.walk()}
    assert all(one is earlier[one.id] for one in second.walk() if one == earlier.get(one.id))
    assert (first is second) == (first == second)


def test_a_synthetic_recording_keeps_its_ids() -> None:
    trace = synthetic_trace(nodes=200, steps=5)
    graphs = [step.graph for step in trace.steps]
    assert _recorded(graphs) == graphs


def _without_ids(graph: GraphSnapshot) -> GraphSnapshot:
    return replace(graph, nodes=_anonymous(graph.nodes))


def _anonymous(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(
        replace(one, id="", blocks=tuple(replace(block, nodes=_anonymous(block.nodes)) for block in one.blocks))
        for one in nodes
    )
