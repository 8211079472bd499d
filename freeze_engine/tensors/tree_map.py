"""Applies a function to the tensors of structures, and of inputs with other objects in them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.object_state import attributes

TensorFunction = Callable[[torch.Tensor], torch.Tensor]


def map_inputs(inputs: Inputs, function: TensorFunction) -> Inputs:
    """Returns inputs with ``function`` applied as in `map_tensors`, also to the tensors of other objects.

    Such objects (a key-value cache, an empty one included) are copied with all that they hold, so that a run may change
    them. What can be called, modules of Python and members of enumerations stay as they are, and so does what has no
    ``__dict__`` or refuses to be copied.
    """
    mapping = _Mapping(function, True)
    return Inputs(mapping.of(tuple(inputs.args)), mapping.of(dict(inputs.kwargs)))


def map_tensors(value: Any, function: TensorFunction) -> Any:
    """Rebuilds a structure with ``function`` applied to its tensors.

    Args:
        value: a tensor, or a tuple, named tuple, list, dict or dataclass of such; anything else stays as it is.
        function: called once per distinct tensor.

    Returns:
        The new structure, in which what stood in several places still does; ``value`` is untouched.
    """
    return _Mapping(function, False).of(value)


@dataclass(slots=True)
class _Mapping:
    """One rebuilding.

    Attributes:
        function: the function for tensors.
        within: whether objects that are neither containers nor dataclasses are rebuilt, too.
        done: each value that was rebuilt with what came of it, by its id, which is its own as long as it is held.
    """

    function: TensorFunction
    within: bool
    done: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def of(self, value: Any) -> Any:
        if id(value) in self.done:
            return self.done[id(value)][1]
        if isinstance(value, torch.Tensor):
            return self._known(value, self.function(value))
        if isinstance(value, tuple):
            items = [self.of(item) for item in value]
            if all(item is before for item, before in zip(items, value, strict=True)):
                return value  # not every one can be made of its items, such as sys.version_info
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        return self._filled(value)

    def _filled(self, value: Any) -> Any:
        """Copies a container or object, and replaces the rebuilt parts in the copy."""
        fields = _fields(value)
        held = attributes(value) if self.within else {}
        if not (fields or held or isinstance(value, (list, dict))):
            return value
        replica = self._known(value, _copied(value))
        if replica is value:
            return value
        if isinstance(value, list):
            replica[:] = [self.of(item) for item in value]
        if isinstance(value, dict):  # one by one: an output of transformers refuses update()
            for key, item in self._rebuilt(value):
                replica[key] = item
        for name, item in self._rebuilt(fields):
            object.__setattr__(replica, name, item)  # of frozen ones, too
        for name, item in self._rebuilt(held):
            vars(replica)[name] = item
        return replica

    def _rebuilt(self, items: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
        """Returns the changed items only: a container without any may refuse to be written."""
        pairs = [(key, item, self.of(item)) for key, item in items.items()]
        return [(key, rebuilt) for key, item, rebuilt in pairs if rebuilt is not item]

    def _known(self, value: Any, replica: Any) -> Any:
        """Remembers the copy of a value before it is filled, since the value may refer to itself."""
        self.done[id(value)] = (value, replica)
        return replica


def _copied(value: Any) -> Any:
    """Returns a shallow copy, or the value itself if no independent copy can be made."""
    try:
        replica = copy.copy(value)
    except Exception:  # noqa: BLE001 - a class says how its objects are copied, and may raise anything
        return value
    is_shared = hasattr(value, "__dict__") and getattr(replica, "__dict__", None) is value.__dict__
    return value if type(replica) is not type(value) or is_shared else replica


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, type) or not dataclasses.is_dataclass(value):
        return {}
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
