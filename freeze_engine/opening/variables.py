"""The variables of a text that is read: which value each stands for, inside of nested blocks too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count


class Variables:
    """Values by variable.

    A block keeps what it replaced and puts that back at its end, so that its time does not depend on how many variables
    there are.
    """

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._order: dict[str, int] = {}
        self._replaced: list[dict[str, str | None]] = []
        self._count = count()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __setitem__(self, name: str, value: str) -> None:
        before = self._values.get(name)
        if before is None:
            self._order[name] = next(self._count)
        if self._replaced:
            self._replaced[-1].setdefault(name, before)
        self._values[name] = value

    def get(self, name: str) -> str | None:
        """Returns the value of a variable, ``None`` if it has none."""
        return self._values.get(name)

    def update(self, values: Mapping[str, str] | Iterator[tuple[str, str]]) -> None:
        """Sets several variables."""
        for name, value in dict(values).items():
            self[name] = value

    def begin(self) -> None:
        """Begins a block."""
        self._replaced.append({})

    def end(self) -> dict[str, str]:
        """Ends the block: each variable stands for what it did before.

        Returns:
            The values of the variables that the block gave another value, in the order in which they came to exist.
        """
        replaced = self._replaced.pop()
        names = sorted(replaced, key=self._order.__getitem__)
        assigned = {name: self._values[name] for name in names if self._values[name] != replaced[name]}
        for name, before in replaced.items():
            if before is None:
                del self._values[name], self._order[name]
            else:
                self._values[name] = before
        return assigned
