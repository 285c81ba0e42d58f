"""Runs made of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from refdesk.evaluation.runs.outcomes import AnswerOutcome, CaseOutcome, Channel, Run, RunHeader


def header(name: str = "a", **changes: Any) -> RunHeader:
    """Return the header of a run."""
    plain = RunHeader(
        name=name,
        data="metals",
        split="test",
        data_digest="d1",
        cases=0,
        pipeline="default",
        pipeline_yaml="version: 1\nsteps:\n- search\n- rerank\n- answer\n",
        settings={},
        versions={"refdesk": "1", "embedder": "e", "reranker": "r"},
        seed=0,
        started="2026-01-01T00:00:00+00:00",
    )
    return replace(plain, **changes)


def case(
    name: str, measures: Mapping[str, float] | None = None, *, answer: str = "", **changes: Any
) -> CaseOutcome:
    """Return what came of a case."""
    plain = CaseOutcome(
        case_id=name,
        question=f"What of {name}?",
        measures=measures or {},
        channels=(Channel(name="pipeline", documents=(f"doc of {name}", "other"), seconds=0.1),),
        answer=AnswerOutcome(text=answer) if answer else None,
    )
    return replace(plain, **changes)


def run_of(outcomes: Sequence[CaseOutcome], name: str = "a", **changes: Any) -> Run:
    """Return a run of these outcomes that came to its end; `changes` are of its header."""
    return Run(
        header=header(name, **{"cases": len(outcomes), **changes}),
        status="done",
        outcomes={one.case_id: one for one in outcomes},
    )


def measured(
    values: Mapping[str, Sequence[float]], name: str = "a", tags: Sequence[str] = (), **changes: Any
) -> Run:
    """Return a run of as many cases as each measure has values; they have the tags in turn."""
    rows = zip(*values.values(), strict=True)
    outcomes = [
        case(
            f"q{place}",
            {key: float(value) for key, value in zip(values, row, strict=True)},
            tags=(tags[place % len(tags)],) if tags else (),
        )
        for place, row in enumerate(rows)
    ]
    return run_of(outcomes, name, **changes)
