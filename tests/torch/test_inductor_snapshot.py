"""fx graphs as rows, as snapshots, and live again; nothing is compiled."""

from __future__ import annotations

import operator

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.executable import executable, is_executable
from freeze_engine.backends.inductor.graph.graph_inputs import outermost, source_path
from freeze_engine.backends.inductor.graph.rows import TensorRefs, take
from freeze_engine.backends.inductor.graph.snapshot import SnapshotReader, source_ref
from freeze_engine.backends.inductor.graph.type_text import type_text
from freeze_engine.recorder.node_identity import assign_ids
from freeze_engine.tensors.constants import StorageNames
from freeze_engine.trace import GraphSnapshot, Node, SourceRef, Value

REFS = TensorRefs()
WEIGHT = torch.arange(6.0).reshape(2, 3)


def traced() -> torch.fx.GraphModule:
    """relu(x @ w + 1), w a constant."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, None]:
        return torch.relu(x @ weight + 1), None

    weight = WEIGHT
    return make_fx(function)(torch.ones(4, 2))


def read(module: torch.fx.GraphModule) -> GraphSnapshot:
    return SnapshotReader(Constants(), StorageNames()).read(take(module, REFS))


def test_a_graph_becomes_a_snapshot():
    module = traced()
    snapshot = read(module)
    wide = "Float(4, 3, strides=[3, 1], device=cpu)"
    constant, product, total, result = snapshot.nodes
    assert snapshot.inputs == (Value("x_1", "Float(4, 2, strides=[2, 1], device=cpu)"),)
    assert snapshot.outputs == ("relu",)
    assert (constant.op, constant.attributes) == ("get_attr", (("target", "_tensor_constant0"),))
    assert constant.constant is not None
    assert constant.constant.shape == (2, 3)
    assert product == Node("mm", "aten.mm.default", ("x_1", constant.id), (Value("mm", wide),))
    assert total == Node("add", "aten.add.Tensor", ("mm",), (Value("add", wide),), (("other", "1"),))
    assert result == Node("relu", "aten.relu.default", ("add",), (Value("relu", wide),))


def test_unchanged_graph_is_the_same_object():
    module = traced()
    first = take(module, REFS)
    assert take(module, REFS, first) is first
    total = next(iter(module.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)))
    total.update_arg(1, 2)
    second = take(module, REFS, first)
    changed = [row.name for row, before in zip(second.rows, first.rows, strict=True) if row is not before]
    assert changed == ["add"]
    reader = SnapshotReader(Constants(), StorageNames())
    before, after = reader.read(first), reader.read(second)
    assert [node.id for node, other in zip(after.nodes, before.nodes, strict=True) if node is not other] == ["add"]


def test_rows_keep_a_graph_that_changes_later():
    module = traced()
    before = take(module, REFS)
    graph = module.graph
    relu = next(iter(graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)))
    relu.replace_all_uses_with(relu.args[0])
    graph.erase_node(relu)
    module.recompile()
    x = torch.full((4, 2), -1.0)
    assert torch.equal(executable(before, Constants())(x)[0], torch.relu(x @ WEIGHT + 1))
    assert torch.equal(executable(take(module, REFS, before), Constants())(x)[0], x @ WEIGHT + 1)


def test_an_executable_graph_shares_its_constants():
    module = traced()
    assert executable(take(module, REFS), Constants()).get_buffer("_tensor_constant0") is module._tensor_constant0


def test_a_function_of_inductors_own_cannot_be_run():
    def lowering(x):
        return x

    module = traced()
    assert is_executable(take(module, REFS))
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
        node.target = lowering
    assert not is_executable(take(module, REFS))


def test_a_name_that_is_given_again_is_another_node():
    module = traced()
    reader = SnapshotReader(Constants(), StorageNames())
    first = take(module, REFS)
    (relu,) = module.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    with module.graph.inserting_before(relu):
        other = module.graph.call_function(torch.ops.aten.neg.default, relu.args)
    other.meta.update(relu.meta)
    relu.replace_all_uses_with(other)
    module.graph.erase_node(relu)
    other.name = "relu"
    before = assign_ids(None, reader.read(first))
    after = assign_ids(before, reader.read(take(module, REFS, first)))
    assert [(node.id, node.op) for node in after.nodes[2:]] == [
        ("add", "aten.add.Tensor"),
        ("relu'2", "aten.neg.default"),
    ]


def test_branches_are_blocks_with_names_of_their_own():
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))

    snapshot = read(make_fx(function)(torch.ones(3)))
    (cond,) = (node for node in snapshot.nodes if node.op == "higher_order.cond")
    scopes = [block.scope for block in cond.blocks]
    assert scopes == [f"{cond.id}/true_graph_0/", f"{cond.id}/false_graph_0/"]
    assert [[node.op for node in block.nodes] for block in cond.blocks] == [["aten.sin.default"], ["aten.cos.default"]]
    assert all(node.id.startswith(block.scope) for block in cond.blocks for node in block.nodes)


def test_types_are_written_as_torchscript_does():
    assert type_text(torch.ones(2, 3, dtype=torch.bfloat16)) == "BFloat16(2, 3, strides=[3, 1], device=cpu)"
    assert type_text(torch.ones((), dtype=torch.int64)) == "Long(strides=[], device=cpu)"
    assert type_text((torch.ones(1), None, 3)) == "(Float(1, strides=[1], device=cpu), None, int)"
    assert type_text(torch.eye(2).to_sparse()) == "Float(2, 2, layout=sparse_coo, device=cpu)"


def test_the_users_own_frame_is_the_source():
    own = '  File "/home/me/net.py", line 7, in forward\n    x\n'
    torchs = f'  File "{torch.__path__[0]}/nn/x.py", line 9, in forward\n'
    assert source_ref(own + torchs) == SourceRef("/home/me/net.py", 7)
    assert source_ref(torchs) == SourceRef(f"{torch.__path__[0]}/nn/x.py", 9)
    assert source_ref(None) is None


def test_dynamos_names_are_read_as_paths():
    assert source_path("L['self']._modules['layer1']._modules['0']._parameters['weight']") == (
        "self",
        "layer1.0.weight",
    )
    assert source_path("L['self'].plain") == ("self", "plain")
    assert source_path("L['self'].layer1.0.bn") == ("self", "layer1.0.bn")
    assert source_path("L['xs'][2]") == ("xs", "2")
    assert source_path("something else") == ("", "something else")


def test_the_outermost_modules_are_those_that_no_other_holds():
    inner = torch.nn.Linear(1, 1)
    outer, alone = torch.nn.Sequential(inner), torch.nn.ReLU()
    assert outermost([inner, outer, alone, "no module", outer]) == (outer, alone)


def test_a_node_without_an_operator_has_its_functions_name():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_function(operator.getitem, (x, 0)),))
    (node,) = read(torch.fx.GraphModule(torch.nn.Module(), graph)).nodes
    assert (node.op, node.inputs, node.attributes) == ("operator.getitem", ("x",), (("1", "0"),))
