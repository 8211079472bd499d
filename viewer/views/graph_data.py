"""The graph view's message: every snapshot of a trace as one compact, JSON-ready object.

`frontend/graph/data/model.js` is the reader of this format, `frontend/graph/view.js` describes the view's methods and
events. The same trace always gives the same object. Sharing keeps it small: strings are interned, a node that stays the
same through thirty passes is written once, and a list of nodes is written as its difference to the list that stood in
the same place one pass earlier.

The object (indices are 0-based, *string* means an index into ``strings``; index 0 is the empty string)::

    {
      "format": 1,
      "name": model name,
      "strings": [text, …],
      "sources": [[file string, line, column], …],
      "nodes": [row, …],                 one per node version, see below
      "lists": [[base, code…], …],       bodies: lists of node rows
      "snapshots": [[values, list, outputs], …],
      "names": [[[value string, path string, …], …], …],
      "steps": [{"index", "stage", "name", "method", "changed", "before", "after", "names"}, …]
    }

- A *row* is ``[id, op, inputs, outputs, module, attributes, source, constant, blocks]`` with empty entries at its end
  omitted: ``id``, ``op``, ``module`` are strings; ``inputs`` a list of strings; ``outputs`` and ``values`` alternate
  name and type strings; ``attributes`` alternate name and text strings; ``source`` is 1 + an index into ``sources``
  or 0; ``constant`` is 0 or ``[shape, dtype string, device string, nbytes, storage string, digest string, minimum,
  maximum, mean, std, nonfinite, values]`` (floats with 6 significant digits, ``null`` where unknown; ``values`` is 0 or
  as `viewer.views.value_summaries.value_cells` returns it, with its texts as strings); ``blocks`` a list of
  ``[values, list, outputs, scope string]``. Two equal rows can still be two versions: rounding removed the
  difference.
- A *list* starts with the index of an earlier list (``base``, or -1), followed by code: a number n ≥ 0 and the next
  number k mean "copy k rows of the base from position n", a number -k means "k row indices follow".
- A *step* gives the snapshot before it (``null`` for the first of its method) and after it, and the index of its
  *names*: the attributes that inputs and constants are or hold, by name (`viewer.views.attribute_names`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import freeze_engine as fe
from viewer.views.attribute_names import attribute_names
from viewer.views.module_names import ModuleNames
from viewer.views.value_summaries import value_cells

if TYPE_CHECKING:
    from freeze_engine.trace import Block, Constant, SourceRef, Value, ValueSummary

FORMAT = 2
"""Version of the message; `frontend/graph/data/model.js` refuses any other."""

_Item = TypeVar("_Item")
_Row = tuple[object, ...]


def graph_data(trace: fe.Trace, names: Sequence[Mapping[str, tuple[str, ...]]] | None = None) -> dict[str, Any]:
    """Returns every graph of a trace in the format of this module's docstring.

    Args:
        trace: the recording.
        names: for each step the attributes that values are or hold; by default `attribute_names` of the trace.

    Returns:
        Only dicts, lists, strings, finite numbers, booleans and ``None``: ready for ``json.dumps``.
    """
    if names is None:
        names = attribute_names(trace)
    encoder = _Encoder(ModuleNames(trace))
    steps: list[dict[str, object]] = []
    latest: dict[str, int] = {}
    for step, named in zip(trace.steps, names, strict=True):
        before = latest.get(step.method)
        after = encoder.snapshot(step.graph, step.method)
        latest[step.method] = after
        steps.append(
            {
                "index": step.index,
                "stage": step.stage,
                "name": step.name,
                "method": step.method,
                "changed": step.changed,
                "before": before,
                "after": after,
                "names": encoder.names(named),
            }
        )
    return {"format": FORMAT, "name": trace.name, **encoder.tables(), "steps": steps}


class _Table:
    """Distinct rows in order of appearance, with an index by key."""

    def __init__(self) -> None:
        self.rows: list[object] = []
        self._index: dict[object, int] = {}

    def add(self, key: object, row: object) -> int:
        index = self._index.setdefault(key, len(self.rows))
        if index == len(self.rows):
            self.rows.append(row)
        return index


class _Encoder:
    """Fills the tables while it walks the snapshots in recorded order."""

    def __init__(self, modules: ModuleNames) -> None:
        self._modules = modules
        self._strings = _Table()
        self._strings.add("", "")
        self._sources = _Table()
        self._nodes = _Table()
        self._lists = _Table()
        self._snapshots = _Table()
        self._names = _Table()
        self._members: list[tuple[int, ...]] = []
        # Nodes and graphs are mostly the same objects from step to step: looking them up by identity saves hashing
        # their whole content. The table keeps the objects alive, so that no id() is reused.
        self._seen: dict[int, tuple[object, int]] = {}
        self._latest: dict[tuple[object, ...], int] = {}

    def tables(self) -> dict[str, object]:
        return {
            "strings": self._strings.rows,
            "sources": self._sources.rows,
            "nodes": self._nodes.rows,
            "lists": self._lists.rows,
            "snapshots": self._snapshots.rows,
            "names": self._names.rows,
        }

    def names(self, named: Mapping[str, tuple[str, ...]]) -> int:
        row = tuple(self._texts((value, *paths)) for value, paths in named.items())
        return self._names.add(row, _plain(row))

    def snapshot(self, graph: fe.GraphSnapshot, method: str) -> int:
        if (seen := self._seen.get(id(graph))) is not None:
            return seen[1]
        body = self._body(graph.nodes, (method,))
        row = (self._values(graph.inputs), body, self._texts(graph.outputs))
        index = self._snapshots.add(row, _plain(row))
        self._seen[id(graph)] = (graph, index)
        return index

    def _text(self, text: str) -> int:
        return self._strings.add(text, text)

    def _texts(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._text(text) for text in texts)

    def _values(self, values: Sequence[Value]) -> tuple[int, ...]:
        return self._texts([text for value in values for text in (value.name, value.type)])

    def _body(self, nodes: Sequence[fe.Node], place: tuple[object, ...]) -> int:
        """Encodes a list of nodes against the previous list of the same place."""
        members = tuple(self._node(node, place) for node in nodes)
        base = self._latest.get(place, -1)
        code = [base, *delta(self._members[base] if base >= 0 else (), members)]
        index = self._lists.add(members, code)
        if index == len(self._members):
            self._members.append(members)
        self._latest[place] = index
        return index

    def _node(self, node: fe.Node, place: tuple[object, ...]) -> int:
        if (seen := self._seen.get(id(node))) is not None:
            return seen[1]
        row = _trimmed(
            (
                self._text(node.id),
                self._text(node.op),
                self._texts(node.inputs),
                self._values(node.outputs),
                self._text(self._modules.full(node.module)),
                self._texts([text for pair in node.attributes for text in pair]),
                self._source(node.source),
                self._constant(node.constant),
                tuple(self._block(block, (place[0], node.id, number)) for number, block in enumerate(node.blocks)),
            )
        )
        index = self._nodes.add((row, node.constant), _plain(row))
        self._seen[id(node)] = (node, index)
        return index

    def _block(self, block: Block, place: tuple[object, ...]) -> _Row:
        body = self._body(block.nodes, place)
        return (self._values(block.inputs), body, self._texts(block.outputs), self._text(block.scope))

    def _source(self, source: SourceRef | None) -> int:
        if source is None:
            return 0
        row = (self._text(source.file), source.line, source.column)
        return 1 + self._sources.add(row, list(row))

    def _constant(self, constant: Constant | None) -> object:
        if constant is None:
            return 0
        statistics = (constant.minimum, constant.maximum, constant.mean, constant.std)
        return (
            constant.shape,
            self._text(constant.dtype),
            self._text(constant.device),
            constant.nbytes,
            self._text(constant.storage or ""),
            self._text(constant.digest or ""),
            *(_rounded(number) for number in statistics),
            constant.nonfinite,
            self._summary(constant.values),
        )

    def _summary(self, values: ValueSummary | None) -> object:
        if values is None:
            return 0
        zeros, nans, counted, histogram, first = value_cells(values)
        return zeros, nans, counted, self._text(histogram), self._text(first)


def delta(base: Sequence[_Item], target: Sequence[_Item]) -> list[int | _Item]:
    """Writes ``target`` as copies of runs of ``base`` and new items, in linear time.

    Args:
        base: an earlier list; items occur once.
        target: the list to write.

    Returns:
        The code described for *lists* in the module's docstring, without its base.
    """
    position = {item: index for index, item in enumerate(base)}
    code: list[int | _Item] = []
    start = 0
    while start < len(target):
        end = start + 1
        origin = position.get(target[start])
        if origin is None:
            while end < len(target) and target[end] not in position:
                end += 1
            code += [start - end, *target[start:end]]
        else:
            while end < len(target) and position.get(target[end]) == origin + end - start:
                end += 1
            code += [origin, end - start]
        start = end
    return code


def _trimmed(row: _Row) -> _Row:
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _plain(row: object) -> object:
    """Converts tuples, which serve as keys, to lists for JSON."""
    return [_plain(item) for item in row] if isinstance(row, tuple) else row


def _rounded(number: float | None) -> float | None:
    """Rounds to six significant digits, as a tooltip shows; JSON has no infinity, so that becomes ``None``."""
    return None if number is None or not math.isfinite(number) else float(f"{number:.6g}")
