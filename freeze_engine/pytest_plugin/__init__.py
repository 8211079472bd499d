"""A plugin of pytest that records every freeze of a test run; off unless ``--freezer-record DIR`` is given.

pytest finds it by its entry point. ``docs/sweeps.md`` describes its use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options to pytest."""
    group = parser.getgroup("freezer-ui", "recording of freezes (freezer-ui)")
    group.addoption(
        "--freezer-record", type=Path, metavar="DIR", help="record every freeze of the tests into this folder"
    )
    group.addoption(
        "--freezer-expect",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="expectation of each recorded freeze, such as expect-folded=conv_bn or no-preserved",
    )
    parser.addini("freezer_expect", "expectations of each recorded freeze, one NAME[=VALUE] a line", "linelist", [])


def pytest_configure(config: pytest.Config) -> None:
    """Registers the recorder if ``--freezer-record`` is given."""
    config.addinivalue_line("markers", "freezer(**expected): expectations of the freezes of this test (freezer-ui)")
    folder: Path | None = config.getoption("--freezer-record")
    if folder is None:
        return
    from freeze_engine.pytest_plugin.recorder import FreezeRecorder

    config.pluginmanager.register(FreezeRecorder(config, folder), "freezer-recorder")
