"""Builds nodes by hand, and the graphs of the small model of `tests.builders.small_trace`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, SourceRef, Value

HOSTILE = "</script><script>alert(1)</script>"
"""A string constant that breaks out of a page that does not escape it."""

FILE = "/home/zoë/model.py"
LINES = (
    "class Net(nn.Module):",
    "    def forward(self, x):",
    "        seen = self.count.view(-1)",
    "        seen += 1",
    "        x = self.block(x) + seen",
    "        if self.training:",
    "            x = self.noise(x)",
    "        for _ in range(2):",
    "            x = x.relu()",
    "        return torch.jit.wait(torch.jit.fork(negative, x))",
    "    @torch.jit.export",
    "    def describe(self):  # « naïve » <b>&amp;</b> 標籤",
    f'        return "{HOSTILE}" + self.label',
)
TENSOR = "Float(2, 1, 3, 3, strides=[9, 9, 3, 1], requires_grad=0, device=cpu)"


def node(output: str, op: str, inputs: str = "", type: str = "Tensor", **fields: Any) -> Node:
    """Returns a node with one output of the same name (none if ``output`` is empty; then give ``id``).

    Args:
        output: name of the value, and id of the node.
        op: the operator.
        inputs: names, separated by blanks.
        type: of the output.
        **fields: any other field of `Node`; ``line`` stands for a line of the small model's source.
    """
    if "line" in fields:
        fields["source"] = SourceRef(FILE, fields.pop("line"), 8)
    outputs = (Value(output, type),) if output else ()
    return Node(**{"id": output, "op": op, "inputs": tuple(inputs.split()), "outputs": outputs, **fields})


def attribute(output: str, name: str, owner: str = "self", type: str = "Tensor", **fields: Any) -> Node:
    """Returns the ``prim::GetAttr`` node that reads ``name`` of the module ``owner``."""
    return node(output, "prim::GetAttr", owner, type, attributes=(("name", f'"{name}"'),), **fields)


def constant(output: str, text: str, type: str = "int", **fields: Any) -> Node:
    """Returns a ``prim::Constant`` node whose value torch prints as ``text``."""
    return node(output, "prim::Constant", "", type, attributes=(("value", text),), **fields)


def tensor(output: str, *shape: int, digest: str = "0123456789abcdef", **fields: Any) -> Node:
    """Returns a ``prim::Constant`` node that holds a float32 tensor of ``shape``."""
    elements = 1
    for size in shape:
        elements *= size
    kept = Constant(shape, "float32", "cpu", 4 * elements, f"storage:{output}", digest, -0.5, 0.75, 0.125, 0.1)
    return constant(output, "<Tensor>", f"Float({', '.join(map(str, shape))}, device=cpu)", constant=kept, **fields)


_SELF = Value("self", "__torch__.Net")
_X = Value("x", "Tensor")
_LITERALS = (constant("one", "1"), constant("minus", "-1"), constant("two", "2"), constant("yes", "1", "bool"))
_COUNT = (
    attribute("count", "count", line=3),
    node("shape", "prim::ListConstruct", "minus", "int[]", line=3),
    node("seen", "aten::view", "count shape", line=3),
    node("seen.1", "aten::add_", "seen one one", line=4),
)
_BLOCK = (
    attribute("block", "block", type="__torch__.Block", line=5),
    attribute("conv", "conv", "block", "__torch__.torch.nn.Conv2d", line=5),
    attribute("weight", "weight", "conv", TENSOR, module="block.conv", line=5),
    attribute("bn", "bn", "block", "__torch__.torch.nn.BatchNorm2d", line=5),
    attribute("scale", "weight", "bn", module="block.bn", line=5),
)
_CONV = node("y", "aten::conv2d", "x weight", module="block.conv", line=5)
_NORM = node("normed", "aten::batch_norm", "y scale", module="block.bn", line=5)
_SUM = node("sum", "aten::add", "normed seen.1 one", line=5)
_TRAINING = attribute("training", "training", type="bool", line=6)
_BRANCH = node(
    "noisy",
    "prim::If",
    "training",
    blocks=(
        Block((), (node("noise", "aten::rand_like", "sum", module="noise", line=7),), ("noise",)),
        Block((), (), ("sum",)),
    ),
    line=6,
)


def _loop(start: str) -> Node:
    body = Block((Value("i", "int"), Value("carried", "Tensor")), (node("relu", "aten::relu", "carried", line=9),), ())
    return node("looped", "prim::Loop", f"two yes {start}", blocks=(replace(body, outputs=("yes", "relu")),), line=8)


_FORK = (
    node(
        "future",
        "prim::fork",
        "looped",
        "Future(Tensor)",
        attributes=(("Subgraph", "<Graph>"),),
        blocks=(
            Block(
                (Value("future/input", "Tensor"),),
                (node("future/negative", "aten::neg", "future/input", line=10),),
                ("future/negative",),
                "future/",
            ),
        ),
        line=10,
    ),
    node("result", "aten::wait", "future", line=10),
)


def _forward(*nodes: Node) -> GraphSnapshot:
    return GraphSnapshot((_SELF, _X), (*_LITERALS, *nodes), ("result",))


def forward_graphs() -> dict[str, GraphSnapshot]:
    """Returns the graphs of ``forward``, by the name of the pass that results in them."""
    called = node("normed", "prim::CallMethod", "block x", attributes=(("name", '"forward"'),), line=5)
    weight = tensor("self.block.conv.weight", 2, 1, 3, 3, digest="1111222233334444")
    scale = tensor("self.block.bn.weight", 2, digest="5555666677778888")
    conv = replace(_CONV, inputs=("x", "self.block.conv.weight"))
    norm = replace(_NORM, inputs=("y", "self.block.bn.weight"))
    training = constant("self.training", "0", "bool")
    branch = replace(_BRANCH, inputs=("self.training",))
    tail = (_loop("sum"), *_FORK)
    fused = (tensor("weight_fused_bn", 2, 1, 3, 3), tensor("bias_fused_bn", 2))
    folded = replace(_CONV, inputs=("x", "weight_fused_bn", "bias_fused_bn"))
    added = replace(_SUM, inputs=("y", "seen.1", "one"))
    return {
        "input": _forward(*_COUNT, _BLOCK[0], called, _SUM, _TRAINING, _BRANCH, _loop("noisy"), *_FORK),
        "Inline": _forward(*_COUNT, *_BLOCK, _CONV, _NORM, _SUM, _TRAINING, _BRANCH, _loop("noisy"), *_FORK),
        "AttributePropagation": _forward(
            weight, scale, training, *_COUNT, conv, norm, _SUM, branch, _loop("noisy"), *_FORK
        ),
        "ConstantPropagation": _forward(weight, scale, *_COUNT, conv, norm, _SUM, *tail),
        "FoldFrozenConvBatchnorm": _forward(*fused, *_COUNT, folded, added, *tail),
    }


def describe_graphs() -> dict[str, GraphSnapshot]:
    """Returns the graphs of ``describe``, by the name of the pass that results in them."""
    hostile = constant("hostile", f'"{HOSTILE}"', "str", line=13)
    label = attribute("label", "label", type="str", line=13)
    frozen = constant("self.label", '"naïve 標籤 🧊 \\n\\u0000"', "str")
    said = node("said", "aten::add", "hostile label", "str", line=13)
    printed = node("", "prim::Print", "hostile", id="prim::Print@0", line=13)
    return {
        "input": GraphSnapshot((_SELF,), (hostile, label, printed, said), ("said",)),
        "AttributePropagation": GraphSnapshot(
            (_SELF,), (hostile, frozen, printed, replace(said, inputs=("hostile", "self.label"))), ("said",)
        ),
    }
