"""Numbers of a text, in a form in which different spellings of one number are equal."""

import unicodedata
from collections.abc import Iterator

import regex

from refdesk.grounding.numerals import SPELLED

_FIGURE = regex.compile(
    r"(?:(?<![\p{L}\p{N}])(?<!\p{N}[.,])|(?<=(?<!\p{L})[vV]))"
    r"\p{Nd}{1,40}(?:(?:[.,'’]\p{Nd}{1,40})+|(?: \p{Nd}{3})+(?!\p{Nd}))?"
)
_GROUPED = regex.compile(
    r"\d{1,3}(?P<sign>[.,' ])\d{3}(?:(?P=sign)\d{3})*(?:(?!(?P=sign))[.,](?P<rest>\d+))?"
)
_DATE = regex.compile(r"\d{1,2}\.\d{1,2}\.(?:\d\d){1,2}|\d{4}\.\d{1,2}\.\d{1,2}")
_SIGN = regex.compile(r"[.,' ]")
_FRACTION = regex.compile(r"(\d+)[.,](\d+)")
_ENUMERATION = regex.compile(r"\(\p{Nd}{1,2}\)")
_WORD = regex.compile(r"\p{L}++")

Readings = frozenset[frozenset[str]]
"""What a figure may mean: each reading is one or more numbers, all of which it states."""


def figures(text: str) -> tuple[Readings, ...]:
    """Return the numbers of a text; `1,000` is `1000` or 1, `17.05.24` a version, or 17, 5 and 24.

    Digits of every script are read. Those within a word, `X200`, and those of a list, `(1)`, are left out.
    """
    plain = _ENUMERATION.sub(" ", unicodedata.normalize("NFKC", text))
    return tuple(frozenset(_readings(_ascii(found))) for found in _FIGURE.findall(plain))


def values(text: str) -> frozenset[str]:
    """Return the numbers that a text may state, those that it writes as single words included."""
    written = {one for readings in figures(text) for reading in readings for one in reading}
    said = {SPELLED[word] for word in _WORD.findall(text.casefold()) if word in SPELLED}
    return frozenset(written | said)


def stated(readings: Readings, known: frozenset[str]) -> bool:
    """Tell whether known numbers hold one of the readings."""
    return any(reading <= known for reading in readings)


def _readings(figure: str) -> Iterator[frozenset[str]]:
    parts = [_plain(part) for part in _SIGN.split(figure)]
    grouped, fraction = _GROUPED.fullmatch(figure), _FRACTION.fullmatch(figure)
    if grouped:
        whole = figure[: grouped.start("rest") - 1] if grouped["rest"] else figure
        yield frozenset({_plain(_SIGN.sub("", whole), grouped["rest"] or "")})
    if fraction and not (grouped and parts[1] == "0"):
        yield frozenset({_plain(fraction[1], fraction[2])})
    if len(parts) == 1 or _DATE.fullmatch(figure) or _listed(figure, bool(grouped)):
        yield frozenset(parts)
    if len(parts) > 2 and not grouped:
        yield frozenset({".".join(parts)})


def _listed(figure: str, grouped: bool) -> bool:
    """Tell numbers that only stand side by side."""
    if " " in figure:
        return " 000" not in figure
    return "," in figure and not grouped and not _FRACTION.fullmatch(figure)


def _plain(whole: str, rest: str = "") -> str:
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def _ascii(figure: str) -> str:
    return "".join(
        str(unicodedata.decimal(sign)) if sign.isdecimal() else "'" if sign == "’" else sign
        for sign in figure
    )
