"""Whether one run is better than another: paired differences, beside what chance alone would give.

Three families of tests, each corrected for itself: the headline measures, which alone decide; all others;
and the headline measures of each tag, which are hints.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.comparing.changed import changes
from refdesk.evaluation.comparing.comparison import Comparison, CostRow, MeasureRow, overall
from refdesk.evaluation.comparing.families import LEAST, Families
from refdesk.evaluation.comparing.headers import header_differences, pipeline_changes
from refdesk.evaluation.comparing.headline import headline
from refdesk.evaluation.comparing.pairing import (
    Group,
    Paired,
    Runs,
    common_cases,
    group,
    pair,
    refuse_other_data,
    shared_measures,
)
from refdesk.evaluation.comparing.statistics import ALPHA, ratio
from refdesk.evaluation.runs.outcomes import Run, is_quality, last_part

MOST_LEFT_OUT = 0.1
"""Share of the cases from which on it is said that a measure is about the others alone."""


def compare(
    a: Runs,
    b: Runs,
    *,
    measures: Sequence[str] | None = None,
    tag: str = "",
    alpha: float = ALPHA,
    seed: int = 0,
    changed: int = 10,
    force: bool = False,
) -> Comparison:
    """Say whether `b` is better than `a`, or worse, or whether nothing speaks for either.

    `measures` decide where they are given, else the headline measures that both have. With `tag` only cases
    that have it are compared.
    Errors: `InputError` for runs on different data without `force`, for no case in common, for a measure that
    is not in both, or is no number.
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}.", remedy="Give a number between 0 and 1, such as 0.02.")
    first, second = group(a), group(b)
    refuse_other_data(first, second, force=force)
    cases, left_out = common_cases(first, second, tag)
    deciding = headline(first, second, cases, measures)
    tests = Families(a=first, b=second, alpha=alpha, seed=seed)
    rows = tests.rows(deciding.measures, cases)
    header_a, header_b = first.runs[0].header, second.runs[0].header
    found = Comparison(
        a=tuple(run.header.name for run in first.runs),
        b=tuple(run.header.name for run in second.runs),
        data=" ".join(filter(None, (header_a.data, header_a.split))),
        tag=tag,
        cases=len(cases),
        left_out=left_out,
        failed_a=sum(first.failures(one) > 0 for one in cases),
        failed_b=sum(second.failures(one) > 0 for one in cases),
        verdict=overall(rows),
        headline=rows,
        others=() if measures else tests.rows(_others(first, second, deciding.measures), cases),
        costs=tuple(_costs(first, second, cases, measures, seed)),
        tags=() if tag else tests.tags(deciding.measures, cases),
        changed=changes(first, second, _pairs(first, second, deciding.measures, cases), changed),
        differs=header_differences(header_a, header_b),
        pipeline=pipeline_changes(header_a, header_b),
        notes=deciding.notes,
        alpha=alpha,
        seed=seed,
    )
    return replace(found, notes=(*deciding.notes, *_notes(found, first, second)))


def _pairs(a: Group, b: Group, measures: Sequence[str], cases: Sequence[str]) -> list[Paired]:
    return [pair(a, b, measure, cases) for measure in measures]


def _others(a: Group, b: Group, deciding: Sequence[str]) -> list[str]:
    return [name for name in shared_measures(a, b) if is_quality(name) and name not in deciding]


def _costs(
    a: Group, b: Group, cases: Sequence[str], measures: Sequence[str] | None, seed: int
) -> Iterator[CostRow]:
    for name in measures or shared_measures(a, b):
        if is_quality(name) or not (found := pair(a, b, name, cases)).cases:
            continue
        median = last_part(name) == "seconds"
        figure: Callable[..., Any] = np.median if median else np.mean
        yield CostRow(
            measure=name,
            cases=len(found.cases),
            figure="median" if median else "mean",
            a=float(figure(found.a)),
            b=float(figure(found.b)),
            ratio=ratio(found.b, found.a, figure, seed=seed),
        )


def _notes(found: Comparison, a: Group, b: Group) -> Iterator[str]:
    """Say what a reader has to know before believing the figures."""
    runs = (*a.runs, *b.runs)
    if len({run.header.data_digest for run in runs}) > 1:
        yield f"The runs are on different data; compared are the {found.cases} cases that are the same."
    yield from (_unfinished(run) for run in runs if run.status != "done")
    if found.a == found.b:
        yield "A and B are the same run."
    elif not found.differs and not found.pipeline:
        yield "Both have the same configuration, so what differs is noise."
    yield from (*_unlike(a), *_unlike(b))
    yield from filter(None, (_partial(row, found.cases) for row in found.headline))


def _unfinished(run: Run) -> str:
    asked = f"{len(run.outcomes)} of {run.header.cases} cases were asked"
    return f"{run.header.name} is {run.status}: {asked}."


def _partial(row: MeasureRow, cases: int) -> str:
    """Say where a measure is of few of the cases."""
    if row.cases < LEAST:
        return f"{row.measure} is of {row.cases} cases; below {LEAST} nothing can be told from chance."
    if sum(row.left_out.values()) <= MOST_LEFT_OUT * cases:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in row.left_out.items())
    return f"{row.measure} is of {row.cases} of {cases} cases alone; left out: {reasons}."


def _unlike(side: Group) -> Iterator[str]:
    """Say where runs of a group are no repetitions of each other."""
    first = side.runs[0].header
    for run in side.runs[1:]:
        if header_differences(first, run.header) or pipeline_changes(first, run.header):
            yield f"{run.header.name} has another configuration than {first.name}, so their mean is of both."
