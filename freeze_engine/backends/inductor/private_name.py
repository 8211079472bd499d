"""A private name of torch: where torch looks it up, and what is lost without it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from freeze_engine.backends.common.torch_private import lacks


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A name of torch that is replaced or read while a compile is observed.

    Attributes:
        module: where torch looks it up when it runs.
        name: there; dotted for a method of a class.
        stage: the stage that is unobserved without it.
        lost: what is lost without it, in words.
        former: its name, in the same place, in an older torch.
    """

    module: str
    name: str
    stage: str
    lost: str
    former: str = ""

    @property
    def path(self) -> str:
        """The full dotted name."""
        return f"{self.module}.{self.name}"

    @property
    def owner(self) -> Any:
        """The module or class that holds the name, ``None`` where this torch has no such one."""
        try:
            owner: Any = importlib.import_module(self.module)
        except ModuleNotFoundError:
            return None
        for part in self.name.split(".")[:-1]:
            owner = getattr(owner, part, None)
        return owner

    @property
    def attribute(self) -> str:
        """The name within its owner."""
        name = self.name.rpartition(".")[2]
        return self.former if self.former and not hasattr(self.owner, name) else name

    @property
    def found(self) -> Any:
        """Returns the object behind the name, ``None`` if this torch does not have it."""
        owner = self.owner
        if isinstance(owner, type):
            # Restoring an inherited attribute would make it the class's own.
            return vars(owner).get(self.attribute)
        return getattr(owner, self.attribute, None)


def check(known: PrivateName) -> None:
    """Checks that this torch has a name.

    Raises:
        UnsupportedTorchError: it does not.
    """
    if known.found is None:
        raise lacks(known.path, known.lost)
