"""The tables below `chunks/`: opening, recovering, writing, searching.

A table has versions; the control file says which one is published. Writers make new versions and publish
last, readers open the published one, and what was never published is undone by the next writer.
"""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from refdesk.stores.engine import MatchQuery, Session, Table, open_table, translated, write_table
from refdesk.stores.indexes import Limits, index_tokens

NPROBES = 20
REFINE = 5
OPEN_TABLES = 8


class Tables:
    """The tables of one library, opened once per version; safe to share between threads."""

    def __init__(self, root: Path, limits: Limits) -> None:
        self.root = root
        self.limits = limits
        self._session = Session()
        self._open: dict[tuple[str, int], Table] = {}

    def at(self, folder: str, version: int) -> Table:
        """Open a version of a table. Errors: `StoreError`."""
        known = self._open.get((folder, version))
        if known is None:
            with translated(f"open version {version} of the chunks in {str(self.root / folder)!r}"):
                known = open_table(self.root / folder, version=version, session=self._session)
            for oldest in list(self._open)[: max(0, len(self._open) - OPEN_TABLES + 1)]:
                self._open.pop(oldest, None)
            self._open[folder, version] = known
        return known

    def recovered(self, folder: str, published: int) -> Table | None:
        """Return the table as it was published, undoing anything later; None before the first publication."""
        path = self.root / folder
        if published == 0:
            shutil.rmtree(path, ignore_errors=True)
            return None
        with translated(f"recover the chunks in {str(path)!r}"):
            table = open_table(path, version=published)
            if _latest(path, published) != published:
                table.restore()  # type: ignore[no-untyped-call]
            return open_table(path)

    def append(self, folder: str, rows: pa.Table) -> Table:
        """Add rows, making the table where there is none, and columns that an older one lacks."""
        path = self.root / folder
        with translated(f"write chunks in {str(path)!r}"):
            fresh = not path.exists()
            if not fresh:
                _widen(open_table(path), rows.schema)
            table = write_table(rows, path, mode="create" if fresh else "append")
            if fresh:
                index_tokens(table)
            return table

    def drop(self, folder: str) -> None:
        """Remove a table with all its versions."""
        shutil.rmtree(self.root / folder, ignore_errors=True)


def _widen(table: Table, schema: pa.Schema) -> None:
    lacking = [field for field in schema if field.name not in table.schema.names]
    if lacking:
        table.add_columns(lacking)


def _latest(path: Path, published: int) -> int:
    """Return the newest version; a newer one that a crash of the machine left unreadable is discarded."""
    for manifest in (path / "_versions").glob("*.manifest"):
        version = _version(manifest)
        if version > published and not _readable(path, version):
            manifest.unlink()
    return int(open_table(path).version)


def _readable(path: Path, version: int) -> bool:
    """Tell whether a manifest can be read; Lance takes one full of zeros for version 0."""
    try:
        return bool(open_table(path, version=version).version == version)
    except (OSError, ValueError):
        return False


def _version(manifest: Path) -> int:
    """Return the version that a manifest's name says; names count down from the largest 64-bit number."""
    return 2**64 - 1 - int(manifest.stem)


def only(keys: Sequence[int]) -> pc.Expression:
    """Return the condition that a row belongs to one of these documents."""
    return pc.field("doc_key").isin(pa.array(keys, pa.int64()))


def between(key: int, first: int, last: int | None) -> pc.Expression:
    """Return the condition that a row is a chunk of a document between two positions, both included."""
    within = only([key]) & (pc.field("position") >= first)
    return within if last is None else within & (pc.field("position") <= last)


def named(chunk_ids: Sequence[str]) -> pc.Expression:
    """Return the condition that a row is one of these chunks."""
    return pc.field("chunk_id").isin(pa.array(chunk_ids, pa.string()))


def older(keys: Sequence[int], generation: int) -> pc.Expression:
    """Return the condition that a row of these documents was written before a generation."""
    return only(keys) & (pc.field("generation") < generation)


def delete(table: Table, condition: pc.Expression) -> None:
    """Delete rows, making a new version."""
    with translated("delete chunks"):
        table.delete(condition)


def scan(table: Table, columns: Sequence[str], condition: pc.Expression | None = None) -> pa.Table:
    """Return the rows that meet a condition."""
    with translated("read chunks"):
        return table.scanner(columns=list(columns), filter=condition).to_table()


def nearest(
    table: Table,
    columns: Sequence[str],
    vector: NDArray[np.float32],
    *,
    top_k: int,
    condition: pc.Expression | None,
    exact: bool,
) -> pa.Table:
    """Return the rows nearest to a unit vector, with `_distance` = 1 - cosine."""
    search: dict[str, object] = {"column": "vector", "q": vector, "k": top_k, "metric": "dot"}
    search |= {"use_index": False} if exact else {"minimum_nprobes": NPROBES, "refine_factor": REFINE}
    with translated("search by vector"):
        return table.scanner(
            columns=[*columns, "_distance"], nearest=search, filter=condition, prefilter=True
        ).to_table()


def keyword(
    table: Table,
    columns: Sequence[str],
    tokens: Iterable[str],
    *,
    top_k: int,
    condition: pc.Expression | None,
) -> pa.Table:
    """Return rows that hold a token, best first by the statistics of the index, with `_score`."""
    with translated("search by keyword"):
        return table.scanner(
            columns=[*columns, "_score"],
            full_text_query=MatchQuery(" ".join(tokens), "tokens"),
            filter=condition,
            prefilter=True,
            limit=top_k,
        ).to_table()
