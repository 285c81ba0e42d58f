"""What sources list, on its way to be prepared."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from refdesk.events import SourceFinished
from refdesk.ingest.storing import DUPLICATE
from refdesk.sources import SourceFailure, SourceGone, SourceItem, SourceMark
from refdesk.stores import Entry

T = TypeVar("T")

Listed = SourceItem | SourceFailure | SourceGone | SourceMark | Entry | SourceFinished


async def all_of(listed: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """Yield what a source lists, and close it even where this ends early."""
    close = getattr(listed, "aclose", None)
    try:
        async for item in listed:
            yield item
    finally:
        if close is not None:
            await close()


def is_text(text: str) -> bool:
    """Tell text without lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def passed_on(item: Listed) -> Entry | SourceFinished | SourceGone | SourceMark:
    """Return what comes of what needs no preparing; of an item, that it is listed twice or has no name."""
    match item:
        case SourceMark() | Entry() | SourceFinished():
            return item
        case _ if not is_text(item.source_id):
            return _nameless(item.source_id)
        case SourceFailure():
            return SourceFinished(item.source_id, "failed", 0, item.reason, item.message)
        case SourceGone():
            return item
    message = f"The source lists {item.source_id!r} twice; the first one was taken."
    return SourceFinished(item.source_id, "failed", 0, DUPLICATE, message)


def _nameless(source_id: str) -> SourceFinished:
    shown = source_id.encode("utf-8", "backslashreplace").decode()
    return SourceFinished(shown, "failed", 0, "damaged", f"The id {shown!r} is not valid Unicode text.")
