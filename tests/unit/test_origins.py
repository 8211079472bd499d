"""Whose values the constants of a graph hold, carried over hand-written passes."""

from __future__ import annotations

import copy
import dataclasses

from freeze_engine.backends.torchscript.attributes.origins import Origins, advance, by_path
from freeze_engine.backends.torchscript.attributes.reads import Paths
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.recorder.node_identity import assign_ids
from freeze_engine.trace import Constant, GraphSnapshot


def graph(*lines: str, digests: dict[str, str] | None = None) -> GraphSnapshot:
    """A graph of constants ``name`` and of other lines, which returns the last value."""
    body = [line if "=" in line else f"%{line} : Tensor = prim::Constant[value=<Tensor>]()" for line in lines]
    last = body[-1].partition(" ")[0]
    read = parse_graph("\n".join(["graph(%x : Tensor):", *(f"  {line}" for line in body), f"  return ({last})"]))
    known = digests or {}
    nodes = tuple(
        dataclasses.replace(node, constant=Constant((2,), "float32", "cpu", 8, digest=known.get(node.id, node.id)))
        if node.op == "prim::Constant"
        else node
        for node in read.nodes
    )
    return dataclasses.replace(read, nodes=nodes)


def held(**paths: str) -> Origins:
    return Origins({name: frozenset(text.split()) for name, text in paths.items()})


def moved(origins: Origins, before: GraphSnapshot, after: GraphSnapshot, **made: str) -> Origins:
    told = {name: tuple(text.split()) for name, text in made.items()}
    after = assign_ids(before, after)
    carried = advance(origins, before, after, told)
    # No node of a copy is the object that it was, so that every place is looked at.
    assert before is after or carried == advance(origins, copy.deepcopy(before), after, told)
    return carried


ADD = "%y : Tensor = aten::add(%x, %{})"


def test_the_same_graph_has_the_same_origins():
    before = graph("a", ADD.format("a"))
    origins = held(a="w")
    assert advance(origins, before, before, {}) is origins


def test_a_constant_that_stays_keeps_its_attribute():
    before = graph("a", "b", ADD.format("a"))
    after = graph("a", "b", "%y : Tensor = aten::add(%x, %a)", "%z : Tensor = aten::neg(%y)")
    assert moved(held(a="w", b="v"), before, after) == held(a="w", b="v")


def test_a_constant_that_goes_takes_its_attribute_along():
    before, after = graph("a", "b", ADD.format("a")), graph("a", ADD.format("a"))
    assert moved(held(a="w", b="v"), before, after) == held(a="w")


def test_pooled_equal_constants_hold_both_attributes():
    mul = "%z : Tensor = aten::mul(%y, %{})"
    digests = {"a": "same", "b": "same"}
    before = graph("a", "b", ADD.format("a"), mul.format("b"), digests=digests)
    after = graph("a", ADD.format("a"), mul.format("a"), digests=digests)
    found = moved(held(a="w", b="v"), before, after)
    assert (found.held, found.derived) == (held(a="w v").held, {})
    assert found.arguments() == {("y", 1): ("w",), ("z", 1): ("v",)}


def test_a_read_that_turns_to_another_constant_of_other_content_holds_nothing():
    mul = "%z : Tensor = aten::mul(%y, %{})"
    before = graph("a", "b", ADD.format("a"), mul.format("b"))
    after = graph("a", ADD.format("a"), mul.format("a"))
    found = moved(held(a="w", b="v"), before, after)
    assert found.held == held(a="w").held
    assert "v" not in by_path(found.held).get("w", ())


def test_value_computed_from_constants_has_their_attributes_as_origin():
    before = graph("a", "b", "%c : Tensor = aten::add(%a, %b)", "%y : Tensor = aten::mul(%x, %c)")
    after = graph("d", "%y : Tensor = aten::mul(%x, %d)")
    assert moved(held(a="w", b="v"), before, after) == Origins({}, {"d": frozenset({"w", "v"})})


def test_a_fold_names_what_went_into_its_constant():
    before, after = graph("a", ADD.format("a")), graph("f", ADD.format("f"))
    assert moved(held(a="w"), before, after, f="w bn.weight") == Origins({}, {"f": frozenset({"w", "bn.weight"})})


def test_a_returned_constant_is_followed():
    before = graph("a", "%c : Tensor = aten::neg(%a)")
    after = graph("d")
    assert moved(held(a="w"), before, after) == Origins({}, {"d": frozenset({"w"})})


def test_a_branchs_result_is_followed():
    branch = [
        "%y : Tensor = prim::If(%x)",
        "  block0():",
        "    -> (%{})",
        "  block1():",
        "    -> (%x)",
    ]
    before = parse_graph(
        "\n".join(
            [
                "graph(%x : Tensor):",
                "  %a : Tensor = prim::Constant[value=<Tensor>]()",
                "  %c : Tensor = aten::neg(%a)",
                *(f"  {line.format('c')}" for line in branch),
                "  return (%y)",
            ]
        )
    )
    after = parse_graph(
        "\n".join(
            [
                "graph(%x : Tensor):",
                "  %d : Tensor = prim::Constant[value=<Tensor>]()",
                *(f"  {line.format('d')}" for line in branch),
                "  return (%y)",
            ]
        )
    )
    assert moved(held(a="w"), before, after) == Origins({}, {"d": frozenset({"w"})})


def test_reading_origins():
    origins = Origins({"a": frozenset({"w", "v"})}, {"a": frozenset({"u"}), "b": frozenset({"w"})})
    assert origins.attributes("a") == ("u", "v", "w")
    assert origins.attributes("none") == ()
    assert by_path(origins.held) == {"v": ("a",), "w": ("a",)}
    assert by_path(origins.derived) == {"u": ("a",), "w": ("b",)}
    assert origins.table() == {"a": ("u", "v", "w"), "b": ("w",)}


def test_a_pass_with_no_rules_is_followed_by_content():
    before = graph("a", "b", ADD.format("a"), digests={"a": "same", "b": "other"})
    after = graph("c", "%z : Tensor = f::g(%x, %c)", digests={"c": "same"})
    unlike = graph("c", "%z : Tensor = f::g(%x, %c)", digests={"c": "unlike"})
    assert moved(held(a="w", b="v"), before, after) == held(c="w")
    assert moved(held(a="w", b="v"), before, unlike) == held()
    assert moved(held(a="w", b="v"), before, after, c="b") == Origins({}, {"c": frozenset({"b"})})


def test_a_constant_beside_the_one_it_equals_is_not_taken_for_it():
    before = graph("a", ADD.format("a"), digests={"a": "same"})
    after = graph("a", "c", ADD.format("a"), "%z : Tensor = aten::mul(%y, %c)", digests={"a": "same", "c": "same"})
    assert moved(held(a="w"), before, after) == held(a="w")


def test_merged_nodes_had_merged_constants():
    relu, neg = "%{} : Tensor = aten::relu(%{})", "%{} : Tensor = aten::neg(%{})"
    lines = (ADD.format("a"), relu.format("p", "y"), "%z : Tensor = aten::add(%x, %b)", relu.format("q", "z"))
    total = "%t : Tensor = aten::mul(%p, %{})"
    digests = {"a": "same", "b": "same"}
    before = graph("a", "b", *lines, total.format("q"), digests=digests)
    after = graph("a", *lines[:2], total.format("p"), digests=digests)
    other = graph("a", lines[0], neg.format("p", "y"), total.format("p"), digests=digests)
    assert moved(held(a="w", b="v"), before, after) == held(a="v w")
    assert moved(held(a="w", b="v"), before, other) == held(a="w")


def test_a_reader_of_a_merged_value_still_has_its_own_attribute():
    lines = ("%c : Tensor = aten::neg(%a)", "%d : Tensor = aten::neg(%b)")
    digests = {"a": "same", "b": "same"}
    mul = "%z : Tensor = aten::mul(%y, %{})"
    before = graph("a", "b", *lines, ADD.format("c"), mul.format("d"), digests=digests)
    merged = graph("a", lines[0], ADD.format("c"), mul.format("c"), digests=digests)
    computed = graph("e", ADD.format("e"), mul.format("e"))
    first = assign_ids(before, merged)
    origins = advance(held(a="w", b="v"), before, first, {})
    last = advance(origins, first, assign_ids(first, computed), {})
    assert last.derived == {"e": frozenset({"w", "v"})}
    assert last.arguments() == {("y", 1): ("w",), ("z", 1): ("v",)}


def test_a_literal_that_equals_an_attribute_is_not_it():
    mul = "%z : Tensor = aten::mul(%y, %{})"
    before = graph("a", "b", ADD.format("a"), mul.format("b"), digests={"a": "same", "b": "same"})
    pooled = assign_ids(before, graph("a", ADD.format("a"), mul.format("a"), digests={"a": "same"}))
    origins = advance(held(b="v"), before, pooled, {})
    assert (origins.held, origins.arguments()) == ({"a": frozenset({"v"})}, {("y", 1): ()})
    folded = assign_ids(pooled, graph("a", "f", ADD.format("a"), mul.format("f"), digests={"a": "same"}))
    after = advance(origins, pooled, folded, {"f": ("v", "w")})
    assert (after.held, after.derived) == ({}, {"f": frozenset({"v", "w"})})


def test_a_size_holds_nothing_of_what_it_is_the_size_of():
    before = graph("a", "b", "%n : int = aten::len(%a)", "%c : Tensor = aten::mul(%b, %n)", ADD.format("c"))
    after = graph("d", ADD.format("d"))
    assert moved(held(a="w", b="v"), before, after) == Origins({}, {"d": frozenset({"v"})})


def test_a_place_that_reads_another_value_than_a_computed_one_keeps_the_attributes_behind_that():
    before = graph("a", "%f : Tensor = aten::neg(%a)", "%y : Tensor = aten::add(%x, %f)")
    after = graph("a", "%y : Tensor = aten::add(%x, %x)")
    kept = moved(held(a="w"), before, after)
    assert kept.reads == {("y", -1, 1): Paths(derived=frozenset({"w"}))}
