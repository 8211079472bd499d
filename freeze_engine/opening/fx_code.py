"""Reads an FX graph from the Python text that torch logs of it (``GraphModule.print_readable``, torch 2.13)."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.backends.common.source_text import merged_lines
from freeze_engine.opening.bounds import PartBudget
from freeze_engine.opening.code_graph import (
    UNKNOWN_TYPE,
    UNREAD,
    CodeError,
    GraphBuilder,
    annotation_text,
    dotted_name,
    parsed,
    shortened,
)
from freeze_engine.trace import Constant, GraphSnapshot, SourceLines, SourceRef

_CLASS: Final = re.compile(r"^class (<lambda>|[\w.<>]+)\(", re.MULTILINE)
_PLACE: Final = re.compile(r"\s*# File: (?P<file>.+?):(?P<line>\d{1,9}) in \S+(, code: (?P<code>.*))?$")
_NO_PLACE: Final = re.compile(r"\s*# No stacktrace")
_TENSOR: Final = re.compile(
    r"(?P<dtype>[a-z]\w{1,6})\[(?P<sizes>(?:\d{1,18}(?:, ?(?=\d)|(?=\]))){0,64})\](\[[^\]]*\])?(?P<device>\w[\w:]*)?"
)
_DTYPES: Final[Mapping[str, tuple[str, int]]] = {
    "f64": ("float64", 8),
    "f32": ("float32", 4),
    "f16": ("float16", 2),
    "bf16": ("bfloat16", 2),
    "i64": ("int64", 8),
    "i32": ("int32", 4),
    "i16": ("int16", 2),
    "i8": ("int8", 1),
    "u8": ("uint8", 1),
    "b8": ("bool", 1),
}
_FROZEN: Final = "_frozen_param"
"""Begin of the names that Inductor's freezing gives to constants."""

_OPERATORS: Final[Mapping[str, str]] = {
    "Add": "operator.add",
    "Sub": "operator.sub",
    "Mult": "operator.mul",
    "Div": "operator.truediv",
    "FloorDiv": "operator.floordiv",
    "Mod": "operator.mod",
    "Pow": "operator.pow",
    "MatMult": "operator.matmul",
    "BitAnd": "operator.and_",
    "BitOr": "operator.or_",
    "USub": "operator.neg",
    "Not": "operator.not_",
    "Invert": "operator.invert",
    "Eq": "operator.eq",
    "NotEq": "operator.ne",
    "Lt": "operator.lt",
    "LtE": "operator.le",
    "Gt": "operator.gt",
    "GtE": "operator.ge",
}


@dataclass(frozen=True, slots=True)
class FxText:
    """A graph that was read from text.

    Attributes:
        graph: the graph.
        sources: the lines of the user's source that the text quotes.
    """

    graph: GraphSnapshot
    sources: tuple[SourceLines, ...]


def is_fx_code(text: str) -> bool:
    """Returns whether a text begins as the code of a graph does."""
    return _CLASS.match(text.lstrip()) is not None


def fx_graph(text: str, where: str, budget: PartBudget | None = None) -> FxText:
    """Reads a graph.

    Args:
        text: a class with a ``forward``.
        where: names the text in messages.
        budget: counts the parts of this graph and others.

    Raises:
        CodeError: it is something else.
        freeze_engine.opening.bounds.TooMuchError: the graph is larger than what is left of the budget.
    """
    tree = parsed(_CLASS.sub("class Graph(", text), where)
    owner = next((each for each in tree.body if isinstance(each, ast.ClassDef)), None)
    methods = (each for each in owner.body if isinstance(each, ast.FunctionDef)) if owner is not None else iter(())
    method = next((each for each in methods if each.name == "forward"), None)
    if method is None:
        raise CodeError(f"{where} has no graph")
    places = _places(text)
    graph = _Forward(places, GraphBuilder(where, budget)).read(method)
    lines = (SourceLines(place.file, place.line, (code,)) for place, code in places.values() if code)
    return FxText(graph, tuple(merged_lines(lines)))


def _places(text: str) -> dict[int, tuple[SourceRef, str]]:
    """Returns by line of the text the place in the user's source that the comment above it names."""
    found: dict[int, tuple[SourceRef, str]] = {}
    current: tuple[SourceRef, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := _PLACE.match(line):
            current = SourceRef(match["file"], max(int(match["line"]), 1)), (match["code"] or "").strip()
        elif _NO_PLACE.match(line):
            current = None
        elif current is not None:
            found[number] = current
    return found


class _Forward:
    """Reads the ``forward`` of a graph."""

    def __init__(self, places: Mapping[int, tuple[SourceRef, str]], graph: GraphBuilder) -> None:
        self._places = places
        self._graph = graph
        self._self = "self"

    def read(self, method: ast.FunctionDef) -> GraphSnapshot:
        graph = self._graph
        arguments = [*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs]
        self._self = arguments[0].arg if arguments else "self"
        inputs = []
        for argument in arguments[1:]:
            value = graph.value(argument.arg, annotation_text(argument.annotation))
            graph.names[argument.arg] = value.name
            inputs.append(value)
        outputs: list[str] = []
        for statement in method.body:
            if isinstance(statement, ast.Return):
                outputs = list(dict.fromkeys(self._read_names(statement.value)))
            else:
                self._statement(statement)
        return graph.snapshot(inputs, outputs)

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            if isinstance(statement.value, ast.Constant) and statement.value.value is None:
                return  # x = None: the value is not read again
            self._assign(statement.targets[0].id, statement.value, UNKNOWN_TYPE, statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            kind = annotation_text(statement.annotation)
            self._assign(statement.target.id, statement.value, kind, statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self._node("_", statement.value, UNKNOWN_TYPE, statement)
        elif not (isinstance(statement, ast.Pass) or _is_text(statement)):
            code = [("code", shortened(ast.unparse(statement)))]
            self._graph.add(UNREAD, list(self._read_names(statement)), (), code, self._source(statement))

    def _assign(self, name: str, value: ast.expr, kind: str, statement: ast.stmt) -> None:
        if isinstance(value, ast.Name) and value.id in self._graph.names:
            self._graph.names[name] = self._graph.names[value.id]
        else:
            self._node(name, value, kind, statement)

    def _node(self, name: str, expression: ast.expr, kind: str, statement: ast.stmt) -> None:
        op, parts, attributes = self._described(expression)
        inputs = [each for part in parts for each in self._read_names(part)]
        value = self._graph.value(name, kind)
        constant = _constant(kind) if op == "get_attr" and attributes[0][1].startswith(_FROZEN) else None
        source = self._source(statement)
        self._graph.add(op, inputs, [value], attributes, source, constant=constant)
        self._graph.names[name] = value.name

    def _described(self, expression: ast.expr) -> tuple[str, Sequence[ast.expr], list[tuple[str, str]]]:
        """Returns the operator of an expression, the parts that it reads, and its other arguments as text."""
        if isinstance(expression, ast.Call):
            return self._called(expression)
        if isinstance(expression, ast.Attribute) and self._is_of_self(expression):
            return "get_attr", (), [("target", (dotted_name(expression) or "").partition(".")[2])]
        if isinstance(expression, ast.Subscript):
            return "operator.getitem", (expression,), [("1", ast.unparse(expression.slice))]
        operator: ast.AST | None = None
        if isinstance(expression, (ast.UnaryOp, ast.BinOp)):
            operator = expression.op
        elif isinstance(expression, ast.Compare):
            operator = expression.ops[0]
        op = _OPERATORS.get(type(operator).__name__, UNREAD)
        return op, (expression,), [("code", shortened(ast.unparse(expression)))]

    def _called(self, call: ast.Call) -> tuple[str, Sequence[ast.expr], list[tuple[str, str]]]:
        given: list[ast.expr] = [*call.args, *(each.value for each in call.keywords)]
        named = [*map(str, range(len(call.args))), *(each.arg or "**" for each in call.keywords)]
        attributes = [
            (key, shortened(ast.unparse(part)))
            for key, part in zip(named, given, strict=True)
            if not (isinstance(part, ast.Name) and part.id in self._graph.names)
        ]
        function = call.func
        if isinstance(function, ast.Attribute) and self._is_of_self(function):
            target = (dotted_name(function) or "").partition(".")[2]
            return "call_module", given, [("target", target), *attributes]
        if isinstance(function, ast.Attribute) and next(self._read_names(function.value), None) is not None:
            return function.attr, [function.value, *given], attributes
        name = dotted_name(function) or shortened(ast.unparse(function))
        return name.removeprefix("torch.ops."), given, attributes

    def _is_of_self(self, expression: ast.Attribute) -> bool:
        return (dotted_name(expression) or "").partition(".")[0] == self._self

    def _read_names(self, part: ast.AST | None) -> Iterator[str]:
        """Yields the values that a part of the text reads, in order."""
        if part is None:
            return
        if isinstance(part, ast.Name):
            if part.id in self._graph.names:
                yield self._graph.names[part.id]
            return
        for child in ast.iter_child_nodes(part):
            yield from self._read_names(child)

    def _source(self, statement: ast.stmt) -> SourceRef | None:
        found = self._places.get(statement.lineno)
        return None if found is None else found[0]


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _constant(kind: str) -> Constant | None:
    """Returns the facts that a constant's type gives; its values are not in a log."""
    match = _TENSOR.fullmatch(kind)
    known = _DTYPES.get(match["dtype"]) if match is not None else None
    if match is None or known is None:
        return None
    sizes = tuple(int(size) for size in match["sizes"].split(",") if size.strip())
    nbytes = math.prod(sizes) * known[1]
    return Constant(sizes, known[0], match["device"] or "unknown", nbytes) if nbytes < 2**62 else None
