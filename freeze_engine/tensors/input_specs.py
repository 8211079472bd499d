"""Reads the structures of an exported module's inputs."""

from __future__ import annotations

from typing import Any


def spec_parts(spec: Any) -> list[Any]:
    """Returns the specifications inside another one; torch 2.13 deprecates the attribute of earlier versions.

    Args:
        spec: ``torch.utils._pytree.TreeSpec``, such as ``_in_spec`` of the module (torch 2.6 to 2.13).
    """
    children = getattr(spec, "children", None)
    return list(children() if callable(children) else spec.children_specs)
