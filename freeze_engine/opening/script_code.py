"""Reads a method's graph from the code of a TorchScript file.

torch writes that code from the graph (``torch/csrc/jit/serialization/python_print.cpp``, torch 2.13), so a call is a
node again, and an assignment in both branches of an ``if`` is an output of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from freeze_engine.opening.bounds import PartBudget
from freeze_engine.opening.code_graph import (
    UNKNOWN_TYPE,
    UNREAD,
    GraphBuilder,
    annotation_text,
    dotted_name,
    literal_kind,
    shortened,
)
from freeze_engine.opening.operator_arguments import lacks_arguments, omitted_defaults
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, Value

_WORDS: Final = {"inf": "float", "nan": "float"}
_CASTS: Final = {"int": "aten::Int", "float": "aten::Float", "bool": "aten::Bool", "str": "aten::str"}
_TYPED: Final = {
    "annotate": None,
    "unchecked_cast": "prim::unchecked_cast",
    "uninitialized": "prim::Uninitialized",
    "isinstance": "prim::isinstance",
}
_OPERATORS: Final = {
    "Add": "aten::add",
    "Sub": "aten::sub",
    "Mult": "aten::mul",
    "Div": "aten::div",
    "FloorDiv": "aten::floordiv",
    "Mod": "aten::remainder",
    "Pow": "aten::pow",
    "And": "aten::__and__",
    "Or": "aten::__or__",
    "Not": "aten::__not__",
    "USub": "aten::neg",
    "Eq": "aten::eq",
    "NotEq": "aten::ne",
    "Lt": "aten::lt",
    "LtE": "aten::le",
    "Gt": "aten::gt",
    "GtE": "aten::ge",
    "Is": "aten::__is__",
    "IsNot": "aten::__isnot__",
    "In": "aten::__contains__",
}
_CONSTANTS: Final = "CONSTANTS"


def method_graph(
    method: ast.FunctionDef, constants: Mapping[str, Constant | str], budget: PartBudget | None = None
) -> GraphSnapshot:
    """Returns the graph of a method.

    Args:
        method: its definition.
        constants: of the file by name (``c3``): the summary of a tensor, or the text of anything else.
        budget: counts the parts of this graph and others.

    Raises:
        freeze_engine.opening.bounds.TooMuchError: the graph is larger than what is left of the budget.
    """
    return _Method(constants, GraphBuilder(f"the method {shortened(method.name)}", budget)).read(method)


class _Method:
    """Reads one method."""

    def __init__(self, constants: Mapping[str, Constant | str], graph: GraphBuilder) -> None:
        self._constants = constants
        self._graph = graph
        self._held: dict[str, str] = {}
        self._functions: dict[str, str] = {}

    def read(self, method: ast.FunctionDef) -> GraphSnapshot:
        graph = self._graph
        inputs = []
        for argument in (*method.args.args, *method.args.kwonlyargs):
            value = graph.value(argument.arg, annotation_text(argument.annotation))
            graph.names[argument.arg] = value.name
            inputs.append(value)
        outputs: list[str] = []
        for statement in method.body:
            if isinstance(statement, ast.Return):
                outputs = [] if statement.value is None else [self._value(statement.value)]
            else:
                self._statement(statement)
        return graph.snapshot(inputs, outputs)

    # -- statements

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Pass):
            return
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            self._assign(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, statement.value, annotation_text(statement.annotation))
        elif isinstance(statement, ast.Expr):
            self._call_of(statement.value, [])
        elif isinstance(statement, ast.If):
            self._branch(statement)
        elif isinstance(statement, (ast.For, ast.While)):
            self._loop(statement)
        elif isinstance(statement, ast.With):
            self._within(statement)
        elif isinstance(statement, ast.Assert):
            self._graph.add("prim::Assert", [self._value(statement.test)])
        else:
            self._unread(statement)

    def _statements(self, statements: Sequence[ast.stmt]) -> Iterator[None]:
        for statement in statements:
            self._statement(statement)
            yield

    def _assign(self, target: ast.expr, value: ast.expr, kind: str = UNKNOWN_TYPE) -> None:
        if isinstance(target, ast.Attribute):
            name = ("name", f'"{target.attr}"')
            self._graph.add("prim::SetAttr", [self._value(target.value), self._value(value)], attributes=[name])
        elif isinstance(target, ast.Name):
            self._name(target.id, value, kind)
        elif isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(each, ast.Name) for each in target.elts):
            names = [each.id for each in target.elts if isinstance(each, ast.Name)]
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(names):
                found = [self._value(each) for each in value.elts]
                self._graph.names.update(zip(names, found, strict=True))
            elif isinstance(value, ast.Call) and not isinstance(target, ast.List):
                self._call_of(value, names)
            else:
                op = "prim::ListUnpack" if isinstance(target, ast.List) else "prim::TupleUnpack"
                self._define(op, [self._value(value)], names)
        else:
            self._graph.add(UNREAD, attributes=[("code", shortened(f"{ast.unparse(target)} = {ast.unparse(value)}"))])

    def _name(self, name: str, value: ast.expr, kind: str) -> None:
        dotted = dotted_name(value)
        if dotted is not None and dotted.startswith("__torch__."):
            self._functions[name] = dotted
        elif isinstance(value, (ast.Name, ast.Constant)) or (dotted is not None and self._is_constant(value)):
            self._graph.names[name] = self._value(value)
        else:
            self._graph.names[name] = self._value(value, name, kind)

    def _branch(self, statement: ast.If) -> None:
        condition = self._value(statement.test)
        then, first = self._graph.block(self._statements(statement.body))
        other, second = self._graph.block(self._statements(statement.orelse))
        both = [name for name in first if name in second]
        blocks = [_yielding(then, first, both), _yielding(other, second, both)]
        self._define("prim::If", [condition], both, blocks)

    def _loop(self, statement: ast.For | ast.While) -> None:
        graph = self._graph
        inputs: list[str] = []
        own: list[Value] = []
        carried = {name: graph.names[name] for name in _assigned(statement.body) if name in graph.names}
        graph.names.begin()
        if isinstance(statement, ast.For):
            inputs.append(self._value(_trips(statement.iter)))
            if isinstance(statement.target, ast.Name):
                own.append(graph.value(statement.target.id, "int"))
                graph.names[statement.target.id] = own[0].name
        else:
            inputs.append(self._value(statement.test))
        for name, before in carried.items():
            inputs.append(before)
            own.append(graph.value(name))
            graph.names[name] = own[-1].name
        body, assigned = graph.block(self._statements(statement.body), own)
        yielded = {name: assigned.get(name, graph.names[name]) for name in carried}
        graph.names.end()
        self._define("prim::Loop", inputs, tuple(carried), [_yielding(body, yielded, tuple(carried))])

    def _within(self, statement: ast.With) -> None:
        for item in statement.items:
            self._graph.add("prim::Enter", [self._value(item.context_expr)])
        for each in statement.body:
            self._statement(each)
        self._graph.add("prim::Exit")

    def _unread(self, statement: ast.stmt) -> None:
        self._graph.add(UNREAD, attributes=[("code", shortened(ast.unparse(statement)))])

    def _define(self, op: str, inputs: Sequence[str], names: Sequence[str], blocks: Sequence[Block] = ()) -> None:
        values = [self._graph.value(name) for name in names]
        self._graph.add(op, inputs, values, blocks=blocks)
        self._graph.names.update((name, value.name) for name, value in zip(names, values, strict=True))

    # -- expressions

    def _value(self, expression: ast.expr, name: str = "", kind: str = UNKNOWN_TYPE) -> str:
        """Returns the name of an expression's value, after adding the nodes that make it."""
        graph = self._graph
        found = literal_kind(expression, _WORDS)
        if found is not None and not (isinstance(expression, ast.Name) and expression.id in graph.names):
            return graph.literal("prim::Constant", _literal_text(expression), found)
        if isinstance(expression, ast.Name):
            known = graph.names.get(expression.id)
            return known if known is not None else self._unknown(expression)
        if isinstance(expression, ast.Attribute):
            return self._attribute(expression, name)
        if isinstance(expression, ast.Call):
            return self._call(expression, name, kind)
        return self._built(expression, name)

    def _built(self, expression: ast.expr, name: str) -> str:
        parts: Sequence[ast.expr | None]
        if isinstance(expression, ast.List):
            op, parts = "prim::ListConstruct", expression.elts
        elif isinstance(expression, ast.Tuple):
            op, parts = "prim::TupleConstruct", expression.elts
        elif isinstance(expression, ast.Dict):
            pairs = zip(expression.keys, expression.values, strict=True)
            op, parts = "prim::DictConstruct", [each for pair in pairs for each in pair]
        elif isinstance(expression, ast.Subscript):
            op, parts = "aten::__getitem__", [expression.value, expression.slice]
        elif isinstance(expression, ast.UnaryOp):
            op, parts = _OPERATORS.get(type(expression.op).__name__, UNREAD), [expression.operand]
        elif isinstance(expression, ast.BinOp):
            op, parts = _OPERATORS.get(type(expression.op).__name__, UNREAD), [expression.left, expression.right]
        elif isinstance(expression, ast.BoolOp):
            op, parts = _OPERATORS.get(type(expression.op).__name__, UNREAD), expression.values
        elif isinstance(expression, ast.Compare) and len(expression.ops) == 1:
            op = _OPERATORS.get(type(expression.ops[0]).__name__, UNREAD)
            parts = [expression.left, *expression.comparators]
        else:
            return self._unknown(expression)
        return self._made(op, [self._value(part) for part in parts if part is not None], name)

    def _attribute(self, expression: ast.Attribute, name: str) -> str:
        if self._is_constant(expression):
            return self._tensor(expression.attr)
        dotted = dotted_name(expression)
        if dotted is not None and dotted.partition(".")[0] not in self._graph.names:
            return self._unknown(expression)
        read = ("name", f'"{expression.attr}"')
        return self._made("prim::GetAttr", [self._value(expression.value)], name or expression.attr, [read])

    @staticmethod
    def _is_constant(expression: ast.expr) -> bool:
        return (
            isinstance(expression, ast.Attribute)
            and isinstance(expression.value, ast.Name)
            and expression.value.id == _CONSTANTS
        )

    def _tensor(self, name: str) -> str:
        """Returns the value of a constant of the file; each is one node."""
        if name not in self._held:
            known = self._constants.get(name)
            summary = known if isinstance(known, Constant) else None
            attributes = () if summary is not None else (("value", known if isinstance(known, str) else "unknown"),)
            value = self._graph.value(name, _constant_type(summary))
            node = Node(value.name, "prim::Constant", (), (value,), attributes, constant=summary)
            self._graph.put_first(node)
            self._held[name] = value.name
        return self._held[name]

    def _call(self, call: ast.Call, name: str, kind: str) -> str:
        op = self._operator(call)
        if op is None:  # annotate(T, x) is x
            return self._value(call.args[-1], name)
        if op in ("prim::unchecked_cast", "prim::Uninitialized", "prim::isinstance") and call.args:
            kind = "bool" if op == "prim::isinstance" else annotation_text(call.args[0])
        return self._node(call, op, [name or "_"], kind)[0]

    def _call_of(self, expression: ast.expr, names: Sequence[str]) -> None:
        """Adds the node of a call that gives several values, or none."""
        op = self._operator(expression) if isinstance(expression, ast.Call) else None
        if op is None or not isinstance(expression, ast.Call):
            self._value(expression)
            return
        self._graph.names.update(zip(names, self._node(expression, op, names), strict=True))

    def _node(self, call: ast.Call, op: str, names: Sequence[str], kind: str = UNKNOWN_TYPE) -> list[str]:
        """Adds the node of a call after those of its arguments, and returns the values that it gives."""
        if lacks_arguments(op, len(call.args) + len(call.keywords)):
            return self._unread_values(call, names)
        given: list[ast.expr] = list(call.args)
        attributes: list[tuple[str, str]] = []
        if op in ("prim::CallMethod", "prim::CallFunction"):
            function = call.func
            attributes.append(("name", f'"{_called(function, self._functions)}"'))
            if isinstance(function, ast.Attribute) and op == "prim::CallMethod":
                given.insert(0, function.value)
        elif op in _TYPED.values():
            given = given[1:] if op == "prim::unchecked_cast" else given[:1] if op == "prim::isinstance" else []
        inputs = [self._value(each) for each in given]
        keywords = [(each.arg or "**", self._value(each.value)) for each in call.keywords]
        if not keywords:
            inputs += [
                self._graph.literal("prim::Constant", text, default)
                for text, default in omitted_defaults(op, len(inputs))
            ]
        attributes += [(key, f"%{value}") for key, value in keywords]
        outputs = [self._graph.value(name, kind) for name in names]
        self._graph.add(op, [*inputs, *(value for _, value in keywords)], outputs, attributes)
        return [value.name for value in outputs]

    def _operator(self, call: ast.Call) -> str | None:
        """Returns the operator of a call, ``None`` for an annotation."""
        function = call.func
        if isinstance(function, ast.Name):
            if function.id == "annotate" and len(call.args) == 2:
                return None
            if function.id in _TYPED:
                return _TYPED[function.id] or UNREAD
            return _CASTS.get(function.id, "prim::CallFunction")
        dotted = dotted_name(function)
        if dotted is None or not isinstance(function, ast.Attribute):
            return "prim::CallMethod"
        first, _, rest = dotted.partition(".")
        if first in self._graph.names:
            return "prim::CallMethod"
        if first == "torch":
            return f"aten::{rest.rpartition('.')[2]}"
        if first == "ops":
            return rest.replace(".", "::", 1)
        return "prim::CallFunction"

    def _made(self, op: str, inputs: Sequence[str], name: str, attributes: Sequence[tuple[str, str]] = ()) -> str:
        value = self._graph.value(name or "_")
        self._graph.add(op, inputs, [value], attributes)
        return value.name

    def _unknown(self, expression: ast.expr) -> str:
        return self._unread_values(expression, ["_"])[0]

    def _unread_values(self, expression: ast.expr, names: Sequence[str]) -> list[str]:
        values = [self._graph.value(name) for name in names]
        self._graph.add(UNREAD, (), values, [("code", shortened(ast.unparse(expression)))])
        return [value.name for value in values]


def _constant_type(summary: Constant | None) -> str:
    if summary is None:
        return UNKNOWN_TYPE
    return "Tensor" if summary.is_tensor else summary.dtype


def _trips(iterated: ast.expr) -> ast.expr:
    """Returns the number of rounds of ``range(n)``, and anything else that is iterated as it is."""
    is_range = isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range"
    return iterated.args[0] if isinstance(iterated, ast.Call) and is_range and len(iterated.args) == 1 else iterated


def _literal_text(expression: ast.expr) -> str:
    """Returns a literal as torch prints it in a graph."""
    if isinstance(expression, ast.Constant) and isinstance(expression.value, (bool, str)):
        return f'"{expression.value}"' if isinstance(expression.value, str) else str(int(expression.value))
    return ast.unparse(expression)


def _called(function: ast.expr, functions: Mapping[str, str]) -> str:
    if isinstance(function, ast.Name):
        return functions.get(function.id, function.id)
    if isinstance(function, ast.Attribute) and not (dotted_name(function) or "").startswith("__torch__."):
        return function.attr
    return dotted_name(function) or shortened(ast.unparse(function))


def _yielding(block: Block, assigned: Mapping[str, str], names: Sequence[str]) -> Block:
    return Block(block.inputs, block.nodes, tuple(assigned[name] for name in names), block.scope)


def _assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Returns the variables that statements assign, nested ones included, in order."""
    names: dict[str, None] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = None
    return list(names)
