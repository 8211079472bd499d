"""The tensors inside constants and attributes of a file: in lists, tuples, dictionaries, and packed weights.

torch packs the weights of a quantised layer into an object of a C++ class; the file has its state, and in it the
tensors (torch 2.13, ``aten/src/ATen/native/quantized/cpu/fbgemm_utils.cpp``).
"""

from __future__ import annotations

from collections.abc import Iterator

from freeze_engine.models.untrusted.script_archive import ArchivedTensor, ScriptObject
from freeze_engine.trace import Constant


def held_tensors(value: object) -> Constant | None:
    """Describes what holds tensors as one constant, as recordings do: its dtype is the type of the whole.

    Args:
        value: of a file, no tensor itself.

    Returns:
        The description, with the bytes of its tensors, shared storages once; ``None`` if it holds none.
    """
    tensors = list(_tensors(value))
    if not tensors:
        return None
    storages: dict[str, int] = {}
    for tensor in tensors:
        storages[tensor.storage] = max(storages.get(tensor.storage, 0), tensor.nbytes)
    return Constant((), kind_text(value), tensors[0].device, sum(storages.values()))


def kind_text(value: object) -> str:
    """Returns the name of a value's type: the class of an object, as torch writes it."""
    if isinstance(value, ScriptObject):
        return value.class_name
    if isinstance(value, list) and value and all(isinstance(each, ArchivedTensor) for each in value):
        return "List[Tensor]"
    return type(value).__name__.capitalize() if isinstance(value, (list, tuple, dict)) else type(value).__name__


def _tensors(value: object) -> Iterator[ArchivedTensor]:
    """Yields the tensors in a value, whose pickle may hold itself, or one part many times: each is looked at once."""
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        if isinstance(each, ArchivedTensor):
            yield each
        elif isinstance(each, ScriptObject):
            waiting.append(each.state)
        elif isinstance(each, (list, tuple)):
            waiting += reversed(each)
        elif isinstance(each, dict):
            waiting += reversed(each.values())
