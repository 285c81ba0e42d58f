"""The verbs of a desk that take a question: search, ask, stream, run, step, start, recheck."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from os import PathLike
from typing import Any

from refdesk.configuration import load_pipeline
from refdesk.context import Answer, Context
from refdesk.desk.asking import (
    ALL,
    Call,
    Collections,
    History,
    as_pipeline,
    as_step,
    begin,
    named,
    refuse_others,
    scope_of,
)
from refdesk.desk.calls import CallServices
from refdesk.desk.given import function, text, whole
from refdesk.desk.rechecking import Recheck, recheck
from refdesk.desk.seeing import asking
from refdesk.desk.services import Services
from refdesk.desk.streams import told
from refdesk.documents import Mode, Scope
from refdesk.errors import InputError
from refdesk.events import Done, Event, Sink
from refdesk.filters import Filters, as_filter
from refdesk.grounding.named import LOCAL
from refdesk.pipeline import LLMValue, Pipeline, Step
from refdesk.pipeline.answers import answered
from refdesk.principals import Principals
from refdesk.results import Fusion, Results
from refdesk.retrieval import widen
from refdesk.settings import Settings
from refdesk.steps import Ground
from refdesk.steps.searching import ranked

PipelineValue = Pipeline | Step | str | PathLike[str] | None
"""A pipeline, a step, a preset's name or a file; None for the setting `pipeline`."""


class Questions:
    """The part of `Desk` that finds and answers."""

    services: Services

    @property
    def settings(self) -> Settings:
        return self.services.settings

    async def search(
        self,
        question: str,
        *,
        collections: Collections = None,
        principals: Principals = None,
        mode: Mode | None = None,
        fusion: Fusion | None = None,
        top_k: int | None = None,
        filters: Filters = None,
        rerank: bool = False,
        neighbours: int = 0,
    ) -> Results:
        """Find chunks, best first, with an explanation of how they were found.

        `principals` names who asks, a user and their groups, else the setting `principals` does; without any,
        only what is public is found.
        `filters` is a `Filter`, or a mapping of keys to values or lists of values that must all hold.
        `rerank` reorders the best hits (setting `rerank_depth`); those behind them keep their order.
        `neighbours` puts so many chunks before and after each hit, without rank or score, in reading order.
        """
        wanted = self._settings(mode=mode, fusion=fusion, top_k=top_k)
        scope = scope_of(self.settings, collections, principals)
        around = whole(neighbours, "`neighbours`")
        services = CallServices(desk=self.services, settings=wanted, principals=scope.principals)
        results = await ranked(
            services,
            text(question, "The question"),
            scope.collections,
            top_k=wanted.top_k,
            filter=as_filter(filters),
            rerank=rerank,
        )
        if not around:
            return results
        reader = await services.reader(scope.collections)
        return replace(results, hits=await widen(reader, results.hits, before=around, after=around))

    async def ask(
        self,
        question: str,
        *,
        pipeline: PipelineValue = None,
        collections: Collections = None,
        principals: Principals = None,
        mode: Mode | None = None,
        top_k: int | None = None,
        filters: Filters = None,
        llm: LLMValue = None,
        history: History = (),
        conversation: str = "",
        user: str = "",
        seconds: float | None = None,
    ) -> Answer:
        """Answer from the documents, with checked citations, or refuse with a reason.

        `top_k` is how many hits are read as evidence; the other options are those of `run`.
        Errors: `PipelineError` before anything runs; `NotFound`, `ModelError`, `LLMError`, `StoreError`,
        `LimitReached`, `StepError`.
        """
        context = await self.run(
            pipeline,
            question,
            collections=collections,
            principals=principals,
            mode=mode,
            top_k=top_k,
            filters=filters,
            llm=llm,
            history=history,
            conversation=conversation,
            user=user,
            seconds=seconds,
        )
        return answered(context)

    async def stream(
        self,
        question: str,
        *,
        pipeline: PipelineValue = None,
        collections: Collections = None,
        principals: Principals = None,
        mode: Mode | None = None,
        top_k: int | None = None,
        filters: Filters = None,
        llm: LLMValue = None,
        history: History = (),
        conversation: str = "",
        user: str = "",
        seconds: float | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Answer as `ask` does, and give what happens on the way; the last event is `Done`.

        Steps give `StepStarted` and `StepFinished` or `StepFailed`, the text `Token`s while it is written.
        Close the stream, or leave `async with aclosing(...)`, to end the work.
        """

        async def work(sink: Sink) -> Context:
            return await self._run(
                pipeline,
                question,
                self._call(llm, mode=mode, evidence=top_k, seconds=seconds),
                (sink,),
                collections=collections,
                principals=principals,
                filters=filters,
                history=history,
                conversation=conversation,
                user=user,
            )

        async with aclosing(told(work)) as events:
            async for event in events:
                yield Done(answered(event), event) if isinstance(event, Context) else event

    async def run(
        self,
        pipeline: PipelineValue,
        question: str | Context,
        *,
        collections: Collections = None,
        principals: Principals = None,
        mode: Mode | None = None,
        top_k: int | None = None,
        filters: Filters = None,
        llm: LLMValue = None,
        history: History = (),
        conversation: str = "",
        user: str = "",
        seconds: float | None = None,
        on_event: Sink | None = None,
    ) -> Context:
        """Run a pipeline and return all that it noted; an error of a step is the context's `error`.

        `question` may be a context that some steps have filled already. `collections` is a name, several, or
        `all`; `llm` a model string, a model, or a function from prompt to reply; `seconds` the time limit.
        `conversation` names what memory steps read and write, and `user` whose it is. `principals` names who
        asks, a user and their groups; a context keeps those that it was begun with.
        Errors: `PipelineError` with all problems, before the first step; `InputError`, `NotFound`.
        """
        return await self._run(
            pipeline,
            question,
            self._call(llm, mode=mode, evidence=top_k, seconds=seconds),
            _sinks(on_event),
            collections=collections,
            principals=principals,
            filters=filters,
            history=history,
            conversation=conversation,
            user=user,
        )

    async def step(
        self, step: Step, context: Context, *, llm: LLMValue = None, on_event: Sink | None = None
    ) -> Context:
        """Run one step, so that ordinary code can decide what comes next. See `start` for a context."""
        checked, sinks = as_step(step, context), _sinks(on_event)
        return await self._call(llm).run(self.services, context.principals, sinks).step(checked, context)

    async def start(
        self,
        question: str,
        *,
        collections: Collections = None,
        principals: Principals = None,
        filters: Filters = None,
        history: History = (),
        conversation: str = "",
        user: str = "",
    ) -> Context:
        """Return the context that a run of a question begins with."""
        return await begin(
            self.services,
            self.settings,
            question,
            collections=collections,
            principals=principals,
            filters=filters,
            history=history,
            conversation=conversation,
            user=user,
        )

    async def ground(self, context: Context, *, grounder: Any = LOCAL, llm: LLMValue = None) -> Context:
        """Check an answer against the evidence it was written from, after the run that wrote it.

        The context comes back as it is where its run failed, where it has no answer, or no evidence. A
        grounder that fails leaves no grounding, and a warning.
        """
        step = as_step(Ground(grounder=grounder, llm=llm), context)
        if context.error is not None or context.answer is None or not context.evidence:
            return context
        return await self.step(step, context)

    async def recheck(
        self, answer: Answer, *, collections: Collections = None, principals: Principals = None
    ) -> Recheck:
        """Hold the citations of an answer that was kept against the library as it is now.

        `collections`, a name, several, or `all`, and `principals` say what the one who reads it now may see:
        nothing else is shown. Text that changed is never put in the place of what was cited.
        Errors: `InputError`, `NotFound` for an unknown collection.
        """
        where = await named(self.services, self.settings, collections)
        scope = Scope(where, asking(self.settings, principals))
        return await recheck(answer, await self.services.reader(scope), self.settings.links)

    async def _run(
        self,
        pipeline: PipelineValue,
        question: str | Context,
        call: Call,
        sinks: Sequence[Sink],
        **start: Any,
    ) -> Context:
        if isinstance(question, Pipeline | Step):
            raise InputError(
                "The pipeline stands where the question belongs.",
                remedy="Write desk.run(pipeline, question).",
            )
        loaded = as_pipeline(pipeline if pipeline is not None else self.settings.pipeline, self._load)
        if isinstance(question, Context):
            refuse_others(question, self.settings, start["principals"])
        context = question if isinstance(question, Context) else await self.start(question, **start)
        named_by_call = () if start.get("collections") in (None, ALL) else context.collections
        return await loaded.run(context, call.run(self.services, context.principals, sinks, named_by_call))

    def _load(self, source: str | PathLike[str]) -> Pipeline:
        return load_pipeline(source, steps=self.services.steps, workers=self.services.workers)

    def _call(self, llm: LLMValue, **options: Any) -> Call:
        return Call(settings=self._settings(**options), llm=llm)

    def _settings(self, **options: Any) -> Settings:
        return self.settings.merged(
            {key: value for key, value in options.items() if value is not None}, "the call"
        )


def _sinks(on_event: Sink | None) -> tuple[Sink, ...]:
    return () if on_event is None else (function(on_event, "`on_event`"),)
