"""Reads the possible names of Inductor's passes from torch's source, since otherwise only a compile shows them."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch

from freeze_engine.backends.inductor import torch_private

#: Files that name passes (torch 2.6 to 2.13), and those of them that run passes that can be disabled.
_FOLDER = "_inductor/fx_passes"
_RUNNING = ("joint_graph.py", "post_grad.py")
_LITERAL = re.compile(r"""f?["']([A-Za-z][\w\[\]{}.]*)["']""")
_OBSERVED = re.compile(rf"GraphTransformObserver\(\s*[\w.]+,(?:\s*#[^\n]*)?\s*{_LITERAL.pattern}")
_FIELD = re.compile(r"\\\{[^{}]*\\\}")
#: Settings that hold the user's own passes, which may run others under any name.
_OWN = ("joint_custom_pre_pass", "joint_custom_post_pass", "post_grad_custom_pre_pass", "post_grad_custom_post_pass")


def names_in_use() -> tuple[str, ...]:
    """Returns the names of torch's passes on joint and post-grad graphs, except those with a number."""
    found = (name for file in _RUNNING for name in _OBSERVED.findall(_sources().get(file, "")) if "{" not in name)
    return tuple(dict.fromkeys(found))


def unknown(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names that no pass can have in any compile.

    Nothing is known about any name if torch comes without its source, or if the user's own passes are set.

    Args:
        names: of passes.
    """
    known = _known()
    found = () if known is None else tuple(name for name in names if not known.fullmatch(name))
    # A program that has not loaded Inductor yet has set none of its options.
    has_own = (
        bool(found) and "torch._inductor.config" in sys.modules and any(torch_private.setting_values(_OWN).values())
    )
    return () if has_own else found


@functools.cache
def _known() -> re.Pattern[str] | None:
    """Returns a pattern for the names in the source; a computed part of a name matches any word."""
    names = sorted({name for text in _sources().values() for name in _LITERAL.findall(text)})
    spelt = [_FIELD.sub(r"\\w+", re.escape(name)) for name in names]
    if spelt:
        spelt += (rf"{name}(\[\d+\])?" for name in torch_private.pattern_group_names())
    return re.compile("|".join(spelt)) if spelt else None


@functools.cache
def _sources() -> Mapping[str, str]:
    """Returns the texts of the files, by their paths in the folder; none where torch comes without them."""
    folder = Path(torch.__file__).parent / _FOLDER
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
