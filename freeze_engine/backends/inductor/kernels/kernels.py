"""Maps each kernel call to the nodes that it computes, and explains the nodes that need no kernel.

Inductor gives every buffer its *origins*: the nodes that went into it. Where a kernel reads a buffer that another one
computed, and something was not computed before that (a view), the origins go on behind that buffer. So a kernel's
nodes are looked for from its results backwards, up to what other kernels compute.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.attributes.origins import nodes_read
from freeze_engine.backends.inductor.capture.raw import RawKernel
from freeze_engine.backends.inductor.graph.rows import RawGraph, Row
from freeze_engine.backends.inductor.graph.snapshot import scoped_names
from freeze_engine.backends.inductor.graph.target_names import operator_name
from freeze_engine.backends.inductor.kernels.generated_code import Call, Kind, calls
from freeze_engine.trace import GraphSnapshot, Kernel, Node, Program


@dataclass(frozen=True, slots=True)
class Lowered:
    """The graph that a program was generated for.

    Attributes:
        graph: as it was kept.
        snapshot: the same in the trace.
        first: the method's first graph.
        origins: maps the id of a node to the nodes of the first graph whose work it does.
    """

    graph: RawGraph
    snapshot: GraphSnapshot
    first: GraphSnapshot
    origins: Mapping[str, tuple[str, ...]]


def program(name: str, method: str, code: str | None, seen: Sequence[RawKernel], lowered: Lowered) -> Program:
    """Describes the program that Inductor generated for a graph.

    Args:
        name: of the way to run the model, `COMPILED_FROZEN` or `COMPILED_UNFROZEN` of `freeze_engine.trace.baselines`.
        method: of the graph.
        code: the generated code, ``None`` where it is not known.
        seen: what Inductor reported of each kernel call; empty if the code came from a cache.
        lowered: the graph that it was generated for.
    """
    found = tuple(kernels(code, seen, lowered))
    computed = {node for kernel in found for node in kernel.nodes}
    rest = tuple(without_kernel(lowered.graph, lowered.snapshot, computed)) if seen else ()
    return Program(name, method, found, code, rest)


def kernels(code: str | None, seen: Sequence[RawKernel], lowered: Lowered) -> Iterator[Kernel]:
    """Yields the calls of kernels of one generated program, in order.

    Args:
        code: the generated code, ``None`` where it is not known.
        seen: what Inductor reported of each call.
        lowered: the graph that it was generated for.
    """
    graph, snapshot = lowered.graph, lowered.snapshot
    cones = _Cones(graph, seen)
    names = scoped_names(graph)
    nodes = {node.outputs[0].name: node for node in snapshot.walk() if node.outputs}
    places = {node.id: index for index, node in enumerate(nodes.values())}
    first = tuple(node for node in lowered.first.walk() if node.op != "get_attr")
    called = list(_matched(code, seen))
    own: list[list[Node]] = []
    for _, kernel in called:
        cone = cones.of(kernel) if kernel is not None else ()
        found = {nodes[each].id: nodes[each] for row in cone for each in names[row] if each in nodes}
        own.append(sorted(found.values(), key=lambda node: places[node.id]))
    for index, (call, _) in enumerate(called):
        name, kind = call.name, call.kind
        if not own[index] and seen:
            written = [one for one, _ in called]
            own[index] = [*(_prepared(written, own, index) or _finished(written, own, index))]
        computed = own[index]
        of_them = {origin for node in computed for origin in lowered.origins.get(node.id, ())}
        yield _kernel(name, kind, computed, [node for node in first if node.id in of_them])


def _prepared(called: Sequence[Call], nodes: Sequence[Sequence[Node]], index: int) -> Sequence[Node]:
    """Returns what the first reader of this kernel's buffer computes; for a library's kernel, its operator.

    Inductor gives no origins to buffers made of the graph's inputs and constants alone: their copy in another layout,
    or the bias of a convolution.

    Args:
        called: all calls of the program.
        nodes: what each computes.
        index: of the call.
    """
    known = {buffer for call in called[:index] for buffer in call.buffers}
    made = set(called[index].buffers) - known
    for call, computed in zip(called[index + 1 :], nodes[index + 1 :], strict=True):
        if computed and made.intersection(call.buffers):
            return computed[-1:] if call.kind == "extern" else computed
    return ()


def _finished(called: Sequence[Call], nodes: Sequence[Sequence[Node]], index: int) -> Sequence[Node]:
    """Returns the node that a library's kernel finishes, which writes into the buffer of an earlier kernel.

    Inductor reports nothing of such a call, and gives the node to the kernel that made the buffer (torch 2.13,
    ``ScatterFallback`` of ``torch/_inductor/ir.py``): ``scatter_add`` is zeros, and then ``aten.scatter_reduce_``.

    Args:
        called, nodes, index: as of `_prepared`.
    """
    call = called[index]
    parts = call.name.split(".")
    if call.kind != "extern" or len(parts) < 2:
        return ()
    word = parts[-2].partition("_")[0]
    for earlier, computed in zip(reversed(called[:index]), reversed(nodes[:index]), strict=True):
        if set(call.buffers[:1]).intersection(earlier.buffers):
            same = [node for node in computed if node.op.split(".")[1:2] and node.op.split(".")[1].startswith(word)]
            return same[-1:]
    return ()


def _kernel(name: str, kind: Kind, computed: Sequence[Node], origins: Sequence[Node]) -> Kernel:
    # The operator of a library's kernel comes first; views of other results do no work.
    own = computed[-1:] if kind == "extern" else ()
    return Kernel(
        name,
        kind,
        nodes=tuple(node.id for node in computed),
        origins=tuple(node.id for node in origins),
        ops=tuple(node.op for node in computed),
        sources=tuple(dict.fromkeys(node.source for node in (*own, *origins, *computed) if node.source is not None)),
    )


def _matched(code: str | None, seen: Sequence[RawKernel]) -> Iterator[tuple[Call, RawKernel | None]]:
    """Yields the calls in the code, each with what Inductor reported of it.

    Inductor may write a kernel that it drops again, so the code decides what is called, and how often.
    """
    found = calls(code or "")
    if not found:  # a C++ wrapper
        yield from ((Call(kernel.name, _kind_of(kernel.name), 0, 0), kernel) for kernel in seen)
        return
    waiting: dict[str, list[RawKernel]] = {}
    for kernel in seen:
        waiting.setdefault(kernel.name, []).append(kernel)
    for call in found:
        told = waiting.get(call.name)
        yield call, told.pop(0) if told else None


def _kind_of(name: str) -> Kind:
    if name.startswith("cpp_"):
        return "cpp"
    return "triton" if name.startswith("triton_") else "extern"


@dataclass(frozen=True, slots=True)
class _Result:
    """A buffer that a kernel computes: the node whose result it is, and its origins; nodes by identity."""

    node: int
    origins: frozenset[int]


class _Cones:
    """The nodes that each kernel of one program computes.

    Args:
        graph: the graph that the program was generated for.
        seen: its kernels.
    """

    def __init__(self, graph: RawGraph, seen: Sequence[RawKernel]) -> None:
        self._rows = {id(row.node): row for row in _calls(graph)}
        self._places = {node: index for index, node in enumerate(self._rows)}
        told = [tuple(self._results_of(kernel)) for kernel in seen]
        self._named = {result.node for results in told for result in results}
        self._results: dict[int, tuple[_Result, ...]] = {}
        called: set[int] = set()
        for kernel, results in zip(reversed(seen), reversed(told), strict=True):
            if _kind_of(kernel.name) == "extern":
                called.update(result.node for result in results)
            else:
                results = tuple(self._made(results, called))
            self._results[id(kernel)] = results
        self._library = {id(kernel) for kernel in seen if _kind_of(kernel.name) == "extern"}
        self._computed_by: dict[int, set[int]] = {}
        for identity, computed in self._results.items():
            for result in computed:
                self._computed_by.setdefault(result.node, set()).add(identity)

    def of(self, kernel: RawKernel) -> tuple[int, ...]:
        """Returns the identities of the fx nodes that a kernel computes."""
        found: dict[int, None] = {}
        for result in self._results[id(kernel)]:
            found |= dict.fromkeys(self._cone(result, kernel))
        return tuple(found)

    def _cone(self, result: _Result, kernel: RawKernel) -> Sequence[int]:
        """Returns what a result is computed from, up to what other kernels compute."""
        if self._finishes(result.node, kernel):
            return (result.node,)
        found: dict[int, None] = {}
        waiting = [result.node]
        while waiting:
            node = waiting.pop()
            others = self._computed_by.get(node, set()) - {id(kernel)}
            is_read = node != result.node and others
            if is_read and node in result.origins and self._adds_bias_later(node):
                found[node] = None
            elif node in result.origins and node not in found and not is_read:
                found[node] = None
                waiting += self._read(node, result.origins)
        return tuple(found)

    def _finishes(self, node: int, kernel: RawKernel) -> bool:
        """Returns whether a generated kernel continues an operator that a library's kernel began."""
        return _kind_of(kernel.name) != "extern" and bool(self._computed_by.get(node, set()) & self._library)

    def _adds_bias_later(self, node: int) -> bool:
        """Returns whether the kernel that reads a linear adds its bias: MKL's linear is called without it.

        torch 2.13, torch/_inductor/mkldnn_lowerings.py.
        """
        row = self._rows[node]
        biases = row.args[2:3]
        return operator_name(row.target).startswith("mkl._mkl_linear") and bool(biases) and biases[0] is not None

    def _read(self, node: int, origins: Collection[int]) -> Iterator[int]:
        """Yields what a node reads; behind the choice of one of several results, which has no origins, the operator."""
        for each in nodes_read(self._rows[node]):
            row = self._rows.get(id(each))
            if row is not None and row.target is operator.getitem and id(each) not in origins:
                yield from (id(behind) for behind in nodes_read(row))
            else:
                yield id(each)

    def _results_of(self, kernel: RawKernel) -> Iterator[_Result]:
        for origins, exact in kernel.buffers:
            known = frozenset(id(node) for node in origins if id(node) in self._rows)
            if known:
                # If another node writes a buffer later, Inductor names that node, though its work is not done yet.
                named = id(exact) if id(exact) in known else max(known, key=self._places.__getitem__)
                yield _Result(named, known)

    def _made(self, results: Sequence[_Result], called: Collection[int]) -> Iterator[_Result]:
        """Yields the results of a generated kernel; for an operator that a library computes later, its arguments.

        The arguments of a library's kernel (a mask, a copy in another layout) are made while its operator is lowered,
        and so have that operator among their origins.

        Args:
            results: what the kernel computes, according to its origins.
            called: nodes that a library's kernels compute later.
        """
        for result, copies in Counter(results).items():
            arguments = self._arguments(result, copies) if result.node in called else ()
            if arguments:
                yield from (_Result(node, result.origins - {result.node}) for node in arguments)
            else:
                yield result

    def _arguments(self, result: _Result, copies: int) -> Sequence[int]:
        """Returns the arguments of an operator that so many buffers are: views only where there are enough for all."""
        read = dict.fromkeys(id(each) for each in nodes_read(self._rows[result.node]))
        known = [node for node in read if node in result.origins and node not in self._named]
        computed = [node for node in known if not self._is_view(node, result.origins)]
        return known if copies >= len(known) else computed

    def _is_view(self, node: int, origins: Collection[int]) -> bool:
        """Returns whether a node is only a view of what another kernel computes, or of a graph input."""
        while node in origins and node not in self._named:
            row = self._rows[node]
            if not torch_private.returns_view(row.target):
                return False
            node = next((id(each) for each in nodes_read(row)), 0)
        return True


def without_kernel(graph: RawGraph, snapshot: GraphSnapshot, computed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields the nodes that need no kernel and have none, with the reason.

    Args:
        graph: the graph that a program was generated for.
        snapshot: the same graph in the trace.
        computed: ids of the nodes that its kernels compute.
    """
    ids = {node.outputs[0].name: node.id for node in snapshot.walk() if node.outputs}
    names = scoped_names(graph)
    for row in _calls(graph):
        for name in names.get(id(row.node), ()):
            why = _why_no_kernel(row) if name in ids and ids[name] not in computed else ""
            if why:
                yield ids[name], why


def _calls(graph: RawGraph) -> list[Row]:
    return [row for each in (graph, *graph.subgraphs()) for row in each.rows if row.op == "call_function"]


def _why_no_kernel(row: Row) -> str:
    """Returns why Inductor needs no kernel for a node, empty if no reason is known."""
    if torch_private.is_higher_order(row.target):
        return "runs the kernels of its subgraphs"
    if row.target is operator.getitem:
        return "takes one of several results"
    if torch_private.returns_view(row.target):
        return "a view: moves no data"
    if row.val is not None and not isinstance(row.val, (torch.Tensor, tuple, list)):
        return "a number, computed in Python"
    return ""
