"""Documents and what is known of them, a row per version. Functions over an open transaction."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from refdesk.documents import Document, Heading, Metadata, Page, document_id
from refdesk.stores import Entry, StoredDocument, bm25
from refdesk.stores import metadata as meta
from refdesk.stores.postgres.catalogue import Place
from refdesk.stores.postgres.connecting import Connection, rows
from refdesk.stores.postgres.texts import deflated, escaped, inflated, plain

_KNOWN = """
SELECT d.source_id, d.key FROM documents AS d JOIN records AS r ON r.document = d.key AND r.died IS NULL
WHERE d.collection = %s AND d.document_id = ANY(%s)
"""


async def known(connection: Connection, place: Place, source_ids: Iterable[str]) -> dict[str, int]:
    """Return the document keys of those sources that are stored."""
    named = [document_id(place.name, source_id) for source_id in source_ids]
    return {plain(source_id): key for source_id, key in await rows(connection, _KNOWN, (place.key, named))}


_IDENTIFY = """
WITH given AS (SELECT *
               FROM unnest(%(source_ids)s::text[], %(document_ids)s::text[]) AS g (source_id, document_id)),
     added AS (INSERT INTO documents (collection, source_id, document_id)
               SELECT %(collection)s, source_id, document_id FROM given
               ON CONFLICT DO NOTHING RETURNING source_id, key)
SELECT source_id, key FROM added
UNION ALL
SELECT d.source_id, d.key FROM documents AS d JOIN given AS g ON g.document_id = d.document_id
WHERE d.collection = %(collection)s
"""


async def identify(connection: Connection, place: Place, source_ids: Sequence[str]) -> dict[str, int]:
    """Return the document keys of sources; new ones get one."""
    given = {
        "collection": place.key,
        "source_ids": [escaped(each) for each in source_ids],
        "document_ids": [document_id(place.name, each) for each in source_ids],
    }
    return {plain(source_id): key for source_id, key in await rows(connection, _IDENTIFY, given)}


async def end(connection: Connection, keys: Sequence[int], generation: int, *, texts: bool = True) -> int:
    """Let what is known of documents end with a generation; return how many there were."""
    given = (generation, list(keys))
    ended = await connection.execute(
        "UPDATE records SET died = %s WHERE document = ANY(%s) AND died IS NULL", given
    )
    if texts:
        await connection.execute(
            "UPDATE texts SET died = %s WHERE document = ANY(%s) AND died IS NULL", given
        )
    await connection.execute("DELETE FROM remade WHERE document = ANY(%s)", (list(keys),))
    return ended.rowcount


_COLUMNS = (
    *(
        "document",
        "collection",
        "born",
        "title",
        "url",
        "media_type",
        "language",
        "metadata",
        "acl",
        "digest",
    ),
    *("pages", "headings", "warnings", "characters", "page_count", "chunks", "tokens", "updated_at"),
)
_ADD = (
    f"INSERT INTO records ({', '.join(_COLUMNS)}) VALUES ({', '.join(['%s'] * len(_COLUMNS))}) RETURNING key"
)


async def add(
    connection: Connection,
    place: Place,
    documents: Sequence[StoredDocument],
    keys: Mapping[str, int],
    generation: int,
) -> None:
    """Add what is known of documents from a generation on, with their texts and facts."""
    now = datetime.now(UTC)
    given = [
        _row(stored, keys[stored.document.source_id], place.key, generation, now) for stored in documents
    ]
    added = await returned(connection, _ADD, given)
    texts = [
        (row[0], generation, deflated(one.document.text)) for row, one in zip(given, documents, strict=True)
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany("INSERT INTO texts (document, born, text) VALUES (%s, %s, %s)", texts)
    metadata = [one.document.metadata for one in documents]
    await add_facts(connection, dict(zip(added, metadata, strict=True)))


async def returned(connection: Connection, statement: str, given: Sequence[Any]) -> list[int]:
    """Run a statement for each of some parameters; return the key that each gives, or those that give one."""
    keys: list[int] = []
    if not given:
        return keys
    async with connection.cursor() as cursor:
        await cursor.executemany(statement, given, returning=True)
        while True:
            keys += [key for (key,) in await cursor.fetchall()]
            if not cursor.nextset():
                return keys


def _row(stored: StoredDocument, key: int, collection: int, born: int, now: datetime) -> tuple[Any, ...]:
    document = stored.document
    tokens = sum(len(bm25.split(each)) for each in stored.tokens)
    return (
        *(key, collection, born),
        *_described(document.title, document.url),
        *(escaped(document.media_type), escaped(document.language)),
        *(meta.dump(document.metadata), [escaped(each) for each in document.acl], escaped(document.digest)),
        json.dumps([(page.number, page.start, page.end) for page in document.pages]),
        json.dumps([(each.level, each.title, each.start) for each in document.headings], ensure_ascii=False),
        json.dumps(document.warnings, ensure_ascii=False),
        *(len(document.text), len(document.pages), len(stored.chunks), tokens, now),
    )


def _described(title: str, url: str | None) -> tuple[str, str | None]:
    """Return title and url as they are kept."""
    return escaped(title), None if url is None else escaped(url)


async def add_facts(connection: Connection, by_record: Mapping[int, Metadata]) -> None:
    """Add the metadata of records as filters see it."""
    facts = {fact for record, metadata in by_record.items() for fact in _facts(record, metadata)}
    async with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY facts (record, key, kind, value_text, value_number) FROM STDIN (FORMAT binary)"
        ) as copy,
    ):
        copy.set_types(["int8", "text", "text", "text", "numeric"])
        for fact in facts:
            await copy.write_row(fact)


def _facts(record: int, metadata: Metadata) -> Iterator[tuple[int, str, str, str | None, Decimal | None]]:
    for key, kind, value in meta.facts(metadata):
        if kind == "empty":
            yield record, escaped(key), kind, None, None
        elif isinstance(value, str):
            yield record, escaped(key), kind, escaped(value), None
        else:
            yield record, escaped(key), kind, None, Decimal(value)


_KEPT = (
    *("document", "collection", "media_type", "language", "pages", "headings", "warnings", "characters"),
    *("page_count", "chunks", "tokens"),
)
_CHANGE = f"""
WITH old AS (UPDATE records SET died = %(generation)s
             WHERE document = %(document)s AND died IS NULL RETURNING *)
INSERT INTO records (born, title, url, metadata, acl, digest, updated_at, {", ".join(_KEPT)})
SELECT %(generation)s, %(title)s, %(url)s, %(metadata)s, %(acl)s, %(digest)s, %(now)s, {", ".join(_KEPT)}
FROM old RETURNING key
"""


async def change(
    connection: Connection, entries: Sequence[Entry], keys: Mapping[str, int], generation: int
) -> None:
    """Change title, url, metadata and ACL of documents from a generation on."""
    now = datetime.now(UTC)
    given = [_change(entry, keys[entry.source_id], generation, now) for entry in entries]
    changed = await returned(connection, _CHANGE, given)
    metadata = [entry.metadata for entry in entries]
    await add_facts(connection, dict(zip(changed, metadata, strict=True)))


def _change(entry: Entry, key: int, generation: int, now: datetime) -> dict[str, Any]:
    title, url = _described(entry.title, entry.url)
    return {
        "document": key,
        "generation": generation,
        "title": title,
        "url": url,
        "metadata": meta.dump(entry.metadata),
        "acl": [escaped(each) for each in entry.acl],
        "digest": escaped(entry.digest),
        "now": now,
    }


_DOCUMENTS = """
SELECT d.key, d.source_id, r.title, r.url, r.media_type, r.language, r.digest, r.metadata, r.acl, r.pages,
       r.headings, r.warnings, t.text
FROM documents AS d JOIN records AS r ON r.document = d.key AND r.died IS NULL
JOIN texts AS t ON t.document = d.key AND t.died IS NULL
WHERE d.key = ANY(%s)
"""


async def current(connection: Connection, place: Place, keys: Iterable[int]) -> dict[int, Document]:
    """Return documents with their texts, as they are now, by key."""
    found = await rows(connection, _DOCUMENTS, (list(keys),))
    return {row[0]: document(place.name, row[1:]) for row in found}


def document(collection: str, row: Sequence[Any]) -> Document:
    """Return a document from its row: source id, title, url ... warnings, deflated text."""
    source_id, title, url, media_type, language, digest = (each and plain(each) for each in row[:6])
    metadata, acl, pages, headings, warnings, text = row[6:]
    return Document(
        collection=collection,
        source_id=source_id,
        title=title,
        url=url,
        media_type=media_type,
        language=language,
        digest=digest,
        metadata=meta.load(metadata),
        acl=tuple(map(plain, acl)),
        pages=tuple(Page(*page) for page in json.loads(pages)),
        headings=tuple(Heading(*heading) for heading in json.loads(headings)),
        warnings=tuple(json.loads(warnings)),
        text=inflated(text),
    )
