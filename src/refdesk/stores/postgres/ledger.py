"""What is stored and what failed, by source. Functions over an open transaction."""

from collections.abc import Iterable, Sequence

from refdesk.documents import document_id
from refdesk.stores import Entry, Failure
from refdesk.stores import metadata as meta
from refdesk.stores.postgres.catalogue import Place
from refdesk.stores.postgres.connecting import Connection, rows
from refdesk.stores.postgres.texts import escaped, plain

_ENTRIES = """
SELECT d.source_id, r.digest, r.chunks, r.metadata, r.title, r.url, r.acl
FROM records AS r JOIN documents AS d ON d.key = r.document
WHERE r.collection = %s AND r.died IS NULL ORDER BY d.source_id
"""


async def entries(connection: Connection, place: Place) -> dict[str, Entry]:
    """Return the ledger of a collection by source id."""
    found = await rows(connection, _ENTRIES, (place.key,))
    return {entry.source_id: entry for entry in (_entry(*row) for row in found)}


def _entry(
    source_id: str, digest: str, chunks: int, metadata: str, title: str, url: str | None, acl: Sequence[str]
) -> Entry:
    return Entry(
        source_id=plain(source_id),
        digest=plain(digest),
        chunks=chunks,
        metadata=meta.load(metadata),
        title=plain(title),
        url=None if url is None else plain(url),
        acl=tuple(map(plain, acl)),
    )


async def failures(connection: Connection, place: Place) -> dict[str, Failure]:
    """Return the noted failures of a collection by source id."""
    found = await rows(
        connection,
        "SELECT source_id, reason, message FROM failures WHERE collection = %s ORDER BY source_id",
        (place.key,),
    )
    noted = [Failure(source_id=plain(a), reason=plain(b), message=plain(c)) for a, b, c in found]
    return {each.source_id: each for each in noted}


async def note_failures(connection: Connection, place: Place, failed: Sequence[Failure]) -> None:
    """Note failures; the last of a source counts."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO failures (collection, document_id, source_id, reason, message)"
            " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (collection, document_id)"
            " DO UPDATE SET reason = excluded.reason, message = excluded.message",
            [
                (
                    *(place.key, document_id(place.name, each.source_id)),
                    *(escaped(each.source_id), escaped(each.reason), escaped(each.message)),
                )
                for each in failed
            ],
        )


async def clear_failures(connection: Connection, place: Place, source_ids: Iterable[str]) -> int:
    """Remove the notes of sources; return how many there were."""
    removed = await connection.execute(
        "DELETE FROM failures WHERE collection = %s AND document_id = ANY(%s)",
        (place.key, [document_id(place.name, each) for each in source_ids]),
    )
    return removed.rowcount


async def cursors(connection: Connection, place: Place) -> dict[str, str]:
    """Return how far each followed source has been read."""
    found = await rows(connection, "SELECT source, cursor FROM cursors WHERE collection = %s", (place.key,))
    return {plain(source): plain(cursor) for source, cursor in found}


async def set_cursor(connection: Connection, place: Place, source: str, cursor: str) -> None:
    """Note how far a source has been read; an empty cursor removes the note."""
    named = (place.key, escaped(source))
    await connection.execute("DELETE FROM cursors WHERE collection = %s AND source = %s", named)
    if cursor:
        await connection.execute("INSERT INTO cursors VALUES (%s, %s, %s)", (*named, escaped(cursor)))
