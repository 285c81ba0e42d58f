"""The words for what is answered: evidence, citations, answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from refdesk.documents import Hit

Zone = Literal["none", "weak", "ok", "unknown"]
"""How far the evidence supports an answer; `unknown` where it could not be measured."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A hit as it is shown to what writes the answer, numbered from 1."""

    number: int
    hit: Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a statement comes from: `document.text[start:end] == quote`, always."""

    marker: int
    """The number in the answer's text, `[1]`; numbers follow first appearance."""
    chunk_id: str
    document_id: str
    collection: str
    title: str
    source_id: str
    url: str | None
    page: int | None
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was asked, what was answered, and on what ground."""

    question: str
    text: str
    citations: tuple[Citation, ...] = ()
    zone: Zone = "unknown"
    refusal: str | None = None
    """Why there is no answer: `nothing_found`, `below_threshold` or `abstained`; else None."""
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds per stage."""
    model: str = ""
    """What wrote the text: a model string, or `extractive`."""
