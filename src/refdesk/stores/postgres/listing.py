"""Documents as the reader sees them: one with its text, lists, counts."""

import json
from collections.abc import Sequence
from datetime import UTC
from typing import Any

from refdesk.documents import Document, DocumentRecord, Heading, Page
from refdesk.errors import NotFound
from refdesk.filters import Filter
from refdesk.stores import metadata as meta
from refdesk.stores.postgres.connecting import Connection, one, rows
from refdesk.stores.postgres.filter_sql import Sql, joined
from refdesk.stores.postgres.selecting import RECORDS, filtered
from refdesk.stores.postgres.texts import escaped, inflated, plain
from refdesk.stores.postgres.view import Part, View, at, is_newest, seen, seen_anywhere


async def found(connection: Connection, view: View, document_id: str) -> tuple[int, Part] | None:
    """Return a document's key and its part, or None where it is not seen."""
    among = seen_anywhere(view)
    statement = f"SELECT d.key, d.collection FROM {RECORDS} WHERE d.document_id = %s AND ({among.text})"
    row = await one(connection, statement, (escaped(document_id), *among.parameters))
    return None if row is None else (row[0], view.part(row[1]))


async def located(connection: Connection, view: View, document_id: str) -> tuple[int, Part]:
    """Return a document's key and its part. Errors: `NotFound`, also where it is not seen."""
    place = await found(connection, view, document_id)
    if place is None:
        raise NotFound(f"There is no document {document_id!r} in the collections asked.")
    return place


async def document(connection: Connection, view: View, document_id: str) -> Document:
    """Return a document with its text. Errors: `NotFound`."""
    key, part = await located(connection, view, document_id)
    known, written = at("r", part.generation), at("t", part.generation)
    statement = (
        "SELECT d.source_id, r.title, r.url, r.media_type, r.language, r.digest, r.metadata, r.acl, r.pages,"
        " r.headings, r.warnings, t.text FROM records AS r JOIN documents AS d ON d.key = r.document"
        " JOIN texts AS t ON t.document = r.document"
        f" WHERE r.document = %s AND {known.text} AND {written.text}"
    )
    (row,) = await rows(connection, statement, (key, *known.parameters, *written.parameters))
    return _document(row, part)


def _document(row: Sequence[Any], part: Part) -> Document:
    names = ("source_id", "title", "url", "media_type", "language", "digest")
    metadata, acl, pages, headings, warnings, text = row[6:]
    return Document(
        collection=part.name,
        **{name: None if value is None else plain(value) for name, value in zip(names, row[:6], strict=True)},  # type: ignore[arg-type]
        metadata=meta.load(metadata),
        acl=tuple(map(plain, acl)),
        pages=tuple(Page(*page) for page in json.loads(pages)),
        headings=tuple(Heading(*heading) for heading in json.loads(headings)),
        warnings=tuple(json.loads(warnings)),
        text=inflated(text),
    )


async def listed(
    connection: Connection, view: View, filter: Filter | None, skip: int, limit: int | None
) -> tuple[DocumentRecord, ...]:
    """Return what is known of the documents, ordered by collection and source id."""
    passes, records = await filtered(connection, view, filter), list[DocumentRecord]()
    for part in sorted(view.parts, key=lambda each: each.name):
        among = joined("AND", (seen(view, part), passes))
        left = None if limit is None else limit - len(records)
        some = await page(connection, part, among, skip, left)
        if skip and not some:
            skip = max(0, skip - (await _totals(connection, among))[0])
        elif some:
            skip = 0
        records += some
    return tuple(records)


_RECORD = (
    "SELECT d.document_id, d.source_id, r.title, r.url, r.media_type, r.language, r.digest, r.metadata,"
    " r.acl, r.chunks, r.characters, r.page_count, r.updated_at, r.warnings"
    " FROM records AS r JOIN documents AS d ON d.key = r.document"
)


async def page(
    connection: Connection, part: Part, among: Sql, skip: int, limit: int | None
) -> list[DocumentRecord]:
    """Return documents of one part, ordered by source id."""
    statement = (
        f"{_RECORD} WHERE {among.text} ORDER BY left(d.source_id, 200), d.source_id LIMIT %s OFFSET %s"
    )
    found = await rows(connection, statement, (*among.parameters, limit, skip))
    return [_record(row, part) for row in found]


def _record(row: Sequence[Any], part: Part) -> DocumentRecord:
    names = ("document_id", "source_id", "title", "url", "media_type", "language", "digest")
    metadata, acl, chunks, characters, pages, updated_at, warnings = row[7:]
    return DocumentRecord(
        collection=part.name,
        **{name: None if value is None else plain(value) for name, value in zip(names, row[:7], strict=True)},  # type: ignore[arg-type]
        metadata=meta.load(metadata),
        acl=tuple(map(plain, acl)),
        chunks=chunks,
        characters=characters,
        pages=pages,
        updated_at=updated_at.astimezone(UTC),
        warnings=tuple(json.loads(warnings)),
    )


async def count(connection: Connection, view: View, filter: Filter | None) -> tuple[int, int]:
    """Count the matching documents and their chunks."""
    if filter is None and await is_newest(connection, view):
        return sum(part.documents for part in view.parts), sum(part.seen for part in view.parts)
    passes = await filtered(connection, view, filter)
    totals = [await _totals(connection, joined("AND", (seen(view, part), passes))) for part in view.parts]
    return sum(documents for documents, _ in totals), sum(chunks for _, chunks in totals)


async def _totals(connection: Connection, among: Sql) -> tuple[int, int]:
    statement = f"SELECT count(*), coalesce(sum(r.chunks), 0)::bigint FROM {RECORDS} WHERE {among.text}"
    ((documents, chunks),) = await rows(connection, statement, among.parameters)
    return documents, chunks
