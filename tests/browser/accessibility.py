"""Findings of the accessibility checker axe about a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


def serious_findings(page: Page) -> list[str]:
    """Returns what axe finds serious or critical: the rule, the first elements and the remedy."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']}: {[node['html'] for node in one['nodes']][:3]} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in SERIOUS
    ]
