"""The statements of an answer: what the evidence does for each, and which of its markers are wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from refdesk.analysis import detect_language
from refdesk.citations.markers import unmarked
from refdesk.citations.sentences import Span, language_of, sentences
from refdesk.citations.support import supporting_span
from refdesk.context import Answer, Citation, Evidence
from refdesk.grounding.attribution import Attribution
from refdesk.grounding.carrying import carried
from refdesk.grounding.conflicts import contradicts
from refdesk.grounding.pieces import Piece, pieces_of
from refdesk.grounding.stating import Passage, Statement
from refdesk.support import Claim, EvidenceSpan, Grounding, Support

HOLDING: frozenset[Support] = frozenset({"supported", "partial"})
WORST: tuple[Support, ...] = ("contradicted", "unsupported", "unchecked", "partial", "supported")
"""Levels, the worst first."""


def claims_of(answer: Answer, evidence: Sequence[Evidence], grounding: Grounding) -> tuple[Claim, ...]:
    """Return every statement of an answer, in order: none twice, none left out.

    They are the spans that were judged, and the sentences, or what is left of them, that were not: those are
    `unchecked`. Spans that overlap are one claim, as are those of a token-level grounder within a sentence;
    the worst of them counts. A span without a level of support is `supported` or `unsupported`, and
    `contradicted` where its source has another number, name or negation in its place.

    A marker is `misattributed` where the evidence holds the claim and none of the marker's chunks does, by
    the rule of `Attribution.holds`: a chunk whose score is well below the best one's, or that lacks a number
    or a name which the best one has, unless it adds what the best one lacks or says it in as many words.
    """
    return tuple(one.claim for one in _judged(answer, evidence, grounding))


def with_claims(answer: Answer, evidence: Sequence[Evidence], grounding: Grounding) -> Answer:
    """Return an answer with its grounding, claims included, and the support of each of its citations."""
    judged = _judged(answer, evidence, grounding)
    claims = tuple(one.claim for one in judged)
    return replace(
        answer,
        grounding=replace(grounding, claims=claims),
        citations=tuple(replace(one, support=_support(one, judged)) for one in answer.citations),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    claim: Claim
    attribution: Attribution


def _judged(answer: Answer, evidence: Sequence[Evidence], grounding: Grounding) -> tuple[_Judged, ...]:
    text = answer.text
    language = detect_language(text)
    language = language if language != "und" else language_of(text)
    said = sentences(text, language)
    pieces = pieces_of(text, said, grounding, language)
    chunks = _chunks(answer)
    markers = carried(text, [Span(one.start, one.end) for one in pieces], said, frozenset(chunks))
    reading = _Reading(text, language, {one.hit.chunk.chunk_id: one for one in reversed(evidence)}, chunks)
    return tuple(reading.judged(piece, cited) for piece, cited in zip(pieces, markers, strict=True))


def _chunks(answer: Answer) -> dict[int, tuple[str, ...]]:
    """Return the chunks that each marker cites."""
    found: dict[int, tuple[str, ...]] = {}
    for one in answer.citations:
        found[one.marker] = (*found.get(one.marker, ()), one.chunk_id)
    return found


class _Reading:
    """Holds the claims of one answer against its evidence; reads each chunk once."""

    def __init__(
        self,
        text: str,
        language: str,
        evidence: Mapping[str, Evidence],
        cited: Mapping[int, tuple[str, ...]],
    ) -> None:
        self._text = text
        self._language = language
        self._evidence = evidence
        self._cited = cited
        self._passages: dict[str, Passage] = {}

    def judged(self, piece: Piece, cited: tuple[int, ...]) -> _Judged:
        written = self._text[piece.start : piece.end]
        said = unmarked(written).strip()
        own = [chunk for number in cited for chunk in self._cited[number]]
        scores = {chunk: score for chunk, score in piece.sources.items() if chunk in self._evidence}
        best = max(scores, key=lambda chunk: (scores[chunk], chunk in own, -self._number(chunk)), default="")
        source = self._source(said, best, scores[best]) if best else None
        support = self._level(piece, said, source)
        attribution = self._attribution(said, scores, best, own)
        wrong = tuple(
            number
            for number in cited
            if support in HOLDING and best and not attribution.any_holds(self._cited[number])
        )
        claim = Claim(
            text=written,
            start=piece.start,
            end=piece.end,
            support=support,
            score=piece.score,
            source=source,
            cited=cited,
            misattributed=wrong,
        )
        return _Judged(claim, attribution)

    def _level(self, piece: Piece, said: str, source: EvidenceSpan | None) -> Support:
        if piece.support != "unchecked" or piece.held is None:
            return piece.support
        if piece.held:
            return "supported"
        conflict = source is not None and contradicts(said, source.quote, self._language)
        return "contradicted" if conflict else "unsupported"

    def _source(self, said: str, name: str, score: float) -> EvidenceSpan | None:
        item = self._evidence[name]
        chunk = item.hit.chunk
        span = supporting_span(said, chunk.text)
        if span.end <= span.start:
            return None
        return EvidenceSpan(
            number=item.number,
            chunk_id=chunk.chunk_id,
            document_id=chunk.document_id,
            collection=chunk.collection,
            start=chunk.start + span.start,
            end=chunk.start + span.end,
            quote=span.of(chunk.text),
            score=score,
        )

    def _attribution(
        self, said: str, scores: Mapping[str, float], best: str, cited: Sequence[str]
    ) -> Attribution:
        chunks = dict.fromkeys((best, *cited))
        return Attribution(
            Statement.of(said, self._language),
            scores,
            best,
            {chunk: self._passage(chunk) for chunk in chunks if chunk in self._evidence},
        )

    def _passage(self, name: str) -> Passage:
        if name not in self._passages:
            hit = self._evidence[name].hit
            self._passages[name] = Passage.of(hit.chunk.text, self._language, hit.title)
        return self._passages[name]

    def _number(self, chunk: str) -> int:
        return self._evidence[chunk].number


def _support(citation: Citation, judged: Sequence[_Judged]) -> Support:
    """Return the worst of the claims that carry a citation's marker, as far as its own chunk holds them."""
    levels = set(_levels(citation, judged))
    return next((level for level in WORST if level in levels), "unchecked")


def _levels(citation: Citation, judged: Sequence[_Judged]) -> Iterator[Support]:
    elsewhere = False
    alone = True
    for one in judged:
        claim = one.claim
        if citation.marker not in claim.cited:
            continue
        if claim.support not in HOLDING or one.attribution.holds(citation.chunk_id):
            alone = False
            yield claim.support
        elif citation.marker in claim.misattributed:
            alone = False
            yield "unsupported"
        else:
            elsewhere = True
    if elsewhere and alone:  # another chunk under the same marker holds all of them, this one nothing
        yield "unsupported"
