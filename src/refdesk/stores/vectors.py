"""The vectors that a library holds: by the text that they were made of, and counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from refdesk.stores import Embedded, VectorSet, control, records, rows, shelves, successors, tables
from refdesk.stores.engine import Table
from refdesk.stores.shelves import Shelf
from refdesk.stores.tables import Tables

EMBEDDED = ("digest", "vector", "token_vectors", "token_count")


def embedded(
    folder: Path, chunks: Tables, collection: str, source_ids: Sequence[str], fingerprint: str
) -> dict[bytes, Embedded]:
    """Return what was made of texts; see `Store.embedded`."""
    with control.reading(folder) as connection:
        shelf = shelves.shelf(connection, collection)
        keys = list(records.keys(connection, shelf, source_ids).values())
    table = _table(chunks, shelf)
    if table is None or shelf.fingerprint != fingerprint or not keys or "digest" not in table.schema.names:
        return {}
    return _by_digest(tables.scan(table, EMBEDDED, tables.only(keys) & pc.field("digest").is_valid()))


def _table(chunks: Tables, shelf: Shelf) -> Table | None:
    return chunks.at(shelf.folder, shelf.version) if shelf.version else None


def _by_digest(found: pa.Table) -> dict[bytes, Embedded]:
    vectors = rows.matrix(found["vector"])
    late = (found[name].to_pylist() for name in ("token_vectors", "token_count"))
    return {
        digest: Embedded(
            vector=vector,
            token_vectors=None if data is None else rows.token_vectors(data, count, len(vector)),
        )
        for digest, vector, data, count in zip(found["digest"].to_pylist(), vectors, *late, strict=True)
    }


def counted(folder: Path, chunks: Tables, collection: str) -> tuple[VectorSet, ...]:
    """Count the vectors of a collection; see `Store.vector_sets`."""
    with control.reading(folder) as connection:
        shelf = shelves.shelf(connection, collection)
        made = successors.of(connection, shelf)
        missing = len(successors.missing(connection, shelf)) if made else 0
        noted = list(successors.noted(connection, made)) if made else []
    found = [] if not shelf.version else [(shelf, True, 0)]
    found += [] if made is None else [(made, False, missing)]
    return tuple(
        VectorSet(
            fingerprint=each.fingerprint,
            current=current,
            strategies=_strategies(_table(chunks, each), None if current else noted),
            missing=lacking,
        )
        for each, current, lacking in found
    )


def _strategies(table: Table | None, of: Sequence[int] | None) -> Mapping[str, int]:
    """Count the chunks of a table by strategy, all or those of some documents."""
    if table is None:
        return {}
    told = "strategy" in table.schema.names
    found = tables.scan(table, ["strategy" if told else "doc_key"], None if of is None else tables.only(of))
    if not told:
        return {"": found.num_rows} if found.num_rows else {}
    counts = pc.value_counts(found["strategy"]).to_pylist()
    return {one["values"] or "": one["counts"] for one in counts}
