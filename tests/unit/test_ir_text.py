"""torch's printed graphs, read back: each text is what torch 2.13 prints."""

from __future__ import annotations

import pytest

from freeze_engine.backends.torchscript.graph.parser import GraphTextError, parse_graph, parse_node
from freeze_engine.trace import Block, GraphSnapshot, Node, SourceRef, Value

CONTROL = """\
graph(%self : __torch__.Net,
      %x.1 : Tensor,
      %n.1 : int):
  %7 : bool = prim::Constant[value=1]() # net.py:21:8
  %5 : str = prim::Constant[value="no, no"]()
  %y.39 : Tensor = prim::Loop(%n.1, %7, %x.1) # net.py:21:8
    block0(%i.1 : int, %y.37 : Tensor):
      %y.35 : Tensor = prim::If(%7) # net.py:22:12
        block0():
           = prim::If(%7) # net.py:24:16
            block0():
               = prim::RaiseException(%5, %5) # net.py:25:20
              -> ()
            block1():
              -> ()
          -> (%y.37)
        block1():
          %y.11 : Tensor = aten::mul(%y.37, %y.37) # net.py:27:18
          -> (%y.11)
      -> (%7, %y.35)
   = prim::RaiseException(%5, %5) # net.py:30:2
  %a.1 : Tensor, %b.1 : Tensor = aten::max(%y.39, %y.39, %7) # net.py:31:12
  return (%a.1, %b.1)
"""


def at(line: int, column: int) -> SourceRef:
    return SourceRef("net.py", line, column)


def test_nested_blocks_silent_nodes_and_several_outputs():
    tensor = "Tensor"
    raised = Node("prim::RaiseException#0", "prim::RaiseException", ("5", "5"), source=at(25, 20))
    silent_if = Node(
        "prim::If#0", "prim::If", ("7",), blocks=(Block((), (raised,), ()), Block((), (), ())), source=at(24, 16)
    )
    mul = Node("y.11", "aten::mul", ("y.37", "y.37"), (Value("y.11", tensor),), source=at(27, 18))
    inner = Node(
        "y.35",
        "prim::If",
        ("7",),
        (Value("y.35", tensor),),
        blocks=(Block((), (silent_if,), ("y.37",)), Block((), (mul,), ("y.11",))),
        source=at(22, 12),
    )
    body = Block((Value("i.1", "int"), Value("y.37", tensor)), (inner,), ("7", "y.35"))
    assert parse_graph(CONTROL) == GraphSnapshot(
        (Value("self", "__torch__.Net"), Value("x.1", tensor), Value("n.1", "int")),
        (
            Node("7", "prim::Constant", (), (Value("7", "bool"),), (("value", "1"),), source=at(21, 8)),
            Node("5", "prim::Constant", (), (Value("5", "str"),), (("value", '"no, no"'),)),
            Node("y.39", "prim::Loop", ("n.1", "7", "x.1"), (Value("y.39", tensor),), blocks=(body,), source=at(21, 8)),
            Node("prim::RaiseException#1", "prim::RaiseException", ("5", "5"), source=at(30, 2)),
            Node(
                "a.1",
                "aten::max",
                ("y.39", "y.39", "7"),
                (Value("a.1", tensor), Value("b.1", tensor)),
                source=at(31, 12),
            ),
        ),
        ("a.1", "b.1"),
    )


@pytest.mark.parametrize(
    ("type_text", "text"),
    [
        ("str", r'"q\"uo,te[0] = (1 # x:1:2"'),
        ("str", r'"\303\251\n\t\\ \a )]}"'),
        ("str", '"a = prim::Constant[value=1]() # x:1:2"'),
        ("str", '""'),
        ("float", "nan"),
        ("float", "-inf"),
        ("float", "1.0000000000000001e-05"),
        ("int", "-3"),
        ("complex", "2.+3.j"),
        ("Device", '"cuda:0"'),
        ("int[]", "[1, 2]"),
        ("float[]", "[1.5, nan, inf]"),
        ("bool[]", "[True, False]"),
        ("str[]", '["a, b=", "c]"]'),
        ("Tensor[]", "[<Tensors>]"),
        ("Tensor[]", "annotate(List[Tensor], [])"),
        ("Dict(str, Tensor)", '{"a": {1}, "b=,":  0  0 [ CPUFloatType{2,2} ]}'),
        ("(int, str, Float(2, strides=[1], device=cpu))", '(1, "x",  1  1 [ CPUFloatType{2} ])'),
        ("Float(requires_grad=0, device=cpu)", "{3.5}"),
        ("Float(0, strides=[1], requires_grad=0, device=cpu)", "[ CPUFloatType{0} ]"),
        ("Float(2, 2, strides=[2, 1], requires_grad=0, device=cpu)", "-0.1  0.2  0.3 -1e-05 [ CPUFloatType{2,2} ]"),
        ("Float(64, 3, 7, 7, strides=[147, 49, 7, 1], requires_grad=0, device=cpu)", "<Tensor>"),
        ("__torch__.Thing", "object of type __torch__.Thing"),
    ],
)
@pytest.mark.parametrize("source", ["", " # a b/net.py:3:4", " # C:\\net #2.py:3:4"])
def test_constants_keep_their_text(type_text, text, source):
    found = parse_graph(f"graph():\n  %c : {type_text} = prim::Constant[value={text}](){source}\n  return (%c)\n")

    place = SourceRef(source[3:].rpartition(":")[0].rpartition(":")[0], 3, 4) if source else None
    constant = Node("c", "prim::Constant", (), (Value("c", type_text),), (("value", text),), source=place)
    assert found == GraphSnapshot((), (constant,), ("c",))


@pytest.mark.parametrize(
    "type_text",
    [
        "NamedTuple(values : Tensor, indices : Tensor)",
        "(Tensor, int[], Dict(str, Tensor), (int, str)?, float)",
        "Future[Tensor]",
        "Float(*, 3, 7, strides=[21, 7, 1], requires_grad=0, device=cpu)",
        "__torch__.torch.nn.modules.container.___torch_mangle_2.Sequential",
        "Union(int, Tensor, NoneType)",
        "(Tensor) -> Tensor",
        "Any",
    ],
)
def test_types_with_brackets(type_text):
    text = f"graph(%x.1 : {type_text}, %y : int):\n  %a : {type_text}, %b : {type_text} = f::g(%x.1)\n  return (%a)\n"
    values = (Value("a", type_text), Value("b", type_text))
    assert parse_graph(text) == GraphSnapshot(
        (Value("x.1", type_text), Value("y", "int")), (Node("a", "f::g", ("x.1",), values),), ("a",)
    )


def test_a_name_may_hold_what_the_name_of_an_attribute_may():
    text = (
        "graph(%self : __torch__.Net):\n"
        "  %self.%q.bias : Tensor = prim::Constant[value= 0.5  1 [ CPUFloatType{2} ]]()\n"
        "  %50% b : Tensor, %c% : int = f::g(%self.%q.bias)\n"
        "  return (%50% b, %c%)\n"
    )
    constant = Value("self.%q.bias", "Tensor")
    outputs = (Value("50% b", "Tensor"), Value("c%", "int"))
    assert parse_graph(text) == GraphSnapshot(
        (Value("self", "__torch__.Net"),),
        (
            Node(constant.name, "prim::Constant", (), (constant,), (("value", " 0.5  1 [ CPUFloatType{2} ]"),)),
            Node("50% b", "f::g", (constant.name,), outputs),
        ),
        ("50% b", "c%"),
    )


def test_several_attributes_are_split_at_their_names_only():
    line = '%a : Tensor = f::g[k=[1, 2], text="x, y=1", types=[int, Tensor]](%x)'
    attributes = (("k", "[1, 2]"), ("text", '"x, y=1"'), ("types", "[int, Tensor]"))
    assert parse_node(line) == Node("a", "f::g", ("x",), (Value("a", "Tensor"),), attributes)


def test_addresses_are_left_out_but_not_what_a_text_says():
    line = '%a : T = f::g[at=<Thing object at 0x7f01ab>, of=object(0x55d0), text="object(0x55d0)"]()'
    attributes = (("at", "<Thing object>"), ("of", "object"), ("text", '"object(0x55d0)"'))
    assert parse_node(line) == Node("a", "f::g", (), (Value("a", "T"),), attributes)


def test_a_scope_of_the_tracer_is_the_module():
    line = "%5 : Tensor = aten::relu(%x), scope: __module.layers/__module.layers.1 # net.py:7:0"
    expected = Node(
        "5", "aten::relu", ("x",), (Value("5", "Tensor"),), module="layers.1", source=SourceRef("net.py", 7, 0)
    )
    assert parse_node(line) == expected


def test_a_scope_of_the_top_module_is_empty():
    assert parse_node("%5 : Tensor = aten::relu(%x), scope: __module # net.py:7:0").module == ""


def test_a_python_operator():
    line = '%2 : Tensor = ^Py[inplace=0, module="__main__", Subgraph=<Graph>](3, "a")(%x, %y) # function.py:625:0'
    found = parse_node(line)
    assert (found.op, found.inputs, found.source) == ("^Py", ("x", "y"), SourceRef("function.py", 625, 0))
    assert found.attributes[:2] == (("inplace", "0"), ("module", '"__main__"'))
    assert found.attribute("args") == '3, "a"'


def test_a_python_operator_without_attributes():
    found = parse_node("%2 : Tensor = ^Py(3)(%x)")
    assert found == Node("2", "^Py", ("x",), (Value("2", "Tensor"),), (("args", "3"),))


FORKS = """\
graph(%x : Tensor):
  %a : Future[Tensor] = prim::fork_0(%x) # net.py:1:0
  %b : Future[Tensor] = prim::fork_1(%x) # net.py:2:0
  return (%a, %b)
with prim::fork_0 = graph(%x.1 : Tensor):
  %f : Future[Tensor] = prim::fork_0(%x.1)
  %5 : Tensor = aten::wait(%f)
  return (%5)
with prim::fork_0 = graph(%x.1 : Tensor):
  %5 : Tensor = aten::neg(%x.1)
  return (%5)
with prim::fork_1 = graph(%x.1 : Tensor):
  %5 : Tensor = aten::abs(%x.1)
  return (%5)
"""


def test_forks_nest_and_torch_numbers_those_of_each_graph_anew():
    tensor, future = "Tensor", "Future[Tensor]"

    def body(scope: str, *nodes: Node) -> Block:
        return Block((Value(f"{scope}x.1", tensor),), nodes, (f"{scope}5",), scope)

    def computed(scope: str, op: str, name: str) -> Node:
        return Node(f"{scope}5", op, (f"{scope}{name}",), (Value(f"{scope}5", tensor),))

    innermost = body("fork_0/fork_0/", computed("fork_0/fork_0/", "aten::neg", "x.1"))
    inner = Node("fork_0/f", "prim::fork", ("fork_0/x.1",), (Value("fork_0/f", future),), blocks=(innermost,))
    first = body("fork_0/", inner, computed("fork_0/", "aten::wait", "f"))
    second = body("fork_1/", computed("fork_1/", "aten::abs", "x.1"))
    assert parse_graph(FORKS) == GraphSnapshot(
        (Value("x", tensor),),
        (
            Node("a", "prim::fork", ("x",), (Value("a", future),), blocks=(first,), source=at(1, 0)),
            Node("b", "prim::fork", ("x",), (Value("b", future),), blocks=(second,), source=at(2, 0)),
        ),
        ("a", "b"),
    )


def test_operator_ending_in_a_number_is_not_taken_for_a_fork():
    found = parse_graph("graph(%x : Tensor):\n  %y : Tensor = mine::op_0(%x)\n  return (%y)\n")
    assert found.nodes == (Node("y", "mine::op_0", ("x",), (Value("y", "Tensor"),)),)


def test_a_graph_without_anything():
    assert parse_graph("graph():\n  return ()\n") == GraphSnapshot((), (), ())


def test_a_file_name_may_hold_what_python_takes_for_a_line_end():
    text = "graph():\n  %c : int = prim::Constant[value=1]() # a\u2028b\x85.py:1:2\n  return (%c)\n"
    assert parse_graph(text).nodes[0].source == SourceRef("a\u2028b\x85.py", 1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no graph"),
        ("hello\n", "'hello'"),
        ("graph(%x : Tensor", "middle of a graph"),
        ("graph():\n", "middle of a graph"),
        ("graph():\n  %c : int = prim::Constant[value=1]()\n", "middle of a graph"),
        ("graph():\n  nonsense\n  return ()\n", "nonsense"),
        ("graph():\n  %c : int = !\n  return ()\n", "%c : int = !"),
        ("graph():\n  %c : int = f::g[value=[1\n  return ()\n", "never closes"),
        ('graph():\n  %c : str = f::g[value="a\n  return ()\n', "never closes"),
        ("graph():\n   = prim::If(%c)\n    block0(:\n      -> ()\n  return ()\n", "block0(:"),
    ],
)
def test_unparsable_line_is_quoted(text, message):
    with pytest.raises(GraphTextError) as caught:
        parse_graph(text)
    assert message in str(caught.value)


def test_repeated_values_are_one_object():
    def parts() -> tuple[object, ...]:
        loop = parse_graph(CONTROL).nodes[2]
        branch = loop.blocks[0].nodes[0]
        constant = parse_graph(CONTROL).nodes[0]
        named = (loop.outputs[0].name, branch.blocks[0].outputs[0])
        return (*named, loop.op, loop.inputs[2], loop.outputs[0].type, loop.source, constant.attributes)

    assert all(one is other for one, other in zip(parts(), parts(), strict=True))
