"""Ground an answer by its words: what a sentence says has to stand in the evidence.

For each sentence: the share of its content words, and of its pairs of neighbouring words, that the evidence
has. A number or a name that no evidence has makes a sentence unsupported, whatever its words; so does a "not"
more or less than the same words have there. It needs no model and reads every script; a free paraphrase
scores low, and other ways to say the opposite are not seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import anyio.to_thread

from refdesk.analysis import detect_language
from refdesk.citations.leads import without_lead
from refdesk.citations.sentences import Span, language_of, sentences
from refdesk.citations.support import supporting_span
from refdesk.documents import Hit
from refdesk.grounding import unchecked
from refdesk.grounding.conflicts import contradicts
from refdesk.grounding.levels import Levels
from refdesk.grounding.negation import denied
from refdesk.grounding.stating import Passage, Statement
from refdesk.support import GroundedSpan, Grounding, SpanSource, Support

INLINE = 10_000
"""Characters up to which a thread would cost more than the work."""
LEVELS = Levels(supported_from=0.7, partial_from=0.5)
UNDETERMINED = "und"


@dataclass(frozen=True, slots=True)
class LexicalGrounder:
    """Judge sentences by words, pairs of words, numbers and names."""

    levels: Levels = LEVELS
    """Shares of a sentence: of `partial_from` the evidence has to hold as much, of `supported_from` one chunk
    by itself."""
    least_source: float = 0.2
    """Share of a sentence's words that a chunk has to hold to count as its source."""
    name: str = "lexical"

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        """Judge every sentence that says something.

        It cannot judge an answer in another language than the evidence, and says so where their words differ.
        """
        if len(answer) + sum(len(hit.chunk.text) for hit in hits) < INLINE:
            return self._ground(answer, hits)
        return await anyio.to_thread.run_sync(self._ground, answer, hits)

    def _ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        if not answer.strip():
            return unchecked("the answer is empty", self.name)
        found = "\n".join(hit.chunk.text for hit in hits)
        if not found.strip():
            return unchecked("there is no evidence", self.name)
        asked, given = detect_language(answer), detect_language(found)
        language = next((one for one in (asked, given) if one != UNDETERMINED), language_of(answer))
        passages = [Passage.of(hit.chunk.text, language, hit.title) for hit in hits]
        spans = tuple(self._spans(answer, language, hits, passages))
        if not spans:
            return unchecked("no sentence of the answer states anything", self.name)
        score = _mean(spans)
        if score < self.levels.partial_from and UNDETERMINED not in (asked, given) and asked != given:
            return unchecked(f"the answer is in {asked!r} and the evidence in {given!r}", self.name)
        return Grounding(
            score=score,
            faithful_spans=tuple(span for span, share in spans if share >= self.levels.partial_from),
            hallucinated_spans=tuple(span for span, share in spans if share < self.levels.partial_from),
            grounder=self.name,
        )

    def _spans(
        self, answer: str, language: str, hits: Sequence[Hit], passages: Sequence[Passage]
    ) -> Iterator[tuple[GroundedSpan, float]]:
        """Yield judged spans, each with the share of it that the evidence holds."""
        evidence, bare = Passage.joined(passages), without_lead(answer)
        for span in sentences(answer, language):
            said = Statement.of(span.of(bare), language)
            if said.empty:
                continue
            shares = [said.share_in(one) for one in passages]
            least = self.levels.partial_from
            close = [hit.chunk.text for hit, part in zip(hits, shares, strict=True) if part >= least]
            denying = denied(span.of(answer), close, language)
            share = 0.0 if denying else said.support(evidence)
            wrong = share < least
            conflict = denying or (wrong and _any_contradicts(span.of(answer), close, language))
            level = self._level(share, max(map(said.support, passages)), conflict)
            sources = self._sources(
                [(hit.chunk.chunk_id, part) for hit, part in zip(hits, shares, strict=True)]
            )
            yield self._span(answer, span, share, sources, level), share

    def _level(self, share: float, alone: float, conflict: bool) -> Support:
        """Return the support of a sentence; `alone` is what one chunk holds by itself."""
        if share < self.levels.partial_from:
            return "contradicted" if conflict else "unsupported"
        return "supported" if alone >= self.levels.supported_from else "partial"

    def _sources(self, shares: Sequence[tuple[str, float]]) -> tuple[SpanSource, ...]:
        best: dict[str, float] = {}
        for chunk, share in shares:
            best[chunk] = max(share, best.get(chunk, 0.0))
        enough = (SpanSource(chunk, share) for chunk, share in best.items() if share >= self.least_source)
        return tuple(sorted(enough, key=lambda source: -source.score))

    def _span(
        self, answer: str, span: Span, share: float, sources: tuple[SpanSource, ...], level: Support
    ) -> GroundedSpan:
        return GroundedSpan(
            text=span.of(answer),
            start=span.start,
            end=span.end,
            score=share if share >= self.levels.partial_from else 1.0 - share,
            sources=sources,
            support=level,
        )


def _any_contradicts(sentence: str, chunks: Sequence[str], language: str) -> bool:
    nearest = (supporting_span(sentence, chunk).of(chunk) for chunk in chunks)
    return any(contradicts(sentence, one, language) for one in nearest)


def _mean(spans: Sequence[tuple[GroundedSpan, float]]) -> float:
    """Return the mean of the shares, long sentences counting for more."""
    length = sum(len(span.text) for span, _ in spans)
    return min(1.0, sum(len(span.text) * share for span, share in spans) / length)
