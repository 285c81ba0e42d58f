"""Ground an answer by its words: what a sentence says has to stand in the evidence.

For each sentence: the share of its content words, and of its pairs of neighbouring words, that the evidence
has. A number or a name that no evidence has makes a sentence unsupported, whatever its words. It needs no
model and reads every script; it knows nothing of negation, and a free paraphrase scores low.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import anyio.to_thread

from refdesk.analysis import detect_language
from refdesk.citations.sentences import Span, language_of, sentences
from refdesk.context import GroundedSpan, Grounding, SpanSource
from refdesk.documents import Hit
from refdesk.grounding import unchecked
from refdesk.grounding.stating import Passage, Statement

INLINE = 10_000
"""Characters up to which a thread would cost more than the work."""
UNDETERMINED = "und"


@dataclass(frozen=True, slots=True)
class LexicalGrounder:
    """Judge sentences by words, pairs of words, numbers and names."""

    threshold: float = 0.5
    """Share of a sentence, 0 to 1, that the evidence has to hold."""
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
        if score < self.threshold and UNDETERMINED not in (asked, given) and asked != given:
            return unchecked(f"the answer is in {asked!r} and the evidence in {given!r}", self.name)
        return Grounding(
            score=score,
            faithful_spans=tuple(span for span, share in spans if share >= self.threshold),
            hallucinated_spans=tuple(span for span, share in spans if share < self.threshold),
            grounder=self.name,
        )

    def _spans(
        self, answer: str, language: str, hits: Sequence[Hit], passages: Sequence[Passage]
    ) -> Iterator[tuple[GroundedSpan, float]]:
        """Yield judged spans, each with the share of it that the evidence holds."""
        evidence = Passage.joined(passages)
        for span in sentences(answer, language):
            said = Statement.of(span.of(answer), language)
            if said.empty:
                continue
            share = said.support(evidence)
            shares = [
                (hit.chunk.chunk_id, said.share_in(one)) for hit, one in zip(hits, passages, strict=True)
            ]
            yield self._span(answer, span, share, self._sources(shares)), share

    def _sources(self, shares: Sequence[tuple[str, float]]) -> tuple[SpanSource, ...]:
        best: dict[str, float] = {}
        for chunk, share in shares:
            best[chunk] = max(share, best.get(chunk, 0.0))
        enough = (SpanSource(chunk, share) for chunk, share in best.items() if share >= self.least_source)
        return tuple(sorted(enough, key=lambda source: -source.score))

    def _span(self, answer: str, span: Span, share: float, sources: tuple[SpanSource, ...]) -> GroundedSpan:
        score = share if share >= self.threshold else 1.0 - share
        return GroundedSpan(
            text=span.of(answer), start=span.start, end=span.end, score=score, sources=sources
        )


def _mean(spans: Sequence[tuple[GroundedSpan, float]]) -> float:
    """Return the mean of the shares, long sentences counting for more."""
    length = sum(len(span.text) for span, _ in spans)
    return min(1.0, sum(len(span.text) * share for span, share in spans) / length)
