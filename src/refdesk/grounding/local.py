"""Ground an answer without a language model: by token vectors, word relations and numbers.

Every sentence of the answer is held against all evidence at once, by `aligned`. A number or a name that no
evidence has makes a sentence unsupported, whatever the rest. What was learned is English and for MiniLM's
vectors: answers and evidence in other languages are judged by `lexical`, and the result says so.

The network was fitted by `benchmarks/fit_grounder`, on public pairs of premise and statement, and on the
evaluation split of SummEdits, whose test split it is measured on (`refdesk eval grounding`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio.to_thread
import numpy as np

from refdesk.analysis import detect_language
from refdesk.citations.leads import without_lead
from refdesk.citations.sentences import Span, language_of, sentences
from refdesk.documents import Hit
from refdesk.embedding import Embedder, TokenEmbedder, TokenVectors
from refdesk.grounding import unchecked
from refdesk.grounding.aligned import Aligned, Tokens
from refdesk.grounding.kept import KeptVectors
from refdesk.grounding.levels import Levels, weighted_mean
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.grounding.literal import Literal
from refdesk.grounding.stating import MARKER, Passage, Statement
from refdesk.support import GroundedSpan, Grounding, SpanSource, Support

ENGLISH, UNDETERMINED = "en", "und"
_OTHER = LexicalGrounder()
CALIBRATION = (0.454, 0.408)
"""Slope and intercept (Platt 1999) from the network's log-odds to those of a sentence being held."""
LEVELS = Levels(supported_from=0.56, partial_from=0.32)
"""Two scores that part faithful and other texts of SummEdits' evaluation split best; found, like the
calibration, by networks that had not seen the documents in question. Nine in ten faithful ones reach the
lower."""
VETO = 0.05
"""Highest score of a sentence with a number or a name that no evidence has."""
NEAR = 0.6
"""Share of a sentence's words from which on a chunk speaks of the same, so that it can contradict it."""
SHARED = 0.25
"""Share of a sentence's content that the evidence has to have, as words or their synonyms, for the sentence
to be held any further, or contradicted. Of faithful ones of SummEdits' evaluation split 98 in 100 have it."""
HELD: frozenset[Support] = frozenset({"supported", "partial"})


class TokenReader(Embedder, TokenEmbedder, Protocol):
    """An embedder that gives vectors of tokens."""


@dataclass(frozen=True, slots=True)
class LocalGrounder:
    """Judge sentences by what their tokens align with in the evidence; whole sentences of it are held.

    An answer or evidence in another language than English is judged by `lexical`; the grounding says which it
    was. Token labels are 1 at the tokens that tell against a sentence which does not hold.
    """

    embedder: TokenReader
    levels: Levels = LEVELS
    least_source: float = 0.2
    """Score from which on a chunk counts as a source of a sentence; a sentence that holds has its best."""
    other: LexicalGrounder = _OTHER
    """Judges what is not English."""
    name: str = "local"
    vectors: KeptVectors = field(default_factory=KeptVectors, repr=False, compare=False)
    """Of the evidence that was read last."""

    def judging(self, answer: str, hits: Sequence[Hit]) -> str:
        """Return the name of what judges an answer: this one's, or `lexical`."""
        english = _english(answer) and _english("\n".join(hit.chunk.text for hit in hits))
        return self.name if english else self.other.name

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        """Judge every sentence that says something. Errors: `ModelError`."""
        shown = [hit for hit in hits if hit.chunk.text.strip()]
        if not answer.strip():
            return unchecked("the answer is empty", self.name)
        if not shown:
            return unchecked("there is no evidence", self.name)
        if await anyio.to_thread.run_sync(self.judging, answer, hits) != self.name:
            return await self.other.ground(answer, hits)
        bare = MARKER.sub(lambda found: " " * len(found[0]), without_lead(answer))
        if quoted := await anyio.to_thread.run_sync(_quotes, answer, bare, shown):
            return self._grounding(answer, quoted)
        own, given = await self.vectors.read(bare, [hit.chunk.text for hit in shown], self.embedder)
        read = [(hit, one) for hit, one in zip(shown, given, strict=True) if len(one.offsets)]
        if not read:
            return unchecked("there is no evidence", self.name)
        return await anyio.to_thread.run_sync(self._judged, answer, bare, own, read)

    def _judged(
        self, answer: str, bare: str, own: TokenVectors, read: Sequence[tuple[Hit, TokenVectors]]
    ) -> Grounding:
        view = _View.of(bare, own, [hit for hit, _ in read], [one for _, one in read])
        judged = [one for span in sentences(answer, ENGLISH) if (one := self._sentence(span, view))]
        if not judged:
            return unchecked("no sentence of the answer states anything", self.name)
        labels = view.aligned.labels((one.tokens, one.foreign) for one in judged if not one.held)
        return self._grounding(answer, judged, labels)

    def _grounding(
        self, answer: str, judged: Sequence["_Sentence"], labels: tuple[int, ...] = ()
    ) -> Grounding:
        spans = [(one, one.span(answer, self.least_source)) for one in judged]
        return Grounding(
            score=weighted_mean((one.score, len(span.text)) for one, span in spans),
            faithful_spans=tuple(span for one, span in spans if one.held),
            hallucinated_spans=tuple(span for one, span in spans if not one.held),
            token_labels=labels,
            grounder=self.name,
        )

    def _sentence(self, place: Span, view: "_View") -> "_Sentence | None":
        """Judge a sentence, None for one that states nothing."""
        said, tokens = Statement.of(place.of(view.bare), ENGLISH), view.aligned.within(place)
        if said.empty or not tokens.any():
            return None
        if any(holders := view.literal.holders(place.of(view.bare))):
            return _quoted(place, tokens, holders, view.chunks)
        held, neither, denied = view.aligned.verdict(tokens)
        share, shares = view.aligned.share(tokens), [said.share_in(one) for one in view.passages]
        score = calibrated(held) if share >= SHARED else min(share, calibrated(held))
        foreign = bool(said.foreign(view.evidence))
        level: Support = "unsupported" if foreign else self.levels.level(score)
        if level == "unsupported" and max(shares) >= NEAR and (denied > neither or foreign):
            level = "contradicted"
        return _Sentence(
            place=place,
            tokens=tokens,
            score=min(score, VETO) if foreign else score,
            level=level,
            foreign=foreign,
            sources=view.holding(said, tokens, shares) if level in HELD else shares,
            chunks=view.chunks,
        )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of an answer as it was judged."""

    place: Span
    tokens: Tokens
    score: float
    """How far the evidence holds it."""
    level: Support
    foreign: bool
    """Whether it has a number or a name that no evidence has."""
    sources: Sequence[float]
    """How far each chunk holds it, or has its words."""
    chunks: Sequence[str]

    @property
    def held(self) -> bool:
        return self.level in HELD

    def span(self, answer: str, least: float) -> GroundedSpan:
        """Return it as a span, with the chunks that hold at least so much of it."""
        best: dict[str, float] = {}
        for chunk, value in zip(self.chunks, self.sources, strict=True):
            best[chunk] = max(value, best.get(chunk, 0.0))
        if self.held:
            least = min(least, max(best.values()))
        enough = (SpanSource(chunk, value) for chunk, value in best.items() if value >= least)
        return GroundedSpan(
            text=self.place.of(answer),
            start=self.place.start,
            end=self.place.end,
            score=self.score if self.held else 1.0 - self.score,
            sources=tuple(sorted(enough, key=lambda source: (-source.score, source.chunk_id))),
            support=self.level,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """An answer and its evidence, as sentences are judged by them."""

    bare: str
    """The answer, blanks in the place of its markers."""
    aligned: Aligned
    chunks: Sequence[str]
    passages: Sequence[Passage]
    evidence: Passage
    literal: Literal

    @classmethod
    def of(cls, bare: str, own: TokenVectors, hits: Sequence[Hit], given: Sequence[TokenVectors]) -> "_View":
        texts = [hit.chunk.text for hit in hits]
        passages = [Passage.of(hit.chunk.text, ENGLISH, hit.title) for hit in hits]
        return cls(
            bare=bare,
            aligned=Aligned.of(bare, own, texts, given),
            chunks=[hit.chunk.chunk_id for hit in hits],
            passages=passages,
            evidence=Passage.joined(passages),
            literal=Literal(texts, ENGLISH),
        )

    def holding(self, said: Statement, tokens: Tokens, shares: Sequence[float]) -> list[float]:
        """Return how far each chunk alone holds a sentence; where one has all its numbers, others do not."""
        alone = map(calibrated, self.aligned.held_by_each(tokens))
        most = max(shares)
        held = [max(one, share if share == most else 0.0) for one, share in zip(alone, shares, strict=True)]
        lacking = [bool(said.foreign_numbers(one)) for one in self.passages]
        if all(lacking):
            return held
        return [min(one, VETO) if lacks else one for one, lacks in zip(held, lacking, strict=True)]


def _quotes(answer: str, bare: str, hits: Sequence[Hit]) -> list[_Sentence]:
    """Return the sentences of an answer that says nothing but whole sentences of the evidence, else none."""
    literal = Literal([hit.chunk.text for hit in hits], ENGLISH)
    chunks = [hit.chunk.chunk_id for hit in hits]
    found = []
    for place in sentences(answer, ENGLISH):
        if Statement.of(place.of(bare), ENGLISH).empty:
            continue
        if not any(holders := literal.holders(place.of(bare))):
            return []
        found.append(_quoted(place, np.zeros(0, bool), holders, chunks))
    return found


def _quoted(place: Span, tokens: Tokens, holders: Sequence[bool], chunks: Sequence[str]) -> _Sentence:
    return _Sentence(
        place=place,
        tokens=tokens,
        score=1.0,
        level="supported",
        foreign=False,
        sources=[float(one) for one in holders],
        chunks=chunks,
    )


def calibrated(held: float) -> float:
    """Return the probability that a sentence is held, from the network's."""
    slope, intercept = CALIBRATION
    odds = math.log(max(held, 1e-9)) - math.log(max(1.0 - held, 1e-9))
    return 1.0 / (1.0 + math.exp(-(slope * odds + intercept)))


def _english(text: str) -> bool:
    found = detect_language(text)
    return found == ENGLISH or (found == UNDETERMINED and language_of(text) == ENGLISH)
