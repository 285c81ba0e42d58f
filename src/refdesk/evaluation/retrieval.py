"""Run every search mode on a data set: how good, how fast."""

import time
from collections.abc import Awaitable, Callable, Sequence

from refdesk.desk import Desk
from refdesk.documents import Hit, Mode
from refdesk.errors import InputError, NotFound
from refdesk.evaluation.beir import Beir, Corpus
from refdesk.evaluation.metrics import means, percentile, ranked_documents, score_rankings
from refdesk.evaluation.report import WAYS, QueryResult, Report, Way, WayReport
from refdesk.events import IngestEvent
from refdesk.ingest import Summary
from refdesk.retrieval import CANDIDATES

TOP_K = CANDIDATES
"""Chunks of one search: the depth of the default settings, so that these are what is measured."""

Search = Callable[[str, Mode, int, bool], Awaitable[Sequence[Hit]]]
"""Question, mode, top_k and whether to rerank, to hits whose source ids are those of the data set."""


async def evaluate_retrieval(
    data: Beir,
    search: Search,
    *,
    ways: Sequence[Way] = WAYS,
    top_k: int = TOP_K,
    on_query: Callable[[Way, str], None] = lambda way, query: None,
) -> Report:
    """Search every query in every way, one after the other, and score documents by their best chunk.

    Errors: those of the search; a query that fails ends the run.
    """
    reports = [await _evaluate_way(data, search, way, top_k, on_query) for way in ways]
    lacking = data.unknown_documents
    warning = f"The corpus lacks {lacking} judged documents; they count as not found."
    return Report(
        data=data.name,
        split=data.split,
        documents=len(data.documents),
        queries=len(data.queries),
        top_k=top_k,
        ways=tuple(reports),
        warnings=(warning,) if lacking else (),
    )


async def ingest_corpus(
    desk: Desk, data: Beir, *, collection: str, on_event: Callable[[IngestEvent], None] = lambda event: None
) -> Summary:
    """Bring a data set's documents into a collection of their own; what is there already costs nothing.

    Errors: `InputError` where the collection holds other documents, which would spoil the figures.
    """
    ours = {one.document_id for one in data.documents}
    if foreign := [name for name in await _stored(desk, collection) if name not in ours]:
        raise InputError(
            f"The collection {collection!r} holds {len(foreign)} documents that are not of {data.name!r}.",
            remedy="Name another collection, or delete this one.",
        )
    return await desk.ingest(Corpus(data), collection=collection, on_event=on_event)


async def _stored(desk: Desk, collection: str) -> list[str]:
    try:
        return [one.source_id for one in await desk.documents(collections=collection)]
    except NotFound:
        return []


def desk_search(desk: Desk, *, collection: str) -> Search:
    """Return the search of a desk in one collection."""

    async def search(question: str, mode: Mode, top_k: int, rerank: bool) -> Sequence[Hit]:
        results = await desk.search(question, collections=collection, mode=mode, top_k=top_k, rerank=rerank)
        return results.hits

    return search


async def _evaluate_way(
    data: Beir, search: Search, way: Way, top_k: int, on_query: Callable[[Way, str], None]
) -> WayReport:
    rankings: dict[str, tuple[str, ...]] = {}
    seconds: dict[str, float] = {}
    for query, question in data.queries.items():
        on_query(way, query)
        began = time.perf_counter()
        hits = await search(question, way.mode, top_k, way.rerank)
        seconds[query] = time.perf_counter() - began
        rankings[query] = ranked_documents(hits)
    scores = score_rankings(data.judgements, rankings)
    return WayReport(
        name=way.name,
        scores=means(scores),
        p50=percentile(list(seconds.values()), 0.5),
        p95=percentile(list(seconds.values()), 0.95),
        queries=tuple(
            QueryResult(
                query_id=query,
                question=question,
                documents=rankings[query],
                relevant=data.judgements[query],
                scores=scores[query],
                seconds=seconds[query],
            )
            for query, question in data.queries.items()
        ),
    )
