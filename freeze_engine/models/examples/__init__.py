"""Built-in models, each showing one thing about freezing, without downloads.

This table is free of torch, so that the names can be listed quickly; a model's own module is imported when it is
built.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

    from freeze_engine.requests.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Example:
    """One built-in model.

    Attributes:
        name: what follows ``example:`` on the command line.
        summary: what the model is.
        shows: what freezing it shows.
        module: the module of this package that holds it.
        factory: the function of that module that builds it.
        preserved_attrs: what to preserve for the example to show its thing.
    """

    name: str
    summary: str
    shows: str
    module: str
    factory: str = "build"
    preserved_attrs: tuple[str, ...] = ()

    def build(self) -> tuple[nn.Module, Inputs]:
        """Builds the model in eval mode, with the same random weights and inputs each time.

        torch's global random state is left as it was.

        Returns:
            The module, which `torch.jit.script` accepts, and inputs to run it on.
        """
        import torch

        factory = getattr(importlib.import_module(f"{__name__}.{self.module}"), self.factory)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            module, inputs = factory()
        return module.eval(), inputs


_ALL = (
    Example(
        "resnet18",
        "ResNet-18 on one 224 × 224 image",
        "every batch norm folds into its convolution",
        module="resnet",
        factory="resnet18",
    ),
    Example(
        "resnet50",
        "ResNet-50 on one 224 × 224 image",
        "every batch norm folds into its convolution, in a deep model",
        module="resnet",
        factory="resnet50",
    ),
    Example(
        "inception",
        "Inception v3 without its auxiliary classifier, on one 299 × 299 image",
        "folding in branches that are concatenated",
        module="inception",
    ),
    Example(
        "transformer",
        "a transformer encoder that classifies 32 tokens",
        "dropout goes away, and the packed query-key-value weights of torch's own attention stay attributes",
        module="transformer",
    ),
    Example(
        "parallel_linears",
        "query, key and value projections of one input",
        "linears of one input become one on CUDA, and stay three on the CPU",
        module="parallel_linears",
    ),
    Example(
        "counter",
        "a module that counts its calls and sums its inputs",
        "an attribute that is set and a buffer written in place stay attributes; everything else is inlined",
        module="counter",
    ),
    Example(
        "preserved_version",
        "a model with a version number on a submodule",
        "an attribute preserved by name stays, and so does the submodule on the way to it",
        module="preserved_version",
        preserved_attrs=("sub.version",),
    ),
    Example(
        "view_alias",
        "a cache whose rows are written through views",
        "a write through a view keeps the whole buffer an attribute",
        module="view_alias",
    ),
    Example(
        "bf16_misfold",
        "a bfloat16 convolution and batch norm on a bright picture of low contrast",
        "folding moves the numbers: the folded model is off by far more than bfloat16's tolerance",
        module="bf16_misfold",
    ),
    Example(
        "no_fold",
        "convolutions with a batch norm, an add or a multiplication next to them",
        "nothing folds, each time for another reason",
        module="no_fold",
    ),
)

EXAMPLES: Mapping[str, Example] = MappingProxyType({example.name: example for example in _ALL})
"""The built-in models by name, each showing one thing; ``EXAMPLES["counter"].build()`` builds one with inputs."""
