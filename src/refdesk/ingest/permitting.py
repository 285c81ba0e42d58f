"""Who may read what an ingestion brings in: what the source says, else the ingestion, else what is known."""

from dataclasses import dataclass

from refdesk.documents import PUBLIC
from refdesk.principals import as_principals
from refdesk.sources import SourceItem
from refdesk.stores import Entry

UNREADABLE = "acl"
"""The reason of a source that says in a way that cannot be understood who may read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Who may read the documents of which their source does not say it."""

    said: tuple[str, ...] | None = None
    """What this ingestion says, also of documents that are stored already; None where it says nothing."""
    default: tuple[str, ...] = (PUBLIC,)
    """Of documents that are new, where nothing else says it."""

    def acl(self, item: SourceItem, entry: Entry | None) -> tuple[str, ...]:
        """Return who may read an item. Errors: `InputError` where its source says it unintelligibly."""
        if item.acl is not None:
            return as_principals(item.acl, f"The ACL of {item.source_id!r}")
        if self.said is not None:
            return self.said
        return self.default if entry is None else entry.acl

    def is_default(self, item: SourceItem, entry: Entry | None) -> bool:
        """Tell whether nothing but the default says who may read an item."""
        return item.acl is None and self.said is None and entry is None

    @property
    def usual(self) -> tuple[str, ...]:
        """Who may read new documents of which their source does not say it."""
        return self.default if self.said is None else self.said
