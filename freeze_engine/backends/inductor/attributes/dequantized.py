"""Quantised weights that folding replaced by larger floating-point constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.inductor.attributes.evidence import Story
from freeze_engine.backends.inductor.graph.graph_inputs import GraphInput
from freeze_engine.trace import Constant, Notice

_WIDE = ("float64", "float32", "float16", "bfloat16")
_NARROW = ("int", "uint", "bits", "float8", "float4")


def dequantized(story: Story) -> Iterator[Notice]:
    """Yields a notice if folding made larger floating-point constants of quantised weights.

    Args:
        story: of one compile.
    """
    last = story.steps[-1].graph
    constants = {node.outputs[0].name: node.constant for node in last.walk() if node.constant is not None}
    smallest: dict[tuple[int, ...], Constant] = {}
    for name, origin in story.constants.items():
        constant = constants.get(name)
        if constant is None or origin.same or constant.dtype not in _WIDE:
            continue
        sources = [story.compiled.inputs[position] for position in origin.inputs]
        if any(map(_is_quantised, sources)) and constant.nbytes > _nbytes(story, sources):
            known = smallest.get(origin.inputs, constant)  # a library's kernel holds its own layout beside it
            smallest[origin.inputs] = min(known, constant, key=lambda each: each.nbytes)
    if not smallest:
        return
    before = dict.fromkeys(position for positions in smallest for position in positions)
    after = list(smallest.values())
    step = max(story.computed[position] for position in before)
    inputs = [story.compiled.inputs[position] for position in before]
    paths = [each.paths[0] for each in inputs if _is_quantised(each) and each.paths]
    names = listed(paths)
    remedy = "Compile without freezing to keep the weights quantised."
    # torch leaves the conversion of a stored int8 weight to bfloat16, and runs what else makes a weight of constants.
    alone = all(len(positions) == 1 for positions in smallest)
    if alone and {each.spec.dtype for each in inputs} == {"int8"} and "bfloat16" not in {each.dtype for each in after}:
        remedy = (
            "To keep the weights quantised, compute in bfloat16, for which torch has kernels with int8 weights, or "
            "compile without freezing."
        )
    made = f"{sum(constant.nbytes for constant in after):,} bytes of {after[0].dtype} constants"
    yield Notice(
        "dequantized",
        f"Freezing undid quantisation: step {step}, {story.steps[step].name}, computed {made} from "
        f"{_nbytes(story, inputs):,} bytes of quantised weights ({names}), and the compiled code reads "
        f"those. {remedy}",
        step,
    )


def _is_quantised(given: GraphInput) -> bool:
    dtype = given.spec.dtype or ""
    return dtype.startswith(_NARROW) and dtype not in ("int64", "int32")


def _nbytes(story: Story, inputs: Iterable[GraphInput]) -> int:
    sizes = {attribute.path: attribute.nbytes for attribute in story.compiled.attributes}
    return sum(sizes.get(each.paths[0], 0) for each in inputs if each.paths)
