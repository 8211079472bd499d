"""The wheel holds all that a report needs.

The wheel is built from this checkout and installed into a virtual environment of its own, which finds torch and the
other dependencies in the environment that runs the tests: by a ``.pth`` file, since ``--system-site-packages`` would
give it the base Python's packages, not those of the virtual environment that runs the tests. Python does not follow the
``.pth`` files of a folder added that way, so that an editable installation of this checkout stays out of sight.
"""

from __future__ import annotations

import html
import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import small_trace

CHECKOUT = Path(__file__).parents[2]


def _run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # Without hatchling here, build fetches it into an environment of its own, as for a user who builds from source.
    isolation = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    _run(sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", folder, CHECKOUT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ``python`` and ``freezer-ui`` of an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    dependencies = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "dependencies.pth").write_text("\n".join(dict.fromkeys(dependencies)) + "\n")
    scripts = Path(sysconfig.get_path("scripts", "venv", scheme))
    _run(
        *(sys.executable, "-m", "pip", "--python", scripts / "python"),
        *("install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", wheel),
        cwd=folder,
    )
    return scripts


def test_the_wheel_holds_every_asset(wheel):
    static = CHECKOUT / "static"
    expected = {f"viewer/static/{path.relative_to(static).as_posix()}" for path in static.rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("viewer/static/")}
    assert expected
    assert packed == expected


def test_the_wheel_has_the_license_and_says_that_it_is_typed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (license_file,) = (name for name in names if name.endswith(".dist-info/licenses/LICENSE"))
        assert archive.read(license_file) == (CHECKOUT / "LICENSE").read_bytes()
    assert {"freeze_engine/py.typed", "viewer/py.typed"} <= set(names)


def test_the_wheel_holds_nothing_else_at_the_top(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"freeze_engine", "viewer"}


def test_the_installed_packages_are_the_wheels(scripts, tmp_path):
    printed = _run(
        scripts / "python",
        *("-c", "import freeze_engine, viewer; print(freeze_engine.__file__, viewer.__file__, sep='\\n')"),
        cwd=tmp_path,
    )
    assert all(Path(line).is_relative_to(scripts.parent) for line in printed.split())


def test_report_from_the_installed_wheel(scripts, tmp_path):
    fe.save(small_trace(), tmp_path / "small.fztrace")

    _run(scripts / "freezer-ui", "report", "small.fztrace", "-o", "report.html", cwd=tmp_path)

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert html.escape(small_trace().name) in page
    assert "<script" in page
    assert "</style>" in page
