"""The page of a sweep, opened from disk: 1,000 rows, a comparison, both themes, all widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from freeze_engine import sweep
from tests.browser.accessibility import serious_findings
from tests.sweeps import failed_row, make_sweep, sweep_row
from viewer.sweep_page import write_sweep

ATTACK = '</script><script>window.__pwned=1</script><img src=x onerror="window.__pwned=1">'
MANY = 1000


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of a large sweep, and that of its comparison with an older one."""
    folder = tmp_path_factory.mktemp("sweeps")
    rows = [
        sweep_row(
            f"net{number:03}",
            options=options,
            latency_ratio=(number + 1) / 500,
            latency_ratio_low=(number + 1) / 510,
            latency_ratio_high=(number + 1) / 490,
            notices=number % 3,
        )
        for number in range(MANY // 2)
        for options in ("plain", "inference")
    ]
    failed = failed_row("net000", f"RuntimeError: {ATTACK}", options=f"other {ATTACK}")
    old = sweep.read_sweep(make_sweep(folder / "old", *rows, name="old", with_traces=False))
    named = [sweep_row("small", backend="inductor"), failed, *rows[1:]]
    new = sweep.read_sweep(make_sweep(folder / "new", *named, name=f"new {ATTACK}", with_traces=False))
    write_sweep(new, folder / "new.html")
    write_sweep(new, folder / "diff.html", old)
    small = make_sweep(folder / "small", sweep_row("small"), failed_row("other"))
    write_sweep(sweep.read_sweep(small), folder / "small.html")
    return folder


def rows_of(page: Page) -> list[str]:
    return page.locator(".fs-table .fv-virtual .fs-row > :first-child").all_inner_texts()


def test_the_whole_reason_of_a_failure_is_a_click_away(page: Page, pages: Path) -> None:
    page.goto((pages / "new.html").as_uri())
    reason = page.get_by_role("button", name="RuntimeError")
    reason.press("Enter")
    told = page.get_by_role("dialog", name="Why the recording failed")
    expect(told.locator("pre")).to_have_text(f"failed: RuntimeError: {ATTACK}")
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    expect(reason).to_be_focused()


def test_a_thousand_rows_are_sorted_filtered_and_grouped(page: Page, pages: Path) -> None:
    page.goto((pages / "new.html").as_uri())
    status = page.get_by_role("status")
    expect(status).to_have_text(f"{MANY + 1} recordings, 1 not recorded")
    assert rows_of(page)[:2] == ["small", "net000"]
    assert len(rows_of(page)) < 100
    order = page.get_by_role("columnheader", name="Time after / before")
    order.get_by_role("button").click()
    expect(order).to_have_attribute("aria-sort", "ascending")
    assert rows_of(page)[0] == "net000"
    order.get_by_role("button").press("Enter")
    expect(order).to_have_attribute("aria-sort", "descending")
    expect(order.get_by_role("button")).to_be_focused()
    assert rows_of(page)[0] == "net499"
    page.get_by_label("Filter the recordings").fill("net49")
    expect(status).to_have_text(f"20 of {MANY + 1} recordings, 1 not recorded")
    page.get_by_label("Options", exact=True).select_option("plain")
    expect(status).to_have_text(f"10 of {MANY + 1} recordings, 1 not recorded")
    expect(page.locator(".fs-chart circle")).to_have_count(10)
    page.get_by_label("Group").select_option("backend")
    assert rows_of(page)[0] == "torchscript: 10 recordings"
    page.get_by_label("Figure", exact=True).select_option("notices")
    expect(page.locator(".fs-chart svg")).to_have_attribute("aria-label", "Notices by model; the table has the figures")
    assert page.evaluate("window.__pwned") is None


def test_regressions_come_first(page: Page, pages: Path) -> None:
    page.goto((pages / "diff.html").as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text(f"old → new {ATTACK}")
    gone = page.locator("details", has_text="Only in old:")
    expect(gone).to_contain_text("Only in old: 1")
    expect(page.get_by_role("region", name="Worse")).to_contain_text("Nothing became worse.")
    assert page.evaluate("window.__pwned") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_every_width_and_is_accessible(page: Page, pages: Path, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto((pages / "small.html").as_uri())
    expect(page.get_by_role("status")).to_have_text("2 recordings, 1 not recorded")
    assert serious_findings(page) == []
    assert page.evaluate("document.querySelector('.fs-page').dataset.scheme") == scheme
    for width in (390, 768, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator(".fs-chart svg")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate("(each => each.scrollWidth - each.clientWidth)(document.querySelector('.fs-page'))") <= 0
    link = page.get_by_role("link", name="small")
    target = (pages / str(link.get_attribute("href"))).resolve()
    assert target.parent == pages / "small" / "traces"
    assert target.is_file()
    page.set_viewport_size({"width": 1280, "height": 720})


def test_rows_that_stay_in_sight_stay_the_same_elements(page: Page, pages: Path) -> None:
    page.goto((pages / "new.html").as_uri())
    expect(page.get_by_role("status")).to_have_text(f"{MANY + 1} recordings, 1 not recorded")
    kept, before, after = page.evaluate(
        """async () => {
            const list = document.querySelector(".fs-table .fv-virtual");
            const rows = () => [...list.querySelectorAll(".fs-row")];
            const texts = () => rows().map((row) => row.firstElementChild.textContent);
            list.scrollTop = 3000;
            await new Promise((resolve) => list.addEventListener("scroll", resolve, { once: true }));
            const [before, first] = [rows(), texts()];
            list.scrollTop = 2400;
            await new Promise((resolve) => list.addEventListener("scroll", resolve, { once: true }));
            return [rows().filter((row) => before.includes(row)).length, first, texts()];
        }"""
    )
    assert 0 < kept < len(before)
    assert after[-kept:] == before[:kept]
