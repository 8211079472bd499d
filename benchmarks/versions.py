"""Runs the suite under other versions of Python and torch in fresh environments: ``python -m benchmarks.versions``.

For each row it creates a virtual environment, installs the project with its ``test`` extra and that torch, runs the
tests on a clean checkout of the last commit, and removes both. The results go to ``docs/versions.json``, and as a
table to ``docs/versions.md``; a row replaces an older one of the same versions and tests, and others
stay. A row takes as long as its torch takes to download (some are several gigabytes), and then up to an hour. Run from
the project's root:

    python -m benchmarks.versions                            # every row
    python -m benchmarks.versions --row 3.11 2.6.0           # one
    python -m benchmarks.versions --row 3.13 newest --python ~/builds/python3.13
    python -m benchmarks.versions --row 3.10 2.13.0 --tests tests/unit
    python -m benchmarks.versions --row 3.11 2.6.0 --environment ~/environments/torch-2.6
    python -m benchmarks.versions --row 3.11 2.6.0 --environment ~/environments/torch-2.6 --failed

The last two use an environment that has this torch already: only the project and its tests are installed there. With
``--failed``, the tests that failed in the row of the same versions and ``--tests`` are run again, on the last commit.

Exit code 1 if a test of any row failed, or a row could not be set up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.version_table import (
    DOCUMENT,
    RESULTS,
    ROOT,
    Row,
    counts,
    json_text,
    load_rows,
    markdown_text,
    node_ids,
    with_row,
)

ROWS = (("3.11", "2.6.0"), ("3.11", "newest"), ("3.10", "2.13.0"), ("3.13", "2.13.0"))
TESTS = ("tests/unit", "tests/torch")
#: A version fails no test for being slow: its first compiles with Inductor compile much C++, beside whatever else runs.
_NO_HASTE = ("--timeout=3600", "-o", "faulthandler_timeout=3660")
_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:2])))"


class RowError(Exception):
    """A row cannot be run; the message contains the cause and the remedy."""


def interpreters(version: str) -> Iterator[str]:
    """Yields candidate interpreters of a version: this one, those on PATH, those of pyenv.

    Args:
        version: as ``3.13``.
    """
    yield sys.executable
    yield from filter(None, [shutil.which(f"python{version}")])
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from (str(folder / "bin" / "python") for folder in sorted(pyenv.glob(f"{version}.*"), reverse=True))


def interpreter(version: str, given: list[str]) -> str:
    """Returns a Python of that version; skips candidates that do not run, such as a shim of pyenv."""
    for path in (*given, *interpreters(version)):
        try:
            said = subprocess.run([path, "-c", _VERSION], capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            continue
        if said == version:
            return path
    raise RowError(f"There is no Python {version} on PATH or in pyenv's folder. Name one with --python PATH.")


@contextmanager
def checkout(folder: Path) -> Iterator[Path]:
    """Creates a clean checkout of the last commit; removes it at the end."""
    made = folder / "checkout"
    run(["git", "clone", "--quiet", "--local", str(ROOT), str(made)], folder / "checkout.log")
    run(["git", "-C", str(made), "checkout", "--quiet", "--detach", commit()], folder / "checkout.log")
    yield made
    shutil.rmtree(made)


def commit() -> str:
    """Returns the abbreviated hash of the last commit."""
    said = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, check=True)
    return said.stdout.decode().strip()


def run(command: list[str], log: Path) -> None:
    """Runs a command with its output to a file; a failure raises `RowError` with the end of the output."""
    with log.open("a", encoding="utf-8") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise RowError(f"{' '.join(command)} failed with exit code {done.returncode}:\n{tail}")


def installed(python: str, torch: str, project: Path, folder: Path) -> Path:
    """Creates a fresh environment with the project, its ``test`` extra and that torch, and returns its Python."""
    environment = folder / "environment"
    run([python, "-m", "venv", str(environment)], folder / "install.log")
    path = environment / "bin" / "python"
    wanted = "torch" if torch == "newest" else f"torch=={torch}"
    run([str(path), "-m", "pip", "install", wanted, "-e", f"{project}[test]"], folder / "install.log")
    return path


def prepared(environment: Path, torch: str, project: Path, folder: Path) -> Path:
    """Installs the project with its ``test`` extra into an existing environment, and returns that environment's Python.

    Raises:
        RowError: the environment has another torch than the row.
    """
    path = environment.expanduser().absolute() / "bin" / "python"
    constraint = folder / "constraint.txt"
    told = "from importlib.metadata import version; print(version('torch'))"
    said = subprocess.run([str(path), "-c", told], capture_output=True, text=True, check=False).stdout.strip()
    if not said or (torch != "newest" and said.partition("+")[0] != torch):
        raise RowError(f"{environment} has torch {said or '(none)'}, not {torch}. Name another with --environment DIR.")
    constraint.write_text(f"torch=={said}\n", encoding="utf-8")
    wanted = ["-c", str(constraint), "-e", f"{project}[test]"]
    run([str(path), "-m", "pip", "install", *wanted], folder / "install.log")
    return path


def tested(path: Path, project: Path, tests: list[str], workers: int, folder: Path) -> tuple[str, float]:
    """Runs the tests and returns pytest's report, and their duration in minutes."""
    report = folder / "report.xml"
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "OMP_NUM_THREADS": "1"}
    spread = ["-n", str(workers), "--dist", "loadfile"]
    output = ["-p", "no:cacheprovider", "--instafail", f"--junit-xml={report}"]
    command = [str(path), "-m", "pytest", *spread, *_NO_HASTE, *output, *tests]
    began = time.monotonic()
    with (folder / "tests.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command, cwd=project, stdout=log, stderr=subprocess.STDOUT, env=os.environ | caches, check=False
        )
    if not report.is_file() or done.returncode not in (0, 1):
        raise RowError(f"pytest ended with exit code {done.returncode}; see {folder / 'tests.log'}")
    return report.read_text(encoding="utf-8"), (time.monotonic() - began) / 60


def one_row(python: str, torch: str, arguments: argparse.Namespace, folder: Path) -> Row:
    """Sets up a row, runs its tests, and returns the results; removes the environment unless ``--keep`` is given."""
    now, date = commit(), time.strftime("%Y-%m-%d")
    with checkout(folder) as project:
        if arguments.environment is not None:
            path = prepared(arguments.environment, torch, project, folder)
        else:
            path = installed(interpreter(python, arguments.python), torch, project, folder)
        told = "import platform, torch; print(platform.python_version(), torch.__version__)"
        said = subprocess.run([str(path), "-c", told], capture_output=True, text=True, check=True).stdout.split()
        print(f"Python {said[0]}, torch {said[1]}: installed; its tests write to {folder / 'tests.log'}", flush=True)
        earlier = earlier_row(said[0], said[1], arguments.tests) if arguments.failed else None
        tests = arguments.tests if earlier is None else list(node_ids(earlier.failed))
        report, minutes = tested(path, project, tests, arguments.workers, folder)
    if not arguments.keep and arguments.environment is None:
        shutil.rmtree(folder / "environment")
    passed, failed, skipped = counts(report)
    row = Row(said[0], said[1], passed, failed, skipped, round(minutes, 1), tuple(arguments.tests), now, date)
    row = replace(row, note=arguments.note)
    return row if earlier is None else earlier.repeated(row)


def earlier_row(python: str, torch: str, tests: list[str], file: Path = RESULTS) -> Row:
    """Returns the row of an earlier run, some of whose tests failed.

    Args:
        python, torch: full versions.
        tests: what it ran.
        file: of the results.

    Raises:
        RowError: there is none.
    """
    place = python, torch.partition("+")[0], tuple(tests)
    row = next((each for each in load_rows(file) if each.place == place), None)
    if row is None or not row.failed:
        raise RowError(f"No test of these versions and --tests has failed: {' '.join(tests)}. Leave out --failed.")
    return row


def keep(row: Row) -> None:
    """Adds a row to the files of the documentation."""
    rows = with_row(load_rows(), row)
    RESULTS.write_text(json_text(rows), encoding="utf-8")
    DOCUMENT.write_text(markdown_text(rows), encoding="utf-8")


def main() -> int:
    """Runs the rows one after another; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--row", nargs=2, action="append", metavar=("PYTHON", "TORCH"), help="as 3.13 2.13.0, or 3.13 newest"
    )
    parser.add_argument("--python", action="append", default=[], metavar="PATH", help="an interpreter to choose first")
    parser.add_argument(
        "--environment", type=Path, metavar="DIR", help="an environment that has this torch; give one --row with it"
    )
    parser.add_argument("--tests", nargs="+", default=list(TESTS), help=f"what to run (default: {' '.join(TESTS)})")
    parser.add_argument("--failed", action="store_true", help="run only the tests again that failed before")
    parser.add_argument("--note", default="", help="what readers of the row should know, such as why tests failed")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests (default: 2)")
    parser.add_argument("--keep", action="store_true", help="leave the environments and logs")
    arguments = parser.parse_args()
    fine = True
    for python, torch in arguments.row or ROWS:
        folder = Path(tempfile.mkdtemp(prefix=f"versions-{python}-{torch}-"))
        try:
            row = one_row(python, torch, arguments, folder)
        except RowError as error:
            print(f"Python {python}, torch {torch}: {error}", file=sys.stderr, flush=True)
            fine = False
            continue
        keep(row)
        failed = "".join(f"\n  {name}" for name in row.failed)
        print(f"  {row.passed} passed, {len(row.failed)} failed in {row.minutes:.0f} minutes{failed}", flush=True)
        fine &= not row.failed
        if not arguments.keep and not row.failed:
            shutil.rmtree(folder)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
