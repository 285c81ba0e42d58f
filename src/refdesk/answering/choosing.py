"""Choose the few sentences that make an answer, and put them in an order that reads well."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refdesk.analysis import analyse
from refdesk.answering.ranking import Candidate, Ranking
from refdesk.citations.sentences import Span
from refdesk.context import Evidence

_MOST = 3
_CLEAR_LEAD = 0.10
"""Sentences that stay this far behind the best are left out."""
_SAME = 0.7
"""Share of a sentence's words in a chosen one that makes it a repetition."""
_LONGEST = 700
"""Characters of an answer after which no further sentence is added."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What is quoted in one piece: one sentence, or neighbours."""

    item: Evidence
    span: Span

    @property
    def quote(self) -> str:
        return self.span.of(self.item.hit.chunk.text)


def choose(ranking: Ranking) -> tuple[Passage, ...]:
    """Return up to three sentences, fewer where one clearly leads.

    Documents come in the order of their best sentence, sentences of one document in the order of its text;
    neighbours are joined.
    """
    chosen: list[Candidate] = []
    best = max((one.relevance for one in ranking.candidates), default=0.0)
    floor = max(ranking.scale.weak_from, best - _CLEAR_LEAD)
    for candidate in ranking.candidates:
        if len(chosen) == _MOST or candidate.relevance < floor:
            break
        length = sum(len(one.text) for one in chosen)
        if chosen and (length + len(candidate.text) > _LONGEST or _repeats(candidate, chosen)):
            continue
        chosen.append(candidate)
    return _joined(sorted(chosen, key=_reading_order(chosen)))


def _repeats(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Tell whether a sentence says what a chosen one says, or overlaps with it where chunks do."""
    own = set(analyse(candidate.text, "und"))
    return any(
        _overlap(candidate, other) or len(own & set(analyse(other.text, "und"))) > _SAME * len(own)
        for other in chosen
    )


def _overlap(one: Candidate, other: Candidate) -> bool:
    (start, end), (from_, to) = _place(one), _place(other)
    same_text = one.item.hit.chunk.document_id == other.item.hit.chunk.document_id
    return same_text and start < to and from_ < end


def _reading_order(chosen: Sequence[Candidate]) -> Callable[[Candidate], tuple[int, tuple[int, int]]]:
    documents = list(dict.fromkeys(one.item.hit.chunk.document_id for one in chosen))
    return lambda one: (documents.index(one.item.hit.chunk.document_id), _place(one))


def _place(candidate: Candidate) -> tuple[int, int]:
    """Return where a sentence stands in its document."""
    start = candidate.item.hit.chunk.start
    return start + candidate.span.start, start + candidate.span.end


def _joined(ordered: Sequence[Candidate]) -> tuple[Passage, ...]:
    passages: list[Passage] = []
    for candidate in ordered:
        last = passages[-1] if passages else None
        if last and last.item is candidate.item and _touch(last, candidate):
            passages[-1] = Passage(last.item, Span(last.span.start, candidate.span.end))
        else:
            passages.append(Passage(candidate.item, candidate.span))
    return tuple(passages)


def _touch(passage: Passage, candidate: Candidate) -> bool:
    between = candidate.item.hit.chunk.text[passage.span.end : candidate.span.start]
    return passage.span.end <= candidate.span.start and not between.strip() and between.count("\n") < 2
