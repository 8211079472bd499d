"""Measures the share of nodes that are traced from the user's source line to their kernel, with Inductor freezing.

Run from the project's root: ``python -m benchmarks.provenance [EXAMPLE …]``; it compiles each once, which takes about a
minute, so this is not part of ``python -m benchmarks``. A node without a kernel is accounted for only if the trace
names its fate: the pass that folded or removed it, or why it needs no computation.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from unittest import mock

import torch

import freeze_engine as fe
from freeze_engine.analysis import node_ends
from freeze_engine.trace import Program

GOAL = 0.98
EXAMPLES = ("resnet50", "transformer")
ENDS = {
    "kernel": "in a kernel",
    "constant": "in a constant",
    "removed": "removed by a pass",
    "no_kernel": "nothing to compute",
    "unknown": "unknown",
}


def accounted_for(trace: fe.Trace, program: Program, first: bool) -> tuple[int, int, int, Counter[str]]:
    """Counts the call nodes of a graph, those with a known line, those accounted for, and their ends.

    Args:
        trace: the recording.
        program: one of its programs.
        first: whether to count in the first graph, or in the last.
    """
    steps = trace.method_steps(program.method)
    nodes = {node.id: node for node in steps[0 if first else -1].graph.walk()}
    ends = node_ends(trace, program, first)
    lined = [end for end in ends if nodes[end.node].source is not None]
    known = [end for end in lined if end.end != "unknown"]
    return len(ends), len(lined), len(known), Counter(end.end for end in ends)


def _recorded(name: str) -> fe.Trace:
    model = fe.load_model(f"example:{name}")
    # The fast path is one operator, which hides the transformer's nodes.
    torch.backends.mha.set_fastpath_enabled(False)
    options = fe.InductorOptions(force_disable_caches=True)
    with tempfile.TemporaryDirectory() as caches, mock.patch.dict("os.environ", TORCHINDUCTOR_CACHE_DIR=caches):
        return fe.record(model.module, model.inputs, backend="inductor", options=options, measure=None).trace


def main(*names: str) -> None:
    """Prints the shares.

    Args:
        *names: of built-in examples.
    """
    print(f"From source line to kernel (goal: at least {GOAL:.0%} of the call nodes accounted for)")
    for name in names or EXAMPLES:
        trace = _recorded(name)
        for program in trace.programs:
            print(f"  {name}, {len(program.kernels)} calls of kernels")
            for first, graph in ((True, "as it came"), (False, "last graph")):
                calls, lined, known, ends = accounted_for(trace, program, first)
                told = ", ".join(f"{text} {ends[end] / calls:.1%}" for end, text in ENDS.items() if ends[end])
                print(
                    f"    {graph}: {calls:4} call nodes, line known {lined / calls:.1%}; {told}; "
                    f"accounted for {known / calls:.1%}"
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
