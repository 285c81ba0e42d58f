"""Rank the sentences of the evidence by how well they answer a question."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio.to_thread
import numpy as np

from refdesk.analysis import detect_language
from refdesk.answering.background import BACKGROUND, LATIN
from refdesk.answering.relevance import (
    TOKENS,
    Matrix,
    Scale,
    above,
    lexical_shares,
    likeness,
    scale_for,
    token_match,
)
from refdesk.citations.sentences import Span, language_of, sentences
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
    _background: dict[str, list[Matrix]] = field(default_factory=dict)
    _likeness: dict[str, float] = field(default_factory=dict)

    async def rank(self, question: str, evidence: Sequence[Evidence]) -> Ranking:
        """Return the sentences of the evidence, best first, each with its relevance.

        A sentence that asks is no answer; what follows it takes over its match, as in a list of questions.
        """
        found = [Candidate(one, span) for one in evidence for span in sentences(one.hit.chunk.text)]
        if not found or not question.strip():
            return Ranking((), TOKENS)
        asked = (await self._question(question))[0]
        script = language_of(question)
        scale = await self._scale(script)
        unrelated = np.mean([token_match(asked, one) for one in self._background[script]], axis=0)
        matches = await self._matches(asked, found)
        text = " ".join(one.hit.chunk.text for one in evidence)
        language = await anyio.to_thread.run_sync(detect_language, text)
        shares = lexical_shares(question, [candidate.text for candidate in found], language)
        relevances = [
            scale.combine(
                whole=above(whole, unrelated[0]),
                worst=above(worst, unrelated[1]),
                chunk=above(chunk, unrelated[0]),
                shares=share,
            )
            for (whole, worst, chunk), share in zip(matches, shares, strict=True)
        ]
        return _ranking(found, relevances, scale)

    async def _matches(self, asked: Matrix, found: Sequence[Candidate]) -> list[tuple[float, float, float]]:
        """Return how each sentence, its worst third and its chunk with title and headings match."""
        items = {candidate.item.number: candidate.item.hit for candidate in found}
        headings = [" ".join((hit.title, *hit.chunk.heading_path)) for hit in items.values()]
        matrices = await self._matrices([*(candidate.text for candidate in found), *headings])
        titles = dict(zip(items, matrices[len(found) :], strict=True))
        own = [token_match(asked, matrix) for matrix in matrices[: len(found)]]
        chunks = dict.fromkeys(items, 0.0)
        for candidate, matrix, (whole, _) in zip(found, matrices, own, strict=False):
            number = candidate.item.number
            titled = token_match(asked, np.concatenate([matrix, titles[number]]))[0]
            chunks[number] = max(chunks[number], whole, titled)
        return [(*match, chunks[one.item.number]) for match, one in zip(own, found, strict=True)]

    async def _scale(self, script: str) -> Scale:
        """Return the scale for questions in a script; its background is there afterwards."""
        for name in (LATIN, script):
            if name not in self._background:
                self._background[name] = await self._matrices(BACKGROUND[name])
                self._likeness[name] = likeness(self._background[name])
        tokens = isinstance(self.embedder, TokenEmbedder)
        return scale_for(self._likeness[script], self._likeness[LATIN], tokens=tokens)

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


def _ranking(found: Sequence[Candidate], relevances: Sequence[float], scale: Scale) -> Ranking:
    handed = zip(found, _handed_on(found, relevances), strict=True)
    scored = [replace(one, relevance=relevance) for one, relevance in handed if not _asks(one)]
    return Ranking(tuple(sorted(scored, key=lambda one: -one.relevance)), scale)


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
