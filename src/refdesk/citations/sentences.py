"""Split a text into sentences whose offsets are exact, passing over what says nothing in Markdown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sentencex

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s*(?:[-=*_~^]\s*){3,}$|\s*\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*$")
_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.)(?:\s|$)")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RECORD = re.compile(r"\s*[^:;|\n]{1,60}: [^;\n]*(?:; [^:;\n]{1,60}: [^;\n]*)+$")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+•–]|\d{1,3}[.)])\s+)?")
_BULLET = re.compile(r"\s*(?:>\s*)*(?:[-*+•–]|\d{1,3}[.)])\s+")
_ONLY_LINKS = re.compile(r"[\s,;|·*•-]*(?:(?:!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+>?)[\s,;|·*•-]*)+$")
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\u4e00-\u9fff]"), "zh"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\uac00-\ud7af]"), "ko"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
)
_LONE = re.compile(r"[\ud800-\udfff]")
"""Surrogates, which the splitter cannot read."""
_LONGEST = 600
"""Characters; a longer sentence with line breaks is no sentence but lines."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


def sentences(text: str, language: str = "") -> tuple[Span, ...]:
    """Return the sentences of a text in order.

    List items, table rows and rows of named values are sentences of their own. Left out are headings, rules,
    lines that only link, and code: fenced, at a `>>>` prompt, or indented after a colon and a blank line.
    `language` is an ISO 639-1 code; without one the script decides.
    """
    language = language if language not in ("", "und") else language_of(text)
    return tuple(span for block in _blocks(text) for span in _split(text, block, language))


def language_of(text: str) -> str:
    """Guess a language whose rules for sentences fit the script of a text."""
    found = [(len(script.findall(text)), code) for script, code in _SCRIPTS]
    count, code = max(found, key=lambda pair: pair[0])
    kana = next(number for number, name in found if name == "ja")
    if count * 4 < len(text) or not count:
        return "en"
    return "ja" if code == "zh" and kana * 10 > count else code


def _blocks(text: str) -> Iterator[Span]:
    """Yield paragraphs, list items and table rows."""
    start, end, fenced = -1, -1, False
    at = 0
    for line, literal in _with_literals(text.splitlines(keepends=True)):
        silent = fenced or literal or _says_nothing(line)
        fenced ^= bool(_FENCE.match(line))
        alone = bool(_ROW.match(line) or _RECORD.match(line))
        if start >= 0 and (silent or alone or _BULLET.match(line)):
            yield Span(start, end)
            start = -1
        if not silent:
            lead = _ITEM.match(line) if start < 0 else None
            start = at + (lead.end() if lead else 0) if start < 0 else start
            end = at + len(line)
        if alone and start >= 0:
            yield Span(start, end)
            start = -1
        at += len(line)
    if start >= 0:
        yield Span(start, end)


def _with_literals(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Tell of each line whether it belongs to an indented block that a colon and a blank line announce."""
    least: int | None = None
    announced = blank = False
    above = 0
    for line in lines:
        if not line.strip():
            blank = True
        else:
            indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
            begins = announced and blank and indent >= above + 4 and not _BULLET.match(line)
            least = indent if begins else least
            least = None if least is not None and indent < least else least
            announced, blank, above = line.rstrip().endswith(":"), False, indent
        yield line, least is not None


def _says_nothing(line: str) -> bool:
    return not line.strip() or any(
        kind.match(line) for kind in (_FENCE, _HEADING, _RULE, _ONLY_LINKS, _PROMPT)
    )


def _split(text: str, block: Span, language: str) -> Iterator[Span]:
    flat = _LONE.sub("\ufffd", block.of(text)).replace("\n", " ").replace("\r", " ")
    at = block.start
    pieces = sentencex.segment(language, flat)
    for piece in pieces if "".join(pieces) == flat else [flat]:
        span = _trimmed(text, at, at + len(piece))
        at += len(piece)
        if span.end - span.start > _LONGEST and "\n" in span.of(text):
            yield from _lines(text, span)
        elif re.search(r"\w", span.of(text)):
            yield span


def _lines(text: str, span: Span) -> Iterator[Span]:
    at = span.start
    for line in span.of(text).splitlines(keepends=True):
        trimmed = _trimmed(text, at, at + len(line))
        at += len(line)
        if re.search(r"\w", trimmed.of(text)):
            yield trimmed


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), max(start, start + len(piece.rstrip())))
