"""Number what was found, and lay it out for a model so that no document text can pass for an instruction."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from refdesk.context import Evidence
from refdesk.documents import Hit

_MARKER = re.compile(r"[\[【［〔]+\s*(\^?\d[\d\s,;–-]*)[\]】］〕]+")
_WIDE = re.compile(r"[【［〔](?=\s*\d)")
_DOUBLE = re.compile(r"\[(?=\[|\d+\])|\](?=\])")
_TAG = re.compile(r"<(?=[/!?|]?[A-Za-z])")
_SHORTEST_EXCERPT = 40
"""Tokens; less of an excerpt is not worth showing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceBlock:
    """Evidence as a model reads it."""

    text: str
    shown: tuple[Evidence, ...]
    left_out: tuple[Evidence, ...] = ()
    shortened: tuple[Evidence, ...] = ()
    tokens: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say what the model did not get to see."""
        cases = (("left out", self.left_out), ("shortened", self.shortened))
        return tuple(
            f"Evidence {_listed(items)} was {what}: the token budget is used up."
            for what, items in cases
            if items
        )


def number_hits(hits: Sequence[Hit]) -> tuple[Evidence, ...]:
    """Number hits from 1 in their order."""
    return tuple(Evidence(number, hit) for number, hit in enumerate(hits, 1))


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text where no tokenizer is at hand, rather too high than too low."""
    if text.isascii():
        return int(len(text) / 3.5) + 1
    wide = sum(ord(character) > 0x2E7F for character in text)
    other = sum(0x7F < ord(character) <= 0x2E7F for character in text)
    plain = len(text) - wide - other
    return int(plain / 3.5 + other / 1.8 + wide * 1.3) + 1


def evidence_block(
    evidence: Sequence[Evidence], *, budget: int | None = None, count: Callable[[str], int] = estimate_tokens
) -> EvidenceBlock:
    """Lay out evidence, in order, within `budget` tokens as `count` counts them.

    What does not fit is shortened where it is the first, else left out; both are reported.
    """
    parts: list[str] = []
    shown: list[Evidence] = []
    left_out: list[Evidence] = []
    shortened: list[Evidence] = []
    used = count(_OPENING + _CLOSING)
    for item in evidence:
        room = None if budget is None else budget - used
        entry = _entry(item, item.hit.chunk.text)
        if room is not None and count(entry) > room:
            entry = "" if shown else _shortened(item, room, count)
            (shortened if entry else left_out).append(item)
        if entry:
            parts.append(entry)
            shown.append(item)
            used += count(entry)
    return EvidenceBlock(
        text=_OPENING + "".join(parts) + _CLOSING,
        shown=tuple(shown),
        left_out=tuple(left_out),
        shortened=tuple(shortened),
        tokens=used,
    )


def leading(
    evidence: Sequence[Evidence], *, budget: int, count: Callable[[str], int] = estimate_tokens
) -> EvidenceBlock:
    """Return the first evidence that fits a budget, and at least one, without gaps, whole and not laid out.

    It is for prompts of the user's own, which lay out hits themselves.
    """
    shown: list[Evidence] = []
    used = 0
    for item in evidence:
        tokens = count(_entry(item, item.hit.chunk.text))
        if shown and used + tokens > budget:
            break
        shown.append(item)
        used += tokens
    return EvidenceBlock(text="", shown=tuple(shown), left_out=tuple(evidence[len(shown) :]), tokens=used)


def neutralise(text: str) -> str:
    """Rewrite what looks like a tag or a citation marker, so that only the layout has real ones."""
    text = _MARKER.sub(lambda found: f"({found[1].strip()})", text)
    text = _DOUBLE.sub(lambda found: f"{found[0]} ", _WIDE.sub("(", text))
    return _TAG.sub("‹", text)


def _listed(items: Sequence[Evidence]) -> str:
    return ", ".join(str(item.number) for item in items)


def _entry(item: Evidence, excerpt: str) -> str:
    title, origin = _attribute(item.hit.title), _attribute(_origin(item.hit))
    opening = f'<source number="{item.number}" title="{title}" from="{origin}">'
    return f"{opening}\n{neutralise(excerpt).strip()}\n</source>\n"


def _origin(hit: Hit) -> str:
    section = " > ".join(hit.chunk.heading_path)
    page = f"page {hit.chunk.page}" if hit.chunk.page else ""
    return ", ".join(part for part in (hit.source_id, section, page) if part)


def _attribute(text: str) -> str:
    for sign, other in (('"', "'"), ("<", "‹"), (">", "›")):
        text = text.replace(sign, other)
    return " ".join(neutralise(text).split())[:_LONGEST_ATTRIBUTE]


def _shortened(item: Evidence, room: int, count: Callable[[str], int]) -> str:
    """Return the longest entry that fits and ends with a word, empty where too little would remain."""
    text = item.hit.chunk.text
    if room < count(_entry(item, "")) + _SHORTEST_EXCERPT:
        return ""
    ends = list(_word_ends(text))
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high)
            if count(_entry(item, text[: ends[middle - 1]] + " …")) <= room
            else (low, middle - 1)
        )
    return _entry(item, text[: ends[low - 1]] + " …") if low else ""


def _word_ends(text: str) -> Iterator[int]:
    return (found.end() for found in re.finditer(r"\S{1,40}", text))


_LONGEST_ATTRIBUTE = 200
_OPENING = "<evidence>\n"
_CLOSING = "</evidence>"
