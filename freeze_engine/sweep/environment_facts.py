"""The facts of a Python environment that a recording's result depends on, found without importing torch."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Final

from freeze_engine.errors import FreezerError

_LIMIT_S: Final = 300.0
_PROGRAM: Final = """
import importlib.metadata, json, platform, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
def processor():
    try:
        with open("/proc/cpuinfo") as stream:
            return next((line.partition(":")[2].strip() for line in stream if line.startswith("model name")), "")
    except OSError:
        return platform.processor()
print(json.dumps({
    "python": platform.python_version(),
    "platform": f"{platform.system()} {platform.machine()}",
    "processor": processor(),
    "packages": {name: version(name) for name in sys.argv[1:]},
}))
"""


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """The facts of one environment.

    Attributes:
        python: version of Python.
        platform: operating system and architecture.
        processor: model name of the processor.
        packages: ``(distribution, version)``, torch first; an empty version if it is not installed.
    """

    python: str
    platform: str
    processor: str
    packages: tuple[tuple[str, str], ...]

    @property
    def torch(self) -> str:
        """Version of torch, empty if it is not installed."""
        return dict(self.packages).get("torch", "")


@functools.lru_cache(maxsize=256)
def environment_facts(python: str | None, packages: tuple[str, ...] = ()) -> EnvironmentFacts:
    """Asks a Python for its facts.

    Args:
        python: path of the interpreter, ``None`` for this one.
        packages: names of distributions to know the version of, besides torch.

    Raises:
        FreezerError: it cannot be run.
    """
    names = tuple(dict.fromkeys(("torch", *packages)))
    command = [python or sys.executable, "-c", _PROGRAM, *names]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_LIMIT_S, env=_environment(python)
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise FreezerError(
            f"{python or sys.executable} cannot be used to record: {said[-1] if said else error}"
        ) from error
    versions = tuple((name, found["packages"][name]) for name in names)
    return EnvironmentFacts(found["python"], found["platform"], found["processor"], versions)


def _environment(python: str | None) -> dict[str, str]:
    if python is None:
        return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
