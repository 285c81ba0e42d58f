"""Where documents come from. A source lists its items without reading them all at once.

- `files`, `text`: files and folders, one text
- `records`: JSON and JSON lines
- `sql`: the rows of a query, followed as they change
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from refdesk.documents import Metadata, Strategy

VERSION_KEY = "source.version"
"""Metadata in which a followed source says of which version a document is."""


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
    all_metadata: bool = False
    """Whether `metadata` is all there is, whatever a parser finds in the data."""
    strategy: Strategy = "titled"
    """What is embedded with each of its chunks."""


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """One thing that could not be read; the others go on."""

    source_id: str
    reason: str
    message: str
    hides: str = ""
    """Beginning of the ids that could not be listed because of it; `prune` leaves documents with such ids."""


@dataclass(frozen=True, slots=True)
class SourceGone:
    """One thing that the source says is deleted."""

    source_id: str


@dataclass(frozen=True, slots=True)
class SourceMark:
    """What was listed before it is all there is up to this cursor of the source."""

    source: str
    cursor: str


@dataclass(frozen=True, slots=True)
class SourcePresent:
    """One thing that is there, and who may read it now."""

    source_id: str
    acl: tuple[str, ...]


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


@runtime_checkable
class Followed(Source, Protocol):
    """A source that knows what changed since it was read, and can tell what is there without its texts.

    Its cursors are texts of its own; the ingestion keeps them once all that was listed before is stored.
    """

    @property
    def name(self) -> str:
        """Under which its cursor is kept: small letters, digits, `.`, `_` and `-`."""
        ...

    @property
    def remove_at_most(self) -> float:
        """Share of the documents that may vanish at once unless `prune` confirms it."""
        ...

    def count_since(self, cursor: str) -> int:
        """Count what `changes` will list, for progress."""
        ...

    def changes(self, cursor: str) -> AsyncIterator[SourceItem | SourceFailure | SourceGone | SourceMark]:
        """List what changed since a cursor, everything where it is empty. Errors: `SourceError`."""
        ...

    def walks(self, cursor: str) -> bool:
        """Tell whether it is time to walk."""
        ...

    def walk(
        self, cursor: str, known: Mapping[str, str | None]
    ) -> AsyncIterator[SourcePresent | SourceFailure | SourceGone | SourceMark]:
        """List what is there now. The mark at the end says that it is all. Errors: `SourceError`.

        `known` are ids with the version that was read; None is for any.
        """
        ...

    def unknown(self) -> AsyncIterator[SourceItem | SourceFailure | SourceGone]:
        """List what the walk met and did not know, or not in this version."""
        ...
