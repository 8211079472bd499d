"""The recording as plain data: what a freeze did, pass by pass.

Nothing here imports torch or touches files. Every type is frozen, compares by value, and holds only
strings, numbers, booleans, ``None``, tuples and other types of this module, so that a trace can be
hashed, compared, serialised (`freeze_engine.serde`) and read on a machine without torch.

Names follow torch: a *graph* has *nodes*; a node reads *values* and defines values; a value's *name* is
torch's debug name without the leading ``%``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Backend = Literal["torchscript", "inductor"]
Fate = Literal["inlined", "folded", "preserved", "dropped"]
AttributeKind = Literal["parameter", "buffer", "attribute", "submodule"]
Reason = Literal[
    "requested",
    "ancestor_of_requested",
    "set_in_method",
    "mutated_in_place",
    "aliases_preserved",
    "module_preserved",
    "not_constant",
    "shared_class",
    "unresolved_path",
    "interface",
    "mutated_input",
    "aliases_output",
    "not_a_parameter",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A place in the user's source.

    Attributes:
        file: path as torch recorded it.
        line: 1-based.
        column: 0-based, as in torch's ``# file:line:column`` comments.
    """

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Consecutive source lines kept in the trace, so that they can be shown on another machine.

    Attributes:
        file: path as in `SourceRef.file`.
        first_line: 1-based number of ``lines[0]``.
        lines: text without line ends.
    """

    file: str
    first_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A value a node defines or a block receives.

    Attributes:
        name: unique within its graph (forked subgraphs prefix theirs, see `Block.scope`).
        type: torch's own text, such as ``Float(64, 3, 7, 7, strides=[147, 49, 7, 1], device=cpu)``.
    """

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Constant:
    """What is kept of a constant tensor instead of its weights.

    Attributes:
        shape: sizes.
        dtype: torch's name without the prefix (``float32``, ``quint8``).
        device: ``cpu``, ``cuda:0``.
        nbytes: bytes that the tensor's elements take.
        storage: names the storage within this trace; equal for tensors that share memory, ``None`` if unknown.
        digest: first 16 hex digits of the SHA-256 of the contiguous bytes; ``None`` where only the type is known.
        minimum, maximum, mean, std: of the finite elements as float64; ``None`` for empty or unknown tensors.
        nonfinite: count of NaN and infinite elements.
    """

    shape: tuple[int, ...]
    dtype: str
    device: str
    nbytes: int
    storage: str | None = None
    digest: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    nonfinite: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A nested body: a branch, a loop's body, or a forked subgraph.

    Attributes:
        inputs: values the block receives.
        nodes: in execution order.
        outputs: names of the values it yields.
        scope: empty for a block that sees the enclosing values; for a subgraph with names of its own (a fork)
            the prefix, ending in ``/``, that all its value names and node ids carry.
    """

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation.

    Attributes:
        id: stable across the steps of one method, unique within a snapshot.
        op: ``aten::conv2d``, ``prim::Constant``, or an FX target.
        inputs: names of the values it reads, in order.
        outputs: values it defines.
        attributes: ``(name, text)`` pairs in torch's order, texts as torch prints them.
        blocks: nested blocks.
        module: dotted path of the submodule it comes from; empty for the top module or where unknown.
        source: the user's source line, if torch knows it.
        constant: for a tensor constant, what is kept of it.
    """

    id: str
    op: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[Value, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    blocks: tuple[Block, ...] = ()
    module: str = ""
    source: SourceRef | None = None
    constant: Constant | None = None

    def attribute(self, name: str) -> str | None:
        """Returns the text of the attribute called ``name``, or ``None``."""
        return next((text for key, text in self.attributes if key == name), None)


@dataclass(frozen=True, slots=True, repr=False)
class GraphSnapshot:
    """A method's graph at one moment.

    Attributes:
        inputs: the graph's inputs, ``self`` first where there is one.
        nodes: top-level nodes in order; nested ones are in their `Node.blocks`.
        outputs: names of the returned values.
    """

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def walk(self) -> Iterator[Node]:
        """Yields every node, nested ones right after the node that holds them."""
        return _walk(self.nodes)

    def __repr__(self) -> str:
        return "\n".join(graph_lines(self))


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Nodes consumed and produced together in one step.

    Attributes:
        kind: ``conv_bn``, ``conv_add``, ``conv_mul``, ``linear_bn``, ``concat_linear``, ``dropout``, …
        consumed: ids, in the snapshot before the step.
        produced: ids, in the snapshot after it; a node changed in place is in both.
        attributes: paths of the attributes whose values went into the produced constants.
        modules: paths of the submodules the consumed nodes come from.
    """

    kind: str
    consumed: tuple[str, ...]
    produced: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A fold that was possible by its shape and did not happen.

    Attributes:
        step: index of the step that could have done it.
        kind: the fold, named as in `Rewrite.kind`.
        node: id of the node left standing (the batch norm, add or mul).
        neighbour: id of the conv or linear it stands next to; empty where the pass took that away.
        reason: ``shared_weights``, ``several_uses``, ``operand_not_constant``, ``training_statistics``,
            ``no_running_stats``, ``dtype``, ``shape``, …; ``unknown`` where torch's conditions do not say.
        detail: one sentence with the values that decided it.
        advice: what the user could change; empty if nothing.
    """

    step: int
    kind: str
    node: str
    neighbour: str
    reason: str
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class AliasEntry:
    """One line of torch's alias analysis.

    Attributes:
        value: the value's name.
        relation: how it relates to the targets.
        targets: value names, or torch's ``WILDCARD for type …``.
    """

    value: str
    relation: Literal["points to", "contains"]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """A node that writes memory.

    Attributes:
        node: its id.
        op: its operator.
        targets: what may be written, value names or wildcards.
        source: the user's source line.
    """

    node: str
    op: str
    targets: tuple[str, ...]
    source: SourceRef | None = None


@dataclass(frozen=True, slots=True)
class AliasAnalysis:
    """torch's alias database of one snapshot: who shares memory with whom, and who writes."""

    entries: tuple[AliasEntry, ...]
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95% confidence interval, all in one unit."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Latency:
    """How long one executable snapshot takes on one device.

    Attributes:
        device: ``cpu`` or ``cuda:0``.
        first_ns: the first call here. TorchScript profiles in it. What was compiled beforehand is not in it, nor what
            torch sets up once in a process (thread pool, oneDNN): the model ran before anything was timed. A baseline
            that is the user's own object may have been called before.
        warmup_ns: the calls after it until steady state, in order; in the first of them TorchScript fuses.
        samples: rounds timed in steady state; the fastest of a round's few runs is its sample.
        median_ns: median of the samples, in ns per call.
        ratio: time relative to the first step (below 1 is faster); ``None`` on the first step.
        verdict: ``faster`` or ``slower`` only where the ratio's interval excludes 1.
        notes: outliers, throttling or too short a run, in words.
        previous: time relative to the step of the same method before it that was measured, from the same rounds.
        change: what ``previous`` says, by the same rule as ``verdict``; both ``None`` where there is no such step, or
            its graph is the same: that is measured once.
    """

    device: str
    first_ns: int
    warmup_ns: tuple[int, ...]
    samples: int
    median_ns: Interval
    ratio: Interval | None
    verdict: Literal["baseline", "faster", "slower", "no measurable difference"]
    notes: tuple[str, ...] = ()
    previous: Interval | None = None
    change: Literal["faster", "slower", "no measurable difference"] | None = None


@dataclass(frozen=True, slots=True)
class OutputError:
    """Numeric error of one output tensor against a reference.

    Attributes:
        output: path in the output structure (``0``, ``logits``, ``1.hidden``).
        max_abs: largest absolute difference.
        max_rel: largest difference relative to the reference's magnitude, where that is not zero.
        sqnr_db: signal to quantisation noise ratio in dB, ``inf`` for equal outputs.
        nonfinite: non-finite elements that the reference does not have.
        close: whether ``torch.testing.assert_close`` accepts it with its default tolerances.
        max_ulp: largest distance in units in the last place of the output's dtype, ``None`` for other than floats.
    """

    output: str
    max_abs: float
    max_rel: float
    sqnr_db: float
    nonfinite: int
    close: bool
    max_ulp: float | None = None


@dataclass(frozen=True, slots=True)
class Numerics:
    """Numeric error of one executable snapshot against one reference.

    Attributes:
        reference: the eager module in the same dtype (``eager``) or in double precision (``float64``).
        outputs: one entry per output tensor.
        error: why it could not be compared (an exception's text), else ``None``.
        inputs: which inputs both ran on: the user's (``given``), or generated ones of the same shapes, by name
            (``similar``, ``wide``, ``similar 2``; `freeze_engine.measure.generated` tells how they are made).
    """

    reference: Literal["eager", "float64"]
    outputs: tuple[OutputError, ...]
    error: str | None = None
    inputs: str = "given"

    @property
    def close(self) -> bool:
        """Whether every output is within tolerance and none failed to run."""
        return self.error is None and all(output.close for output in self.outputs)

    @property
    def max_abs(self) -> float:
        """Largest absolute difference over all outputs."""
        return max((output.max_abs for output in self.outputs), default=0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One pass over one method.

    Attributes:
        index: position in `Trace.steps`.
        stage: ``input``, ``inline``, ``freeze_module``, ``optimize_frozen_graph``, ``optimize_for_inference``, …
        name: torch's own name of the pass.
        method: ``forward`` or another preserved method.
        graph: the method's graph after the pass; the same object as before if nothing changed.
        changed: whether the pass changed the graph or the module.
        round: 1-based round of a loop of passes, ``None`` outside one.
        duration_ns: time the pass took in the recorded run, ``None`` where it could not be told.
        executable: whether the snapshot could be run on its own (and so measured).
        rewrites: what was folded or fused into what.
        aliases: alias sets and writes of ``graph``, where recorded.
        latency: one per device.
        numerics: one per reference and inputs, those on the given inputs first.
        constant_bytes: bytes held by the constants of ``graph``, shared storage counted once.
        code: TorchScript code of ``graph``, where torch gives it.
        log: what torch's log said in this step, without its graphs.
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

    def __repr__(self) -> str:
        turn = f", round {self.round}" if self.round else ""
        effect = "changed" if self.changed else "unchanged"
        return f"<Step {self.index}: {self.stage} / {self.name} of {self.method}{turn}, {effect}>"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A way of running the model to compare the steps with.

    Attributes:
        name: ``eager`` or ``scripted``.
        latency: one per device.
        numerics: one per reference and inputs, those on the given inputs first.
    """

    name: str
    latency: tuple[Latency, ...] = ()
    numerics: tuple[Numerics, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One link of an alias chain: a value, and the node that defines it."""

    value: str
    node: str
    op: str
    source: SourceRef | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict stands on.

    Attributes:
        fact: the torch fact: a log line of the run, or the rule and the file it is in.
        method: the method it was seen in.
        step: index of the step whose snapshot ``node`` is in.
        node: id of the deciding node.
        op: its operator.
        source: the user's source line of that node.
        chain: from the written value back to the attribute's ``prim::GetAttr``, both ends included.
    """

    fact: str
    method: str | None = None
    step: int | None = None
    node: str | None = None
    op: str | None = None
    source: SourceRef | None = None
    chain: tuple[ChainLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """A constant of a final graph that holds an attribute's value."""

    method: str
    value: str


@dataclass(frozen=True, slots=True)
class AttributeFate:
    """What became of one parameter, buffer, attribute or submodule.

    Attributes:
        path: dotted, from the top module (``layer1.0.bn1.weight``).
        kind: what it was on the module that came in.
        type: torch's type text.
        shape: sizes of a tensor, else ``None``.
        dtype: of a tensor, else ``None``.
        nbytes: bytes of the tensors it holds, 0 for anything else.
        fate: what became of it.
        reason: why it was preserved; ``None`` for the other fates.
        evidence: what the verdict stands on; the first is the deciding one.
        advice: what the user could change; empty if nothing.
        step: index of the step that decided, ``None`` if it was never used by any step.
        locations: where its value lives now.
    """

    path: str
    kind: AttributeKind
    type: str
    shape: tuple[int, ...] | None
    dtype: str | None
    nbytes: int
    fate: Fate
    reason: Reason | None = None
    evidence: tuple[Evidence, ...] = ()
    advice: str = ""
    step: int | None = None
    locations: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One input the model was recorded with.

    Attributes:
        name: position (``0``) or keyword.
        type: ``Tensor``, or the Python type's name.
        shape, dtype, device: of a tensor, else ``None``.
    """

    name: str
    type: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """What can change a freeze or a measurement.

    Attributes:
        torch: version.
        python: version.
        platform: operating system and architecture.
        cpu: model name.
        gpus: names of the CUDA devices.
        threads: intra-op threads torch used.
        settings: ``(name, value)`` of what silently matters: fusion strategy, oneDNN fusion, profiling mode,
            MKLDNN, cuDNN, relevant environment variables.
    """

    torch: str
    python: str
    platform: str
    cpu: str
    gpus: tuple[str, ...]
    threads: int
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know, told only where it matters.

    Attributes:
        code: a stable slug (``tracer_warning``, ``device_baked_in``, ``not_serializable``, …).
        message: one or two sentences.
        step: index of the step it belongs to, if any.
    """

    code: str
    message: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended the freeze.

    Attributes:
        type: the exception's class name.
        message: its text.
        stage, name, method: the pass that raised.
        step: index of the last step that was recorded before it.
    """

    type: str
    message: str
    stage: str
    name: str
    method: str | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Check:
    """A question put to the frozen module after the freeze, and how it was answered.

    Attributes:
        name: what was checked: ``stale_weights``, ``idempotence``, ``determinism``, ``round_trip``.
        verdict: ``passed`` or ``failed``; ``unknown`` where it could not be run.
        message: one sentence: what was found, or why it could not be run.
        details: what the verdict stands on, one line each.
    """

    name: str
    verdict: Literal["passed", "failed", "unknown"]
    message: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """One call of a generated or library kernel.

    Attributes:
        name: as the program calls it; a kernel that is called twice is in a program twice.
        kind: ``cpp``, ``triton`` or ``extern`` (a library's, or an operator of torch's own).
        nodes: ids of the nodes it computes, in the last graph of the program's method; empty for a program whose
            passes are not in the trace.
        origins: ids of the nodes that these come from, in the first graph of the method: what two programs of one
            method are compared by.
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
    """What Inductor generated for one graph.

    Attributes:
        name: ``compiled with freezing`` or ``compiled``, as the baseline of that name.
        method: the graph's method.
        kernels: their calls, in order.
        code: the generated code, ``None`` where it was not kept.
        no_kernel: ``(id, why)`` of the nodes of the last graph that no kernel computes, such as views.
        passes: that made it, where they are not the steps of the method.
    """

    name: str
    method: str
    kernels: tuple[Kernel, ...] = ()
    code: str | None = None
    no_kernel: tuple[tuple[str, str], ...] = ()
    passes: tuple[ProgramPass, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryLedger:
    """What a freeze did to memory, beside the bytes of constants that each step has.

    Attributes:
        peak_bytes: the most that was resident in the process during the freeze beyond what was before it, recording
            included; ``None`` where unknown.
        file_before_bytes: size of the module saved before the freeze, ``None`` where it does not save.
        file_after_bytes: size of the frozen module saved.
        saves: whether the frozen module, saved and loaded, runs and gives the same; ``None`` where it was not tried.
        message: what saving or loading it said, if it failed, or why it was not tried.
        step: index of the first step whose graph does not survive saving, as all after it; ``None`` where unknown.
    """

    peak_bytes: int | None = None
    file_before_bytes: int | None = None
    file_after_bytes: int | None = None
    saves: bool | None = None
    message: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Payoff:
    """What one pass does for the time that a frozen module takes on one device.

    Attributes:
        device: ``cpu`` or ``cuda:0``.
        ratio: time of the whole freeze relative to the freeze without the pass, from the same rounds (below 1: the pass
            pays off).
        verdict: what ``ratio`` says, with regard to all passes that were compared in these rounds.
    """

    device: str
    ratio: Interval
    verdict: Literal["faster", "slower", "no measurable difference"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one pass contributes on its own: the freeze with it against the freeze without it.

    Attributes:
        stage: of the pass.
        name: of the pass; it was left out in every round and method.
        latency: one per device.
        max_abs_with: largest error against eager of the whole freeze, ``None`` where it was not compared.
        max_abs_without: the same without the pass.
        close_with: whether ``torch.testing.assert_close`` accepts the whole freeze, ``None`` where it was not compared.
        close_without: the same without the pass.
        error: why the freeze without it could not be made or run, else ``None``.
    """

    stage: str
    name: str
    latency: tuple[Payoff, ...] = ()
    max_abs_with: float | None = None
    max_abs_without: float | None = None
    close_with: bool | None = None
    close_without: bool | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """One recorded freeze.

    Attributes:
        name: the model's name.
        backend: which freezing was recorded.
        call: the Python call or command that made it.
        options: ``(name, text)`` of what was asked for.
        inputs: the inputs it was measured on.
        environment: where it ran.
        steps: in the order torch ran them; the steps of one method form a chain.
        attributes: sorted by path.
        near_misses: folds that did not happen.
        baselines: eager and scripted.
        notices: what to know.
        sources: the source lines that nodes refer to, with some around them.
        failure: the exception that ended the freeze, if one did.
        duration_ns: time of the whole freeze in the recorded run, recording included.
        created: UTC, ISO 8601.
        checks: what was asked of the frozen module afterwards.
        memory: what the freeze did to memory, ``None`` where it was not measured.
        programs: what Inductor generated, with freezing and without.
        ablation: what each pass contributes on its own, where that was asked for.
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

    def __repr__(self) -> str:
        changed = sum(step.changed for step in self.steps)
        end = f", failed in {self.failure.name}" if self.failure else ""
        return f"<Trace of {self.name} ({self.backend}): {len(self.steps)} steps, {changed} changed something{end}>"

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the recorded methods, in the order they first appear."""
        return tuple(dict.fromkeys(step.method for step in self.steps))

    def method_steps(self, method: str) -> tuple[Step, ...]:
        """Returns the steps of one method, in order."""
        return tuple(step for step in self.steps if step.method == method)

    def before(self, step: Step) -> Step | None:
        """Returns the step of the same method that ran just before ``step``, or ``None`` for its first."""
        earlier = [other for other in self.steps[: step.index] if other.method == step.method]
        return earlier[-1] if earlier else None

    def final(self, method: str) -> Step | None:
        """Returns the last step of ``method``, or ``None`` if it has none."""
        steps = self.method_steps(method)
        return steps[-1] if steps else None

    def attribute(self, path: str) -> AttributeFate | None:
        """Returns the fate of the attribute at ``path``, or ``None``."""
        return next((fate for fate in self.attributes if fate.path == path), None)


def graph_lines(graph: GraphSnapshot) -> Iterator[str]:
    """Yields the lines of a snapshot's text, in the style of torch's own printer.

    Args:
        graph: the snapshot.

    Yields:
        A header line, one line per node and block, and the return line.
    """
    yield f"graph({', '.join(f'%{value.name} : {value.type}' for value in graph.inputs)}):"
    for node in graph.nodes:
        yield from _node_lines(node, 1)
    yield f"  return ({', '.join(f'%{name}' for name in graph.outputs)})"


def _node_lines(node: Node, depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield indent + node_line(node)
    for number, block in enumerate(node.blocks):
        yield f"{indent}  block{number}({', '.join(f'%{value.name} : {value.type}' for value in block.inputs)}):"
        for inner in block.nodes:
            yield from _node_lines(inner, depth + 2)
        yield f"{indent}    -> ({', '.join(f'%{name}' for name in block.outputs)})"


def node_line(node: Node) -> str:
    """Returns one node as torch would print it, blocks left out.

    Args:
        node: the node.

    Returns:
        A line such as ``%5 : Tensor = aten::mul(%13, %2) # model.py:22:15``.
    """
    outputs = ", ".join(f"%{value.name} : {value.type}" for value in node.outputs)
    attributes = "[" + ", ".join(f"{key}={text}" for key, text in node.attributes) + "]" if node.attributes else ""
    inputs = ", ".join(f"%{name}" for name in node.inputs)
    source = f" # {node.source.file}:{node.source.line}:{node.source.column}" if node.source else ""
    return f"{outputs + ' ' if outputs else ''}= {node.op}{attributes}({inputs}){source}"


def _walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for block in node.blocks:
            yield from _walk(block.nodes)
