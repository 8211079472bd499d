"""Code that Inductor generated: kernels, and the programs that call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace.measurements import Interval
from freeze_engine.trace.source import SourceRef


@dataclass(frozen=True, slots=True)
class Kernel:
    """One call of a generated or library kernel.

    Attributes:
        name: as the program calls it; a kernel that is called twice is in a program twice.
        kind: ``cpp``, ``triton`` or ``extern`` (a library's, or an operator of torch's own).
        nodes: ids of the nodes it computes, in the last graph of the program's method; empty for a program whose
            passes are not in the trace.
        origins: ids of the nodes that these come from, in the first graph of the method; two programs of one
            method are compared by them.
        ops: operators of the nodes it computes, in order.
        sources: the user's source lines it comes from.
        time_ns: time in one run of the program, ``None`` where it was not measured.
    """

    name: str
    kind: Literal["cpp", "triton", "extern"]
    nodes: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    sources: tuple[SourceRef, ...] = ()
    time_ns: Interval | None = None


@dataclass(frozen=True, slots=True)
class ProgramPass:
    """A pass of a compile whose steps are not in the trace.

    Attributes:
        stage, name: as in `Step`.
        nodes: of the graph after it, nested ones included.
        changed: whether it changed the graph.
    """

    stage: str
    name: str
    nodes: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Program:
    """The code that Inductor generated for one graph.

    Attributes:
        name: `COMPILED_FROZEN` or `COMPILED_UNFROZEN`, as the baseline of that name.
        method: the graph's method.
        kernels: their calls, in order.
        code: the generated code, ``None`` where it was not kept.
        no_kernel: ``(id, why)`` of the nodes of the last graph that no kernel computes, such as views.
        passes: those that made it, if they are not the steps of the method.
    """

    name: str
    method: str
    kernels: tuple[Kernel, ...] = ()
    code: str | None = None
    no_kernel: tuple[tuple[str, str], ...] = ()
    passes: tuple[ProgramPass, ...] = ()
