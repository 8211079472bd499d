"""What is counted before parsing is never less than what reading takes."""

from __future__ import annotations

import json
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.serde import SCHEMA_VERSION
from freeze_engine.serde.bounds import Allowance, PayloadBound, TooLargeError
from freeze_engine.serde.schema import MalformedError
from tests.builders import small_trace, synthetic_trace
from tests.fuzzing.mutations import HEADER_BYTES, sealed

_SIZE = 300_000
_PIECE = 1 << 16


def _counted(payload: bytes) -> int:
    total = 1 << 50
    allowance = Allowance(total)
    bound = PayloadBound(allowance)
    for start in range(0, len(payload), _PIECE):
        bound.add(payload[start : start + _PIECE])
    low, high = 0, total
    while high - low > 1:  # what is left is found by taking it
        middle = (low + high) // 2
        try:
            allowance.take(middle)
        except TooLargeError:
            high = middle
        else:
            low = middle
        allowance.take(-middle)
    return total - low


def _peak(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _many(part: str) -> bytes:
    return ("[" + ",".join([part] * (_SIZE // (len(part.encode()) + 1))) + "]").encode()


@pytest.mark.parametrize(
    "part",
    [
        "[]",
        "[0]",
        "[[]]",
        "[[[[[[[[[[]]]]]]]]]]",
        "{}",
        '{"a":0}',
        '""',
        '"ab"',
        '"é€"',
        '"😀a"',
        r'"\ud83d\ude00aaaaaaaaaa"',
        r'"\\\"["',
        "0",
        "9999",
        "1.5",
        "1e9",
        "1" * 300,
        "null",
        '[1,"a",[2.5,null]]',
    ],
)
def test_parsing_takes_no_more_than_was_counted(part: str) -> None:
    payload = _many(part)
    json.loads(payload)

    def parse() -> object:
        text = zlib.decompress(zlib.compress(payload)).decode()
        return json.loads(text)

    assert _peak(parse) <= _counted(payload)


@pytest.mark.parametrize("trace", [small_trace(), synthetic_trace(1500, 8), synthetic_trace(1500, 8, "transformer")])
def test_loading_takes_no_more_than_is_allowed(trace: fe.Trace) -> None:
    data = fe.dumps(trace)
    fe.loads(data)
    low, high = 1, 1 << 32
    while high - low > high // 20:
        middle = (low + high) // 2
        try:
            fe.loads(data, max_bytes=middle, check=False)
        except fe.TraceFileError:
            low = middle
        else:
            high = middle
    assert _peak(lambda: fe.loads(data, max_bytes=high)) <= high


def _spliced(payload: Any) -> None:
    rows = payload["tables"]["GraphSnapshot"]
    nodes = payload["columns"]["GraphSnapshot"].index("nodes") + 1
    rows[0][nodes] = [[0, 0, [0] * 4000]]
    rows += [[0, [], [], []] for _ in range(300)]


def test_splices_take_no_more_than_is_allowed() -> None:
    payload = json.loads(zlib.decompress(fe.dumps(small_trace())[HEADER_BYTES:]))
    _spliced(payload)
    data = sealed(json.dumps(payload).encode(), SCHEMA_VERSION)
    limit = 20_000_000

    def load() -> None:
        with pytest.raises(fe.TraceFileError, match="more than 20000000 bytes of memory"):
            fe.loads(data, max_bytes=limit)

    assert _peak(load) <= limit


@pytest.mark.parametrize("payload", [b"[" * 65, b"[" * 10**6, b'{"a":' * 70, b"[" + b"1" * 400, b"-" + b"7" * 10**5])
def test_depth_and_digits_have_an_end_before_parsing(payload: bytes) -> None:
    with pytest.raises(MalformedError, match=r"deep|digits"):
        _counted(payload)


def test_brackets_and_digits_within_texts_do_not_count() -> None:
    text = json.dumps(["[" * 1000 + '"\\' + "1" * 1000, "]" * 1000]).encode()
    for cut in range(1, len(text), 97):
        bound = PayloadBound(Allowance(1 << 30))
        bound.add(text[:cut])
        bound.add(text[cut:])
