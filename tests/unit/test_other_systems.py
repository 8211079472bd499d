"""What works on a system without POSIX, such as Windows: opening, showing, comparing and checking traces."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import freeze_engine as fe
from tests.builders import small_trace
from tests.existing import COMPILE_DEBUG, FROZEN, unpacked_log

ROOT = Path(__file__).parents[2]


def test_traces_work_and_recording_is_refused_by_name(tmp_path: Path) -> None:
    fe.save(small_trace(), tmp_path / "small.fztrace")
    shutil.copy(FROZEN, tmp_path / "frozen.pt")
    log = unpacked_log("frozen", tmp_path)
    (tmp_path / "compile.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.rename(tmp_path / "compile.log")
    with zipfile.ZipFile(COMPILE_DEBUG) as packed:
        packed.extractall(tmp_path)
    (tmp_path / "models.toml").write_text('[[models]]\nmodels = ["example:counter"]\n')
    (tmp_path / "script.py").write_text("raise SystemExit('it ran')")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("other_system.py")), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr[-3000:]) == (0, "", "")
