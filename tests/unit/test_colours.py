"""The viewer's colours: readable on every ground, and told apart by colour-blind eyes."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest

from viewer.assets import read_asset
from viewer.charts.drawing import PALETTES

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}
FATES = ("inlined", "folded", "preserved", "dropped")
SIGNS = ("added", "removed", "modified")
TEXTS = ("text", "muted", "accent", "good", "bad", "warn", *FATES, *SIGNS)
TOKENS = ("token-op", "token-value", "token-string", "token-number")
GROUNDS = ("bg", "panel", "raised", "accent-soft")
TOLD_APART = 20  # CIE76; 2 is just noticeable side by side


def variables(selector: str) -> dict[str, str]:
    block = re.search(re.escape(selector) + r" \{(.*?)\}", read_asset("viewer/viewer.css"), re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))


LIGHT = variables(".fv")
DARK = LIGHT | variables('.fv[data-scheme="dark"]')


def linear(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def contrast(one: str, other: str) -> float:
    """WCAG 2.1's contrast ratio."""
    weights = (0.2126, 0.7152, 0.0722)
    light = [
        sum(weight * part for weight, part in zip(weights, linear(colour), strict=True)) for colour in (one, other)
    ]
    return (max(light) + 0.05) / (min(light) + 0.05)


def lab(colour: str, sight: str) -> tuple[float, float, float]:
    """CIELAB of how a colour is seen."""
    seen = [min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear(colour), strict=True)))) for row in SIGHTS[sight]]
    red, green, blue = seen
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: str, other: str, sight: str) -> float:
    return sum((a - b) ** 2 for a, b in zip(lab(one, sight), lab(other, sight), strict=True)) ** 0.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_ground(theme):
    pairs = [*product(TEXTS, GROUNDS), *((sign, f"{sign}-soft") for sign in SIGNS), *product(TOKENS, ("bg",))]
    pairs += [(token, f"{sign}-soft") for token, sign in product(TOKENS, ("added", "removed"))]
    poor = {pair: contrast(theme[pair[0]], theme[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_fates_and_signs_have_distinct_colours(theme, sight):
    pairs = [*combinations(FATES, 2), *combinations(SIGNS, 2)]
    close = {pair: distance(theme[pair[0]], theme[pair[1]], sight) for pair in pairs}
    assert {pair: apart for pair, apart in close.items() if apart < TOLD_APART} == {}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chart_series_have_distinct_colours(theme, sight):
    series = PALETTES[theme].series
    assert min(distance(one, other, sight) for one, other in combinations(series, 2)) >= TOLD_APART
