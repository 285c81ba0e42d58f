"""Run a data set: ask every case, measure what each channel found and what was answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio.lowlevel

from refdesk.desk import Desk
from refdesk.errors import InputError, PipelineError
from refdesk.evaluation.datasets.cases import Case, DataSet
from refdesk.evaluation.datasets.goldcheck import LostGold, lost_gold, stored_gold
from refdesk.evaluation.runs.channels import channels_of
from refdesk.evaluation.runs.onecase import Asking
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run
from refdesk.evaluation.runs.runheader import Asked, header_of
from refdesk.evaluation.runs.store import RunStore
from refdesk.evaluation.searching.finders import finding
from refdesk.pipeline import LLMValue, Pipeline

MOST_FAILURES = 5
"""Cases that fail one after the other before the run ends."""
NOT_ALL = "It has not asked everything yet."
OnOutcome = Callable[[CaseOutcome], None]
OnCase = Callable[[Case], None]
OnLost = Callable[[Sequence[LostGold]], None]
"""Takes the gold that the collection lacks, before anything is asked; only where there is some."""


def ignore(what: Any) -> None:
    """Take something and do nothing with it."""


async def evaluate(
    desk: Desk,
    data: DataSet,
    *,
    pipeline: Pipeline | None,
    collection: str,
    channels: Sequence[str] | None = None,
    answers: bool = True,
    judge: LLMValue = None,
    llm: LLMValue = None,
    seed: int = 0,
    known: Mapping[str, CaseOutcome] | None = None,
    on_outcome: OnOutcome = ignore,
    on_case: OnCase = ignore,
    on_lost: OnLost = ignore,
) -> tuple[CaseOutcome, ...]:
    """Ask every case that is not `known`, one after the other, and return all outcomes in their order.

    `channels` are names of `CHANNELS`, None for all that there are; `pipeline` is one more, and answers. A
    case that fails is an outcome with its error. Errors: `InputError` and `PipelineError` before anything is
    asked; those that every case would have; the last one where `MOST_FAILURES` cases fail in a row.
    """
    asked = Asked(
        pipeline=pipeline,
        collection=collection,
        channels=channels,
        answers=answers,
        judge=judge,
        llm=llm,
        seed=seed,
    )
    asking = await _prepared(desk, data, asked, on_lost)
    return await _evaluate(asking, data, known or {}, on_outcome, on_case)


async def stored_run(
    desk: Desk,
    data: DataSet,
    asked: Asked,
    *,
    store: RunStore,
    name: str,
    cases: Sequence[Case] | None = None,
    resume: bool = False,
    sweep: str = "",
    options: Mapping[str, Any] | None = None,
    on_outcome: OnOutcome = ignore,
    on_case: OnCase = ignore,
    on_lost: OnLost = ignore,
) -> Run:
    """Evaluate as `evaluate` does, keep every outcome at once, and return the run as it is stored.

    `cases` are those of the data that are asked now, else all; a run that lacks some is interrupted, as one
    is that is broken off. One that ends with an error is crashed; `resume` goes on with either. `options` is
    what else the header tells, such as how a sample was drawn.
    Errors: those of `evaluate` and of `RunStore.begin`.
    """
    part = data if cases is None else replace(data, cases=tuple(cases))
    asking = await _prepared(desk, part, asked, on_lost)
    header = await header_of(desk, data, asking.asked, name=name, sweep=sweep, **(options or {}))
    with store.begin(header, resume=resume) as run:

        def keep(outcome: CaseOutcome) -> None:
            run.add(outcome)
            on_outcome(outcome)

        await _evaluate(asking, part, run.known, keep, on_case)
        if len(part.cases) < len(data.cases):
            run.finish("interrupted", NOT_ALL)
    return store.read(name)


async def _prepared(desk: Desk, data: DataSet, asked: Asked, on_lost: OnLost) -> Asking:
    """Return what asks, once all is known that can be wrong. Errors: `InputError`, `PipelineError`."""
    _check(data, asked)
    pipeline = asked.pipeline if asked.answers or asked.pipeline is None else finding(asked.pipeline)
    if pipeline and (problems := pipeline.problems(llm=bool(asked.llm or desk.settings.llm))):
        raise PipelineError(problems, name=pipeline.name)
    channels = await channels_of(desk, asked.channels, asked.collection)
    texts = await stored_gold(desk, data, collection=asked.collection)
    if lost := lost_gold(data.cases, texts):
        on_lost(lost)
    asked = replace(asked, channels=channels)
    return Asking(desk=desk, asked=asked, channels=channels, pipeline=pipeline, texts=texts)


def _check(data: DataSet, asked: Asked) -> None:
    if not data.cases:
        raise InputError(f"The data set {data.name!r} has no cases.")
    if asked.channels is not None and not asked.channels and asked.pipeline is None:
        raise InputError("Nothing is measured.", remedy="Name a channel, or a pipeline.")
    if asked.answers and asked.pipeline is None:
        raise InputError("Answers need a pipeline that gives them.", remedy="Name one, or leave answers out.")
    if asked.judge and not asked.answers:
        raise InputError("A judge has nothing to judge without answers.", remedy="Ask for answers.")


async def _evaluate(
    asking: Asking,
    data: DataSet,
    known: Mapping[str, CaseOutcome],
    on_outcome: OnOutcome,
    on_case: OnCase,
) -> tuple[CaseOutcome, ...]:
    outcomes: list[CaseOutcome] = []
    asked = in_a_row = 0
    for case in data.cases:
        error: Exception | None = None
        outcome = known.get(case.case_id)
        if outcome is None or outcome.question != case.question:
            if not asked:
                await asking.warm_up(case)
            asked += 1
            on_case(case)
            outcome, error = await asking.outcome(case)
            in_a_row = in_a_row + 1 if error else 0
        on_outcome(outcome)
        outcomes.append(outcome)
        if error and in_a_row >= MOST_FAILURES:
            raise error
        await anyio.lowlevel.checkpoint()  # what never waits could not be broken off
    return tuple(outcomes)
