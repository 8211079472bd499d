"""The glossary is one: in the page's data, in the sheet, and in the documents."""

from __future__ import annotations

import re
from pathlib import Path

from tests.builders import small_trace
from viewer.views import view_data
from viewer.views.glossary import GLOSSARY, glossary_page
from viewer.views.wording import FATES

ROOT = Path(__file__).parents[2]


def test_the_document_is_the_glossary(update_golden: bool) -> None:
    page = ROOT / "docs" / "glossary.md"
    if update_golden:
        page.write_text(glossary_page(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == glossary_page()


def test_terms_are_sorted_and_meanings_are_sentences() -> None:
    assert list(GLOSSARY) == sorted(GLOSSARY)
    assert [term for term, text in GLOSSARY.items() if not re.fullmatch(r"[A-Z].*\.", text) or "|" in text] == []
    assert GLOSSARY.keys() >= FATES.keys()


def test_every_term_that_the_pages_use_is_in_the_glossary() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "frontend" / "viewer").glob("*.js")]
    found = {name for text in sources for name in re.findall(r"(?:term|explains)\([\w.]+, \"([^\"]+)\"", text)}
    found |= {name for text in sources for name in re.findall(r"this\.term = \"([^\"]+)\"", text)}
    assert len(found) >= 8
    assert found <= GLOSSARY.keys()


def test_the_page_gets_the_glossary() -> None:
    assert dict(view_data(small_trace())["glossary"]) == GLOSSARY
