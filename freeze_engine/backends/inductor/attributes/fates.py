"""Finds the fate of every tensor of the model in one compiled graph, with its reason and evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.inductor.attributes.evidence import Fact, Story, held_evidence, lost_evidence, read_names
from freeze_engine.backends.inductor.attributes.kept_inputs import kept_advice, kept_reason
from freeze_engine.backends.inductor.attributes.origins import Origin
from freeze_engine.backends.inductor.attributes.package import with_update
from freeze_engine.backends.inductor.graph.model_tensors import ModelAttribute
from freeze_engine.trace import AttributeFate, Constant, Evidence, Location

_LOADED = "torch/_dynamo/codegen.py, PyCodegen.restore_stack"
_ANEW = (
    "Write the new value into the tensor (.copy_()) instead of assigning another one: the tensor then stays an input "
    "of the compiled graph, and torch.compile compiles once."
)


def fates(story: Story) -> tuple[AttributeFate, ...]:
    """Judges every tensor of the model.

    Args:
        story: of one compile that got as far as inlining.

    Returns:
        One fate for each path, sorted.
    """
    positions = {path: index for index, each in enumerate(story.compiled.inputs) for path in each.paths}
    known = {attribute.path: attribute for attribute in story.compiled.attributes}
    read = read_names(story.steps[0].graph)
    holders, tensors = _holders(story.constants), _tensors(story)
    found: dict[str, AttributeFate] = {}
    for path, attribute in known.items():
        position = positions.get(path)
        held = holders.get(position, {}) if position is not None else {}
        if not attribute.inner or position is not None:
            fate = _fate(story, attribute, position, _Uses(read, held))
            found[path] = fate if position is None else replace(fate, tensor=tensors.get(position))
    for path, attribute in known.items():
        if path not in found:
            found[path] = _outer(attribute, [found[each] for each in attribute.inner])
    return tuple(with_update(story.compiled, found[path]) for path in sorted(found))


@dataclass(frozen=True, slots=True)
class _Uses:
    """The uses of an attribute in the graph.

    Attributes:
        read: the names of all values that the first graph reads.
        holders: the constants of the last graph that come from it, by value name.
    """

    read: Set[str]
    holders: Mapping[str, Origin]


def _tensors(story: Story) -> Mapping[int, Constant]:
    """Returns the summaries of the tensors that torch made constants, with their numbers, by position of the input."""
    if story.inlining is None:
        return {}
    kept = {node.outputs[0].name: node.constant for node in story.inlining.graph.walk() if node.op == "get_attr"}
    named = ((position, kept.get(each.name)) for position, each in enumerate(story.compiled.inputs))
    return {position: made for position, made in named if made is not None and made.values is not None}


def _holders(constants: Mapping[str, Origin]) -> Mapping[int, Mapping[str, Origin]]:
    """Returns the constants that come from each input, by its position."""
    found: dict[int, dict[str, Origin]] = {}
    for name, origin in constants.items():
        for position in origin.inputs:
            found.setdefault(position, {})[name] = origin
    return found


def _fate(story: Story, attribute: ModelAttribute, position: int | None, uses: _Uses) -> AttributeFate:
    judge = _judge(attribute)
    if position is None:
        found = judge("dropped", evidence=(Evidence(_absence(story, attribute)),))
    elif story.compiled.preserved is not None and position in story.compiled.preserved:
        found = _preserved(story, judge, position)
    else:
        found = _made_constant(story, judge, position, uses)
    found = _assigned(story, found)
    return _read_live(story, found) if attribute.path in (story.compiled.live or ()) else found


def _judge(attribute: ModelAttribute) -> Callable[..., AttributeFate]:
    return partial(
        AttributeFate,
        attribute.path,
        attribute.kind,
        attribute.type,
        attribute.shape,
        attribute.dtype,
        attribute.nbytes,
        same_as=attribute.same_as,
    )


def _absence(story: Story, attribute: ModelAttribute) -> str:
    if not attribute.touched:
        return "it never enters the graph: the function that was compiled does not read it"
    looked = "it never enters the graph: Dynamo looked at it while it traced the function"
    if story.compiled.live is None:
        return f"{looked}; this torch does not show whether the code around the graph reads it"
    return f"{looked} (its shape, or for a result that nothing uses), and no compiled code reads its values"


def _preserved(story: Story, judge: Callable[..., AttributeFate], position: int) -> AttributeFate:
    given = story.compiled.inputs[position]
    first, last = story.steps[0], story.steps[-1]
    reason, evidence = kept_reason(given, first)
    stands = any(value.name == given.name for value in last.graph.inputs)
    locations = (Location(first.method, given.name),) if stands else ()
    step = story.inlining.index if story.inlining else None
    return judge("preserved", reason, (evidence,), kept_advice(given, reason), step, locations)


def _made_constant(story: Story, judge: Callable[..., AttributeFate], position: int, uses: _Uses) -> AttributeFate:
    """Judges an input that torch made a constant."""
    first = story.steps[0]
    inlining = story.inlining.index if story.inlining else None
    name = story.compiled.inputs[position].name
    if uses.holders:
        locations = tuple(Location(first.method, holder) for holder in uses.holders)
        evidence = held_evidence(story, position, uses.holders)
        if any(origin.same for origin in uses.holders.values()):
            return judge("inlined", evidence=evidence, step=inlining, locations=locations)
        fold = story.computed.get(position)
        return judge("folded", evidence=evidence, step=inlining if fold is None else fold, locations=locations)
    if name not in uses.read:
        evidence = (Evidence("no node of the graph reads it", first.method, first.index),)
        return judge("dropped", evidence=evidence, step=inlining)
    fact: Fact = lost_evidence(story, position)
    locations = tuple(Location(first.method, holder) for holder in fact.holders)
    return judge(
        fact.fate, evidence=fact.evidence, step=inlining if fact.step is None else fact.step, locations=locations
    )


def _assigned(story: Story, fate: AttributeFate) -> AttributeFate:
    """Adds that the function assigns an attribute, where that makes torch compile anew."""
    made = next((each for each in story.compiled.assigned if each.is_tensor and each.path == fate.path), None)
    if made is None or fate.fate == "preserved":
        return fate
    first = story.steps[0]
    fact = (
        "the function assigns another tensor to it; torch checks before each call that it is still the same one, so "
        "torch.compile compiles anew"
    )
    evidence = Evidence(fact, first.method, first.index, source=made.source)
    return replace(fate, evidence=(*fate.evidence, evidence), advice=_ANEW)


def _read_live(story: Story, fate: AttributeFate) -> AttributeFate:
    """Judges an attribute that the code around the graph reads, whatever the graph does to it."""
    if fate.fate == "preserved":
        return fate
    end = story.compiled.end
    broken = end is not None and end.broken
    does = "passes it on to the code after the graph break" if broken else "returns it as it is"
    fact = f"at every call the code around the graph reads it from the module and {does} ({_LOADED})"
    live = Evidence(fact, story.steps[0].method, story.steps[0].index)
    rest = fate.evidence if fate.fate != "dropped" else ()
    advice = "" if broken else "Return a copy that forward makes (.clone()): that is computed from a constant."
    return replace(fate, fate="preserved", reason="read_live", evidence=(live, *rest), advice=advice)


def _outer(attribute: ModelAttribute, inner: Sequence[AttributeFate]) -> AttributeFate:
    """Judges a tensor subclass by the tensors inside it: by one that stays an attribute, else by the largest."""
    decisive = min(inner, key=lambda fate: (fate.fate != "preserved", -(fate.nbytes or 0)))
    names = listed(fate.path for fate in inner)
    each = "each with a fate of its own; the facts that follow are"
    fact = Evidence(f"a tensor subclass: torch compiles the tensors inside it ({names}), {each} of {decisive.path}")
    return _judge(attribute)(
        decisive.fate,
        decisive.reason,
        (fact, *decisive.evidence),
        decisive.advice,
        decisive.step,
        tuple(dict.fromkeys(place for fate in inner for place in fate.locations)),
    )
