from __future__ import annotations

from dataclasses import replace

from freeze_engine.analysis.duplicate_constants import Duplicate, duplicates
from freeze_engine.trace import AttributeFate, Constant, GraphSnapshot, Location, Node, Rewrite, Step, Trace, Value
from tests.builders import empty_trace


def _constant(name: str, digest: str, storage: str | None, nbytes: int = 64) -> Node:
    kept = Constant((4, 4), "float32", "cpu", nbytes, storage, digest)
    return Node(name, "prim::Constant", (), (Value(name, "Tensor"),), constant=kept)


def _reader(name: str, *inputs: str, op: str = "aten::conv2d") -> Node:
    return Node(name, op, ("x", *inputs), (Value(name, "Tensor"),))


def _graph(*nodes: Node) -> GraphSnapshot:
    return GraphSnapshot((Value("x", "Tensor"),), nodes, ())


def _trace(
    *graphs: GraphSnapshot, rewrites: tuple[Rewrite, ...] = (), attributes: dict[str, str] | None = None
) -> Trace:
    steps = [Step(index, "stage", f"pass {index}", "forward", graph, True) for index, graph in enumerate(graphs)]
    steps[-1] = replace(steps[-1], rewrites=rewrites)
    fates = tuple(
        AttributeFate(
            path, "parameter", "Tensor", (4, 4), "float32", 64, "inlined", locations=(Location("forward", value),)
        )
        for path, value in (attributes or {}).items()
    )
    return replace(empty_trace(), steps=tuple(steps), attributes=fates)


EMPTY = _graph(_reader("a"), _reader("b"))


def test_attributes_equal_from_the_start_are_reported_where_they_become_constants() -> None:
    both = _graph(_constant("self.a.w", "d", "s0"), _constant("self.b.w", "d", "s1"), _reader("a", "self.a.w"))
    assert duplicates(_trace(EMPTY, both, both, attributes={"a.w": "q", "b.w": "r"})) == (
        Duplicate(1, "forward", "equal", ("self.a.w", "self.b.w"), ("a.w", "b.w"), 64),
    )


def test_shared_memory_is_not_counted_as_duplicate() -> None:
    tied = _graph(_constant("w", "d", "s0"), _constant("v", "d", "s0"), _reader("a", "w"), _reader("b", "v"))
    assert duplicates(_trace(EMPTY, tied)) == ()


def test_a_step_that_copies_a_constant_is_named() -> None:
    one = _graph(_constant("w", "d", "s0"), _reader("a", "w"), _reader("b", "w"))
    opaque = _graph(_constant("p", "d", None), _constant("q", "d", None), _reader("a", "p"), _reader("b", "q"))
    assert duplicates(_trace(EMPTY, one, opaque, attributes={"layer.w": "p"})) == (
        Duplicate(2, "forward", "copied", ("p", "q"), ("layer.w",), 64),
    )


def test_tied_weights_split_by_a_fold_are_reported_with_the_step() -> None:
    tied = _graph(_constant("w", "d", "s0"), _constant("v", "d", "s0"), _reader("a", "w"), _reader("b", "v"))
    folded = _graph(
        _constant("w_bn", "e", "s1"), _constant("v_bn", "f", "s2"), _reader("a", "w_bn"), _reader("b", "v_bn")
    )
    trace = _trace(EMPTY, tied, folded, attributes={"a.w": "w_bn", "b.w": "v_bn"})
    assert duplicates(trace) == (Duplicate(2, "forward", "split", ("w_bn", "v_bn"), ("a.w", "b.w"), 64),)


def test_a_fold_beside_a_reader_that_keeps_the_weights_splits_them_too() -> None:
    tied = _graph(_constant("w", "d", "s0"), _reader("a", "w"), _reader("b", "w"))
    folded = _graph(_constant("w", "d", "s0"), _constant("w_bn", "e", "s1"), _reader("a", "w_bn"), _reader("b", "w"))
    (found,) = duplicates(_trace(tied, folded))
    assert (found.step, found.kind, found.names, found.nbytes) == (1, "split", ("w", "w_bn"), 64)


def test_a_node_that_a_rewrite_exchanged_is_followed() -> None:
    tied = _graph(_constant("w", "d", "s0"), _reader("a", "w"), _reader("b", "w"))
    folded = _graph(_constant("p", "e", "s1"), _constant("q", "f", "s2"), _reader("c", "p"), _reader("d", "q"))
    rewrites = (Rewrite("conv_bn", ("a", "w"), ("c", "p")), Rewrite("conv_bn", ("b", "w"), ("d", "q")))
    (found,) = duplicates(_trace(tied, folded, rewrites=rewrites))
    assert (found.kind, found.names) == ("split", ("p", "q"))


def test_folded_lone_weight_is_not_counted_as_duplicate() -> None:
    before = _graph(_constant("w", "d", "s0"), _reader("a", "w"))
    assert duplicates(_trace(EMPTY, before, _graph(_constant("w_bn", "e", "s1"), _reader("a", "w_bn")))) == ()


def test_the_largest_comes_first_and_unknown_contents_are_never_equal() -> None:
    unknown = [replace(_constant(name, "", "s8" + name), constant=Constant((2,), "float32", "cpu", 8)) for name in "uv"]
    many = _graph(
        _constant("a", "d", "s0", 8),
        _constant("b", "d", "s1", 8),
        _constant("c", "e", "s2", 80),
        _constant("d", "e", "s3", 80),
        *unknown,
    )
    assert [found.nbytes for found in duplicates(_trace(EMPTY, many))] == [80, 8]


def test_a_trace_without_steps_has_none() -> None:
    assert duplicates(empty_trace()) == ()


def test_constant_pooled_or_folded_later_has_an_end_step() -> None:
    two = _graph(_constant("p", "d", "s0"), _constant("q", "d", "s1"), _reader("a", "p"), _reader("b", "q"))
    pooled = _graph(_constant("p", "d", "s0"), _reader("a", "p"), _reader("b", "p"))
    trace = _trace(EMPTY, two, pooled, pooled, attributes={"a.w": "p", "b.w": "p"})
    assert duplicates(trace) == (Duplicate(1, "forward", "equal", ("p", "q"), ("a.w", "b.w"), 64, until=2),)
    folded = _graph(
        _constant("p_bn", "e", "s2"), _constant("q_bn", "f", "s3"), _reader("a", "p_bn"), _reader("b", "q_bn")
    )
    assert [(found.kind, found.until) for found in duplicates(_trace(EMPTY, two, folded))] == [("equal", 2)]


def test_a_part_that_is_pooled_leaves_the_rest() -> None:
    def copies(count: int) -> GraphSnapshot:
        return _graph(*(_constant(f"c{number}", "d", f"s{number}") for number in range(count)))

    assert [(found.nbytes, found.until) for found in duplicates(_trace(EMPTY, copies(4), copies(2)))] == [(64, None)]
    grown = duplicates(_trace(EMPTY, copies(2), copies(4), copies(3)))
    assert [(found.step, found.nbytes, found.until) for found in grown] == [(1, 64, None), (2, 64, None)]


def test_constants_are_followed_through_other_names_and_layouts() -> None:
    two = _graph(_constant("p", "d", "s0"), _constant("q", "d", "s1"), _reader("a", "p"), _reader("b", "q"))
    packed = _graph(
        *(_constant("r", "z", None), _constant("s", "z", None)),
        *(_reader("c", "r", op="packed"), _reader("d", "s", op="packed")),
    )
    rewrites = (Rewrite("mkldnn", ("a", "p"), ("c", "r")), Rewrite("mkldnn", ("b", "q"), ("d", "s")))
    found = duplicates(_trace(EMPTY, two, packed, rewrites=rewrites, attributes={"a.w": "r", "b.w": "s"}))
    assert found == (Duplicate(1, "forward", "equal", ("r", "s"), ("a.w", "b.w"), 64),)


def test_torn_weights_stay_torn_through_later_passes() -> None:
    tied = _graph(_constant("w", "d", "s0"), _reader("a", "w"), _reader("b", "w"))
    torn = _graph(_constant("v", "e", "s1"), _constant("u", "f", "s2"), _reader("a", "v"), _reader("b", "u"))
    again = _graph(_constant("v2", "g", "s3"), _constant("u", "f", "s2"), _reader("a", "v2"), _reader("b", "u"))
    gone = _graph(_constant("v2", "g", "s3"), _reader("a", "v2"))
    (found,) = duplicates(_trace(tied, torn, again))
    assert (found.step, found.kind, found.names, found.until) == (1, "split", ("v2", "u"), None)
    (found,) = duplicates(_trace(tied, torn, again, gone))
    assert (found.names, found.until) == (("v2", "u"), 3)


def test_constants_that_come_out_equal_are_no_copies() -> None:
    before = _graph(_constant("w", "d", "s0"), _reader("a", "w"), _reader("b"))
    after = _graph(_constant("w", "d", "s0"), _constant("zero", "d", "s1"), _reader("a", "w"), _reader("b", "zero"))
    assert [found.kind for found in duplicates(_trace(before, after))] == ["equal"]
