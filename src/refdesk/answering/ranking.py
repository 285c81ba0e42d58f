"""Rank the sentences of the evidence by how well they answer a question."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refdesk.answering.relevance import (
    BACKGROUND,
    TOKENS,
    VECTORS,
    Matrix,
    Scale,
    above,
    combine,
    lexical_shares,
    token_match,
)
from refdesk.citations.sentences import Span, sentences
from refdesk.context import Evidence, Zone
from refdesk.embedding import Embedder, TokenEmbedder

_QUESTION_MARKS = ("?", "？", "؟", "?**", "?*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a piece of evidence: `item.hit.chunk.text[span.start:span.end]`."""

    item: Evidence
    span: Span
    relevance: float = 0.0

    @property
    def text(self) -> str:
        return self.span.of(self.item.hit.chunk.text)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Sentences, best first, and what their relevance means."""

    candidates: tuple[Candidate, ...]
    scale: Scale

    @property
    def zone(self) -> Zone:
        return self.scale.zone(self.candidates[0].relevance) if self.candidates else "none"


@dataclass(slots=True)
class SentenceRanker:
    """Scores sentences with an embedder's token vectors, or its text vectors where it has no others."""

    embedder: Embedder
    _background: list[Matrix] = field(default_factory=list)

    async def rank(self, question: str, evidence: Sequence[Evidence]) -> Ranking:
        """Return the sentences of the evidence, best first, each with its relevance.

        A sentence that asks is no answer; what follows it takes over its match, as in a list of questions.
        """
        found = [Candidate(item, span) for item in evidence for span in sentences(item.hit.chunk.text)]
        if not found or not question.strip():
            return Ranking((), self._scale)
        headings = {
            item.number: " ".join((item.hit.title, *item.hit.chunk.heading_path)) for item in evidence
        }
        if not self._background:
            self._background = await self._matrices(BACKGROUND)
        asked = (await self._question(question))[0]
        matrices = await self._matrices([candidate.text for candidate in found])
        titles = dict(zip(headings, await self._matrices(list(headings.values())), strict=True))
        scored = _score(question, asked, found, matrices, titles, self._background)
        return Ranking(tuple(sorted(scored, key=lambda candidate: -candidate.relevance)), self._scale)

    @property
    def _scale(self) -> Scale:
        return TOKENS if isinstance(self.embedder, TokenEmbedder) else VECTORS

    async def _question(self, question: str) -> list[Matrix]:
        if isinstance(self.embedder, TokenEmbedder):
            return await self._matrices([question])
        return [row[None, :] for row in await self.embedder.embed_queries([question])]

    async def _matrices(self, texts: Sequence[str]) -> list[Matrix]:
        """Return one matrix per text: its token vectors, or its one vector as a row."""
        if isinstance(self.embedder, TokenEmbedder):
            return [found.vectors for found in await self.embedder.embed_tokens(texts)]
        fitting = [_fitting(text, self.embedder) for text in texts]
        return [row[None, :] for row in await self.embedder.embed_documents(fitting)]


def _score(
    question: str,
    asked: Matrix,
    found: Sequence[Candidate],
    matrices: Sequence[Matrix],
    titles: dict[int, Matrix],
    background: Sequence[Matrix],
) -> list[Candidate]:
    unrelated = np.mean([token_match(asked, matrix) for matrix in background], axis=0)
    matches = [token_match(asked, matrix) for matrix in matrices]
    chunks: dict[int, float] = {}
    for candidate, matrix, (own, _) in zip(found, matrices, matches, strict=True):
        number = candidate.item.number
        titled = token_match(asked, np.concatenate([matrix, titles[number]]))[0]
        chunks[number] = max(chunks.get(number, 0.0), own, titled)
    shares = lexical_shares(question, [candidate.text for candidate in found])
    relevances = [
        combine(
            whole=above(whole, unrelated[0]),
            worst=above(worst, unrelated[1]),
            chunk=above(chunks[candidate.item.number], unrelated[0]),
            lexical=share,
        )
        for candidate, (whole, worst), share in zip(found, matches, shares, strict=True)
    ]
    return [
        Candidate(candidate.item, candidate.span, relevance)
        for candidate, relevance in zip(found, _handed_on(found, relevances), strict=True)
        if not _asks(candidate)
    ]


def _handed_on(found: Sequence[Candidate], relevances: Sequence[float]) -> list[float]:
    """Give the sentence after a question the question's relevance where that is higher."""
    result = list(relevances)
    for place in range(1, len(found)):
        before = found[place - 1]
        if before.item is found[place].item and _asks(before):
            result[place] = max(result[place], 0.98 * result[place - 1])
    return result


def _asks(candidate: Candidate) -> bool:
    return candidate.text.rstrip().endswith(_QUESTION_MARKS)


def _fitting(text: str, embedder: Embedder) -> str:
    """Shorten a text until it fits an embedder that has no windows; its beginning then stands for it."""
    while embedder.count_tokens(text) > embedder.max_tokens:
        text = text[: int(len(text) * 0.8)]
    return text
