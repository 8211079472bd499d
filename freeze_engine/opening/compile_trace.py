"""Puts the graphs and programs of compiles, as torch's logs have them, together as a trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from freeze_engine.backends.common.source_text import merged_lines
from freeze_engine.backends.inductor.kernels.generated_code import calls
from freeze_engine.errors import InvalidTraceError
from freeze_engine.opening.code_graph import MAX_TEXT_BYTES, CodeError
from freeze_engine.opening.fx_code import fx_graph
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import COMPILED_FROZEN, COMPILED_UNFROZEN, Kernel, Notice, Program, SourceLines, Trace
from freeze_engine.trace.rules.graphs import graph_problems

_SETTING: Final = re.compile(r"^torch\.(?P<name>_\w+\.config\.[\w.]+) = (?P<value>.{1,500})$", re.MULTILINE)
_FREEZING: Final = "_inductor.config.freezing"
_HIDDEN: Final = "Inductor's freezing ran before this graph; its passes are not in the log."
_MAX_GRAPHS: Final = 2_000


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


@dataclass(slots=True)
class Compile:
    """What a log has of one compile.

    Attributes:
        name: the method's name in the trace.
        graphs: in the order torch wrote them.
        code: what Inductor generated; empty if that is not in the log.
        runnable: the script that torch writes to run the graph again; it has the settings.
    """

    name: str
    graphs: list[GraphText] = field(default_factory=list)
    code: str = ""
    runnable: str = ""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Settings of the compile that are not torch's defaults."""
        return tuple(_SETTING.findall(self.runnable[:MAX_TEXT_BYTES]))

    @property
    def freezes(self) -> bool | None:
        """Whether Inductor's freezing was on; ``None`` if the log does not say."""
        if not self.runnable:
            return None
        return dict(self.settings).get(_FREEZING) == "True"


def compile_trace(head: Trace, compiles: Sequence[Compile], notices: Iterable[Notice]) -> Trace:
    """Returns the trace of compiles, each graph of theirs a method.

    Args:
        head: the trace before any step.
        compiles: in order.
        notices: facts of the log; those of single compiles name their methods.
    """
    recorder = Recorder(head)
    recorder.notices += notices
    sources: list[SourceLines] = []
    left = _MAX_GRAPHS
    for each in compiles:
        for text in each.graphs[: max(left, 0)]:
            sources += _add(recorder, each, text)
        left -= len(each.graphs)
    if left < 0:
        recorder.notices.append(
            Notice("unread", f"The log has {-left} graphs more than the {_MAX_GRAPHS} that are read.")
        )
    recorder.sources = tuple(merged_lines(sources))
    methods = {step.method for step in recorder.steps}
    recorder.programs = tuple(_program(each) for each in compiles if each.code and each.name in methods)
    recorder.notices += _lacking(compiles, methods)
    return replace(recorder.finish(created=head.created), options=_settings(compiles))


def _add(recorder: Recorder, compiled: Compile, text: GraphText) -> Sequence[SourceLines]:
    method = f"{compiled.name}{text.branch}"
    where = f"{text.name} of {method}"
    try:
        found = fx_graph(text.text, where)
        if wrong := graph_problems(found.graph):
            raise InvalidTraceError(f"{where} is no graph{wrong[0]}")
    except (CodeError, InvalidTraceError) as error:
        recorder.notices.append(Notice("unread", f"A graph is left out: {error}."))
        return ()
    earlier = {step.stage for step in recorder.steps if step.method == method}
    hides = compiled.freezes and text.stage == "post_grad" and text.stage not in earlier
    log = (_HIDDEN,) if hides else ()
    recorder.add_step(text.stage, text.name, method, found.graph, log=log)
    return found.sources


def _program(compiled: Compile) -> Program:
    kernels = tuple(Kernel(call.name, call.kind) for call in calls(compiled.code))
    return Program(
        name=COMPILED_FROZEN if compiled.freezes else COMPILED_UNFROZEN,
        method=compiled.name,
        kernels=kernels,
        code=compiled.code,
    )


def _lacking(compiles: Sequence[Compile], methods: set[str]) -> Iterator[Notice]:
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
    known = [each.settings for each in compiles if each.runnable]
    shared = [pair for pair in known[0] if all(pair in settings for settings in known)] if known else []
    own = [
        (f"{each.name}: {name}", value)
        for each in compiles
        for name, value in each.settings
        if (name, value) not in shared
    ]
    return tuple(dict.fromkeys((*shared, *own)))
