"""Where the conversations of a desk are kept."""

from collections.abc import Awaitable, Callable
from typing import Any

from refdesk.conversations import Conversations
from refdesk.conversations.names import conversations_for
from refdesk.errors import NotFound
from refdesk.places import in_database
from refdesk.plugins import load_late
from refdesk.settings import Settings

BESIDE = "refdesk.stores.postgres.conversing"
"""Keeps conversations in the database of a library."""


def conversations_of(
    settings: Settings, reading: Callable[[], Awaitable[Any]], writing: Callable[[], Awaitable[Any]]
) -> Conversations:
    """Return what keeps conversations as settings say.

    Two functions open the library when it is needed: for reading, `NotFound` where there is none, and for
    writing, which makes it.
    """
    where, library, days = settings.conversations, settings.library, settings.conversation_days
    if where != "auto" or not in_database(library):
        return conversations_for(where, library=library, days=days)

    async def database() -> Any:
        return (await writing()).database

    async def existing() -> Any:
        try:
            return (await reading()).database
        except NotFound:
            return None

    beside: Conversations = load_late(BESIDE).PostgresConversations(database, existing, days=days)
    return beside
