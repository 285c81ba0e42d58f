"""Where gold stands in the text that is stored, and what a ranking of chunks or documents is worth by it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import ir_measures
from ir_measures import AP, RR, P, R, Success, nDCG

from refdesk.evaluation.datasets.cases import Case, Gold, Need
from refdesk.evaluation.datasets.quotes import Span, occurrences
from refdesk.evaluation.searching.metrics import DEEPEST

ChunkSpan = tuple[str, int, int]
"""Source id, start and end of a chunk."""

MEASURES = {
    **{f"Hit@{depth}": Success @ depth for depth in (1, 5, 10)},
    **{f"Recall@{depth}": R @ depth for depth in (2, 5, 10, 100)},
    "Precision@5": P @ 5,
    "MRR@10": RR @ 10,
    "MAP@100": AP @ 100,
    "nDCG@10": nDCG @ 10,
}
"""What is measured of each ranking, by ir-measures."""
POLLUTION = "pollution@5"
"""Distinct documents among the first five chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A ranking in the words of ir-measures: needs that were found, and what else stands between them."""

    qrels: Mapping[str, int] = field(default_factory=dict)
    """Name of each need to its grade; empty where no need can be judged."""
    ranking: tuple[str, ...] = ()
    """Best first."""
    ranks: tuple[int | None, ...] = ()
    """For each need of the case the rank of the chunk, or document, that meets it; None where none does."""
    unusable: tuple[str, ...] = ()
    """Gold that is not where it should be, each with the reason."""


def place(gold: Gold, text: str) -> Span | None:
    """Return where a gold span is in the text of its stored document; None where it is not there.

    Its own place where it fits, else its quote's, the one that is nearest to it. White space, signs of
    quotation, dashes, hyphens that are not seen, composed letters, and what is cleaned from texts that are
    stored may differ. A whole document is its whole text.
    """
    if not gold.quote:
        return 0, len(text)
    if gold.start is not None and text.startswith(gold.quote, gold.start):
        return gold.start, gold.start + len(gold.quote)
    near = gold.start or 0
    return min(occurrences(gold.quote, text), key=lambda span: abs(span[0] - near), default=None)


def judged(case: Case, spans: Sequence[ChunkSpan], texts: Mapping[str, str]) -> Judged:
    """Judge chunks as they are ranked; `texts` holds gold documents as `stored_gold` returns them.

    Where all gold is whole documents, documents are ranked, each where its best chunk stands. Else chunks
    are: one that completes half of a gold span, alone or with those before it, stands for that need. What
    meets no need, or one that was met before, stands for itself. A need whose quotes are not in their
    documents is left out, and one whose documents are missing counts as not found; `unusable` names both.
    """
    checked = [_checked(need, texts) for need in case.needs]
    targets = [_Target(_name(place), one.grade, one.found) for place, one in enumerate(checked) if one.fair]
    whole = all(not one.quote for need in case.needs for one in need.alternatives)
    ranked = list(dict.fromkeys((source, 0, 0) for source, _, _ in spans))[:DEEPEST] if whole else spans
    ranking = tuple(_ranking(targets, ranked))
    met = {name: rank for rank, name in reversed(ranking)}
    return Judged(
        qrels={target.name: target.grade for target in targets},
        ranking=tuple(name for _, name in ranking),
        ranks=tuple(met.get(_name(place)) for place, _ in enumerate(checked)),
        unusable=tuple(dict.fromkeys(reason for one in checked for reason in one.lost)),
    )


def measures_of(judged: Judged, spans: Sequence[ChunkSpan]) -> dict[str, float]:
    """Return the measures of a judged ranking, and pollution; only that where no need can be judged."""
    found = {POLLUTION: float(len({source for source, _, _ in spans[:5]}))} if spans else {}
    if not judged.qrels:
        return found
    names = {measure: name for name, measure in MEASURES.items()}
    qrels = [ir_measures.Qrel("q", name, grade) for name, grade in judged.qrels.items()]
    run = [ir_measures.ScoredDoc("q", name, -float(rank)) for rank, name in enumerate(judged.ranking)]
    values = {names[one.measure]: float(one.value) for one in ir_measures.iter_calc(list(names), qrels, run)}
    return {**{name: values.get(name, 0.0) for name in MEASURES}, **found}


Alternative = tuple[str, Span | None]
"""Document, and the span in it; None for all of it."""


class _Target:
    """A need that can be found, and how much of its spans the chunks so far hold."""

    def __init__(self, name: str, grade: int, alternatives: Sequence[Alternative]) -> None:
        self.name, self.grade = name, grade
        self.seen: dict[Alternative, set[int]] = {one: set() for one in alternatives}

    def met_by(self, source: str, start: int, end: int) -> bool:
        """Take a chunk; tell whether the need is met now."""
        return any([self._met(one, start, end) for one in self.seen if one[0] == source])

    def _met(self, alternative: Alternative, start: int, end: int) -> bool:
        span = alternative[1]
        if span is None:
            return True
        seen = self.seen[alternative]
        seen.update(range(max(start, span[0]), min(end, span[1])))
        return len(seen) * 2 >= span[1] - span[0]


def _name(place: int) -> str:
    return f"need {place}"


def _ranking(targets: Sequence[_Target], spans: Sequence[ChunkSpan]) -> Iterator[tuple[int, str]]:
    """Yield ranks, and names of needs where they are met first; a chunk may stand for several of them."""
    open_targets = list(targets)
    for rank, (source, start, end) in enumerate(dict.fromkeys(spans), 1):
        met = [target for target in open_targets if target.met_by(source, start, end)]
        open_targets = [target for target in open_targets if target not in met]
        yield from ((rank, target.name) for target in met)
        if not met:
            yield rank, f"other {start} {end} {source}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """A need, as far as its gold is in the texts."""

    grade: int
    found: tuple[Alternative, ...]
    fair: bool
    """Whether it can be asked of a search: not where its quotes are in none of the documents."""
    lost: tuple[str, ...]


def _checked(need: Need, texts: Mapping[str, str]) -> _Checked:
    found: list[Alternative] = []
    lost: list[str] = []
    for gold in need.alternatives:
        span = place(gold, texts.get(gold.document, ""))
        there = gold.document in texts
        if not gold.quote or span:
            found.append((gold.document, span if gold.quote else None))
        if not there or (gold.quote and not span):
            lost.append(why_unusable(gold, there=there))
    missing = any(one.document not in texts for one in need.alternatives)
    return _Checked(grade=need.grade, found=tuple(found), fair=bool(found) or missing, lost=tuple(lost))


def why_unusable(gold: Gold, *, there: bool) -> str:
    """Say what is wrong with gold whose document is there without its quote, or not there."""
    if not there:
        return f"The document {gold.document!r} is not there."
    return f"The document {gold.document!r} does not hold {gold.quote!r:.80}."
