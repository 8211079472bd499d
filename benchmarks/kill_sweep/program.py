"""A user's program that records in its own process or in a child: ``python program.py here|apart OUTPUT``."""

from __future__ import annotations

import sys
from pathlib import Path

import freeze_engine as fe
from freeze_engine.worker import RecordingProcess, RecordRequest

if __name__ == "__main__":
    how, output = sys.argv[1], Path(sys.argv[2])
    if how == "here":
        from benchmarks.kill_sweep.stopping import stop_in_passes

        stop_in_passes()
        fe.save(fe.record("benchmarks.kill_sweep.models:net", measure=None).trace, output)
    else:
        request = RecordRequest("benchmarks.kill_sweep.models:stopping", output, measure=None)
        process = RecordingProcess(request, lambda event: None)
        process.start()
        print(process.wait())
