"""Puts the graphs and programs of compiles, as torch's logs have them, together as a trace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Final

from freeze_engine.backends.common.source_text import merged_lines
from freeze_engine.backends.inductor.kernels.generated_code import calls
from freeze_engine.errors import InvalidTraceError
from freeze_engine.opening.bounds import (
    MAX_GRAPHS,
    MAX_TEXT_BYTES,
    PartBudget,
    TooMuchError,
    few_notices,
    has_many_tokens,
)
from freeze_engine.opening.code_graph import CodeError
from freeze_engine.opening.fx_code import fx_graph
from freeze_engine.opening.provenance import Provenance, with_nodes
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import (
    COMPILED_FROZEN,
    COMPILED_UNFROZEN,
    Kernel,
    Notice,
    Program,
    SourceLines,
    Step,
    Trace,
)
from freeze_engine.trace.rules.graphs import graph_problems

_SETTING: Final = re.compile(r"^torch\.(?P<name>_\w+\.config\.[\w.]+) = (?P<value>.{1,500})$", re.MULTILINE)
_FREEZING: Final = "_inductor.config.freezing"
_HIDDEN: Final = "Inductor's freezing ran before this graph; its passes are not in the log."
_LAST_GRAPHS: Final = ("inductor_post_grad_graph", "after_post_grad_graph")
_MAX_SETTINGS: Final = 1_000
_MAX_COMPILES: Final = 2_000


@dataclass(frozen=True, slots=True)
class GraphText:
    """A graph of a compile.

    Attributes:
        stage: of the compile.
        name: torch's name for this moment.
        text: of the graph.
        branch: added to the method's name for a graph of its own, such as that of the backward pass.
    """

    stage: str
    name: str
    text: str
    branch: str = ""


@dataclass
class Compile:
    """What a log has of one compile.

    Attributes:
        name: the method's name in the trace.
        graphs: in the order torch wrote them.
        code: what Inductor generated; empty if that is not in the log.
        runnable: the script that torch writes to run the graph again; it has the settings.
        provenance: the nodes that each kernel computes; empty if the log does not say.
    """

    name: str
    graphs: list[GraphText] = field(default_factory=list)
    code: str = ""
    runnable: str = ""
    provenance: Provenance = field(default_factory=dict)

    @cached_property
    def settings(self) -> dict[str, str]:
        """Settings of the compile that are not torch's defaults, by name; those beyond the bound are left out."""
        found = _SETTING.finditer(self.runnable[:MAX_TEXT_BYTES])
        return {match["name"]: match["value"] for match in islice(found, _MAX_SETTINGS)}

    @property
    def freezes(self) -> bool | None:
        """Whether Inductor's freezing was on; ``None`` if the log does not say."""
        if not self.runnable:
            return None
        return self.settings.get(_FREEZING) == "True"


def compile_trace(head: Trace, compiles: Sequence[Compile], notices: Iterable[Notice]) -> Trace:
    """Returns the trace of compiles, each graph of theirs a method.

    Args:
        head: the trace before any step.
        compiles: in order.
        notices: facts of the log; those of single compiles name their methods.
    """
    found = _Steps(Recorder(head))
    read = compiles[:_MAX_COMPILES]
    for each in read:
        for text in each.graphs:
            found.add(each, text)
    recorder = found.recorder
    last = {step.method: step for step in recorder.steps}
    programs = [_program(each, last[each.name]) for each in read if each.code and each.name in last]
    recorder.programs = tuple(program for program, _ in programs)
    facts = (*found.notices(len(compiles)), *(each for _, more in programs for each in more))
    recorder.notices += notices
    recorder.notices += few_notices((*facts, *_lacking(read, found.stages)), "compiles")
    recorder.sources = tuple(merged_lines(found.sources))
    return replace(recorder.finish(created=head.created), options=_settings(read))


@dataclass(slots=True)
class _Steps:
    """Makes the steps of a trace.

    Attributes:
        recorder: collects them.
        stages: of each method.
        sources: lines that the graphs quote.
        budget: of all graphs.
        unread: facts of graphs that are left out.
        count: of all graphs, read or not.
    """

    recorder: Recorder
    stages: dict[str, set[str]] = field(default_factory=dict)
    sources: list[SourceLines] = field(default_factory=list)
    budget: PartBudget = field(default_factory=PartBudget)
    unread: list[Notice] = field(default_factory=list)
    count: int = 0

    def add(self, compiled: Compile, text: GraphText) -> None:
        """Adds a graph, or a notice where it is none."""
        self.count += 1
        if self.count > MAX_GRAPHS:
            return
        method = f"{compiled.name}{text.branch}"
        where = f"{text.name} of {method}"
        try:
            found = fx_graph(text.text, where, self.budget)
            if wrong := graph_problems(found.graph):
                raise InvalidTraceError(f"{where} is no graph{wrong[0]}")
        except (CodeError, InvalidTraceError, TooMuchError) as error:
            self.unread.append(Notice("unread", f"A graph is left out: {error}."))
            return
        stages = self.stages.setdefault(method, set())
        hides = compiled.freezes and text.stage == "post_grad" and text.stage not in stages
        stages.add(text.stage)
        log = (_HIDDEN,) if hides else ()
        self.recorder.add_step(text.stage, text.name, method, found.graph, log=log)
        self.sources += found.sources

    def notices(self, compiles: int) -> Iterator[Notice]:
        """Yields what is left out.

        Args:
            compiles: number of all.
        """
        if compiles > _MAX_COMPILES:
            yield Notice("unread", f"There are {compiles} compiles; the first {_MAX_COMPILES} are read.")
        if self.count > MAX_GRAPHS:
            more = self.count - MAX_GRAPHS
            yield Notice("unread", f"There are {more} graphs more than the {MAX_GRAPHS} that are read.")
        yield from self.unread


def _program(compiled: Compile, last: Step) -> tuple[Program, tuple[Notice, ...]]:
    """Returns the generated program, with its kernels unless its text is too long, and what that leaves out.

    Args:
        compiled: with its code.
        last: step of the method; nodes of other graphs than that after the post-grad passes may have the same names.
    """
    large = has_many_tokens(compiled.code)
    kernels = () if large else tuple(Kernel(call.name, call.kind) for call in calls(compiled.code))
    if last.name in _LAST_GRAPHS:
        kernels = with_nodes(kernels, compiled.provenance, last.graph)
    program = Program(
        name=COMPILED_FROZEN if compiled.freezes else COMPILED_UNFROZEN,
        method=compiled.name,
        kernels=kernels,
        code=compiled.code,
    )
    text = f"{compiled.name}: its generated code is too long to look for its kernels."
    return program, (Notice("unread", text),) if large else ()


def _lacking(compiles: Sequence[Compile], methods: Collection[str]) -> Iterator[Notice]:
    for each in compiles:
        if each.name not in methods:
            kept = " Its generated code is in the log, and is not shown without a graph." if each.code else ""
            yield Notice("not_logged", f"{each.name}: no graph of this compile is in the log.{kept}")
        elif not each.code:
            yield Notice(
                "not_logged", f"{each.name}: its generated code is not in the log, so its kernels are unknown."
            )
        if each.freezes is None:
            yield Notice("not_logged", f"{each.name}: the log does not say whether freezing was on.")


def _settings(compiles: Sequence[Compile]) -> tuple[tuple[str, str], ...]:
    """Returns the settings that all compiles share, and the others with the compile's name."""
    known = [each for each in compiles if each.runnable]
    counted = Counter(pair for each in known for pair in each.settings.items())
    shared = [pair for pair, count in counted.items() if count == len(known)]
    own = (
        (f"{each.name}: {name}", value)
        for each in known
        for name, value in each.settings.items()
        if counted[name, value] < len(known)
    )
    return tuple(islice(dict.fromkeys((*shared, *own)), _MAX_SETTINGS))
