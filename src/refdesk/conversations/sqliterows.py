"""Conversations in an open transaction of SQLite. Times are ticks, see `refdesk.conversations.records`."""

import json
import sqlite3
from collections.abc import Sequence

from refdesk.conversations.kept import (
    Conversation,
    Forgotten,
    KeptResults,
    Key,
    StoredMessage,
    Tally,
    title_of,
)
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


def find(connection: sqlite3.Connection, key: Key, since: int) -> int | None:
    """Return the row of a conversation that was used since a time."""
    row = connection.execute(
        "SELECT key FROM conversations WHERE user = ? AND name = ? AND used_at >= ?",
        (key.user, key.conversation, since),
    ).fetchone()
    return None if row is None else int(row[0])


def used(connection: sqlite3.Connection, key: Key, at: int, since: int) -> tuple[int, int]:
    """Return a conversation's row, made where it is missing, and when it is used: never before it was."""
    expire(connection, since)
    row = connection.execute(
        "INSERT INTO conversations (user, name, created_at, used_at) VALUES (?1, ?2, ?3, ?3)"
        " ON CONFLICT (user, name) DO UPDATE SET used_at = max(used_at, excluded.used_at)"
        " RETURNING key, used_at",
        (key.user, key.conversation, at),
    ).fetchone()
    return int(row[0]), int(row[1])


def expire(connection: sqlite3.Connection, since: int) -> None:
    """Delete what was not used since a time."""
    connection.execute("DELETE FROM conversations WHERE used_at < ?", (since,))


def messages(
    connection: sqlite3.Connection, key: Key, *, last: int | None, before: str, since: int
) -> tuple[StoredMessage, ...]:
    """Return the last messages, oldest first. Errors: `NotFound` for an unknown id."""
    row = find(connection, key, since)
    below = 2**62
    if before:
        found = connection.execute(
            "SELECT key FROM messages WHERE conversation = ? AND id = ?", (row, before)
        ).fetchone()
        if found is None:
            raise no_message(key.conversation, before)
        below = found[0]
    rows = connection.execute(
        "SELECT id, role, at, text, answer FROM messages WHERE conversation = ? AND key < ?"
        " ORDER BY key DESC LIMIT ?",
        (row, below, -1 if last is None else max(last, 0)),
    ).fetchall()
    return tuple(message_in(*one) for one in reversed(rows))


def add(connection: sqlite3.Connection, row: int, added: Sequence[StoredMessage]) -> None:
    """Add messages, with what they cite; the first one gives the title."""
    connection.execute(
        "UPDATE conversations SET title = ? WHERE key = ?"
        " AND NOT EXISTS (SELECT 1 FROM messages WHERE conversation = conversations.key)",
        (dump(title_of(added)), row),
    )
    for one in added:
        key = connection.execute(
            "INSERT INTO messages (conversation, id, role, at, text, answer) VALUES (?, ?, ?, ?, ?, ?)",
            (row, one.id, one.role, ticks(one.at), *columns(one)),
        ).lastrowid
        connection.executemany(
            "INSERT INTO cited (document, message) VALUES (?, ?)", [(name, key) for name in cited(one)]
        )


def results(connection: sqlite3.Connection, row: int | None) -> tuple[KeptResults, ...]:
    found = connection.execute("SELECT results FROM conversations WHERE key = ?", (row,)).fetchone()
    return () if found is None else load_results(found[0])


def keep(connection: sqlite3.Connection, row: int, found: Sequence[KeptResults]) -> None:
    """Put results in the place of those before."""
    counted = hits_of(found)
    connection.execute(
        "UPDATE conversations SET results = ?, hits = ? WHERE key = ?",
        (dump(found) if found else None, sum(counted.values()), row),
    )
    connection.execute("DELETE FROM kept WHERE conversation = ?", (row,))
    connection.executemany(
        "INSERT INTO kept (document, conversation) VALUES (?, ?)", [(name, row) for name in counted]
    )


def page(
    connection: sqlite3.Connection, user: str | None, *, offset: int, limit: int, since: int
) -> tuple[Conversation, ...]:
    """List conversations, the one used last first."""
    rows = connection.execute(
        "SELECT user, name, title, (SELECT count(*) FROM messages WHERE conversation = conversations.key),"
        f" hits, created_at, used_at FROM conversations WHERE {_whose(user)} AND used_at >= ?2"
        " ORDER BY used_at DESC, key DESC LIMIT ?3 OFFSET ?4",
        (user, since, limit, offset),
    ).fetchall()
    return tuple(_conversation(*row) for row in rows)


def _whose(user: str | None) -> str:
    """Return the condition on the first parameter: an index serves one user, or all."""
    return "?1 IS NULL" if user is None else "user = ?1"


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


def count(connection: sqlite3.Connection, user: str | None, *, since: int, before: int) -> Tally:
    """Count what was used since a time and not since another."""
    counted = connection.execute(
        "SELECT count(*), coalesce(sum((SELECT count(*) FROM messages WHERE conversation ="
        " conversations.key)), 0), coalesce(sum(hits), 0) FROM conversations"
        f" WHERE {_whose(user)} AND used_at >= ?2 AND used_at < ?3",
        (user, since, before),
    ).fetchone()
    return Tally(conversations=counted[0], messages=counted[1], hits=counted[2])


def delete(connection: sqlite3.Connection, row: int) -> Tally:
    """Delete one conversation."""
    (said,) = connection.execute("SELECT count(*) FROM messages WHERE conversation = ?", (row,)).fetchone()
    (hits,) = connection.execute("DELETE FROM conversations WHERE key = ? RETURNING hits", (row,)).fetchone()
    return Tally(conversations=1, messages=said, hits=hits)


def purge(connection: sqlite3.Connection, user: str | None, before: int) -> Tally:
    """Delete the conversations of a user, or of all, that were not used since a time."""
    gone = count(connection, user, since=EVER, before=before)
    connection.execute(f"DELETE FROM conversations WHERE {_whose(user)} AND used_at < ?2", (user, before))
    return gone


def forget(connection: sqlite3.Connection, documents: Sequence[str], *, answers: bool) -> Forgotten:
    """Delete hits of documents, and where asked for the answers that cite them."""
    names, wanted = frozenset(documents), json.dumps(list(documents))
    holding = connection.execute(
        "SELECT DISTINCT conversation FROM kept WHERE document IN (SELECT value FROM json_each(?))", (wanted,)
    ).fetchall()
    hits = 0
    for (row,) in holding:
        before = results(connection, row)
        hits += sum(number for name, number in hits_of(before).items() if name in names)
        keep(connection, row, without(before, names))
    citing = connection.execute(
        "SELECT DISTINCT message FROM cited WHERE document IN (SELECT value FROM json_each(?))", (wanted,)
    ).fetchall()
    if answers:
        connection.executemany("DELETE FROM messages WHERE key = ?", citing)
    clear(connection)
    return Forgotten(hits=hits, answers=len(citing))


def clear(connection: sqlite3.Connection) -> None:
    """Delete conversations that have nothing in them."""
    connection.execute(
        "DELETE FROM conversations WHERE results IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM messages WHERE conversation = conversations.key)"
    )
