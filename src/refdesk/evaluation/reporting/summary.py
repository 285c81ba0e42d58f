"""What a run comes to: figures with intervals, how many were asked and left out, times, refusals, tags."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from refdesk.evaluation.comparing.pairing import STAGES
from refdesk.evaluation.reporting.abstaining import Abstaining, abstaining_of
from refdesk.evaluation.reporting.numbers import Latency, Mean, latency_of, means_of, parts_of
from refdesk.evaluation.reporting.verdicts import State, criteria, state_of
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run, RunHeader, RunStatus

SHOWN_FIRST = ("keyword", "vector", "fused", "reranked", "pipeline", "answer", "")
"""What measures are of, in the order of the stages; other names follow these."""
MEASURES = (
    *("nDCG@10", "Recall@2", "Recall@5", "Recall@10", "Recall@100", "Hit@1", "Hit@5", "Hit@10"),
    *("MRR@10", "MAP@100", "Precision@5", "pollution@5"),
    *("right", "correctness", "faithfulness", "claim_support", "citation_support", "citation_validity"),
    *("coverage", "seconds", "requests", "tokens", "cost"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """A measure over all cases that have it, and why others do not."""

    name: str
    mean: Mean | None
    """None where no case has it."""
    failed: int
    """Cases that failed, so that nothing was measured."""
    excluded: Mapping[str, int]
    """Reason to the number of cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRow:
    """The cases with a tag."""

    tag: str
    cases: int
    values: Mapping[str, Mean]
    """Measure to its mean, where any case has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in figures."""

    header: RunHeader
    status: RunStatus
    error: str
    finished: str
    asked: int
    """How many cases have an outcome; `header.cases` were to have one."""
    criteria: tuple[str, ...]
    """The measures that say whether a case went well, the first that it has."""
    states: Mapping[State, int]
    errors: Mapping[str, int]
    """Why cases failed, the most frequent first."""
    warnings: Mapping[str, int]
    measures: tuple[MeasureRow, ...]
    latency: Mapping[str, Latency]
    """Of whole cases under `case`, and of each channel."""
    abstaining: Abstaining | None
    """None where nothing was answered."""
    tags: tuple[TagRow, ...]
    totals: Mapping[str, float]
    """Seconds, requests, tokens and cost of all cases."""

    def row(self, name: str) -> MeasureRow | None:
        return next((row for row in self.measures if row.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def summarise(run: Run, measures: Sequence[str] | None = None) -> RunSummary:
    """Return a run in figures; `measures` say whether a case went well, else what the run has for that."""
    outcomes = list(run.outcomes.values())
    good = criteria([run]) if measures is None else tuple(measures)
    rows = _rows(outcomes)
    return RunSummary(
        header=run.header,
        status=run.status,
        error=run.error,
        finished=run.finished,
        asked=len(outcomes),
        criteria=good,
        states=Counter(state_of(one, good) for one in outcomes),
        errors=_counted(one.error for one in outcomes if one.error),
        warnings=_counted(warning for one in outcomes for warning in dict.fromkeys(one.warnings)),
        measures=rows,
        latency=_latencies(outcomes),
        abstaining=abstaining_of(outcomes, good),
        tags=_tags(outcomes, tag_measures(rows)),
        totals={name: sum(getattr(one, name) for one in outcomes) for name in TOTALS},
    )


TOTALS = ("seconds", "requests", "tokens", "cost")


def ordered(names: Iterable[str]) -> list[str]:
    """Return names of measures by stage, then by what they say."""
    return sorted(set(names), key=_place)


def _place(name: str) -> tuple[int, str, int, str]:
    about, measure = parts_of(name)
    return *_index(SHOWN_FIRST, about), *_index(MEASURES, measure)


def _index(known: Sequence[str], name: str) -> tuple[int, str]:
    return (known.index(name), "") if name in known else (len(known), name)


def main_channel(names: Iterable[str]) -> str:
    """Return the last stage of finding that was measured; empty for none."""
    stages = {parts_of(name)[0] for name in names}
    return next((channel for channel in STAGES if channel in stages), "")


def tag_measures(rows: Iterable[MeasureRow]) -> list[str]:
    """Return the few measures that are shown by tag and by case: of the last stage, and of answers."""
    known = {row.name for row in rows if row.mean}
    last = main_channel(known)
    wanted = [f"{last}.{name}" for name in ("nDCG@10", "Recall@10", "Hit@5", "MRR@10")]
    wanted += [f"answer.{name}" for name in ("right", "correctness", "faithfulness", "citation_support")]
    return [name for name in wanted if name in known]


def _rows(outcomes: Sequence[CaseOutcome]) -> tuple[MeasureRow, ...]:
    measured: dict[str, dict[str, float]] = {}
    excluded: dict[str, list[str]] = {}
    for one in outcomes:
        for name, value in one.measures.items():
            measured.setdefault(name, {})[one.case_id] = value
        for name, reason in one.excluded.items():
            excluded.setdefault(name, []).append(reason)
    means, failed = means_of(measured), sum(bool(one.error) for one in outcomes)
    return tuple(
        MeasureRow(name=name, mean=means.get(name), failed=failed, excluded=_counted(excluded.get(name, [])))
        for name in ordered([*means, *excluded])
    )


def _counted(texts: Iterable[str]) -> dict[str, int]:
    return dict(Counter(texts).most_common())


def _latencies(outcomes: Sequence[CaseOutcome]) -> dict[str, Latency]:
    seconds: dict[str, list[float]] = {}
    for one in outcomes:
        if not one.error:
            seconds.setdefault("case", []).append(one.seconds)
        for channel in one.channels:
            seconds.setdefault(channel.name, []).append(channel.seconds)
    return {name: latency_of(values) for name, values in seconds.items()}


def _tags(outcomes: Sequence[CaseOutcome], measures: Sequence[str]) -> tuple[TagRow, ...]:
    by_tag: dict[str, list[CaseOutcome]] = {}
    for one in outcomes:
        for tag in dict.fromkeys(one.tags):
            by_tag.setdefault(tag, []).append(one)
    rows = [_tag_row(tag, cases, measures) for tag, cases in by_tag.items()]
    return tuple(sorted(rows, key=lambda row: (-row.cases, row.tag)))


def _tag_row(tag: str, outcomes: Sequence[CaseOutcome], measures: Sequence[str]) -> TagRow:
    known = {
        name: {one.case_id: one.measures[name] for one in outcomes if name in one.measures}
        for name in measures
    }
    measured = {name: values for name, values in known.items() if values}
    return TagRow(tag=tag, cases=len(outcomes), values=means_of(measured))
