"""Stores whose receipts and ledgers are wrong."""

import dataclasses
from collections.abc import Mapping, Sequence

from tests.testing.broken.wrapping import BrokenStore, caught_by

from refdesk.documents import DeleteReceipt
from refdesk.stores import Entry, Failure, Store
from refdesk.testing.stores import extremes, noting, scoping, writing


@caught_by(
    writing.a_delete_says_what_went_and_it_is_gone,
    writing.a_receipt_counts_each_kind_by_itself,
    writing.a_source_named_twice_is_deleted_once,
)
class CountsWhatWasAsked(BrokenStore):
    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        receipt = await self.store.delete(collection, source_ids)
        return dataclasses.replace(receipt, documents=len(source_ids), chunks=len(source_ids))


@caught_by(writing.a_delete_says_what_went_and_it_is_gone, extremes.writes_and_deletes_thousands_at_once)
class NamesNoneOfTheDeleted(BrokenStore):
    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        return dataclasses.replace(await self.store.delete(collection, source_ids), source_ids=())


@caught_by(writing.a_delete_of_something_unknown_deletes_nothing)
class DeletesWhatItKnows(BrokenStore):
    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        known = await self.store.entries(collection)
        return await self.store.delete(collection, [name for name in source_ids if name in known])


@caught_by(writing.drops_a_collection, scoping.any_name_names_one_collection)
class EmptiesWhatItShouldDrop(BrokenStore):
    async def drop(self, name: str) -> DeleteReceipt:
        return await self.store.delete(name, [*await self.store.entries(name)])


@caught_by(noting.the_ledger_says_what_is_stored)
class ListsNoAcl(BrokenStore):
    async def entries(self, collection: str) -> Mapping[str, Entry]:
        found = await self.store.entries(collection)
        return {name: dataclasses.replace(each, acl=()) for name, each in found.items()}


@caught_by(
    noting.notes_failures_until_the_source_is_written_or_deleted,
    noting.a_failure_leaves_the_stored_document,
)
class NeverForgetsAFailure(BrokenStore):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.noted: dict[str, Failure] = {}

    async def record_failures(self, collection: str, failures: Sequence[Failure]) -> None:
        await self.store.record_failures(collection, failures)
        self.noted |= {each.source_id: each for each in failures}

    async def failures(self, collection: str) -> Mapping[str, Failure]:
        return {**await self.store.failures(collection), **self.noted}


@caught_by(noting.updates_metadata_without_the_text)
class UpdatesTitlesOnly(BrokenStore):
    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        old = await self.store.entries(collection)
        kept = [dataclasses.replace(each, metadata=old[each.source_id].metadata) for each in entries]
        await self.store.update(collection, kept)


@caught_by(noting.notes_how_far_a_source_was_read)
class SharesCursors(BrokenStore):
    """Keeps one cursor for all collections."""

    async def cursors(self, collection: str) -> Mapping[str, str]:
        names = [each.name for each in await self.store.collections()]
        return {key: each for name in names for key, each in (await self.store.cursors(name)).items()}
