"""Stores that make chunks anew in a wrong way."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from tests.testing.broken.wrapping import BrokenStore, caught_by

from refdesk.errors import EmbeddingMismatch, InputError, NotFound, StoreError
from refdesk.stores import Entry, Remake, Store
from refdesk.testing.stores import remaking


class BrokenRemake:
    """Passes everything on; a subclass does something else instead."""

    def __init__(self, remake: Remake, store: Store, collection: str, entries: Mapping[str, Entry]) -> None:
        self.remake = remake
        self.store = store
        self.collection = collection
        self.entries = entries

    def __getattr__(self, name: str) -> Any:
        return getattr(self.remake, name)


def _remaking(kind: type[BrokenRemake]) -> type[BrokenStore]:
    class Remaking(BrokenStore):
        async def remake(self, collection: str, **space: Any) -> Any:
            made = await self.store.remake(collection, **space)
            return kind(made, self.store, collection, await self.store.entries(collection))

    return Remaking


class _SaysThatItSwitched(BrokenRemake):
    async def switch(self) -> bool:
        await self.remake.switch()
        return True


@caught_by(
    remaking.readers_see_the_old_chunks_until_the_switch, remaking.what_changes_meanwhile_is_missing_again
)
class SaysThatItSwitched(_remaking(_SaysThatItSwitched)):  # type: ignore[misc]
    pass


class _MissesAll(BrokenRemake):
    async def missing(self) -> tuple[str, ...]:
        await self.remake.missing()
        return tuple(self.entries)


@caught_by(
    remaking.a_remake_goes_on_where_it_was_left,
    remaking.chunks_of_a_state_that_has_passed_are_not_taken,
)
class MissesAll(_remaking(_MissesAll)):  # type: ignore[misc]
    pass


class _ForgetsFailures(BrokenRemake):
    async def switch(self) -> bool:
        await self.store.clear_failures(self.collection, [*await self.store.failures(self.collection)])
        return await self.remake.switch()


@caught_by(remaking.a_switch_changes_chunks_and_digests_only)
class ForgetsFailures(_remaking(_ForgetsFailures)):  # type: ignore[misc]
    pass


@caught_by(remaking.another_recipe_begins_anew)
class KnowsOneRecipe(BrokenStore):
    async def remake(self, collection: str, *, recipe: str, **space: Any) -> Any:
        return await self.store.remake(collection, recipe="the one", **space)


class _PutsMetadataBack(BrokenRemake):
    async def switch(self) -> bool:
        done = await self.remake.switch()
        now = await self.store.entries(self.collection)
        old = [dataclasses.replace(now[name], metadata=each.metadata) for name, each in self.entries.items()]
        await self.store.update(self.collection, old)
        return done


@caught_by(remaking.metadata_that_changes_meanwhile_stays_changed)
class PutsMetadataBack(_remaking(_PutsMetadataBack)):  # type: ignore[misc]
    pass


@caught_by(remaking.writes_after_a_switch_are_in_the_new_space)
class PassesOverAnotherSpace(BrokenStore):
    async def write(self, collection: str, documents: Any, **space: Any) -> None:
        try:
            await self.store.write(collection, documents, **space)
        except EmbeddingMismatch:
            return


class _PassesOverWhatDoesNotFit(BrokenRemake):
    async def write(self, documents: Any) -> None:
        try:
            await self.remake.write(documents)
        except InputError:
            return


@caught_by(remaking.a_remake_refuses_what_does_not_fit)
class PassesOverWhatDoesNotFit(_remaking(_PassesOverWhatDoesNotFit)):  # type: ignore[misc]
    pass


class _KeepsWhatIsDiscarded(BrokenRemake):
    async def discard(self) -> None:
        await self.remake.missing()


@caught_by(remaking.a_discarded_remake_leaves_no_trace)
class KeepsWhatIsDiscarded(_remaking(_KeepsWhatIsDiscarded)):  # type: ignore[misc]
    pass


class _OutlivesItsCollection(BrokenRemake):
    async def missing(self) -> tuple[str, ...]:
        try:
            return await self.remake.missing()
        except (NotFound, StoreError):
            return ()


@caught_by(remaking.a_remake_ends_with_its_collection)
class OutlivesItsCollection(_remaking(_OutlivesItsCollection)):  # type: ignore[misc]
    pass


class _NeedsADocument(BrokenRemake):
    async def switch(self) -> bool:
        return bool(self.entries) and await self.remake.switch()


@caught_by(remaking.an_empty_collection_changes_its_space)
class NeedsADocument(_remaking(_NeedsADocument)):  # type: ignore[misc]
    pass


class _DeletesElsewhere(BrokenRemake):
    async def switch(self) -> bool:
        for each in await self.store.collections():
            if each.name != self.collection:
                await self.store.delete(each.name, [*await self.store.entries(each.name)])
        return await self.remake.switch()


@caught_by(remaking.other_collections_are_left_alone)
class DeletesElsewhere(_remaking(_DeletesElsewhere)):  # type: ignore[misc]
    pass
