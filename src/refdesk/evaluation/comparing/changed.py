"""The cases that differ most between two runs, with what each of them did."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refdesk.evaluation.comparing.pairing import STAGES, Group, Paired, about
from refdesk.evaluation.datasets.cases import Need
from refdesk.evaluation.runs.outcomes import CaseOutcome, Channel, lower_is_better

RANKS = 5
"""Documents of a ranking that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSide:
    """What one run did with a case."""

    value: float
    ranking: tuple[str, ...]
    """Source ids as ranked, the first few."""
    answer: str = ""
    refusal: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One thing that had to be found, and the rank of what holds it on each side."""

    documents: tuple[str, ...]
    """Any of which will do."""
    quote: str
    """Of the first of them; empty for the whole document."""
    a: int | None
    """0 where nothing that was found holds it; None where that is not known."""
    b: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A case that differs, by the measure that differs most."""

    case_id: str
    question: str
    tags: tuple[str, ...]
    wanted: tuple[Wanted, ...]
    measure: str
    gain: float
    """By how much B is better."""
    a: OneSide
    b: OneSide


def changes(a: Group, b: Group, pairs: Sequence[Paired], count: int) -> tuple[Change, ...]:
    """Return so many cases, the one that differs most first; each once, by its largest difference."""
    found: dict[str, Change] = {}
    for pair in pairs:
        for case_id, first, second in zip(pair.cases, pair.a.tolist(), pair.b.tolist(), strict=True):
            gain = first - second if lower_is_better(pair.measure) else second - first
            if abs(gain) > (abs(found[case_id].gain) if case_id in found else 0):
                found[case_id] = _change(a, b, case_id, pair.measure, gain, (first, second))
    return tuple(sorted(found.values(), key=lambda one: (-abs(one.gain), one.case_id))[:count])


def _change(
    a: Group, b: Group, case_id: str, measure: str, gain: float, values: tuple[float, float]
) -> Change:
    case = a.cases[case_id]
    return Change(
        case_id=case_id,
        question=case.question,
        tags=case.tags,
        wanted=tuple(_wanted(case, b.cases[case_id], about(measure))),
        measure=measure,
        gain=gain,
        a=_side(a.cases[case_id], measure, values[0]),
        b=_side(b.cases[case_id], measure, values[1]),
    )


def _wanted(a: CaseOutcome, b: CaseOutcome, name: str) -> Iterator[Wanted]:
    first, second = _channel(a, name), _channel(b, name)
    for place, need in enumerate(a.needs):
        yield Wanted(
            documents=tuple(dict.fromkeys(gold.document for gold in need.alternatives)),
            quote=need.alternatives[0].quote,
            a=rank_of(need, place, first),
            b=rank_of(need, place, second),
        )


def rank_of(need: Need, place: int, channel: Channel | None) -> int | None:
    """Return the rank at which a channel meets a need of its case: 0 for none, None where it is not known."""
    if channel is None:
        return None
    if channel.ranks:
        return channel.ranks[place] or 0
    if any(gold.quote for gold in need.alternatives):
        return None
    documents = {gold.document for gold in need.alternatives}
    return next((rank for rank, one in enumerate(channel.documents, 1) if one in documents), 0)


def _side(outcome: CaseOutcome, measure: str, value: float) -> OneSide:
    channel, answer = _channel(outcome, about(measure)), outcome.answer
    return OneSide(
        value=value,
        ranking=channel.documents[:RANKS] if channel else (),
        answer=answer.text if answer else "",
        refusal=answer.refusal or "" if answer else "",
        error=outcome.error,
    )


def _channel(outcome: CaseOutcome, name: str) -> Channel | None:
    """Return the channel of a measure; for measures of answers the one they came from."""
    known = {one.name: one for one in outcome.channels}
    wanted = (name, *STAGES)
    return next((known[one] for one in wanted if one in known), None)
