"""What can be measured: a way to search, a pipeline, or a function of your own, each with a name."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from refdesk.context import NO_USAGE, Context, Usage
from refdesk.desk import Desk
from refdesk.documents import Hit, Mode
from refdesk.errors import InputError, PipelineError
from refdesk.pipeline import Kind, LLMValue, Pipeline, Run, Step
from refdesk.pipeline.checking import placed
from refdesk.retrieval import CANDIDATES

TOP_K = CANDIDATES
"""Chunks of one search: the depth of the default settings, so that these are what is measured."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for one question, and what it took."""

    hits: Sequence[Hit]
    """Best first; their source ids are those of the data set."""
    usage: Usage = NO_USAGE
    failures: tuple[str, ...] = ()
    """What failed and was passed over."""


Find = Callable[[str], Awaitable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Something that finds, and what it is called in a report."""

    name: str
    find: Find
    version: str = ""
    """What it is besides its name: rankings that were kept of another version are not used."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to search."""

    mode: Mode
    rerank: bool = False

    @property
    def name(self) -> str:
        return f"{self.mode}+rerank" if self.rerank else self.mode


WAYS = (Way("keyword"), Way("vector"), Way("hybrid"), Way("hybrid", rerank=True))


def search_finder(desk: Desk, way: Way, *, collection: str, top_k: int = TOP_K) -> Finder:
    """Return the search of a desk in one collection."""

    async def find(question: str) -> Found:
        results = await desk.search(
            question, collections=collection, mode=way.mode, top_k=top_k, rerank=way.rerank
        )
        return Found(results.hits)

    return Finder(name=way.name, find=find, version=desk.settings.reranker if way.rerank else "")


def pipeline_finder(
    desk: Desk, pipeline: Pipeline, *, collection: str, name: str = "", llm: LLMValue = None
) -> Finder:
    """Return what a pipeline finds in one collection: the hits of its context.

    What comes after the last step that may change the hits is not run. Errors: at once `PipelineError` with
    all that keeps the pipeline from running, `InputError` where it finds nothing; a run that ends with an
    error raises that.
    """
    found, model = finding(pipeline), llm or desk.settings.llm
    if problems := (*pipeline.problems(), *found.problems(llm=bool(model))):
        raise PipelineError(tuple(dict.fromkeys(problems)), name=pipeline.name)

    async def find(question: str) -> Found:
        context = await desk.run(found, question, collections=collection, llm=llm)
        context.raise_for_error()
        return Found(context.hits, context.usage, passed_over(context))

    digest = hashlib.sha256(repr(found.steps).encode()).hexdigest()[:16]
    called = model if isinstance(model, str) else getattr(model, "name", repr(model))
    version = " ".join(filter(None, (digest, called, desk.settings.reranker, str(desk.settings.top_k))))
    return Finder(name=name or pipeline.name or "pipeline", find=find, version=version)


@dataclass(frozen=True, kw_only=True)
class Unanswered(Step):
    """Stands where a pipeline answers, so that measuring what it finds costs no answer."""

    kind: ClassVar[Kind] = "answer_generator"

    async def __call__(self, context: Context, run: Run) -> Context:
        return context


def finding(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline up to the last step that may change the hits. Errors: `InputError` for none."""
    places = [place for place, step in enumerate(pipeline.steps) if _finds(step)]
    if not places:
        raise InputError(
            f"The pipeline {pipeline.name!r} finds nothing that could be measured.",
            remedy="Give it a step that searches, such as `search`.",
        )
    steps = pipeline.steps[: places[-1] + 1]
    answers = any(step.kind == "answer_generator" for _, step in placed(steps))
    return Pipeline(steps if answers else (*steps, Unanswered()), name=pipeline.name)


def _finds(step: Step) -> bool:
    if step.blocks:
        return any(_finds(inner) for block in step.blocks for inner in block)
    return "results" in step.writes


def passed_over(context: Context) -> tuple[str, ...]:
    """Return what failed in a run that went on: steps, rounds, turns and parts, and a loop that broke off.

    A call of a tool that failed is none of them: the model is told and may call again.
    """
    failed = [
        "/".join(one.path)
        for one in context.trace
        if one.outcome == "continued" or (one.outcome == "stopped" and one.kind != "tool")
    ]
    parts = dict.fromkeys(part for part in context.degraded if "." in part)
    return (*failed, *parts, *(["loop"] if context.terminated_by == "error" else []))
