from __future__ import annotations

import sys
from pathlib import Path

import pytest

from freeze_engine.measure.peak_memory import peak_memory


def test_the_peak_is_what_was_resident_beyond_the_start(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text("Name:\tpython\nVmHWM:\t    9000 kB\nVmRSS:\t    1000 kB\n")
    with peak_memory(process=tmp_path) as peak:
        status.write_text("VmHWM:\t    4096 kB\nVmRSS:\t    1000 kB\n")
    assert peak.nbytes == 3096 * 1024
    assert (tmp_path / "clear_refs").read_text() == "5"


def test_peak_is_unknown_on_systems_that_do_not_report_it(tmp_path: Path) -> None:
    with peak_memory(process=tmp_path / "absent") as peak:
        assert peak.nbytes is None
    assert peak.nbytes is None
    with peak_memory(False, tmp_path) as peak:
        pass
    assert peak.nbytes is None
    assert not list(tmp_path.iterdir())


def test_exception_of_the_block_passes_through() -> None:
    with pytest.raises(ValueError, match="from the body"), peak_memory():
        raise ValueError("from the body")


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel keeps the peak on Linux only")
def test_memory_that_is_gone_by_the_end_is_in_the_peak() -> None:
    with peak_memory() as peak:
        block = bytearray(64 << 20)
        del block
    if peak.nbytes is None:
        pytest.skip("this container does not let a process set its own peak back")
    assert peak.nbytes >= 60 << 20
