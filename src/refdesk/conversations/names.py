"""The setting `conversations` to what keeps them."""

from typing import Literal

from refdesk.conversations import Conversations
from refdesk.conversations.memory import MemoryConversations
from refdesk.conversations.nothing import NoConversations
from refdesk.conversations.sqlite import SQLiteConversations
from refdesk.conversations.sqlitefile import FILE
from refdesk.places import files_beside

Where = Literal["auto", "memory", "none"]
"""Beside the library, in this process, or nowhere."""


def conversations_for(where: Where, *, library: str, days: float = 0.0) -> Conversations:
    """Return what keeps conversations, without opening anything yet. Errors: `InputError`."""
    if where == "none":
        return NoConversations()
    if where == "memory":
        return MemoryConversations(days=days)
    return SQLiteConversations(files_beside(library).absolute() / FILE, days=days)
