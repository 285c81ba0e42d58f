"""Documents in the control file. Plain functions over an open transaction."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from refdesk.documents import Document, DocumentRecord, Heading, Metadata, Page
from refdesk.stores import Entry, acls
from refdesk.stores import metadata as meta
from refdesk.stores.acls import Readable
from refdesk.stores.shelves import Shelf, marks

DEFLATE_LEVEL = 3


@dataclass(frozen=True, slots=True)
class Source:
    """What a hit says of its document."""

    document_id: str
    collection: str
    source_id: str
    title: str
    url: str | None
    metadata: Metadata


def keys(connection: sqlite3.Connection, shelf: Shelf, source_ids: Iterable[str]) -> dict[str, int]:
    """Return the document keys of those sources that are stored."""
    return {
        source_id: found[0]
        for source_id in source_ids
        if (
            found := connection.execute(
                "SELECT key FROM documents WHERE collection = ? AND source_id = ?", (shelf.key, source_id)
            ).fetchone()
        )
    }


def next_key(connection: sqlite3.Connection) -> int:
    """Return the first document key that was never used."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
    return int(found[0]) + 1 if found else 1


def put(
    connection: sqlite3.Connection, shelf: Shelf, key: int, document: Document, *, chunks: int, tokens: int
) -> None:
    """Add a document, or replace what is known of it."""
    connection.execute("DELETE FROM documents WHERE key = ?", (key,))
    connection.execute(
        "INSERT INTO documents (key, collection, source_id, document_id, title, url, media_type, language,"
        " metadata, digest, pages, headings, warnings, characters, page_count, chunks, tokens, updated_at,"
        " acl) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(key, shelf.key, document.source_id, document.document_id, document.title, document.url),
            *(document.media_type, document.language, meta.dump(document.metadata), document.digest),
            json.dumps([(page.number, page.start, page.end) for page in document.pages]),
            json.dumps([(one.level, one.title, one.start) for one in document.headings], ensure_ascii=False),
            json.dumps(document.warnings, ensure_ascii=False),
            *(len(document.text), len(document.pages), chunks, tokens, datetime.now(UTC).isoformat()),
            acls.put(connection, document.acl),
        ),
    )
    text = zlib.compress(document.text.encode(), DEFLATE_LEVEL)
    connection.execute("INSERT INTO texts (document, text) VALUES (?, ?)", (key, text))
    _put_facts(connection, key, document.metadata)


def _put_facts(connection: sqlite3.Connection, key: int, metadata: Metadata) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO facts (document, key, kind, value) VALUES (?, ?, ?, ?)",
        [(key, *fact) for fact in meta.facts(metadata)],
    )


def update(connection: sqlite3.Connection, key: int, entry: Entry) -> None:
    """Change title, url, metadata and ACL of a document."""
    connection.execute(
        "UPDATE documents SET title = ?, url = ?, metadata = ?, digest = ?, updated_at = ?, acl = ?"
        " WHERE key = ?",
        (
            *(entry.title, entry.url, meta.dump(entry.metadata), entry.digest),
            *(datetime.now(UTC).isoformat(), acls.put(connection, entry.acl), key),
        ),
    )
    connection.execute("DELETE FROM facts WHERE document = ?", (key,))
    _put_facts(connection, key, entry.metadata)


def remove(connection: sqlite3.Connection, keys: Iterable[int]) -> int:
    """Delete documents with text and facts; return how many there were."""
    return sum(connection.execute("DELETE FROM documents WHERE key = ?", (key,)).rowcount for key in keys)


_AMONG = "(SELECT value FROM json_each(?))"
"""Takes any number of keys as one parameter."""

_RECORD = (
    "SELECT d.document_id, c.name, d.source_id, d.title, d.url, d.media_type, d.language, d.metadata,"
    " d.digest, d.chunks, d.characters, d.page_count, d.updated_at, d.warnings, a.principals"
    " FROM documents AS d JOIN collections AS c ON c.key = d.collection JOIN acls AS a ON a.key = d.acl"
)


def listed(
    connection: sqlite3.Connection,
    collection: int,
    keys: Sequence[int] | None,
    *,
    offset: int,
    limit: int | None,
) -> list[DocumentRecord]:
    """Return documents of a collection by source id: all, or those with these keys."""
    among = "" if keys is None else f"AND +d.key IN {_AMONG}"  # the + keeps to the index by source id
    given = () if keys is None else (json.dumps(keys),)
    rows = connection.execute(
        f"{_RECORD} WHERE d.collection = ? {among} ORDER BY d.source_id LIMIT ? OFFSET ?",
        (collection, *given, -1 if limit is None else limit, offset),
    )
    return [_record(row) for row in rows]


def _record(row: Sequence[object]) -> DocumentRecord:
    names = ("document_id", "collection", "source_id", "title", "url", "media_type", "language")
    counts = ("digest", "chunks", "characters", "pages")
    return DocumentRecord(
        **dict(zip(names, row[:7], strict=True)),  # type: ignore[arg-type]
        metadata=meta.load(str(row[7])),
        acl=acls.load(str(row[14])),
        **dict(zip(counts, row[8:12], strict=True)),  # type: ignore[arg-type]
        updated_at=datetime.fromisoformat(str(row[12])),
        warnings=tuple(json.loads(str(row[13]))),
    )


def sources(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, Source]:
    """Return what hits say of their documents."""
    statement = (
        "SELECT d.document_id, c.name, d.source_id, d.title, d.url, d.metadata"
        " FROM documents AS d JOIN collections AS c ON c.key = d.collection WHERE d.key = ?"
    )
    found = {key: connection.execute(statement, (key,)).fetchone() for key in set(keys)}
    return {key: _source(row) for key, row in found.items()}


def _source(row: Sequence[Any]) -> Source:
    document_id, collection, source_id, title, url, metadata = row
    return Source(document_id, collection, source_id, title, url, meta.load(metadata))


def located(
    connection: sqlite3.Connection, collections: Sequence[int], seen: Readable, document_id: str
) -> tuple[int, int] | None:
    """Return the document's key and its collection's key, or None where it cannot be read in these."""
    return connection.execute(  # type: ignore[no-any-return]
        "SELECT key, collection FROM documents AS d"
        f" WHERE document_id = ? AND collection IN ({marks(collections)}) AND {seen.condition}",
        (document_id, *collections),
    ).fetchone()


def document(connection: sqlite3.Connection, key: int) -> Document:
    """Return a document with its text."""
    row = connection.execute(
        "SELECT c.name, d.source_id, d.title, d.url, d.media_type, d.language, d.digest, d.metadata, d.pages,"
        " d.headings, d.warnings, t.text, a.principals FROM documents AS d"
        " JOIN collections AS c ON c.key = d.collection JOIN acls AS a ON a.key = d.acl"
        " JOIN texts AS t ON t.document = d.key WHERE d.key = ?",
        (key,),
    ).fetchone()
    names = ("collection", "source_id", "title", "url", "media_type", "language", "digest")
    return Document(
        **dict(zip(names, row[:7], strict=True)),
        metadata=meta.load(row[7]),
        pages=tuple(Page(*page) for page in json.loads(row[8])),
        headings=tuple(Heading(*heading) for heading in json.loads(row[9])),
        warnings=tuple(json.loads(row[10])),
        text=zlib.decompress(row[11]).decode(),
        acl=acls.load(row[12]),
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """What the documents of a collection in one language come to."""

    language: str
    documents: int
    chunks: int
    tokens: int
    """Of all its chunks."""
    shown: int
    """Documents that may be read."""
    shown_chunks: int


def tallies(connection: sqlite3.Connection, collection: int, seen: Readable) -> list[Tally]:
    """Count the documents of a collection by language, in one pass."""
    found = connection.execute(
        "SELECT language, count(*), sum(chunks), sum(tokens),"
        f" sum({seen.condition}), sum(({seen.condition}) * chunks)"
        " FROM documents AS d WHERE collection = ? GROUP BY language",
        (collection,),
    )
    return [Tally(*row) for row in found]


def all_keys(connection: sqlite3.Connection, collection: int) -> list[int]:
    """Return the keys of all documents of a collection."""
    return [
        key for (key,) in connection.execute("SELECT key FROM documents WHERE collection = ?", (collection,))
    ]


def totals(connection: sqlite3.Connection, keys: Sequence[int]) -> tuple[int, int]:
    """Count documents and their chunks."""
    return connection.execute(  # type: ignore[no-any-return]
        f"SELECT count(*), coalesce(sum(chunks), 0) FROM documents WHERE key IN {_AMONG}", (json.dumps(keys),)
    ).fetchone()
