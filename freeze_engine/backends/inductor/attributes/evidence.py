"""Finds the pass that made each constant of an inlined attribute: the evidence of its fate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.inductor.attributes.kept_inputs import RULE
from freeze_engine.backends.inductor.attributes.origins import Folded, Origin
from freeze_engine.backends.inductor.capture.pass_observer import COMPILE
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.trace import Evidence, Fate, GraphSnapshot, Node, Program, SourceRef, Step

_SHOWN = 4
_LITERAL = 8
"""Up to how many elements of a constant are written into the code."""
_LITERALS = "torch/_inductor/graph.py, can_inline_constant"


@dataclass(frozen=True, slots=True)
class Gone:
    """When the last value that came from an attribute left the graph.

    Attributes:
        step: the step after which there is none.
        names: the values that came from it before that step.
    """

    step: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Story:
    """What the steps of one compile did to its constants.

    Attributes:
        compiled: the compile.
        steps: its steps, as recorded.
        inlining: the step that inlined parameters, ``None`` if it was not reached.
        computed: by position of an input, the last step that computed something new from it.
        constants: what the constants of the last graph come from, by value name.
        folds: the nodes that became constants, each with its step, in order.
        gone: by position of an input, when its value left the graph.
        programs: what was generated.
    """

    compiled: RawCompile
    steps: Sequence[Step]
    inlining: Step | None
    computed: Mapping[int, int]
    constants: Mapping[str, Origin]
    folds: Sequence[tuple[int, Folded]] = ()
    gone: Mapping[int, Gone] = field(default_factory=dict)
    programs: Sequence[Program] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """What became of an attribute of which the last graph holds no constant.

    Attributes:
        fate: in a word.
        evidence: what shows it.
        step: the step that decided, ``None`` where that is the inlining.
        holders: values of the last graph that stand for it still.
    """

    fate: Fate
    evidence: tuple[Evidence, ...]
    step: int | None
    holders: tuple[str, ...] = ()


def held_evidence(story: Story, position: int, holders: Mapping[str, Origin]) -> tuple[Evidence, ...]:
    """Returns what made the constants of the last graph that come from an attribute, first those that hold it as it is.

    Args:
        story: of the compile.
        position: of the attribute among the inputs.
        holders: the constants, by name.
    """
    ordered = sorted(holders, key=lambda name: not holders[name].same)
    made = [each for name in ordered[:_SHOWN] for each in _made(story, position, name)]
    written = [each for name in ordered[:_SHOWN] for each in _written(story, name)]
    return tuple(dict.fromkeys((*made, *_inlined(story, position), *written)))


def lost_evidence(story: Story, position: int) -> Fact:
    """Returns what became of an attribute of which the last graph holds no constant.

    Args:
        story: of the compile.
        position: of the attribute among the inputs.
    """
    gone = story.gone.get(position)
    if gone is None:
        fact = Evidence("no constant of the last graph comes from it", story.steps[0].method, story.steps[-1].index)
        return Fact("dropped", (fact,), None)
    step, before = story.steps[gone.step], story.steps[gone.step - 1]
    readers = [node for node in before.graph.walk() if not gone.names.isdisjoint(node.inputs)]
    if step.stage == COMPILE:
        return _packed(story, position, gone, readers)
    used = {node.id for node in readers}
    rewrite = next((each for each in step.rewrites if each.produced and not used.isdisjoint(each.consumed)), None)
    names = listed(f"%{name}" for name in sorted(gone.names))
    does = f"{step.name} left no node that reads {names}"
    if rewrite is not None:
        does = f"{step.name} replaced the nodes that read {names} ({rewrite.kind})"
    reader = readers[0] if readers else None
    evidence = _pointing(does, before, reader)
    return Fact("dropped" if rewrite is None else "folded", (evidence, *_inlined(story, position)), step.index)


def read_names(graph: GraphSnapshot) -> Set[str]:
    """Returns the names of all values that a graph reads or returns."""
    return {*graph.outputs, *(name for node in graph.walk() for name in node.inputs)}


def _made(story: Story, position: int, name: str) -> Iterator[Evidence]:
    """Yields the passes that made a constant of the last graph from an attribute, the one that computed it first."""
    mine = [each for each in story.folds if _is_of(each[1], position)]
    fold = next((each for each in reversed(mine) if each[1].name == name), None)
    if fold is not None and not fold[1].computed and not fold[1].origin.same:
        earlier = next((each for each in reversed(mine) if each[1].computed and each[0] <= fold[0]), None)
        if earlier is not None:
            yield _folded(story, *earlier)
    if fold is not None:
        yield _folded(story, *fold)
    elif name == story.compiled.inputs[position].name:
        yield from _inlined(story, position)
    else:
        last = story.steps[-1]
        yield _pointing(f"the constant %{name} of the last graph comes from it", last, _node(last.graph, name))


def _folded(story: Story, index: int, folded: Folded) -> Evidence:
    step = story.steps[index]
    does = "put it, in another layout or shape, into"
    if folded.computed:
        does = "computed from it"
    elif not folded.origin.same:
        does = "put that, in another layout or shape, into"
    source = next(_sources(story.steps[index - 1].graph, folded), None)
    fact = f"{step.name} {does} the constant %{folded.name}"
    return replace(_pointing(fact, step, _node(step.graph, folded.name)), source=source)


def _inlined(story: Story, position: int) -> Iterator[Evidence]:
    """Yields that torch made an input a constant, if that step was seen."""
    name = story.compiled.inputs[position].name
    if story.compiled.package is not None:
        first = story.steps[0]
        yield _pointing(f"the exported program holds it as the constant %{name}", first, _node(first.graph, name))
        return
    node = _node(story.inlining.graph, name) if story.inlining is not None else None
    if story.inlining is not None and node is not None:
        yield _pointing(f"torch made this very tensor the constant %{name} ({RULE})", story.inlining, node)


def _written(story: Story, name: str) -> Iterator[Evidence]:
    """Yields that code generation writes a small constant into the code, where code was generated."""
    last = story.steps[-1]
    node = _node(last.graph, name) if story.programs else None
    constant = node.constant if node is not None else None
    if constant is None or len(constant.shape) > 1 or any(size > _LITERAL for size in constant.shape):
        return
    fact = f"code generation writes the values of %{name} into the code, without memory of its own ({_LITERALS})"
    yield _pointing(fact, last, node)


def _packed(story: Story, position: int, gone: Gone, readers: Sequence[Node]) -> Fact:
    """Says that code generation took a constant out of the graph.

    A template keeps its weight packed and deletes the graph's (``prune_tensors`` in
    ``torch/_inductor/codegen/cpp_gemm_template.py``, torch 2.13).
    """
    step = story.steps[gone.step]
    last = {value.name for node in story.steps[-1].graph.walk() for value in node.outputs}
    holders = tuple(sorted(gone.names & last))
    used = {node.id for node in readers}
    kernels = [each.name for program in story.programs for each in program.kernels if not used.isdisjoint(each.nodes)]
    names = listed(f"%{name}" for name in holders) or "the constant"
    into = f"the memory of the kernel {kernels[0]}" if kernels else "memory of its own"
    fact = f"code generation packed its elements into {into} and took {names} out of the graph ({step.name})"
    packed = _pointing(fact, step, readers[0] if readers else None)
    return Fact("inlined", (packed, *_inlined(story, position)), None, holders)


def _is_of(folded: Folded, position: int) -> bool:
    return position in folded.origin.inputs


def _sources(graph: GraphSnapshot, folded: Folded) -> Iterator[SourceRef]:
    cone = set(folded.cone)
    named = {value.name: node for node in graph.walk() for value in node.outputs if value.name in cone}
    for name in (folded.name, *reversed(folded.cone)):
        source = named[name].source if name in named else None
        if source is not None:
            yield source


def _node(graph: GraphSnapshot, name: str) -> Node | None:
    return next((node for node in graph.walk() if any(value.name == name for value in node.outputs)), None)


def _pointing(fact: str, step: Step, node: Node | None) -> Evidence:
    if node is None:
        return Evidence(fact, step.method, step.index)
    return Evidence(fact, step.method, step.index, node.id, node.op, node.source)
