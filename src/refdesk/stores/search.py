"""The two searches over one published state, as blocking code: rows of the tables become hits."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from refdesk.documents import Hit
from refdesk.errors import EmbeddingMismatch
from refdesk.filters import Filter
from refdesk.stores import acls, bm25, filter_sql, ledger, records, refusals, rows, tables
from refdesk.stores.acls import Readable
from refdesk.stores.engine import Table
from refdesk.stores.ranking import Scored, ranked, refuse_spaces, refuse_top_k, unit
from refdesk.stores.revoking import Watch
from refdesk.stores.shelves import Shelf
from refdesk.stores.tables import Tables

SPARE = 20
"""Hits beyond those asked for, so that equal scores at the end can be put in order."""
CANDIDATES = 200
"""Hits beyond those asked for where the text index orders by older statistics; scores never do."""
CANDIDATES_PER_HIT = 3
WIDEN = 4
TIES = 1_000
"""Hits beyond those asked for that are read at most to put equal scores in order."""

Ask = Callable[[int], tuple[pa.Table, list[float]]]
"""Returns the best rows of a table, as many as asked for, with their scores."""


@dataclass(frozen=True, slots=True)
class Part:
    """One collection within a scope."""

    shelf: Shelf
    documents: int
    chunks: int
    tokens: int
    """Of all its documents, like the two above: scores follow from these."""
    shown: int
    """Documents that the scope may read."""
    shown_chunks: int

    @property
    def hides(self) -> bool:
        """Whether there are documents that the scope may not read."""
        return self.shown < self.documents


@dataclass(frozen=True, slots=True)
class State:
    """One published state within a scope: a transaction of the control file, and tables at its versions."""

    connection: sqlite3.Connection
    chunks: Tables
    parts: tuple[Part, ...]
    languages: tuple[str, ...]
    seen: Readable
    watch: Watch
    _readable: dict[int, list[int]] = field(default_factory=dict)
    _conditions: dict[int, pc.Expression] = field(default_factory=dict)
    """By collection, the conditions of searches without a filter: many documents take long to name."""

    @property
    def keys(self) -> list[int]:
        return [part.shelf.key for part in self.parts]

    def table(self, part: Part) -> Table:
        return self.chunks.at(part.shelf.folder, part.shelf.version)

    def look(self) -> None:
        """Notice what has been taken away since; every read begins with it."""
        if self.watch.sees_a_write():
            self.watch.look(self.connection, {part.shelf.key: self.readable(part) for part in self.parts})

    def readable(self, part: Part) -> list[int] | None:
        """Return the documents of a part that its state lets the scope read; None for all."""
        if not part.hides:
            return None
        key = part.shelf.key
        if key not in self._readable:
            self._readable[key] = acls.keys(self.connection, key, self.seen)
        return self._readable[key]

    def usual(self, part: Part, keys: Sequence[int]) -> pc.Expression | None:
        """Return the condition on the rows of all that may be read."""
        key = part.shelf.key
        if key not in self._conditions:
            self._conditions[key] = condition_on(self, part, keys)
        return self._conditions[key]

    def among(self, keys: Sequence[int]) -> set[int]:
        """Return those of some documents that the scope may read."""
        return acls.among(self.connection, keys, self.seen) - self.watch.revoked


def matching(state: State, filter: Filter | None) -> list[tuple[Part, list[int] | None]]:
    """Return all parts with the keys of their readable documents that match; None where that is all."""
    if filter is not None:
        filter_sql.refuse(state.connection, state.keys, state.seen, filter)
    return [(part, _matching(state, part, filter)) for part in state.parts]


def _matching(state: State, part: Part, filter: Filter | None) -> list[int] | None:
    revoked = state.watch.revoked
    if filter is not None:
        keys = filter_sql.select(state.connection, [part.shelf.key], state.seen, filter)
    elif (readable := state.readable(part)) is not None:
        keys = readable
    elif revoked:
        keys = records.all_keys(state.connection, part.shelf.key)
    else:
        return None
    return [key for key in keys if key not in revoked] if revoked else keys


def selected(state: State, filter: Filter | None) -> Iterator[tuple[Part, pc.Expression | None]]:
    """Yield the parts that hold matching chunks, with the condition on their rows; None where all match."""
    for part, keys in matching(state, filter):
        if part.chunks and keys is None:
            yield part, None
        elif part.chunks and keys:
            whole = filter is None and not state.watch.revoked
            yield part, state.usual(part, keys) if whole else condition_on(state, part, keys)


def condition_on(state: State, part: Part, matching: Sequence[int]) -> pc.Expression | None:
    """Name the documents that match or those that do not, whichever are fewer."""
    if len(matching) == part.documents:
        return None
    if 2 * len(matching) <= part.documents:
        return tables.only(matching)
    others = set(records.all_keys(state.connection, part.shelf.key)).difference(matching)
    return ~tables.only(sorted(others))


def by_vector(
    state: State, vector: NDArray[np.float32], *, top_k: int, filter: Filter | None
) -> tuple[Hit, ...]:
    """See `Reader.vector_search`."""
    refuse_top_k(top_k)
    query = unit(vector)
    found: list[Scored] = []
    for part, condition in selected(state, filter):
        _refuse_dimension(part.shelf, query)
        found += _near(state, part, query, top_k, condition)
    return ranked(found, top_k, "vector_score")


def _near(
    state: State, part: Part, query: NDArray[np.float32], top_k: int, condition: pc.Expression | None
) -> list[Scored]:
    exact = part.chunks < state.chunks.limits.exact_below

    def ask(limit: int) -> tuple[pa.Table, list[float]]:
        found = tables.nearest(
            state.table(part), rows.CHUNK_COLUMNS, query, top_k=limit, condition=condition, exact=exact
        )
        return found, [max(-1.0, min(1.0, 1.0 - each)) for each in found["_distance"].to_pylist()]

    return _best(state, ask, top_k, top_k + SPARE)


def widened(ask: Ask, top_k: int, limit: int) -> tuple[pa.Table, list[float]]:
    """Ask for `limit` rows, and for more as long as some that score as the last hit might be left out.

    Of more than `top_k + TIES` rows with one score, which come back is left to the index.
    """
    most = max(limit, top_k + TIES)
    found, scores = ask(limit)
    while len(scores) == limit < most and sorted(scores, reverse=True)[top_k - 1] <= min(scores):
        limit = min(limit * WIDEN, most)
        found, scores = ask(limit)
    return found, scores


def _best(state: State, ask: Ask, top_k: int, limit: int) -> list[Scored]:
    """Return the best hits of a table, with all that score as the last one does."""
    found, scores = widened(ask, top_k, limit)
    least = sorted(scores, reverse=True)[:top_k][-1:] or [0.0]
    chosen = [number for number, score in enumerate(scores) if score >= least[0]]
    return list(
        zip(
            (scores[number] for number in chosen),
            hits(state, found.take(pa.array(chosen, pa.int64()))),
            strict=True,
        )
    )


def _refuse_dimension(shelf: Shelf, query: NDArray[np.float32]) -> None:
    if shelf.dimension != len(query):
        raise EmbeddingMismatch(
            f"The query has {len(query)} dimensions, the collection {shelf.name!r} has {shelf.dimension}"
            f" ({shelf.fingerprint}).",
            remedy=f"Ask with the embedder that it was made with. {refusals.reembed(shelf.name)}",
        )


def by_keyword(state: State, tokens: Sequence[str], *, top_k: int, filter: Filter | None) -> tuple[Hit, ...]:
    """See `Reader.keyword_search`. Scores follow from all chunks in scope, filtered or not."""
    refuse_top_k(top_k)
    refuse_spaces(tokens)
    wanted = [token for token in tokens if token]
    if not wanted:
        return ()
    statistics = _statistics(state, wanted)
    known = [token for token in wanted if statistics.containing[token]]
    if not known:
        return ()
    found: list[Scored] = []
    for part, condition in selected(state, filter):
        found += _worded(state, part, known, statistics, top_k, condition)
    return ranked([each for each in found if each[0] > 0], top_k, "keyword_score")


def _worded(
    state: State,
    part: Part,
    tokens: Sequence[str],
    statistics: bm25.Statistics,
    top_k: int,
    condition: pc.Expression | None,
) -> list[Scored]:
    weighed = bm25.weights(tokens, statistics)
    columns = [*rows.CHUNK_COLUMNS, "tokens"]

    def ask(limit: int) -> tuple[pa.Table, list[float]]:
        found = tables.keyword(state.table(part), columns, tokens, top_k=limit, condition=condition)
        texts = found["tokens"].to_pylist()
        return found, [bm25.score(bm25.split(text), weighed, statistics) for text in texts]

    exact = len(state.parts) == 1 and part.shelf.ranks_exactly
    spare = SPARE if exact else max(CANDIDATES, CANDIDATES_PER_HIT * top_k)
    return _best(state, ask, top_k, top_k + spare)


def _statistics(state: State, wanted: Sequence[str]) -> bm25.Statistics:
    return bm25.Statistics(
        chunks=sum(part.chunks for part in state.parts),
        tokens=sum(part.tokens for part in state.parts),
        containing=ledger.containing(state.connection, state.keys, wanted),
    )


def hits(state: State, found: pa.Table) -> list[Hit]:
    """Return rows with the `CHUNK_COLUMNS` as hits without score."""
    sources = records.sources(state.connection, found["doc_key"].to_pylist())
    return [_hit(row, sources[row["doc_key"]]) for row in found.select(rows.CHUNK_COLUMNS).to_pylist()]


def _hit(row: Mapping[str, object], source: records.Source) -> Hit:
    return Hit(
        chunk=rows.chunk(row, document_id=source.document_id, collection=source.collection),
        title=source.title,
        url=source.url,
        source_id=source.source_id,
        metadata=source.metadata,
    )
