"""Ground an answer by a model that labels each of its tokens, such as LettuceDetect."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import anyio.to_thread
import numpy as np
import regex

from refdesk.citations.sentences import Span, sentences
from refdesk.documents import Hit
from refdesk.grounding import unchecked
from refdesk.grounding.classifiers import Classifier
from refdesk.grounding.labels import Floats
from refdesk.grounding.levels import LEVELS, Levels, weighted_mean
from refdesk.grounding.pairs import Pair, PairTokenizer, evidence_windows, hit_windows
from refdesk.grounding.stating import MARKER
from refdesk.support import GroundedSpan, Grounding, SpanSource, Support

ALL = ""
"""Stands for the evidence of all chunks together, where a chunk id stands for that of one."""


@dataclass(frozen=True, slots=True)
class Token:
    """Characters of an answer, and how far they are held: by all evidence, and by each chunk alone."""

    start: int
    end: int
    held: float
    by_chunk: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One input: a part of the answer without its markers, and a window of all evidence or of one chunk."""

    part: int
    chunk_id: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class TokenGrounder:
    """Let a classifier label the tokens of an answer; spans are runs of equal labels within a sentence.

    The model reads as many chunks together as fit, and each alone to tell which of them a span draws on. A
    token is held where some window holds it. `token_labels` has the model's tokens without those of markers.
    Errors: `ModelError`.
    """

    classifier: Classifier
    levels: Levels = LEVELS
    threshold: float = 0.5
    """Probability from which on a token is held, and from which on a chunk counts as a source."""

    @property
    def name(self) -> str:
        return f"nli:{self.classifier.name}"

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        """Judge every token of an answer; those outside of sentences, as in headings, make no span."""
        if not answer.strip():
            return unchecked("the answer is empty", self.name)
        shown = [hit for hit in hits if hit.chunk.text.strip()]
        if not shown:
            return unchecked("there is no evidence", self.name)
        parts, asked = await anyio.to_thread.run_sync(self._asked, answer, shown)
        judged = await self.classifier.judge([one.pair for one in asked])
        held = [(one, done.entailment) for one, done in zip(asked, judged, strict=True)]
        tokens = [token for number, part in enumerate(parts) for token in _tokens(number, part, held)]
        return self._grounding(answer, tokens)

    def _asked(self, answer: str, hits: Sequence[Hit]) -> tuple[list[tuple[int, ...]], list[Asked]]:
        """Return for each part of the answer where its characters stand, and what is asked about it."""
        tokenizer = self.classifier.tokenizer
        text, places = without_markers(answer)
        parts: list[tuple[int, ...]] = []
        asked: list[Asked] = []
        at = 0
        for part in disjoint(text, tokenizer):
            room = tokenizer.room - tokenizer.count(part)
            asked += [
                Asked(len(parts), chunk_id, pair)
                for chunk_id, window in _windows(hits, tokenizer, room)
                for pair in tokenizer.fitted(window, part)
            ]
            parts.append(places[at : at + len(part)])
            at += len(part)
        return parts, asked

    def _grounding(self, answer: str, tokens: Sequence[Token]) -> Grounding:
        said = [(span, within) for span in sentences(answer) if (within := _within(tokens, span))]
        if not said:
            return unchecked("no sentence of the answer states anything", self.name)
        spans = [span for _, within in said for span in self._spans(answer, within)]
        everything = [(token.held, token.end - token.start) for _, within in said for token in within]
        return Grounding(
            score=weighted_mean(everything),
            faithful_spans=tuple(span for span in spans if span.support in ("supported", "partial")),
            hallucinated_spans=tuple(span for span in spans if span.support == "unsupported"),
            token_labels=tuple(int(token.held < self.threshold) for token in tokens),
            grounder=self.name,
        )

    def _spans(self, answer: str, tokens: Sequence[Token]) -> Iterator[GroundedSpan]:
        for wrong, run in groupby(tokens, key=lambda token: token.held < self.threshold):
            of_it = list(run)
            place = trimmed(answer, Span(of_it[0].start, of_it[-1].end))
            if not regex.search(r"\w", place.of(answer)):
                continue
            held = weighted_mean((token.held, token.end - token.start) for token in of_it)
            yield GroundedSpan(
                text=place.of(answer),
                start=place.start,
                end=place.end,
                score=1.0 - held if wrong else held,
                sources=self._sources(of_it),
                support="unsupported" if wrong else self._level(held),
            )

    def _level(self, held: float) -> Support:
        return "supported" if held >= self.levels.supported_from else "partial"

    def _sources(self, tokens: Sequence[Token]) -> tuple[SpanSource, ...]:
        scores: dict[str, list[tuple[float, float]]] = {}
        for token in tokens:
            for name, held in token.by_chunk:
                scores.setdefault(name, []).append((held, token.end - token.start))
        sources = (SpanSource(name, weighted_mean(of_it)) for name, of_it in scores.items())
        enough = (source for source in sources if source.score >= self.threshold)
        return tuple(sorted(enough, key=lambda source: (-source.score, source.chunk_id)))


def without_markers(answer: str) -> tuple[str, tuple[int, ...]]:
    """Return an answer without its markers, and where in the answer each character of that stands."""
    cut = {place for found in MARKER.finditer(answer) for place in range(*found.span())}
    places = tuple(place for place in range(len(answer)) if place not in cut)
    return "".join(answer[place] for place in places), places


def disjoint(text: str, tokenizer: PairTokenizer) -> list[str]:
    """Cut a text at the ends of sentences into parts that leave half of an input to the evidence."""
    return evidence_windows(text, tokenizer.count, tokenizer.room // 2, overlap=False)


def _windows(hits: Sequence[Hit], tokenizer: PairTokenizer, room: int) -> Iterator[tuple[str, str]]:
    """Yield windows of each chunk alone, with its id, and windows of all, each with as many as fit."""
    single = room - tokenizer.count(_passage(len(hits), ""))
    together = ""
    for number, hit in enumerate(hits, 1):
        for chunk_id, window in hit_windows([hit], tokenizer.count, single):
            yield chunk_id, _passage(1, window)
            grown = f"{together}\n{_passage(number, window)}" if together else _passage(number, window)
            if together and tokenizer.count(grown) > room:
                yield ALL, together
                grown = _passage(number, window)
            together = grown
    yield ALL, together


def _passage(number: int, text: str) -> str:
    return f"passage {number}: {text}"


def _tokens(part: int, places: Sequence[int], judged: Sequence[tuple[Asked, Floats]]) -> Iterator[Token]:
    """Yield the tokens of a part of an answer, each as far held as by the window that holds it best."""
    mine = [(asked, held) for asked, held in judged if asked.part == part]
    best: dict[str, Floats] = {}
    for asked, held in mine:
        best[asked.chunk_id] = np.maximum(held, best.get(asked.chunk_id, held))
    for number, (_, start, end) in enumerate(mine[0][0].pair.places):
        if start < end:
            chunks = ((name, float(held[number])) for name, held in best.items() if name != ALL)
            yield Token(places[start], places[end - 1] + 1, float(best[ALL][number]), tuple(chunks))


def _within(tokens: Sequence[Token], span: Span) -> list[Token]:
    """Return the tokens that begin in a sentence."""
    return [token for token in tokens if span.start <= token.start < span.end]


def trimmed(text: str, span: Span) -> Span:
    """Return a span without the white space at its ends."""
    piece = span.of(text)
    return Span(span.start + len(piece) - len(piece.lstrip()), span.start + len(piece.rstrip()))
