"""Search and rerank in one go, for steps and calls that look something up on the way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from refdesk.documents import MODES, Hit, Mode
from refdesk.errors import MissingExtra, SettingsError
from refdesk.filters import Filter
from refdesk.pipeline import Services
from refdesk.results import FUSIONS, Fusion, Results, numbered
from refdesk.retrieval import search


async def ranked(
    services: Services,
    query: str,
    collections: Sequence[str],
    *,
    top_k: int,
    mode: Mode | None = None,
    fusion: Fusion | None = None,
    filter: Filter | None = None,
    rerank: bool = True,
    on_failure: Callable[[Exception], None] | None = None,
) -> Results:
    """Search collections together, best hits first; those of the setting `rerank_depth` are reranked.

    `on_failure` is told of a reranker that fails, and the order of the search stays; without it the error is
    raised. Errors: those of the search.
    """
    settings = services.settings
    reader, embedder = await services.searchable(collections)
    depth = max(top_k, settings.rerank_depth) if rerank else top_k
    results = await search(
        reader,
        embedder,
        query,
        mode=mode or settings.mode,
        fusion=fusion or settings.fusion,
        top_k=depth,
        candidates=max(depth, settings.candidates),
        filter=filter,
    )
    hits = results.hits
    if rerank:
        try:
            hits = await _reranked(services, query, hits, settings.rerank_depth)
        except Exception as error:  # a reranker of the user's own may raise anything
            if on_failure is None or isinstance(error, SettingsError | MissingExtra):
                raise
            on_failure(error)
    return replace(results, hits=numbered(hits[:top_k]))


def wrong_search(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with options of `ranked` that a user gave, and what to do."""
    for name, value in options.items():
        if name not in ALLOWED:
            near = get_close_matches(name, ALLOWED, 1)
            known = f"Did you mean {near[0]!r}?" if near else f"Allowed: {', '.join(ALLOWED)}."
            yield f"Its `search_opts` have {name!r}.", known
        elif value is not None and not ALLOWED[name][1](value):
            yield f"Its `search_opts` have {value!r:.60} as {name!r}.", f"Write {ALLOWED[name][0]}."


ALLOWED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "mode": (f"one of {', '.join(MODES)}", lambda value: value in MODES),
    "fusion": (f"one of {', '.join(FUSIONS)}", lambda value: value in FUSIONS),
    "threshold": (
        "a cosine from -1 to 1",
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and -1 <= value <= 1,
    ),
    "rerank": ("true or false", lambda value: isinstance(value, bool)),
}
"""Options that a user may give, what each takes, and whether a value is that."""


async def _reranked(services: Services, query: str, hits: Sequence[Hit], depth: int) -> tuple[Hit, ...]:
    best, rest = hits[:depth], hits[depth:]
    reranker = await services.reranker(best) if best else None
    return (*(best if reranker is None else await reranker.rerank(query, best)), *rest)
