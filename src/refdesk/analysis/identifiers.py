"""Words held together by signs: found whole and in parts.

| written | tokens besides the stems of its parts |
|---|---|
| `multi-agent`, `max_length` | the closed form: `multiag`, `maxlength` |
| `numpy.linalg.norm` | whole, and neighbours: `numpy.linalg`, `linalg.norm` |
| `v1.2.3`, `20.04`, `2024-05-17` | whole, without the `v`, and what it begins with: `1.2`, `1`, `2024-05` |
| `1,234,567` | `1234567` |
| `src/main.rs`, `a@b.org`, a URL | whole and each part by these rules |
| `C++`, `C#`, `.NET`, `@nasa` | with the sign |
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Final

import regex

from refdesk.analysis.folding import lower
from refdesk.analysis.scripts import UNSPACED
from refdesk.analysis.words import whole, word_tokens

_SIGN: Final = r"[\p{L}\p{M}\p{N}]"
_WORD: Final = rf"[\p{{L}}\p{{N}}]{_SIGN}*+"
_URL: Final = r"(?:\p{L}[\w+.-]{0,20}://|www\.)\S*[\w/]"
_SIGNED: Final = (
    rf"(?<!{_SIGN})(?:\p{{L}}{{1,2}}(?:\+\+|\#)(?!\p{{L}})"
    rf"|[@\#]\p{{L}}[\p{{L}}\p{{M}}\p{{N}}_]*+|\.\p{{Lu}}{{2,}}+(?!{_SIGN}))"
)
_CHAIN: Final = rf"{_WORD}(?:(?:::|[-._'/\\:@&,]){_WORD})*+"
_FOUND: Final = regex.compile(rf"(?P<url>{_URL})|(?P<signed>{_SIGNED})|(?P<chain>{_CHAIN})")
_BETWEEN: Final = regex.compile(r"[/\\:@&]+")
_HYPHENS: Final = regex.compile("[-_]")
_PART: Final = regex.compile(rf"{_WORD}(?:[-._]{_WORD})*+")

_GROUPED: Final = regex.compile(r"\p{Nd}{1,3}(?:,\p{Nd}{3})+")
_NUMERIC: Final = regex.compile(r"\p{Nd}++(?:[-./:,]\p{Nd}++)++")
_VERSIONED: Final = regex.compile(r"(\p{L}++)(\p{Nd}++(?:\.\p{Nd}++)++)")
_STEP: Final = regex.compile(r"[-./:,]?\p{Nd}++")
_JOINT: Final = regex.compile(r"(?<!\p{Nd})[-_]|[-_](?!\p{Nd})")
_ABBREVIATION: Final = regex.compile(r"\p{L}(?:\.\p{L})++")
_MOST_PREFIXES: Final = 6
_MOST_NEIGHBOURS: Final = 16

_ELIDED: Final = regex.compile(
    r"(?:\p{Latin}|qu|gl|un|jusqu|lorsqu|puisqu|quoiqu|quelqu|dell|all|dall|nell|sull|coll|quell|quest|sant|bell)",
    regex.IGNORECASE,
)
_LATIN: Final = regex.compile(r"\p{Latin}")
_CLITIC: Final = frozenset({"s", "re", "ve", "ll", "d", "m"})


def piece_tokens(piece: str, language: str) -> Iterator[str]:
    """Yield the tokens of normalised text without spaces."""
    for found in _FOUND.finditer(piece):
        text = found.group()
        if found.lastgroup == "url":
            yield from _url(text, language)
        elif found.lastgroup == "signed":
            yield from _signed(text, language)
        else:
            yield from _chain(text, language)


def _url(text: str, language: str) -> Iterator[str]:
    yield whole(text.partition("://")[2].rstrip("/") or text, language)
    for part in _PART.findall(text.partition("://")[2] or text):
        yield from _dotted(part, language)


def _signed(text: str, language: str) -> Iterator[str]:
    yield whole(text, language)
    if text[0] in ".@#":
        yield from _dotted(text[1:], language)


def _chain(text: str, language: str) -> Iterator[str]:
    for part in text.split(",") if not _NUMERIC.fullmatch(text) else (text,):
        if _BETWEEN.search(part) and not _NUMERIC.fullmatch(part):
            yield from _path(part, language)
        else:
            yield from _apostrophes(part, language)


def _path(text: str, language: str) -> Iterator[str]:
    if not UNSPACED.search(text):
        yield whole(text.replace("\\", "/"), language)
    for part in _BETWEEN.split(text):
        yield from _apostrophes(part, language)


def _apostrophes(text: str, language: str) -> Iterator[str]:
    first, sign, rest = text.partition("'")
    if not sign:
        yield from _dotted(text, language)
        return
    ending = rest.casefold()
    if ending == "t" and first[-1] in "nN":
        yield from word_tokens(first + rest, language)
    elif ending in _CLITIC or language == "tr":
        yield from _dotted(first, language)
    elif _ELIDED.fullmatch(first):
        yield from _elided(first, rest, language)
    else:
        yield from word_tokens(lower(text.replace("'", ""), language), language)
        for part in text.split("'") if _LATIN.match(first) else ():
            yield from _dotted(part, language)


def _elided(first: str, rest: str, language: str) -> Iterator[str]:
    if first[0].isupper() and rest[0].isupper():
        yield from word_tokens(lower(first + rest.replace("'", ""), language), language)
    for part in rest.split("'"):
        yield from _dotted(part, language)


def _dotted(text: str, language: str) -> Iterator[str]:
    if "." not in text and "," not in text and not _NUMERIC.fullmatch(text):
        yield from _hyphened(text, language)
    elif _GROUPED.fullmatch(text):
        yield whole(text.replace(",", ""), language)
    elif _NUMERIC.fullmatch(text):
        yield from _number(text, language)
    elif _ABBREVIATION.fullmatch(text):
        yield whole(text.replace(".", ""), language)
    elif versioned := _VERSIONED.fullmatch(text):
        yield whole(text, language)
        yield from _number(versioned[2], language)
        if len(versioned[1]) > 1:
            yield from word_tokens(versioned[1], language)
    else:
        yield from _names(text, language)


def _number(text: str, language: str) -> Iterator[str]:
    steps = _STEP.findall(text)
    beginnings = list(accumulate(steps[:_MOST_PREFIXES]))
    yield from (whole(beginning, language) for beginning in beginnings)
    if len(steps) > _MOST_PREFIXES:
        yield whole(text, language)
    for step in steps[1:]:
        if len(number := step.lstrip("-./:,")) >= 4:
            yield whole(number, language)


def _names(text: str, language: str) -> Iterator[str]:
    names = text.split(".")
    if not UNSPACED.search(text):
        yield whole(text, language)
        if 2 < len(names) <= _MOST_NEIGHBOURS:
            yield from (whole(f"{a}.{b}", language) for a, b in pairwise(names))
    for name in names:
        yield from _hyphened(name, language)


def _hyphened(text: str, language: str) -> Iterator[str]:
    parts = [part for part in _HYPHENS.split(text) if part]
    if len(parts) > 1 and not UNSPACED.search(text):
        closed = lower(_JOINT.sub("", text), language)
        yield from word_tokens(closed, language) if closed.isalpha() else (whole(closed, language),)
    for part in parts:
        yield from _dotted(part, language) if "." in part else word_tokens(part, language)
