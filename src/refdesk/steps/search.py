"""`search`: every query in every collection."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Protocol

import anyio
from pydantic import Field

from refdesk.context import Context, Measure
from refdesk.documents import Hit, Mode
from refdesk.embedding.parallel import in_order
from refdesk.filters import Filter
from refdesk.pipeline import Kind, OnError, Run, Services, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.results import Fusion, Results, numbered
from refdesk.retrieval import search
from refdesk.steps.outside import own_searcher

ALL = "all"
"""Every collection that the asker may search."""


class Searcher(Protocol):
    """Find passages for a query in a collection: `Hit`s, or mappings with at least `id` and `text`.

    An id names one passage in all collections.
    """

    def search(
        self, question: str, collection: str
    ) -> Sequence[Hit | Mapping[str, Any]] | Awaitable[Sequence[Hit | Mapping[str, Any]]]: ...


SearchFunction = Callable[[str, str], Any]


@dataclass(frozen=True, kw_only=True)
class Search(Step):
    """Search every query in every chosen collection: `results` has one list for each pair.

    Collections are those of the option, else the context's, which are those of the call or of `select`, else
    `default`. `all` means all that the asker may search, an empty list means none, on purpose. An unknown
    name is an error. What a searcher of one's own finds has to pass the filter of the call, too.
    """

    kind: ClassVar[Kind] = "retriever"
    reads: ClassVar[frozenset[str]] = frozenset(
        {"queries", "collections", "filter", "skip_retrieval", "queries_tried"}
    )
    writes: ClassVar[frozenset[str]] = frozenset(
        {"results", "evidence", "distilled", "collections", "searcher", "queries_tried"}
    )
    worker: ClassVar[str] = "searcher"
    method: ClassVar[str] = "search"
    leaves: ClassVar[str] = "The results as they were."

    collection: str | tuple[str, ...] | None = None
    """A collection, several, `all`, or an empty list for none."""
    top_k: Annotated[int, Field(ge=1)] | None = None
    """Hits per query and collection; else as many as the desk reranks, setting `rerank_depth`."""
    mode: Mode | None = None
    """`vector`, `keyword` or `hybrid`, else the setting."""
    fusion: Fusion | None = None
    """`zscore` or `rrf`, else the setting."""
    threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    """Least cosine similarity of a hit, -1 to 1."""
    searcher: Annotated[Searcher | type[Searcher] | SearchFunction | None, WorkerOption("search")] = None
    """An implementation of your own."""
    on_error: OnError = "stop"

    def facts(self, context: Context) -> Mapping[str, Measure]:
        return {"queries": len(context.queries), "collections": context.collections}

    async def __call__(self, context: Context, run: Run) -> Context:
        if context.skip_retrieval:
            run.measure(reason="retrieval is skipped")
            return context.with_results(())
        collections = await self._collections(context, run)
        find = partial(self._results, run.services, context.filter)
        pairs = [(query, name) for query in dict.fromkeys(context.queries) for name in collections]
        results = tuple(await in_order(find, pairs, anyio.CapacityLimiter(AT_ONCE)))
        found = context.evolve(
            collections=collections,
            searcher=partial(self._hits, run.services, context.filter),
            queries_tried=tuple(dict.fromkeys((*context.queries_tried, *context.queries))),
        ).with_results(results)
        run.measure(queries=context.queries, collections=collections, hits=len(found.hits))
        return found

    async def _collections(self, context: Context, run: Run) -> tuple[str, ...]:
        named = context.collections if self.collection is None else self.collection
        if self.collection in (ALL, (ALL,)):
            return tuple(one.name for one in await run.services.collections())
        return tuple(dict.fromkeys((named,) if isinstance(named, str) else named))

    async def _hits(
        self, services: Services, filter: Filter | None, query: str, collection: str
    ) -> tuple[Hit, ...]:
        return (await self._results(services, filter, (query, collection))).hits

    async def _results(self, services: Services, filter: Filter | None, pair: tuple[str, str]) -> Results:
        query, collection = pair
        if self.searcher is not None:
            hits = await own_searcher(self.work, filter, self)(query, collection)
            return Results(question=query, hits=hits[: self.top_k], collection=collection)
        settings = services.settings
        reader, embedder = await services.searchable([collection])
        top_k = self.top_k or max(settings.rerank_depth, settings.evidence)
        results = await search(
            reader,
            embedder,
            query,
            mode=self.mode or settings.mode,
            fusion=self.fusion or settings.fusion,
            top_k=top_k,
            candidates=max(settings.candidates, top_k),
            filter=filter,
        )
        return replace(results, collection=collection, hits=similar(results.hits, self.threshold))

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.threshold is not None and self.mode == "keyword":
            yield "Its `threshold` is a cosine, and keyword search has none.", "Leave one of both out."
        told = (name for name in ("mode", "fusion", "threshold") if getattr(self, name) is not None)
        if self.searcher is not None and (given := ", ".join(f"`{name}`" for name in told)):
            yield f"It has a searcher of its own, which is not told {given}.", "Leave one of both out."


def similar(hits: Sequence[Hit], threshold: float | None) -> tuple[Hit, ...]:
    """Return the hits whose cosine reaches a threshold; hits without one do not."""
    if threshold is None:
        return tuple(hits)
    return numbered([hit for hit in hits if hit.vector_score is not None and hit.vector_score >= threshold])


AT_ONCE = 8
"""Searches of one question that run at the same time."""
