"""Findings of the accessibility checker axe about a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
#: Only what is asked for leaves the page: with all that axe finds in order, a run takes half as long again.
_RUN = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)"


def violations(page: Page) -> list[dict[str, Any]]:
    """Returns what axe finds; its script is put into a document once."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(_RUN)
    return found


def serious_findings(page: Page) -> list[str]:
    """Returns what axe finds serious or critical: the rule, the first elements and the remedy."""
    return [
        f"{one['id']}: {[node['html'] for node in one['nodes']][:3]} {one['nodes'][0]['failureSummary']}"
        for one in violations(page)
        if one["impact"] in SERIOUS
    ]
