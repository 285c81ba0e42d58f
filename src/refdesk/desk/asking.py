"""One question, from search to checked answer."""

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from refdesk.context import Evidence
from refdesk.desk.services import Services
from refdesk.documents import Hit, Pages, Scope
from refdesk.errors import InputError, ModelError, RemoteError
from refdesk.events import AnswerEvent, Done
from refdesk.evidence import number_hits
from refdesk.filters import Filter
from refdesk.llm import LLM
from refdesk.retrieval import search
from refdesk.settings import Settings
from refdesk.stores import Reader


@dataclass(slots=True)
class Course:
    """What is noted while a question is worked on."""

    timings: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    degraded: bool = False
    """Whether a stage failed that the zone depends on."""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] = time.perf_counter() - began


async def ask(
    services: Services,
    settings: Settings,
    question: str,
    scope: Scope,
    filter: Filter | None,
    llm: "str | LLM | Callable[..., Any] | None",
) -> AsyncGenerator[AnswerEvent, None]:
    """Give the events of an answer; the last one carries timings and warnings of all stages.

    Errors: those of the parts. Only reranking degrades: where its model fails, the order of retrieval stands,
    a warning says so, and the zone is unknown.
    """
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"The question is {question!r}; it has to be text that is not blank.")
    course = Course()
    answerer = await services.answerer(llm if llm is not None else settings.llm)
    with course.timed("open"):
        reader, embedder = await services.searchable(scope)
    with course.timed("search"):
        results = await search(
            reader,
            embedder,
            question,
            mode=settings.mode,
            fusion=settings.fusion,
            top_k=max(settings.rerank_depth, settings.evidence),
            candidates=settings.candidates,
            filter=filter,
        )
    with course.timed("rerank"):
        hits = await _reranked(services, reader, question, results.hits, course)
    evidence = number_hits(hits[: settings.evidence])
    pages = await _pages(reader, evidence)
    began = time.perf_counter()
    async with aclosing(answerer.stream(question, evidence, pages=pages)) as events:
        async for event in events:
            course.timings["answer"] = time.perf_counter() - began
            yield _completed(event, course) if isinstance(event, Done) else event


async def _reranked(
    services: Services, reader: Reader, question: str, hits: Sequence[Hit], course: Course
) -> tuple[Hit, ...]:
    try:
        return await services.rerank(reader, question, hits)
    except (ModelError, RemoteError) as error:
        course.warnings.append(f"Reranking failed, the order of retrieval stands: {error}")
        course.degraded = True
        return tuple(hits)


async def _pages(reader: Reader, evidence: Sequence[Evidence]) -> Pages:
    """Read the pages of documents that have some, so that a citation names the page of its quote."""
    paged = {item.hit.chunk.document_id for item in evidence if item.hit.chunk.page is not None}
    return {name: (await reader.document(name)).pages for name in paged}


def _completed(done: Done, course: Course) -> Done:
    timings = {**course.timings, "total": sum(course.timings.values())}
    answer = done.answer
    zone = "unknown" if course.degraded and answer.zone != "none" else answer.zone
    return Done(replace(answer, zone=zone, warnings=(*course.warnings, *answer.warnings), timings=timings))
