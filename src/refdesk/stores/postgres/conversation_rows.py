"""Conversations in an open transaction of Postgres. Times are ticks, see `refdesk.conversations.records`."""

from collections.abc import Sequence
from typing import LiteralString

from refdesk.conversations import (
    Conversation,
    Forgotten,
    KeptResults,
    Key,
    StoredMessage,
    Tally,
)
from refdesk.conversations.kept import title_of
from refdesk.conversations.limits import no_message
from refdesk.conversations.records import (
    EVER,
    cited,
    columns,
    dump,
    hits_of,
    load_results,
    load_text,
    message_in,
    ticks,
    time_of,
    without,
)
from refdesk.stores.postgres.connecting import Connection, one, rows

OF: LiteralString = "(%(user)s::text IS NULL OR user_name = %(user)s) AND used_at >= %(since)s"


async def find(connection: Connection, key: Key, since: int = EVER) -> int | None:
    """Return the row of a conversation that was used since a time."""
    found = await one(
        connection,
        "SELECT key FROM conversations WHERE digest = %s AND used_at >= %s",
        (key.digest, since),
    )
    return None if found is None else int(found[0])


async def used(connection: Connection, key: Key, at: int, since: int) -> tuple[int, int]:
    """Return a conversation's row, made where it is missing, and when it is used: never before it was."""
    await connection.execute(
        "DELETE FROM conversations WHERE key IN"
        " (SELECT key FROM conversations WHERE used_at < %s ORDER BY key FOR UPDATE SKIP LOCKED)",
        (since,),
    )
    found = await one(
        connection,
        "INSERT INTO conversations (digest, user_name, name, created_at, used_at)"
        " VALUES (%(digest)s, %(user)s, %(name)s, %(at)s, %(at)s) ON CONFLICT (digest) DO UPDATE"
        " SET used_at = greatest(conversations.used_at, excluded.used_at) RETURNING key, used_at",
        {"digest": key.digest, "user": key.user, "name": key.conversation, "at": at},
    )
    assert found is not None
    return int(found[0]), int(found[1])


async def messages(
    connection: Connection, key: Key, *, last: int | None, before: str, since: int
) -> tuple[StoredMessage, ...]:
    """Return the last messages, oldest first. Errors: `NotFound` for an unknown id."""
    row, below = await find(connection, key, since), 2**62
    if before:
        found = await one(
            connection,
            "SELECT key FROM conversation_messages WHERE conversation = %s AND id = %s",
            (row, before),
        )
        if found is None:
            raise no_message(key.conversation, before)
        below = found[0]
    newest_first = await rows(
        connection,
        "SELECT id, role, at, said, answer FROM conversation_messages WHERE conversation = %s AND key < %s"
        " ORDER BY key DESC LIMIT %s",
        (row, below, None if last is None else max(last, 0)),
    )
    return tuple(message_in(*found) for found in reversed(newest_first))


async def add(connection: Connection, row: int, added: Sequence[StoredMessage]) -> None:
    """Add messages, with what they cite; the first one gives the title."""
    await connection.execute(
        "UPDATE conversations SET title = %s WHERE key = %s"
        " AND NOT EXISTS (SELECT 1 FROM conversation_messages WHERE conversation = conversations.key)",
        (dump(title_of(added)), row),
    )
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO conversation_messages (conversation, id, role, at, said, answer)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            [(row, each.id, each.role, ticks(each.at), *columns(each)) for each in added],
        )
        await cursor.executemany(
            "INSERT INTO conversation_citations (document, message)"
            " SELECT %s, key FROM conversation_messages WHERE id = %s",
            [(name, each.id) for each in added for name in cited(each)],
        )


async def results(connection: Connection, row: int | None) -> tuple[KeptResults, ...]:
    found = await one(connection, "SELECT results FROM conversations WHERE key = %s", (row,))
    return () if found is None else load_results(found[0])


async def keep(connection: Connection, row: int, found: Sequence[KeptResults]) -> None:
    """Put results in the place of those before."""
    counted = hits_of(found)
    await connection.execute(
        "UPDATE conversations SET results = %s, hits = %s WHERE key = %s",
        (dump(found) if found else None, sum(counted.values()), row),
    )
    await connection.execute("DELETE FROM conversation_hits WHERE conversation = %s", (row,))
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO conversation_hits (document, conversation) VALUES (%s, %s)",
            [(name, row) for name in counted],
        )


async def page(
    connection: Connection, user: str | None, *, offset: int, limit: int, since: int
) -> tuple[Conversation, ...]:
    """List conversations, the one used last first."""
    found = await rows(
        connection,
        "SELECT user_name, name, title,"
        " (SELECT count(*) FROM conversation_messages WHERE conversation = conversations.key),"
        f" hits, created_at, used_at FROM conversations WHERE {OF}"
        " ORDER BY used_at DESC, key DESC LIMIT %(limit)s OFFSET %(offset)s",
        {"user": user, "since": since, "limit": limit, "offset": offset},
    )
    return tuple(_conversation(*each) for each in found)


def _conversation(
    user: str, name: str, title: str, messages: int, hits: int, created_at: int, used_at: int
) -> Conversation:
    return Conversation(
        user=user,
        name=name,
        title=load_text(title),
        messages=messages,
        hits=hits,
        created_at=time_of(created_at),
        used_at=time_of(used_at),
    )


async def count(connection: Connection, user: str | None, *, since: int) -> Tally:
    """Count what was used since a time."""
    found = await one(
        connection,
        "SELECT count(*), coalesce(sum((SELECT count(*) FROM conversation_messages"
        " WHERE conversation = conversations.key)), 0)::bigint, coalesce(sum(hits), 0)"
        f" FROM conversations WHERE {OF}",
        {"user": user, "since": since},
    )
    assert found is not None
    return Tally(conversations=found[0], messages=found[1], hits=found[2])


async def delete(connection: Connection, keys: Sequence[int]) -> Tally:
    """Delete conversations by row."""
    said = await connection.execute(
        "DELETE FROM conversation_messages WHERE conversation = ANY(%s)", (list(keys),)
    )
    gone = await rows(
        connection, "DELETE FROM conversations WHERE key = ANY(%s) RETURNING hits", (list(keys),)
    )
    return Tally(conversations=len(gone), messages=said.rowcount, hits=sum(hits for (hits,) in gone))


async def purge(connection: Connection, user: str | None, before: int) -> Tally:
    """Delete the conversations of a user, or of all, that were not used since a time."""
    found = await rows(
        connection,
        "SELECT key FROM conversations WHERE (%(user)s::text IS NULL OR user_name = %(user)s)"
        " AND used_at < %(before)s ORDER BY key FOR UPDATE",
        {"user": user, "before": before},
    )
    return await delete(connection, [row for (row,) in found])


async def forget(connection: Connection, documents: Sequence[str], *, answers: bool) -> Forgotten:
    """Delete hits of documents, and where asked for the answers that cite them."""
    names = frozenset(documents)
    holding = await rows(
        connection,
        "SELECT key FROM conversations WHERE key IN"
        " (SELECT conversation FROM conversation_hits WHERE document = ANY(%s)) ORDER BY key FOR UPDATE",
        (list(names),),
    )
    hits = 0
    for (row,) in holding:
        before = await results(connection, row)
        hits += sum(number for name, number in hits_of(before).items() if name in names)
        await keep(connection, row, without(before, names))
    citing = await rows(
        connection,
        "SELECT DISTINCT message FROM conversation_citations WHERE document = ANY(%s)",
        (list(names),),
    )
    if answers:
        holding += await rows(
            connection,
            "DELETE FROM conversation_messages WHERE key = ANY(%s) RETURNING conversation",
            ([key for (key,) in citing],),
        )
    await clear(connection, [row for (row,) in holding])
    return Forgotten(hits=hits, answers=len(citing))


async def clear(connection: Connection, keys: Sequence[int]) -> None:
    """Delete those conversations that have nothing in them."""
    await connection.execute(
        "DELETE FROM conversations WHERE key = ANY(%s) AND results IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM conversation_messages WHERE conversation = conversations.key)",
        (list(keys),),
    )
