"""Why an input of the graph was not made a constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.inductor.graph.graph_inputs import GraphInput
from freeze_engine.backends.inductor.graph.target_names import without_overload
from freeze_engine.trace import ChainLink, Evidence, GraphSnapshot, Node, Reason, Step

RULE = "torch/_inductor/freezing.py, replace_params_with_constants"
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


KEPT_ADVICE: Mapping[Reason, str] = {
    "mutated_input": "Keep what forward writes apart from the weights, or do not write it in inference.",
    "aliases_output": "Return a copy (.clone()) of what depends on it, instead of a view.",
    "not_a_parameter": (
        "Turn torch._inductor.config.freezing on while the function is called for the first time, under "
        "torch.no_grad(): torch.compile(options={'freezing': True}) comes too late for Dynamo."
    ),
}


_OUTSIDE = (
    "Make it a parameter or a buffer of a module that the function calls, so that Inductor can make it a constant."
)


def kept_advice(given: GraphInput, reason: Reason) -> str:
    """Returns what would make an input a constant, empty where nothing is known.

    Args:
        given: the input.
        reason: why torch kept it.
    """
    return _OUTSIDE if given.is_outside and reason == "not_a_parameter" else KEPT_ADVICE.get(reason, "")


def kept_reason(given: GraphInput, step: Step) -> tuple[Reason, Evidence]:
    """Returns why torch kept an input, and what shows it.

    Args:
        given: the input.
        step: the first of the compile.
    """
    graph = step.graph
    aliases = _aliases(graph, given.name)
    if given.mutated:
        fact = f"AOTAutograd: the graph writes it; such an input is kept ({RULE})"
        return "mutated_input", _pointed(fact, step, next(_writes(graph, aliases), None), aliases)
    if given.outputs:
        numbers = listed(map(str, given.outputs))
        fact = f"AOTAutograd: output {numbers} aliases it; such an input is kept ({RULE})"
        last = [aliases[name] for name in graph.outputs if name in aliases and aliases[name] is not None]
        return "aliases_output", _pointed(fact, step, last[0] if last else None, aliases)
    if given.is_outside:
        fact = "no module holds it: Dynamo passes a tensor of a closure, a global or another object as an input"
        return "not_a_parameter", Evidence(fact, step.method, step.index)
    if not given.is_parameter:
        fact = "Dynamo passed it as an input of the graph: freezing was off while it traced the function"
        return "not_a_parameter", Evidence(fact, step.method, step.index)
    return "unknown", Evidence(f"torch kept it ({RULE})", step.method, step.index)


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
