"""Run ways to search, and pipelines, on a data set: how good, how fast, at what cost."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refdesk.desk import Desk
from refdesk.errors import InputError, NotFound
from refdesk.evaluation.datasets.beir import Beir, Corpus
from refdesk.evaluation.searching.finders import Finder
from refdesk.evaluation.searching.metrics import means, percentile, ranked_documents, score_rankings
from refdesk.evaluation.searching.report import QueryResult, Ranking, Report, WayReport
from refdesk.evaluation.searching.rowfile import RowFile
from refdesk.events import IngestEvent
from refdesk.ingest import Summary

Known = Mapping[tuple[str, str], Ranking]
"""Name of the way, and id of the query, to a ranking that was made before."""


class RankingFile(RowFile[tuple[str, str], Ranking]):
    """Rankings that are kept in a file, by way and query."""

    what = "rankings"

    def key(self, row: Ranking) -> tuple[str, str]:
        return row.way, row.query_id

    def row(self, record: dict[str, Any]) -> Ranking:
        lists = {name: tuple(record.get(name, ())) for name in ("documents", "failures")}
        return Ranking(**{**record, **lists})


async def evaluate_retrieval(
    data: Beir,
    finders: Sequence[Finder],
    *,
    known: Known | None = None,
    on_ranking: Callable[[Ranking], None] = lambda ranking: None,
) -> Report:
    """Ask every query of every finder, one after the other, and score documents by their best chunk.

    What is `known` is not asked again. Errors: those of the finders; a query that fails ends the run.
    """
    reports = [await _evaluate(data, finder, known or {}, on_ranking) for finder in finders]
    lacking = data.unknown_documents
    warning = f"The corpus lacks {lacking} judged documents; they count as not found."
    return Report(
        data=data.name,
        split=data.split,
        documents=len(data.documents),
        queries=len(data.queries),
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
        return [one.source_id for one in await desk.documents(collections=collection, upkeep=True)]
    except NotFound:
        return []


async def _evaluate(
    data: Beir, finder: Finder, known: Known, on_ranking: Callable[[Ranking], None]
) -> WayReport:
    rankings: dict[str, Ranking] = {}
    for query, question in data.queries.items():
        ranking = known.get((finder.name, query))
        if ranking is None or (ranking.question, ranking.version) != (question, finder.version):
            ranking = await _ranking(finder, query, question)
        on_ranking(ranking)
        rankings[query] = ranking
    return _way_report(data, finder.name, rankings)


async def _ranking(finder: Finder, query: str, question: str) -> Ranking:
    began = time.perf_counter()
    found = await finder.find(question)
    return Ranking(
        way=finder.name,
        version=finder.version,
        query_id=query,
        question=question,
        documents=ranked_documents(found.hits),
        seconds=time.perf_counter() - began,
        requests=found.usage.requests,
        tokens=found.usage.input_tokens + found.usage.output_tokens,
        failures=found.failures,
    )


def _way_report(data: Beir, name: str, rankings: Mapping[str, Ranking]) -> WayReport:
    judged = {query: data.judgements[query] for query in rankings}
    scores = score_rankings(judged, {query: one.documents for query, one in rankings.items()})
    results = tuple(QueryResult.of(one, judged[query], scores[query]) for query, one in rankings.items())
    seconds = [one.seconds for one in results]
    return WayReport(
        name=name,
        scores=means(scores),
        p50=percentile(seconds, 0.5),
        p95=percentile(seconds, 0.95),
        requests=sum(one.requests for one in results) / len(results),
        tokens=sum(one.tokens for one in results) / len(results),
        failed=sum(bool(one.failures) for one in results),
        queries=results,
    )
