"""The outcome of lines of source, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace import SourceRef

FileKind = Literal["own", "saved", "library"]
"""A file or notebook cell of the user's; TorchScript that was saved with a model; a file of a package or of Python."""

Effect = Literal["inlined", "frozen", "computed", "rewritten", "replaced", "merged", "removed", "added", "changed"]
"""The effect of a pass on nodes of a line.

``inlined``: a call became the nodes of its callee. ``frozen``: the read of an attribute became a constant.
``computed``: operators were computed beforehand. ``rewritten``: a fold or fusion that the trace names consumed them.
``replaced``: other nodes do their work now. ``merged``: an equal node does it. ``removed``: nothing does it.
``added``: the pass made nodes of the line beside those there were. ``changed``: nodes read otherwise.
"""


@dataclass(frozen=True, slots=True)
class LineEffect:
    """The effect of one pass on one line.

    Attributes:
        step: index of the step.
        what: the effect.
        kind: of a rewrite as in `Rewrite.kind`; of changed nodes what differs, as in `ChangedField`; else empty.
        nodes: ids of the line's nodes that it acted on, in the graph before the step (of ``added``: after it).
    """

    step: int
    what: Effect
    kind: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineNode:
    """A node of a method's last graph that does work of the line.

    Attributes:
        method: the method.
        node: id of the node.
    """

    method: str
    node: str


@dataclass(frozen=True, slots=True)
class LineKernel:
    """A kernel that runs a line.

    Attributes:
        program: position in `Trace.programs`.
        kernel: position in `Program.kernels`.
        alone: whether all that it computes comes from this line; a fused kernel may compute several lines.
    """

    program: int
    kernel: int
    alone: bool


@dataclass(frozen=True, slots=True)
class LineTime:
    """Time of the kernels that run a line, in one run of a program. Kernels are timed, lines are not.

    Attributes:
        program: position in `Trace.programs`; ``None`` for TorchScript's executor, whose operators are timed.
        alone_ns: of kernels that compute this line only.
        shared_ns: of kernels that compute other lines as well; how it divides among them is not known.
        whole_ns: of all kernels of the program that were timed.
        untimed: how many kernels of the line were not timed.
    """

    program: int | None
    alone_ns: float
    shared_ns: float
    whole_ns: float
    untimed: int = 0


@dataclass(frozen=True, slots=True)
class TimeOfNoLine:
    """Time of kernels that no line is known of.

    Attributes:
        program: as in `LineTime`.
        time_ns: of these kernels.
        whole_ns: of all that were timed.
    """

    program: int | None
    time_ns: float
    whole_ns: float


@dataclass(frozen=True, slots=True)
class LineError:
    """A growth of the numeric error that this line may have part in: passes that touched it brought it.

    Attributes:
        step: index of the step whose outputs are further from eager's.
        since: index of the step before it that was compared, ``None`` for the first one.
        before, after: largest absolute error over all outputs and inputs.
        lines: how many lines of files that are no library's these passes touched, this one included.
    """

    step: int
    since: int | None
    before: float
    after: float
    lines: int


@dataclass(frozen=True, slots=True)
class LineOutcome:
    """Outcome of one line.

    Attributes:
        line: its number, from 1.
        operators: how many operators of it the graph had at first, calls of modules and functions inlined.
        effects: of the passes, in order.
        left: the operators of the last graphs that do its work.
        constants: the tensor constants of the last graphs that hold something of it.
        kernels: those that run it.
        times: one for each program with timed kernels that run it.
        errors: growths of the numeric error by passes that touched it.
    """

    line: int
    operators: int
    effects: tuple[LineEffect, ...] = ()
    left: tuple[LineNode, ...] = ()
    constants: tuple[LineNode, ...] = ()
    kernels: tuple[LineKernel, ...] = ()
    times: tuple[LineTime, ...] = ()
    errors: tuple[LineError, ...] = ()


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """Outcome of the lines of one file.

    Attributes:
        file: path as in `SourceRef.file`.
        kind: whose file it is.
        has_text: whether the trace holds any text of it.
        lines: those that nodes come from, in order.
    """

    file: str
    kind: FileKind
    has_text: bool
    lines: tuple[LineOutcome, ...]


@dataclass(frozen=True, slots=True)
class NodeLines:
    """The lines whose work a node does, from some step on.

    Attributes:
        method: the node's method.
        node: its id.
        since: index of the first step whose graph this holds for, until a later entry of the node; a fold gives a node
            the lines of what it consumed.
        lines: all of them, columns 0.
    """

    method: str
    node: str
    since: int
    lines: tuple[SourceRef, ...]


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """Outcome of the source of a recording.

    Attributes:
        files: the user's own first, then saved TorchScript, then libraries; those with more operators first.
        nodes: the lines of every node, in the order in which nodes come to them.
        is_timed: whether any kernel was timed; if not, the time of every line is unknown.
        is_compared: whether any step was compared with eager; if not, the error of every line is unknown.
        of_no_line: time that belongs to no line, one for each program or executor where there is any.
    """

    files: tuple[FileOutcome, ...]
    nodes: tuple[NodeLines, ...]
    is_timed: bool
    is_compared: bool
    of_no_line: tuple[TimeOfNoLine, ...] = ()
