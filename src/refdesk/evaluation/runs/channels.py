"""Ways to search that a run measures beside its pipeline, each in the library's own settings."""

import time
from collections.abc import Iterable, Mapping, Sequence

from refdesk.desk import Desk
from refdesk.documents import Hit, Scope
from refdesk.errors import InputError
from refdesk.evaluation.datasets.cases import Case
from refdesk.evaluation.datasets.gold import MEASURES, Judged, measures_of
from refdesk.evaluation.runs.outcomes import Channel
from refdesk.evaluation.searching.finders import TOP_K, Way
from refdesk.evaluation.searching.metrics import ranked_documents

CHANNELS: Mapping[str, Way] = {
    "keyword": Way("keyword"),
    "vector": Way("vector"),
    "fused": Way("hybrid"),
    "reranked": Way("hybrid", rerank=True),
}
PIPELINE = "pipeline"
"""The channel of what the pipeline found."""
NOTHING_TO_FIND = "the case names nothing that has to be found"
NOT_IN_TEXTS = "nothing that has to be found is in the stored documents"


async def reranker_name(desk: Desk, collection: str) -> str:
    """Return the name of the reranker that searches of a collection use, empty for none."""
    reader, _ = await desk.services.searchable(Scope((collection,), desk.settings.principals))
    reranker = await desk.services.reranker(reader)
    return "" if reranker is None else reranker.name


async def channels_of(desk: Desk, names: Sequence[str] | None, collection: str) -> tuple[str, ...]:
    """Return the channels that are named, in their order; all that there are where none are named.

    Errors: `InputError` for an unknown one, and for `reranked` where no reranker is configured.
    """
    reranker = await reranker_name(desk, collection)
    if names is None:
        return tuple(name for name in CHANNELS if reranker or not CHANNELS[name].rerank)
    if unknown := [name for name in names if name not in CHANNELS]:
        raise InputError(f"Unknown channel {unknown[0]!r}. Known channels: {', '.join(CHANNELS)}.")
    if not reranker and any(CHANNELS[name].rerank for name in names):
        raise InputError(
            "The channel 'reranked' has no reranker.",
            remedy="Name one with the setting `reranker`, or leave the channel out.",
        )
    return tuple(name for name in CHANNELS if name in names)


async def searched(desk: Desk, name: str, question: str, collection: str) -> Channel:
    """Search one way, as deep as the default settings do. Errors: those of the search."""
    way, began = CHANNELS[name], time.perf_counter()
    results = await desk.search(
        question, collections=collection, mode=way.mode, top_k=TOP_K, rerank=way.rerank
    )
    return channel(name, results.hits, time.perf_counter() - began)


def channel(name: str, hits: Iterable[Hit], seconds: float) -> Channel:
    """Return what was found as plain values."""
    hits = tuple(hits)
    return Channel(
        name=name,
        documents=ranked_documents(hits),
        spans=tuple((hit.source_id, hit.chunk.start, hit.chunk.end) for hit in hits),
        seconds=seconds,
    )


def ranking_measures(case: Case, found: Channel, ranking: Judged) -> tuple[dict[str, float], dict[str, str]]:
    """Return the measures of a channel that was judged, and those that are missing with the reason."""
    values = measures_of(ranking, found.spans)
    reason = NOT_IN_TEXTS if case.needs else NOTHING_TO_FIND
    missing = {f"{found.name}.{name}": reason for name in MEASURES if name not in values}
    return {f"{found.name}.{name}": value for name, value in values.items()}, missing
