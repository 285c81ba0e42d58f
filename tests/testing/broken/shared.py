"""Stores that are right in one process and wrong in several. Each opens in any process."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
from tests.testing.broken.wrapping import BrokenStore

from refdesk.documents import Collection, DeleteReceipt
from refdesk.errors import InputError, NotFound
from refdesk.stores import Store, StoredDocument
from refdesk.stores.lance import open_lance
from refdesk.testing.stores import SharedCheck, processes


async def private(folder: Path) -> Store:
    """Open a store that every process has for itself."""
    return await open_lance(folder / f"{os.getpid()}")


class WritesOneByOne(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        for each in documents:
            await self.store.write(collection, [each], **space)
            await anyio.sleep(0.02)


async def one_by_one(folder: Path) -> Any:
    return WritesOneByOne(await open_lance(folder))


class AlwaysSaysOne(BrokenStore):
    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        try:
            return await self.store.delete(collection, source_ids)
        except NotFound:
            return DeleteReceipt(collection=collection, documents=1, chunks=1)


async def always_one(folder: Path) -> Any:
    return AlwaysSaysOne(await open_lance(folder))


class RefusesWhatIsThere(BrokenStore):
    async def create(self, name: str, *, description: str = "") -> Collection:
        if name in [each.name for each in await self.store.collections()]:
            raise InputError(f"There is a collection {name!r} already.")
        return await self.store.create(name, description=description)


async def refusing(folder: Path) -> Any:
    return RefusesWhatIsThere(await open_lance(folder))


BROKEN: Sequence[tuple[Callable[[Path], Any], SharedCheck]] = (
    (private, processes.two_processes_write_different_documents),
    (private, processes.a_process_sees_what_another_has_written),
    (one_by_one, processes.two_processes_write_the_same_documents),
    (one_by_one, processes.a_killed_writer_leaves_whole_batches),
    (always_one, processes.two_processes_delete_each_document_once),
    (refusing, processes.two_processes_create_one_collection),
)
