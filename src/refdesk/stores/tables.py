"""The Lance tables below `chunks/`: the one file that calls Lance.

A table has versions; the control file says which one is published. Writers make new versions and publish
last, readers open the published one, and what was never published is undone by the next writer.
"""

import os

os.environ.setdefault("LANCE_LOG", "error")  # read when the library is loaded, else it warns per query

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lance.query import MatchQuery
from numpy.typing import NDArray

from refdesk.errors import StoreError

EXACT_BELOW = 20_000
"""Rows up to which a full scan finds neighbours as fast as an index would, and exactly."""
MERGE_BELOW = 100_000
"""Rows up to which the text index is merged into one at every maintenance; above, parts are added."""
MOST_PARTS = 8
MOST_TAIL = 5_000
"""Rows without index that a search still scans fast enough."""
NPROBES = 20
REFINE = 5
OPEN_TABLES = 8

Table = lance.LanceDataset

DAMAGED = "Restore the library from a backup, or delete the collection and ingest again."


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn what Lance raises into `StoreError`."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, NotImplementedError, pa.ArrowException) as error:
        raise StoreError(f"Cannot {what}: {str(error).splitlines()[0][:300]}", remedy=DAMAGED) from error


class Tables:
    """The tables of one library, opened once per version; safe to share between threads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._session = lance.Session()  # type: ignore[attr-defined]
        self._open: dict[tuple[str, int], Table] = {}

    def at(self, folder: str, version: int) -> Table:
        """Open a version of a table. Errors: `StoreError`."""
        known = self._open.get((folder, version))
        if known is None:
            with translated(f"open version {version} of the chunks in {str(self.root / folder)!r}"):
                known = lance.dataset(self.root / folder, version=version, session=self._session)
            for oldest in list(self._open)[: len(self._open) - OPEN_TABLES + 1]:
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
            table = lance.dataset(path, version=published)
            if _latest(path, published) != published:
                table.restore()  # type: ignore[no-untyped-call]
            return lance.dataset(path)

    def append(self, folder: str, rows: pa.Table) -> Table:
        """Add rows, making the table where there is none."""
        path = self.root / folder
        with translated(f"write chunks in {str(path)!r}"):
            fresh = not path.exists()
            table = lance.write_dataset(rows, path, mode="create" if fresh else "append")
            if fresh:
                _index_tokens(table)
            return table

    def drop(self, folder: str) -> None:
        """Remove a table with all its versions."""
        shutil.rmtree(self.root / folder, ignore_errors=True)


def _latest(path: Path, published: int) -> int:
    """Return the newest version; a newer one that a crash of the machine left unreadable is discarded."""
    for manifest in (path / "_versions").glob("*.manifest"):
        version = _version(manifest)
        if version > published and not _readable(path, version):
            manifest.unlink()
    return int(lance.dataset(path).version)


def _readable(path: Path, version: int) -> bool:
    """Tell whether a manifest can be read; Lance takes one full of zeros for version 0."""
    try:
        return bool(lance.dataset(path, version=version).version == version)
    except (OSError, ValueError):
        return False


def _version(manifest: Path) -> int:
    """Return the version that a manifest's name says; names count down from the largest 64-bit number."""
    return 2**64 - 1 - int(manifest.stem)


def _index_tokens(table: Table) -> None:
    table.create_scalar_index(
        "tokens",
        "INVERTED",
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        with_position=False,
        max_token_length=None,
    )


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


def shorten_tail(table: Table) -> None:
    """Add new rows to the indexes, as parts of their own, when scanning them would take too long."""
    if _tail(table) > MOST_TAIL:
        with translated("add to the indexes"):
            table.optimize.optimize_indices(num_indices_to_merge=0)


def _tail(table: Table) -> int:
    """Return the rows that the text index does not cover."""
    covered = sum(index.num_rows_indexed for index in _indexes(table, "tokens"))
    return int(table.count_rows() - covered)


def _parts(table: Table, column: str) -> int:
    """Return of how many parts the index of a column consists; 0 without an index."""
    return sum(len(index.segments) for index in _indexes(table, column))


def _indexes(table: Table, column: str) -> list[Any]:
    return [index for index in table.describe_indices() if index.field_names == [column]]


def optimise(table: Table) -> None:
    """Join small files, drop deleted rows, bring every index up to date; makes new versions."""
    with translated("optimise the chunks"):
        table.optimize.compact_files(materialize_deletions_threshold=0.2)
        if table.count_rows() >= EXACT_BELOW:
            _index_rows(table)
        merge = table.count_rows() < MERGE_BELOW or _parts(table, "tokens") > MOST_PARTS
        table.optimize.optimize_indices(**({} if merge else {"num_indices_to_merge": 0}))


def _index_rows(table: Table) -> None:
    """Make the indexes that only a large table needs."""
    if not _parts(table, "vector"):
        table.create_index("vector", "IVF_RQ", metric="dot")
    for column in ("doc_key", "chunk_id"):
        if not _parts(table, column):
            table.create_scalar_index(column, "BTREE")


def clean(table: Table, kept: Iterable[int]) -> None:
    """Remove all versions but the newest and those to keep, with the files that only they need."""
    stays = {*kept, table.version}
    gone = [each["version"] for each in table.versions() if each["version"] not in stays]
    if gone:
        with translated("remove old versions of the chunks"):
            table.cleanup_old_versions(versions=gone, error_if_tagged_old_versions=False)
