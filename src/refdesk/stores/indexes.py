"""The indexes of a table, and its maintenance."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from refdesk.stores.engine import Table, translated


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes at which the store changes its ways, in rows of one table."""

    exact_below: int = 20_000
    """Up to here a full scan finds neighbours as fast as an index would, and exactly."""
    rebuild_below: int = 100_000
    """Up to here maintenance makes the text index anew; above, it adds parts."""
    tail: int = 5_000
    """Rows without index that a search still scans fast enough."""
    parts: int = 8
    """Parts of an index before they are joined."""
    deleted: float = 0.2
    """Share of a file's rows that may be deleted before the file is written anew."""


def index_tokens(table: Table) -> None:
    """Make the text index: tokens as they are, separated by white space."""
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


def shorten_tail(table: Table, limits: Limits) -> None:
    """Add new rows to the indexes, as parts of their own, when scanning them would take too long."""
    if _tail(table) > limits.tail:
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


def optimise(table: Table, limits: Limits, *, ranks_exactly: bool) -> bool:
    """Join small files, drop deleted rows, bring every index up to date; makes new versions where needed.

    Returns whether the text index now knows all rows and no others, so that its order is that of BM25.
    """
    with translated("optimise the chunks"):
        if table.count_rows() >= limits.exact_below:
            _index_rows(table)
        if ranks_exactly:
            _compact(table, limits)
            return True
        if table.count_rows() < limits.rebuild_below:
            _rebuild(table, limits)
            return True
        _extend(table, limits)
        return False


def _compact(table: Table, limits: Limits) -> None:
    table.optimize.compact_files(materialize_deletions_threshold=limits.deleted)


def _rebuild(table: Table, limits: Limits) -> None:
    """Make the text index anew; files are joined meanwhile, since an index keeps apart what it covers."""
    for index in _indexes(table, "tokens"):
        table.drop_index(index.name)
    _compact(table, limits)
    index_tokens(table)
    table.optimize.optimize_indices()


def _extend(table: Table, limits: Limits) -> None:
    """Add new rows to the indexes, and join an index of too many parts."""
    parts = _parts(table, "tokens")
    table.optimize.optimize_indices(num_indices_to_merge=parts if parts >= limits.parts else 0)
    _compact(table, limits)


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
