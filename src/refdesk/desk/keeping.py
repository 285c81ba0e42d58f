"""Where the conversations of a desk are kept."""

from collections.abc import Awaitable, Callable
from typing import Any

from refdesk.conversations import Conversations
from refdesk.conversations.names import conversations_for
from refdesk.places import in_database
from refdesk.plugins import load_late
from refdesk.settings import Settings

BESIDE = "refdesk.stores.postgres.conversing"
"""Keeps conversations in the database of a library."""


def conversations_of(settings: Settings, store: Callable[[], Awaitable[Any]]) -> Conversations:
    """Return what keeps conversations as settings say; `store` opens the library for writing when needed."""
    where, library, days = settings.conversations, settings.library, settings.conversation_days
    if where != "auto" or not in_database(library):
        return conversations_for(where, library=library, days=days)

    async def database() -> Any:
        return (await store()).database

    beside: Conversations = load_late(BESIDE).PostgresConversations(database, days=days)
    return beside
