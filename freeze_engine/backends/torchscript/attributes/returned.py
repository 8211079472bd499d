"""Finds methods that return a module: torch keeps that module whole, and every other module of its class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from freeze_engine.backends.torchscript.attributes.advice_texts import text
from freeze_engine.backends.torchscript.attributes.verdicts import Cause
from freeze_engine.backends.torchscript.attributes.writes import RULES, MethodRecord
from freeze_engine.trace import Evidence, GraphSnapshot, Reason


class Returned:
    """The modules that methods return. torch keeps every module whole that has the class of a returned one.

    Args:
        records: the frozen methods.
    """

    def __init__(self, records: Sequence[MethodRecord]) -> None:
        #: Class of the module that was frozen.
        self.own_type = ""
        self._found: list[tuple[MethodRecord, str, str | None]] = []
        for record in records:
            graph = record.final.graph
            paths = {access.value: access.path for access in record.accesses(graph)}
            types = value_types(graph)
            self._found += [(record, types[name], paths.get(name)) for name in graph.outputs if name in types]
            if not record.self_path and graph.inputs:
                self.own_type = graph.inputs[0].type

    def like(self, kind: str) -> Iterator[tuple[MethodRecord, str | None]]:
        """Yields the methods that return what may be a module of a class, each with the path of what it returns."""
        yield from ((record, path) for record, returned, path in self._found if returned in (kind, "Any"))


def returned_cause(record: MethodRecord, returned: str | None, path: str) -> Cause:
    """Returns the cause by which a method that returns a module keeps another one.

    Args:
        record: of the method.
        returned: path of the module, ``None`` where torch does not know which one it is.
        path: of the module that torch keeps whole, empty for the one that was frozen.
    """
    method, reason = record.method, "module_preserved"
    if returned and returned == path:
        fact = f"{method} returns the submodule {path!r}, so torch keeps it whole"
        remedy = text("not_returned", path=path, method=method)
    elif returned and path:
        fact = f"{method} returns the submodule {returned!r}, so torch keeps {path!r}, of the same class, whole"
        remedy = text("not_returned_of_class", path=path, other=returned, method=method)
        reason = "shared_class"
    else:
        what = repr(path) if path else "the module"
        fact = f"{method} returns what may be any module, as far as torch knows, so torch keeps {what} whole"
        remedy = text("no_any", method=method)
    evidence = Evidence(f"{fact} ({RULES})", method, record.final.index)
    return Cause(cast(Reason, reason), (evidence,), None, "", remedy)


def value_types(graph: GraphSnapshot) -> dict[str, str]:
    """Returns the type of each value of a graph, by name."""
    types = {value.name: value.type for node in graph.walk() for value in node.outputs}
    types.update((value.name, value.type) for node in graph.walk() for block in node.blocks for value in block.inputs)
    types.update((value.name, value.type) for value in graph.inputs)
    return types
