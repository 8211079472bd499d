"""Random modules: what their recordings say comes true when torch freezes them again, changed."""

from __future__ import annotations

import pytest

from tests.random_modules.oracle import examine
from tests.random_modules.source import Writer

#: So many in each test, so that a failure stops no others. Every other module has one attribute changed as well;
#: ``python -m benchmarks.random_modules`` changes all.
CHUNK = 20


@pytest.mark.parametrize("first", range(0, 200, CHUNK))
def test_recordings_of_random_modules_agree_with_torch(first, tmp_path):
    found, recorded = {}, 0
    for seed in range(first, first + CHUNK):
        examined = examine(Writer(seed).program(), tmp_path, changed=seed % 2)
        recorded += examined.trace is not None
        if examined.problems:
            found[f"python -m benchmarks.random_modules 1 --seed {seed}"] = examined.problems
    assert found == {}
    assert recorded > CHUNK // 2
