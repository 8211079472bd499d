"""Steps, each one pass over one method, and the trace that holds them with their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace.aliases import AliasAnalysis
from freeze_engine.trace.attributes import AttributeFate
from freeze_engine.trace.environment import Environment, Failure, InputSpec, Notice
from freeze_engine.trace.graph import GraphSnapshot
from freeze_engine.trace.measurements import Baseline, Contribution, Latency, LayerError, Numerics
from freeze_engine.trace.package import Package
from freeze_engine.trace.post_freeze import Check, MemoryLedger
from freeze_engine.trace.programs import Program
from freeze_engine.trace.rewrites import NearMiss, Rewrite
from freeze_engine.trace.runtime import RuntimeGraph
from freeze_engine.trace.source import CallPath, SourceLines, SourceRef


@dataclass(frozen=True, slots=True)
class GraphInput:
    """An input of a graph, with the user's name for it. Inductor numbers its inputs; TorchScript keeps their names.

    Attributes:
        name: of the value among the graph's inputs.
        attribute: path of the attribute that it is, empty if it is none.
        argument: the user's name of the argument that it is, empty if it is an attribute.
    """

    name: str
    attribute: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One pass over one method.

    Attributes:
        index: position in `Trace.steps`.
        stage: ``input``, ``inline``, ``freeze_module``, ``optimize_frozen_graph``, ``optimize_for_inference``, …
        name: torch's own name of the pass; the names of `passes`, joined by commas, where there are several.
        method: ``forward`` or another preserved method.
        graph: the method's graph after the pass; the same object as before if nothing changed.
        changed: whether the pass changed the graph or the module.
        round: 1-based round of a loop of passes, ``None`` outside one.
        duration_ns: time of the pass in the recorded run, ``None`` if unknown.
        executable: whether the snapshot could be run on its own (and so measured).
        rewrites: the folds and fusions.
        aliases: alias sets and writes of ``graph``, where recorded.
        latency: one per device.
        numerics: one per reference and inputs, those on the given inputs first.
        constant_bytes: bytes held by the constants of ``graph``, shared storage counted once.
        code: TorchScript code of ``graph``, where torch gives it.
        log: torch's log of this step, without its graphs.
        passes: torch's own names of the passes that ran, in order: more than one where torch shows no graph between
            them; ``(name,)`` unless given.
        inputs: names behind the graph's inputs, in the first step of a method of Inductor; inputs that have the user's
            own name are left out.
    """

    index: int
    stage: str
    name: str
    method: str
    graph: GraphSnapshot
    changed: bool
    round: int | None = None
    duration_ns: int | None = None
    executable: bool = False
    rewrites: tuple[Rewrite, ...] = ()
    aliases: AliasAnalysis | None = None
    latency: tuple[Latency, ...] = ()
    numerics: tuple[Numerics, ...] = ()
    constant_bytes: int = 0
    code: str | None = None
    log: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    inputs: tuple[GraphInput, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", self.passes or (self.name,))

    def __repr__(self) -> str:
        turn = f", round {self.round}" if self.round else ""
        effect = "changed" if self.changed else "unchanged"
        return f"<Step {self.index}: {self.stage} / {self.name} of {self.method}{turn}, {effect}>"


Backend = Literal["torchscript", "inductor", "aotinductor"]
"""``inductor`` is ``torch.compile``; ``aotinductor`` is Inductor ahead of time, which makes a package."""


Origin = Literal["recording", "frozen_file", "torch_trace", "compile_debug"]
"""What a trace was made of: a recorded freeze, or something that existed before and was read.

``frozen_file`` is a TorchScript file with a frozen module, ``torch_trace`` the structured log of ``TORCH_TRACE``,
``compile_debug`` a folder of ``TORCH_COMPILE_DEBUG``.
"""


@dataclass(frozen=True, slots=True)
class _Index:
    """Lookups that a trace needs often, computed once.

    Attributes:
        names: of the methods, in the order they first appear.
        methods: the steps of each, in that order.
        before: for each step the one of the same method before it.
        attributes: fates by path.
        sources: the lines of each file that are kept, by their numbers.
    """

    names: tuple[str, ...]
    methods: dict[str, tuple[Step, ...]]
    before: tuple[Step | None, ...]
    attributes: dict[str, AttributeFate]
    sources: dict[str, dict[int, str]]


class _Indexed:
    """A slot for lookups computed once per trace: no field, so it is not compared, stored, copied or pickled."""

    __slots__ = ("_index",)

    _index: _Index


@dataclass(frozen=True, slots=True, repr=False)
class Trace(_Indexed):
    """One recorded freeze.

    Attributes:
        name: the model's name.
        backend: which freezing was recorded.
        call: the Python call or command that made it.
        options: ``(name, text)`` of the requested options.
        inputs: the inputs it was measured on.
        environment: where it ran.
        steps: in the order torch ran them; the steps of one method form a chain.
        attributes: sorted by path.
        near_misses: folds that did not happen.
        baselines: eager and scripted.
        notices: facts that the user should know.
        sources: the source lines that nodes refer to, with some around them.
        failure: the exception that ended the freeze, if one did.
        duration_ns: time of the whole freeze in the recorded run, recording included.
        created: UTC, ISO 8601.
        checks: results of the checks of the frozen module.
        memory: the effect of the freeze on memory, ``None`` if not measured.
        programs: the code that Inductor generated, with freezing and without.
        ablation: the contribution of each pass, if requested.
        call_paths: the calls that lead to nodes, where torch shows them; a node is in one path at most.
        package: what ahead-of-time compilation made, ``None`` for the other backends.
        origin: what the trace was made of. One that is no recording has only what could be read.
        runtime: what TorchScript's executor makes of the frozen methods; empty if that was not looked at.
        layer_errors: errors of a quantised model's layers against the float model; empty if none was given.
    """

    name: str
    backend: Backend
    call: str
    options: tuple[tuple[str, str], ...]
    inputs: tuple[InputSpec, ...]
    environment: Environment
    steps: tuple[Step, ...]
    attributes: tuple[AttributeFate, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    notices: tuple[Notice, ...] = ()
    sources: tuple[SourceLines, ...] = ()
    failure: Failure | None = None
    duration_ns: int | None = None
    created: str = ""
    checks: tuple[Check, ...] = ()
    memory: MemoryLedger | None = None
    programs: tuple[Program, ...] = ()
    ablation: tuple[Contribution, ...] = ()
    call_paths: tuple[CallPath, ...] = ()
    package: Package | None = None
    origin: Origin = "recording"
    runtime: tuple[RuntimeGraph, ...] = ()
    layer_errors: tuple[LayerError, ...] = ()

    def __repr__(self) -> str:
        changed = sum(step.changed for step in self.steps)
        end = f", failed in {self.failure.name}" if self.failure else ""
        return f"<Trace of {self.name} ({self.backend}): {len(self.steps)} steps, {changed} changed something{end}>"

    @property
    def is_recording(self) -> bool:
        """Whether the freeze was recorded while it ran, and not read from what it left."""
        return self.origin == "recording"

    @property
    def uses_inductor(self) -> bool:
        """Whether Inductor froze it, in the process or ahead of time."""
        return self.backend != "torchscript"

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the recorded methods, in the order they first appear."""
        return self._found().names

    def method_steps(self, method: str) -> tuple[Step, ...]:
        """Returns the steps of one method, in order."""
        return self._found().methods.get(method, ())

    def before(self, step: Step) -> Step | None:
        """Returns the step of the same method that ran just before ``step``, or ``None`` for its first."""
        return self._found().before[step.index]

    def final(self, method: str) -> Step | None:
        """Returns the last step of ``method``, or ``None`` if it has none."""
        steps = self.method_steps(method)
        return steps[-1] if steps else None

    def attribute(self, path: str) -> AttributeFate | None:
        """Returns the fate of the attribute at ``path``, or ``None``."""
        return self._found().attributes.get(path)

    def source_line(self, place: SourceRef) -> str | None:
        """Returns the line of the user's source at ``place``, or ``None`` if it was not kept."""
        return self._found().sources.get(place.file, {}).get(place.line)

    def _found(self) -> _Index:
        try:
            return self._index
        except AttributeError:
            found = _index_of(self)
            object.__setattr__(self, "_index", found)
            return found


def _index_of(trace: Trace) -> _Index:
    methods: dict[str, list[Step]] = {}
    before: list[Step | None] = []
    for step in trace.steps:
        chain = methods.setdefault(step.method, [])
        before.append(chain[-1] if chain else None)
        chain.append(step)
    chains = {method: tuple(chain) for method, chain in methods.items()}
    sources: dict[str, dict[int, str]] = {}
    for kept in reversed(trace.sources):  # the first one that has a line counts
        sources.setdefault(kept.file, {}).update(enumerate(kept.lines, kept.first_line))
    attributes = {fate.path: fate for fate in reversed(trace.attributes)}
    return _Index(tuple(chains), chains, tuple(before), attributes, sources)
