"""The inputs of a failed call, and changes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.models.summary import ModelParameter
from freeze_engine.requests.inputs import INTEGER_RANGES, InputRequest, RandomTensor, parse_input

_NAME: Final = re.compile(r"(?P<name>[^\W\d]\w*)=(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that failed.

    Attributes:
        texts: of ``--input``, all valid.
        parameters: of the model, empty if they are not known.
    """

    texts: tuple[str, ...]
    parameters: tuple[ModelParameter, ...]

    @property
    def requests(self) -> tuple[InputRequest, ...]:
        """The inputs."""
        return tuple(parse_input(text) for text in self.texts)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter of each input, empty where that is not known."""
        places = iter([each.name for each in self.parameters if not each.is_keyword])
        return tuple(next(places, "") if each.keyword is None else each.keyword for each in self.requests)

    @property
    def tensors(self) -> tuple[RandomTensor | None, ...]:
        """The random tensor of each input, ``None`` for any other."""
        return tuple(each.value if isinstance(each.value, RandomTensor) else None for each in self.requests)

    def given_tensors(self) -> Iterator[tuple[int, RandomTensor]]:
        """Yields the inputs that are random tensors, with their indices."""
        yield from ((at, each) for at, each in enumerate(self.tensors) if each is not None)

    def value(self, at: int) -> str:
        """Returns the text of an input without its name."""
        match = None if self.requests[at].keyword is None else _NAME.fullmatch(self.texts[at])
        return match["value"] if match else self.texts[at]

    def parameter(self, name: str) -> ModelParameter | None:
        """Returns the parameter of that name, ``None`` for none."""
        return next((each for each in self.parameters if each.name == name), None)

    def parameter_at(self, at: int) -> ModelParameter | None:
        """Returns the parameter of an input, ``None`` where that is not known."""
        return self.parameter(self.names[at])

    def of(self, name: str) -> int | None:
        """Returns the index of the input for a parameter, ``None`` for none."""
        return next((at for at, each in enumerate(self.names) if each == name), None)

    def keyword(self, name: str) -> int | None:
        """Returns the index of the input that is passed by that name, ``None`` for none."""
        return next((at for at, each in enumerate(self.requests) if each.keyword == name), None)

    def positional(self, number: int) -> int | None:
        """Returns the index of a positional input, by its number from 0."""
        found = [at for at, each in enumerate(self.requests) if each.keyword is None]
        return found[number] if number < len(found) else None

    def shaped(self, shape: Sequence[int]) -> int | None:
        """Returns the first input of a shape, ``None`` for none."""
        return next((at for at, each in self.given_tensors() if each.shape == tuple(shape)), None)

    def without(self, at: int) -> tuple[str, ...]:
        """Returns the texts without one of them."""
        return self.texts[:at] + self.texts[at + 1 :]

    def replaced(self, at: int, text: str) -> tuple[str, ...]:
        """Returns the texts with another one at an index."""
        return (*self.texts[:at], text, *self.texts[at + 1 :])

    def with_value(self, at: int, value: str) -> tuple[str, ...]:
        """Returns the texts with another value at an index, under the same name."""
        keyword = self.requests[at].keyword
        return self.replaced(at, value if keyword is None else f"{keyword}={value}")

    def with_size(self, at: int, axes: Sequence[int], size: int) -> str | None:
        """Returns the value of an input with another size along some axes, ``None`` if it lacks one of them."""
        tensor = self.tensors[at]
        if tensor is None or any(not -len(tensor.shape) <= axis < len(tensor.shape) for axis in axes):
            return None
        shape = list(tensor.shape)
        for axis in axes:
            shape[axis] = size
        return _text(tuple(shape), tensor.dtype, tensor.values)

    def as_dtype(self, at: int, dtype: str) -> str | None:
        """Returns the value of an input with another dtype, for integers with the range of the suggestion."""
        tensor = self.tensors[at]
        if tensor is None:
            return None
        parameter = self.parameter_at(at)
        suggested = parse_input(parameter.input).value if parameter and parameter.input else None
        fits = isinstance(suggested, RandomTensor) and suggested.dtype == dtype
        values = suggested.values if fits and isinstance(suggested, RandomTensor) else None
        return _text(tensor.shape, dtype, values)

    def in_range(self, at: int, size: int) -> str | None:
        """Returns the value of an input with integers from 0 up to a size, without that."""
        tensor = self.tensors[at]
        return None if tensor is None else _text(tensor.shape, tensor.dtype, range(size))


def _text(shape: tuple[int, ...], dtype: str, values: range | None) -> str:
    text = "x".join(map(str, shape))
    if dtype == "float32":
        return text
    if values is None or dtype not in INTEGER_RANGES:
        return f"{text}:{dtype}"
    return f"{text}:{dtype}:{values.start}..{values.stop}"
