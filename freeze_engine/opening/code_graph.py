"""Turns Python text that torch wrote of a graph into a snapshot; the text is parsed and never run.

TorchScript files hold their methods as such text, and torch's logs the graphs of a compile. Both are simple Python:
calls, assignments, branches and loops. What the text does not tell, most types among it, stays unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from freeze_engine.errors import FreezerError
from freeze_engine.opening.bounds import MAX_NAME, MAX_TEXT_BYTES, MAX_TOKENS, PartBudget, has_many_tokens
from freeze_engine.opening.variables import Variables
from freeze_engine.process import foreign_code
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, SourceRef, Value

UNKNOWN_TYPE: Final = "?"
UNREAD: Final = "unread"
"""Operator of a statement that is no part of what torch writes; its text is the node's attribute ``code``."""

_MAX_NESTING: Final = 60
_MAX_NUMBER_BITS: Final = 128
_MAX_TYPE: Final = 2_000
_NAMES: Final[Mapping[type[ast.AST], tuple[str, ...]]] = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.keyword: ("arg",),
    ast.FunctionDef: ("name",),
    ast.ClassDef: ("name",),
}


class CodeError(FreezerError):
    """A text is no Python, or nested too deeply."""


def parsed(text: str, where: str) -> ast.Module:
    """Parses a text.

    Args:
        text: Python, as torch writes it.
        where: names the text in messages.

    Raises:
        CodeError: it is too long, no Python, nests too deeply, or has what torch does not write.
    """
    if len(text) > MAX_TEXT_BYTES:
        raise CodeError(f"{where} has {len(text)} characters; up to {MAX_TEXT_BYTES} are read")
    if has_many_tokens(text):
        raise CodeError(f"{where} has more than {MAX_TOKENS} words and signs, which is the most that is read")
    try:
        tree = foreign_code.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CodeError(f"{where} is not the Python that torch writes: {error or type(error).__name__}") from error
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _MAX_NESTING * 3:
            raise CodeError(f"{where} nests more deeply than torch writes it")
        if problem := _strange(node):
            raise CodeError(f"{where} has {problem}, which torch does not write")
        waiting += ((child, depth + 1) for child in ast.iter_child_nodes(node))
    return tree


def _strange(node: ast.AST) -> str | None:
    """Describes what torch never writes and what could not be shown; ``None`` for anything else.

    `ast.unparse` fails for long numbers, and for some f-strings (Python 3.11).
    """
    if isinstance(node, ast.JoinedStr):
        return f"an f-string on line {node.lineno}"
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() > _MAX_NUMBER_BITS:
        return f"a number of {node.value.bit_length()} bits on line {node.lineno}"
    for field in _NAMES.get(type(node), ()):
        name = getattr(node, field)
        if name is not None and len(name) > MAX_NAME:
            return f"a name of {len(name)} characters on line {getattr(node, 'lineno', '?')}"
    return None


def shortened(text: str, most: int = 200) -> str:
    """Returns a text of at most ``most`` characters, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


class GraphBuilder:
    """Collects the nodes of a graph; values have unique names, and equal literals are one constant.

    Attributes:
        nodes: of the block that is being read.
        names: the value that each variable of the text stands for, in the block that is being read.

    Args:
        where: names the text in messages.
        budget: counts the parts of this graph and others.
    """

    def __init__(self, where: str, budget: PartBudget | None = None) -> None:
        self.nodes: list[Node] = []
        self.names = Variables()
        self._where = where
        self._budget = PartBudget() if budget is None else budget
        self.types: dict[str, str] = {}
        self._taken: dict[str, int] = {}
        self._constants: dict[tuple[str, str], str] = {}
        self._first: list[Node] = []
        self._count = 0

    def value(self, name: str, kind: str = UNKNOWN_TYPE) -> Value:
        """Returns a new value, its name made unique."""
        number = self._taken.get(name)
        while number is not None and f"{name}.{number}" in self._taken:
            number += 1
        self._taken[name] = 1 if number is None else number + 1
        unique = name if number is None else f"{name}.{number}"
        if unique != name:
            self._taken[unique] = 1
        self.types[unique] = kind
        return Value(unique, kind)

    def add(
        self,
        op: str,
        inputs: Sequence[str] = (),
        outputs: Sequence[Value] = (),
        attributes: Sequence[tuple[str, str]] = (),
        source: SourceRef | None = None,
        blocks: Sequence[Block] = (),
        constant: Constant | None = None,
    ) -> Node:
        """Adds a node; its id is provisional."""
        self._count += 1
        self._budget.take(1 + len(inputs) + len(outputs), self._where)
        parts = tuple(inputs), tuple(outputs), tuple(attributes), tuple(blocks)
        node = Node(f"#{self._count}", op, *parts, source=source, constant=constant)
        self.nodes.append(node)
        return node

    def literal(self, op: str, text: str, kind: str) -> str:
        """Returns the value of a literal; equal ones share a node, which is at the beginning of the graph."""
        key = (text, kind)
        if key not in self._constants:
            self._count += 1
            self._budget.take(2, self._where)
            value = self.value(str(len(self._constants)), kind)  # no variable of Python is called so
            attributes = () if kind == "NoneType" else (("value", text),)
            self._first.append(Node(f"#{self._count}", op, (), (value,), attributes))
            self._constants[key] = value.name
        return self._constants[key]

    def put_first(self, node: Node) -> None:
        """Adds a node to the beginning of the graph, where constants stand."""
        self._budget.take(1 + len(node.outputs), self._where)
        self._first.append(node)

    def block(self, read: Iterator[None], inputs: Sequence[Value] = ()) -> tuple[Block, dict[str, str]]:
        """Reads a nested block.

        Args:
            read: reads its statements when it is exhausted.
            inputs: values that the block receives.

        Returns:
            The block, without outputs, and the variables that it assigned.
        """
        nodes, self.nodes = self.nodes, []
        self.names.begin()
        for _ in read:
            pass
        block = Block(tuple(inputs), tuple(self.nodes), ())
        self.nodes = nodes
        return block, self.names.end()

    def snapshot(self, inputs: Sequence[Value], outputs: Sequence[str]) -> GraphSnapshot:
        """Returns the graph, its nodes with their ids."""
        nodes = tuple(map(_Identify(), (*self._first, *self.nodes)))
        return GraphSnapshot(tuple(inputs), nodes, tuple(outputs))


class _Identify:
    """Names nodes as recordings do: after the first value that they define, else by operator and number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, node: Node) -> Node:
        return Node(
            id=self._id(node),
            op=node.op,
            inputs=node.inputs,
            outputs=node.outputs,
            attributes=node.attributes,
            blocks=tuple(
                Block(block.inputs, tuple(map(self, block.nodes)), block.outputs, block.scope) for block in node.blocks
            ),
            source=node.source,
            constant=node.constant,
        )

    def _id(self, node: Node) -> str:
        if node.outputs:
            return node.outputs[0].name
        number = self._numbers.get(node.op, 0)
        self._numbers[node.op] = number + 1
        return f"{node.op}#{number}"


def annotation_text(annotation: ast.expr | None) -> str:
    """Returns the type that an annotation names, torch's words where they are quoted."""
    if annotation is None:
        return UNKNOWN_TYPE
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return shortened(annotation.value, _MAX_TYPE)
    return shortened(ast.unparse(annotation), _MAX_TYPE)


def dotted_name(expression: ast.expr) -> str | None:
    """Returns ``torch.ops.aten.mm`` for such an expression, ``None`` for any other."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return ".".join((expression.id, *reversed(parts))) if isinstance(expression, ast.Name) else None


def literal_kind(expression: ast.expr, known: Mapping[str, str]) -> str | None:
    """Returns torch's type of a literal, also of a list of literals; ``None`` if it is none.

    Args:
        expression: to look at.
        known: words that stand for numbers (``inf``), with their types.
    """
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
        inner = literal_kind(expression.operand, known)
        return inner if inner in ("int", "float") else None
    if isinstance(expression, ast.Constant):
        return "NoneType" if expression.value is None else type(expression.value).__name__
    if isinstance(expression, ast.Name):
        return known.get(expression.id)
    if isinstance(expression, ast.List) and expression.elts:
        kinds = {literal_kind(each, known) for each in expression.elts}
        (first, *rest) = kinds
        return f"{first}[]" if not rest and first in ("int", "float", "bool", "str") else None
    return None
