"""Text has contrast, in light and dark; the script and the style name only what the page has."""

import re
from importlib.resources import files

import pytest

STYLE = (files("refdesk.evaluation.reporting") / "style.css").read_text("utf-8")
SCRIPT = (files("refdesk.evaluation.reporting") / "page.js").read_text("utf-8")
READABLE = 4.5
VISIBLE = 3.0
"""What WCAG 2.1 wants of text, and of pictures."""


def colours(block: str) -> dict[str, tuple[float, float, float]]:
    return {
        name: (int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16))
        for name, code in re.findall(r"--([\w-]+): #([0-9a-f]{6})", block)
    }


def themes() -> dict[str, dict[str, tuple[float, float, float]]]:
    blocks = [found[1] for found in re.finditer(r":root \{(.*?)\}", STYLE, re.DOTALL)]
    return dict(zip(("light", "dark", "print"), map(colours, blocks), strict=True))


def luminance(colour: tuple[float, float, float]) -> float:
    parts = [one / 255 for one in colour]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_text_can_be_read(theme: str) -> None:
    known = themes()[theme]
    pairs = [
        (text, ground) for text in ("ink", "quiet") for ground in ("surface", "soft", "warn-soft", "bad-soft")
    ]
    pairs += [(name, f"{name}-soft") for name in ("good", "bad", "warn", "none")]
    pairs += [("good", "surface"), ("bad", "surface")]
    for text, ground in pairs:
        assert contrast(known[text], known[ground]) >= READABLE, (text, ground)
    for place in range(6):
        assert contrast(known[f"c{place}"], known["surface"]) >= VISIBLE, place


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_can_be_read_on_every_heat(theme: str) -> None:
    known = themes()[theme]
    shares = [int(found) / 100 for found in re.findall(r"var\(--heat\) (\d+)%", STYLE)]
    assert len(shares) == 10
    assert shares == sorted(shares)
    for share in shares:
        mixed = [
            share * heat + (1 - share) * ground
            for heat, ground in zip(known["heat"], known["surface"], strict=True)
        ]
        assert contrast((mixed[0], mixed[1], mixed[2]), known["ink"]) >= READABLE, share


def test_all_themes_have_the_same_colours() -> None:
    light, dark, printed = themes().values()
    assert set(light) >= set(printed)
    assert set(dark) == set(light)
    for name in re.findall(r"var\(--([\w-]+)\)", STYLE):
        assert name in light, name


def test_nothing_is_fetched_or_evaluated() -> None:
    assert not re.search(r"url\(|@import|@font-face|https?:", STYLE)
    assert not re.search(
        r"fetch\(|XMLHttp|import\(|eval\(|Function\(|innerHTML|outerHTML|document\.write|https?:", SCRIPT
    )
