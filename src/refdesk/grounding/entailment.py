"""Ground an answer by a model of entailment, sentence by sentence: does some evidence entail it?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import anyio.to_thread

from refdesk.citations.markers import unmarked
from refdesk.citations.sentences import Span, sentences
from refdesk.documents import Hit
from refdesk.embedding.windows import text_windows
from refdesk.grounding import unchecked
from refdesk.grounding.classifiers import Classifier
from refdesk.grounding.levels import LEVELS, Levels, weighted_mean
from refdesk.grounding.pairs import Pair, PairTokenizer, hit_windows
from refdesk.support import GroundedSpan, Grounding, SpanSource

NEAR = 0.8
"""Share of what the best-matching window has of a statement, from which on another matches it as well."""
STEP = 32
"""Room that is kept for a statement is this many tokens, or twice, four times, ... as many."""


@dataclass(frozen=True, slots=True)
class Question:
    """Does this window of a chunk entail this part of a sentence? Most sentences have one part."""

    sentence: int
    part: int
    chunk_id: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says to a question."""

    question: Question
    entailment: float
    contradiction: float

    @property
    def denies(self) -> bool:
        """Whether contradiction is likelier than entailment, and than neither of them."""
        neither = 1.0 - self.entailment - self.contradiction
        return self.contradiction > max(self.entailment, neither)


@dataclass(frozen=True, slots=True)
class NliGrounder:
    """Ask a classifier of pairs about every sentence and every window of the evidence.

    A sentence is as far supported as the window that entails it best. One that no window entails is
    contradicted where a window denies it that matches it about as well as any. Sources are chunks with the
    probability that they entail the sentence, or deny a contradicted one. Errors: `ModelError`.
    """

    classifier: Classifier
    levels: Levels = LEVELS
    least_source: float = 0.2
    """Probability from which on a chunk counts as a source of a sentence."""

    @property
    def name(self) -> str:
        return f"nli:{self.classifier.name}"

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        """Judge every sentence of an answer, without its markers."""
        if not answer.strip():
            return unchecked("the answer is empty", self.name)
        shown = [hit for hit in hits if hit.chunk.text.strip()]
        if not shown:
            return unchecked("there is no evidence", self.name)
        spans, questions = await anyio.to_thread.run_sync(self._asked, answer, shown)
        if not questions:
            return unchecked("no sentence of the answer states anything", self.name)
        judged = await self.classifier.judge([question.pair for question in questions])
        replies = [
            Reply(question, float(one.entailment), float(one.contradiction))
            for question, one in zip(questions, judged, strict=True)
        ]
        by_sentence = groupby(replies, key=lambda reply: reply.question.sentence)
        found = [self._span(answer, spans[number], list(of_it)) for number, of_it in by_sentence]
        return _grounding(found, self.name)

    def _asked(self, answer: str, hits: Sequence[Hit]) -> tuple[tuple[Span, ...], list[Question]]:
        spans = sentences(answer)
        tokenizer = self.classifier.tokenizer
        evidence: dict[int, list[tuple[str, str]]] = {}
        questions: list[Question] = []
        for number, span in enumerate(spans):
            for part, (statement, room) in enumerate(_parts(span.of(answer), tokenizer)):
                if room not in evidence:
                    evidence[room] = list(hit_windows(hits, tokenizer.count, room))
                questions += [
                    Question(number, part, chunk_id, pair)
                    for chunk_id, window in evidence[room]
                    for pair in tokenizer.fitted(window, statement)
                ]
        return spans, questions

    def _span(self, answer: str, span: Span, replies: Sequence[Reply]) -> tuple[GroundedSpan, float]:
        """Return a judged sentence and how far the evidence holds it: as far as its least supported part."""
        parts = [list(of_it) for _, of_it in groupby(replies, key=lambda reply: reply.question.part)]
        held = min(max(reply.entailment for reply in of_it) for of_it in parts)
        level = self.levels.level(held)
        denied = [] if level == "supported" else [one for of_it in parts for one in denials(of_it)]
        certain = max((reply.contradiction for reply in denied), default=0.0)
        if denied and certain >= held:
            level, score = "contradicted", certain
            sources = _best((one.question.chunk_id, one.contradiction) for one in denied)
        else:
            score = 1.0 - held if level == "unsupported" else held
            sources = _shared_by_parts(parts)
        return GroundedSpan(
            text=span.of(answer),
            start=span.start,
            end=span.end,
            score=score,
            sources=_ordered(sources, self.least_source),
            support=level,
        ), held


def denials(replies: Sequence[Reply]) -> list[Reply]:
    """Return the replies that deny a statement, of those whose window matches it about as well as any.

    Models often deny what a window does not speak of at all, so the others do not count.
    """
    best = max(reply.question.pair.shared for reply in replies)
    return [reply for reply in replies if reply.denies and reply.question.pair.shared >= NEAR * best > 0]


def _parts(sentence: str, tokenizer: PairTokenizer) -> Iterator[tuple[str, int]]:
    """Yield a sentence as a statement, in parts where it is long, with the tokens that evidence may have."""
    statement = " ".join(unmarked(sentence).split())
    half = tokenizer.room // 2
    if not any(sign.isalnum() for sign in statement):
        return
    for part in text_windows(statement, tokenizer.count, half):
        tokens, kept = tokenizer.count(part), STEP
        while kept < tokens:
            kept *= 2
        yield part, tokenizer.room - min(kept, half)


def _shared_by_parts(parts: Sequence[Sequence[Reply]]) -> dict[str, float]:
    """Return how far each chunk entails the least entailed part of a sentence."""
    least: dict[str, float] = {}
    for replies in parts:
        best = _best((one.question.chunk_id, one.entailment) for one in replies)
        least = {name: min(score, least.get(name, score)) for name, score in best.items()}
    return least


def _best(scores: Iterator[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, score in scores:
        found[name] = max(score, found.get(name, 0.0))
    return found


def _ordered(scores: Mapping[str, float], least: float) -> tuple[SpanSource, ...]:
    enough = (SpanSource(name, score) for name, score in scores.items() if score >= least)
    return tuple(sorted(enough, key=lambda source: (-source.score, source.chunk_id)))


def _grounding(judged: Sequence[tuple[GroundedSpan, float]], name: str) -> Grounding:
    held = ("supported", "partial")
    return Grounding(
        score=weighted_mean((score, len(span.text)) for span, score in judged),
        faithful_spans=tuple(span for span, _ in judged if span.support in held),
        hallucinated_spans=tuple(span for span, _ in judged if span.support not in held),
        grounder=name,
    )
