"""An answer cut into the pieces that were judged and those that were not, in order, none twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from refdesk.citations.sentences import Span
from refdesk.grounding.carrying import without_leading_markers
from refdesk.grounding.stating import Statement
from refdesk.support import GroundedSpan, Grounding, Support

LEAST = 3
"""Words that the rest of a sentence needs to count as a statement, where it has no number and no name."""
_SEVERITY: tuple[Support, ...] = ("contradicted", "unsupported", "unchecked", "partial", "supported")
_EDGES = " \t\r\n,;:–—-"
_SAYING = regex.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters of an answer and how they were judged."""

    start: int
    end: int
    held: bool | None = None
    """None where they were not judged."""
    support: Support = "unchecked"
    score: float | None = None
    """How far the evidence holds them, 0 to 1."""
    sources: Mapping[str, float] = field(default_factory=dict)

    @property
    def badness(self) -> tuple[bool, int, float]:
        """Orders pieces, the worst first."""
        score = self.score if self.score is not None else 1.0
        return (bool(self.held), _SEVERITY.index(self.support), score)


def pieces_of(text: str, sentences: Sequence[Span], grounding: Grounding, language: str) -> tuple[Piece, ...]:
    """Return the judged spans of a text, and what its sentences say beside them, not judged."""
    judged = [
        *_spans(text, grounding.faithful_spans, True),
        *_spans(text, grounding.hallucinated_spans, False),
    ]
    if grounding.token_labels:
        judged = _by_sentence(text, judged, sentences)
    apart = _apart(sorted(judged, key=lambda piece: (piece.start, piece.end)))
    rest = [Piece(one.start, one.end) for one in _rest(text, sentences, apart, language)]
    return tuple(sorted((*apart, *rest), key=lambda piece: piece.start))


def _spans(text: str, spans: Sequence[GroundedSpan], held: bool) -> Iterator[Piece]:
    for span in spans:
        place = without_leading_markers(text, Span(span.start, span.end))
        if _SAYING.search(place.of(text)):
            score = span.score if held else 1.0 - span.score
            sources: dict[str, float] = {}
            for one in span.sources:
                sources[one.chunk_id] = max(one.score, sources.get(one.chunk_id, 0.0))
            yield Piece(place.start, place.end, held, span.support, min(max(score, 0.0), 1.0), sources)


def _by_sentence(text: str, judged: Sequence[Piece], sentences: Sequence[Span]) -> list[Piece]:
    """Return one piece for each sentence; those that stand in none stay as they are."""

    def sentence(piece: Piece) -> Span:
        around = (one for one in sentences if one.start < piece.end and piece.start < one.end)
        found = next(around, Span(piece.start, piece.end))
        return without_leading_markers(text, found)

    places = [(piece, sentence(piece)) for piece in judged]
    return [_joined([one], min(at.start, one.start), max(at.end, one.end)) for one, at in places]


def _apart(judged: Sequence[Piece]) -> list[Piece]:
    """Return pieces that do not overlap: those that do are one, and the worst of them counts."""
    found: list[Piece] = []
    for piece in judged:
        if found and piece.start < found[-1].end:
            last = found.pop()
            piece = _joined([last, piece], last.start, max(last.end, piece.end))
        found.append(piece)
    return found


def _joined(pieces: Sequence[Piece], start: int, end: int) -> Piece:
    worst = min(pieces, key=lambda piece: piece.badness)
    sources: dict[str, float] = {}
    for piece in pieces:
        for name, score in piece.sources.items():
            sources[name] = max(score, sources.get(name, 0.0))
    return Piece(start, end, worst.held, worst.support, worst.score, sources)


def _rest(text: str, sentences: Sequence[Span], judged: Sequence[Piece], language: str) -> Iterator[Span]:
    """Yield what sentences say outside of the judged pieces."""
    for sentence in sentences:
        at, parts = sentence.start, []
        within = [one for one in judged if one.start < sentence.end and sentence.start < one.end]
        for piece in within:
            parts.append(Span(at, piece.start))
            at = max(at, piece.end)
        parts.append(Span(at, sentence.end))
        for part in parts:
            place = _trimmed(text, part) if within else without_leading_markers(text, part)
            if place.start < place.end and _says(place.of(text), language, whole=not within):
                yield place


def _says(text: str, language: str, *, whole: bool) -> bool:
    said = Statement.of(text, language)
    if whole:
        return not said.empty
    return len(said.words) >= LEAST or bool(said.numbers or said.names)


def _trimmed(text: str, place: Span) -> Span:
    """Return a place without markers at its beginning, and without commas and blanks at its ends."""
    place = without_leading_markers(text, place)
    part = place.of(text)
    start = place.start + len(part) - len(part.lstrip(_EDGES))
    return Span(start, max(start, place.start + len(part.rstrip(_EDGES))))
