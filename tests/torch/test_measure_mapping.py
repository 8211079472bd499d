"""What a run is given is its own: tensors, containers and objects, and what these hold."""

from __future__ import annotations

import enum
import math
import sys
import threading
from collections import UserDict
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from freeze_engine.backends.inductor.replay.module_state import InputState
from freeze_engine.measure.candidate import Candidate, CandidateError, cloned, reported
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.tree_map import map_tensors


class Layer:
    def __init__(self, keys: torch.Tensor) -> None:
        self.keys = keys


class Cache:
    """As a key-value cache before its first run: it holds no tensors yet."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []
        self.places: dict[str, int] = {}
        self.seen = 0

    def update(self, keys: torch.Tensor) -> torch.Tensor:
        if not self.layers:
            self.layers.append(Layer(keys[:0]))
        self.layers[0].keys = torch.cat([self.layers[0].keys, keys])
        self.places["last"] = self.seen = self.seen + 1
        return self.layers[0].keys

    def state(self) -> tuple[int, dict[str, int], int]:
        return len(self.layers), self.places, self.seen


class Cached(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Cache) -> torch.Tensor:
        return cache.update(x).sum()


class Kind(enum.Enum):
    FULL = "full"


class Refusing:
    def __init__(self) -> None:
        self.items = [1]

    def __copy__(self) -> Any:
        raise ValueError("there is one only")


class Borg:
    """All objects have the same attributes."""

    shared: dict[str, Any] = {"items": [1]}  # noqa: RUF012 - that is the point

    def __init__(self) -> None:
        self.__dict__ = Borg.shared


class Singleton(Refusing):
    def __copy__(self) -> Any:
        return self


class Slotted:
    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items = [1]


class Frozen(dict):
    """A dictionary that can be read only."""

    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError("read only")


@dataclass
class Settings:
    heads: list[int]
    cache: Cache


def copied(value: Any) -> Any:
    return cloned(Inputs((value,), {})).args[0]


def test_each_run_starts_with_an_empty_cache() -> None:
    given, x = Cache(), torch.ones(2)
    eager = Cached()
    found = measure_numerics([Candidate(0, eager), Candidate("again", eager)], eager, (x, given), {}, NumericsOptions())
    assert {key: [each.close for each in every] for key, every in found.numerics.items()} == {
        0: [True, True],
        "again": [True, True],
    }
    assert given.state() == (0, {}, 0)


def test_an_empty_cache_is_put_back() -> None:
    cache = Cache()
    held = cache.layers, cache.places
    state = InputState(Inputs((), {"caches": (cache,)}))
    cache.update(torch.ones(2))
    cache.places = {"other": 1}
    state.restore()
    assert cache.state() == (0, {}, 0)
    assert (cache.layers, cache.places) == held
    assert cache.layers is held[0]
    assert cache.places is held[1]


def test_copied_object_owns_its_state_at_any_depth() -> None:
    cache = Cache()
    cache.update(torch.ones(2))
    given = Settings([2], cache)
    twice, mapping = [given, given], UserDict({"cache": cache})
    mine = copied((twice, mapping))
    assert mine[0][0] is mine[0][1]
    assert mine[1]["cache"] is mine[0][0].cache
    mine[0][0].cache.update(torch.ones(1))
    mine[0][0].heads.append(3)
    assert (given.heads, cache.state(), cache.layers[0].keys.tolist()) == ([2], (1, {"last": 1}, 1), [1.0, 1.0])


def test_cycle_is_kept_in_the_copy() -> None:
    cache, items = Cache(), []  # type: ignore[var-annotated]
    items += [items, cache]
    cache.layers = items
    mine = copied(items)
    assert mine is not items
    assert mine[0] is mine
    assert mine[1].layers is mine
    assert mine[1] is not cache


@pytest.mark.parametrize(
    "value",
    [
        *(torch.nn.Linear(1, 1), torch, math.sin, Cache, Kind.FULL, torch.float32, None, 3, object(), threading.Lock()),
        *(Refusing(), Borg(), Singleton(), Slotted(), sys.version_info),
    ],
    ids=lambda value: type(value).__name__,
)
def test_object_that_cannot_be_copied_is_shared(value: object) -> None:
    holder = Cache()
    holder.places = Frozen(value=value)
    mine = copied(holder)
    assert mine is not holder
    assert mine.places["value"] is value
    assert getattr(value, "items", [1]) == [1]


def test_in_outputs_objects_stay_and_containers_do_not() -> None:
    cache = Cache()
    found = map_tensors({"a": [torch.ones(1)], "cache": cache}, lambda tensor: tensor + 1)
    assert found == {"a": [torch.full((1,), 2.0)], "cache": cache}


def test_exception_of_a_candidate_is_reported_without_addresses() -> None:
    message = f"no source for {Cached.forward}, {object()} at 0x7"
    with pytest.raises(CandidateError) as raised, reported():
        raise OSError(message)
    assert str(raised.value) == "OSError: no source for <function Cached.forward>, <object object> at 0x7"
