"""The picture of a verdict."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace
from viewer.card import card_svg
from viewer.cli import main
from viewer.text.printable import printable

TEXT = "{http://www.w3.org/2000/svg}text"


def words(svg: str) -> str:
    """All text of a picture; it has to be well-formed XML."""
    return " ".join(one.text or "" for one in ET.fromstring(svg).iter(TEXT))


@pytest.mark.parametrize("make", [small_trace, failed_trace, empty_trace])
def test_a_card_has_the_name_and_the_whole_verdict(make):
    shown = words(card_svg(make()))
    assert (make().name or "unnamed model") in shown
    assert " ".join(printable(fe.summarize(make()).sentence).split()) in " ".join(shown.split())


def test_a_card_shows_before_and_after():
    shown = words(card_svg(small_trace()))
    for text in ("before 24 operations", "after 17 operations", "2 of 4", "no difference found", "off by 3.0e-04"):
        assert text in shown


@pytest.mark.parametrize("name", [HOSTILE, "\x00\x1b[2J\ud800\u202e", "<svg onload='alert(1)'>&amp;]]>", "n" * 5000])
def test_a_hostile_name_is_text(name):
    svg = card_svg(replace(small_trace(), name=name))
    assert {one.tag.rpartition("}")[2] for one in ET.fromstring(svg).iter()} == {"svg", "title", "rect", "text", "line"}
    assert len(svg) < 20_000


def test_a_long_verdict_gets_smaller_letters_and_is_cut_last():
    long = "w" * 30
    attribute = replace(small_trace().attributes[3], path=".".join([long] * 60))
    trace = replace(small_trace(), attributes=(*small_trace().attributes, attribute))
    assert max(len(one.text or "") for one in ET.fromstring(card_svg(trace)).iter(TEXT)) <= 106


def test_report_writes_the_card_in_place_of_the_page_and_both_with_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fe.save(small_trace(), "a.fztrace")
    assert main(["report", "a.fztrace", "--card", "a.svg"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.fztrace", "a.svg"]
    assert main(["report", "a.fztrace", "--card", "a.svg", "-o", "b.html"]) == 0
    assert Path("b.html").is_file()
    assert capsys.readouterr().out == "a.svg\na.svg\nb.html\n"


def test_a_png_without_a_browser_is_an_error_with_the_way_out(tmp_path, monkeypatch, capsys):
    fe.save(small_trace(), tmp_path / "a.fztrace")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["report", str(tmp_path / "a.fztrace"), "--card", str(tmp_path / "a.png")]) == 2
    assert "none is installed; write an SVG (--card a.svg)" in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


def test_other_pictures_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["report", str(tmp_path / "a.fztrace"), "--card", "a.jpg"])
    assert "is no .svg and no .png" in capsys.readouterr().err
