"""The dashboard with two recordings: the one that `freezer-ui MODEL` starts, and one of a model that sleeps."""

from __future__ import annotations

import sys
from dataclasses import replace

from freeze_engine.worker import RecordRequest
from viewer.cli import main
from viewer.dashboard.jobs import Jobs


def _record_two() -> None:
    record = Jobs.record

    def twice(self: Jobs, request: RecordRequest, *rest: str, **named: str) -> str:
        output = request.output.with_name("second-20260101-000000.fztrace")
        output.touch()
        id_ = record(self, request, *rest, **named)
        record(self, replace(request, model="benchmarks.kill_sweep.models:sleeping", output=output))
        return id_

    Jobs.record = twice  # type: ignore[method-assign]


if __name__ == "__main__":
    _record_two()
    sys.exit(main())
