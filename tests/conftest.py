"""Shared by all tests: the flag that rewrites golden files, a browser, settings of property tests, checks of traces."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from freeze_engine.worker import child_process
from tests.compiler_cache import compiled_once
from tests.finished_traces import FinishedTraces
from tests.warm_workers import WarmWorkers

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples in every run, so that only a change can make a run fail.
# ``--hypothesis-profile=searching`` searches for new ones, among twice as many.
settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", settings.get_profile("searching"), derandomize=True, max_examples=50)
settings.load_profile("steady")

# A shell makes its background processes, and their servers and recordings, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files from what the code makes now"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "makes_broken_traces: the test makes the recorder break the rules on purpose")
    config.addinivalue_line("markers", "cold_workers: the test's worker processes are new Pythons, not forks")
    stack = ExitStack()
    stack.enter_context(compiled_once())
    config.add_cleanup(stack.close)


def pytest_collection() -> None:
    """Pauses garbage collection: nearly all that the tests' imports make stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exempts torch and the collected tests from garbage collection: each would search their millions of objects."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def finished_traces() -> Iterator[FinishedTraces]:
    """Collects the problems of every trace that a recording in this process finishes."""
    with pytest.MonkeyPatch.context() as patch:
        yield FinishedTraces(patch)


@pytest.fixture(autouse=True)
def every_finished_trace_keeps_the_rules(
    request: pytest.FixtureRequest, finished_traces: FinishedTraces
) -> Iterator[None]:
    """Fails a test if ``fe.problems`` finds a fault in a trace that it, or a fixture new with it, recorded."""
    yield
    found = finished_traces.take()
    if request.node.get_closest_marker("makes_broken_traces") is None:
        assert found == []


@pytest.fixture(scope="session")
def warm_workers() -> Iterator[WarmWorkers]:
    """Makes the worker processes of this process's recordings forks of one that has torch already."""
    workers = WarmWorkers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child_process, "subprocess", workers)
        yield workers
    workers.close()


@pytest.fixture(autouse=True)
def workers_start_as_marked(request: pytest.FixtureRequest, warm_workers: WarmWorkers) -> Iterator[None]:
    """Starts the worker processes of a test with the mark ``cold_workers`` as users' are started; others stay warm."""
    warm_workers.is_cold = request.node.get_closest_marker("cold_workers") is not None
    yield
    warm_workers.is_cold = False
    assert warm_workers.changed_variables() == set()


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to rewrite golden files instead of comparing them."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests that need one: a thread can run playwright only once at a time."""
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.chromium import ARGUMENTS, ONE_RENDERER, PATIENCE_MS, windowless_chromium

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=windowless_chromium(), args=[*ARGUMENTS, ONE_RENDERER], timeout=PATIENCE_MS
        )
        yield chromium
        chromium.close()
