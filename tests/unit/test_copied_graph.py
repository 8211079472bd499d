"""A copy of a graph, numbered anew by torch, gets the names of the original back."""

from __future__ import annotations

from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.recorder.copied_graph import named_as
from freeze_engine.trace.rules.graphs import graph_problems

FROZEN = """graph(%x.1 : Tensor):
  %7 : int = prim::Constant[value=1]()
  %8 : float = prim::Constant[value=0.5]()
  %12 : Tensor = aten::relu(%x.1) # net.py:4:8
  %13 : Tensor = aten::sigmoid(%12) # net.py:5:8
  %14 : Tensor = aten::add(%13, %12, %7) # net.py:6:8
  %out.1 : Tensor = aten::mul(%14, %8) # net.py:7:8
   = prim::Print(%out.1) # net.py:8:8
  return (%out.1)
"""


def test_a_copy_with_other_numbers_and_another_order_of_constants_is_unchanged():
    copied = parse_graph(
        """graph(%x.1 : Tensor):
  %14 : float = prim::Constant[value=0.5]()
  %13 : int = prim::Constant[value=1]()
  %1 : Tensor = aten::relu(%x.1) # net.py:4:8
  %7 : Tensor = aten::sigmoid(%1) # net.py:5:8
  %12 : Tensor = aten::add(%7, %1, %13) # net.py:6:8
  %out.1 : Tensor = aten::mul(%12, %14) # net.py:7:8
   = prim::Print(%out.1) # net.py:8:8
  return (%out.1)
"""
    )
    frozen = parse_graph(FROZEN)
    named = named_as(frozen, copied)
    assert {node.id: node for node in named.walk()} == {node.id: node for node in frozen.walk()}
    assert (named.inputs, named.outputs) == (frozen.inputs, frozen.outputs)


def test_a_fusion_group_is_new_and_holds_the_nodes_of_the_original():
    copied = parse_graph(
        """graph(%x.1 : Tensor):
  %3 : float = prim::Constant[value=0.5]()
  %12 : Tensor = prim::TensorExprGroup_0(%x.1)
  %out.1 : Tensor = aten::mul(%12, %3) # net.py:7:8
   = prim::Print(%out.1) # net.py:8:8
  return (%out.1)
with prim::TensorExprGroup_0 = graph(%x.1 : Tensor):
  %2 : int = prim::Constant[value=1]()
  %4 : Tensor = aten::relu(%x.1) # net.py:4:8
  %5 : Tensor = aten::sigmoid(%4) # net.py:5:8
  %6 : Tensor = aten::add(%5, %4, %2) # net.py:6:8
  return (%6)
"""
    )
    named = named_as(parse_graph(FROZEN), copied)
    (group,) = [node for node in named.walk() if node.blocks]
    assert (group.id, group.blocks[0].scope) == ("12.new1", "")
    assert [node.id for node in group.blocks[0].nodes] == ["7", "12", "13", "14"]
    assert not list(graph_problems(named))
    names = [value.name for node in named.walk() for value in node.outputs]
    assert len({*names}) == len(names)


def test_an_equal_number_of_another_operator_is_another_node():
    copied = parse_graph("graph(%x.1 : Tensor):\n  %12 : Tensor = aten::tanh(%x.1) # net.py:4:8\n  return (%12)\n")
    (node,) = named_as(parse_graph(FROZEN), copied, ("12.new1",)).nodes
    assert (node.id, node.outputs[0].name) == ("12.new1.new1", "12.new1")


def test_a_block_that_is_gone_and_one_whose_branch_remains_keep_the_rest():
    before = parse_graph(
        """graph(%x : Tensor, %c : bool):
  %5 : Tensor = prim::If(%c) # net.py:3:4
    block0():
      %6 : Tensor = aten::neg(%x) # net.py:4:8
      -> (%6)
    block1():
      -> (%x)
  %9 : Tensor = aten::abs(%5) # net.py:6:8
  return (%9)
"""
    )
    copied = parse_graph(
        """graph(%x : Tensor, %c : bool):
  %1 : Tensor = aten::neg(%x) # net.py:4:8
  %2 : Tensor = aten::abs(%1) # net.py:6:8
  return (%2)
"""
    )
    named = named_as(before, copied)
    assert [(node.id, node.inputs) for node in named.nodes] == [("6", ("x",)), ("9", ("6",))]
