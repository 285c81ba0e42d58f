"""Where documents come from. A source lists its items without reading them all at once."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from refdesk.documents import Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """One thing to ingest. Exactly one of `data` (bytes to parse) and `text` (already text) is given."""

    source_id: str
    """Identity inside the collection: the path relative to the folder, a URL, or an id of the caller's."""
    name: str
    """File name, for its suffix; may equal the source id."""
    data: bytes | None = None
    text: str | None = None
    title: str = ""
    url: str | None = None
    media_type: str = ""
    language: str = ""
    metadata: Metadata = field(default_factory=dict)
    acl: tuple[str, ...] | None = None
    """Principals that may read it; None where the source knows none, and the ingestion says it."""


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """One thing that could not be read; the others go on."""

    source_id: str
    reason: str
    message: str
    hides: str = ""
    """Beginning of the ids that could not be listed because of it; `prune` leaves documents with such ids."""


@runtime_checkable
class Source(Protocol):
    """List what there is to ingest."""

    def count(self) -> int:
        """Count the items, for progress."""
        ...

    def items(self) -> AsyncIterator[SourceItem | SourceFailure]: ...

    def covers(self, source_id: str, url: str | None) -> bool:
        """Tell whether this source would list a document if it still existed; `prune` removes only such."""
        ...
