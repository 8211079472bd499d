"""Finds the fate of every parameter and buffer in one compiled graph, and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial

from freeze_engine.backends.inductor.attributes.origins import Origin
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.graph.graph_inputs import GraphInput, ModelAttribute
from freeze_engine.backends.inductor.graph.target_names import without_overload
from freeze_engine.trace import AttributeFate, ChainLink, Evidence, GraphSnapshot, Location, Node, Reason, Step

_RULE = "torch/_inductor/freezing.py, replace_params_with_constants"
_VIEWS = {
    "aten.alias",
    "aten.as_strided",
    "aten.detach",
    "aten.expand",
    "aten.permute",
    "aten.reshape",
    "aten.select",
    "aten.slice",
    "aten.split",
    "aten.squeeze",
    "aten.t",
    "aten.transpose",
    "aten.unsqueeze",
    "aten.view",
    "operator.getitem",
}


@dataclass(frozen=True, slots=True)
class Story:
    """The effects of one compile's steps on its constants.

    Attributes:
        compiled: the compile.
        steps: its steps, as recorded.
        inlining: the step that inlined parameters, ``None`` if it was not reached.
        computed: by position of an input, the last step that computed something new from it.
        constants: what the constants of the last graph come from, by value name.
    """

    compiled: RawCompile
    steps: Sequence[Step]
    inlining: Step | None
    computed: Mapping[int, int]
    constants: Mapping[str, Origin]


def fates(story: Story) -> tuple[AttributeFate, ...]:
    """Judges every tensor of the model.

    Args:
        story: of one compile that got as far as inlining.

    Returns:
        One fate for each path, sorted.
    """
    positions = {path: index for index, each in enumerate(story.compiled.inputs) for path in each.paths}
    known = {attribute.path: attribute for attribute in story.compiled.attributes}
    read = _read_names(story.steps[0].graph)
    holders = _holders(story.constants)
    found = {}
    for path, attribute in known.items():
        position = positions.get(path)
        held = holders.get(position, {}) if position is not None else {}
        found[path] = _fate(story, attribute, position, _Uses(read, held))
    return tuple(found[path] for path in sorted(found))


@dataclass(frozen=True, slots=True)
class _Uses:
    """The uses of an attribute in the graph.

    Attributes:
        read: the names of all values that the first graph reads.
        holders: the constants of the last graph that come from it, by value name.
    """

    read: Set[str]
    holders: Mapping[str, Origin]


def _holders(constants: Mapping[str, Origin]) -> Mapping[int, Mapping[str, Origin]]:
    """Returns the constants that come from each input, by its position."""
    found: dict[int, dict[str, Origin]] = {}
    for name, origin in constants.items():
        for position in origin.inputs:
            found.setdefault(position, {})[name] = origin
    return found


def _fate(story: Story, attribute: ModelAttribute, position: int | None, uses: _Uses) -> AttributeFate:
    judge = partial(
        AttributeFate,
        attribute.path,
        attribute.kind,
        attribute.type,
        attribute.shape,
        attribute.dtype,
        attribute.nbytes,
        same_as=attribute.same_as,
    )
    if position is None:
        return judge("dropped", evidence=(Evidence(_absence(attribute)),))
    inlining = story.inlining.index if story.inlining else None
    if story.compiled.preserved is not None and position in story.compiled.preserved:
        return _preserved(story, judge, position, inlining)
    first = story.steps[0]
    locations = tuple(Location(first.method, name) for name in uses.holders)
    if any(origin.same for origin in uses.holders.values()):
        return judge("inlined", step=inlining, locations=locations)
    if story.compiled.inputs[position].name not in uses.read:
        evidence = (Evidence("no node of the graph reads it", first.method, first.index),)
        return judge("dropped", evidence=evidence, step=inlining)
    fold = story.computed.get(position)
    return judge("folded", step=inlining if fold is None else fold, locations=locations)


def _absence(attribute: ModelAttribute) -> str:
    if attribute.touched:
        return "it never enters the graph: Dynamo reads it from the module whenever the function is called"
    return "it never enters the graph: the function that was compiled does not read it"


def _preserved(story: Story, judge: Callable[..., AttributeFate], position: int, inlining: int | None) -> AttributeFate:
    given = story.compiled.inputs[position]
    first, last = story.steps[0], story.steps[-1]
    reason, evidence = _reason(given, first)
    stands = any(value.name == given.name for value in last.graph.inputs)
    locations = (Location(first.method, given.name),) if stands else ()
    return judge("preserved", reason, (evidence,), _ADVICE.get(reason, ""), inlining, locations)


_ADVICE: Mapping[Reason, str] = {
    "mutated_input": "Keep what forward writes apart from the weights, or do not write it in inference.",
    "aliases_output": "Return a copy (.clone()) of what depends on it, instead of a view.",
    "not_a_parameter": (
        "Turn torch._inductor.config.freezing on while the function is called for the first time, under "
        "torch.no_grad(): torch.compile(options={'freezing': True}) comes too late for Dynamo."
    ),
}


def _reason(given: GraphInput, step: Step) -> tuple[Reason, Evidence]:
    graph = step.graph
    aliases = _aliases(graph, given.name)
    if given.mutated:
        fact = f"AOTAutograd: the graph writes it; such an input is kept ({_RULE})"
        return "mutated_input", _pointed(fact, step, next(_writes(graph, aliases), None), aliases)
    if given.outputs:
        numbers = ", ".join(map(str, given.outputs))
        fact = f"AOTAutograd: output {numbers} aliases it; such an input is kept ({_RULE})"
        last = [aliases[name] for name in graph.outputs if name in aliases and aliases[name] is not None]
        return "aliases_output", _pointed(fact, step, last[0] if last else None, aliases)
    if not given.is_parameter:
        fact = "Dynamo passed it as an input of the graph: freezing was off while it traced the function"
        return "not_a_parameter", Evidence(fact, step.method, step.index)
    return "unknown", Evidence(f"torch kept it ({_RULE})", step.method, step.index)


def _aliases(graph: GraphSnapshot, name: str) -> dict[str, Node | None]:
    """Returns the values that share an input's memory, each with the node that made it, the input's own first."""
    found: dict[str, Node | None] = {name: None}
    for node in graph.nodes:
        if without_overload(node.op) in _VIEWS and node.inputs and node.inputs[0] in found:
            found.update((value.name, node) for value in node.outputs)
    return found


def _writes(graph: GraphSnapshot, aliases: Mapping[str, object]) -> Iterator[Node]:
    """Yields the nodes that write one of these values: torch's names of such operators end in an underscore."""
    for node in graph.nodes:
        parts = node.op.split(".")
        in_place = len(parts) > 1 and parts[1].endswith("_") and not parts[1].endswith("__")
        if in_place and node.inputs and node.inputs[0] in aliases:
            yield node


def _pointed(fact: str, step: Step, node: Node | None, aliases: Mapping[str, Node | None]) -> Evidence:
    """Returns evidence with a node, its source line, and the chain of views from there back to the input.

    AOTAutograd writes the new value of an input with one ``copy_`` at the end, which has no source line of its own:
    that of the node which computed the value is the user's.
    """
    if node is None:
        return Evidence(fact, step.method, step.index)
    makers = {value.name: maker for maker in step.graph.nodes for value in maker.outputs}
    computed = [makers[name] for name in node.inputs[1:] if name in makers]
    source = node.source or next((maker.source for maker in computed if maker.source), None)
    return Evidence(fact, step.method, step.index, node.id, node.op, source, tuple(_chain(node, aliases)))


def _chain(node: Node, aliases: Mapping[str, Node | None]) -> Iterator[ChainLink]:
    maker: Node | None = node
    while maker is not None:
        yield ChainLink(maker.outputs[0].name, maker.id, maker.op, maker.source)
        maker = aliases.get(maker.inputs[0])


def _read_names(graph: GraphSnapshot) -> Set[str]:
    return {*graph.outputs, *(name for node in graph.walk() for name in node.inputs)}
