"""How one ingestion is done."""

from collections.abc import Callable
from dataclasses import dataclass

from refdesk.events import IngestEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """How one ingestion is done; see `Desk.ingest`."""

    prune: bool = False
    full: bool = False
    dry_run: bool = False
    acl: tuple[str, ...] | None = None
    """Who may read what its source says nothing about; None where the call does not say it."""
    on_event: Callable[[IngestEvent], None] = lambda event: None
