"""One case of a run: search it in every channel, ask it of the pipeline, measure what came."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refdesk.answering import MODEL_UNAVAILABLE
from refdesk.context import NO_USAGE, Answer, Context, Usage
from refdesk.desk import Desk, answered
from refdesk.errors import (
    EmbeddingMismatch,
    LLMError,
    MissingExtra,
    ModelError,
    NotFound,
    PipelineError,
    SettingsError,
    StoreError,
)
from refdesk.evaluation.datasets.cases import Case
from refdesk.evaluation.datasets.gold import judged
from refdesk.evaluation.runs.answers import Marks, Reading, answer_marks, answer_outcome, read_answer
from refdesk.evaluation.runs.channels import PIPELINE, channel, ranking_measures, searched
from refdesk.evaluation.runs.judging import Judge
from refdesk.evaluation.runs.outcomes import CaseOutcome, Channel
from refdesk.evaluation.runs.runheader import Asked, model_of
from refdesk.evaluation.runs.steptrace import trace_lines
from refdesk.evaluation.runs.store import said
from refdesk.llm import LLM
from refdesk.pipeline import Pipeline
from refdesk.pipeline.metering import MeteredLLM

FATAL = (EmbeddingMismatch, MissingExtra, ModelError, NotFound, PipelineError, SettingsError, StoreError)
"""Errors that every case would have."""
NO_PRICE = "no price is known for the model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks the cases of one run."""

    desk: Desk
    asked: Asked
    channels: Sequence[str]
    pipeline: Pipeline | None
    """As it is run: cut off behind what finds, where no answers are asked for."""
    texts: Mapping[str, str]
    """The gold documents that are stored, by source id, with texts where gold is a span of them."""

    async def outcome(self, case: Case) -> tuple[CaseOutcome, Exception | None]:
        """Return what came of a case, and the error that it ended with. Errors: those of `FATAL`."""
        try:
            return await self._measured(case), None
        except FATAL:
            raise
        except Exception as error:  # a step, searcher or model of the user's own may raise anything
            return replace(_bare(case), error=said(error)), error

    async def warm_up(self, case: Case) -> None:
        """Search once, so that the first case does not pay for what is loaded. Errors: those of `FATAL`."""
        try:
            for name in self.channels[-1:] or ("fused",):
                await searched(self.desk, name, case.question, self.asked.collection)
        except FATAL:
            raise
        except Exception:  # the case itself says what is wrong with it
            return

    async def _measured(self, case: Case) -> CaseOutcome:
        where = self.asked.collection
        channels = [await searched(self.desk, name, case.question, where) for name in self.channels]
        if self.pipeline is None:
            seconds = sum(one.seconds for one in channels)
            return self._ranked(case, replace(_bare(case), seconds=seconds), channels)
        began = time.perf_counter()
        context = await self.desk.run(
            self.pipeline, case.question, collections=where, llm=self.asked.llm, history=case.history
        )
        seconds = time.perf_counter() - began
        _check_written(context.raise_for_error())
        channels.append(channel(PIPELINE, context.hits, seconds))
        outcome = self._ranked(case, _spent(case, context, seconds), channels)
        return await self._answered(case, context, outcome) if self.asked.answers else outcome

    def _ranked(self, case: Case, outcome: CaseOutcome, channels: Sequence[Channel]) -> CaseOutcome:
        measures, excluded = {**outcome.measures}, {**outcome.excluded}
        warnings = dict.fromkeys(outcome.warnings)
        told = []
        for found in channels:
            ranking = judged(case, found.spans, self.texts)
            values, missing = ranking_measures(case, found, ranking)
            measures |= values
            excluded |= missing
            warnings |= dict.fromkeys(ranking.unusable)
            told.append(replace(found, ranks=ranking.ranks))
        return replace(
            outcome,
            channels=tuple(told),
            measures=measures,
            excluded=excluded,
            warnings=tuple(warnings),
        )

    async def _answered(self, case: Case, context: Context, outcome: CaseOutcome) -> CaseOutcome:
        answer = answered(context)
        if answer.refusal is None and answer.grounding is None:
            context = await self.desk.ground(context)
            answer = answered(context)
        rechecked = await self.desk.recheck(answer, collections=self.asked.collection)
        reading, judged = await self._read(case, context, answer)
        marks = answer_marks(case, answer, reading, len(rechecked.answer.citations))
        values, missing = _parted(marks)
        return replace(
            outcome,
            measures={**outcome.measures, **values},
            excluded={**outcome.excluded, **missing},
            answer=answer_outcome(context, answer, reading),
            warnings=tuple(dict.fromkeys((*outcome.warnings, *answer.warnings))),
            trace=(*outcome.trace, *judged),
        )

    async def _read(self, case: Case, context: Context, answer: Answer) -> tuple[Reading, tuple[str, ...]]:
        """Read an answer, and say in a line what a judge took; that is no part of what the answer cost."""
        llm = model_of(self.desk, self.asked.judge)
        if llm is None:
            return await read_answer(case, context, answer, None), ()
        calls: list[tuple[Usage, float]] = []
        metered: LLM = MeteredLLM(llm, lambda usage, seconds, error: calls.append((usage, seconds)))
        reading = await read_answer(case, context, answer, Judge(metered))
        usage = sum((usage for usage, _ in calls), NO_USAGE)
        seconds = sum(seconds for _, seconds in calls)
        return reading, (f"judge  {seconds * 1000:.0f} ms  {_of_models(usage)}",) if calls else ()


def _check_written(context: Context) -> None:
    """Refuse sources that were listed in place of an answer: they measure a server, and no pipeline."""
    if context.answer is not None and context.answer.refusal == MODEL_UNAVAILABLE:
        raise LLMError(f"No answer was written. {' '.join(context.warnings)}".rstrip(), retryable=True)


def _bare(case: Case) -> CaseOutcome:
    return CaseOutcome(
        case_id=case.case_id,
        question=case.question,
        tags=case.tags,
        answerable=case.answerable,
        needs=case.needs,
        answers=case.answers,
        history=case.history,
    )


def _spent(case: Case, context: Context, seconds: float) -> CaseOutcome:
    """Return what a run of the pipeline took."""
    usage = context.usage
    tokens = usage.input_tokens + usage.output_tokens
    priced = bool(usage.cost) or not usage.requests
    measures = {"seconds": seconds, "requests": float(usage.requests), "tokens": float(tokens)}
    return replace(
        _bare(case),
        measures=measures | ({"cost": usage.cost} if priced else {}),
        excluded={} if priced else {"cost": NO_PRICE},
        warnings=context.warnings,
        trace=trace_lines(context.trace),
        seconds=seconds,
        requests=usage.requests,
        tokens=tokens,
        cost=usage.cost,
    )


def _parted(marks: Marks) -> tuple[Mapping[str, float], Mapping[str, str]]:
    """Part marks into measures, and reasons of those that are missing."""
    named = {f"answer.{name}": mark for name, mark in marks.items()}
    return (
        {name: mark for name, mark in named.items() if not isinstance(mark, str)},
        {name: mark for name, mark in named.items() if isinstance(mark, str)},
    )


def _of_models(usage: Usage) -> str:
    tokens = usage.input_tokens + usage.output_tokens
    cost = f"  cost={usage.cost:.4g}" if usage.cost else ""
    return f"requests={usage.requests}  tokens={tokens}{cost}"
