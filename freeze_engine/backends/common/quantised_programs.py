"""How far PT2E quantisation of a module got, and whether it quantised anything.

`prepare_pt2e` notes on a module which attributes it observes, and `convert_pt2e` keeps that note (torchao 0.18,
``torchao/quantization/pt2e/prepare.py``; ``torch/ao/quantization/pt2e/prepare.py``). Saving loses it.
"""

from __future__ import annotations

from typing import Final

import torch

from freeze_engine.errors import FreezerError
from freeze_engine.trace import Notice

_OBSERVED: Final = "_observed_graph_module_attrs"
_OPERATORS: Final = ("quantized_decomposed.", "torchao.", "quantized.")


def quantisation_notices(module: torch.nn.Module) -> tuple[Notice, ...]:
    """Returns a notice if PT2E quantisation was applied to a module and quantised nothing.

    Raises:
        FreezerError: the module is prepared for quantisation, and not converted.
    """
    prepared = [each for each in module.modules() if isinstance(each, torch.fx.GraphModule) and _OBSERVED in each.meta]
    if not prepared:
        return ()
    for part in prepared:
        if any(
            _observes(part.get_submodule(str(node.target))) for node in part.graph.nodes if node.op == "call_module"
        ):
            raise FreezerError(
                "the module is prepared for quantisation and not converted, so observers would be frozen into it: run "
                "the calibration inputs, then record convert_pt2e(model)"
            )
    if any(_converts(node) for part in prepared for node in part.graph.nodes):
        return ()
    return (
        Notice(
            "nothing_quantised",
            "PT2E quantisation was applied, and the graph has no operator that quantises: all is computed in floating "
            "point. The quantizer annotated none of the model's operators, such as conv1d for X86InductorQuantizer. "
            "Quantise other layers, or choose a quantizer and a configuration that know these operators.",
        ),
    )


def _observes(module: torch.nn.Module) -> bool:
    """Returns whether a module is an observer or a fake quantisation of torch's or torchao's."""
    return any(each.__name__ in ("ObserverBase", "FakeQuantizeBase") for each in type(module).__mro__)


def _converts(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and str(node.target).startswith(_OPERATORS)
