"""`search`: every query in every collection."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Protocol

import anyio
from pydantic import Field

from refdesk.context import Context, Measure
from refdesk.documents import Hit, Mode
from refdesk.embedding import Embedder
from refdesk.embedding.parallel import in_order
from refdesk.filters import Filter
from refdesk.pipeline import Kind, OnError, Run, Services, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.results import Arm, Fusion, Results, numbered
from refdesk.retrieval import search
from refdesk.retrieval.arms import FINAL, within
from refdesk.steps.outside import own_searcher
from refdesk.stores import Reader

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

    With `on_arm_error: continue`, where one of the two arms of `hybrid` fails, what the other one finds is
    what was found, with a warning. An embedder that cannot be reached, and a collection of another embedding
    space, are failures of the vector arm. Where both fail the step does.
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
    on_arm_error: Literal["stop", "continue"] = "stop"
    """What happens where one arm of `hybrid` fails: `stop`, or `continue` with the hits of the other one."""
    arm_timeout: Annotated[float, Field(gt=0)] | None = None
    """Seconds after which an arm, or the way to the embedder, has failed."""
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
        _tell(results, run)
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
        """Search for a later step, which could not tell that an arm failed: then the search fails."""
        whole = replace(self, on_arm_error="stop")
        return (await whole._results(services, filter, (query, collection))).hits

    async def _results(self, services: Services, filter: Filter | None, pair: tuple[str, str]) -> Results:
        query, collection = pair
        if self.searcher is not None:
            hits = await own_searcher(self.work, filter, self, services)(query, collection)
            return Results(question=query, hits=hits[: self.top_k], collection=collection)
        settings = services.settings
        mode = self.mode or settings.mode
        reader, embedder = await self._searchable(services, collection, mode)
        top_k = self.top_k or max(settings.rerank_depth, settings.evidence)
        results = await search(
            reader,
            embedder,
            query,
            mode=mode,
            fusion=self.fusion or settings.fusion,
            top_k=top_k,
            candidates=max(settings.candidates, top_k),
            filter=filter,
            lenient=self._lenient,
            arm_seconds=self.arm_timeout,
        )
        return replace(results, collection=collection, hits=similar(results.hits, self.threshold))

    async def _searchable(
        self, services: Services, collection: str, mode: Mode
    ) -> tuple[Reader, Embedder | Exception]:
        """Return a reader and the embedder, or why there is none where that may be."""
        try:
            async with within(self.arm_timeout, "The way to the embedder"):
                return await services.searchable([collection])
        except Exception as error:
            if not self._lenient or mode != "hybrid" or isinstance(error, FINAL):
                raise
            return await services.reader([collection]), error

    @property
    def _lenient(self) -> bool:
        return self.on_arm_error == "continue"

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.threshold is not None and self.mode == "keyword":
            yield "Its `threshold` is a cosine, and keyword search has none.", "Leave one of both out."
        if self._lenient and self.mode in ("vector", "keyword"):
            yield f"`on_arm_error` is for `hybrid`, and its mode is `{self.mode}`.", "Leave one of both out."
        if self._lenient and self.threshold is not None:
            yield "Its `threshold` is a cosine, and without the vector arm there is none.", "Leave one out."
        told = (name for name in ("mode", "fusion", "threshold") if getattr(self, name) is not None)
        if self.searcher is not None and (given := ", ".join(f"`{name}`" for name in told)):
            yield f"It has a searcher of its own, which is not told {given}.", "Leave one of both out."


def _tell(results: Sequence[Results], run: Run) -> None:
    """Warn of each arm that failed, once for each reason."""
    failed = {
        (arm.name, arm.error): [other.collection for other in results if _fails(other, arm)]
        for one in results
        for arm in one.explanation.arms
        if arm.error
    }
    for (name, error), collections in failed.items():
        where = ", ".join(repr(one) for one in dict.fromkeys(collections))
        left = "by words" if name == "vector" else "by meaning"
        run.degrade(name, f"Only {left} was searched in {where}, for the {name} arm failed: {error}")


def _fails(results: Results, like: Arm) -> bool:
    return any((arm.name, arm.error) == (like.name, like.error) for arm in results.explanation.arms)


def similar(hits: Sequence[Hit], threshold: float | None) -> tuple[Hit, ...]:
    """Return the hits whose cosine reaches a threshold; hits without one do not."""
    if threshold is None:
        return tuple(hits)
    return numbered([hit for hit in hits if hit.vector_score is not None and hit.vector_score >= threshold])


AT_ONCE = 8
"""Searches of one question that run at the same time."""
