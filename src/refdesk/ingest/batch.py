"""Prepared documents that are stored together."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from refdesk.ingest.prepare import Prepared
from refdesk.sources import SourceGone
from refdesk.stores import Entry

CHUNKS = 256
"""Chunks after which a batch is written."""
DOCUMENTS = 128
"""Documents after which a batch is written."""
SECONDS = 15.0
"""Age after which a batch is written with the next document, so that an interruption costs little."""


@dataclass
class Batch:
    """Documents on their way into the store."""

    prepared: list[Prepared] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """Documents of which only title, url, metadata or ACL changed."""
    gone: list[str] = field(default_factory=list)
    """Sources that are deleted."""
    marks: dict[str, str] = field(default_factory=dict)
    """How far each followed source was read when all of this is stored."""
    began: float = field(default_factory=time.monotonic)

    def add(self, one: Prepared | Entry | SourceGone) -> None:
        match one:
            case Prepared():
                self.prepared.append(one)
            case Entry():
                self.entries.append(one)
            case SourceGone():
                self.gone.append(one.source_id)

    def holds(self, source_id: str) -> bool:
        """Tell whether something is to be done with a source."""
        return source_id in self._ids()

    def _ids(self) -> Iterator[str]:
        yield from (one.document.source_id for one in self.prepared)
        yield from (one.source_id for one in self.entries)
        yield from self.gone

    @property
    def full(self) -> bool:
        documents = len(self.prepared) + len(self.entries) + len(self.gone)
        many = documents >= DOCUMENTS or sum(len(one.texts) for one in self.prepared) >= CHUNKS
        return many or time.monotonic() - self.began > SECONDS
