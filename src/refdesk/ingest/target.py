"""What an ingestion needs of a store; see `refdesk.stores.Store` for what each call does."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from refdesk.documents import Collection, Scope
from refdesk.ingest.batch import Batch
from refdesk.stores import Entry, Failure


class Counting(Protocol):
    async def count(self) -> tuple[int, int]: ...


class Target(Protocol):
    """A store, or what stands for one where nothing is to be written."""

    async def collection(self, name: str) -> Collection: ...

    async def entries(self, collection: str) -> Mapping[str, Entry]: ...

    async def update(self, collection: str, entries: Sequence[Entry]) -> None: ...

    async def delete(self, collection: str, source_ids: Sequence[str]) -> Any: ...

    async def failures(self, collection: str) -> Mapping[str, Failure]: ...

    async def record_failures(self, collection: str, failures: Sequence[Failure]) -> None: ...

    async def clear_failures(self, collection: str, source_ids: Sequence[str]) -> None: ...

    async def cursors(self, collection: str) -> Mapping[str, str]: ...

    async def set_cursor(self, collection: str, source: str, cursor: str) -> None: ...

    async def reader(self, scope: Scope) -> Counting: ...

    async def optimise(self) -> None: ...


class BatchWriter(Protocol):
    """Embeds and stores batches."""

    @property
    def embedded(self) -> int: ...

    async def write(self, collection: str, batch: Batch) -> None: ...
