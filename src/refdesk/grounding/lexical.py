"""Ground an answer by its words: what a sentence says has to stand in the evidence.

For each sentence: the share of its content words, and of its pairs of neighbouring content words, that the
evidence has. A number that no evidence has makes a sentence unsupported, whatever its words. It needs no
model and reads every script; it knows nothing of negation, and a free paraphrase scores low.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import anyio.to_thread

from refdesk.analysis import analyse
from refdesk.citations.sentences import Span, language_of, sentences
from refdesk.context import GroundedSpan, Grounding, SpanSource
from refdesk.documents import Hit
from refdesk.grounding import unchecked

_MARKER = re.compile(r"\[\d{1,4}\]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
INLINE = 10_000
"""Characters up to which a thread would cost more than the work."""
PAIRS = 0.3
"""How much word pairs count beside words."""


@dataclass(frozen=True, slots=True)
class LexicalGrounder:
    """Judge sentences by words, pairs of words and numbers."""

    threshold: float = 0.5
    """Share of a sentence, 0 to 1, that the evidence has to hold."""
    least_source: float = 0.2
    """Share of a sentence's words that a chunk has to hold to count as its source."""
    name: str = "lexical"

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        """Judge every sentence that says something."""
        if len(answer) + sum(len(hit.chunk.text) for hit in hits) < INLINE:
            return self._ground(answer, hits)
        return await anyio.to_thread.run_sync(self._ground, answer, hits)

    def _ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        if not answer.strip():
            return unchecked("the answer is empty", self.name)
        if not hits:
            return unchecked("there is no evidence", self.name)
        evidence = [_Words.of(hit.chunk.text) for hit in hits]
        spans = [self._span(span, answer, hits, evidence) for span in _saying(answer)]
        if not spans:
            return unchecked("no sentence of the answer states anything", self.name)
        length = sum(len(span.text) for span, _ in spans)
        held = sum(len(span.text) * share for span, share in spans)
        return Grounding(
            score=held / length,
            faithful_spans=tuple(span for span, share in spans if share >= self.threshold),
            hallucinated_spans=tuple(span for span, share in spans if share < self.threshold),
            grounder=self.name,
        )

    def _span(
        self, span: Span, answer: str, hits: Sequence[Hit], evidence: "Sequence[_Words]"
    ) -> tuple[GroundedSpan, float]:
        """Return a judged span, and the share of it that the evidence holds."""
        said = _Words.of(_MARKER.sub("", span.of(answer)))
        share = _share(said, evidence)
        shares = [(hit, said.share_in([one])) for hit, one in zip(hits, evidence, strict=True)]
        sources = sorted(
            (SpanSource(hit.chunk.chunk_id, part) for hit, part in shares if part >= self.least_source),
            key=lambda source: -source.score,
        )
        score = share if share >= self.threshold else 1.0 - share
        return (
            GroundedSpan(
                text=span.of(answer), start=span.start, end=span.end, score=score, sources=tuple(sources)
            ),
            share,
        )


def _saying(answer: str) -> Iterator[Span]:
    """Yield the sentences that have words besides markers."""
    for span in sentences(answer):
        if any(character.isalnum() for character in _MARKER.sub("", span.of(answer))):
            yield span


@dataclass(frozen=True, slots=True)
class _Words:
    """What a text is made of, as far as it is compared."""

    words: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Words":
        words = tuple(analyse(text, language_of(text)))
        numbers = frozenset(found.replace(",", ".").rstrip(".") for found in _NUMBER.findall(text))
        return cls(words, frozenset(pairwise(words)), numbers)

    def share_in(self, others: "Sequence[_Words]") -> float:
        """Return the share of these words that others have, 0 to 1."""
        known = {word for other in others for word in other.words}
        return sum(word in known for word in self.words) / len(self.words) if self.words else 0.0


def _share(said: _Words, evidence: Sequence[_Words]) -> float:
    numbers = {number for one in evidence for number in one.numbers}
    if said.numbers - numbers:
        return 0.0
    if not said.words:
        return 1.0 if said.numbers else 0.0
    if not said.pairs:
        return said.share_in(evidence)
    pairs = {pair for one in evidence for pair in one.pairs}
    return (1 - PAIRS) * said.share_in(evidence) + PAIRS * len(said.pairs & pairs) / len(said.pairs)
