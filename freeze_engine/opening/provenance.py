"""Reads which nodes of the last graph each generated kernel computes, where torch's log says so.

With ``INDUCTOR_PROVENANCE=1`` or ``TORCH_COMPILE_DEBUG=1``, torch writes the artifact
``inductor_provenance_tracking_node_mappings``. Its ``cppCodeToPost`` has the names of nodes by kernel, each with the
number of its call behind a colon (``set_kernel_post_grad_provenance_tracing``, torch/_inductor/debug.py, torch 2.13).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from freeze_engine.trace import GraphSnapshot, Kernel

ARTIFACT: Final = "inductor_provenance_tracking_node_mappings"
_MAX_CALLS: Final = 100_000

Provenance = Mapping[str, Sequence[Sequence[str]]]
"""Names of nodes by kernel, one list for each of its calls, in order."""


def provenance_of(payload: Mapping[str, Any]) -> Provenance:
    """Returns the nodes of each kernel; what is not of the known form is left out.

    Args:
        payload: of the artifact.
    """
    calls = payload.get("cppCodeToPost")
    if not isinstance(calls, dict) or len(calls) > _MAX_CALLS:
        return {}
    found: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for key, names in calls.items():
        kernel, _, number = key.rpartition(":")
        if kernel and number.isdecimal() and len(number) < 10 and isinstance(names, list):
            nodes = tuple(name for name in names if isinstance(name, str))
            found.setdefault(kernel, []).append((int(number), nodes))
    return {kernel: [nodes for _, nodes in sorted(each)] for kernel, each in found.items()}


def with_nodes(kernels: Sequence[Kernel], provenance: Provenance, graph: GraphSnapshot) -> tuple[Kernel, ...]:
    """Returns kernels with the nodes that they compute.

    A kernel whose calls in the code are not as many as those in the log stays without nodes: which call is which is
    unknown then.

    Args:
        kernels: the calls of a program, in order.
        provenance: of its compile.
        graph: after the post-grad passes, whose nodes torch names there.
    """
    ids = {value.name: node for node in graph.walk() for value in node.outputs}
    counted = Counter(kernel.name for kernel in kernels)
    seen: Counter[str] = Counter()
    found = []
    for kernel in kernels:
        calls = provenance.get(kernel.name, ())
        known = calls[seen[kernel.name]] if len(calls) == counted[kernel.name] else ()
        seen[kernel.name] += 1
        nodes = [ids[name] for name in known if name in ids]
        found.append(
            replace(kernel, nodes=tuple(dict.fromkeys(node.id for node in nodes)), ops=tuple(node.op for node in nodes))
        )
    return tuple(found)
