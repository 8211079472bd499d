"""Names the dropout behind a check of the shape that keeps a batch norm from being folded.

Freezing knows how many dimensions the output of a convolution has, and removes the check by a batch norm that reads it.
With a dropout between the two it does not know. When ``RemoveDropout`` takes the dropout away, the check stays, and
reads the convolution's output beside the batch norm (seen with torch 2.13).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.use_def import DROPOUTS, SHAPE_READERS, UseDef, use_def
from freeze_engine.backends.torchscript.folds.obstacles import Found
from freeze_engine.trace import GraphSnapshot, Node


def checks_of_dropouts(before: GraphSnapshot, after: GraphSnapshot) -> Mapping[str, str]:
    """Returns the nodes that read the shape of a dropout that a pass removed, by id, each with the dropout's id.

    Args:
        before: the graph before the pass.
        after: the graph after it.
    """
    standing = {node.id for node in after.walk()}
    removed = [node for node in before.walk() if node.op in DROPOUTS and node.id not in standing]
    graph = use_def(before) if removed else None
    return {
        reader.node: node.id
        for node in removed
        for reader in (graph.readers.get(node.outputs[0].name, ()) if graph is not None else ())
        if reader.op in SHAPE_READERS
    }


def naming_dropouts(graph: UseDef, missed: Found, checks: Mapping[str, str]) -> Found:
    """Returns a near miss whose obstacle names the dropout, where its other readers are checks of a dropout's shape."""
    obstacles = tuple(_named(graph, missed.node, each, checks) for each in missed.obstacles)
    return replace(missed, obstacles=obstacles)


def _named(graph: UseDef, node: Node, obstacle: Obstacle, checks: Mapping[str, str]) -> Obstacle:
    others = [reader.node for reader in graph.readers.get(node.inputs[0], ()) if reader.node != node.id]
    if obstacle.reason != "several_uses" or not others or any(other not in checks for other in others):
        return obstacle
    return Obstacle(
        obstacle.reason,
        f"{obstacle.detail} It checked the output of the dropout %{checks[others[0]]}, which a pass has removed; "
        "right after a conv, freezing removes such a check.",
        "Leave the dropout out before freezing, for example put torch.nn.Identity in its place; tracing instead of "
        "scripting leaves the check out.",
    )
