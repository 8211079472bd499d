"""Chains of attribute reads, on hand-written graphs."""

from __future__ import annotations

from freeze_engine.backends.torchscript.graph.attribute_reads import slot_accesses
from freeze_engine.backends.torchscript.graph.parser import parse_graph

GRAPH = """\
graph(%self : __torch__.Net,
      %x : Tensor):
  %sub : __torch__.Sub = prim::GetAttr[name="sub"](%self)
  %w : Tensor = prim::GetAttr[name="w"](%sub)
   = prim::SetAttr[name="n"](%sub, %x)
   = prim::If(%x)
    block0():
      %deep : __torch__.Deep = prim::GetAttr[name="deep"](%sub)
      %v : Tensor = prim::GetAttr[name="v"](%deep)
      -> ()
    block1():
      -> ()
  %chosen : __torch__.Sub = mine::choose(%sub, %sub)
  %lost : Tensor = prim::GetAttr[name="w"](%chosen)
   = prim::SetAttr[name="n"](%chosen, %x)
  %f : Future[Tensor] = prim::fork_0(%x, %sub)
  return (%f)
with prim::fork_0 = graph(%x : Tensor,
      %self : __torch__.Sub):
  %w : Tensor = prim::GetAttr[name="w"](%self)
  return (%w)
"""


def paths(self_path: str = "") -> list[tuple[str, str | None]]:
    return [(access.node.id, access.path) for access in slot_accesses(parse_graph(GRAPH), self_path)]


def test_reads_and_writes_are_followed_into_blocks_and_forks():
    assert paths() == [
        ("sub", "sub"),
        ("w", "sub.w"),
        ("prim::SetAttr#0", "sub.n"),
        ("deep", "sub.deep"),
        ("v", "sub.deep.v"),
        ("lost", None),
        ("prim::SetAttr#1", None),
        ("fork_0/w", "sub.w"),
    ]


def test_a_submodules_method_begins_at_the_submodule():
    assert paths("part.of")[1] == ("w", "part.of.sub.w")


def test_a_graph_without_inputs_has_none():
    assert list(slot_accesses(parse_graph("graph():\n  return ()\n"))) == []


def test_function_without_a_module_input_has_no_slots():
    text = "graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%y)\n"
    assert list(slot_accesses(parse_graph(text))) == []
