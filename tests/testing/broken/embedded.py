"""Stores that mix up what vectors were made of."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tests.testing.broken.wrapping import BrokenStore, caught_by

from refdesk.errors import InputError, NotFound
from refdesk.stores import Embedded, Store, StoredDocument, VectorSet
from refdesk.testing.stores import embedded


@caught_by(
    embedded.what_was_made_of_a_text_comes_back,
    embedded.what_was_replaced_or_deleted_gives_no_vector,
    embedded.nothing_was_made_in_another_space_or_of_what_is_not_there,
)
class GivesWhatItEverMade(BrokenStore):
    """Keeps the vectors of all texts, without those of tokens, by nothing but the digest."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.made: dict[bytes, Embedded] = {}

    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        await self.store.write(collection, documents, **space)
        for each in documents:
            vectors = (Embedded(vector=one) for one in each.vectors)
            self.made |= dict(zip(each.digests, vectors, strict=False))

    async def embedded(self, collection: str, source_ids: Sequence[str], **space: Any) -> Any:
        await self.store.embedded(collection, source_ids, **space)
        return self.made


@caught_by(
    embedded.a_remake_is_counted_beside_what_is_searched,
    embedded.what_was_deleted_goes_from_a_remake_too,
)
class CountsWhatIsSearchedOnly(BrokenStore):
    async def vector_sets(self, collection: str) -> tuple[VectorSet, ...]:
        return tuple(each for each in await self.store.vector_sets(collection) if each.current)


@caught_by(embedded.vectors_are_counted_by_strategy, embedded.chunks_need_not_say_what_they_were_made_of)
class CountsOneStrategy(BrokenStore):
    async def vector_sets(self, collection: str) -> tuple[VectorSet, ...]:
        found = await self.store.vector_sets(collection)
        return tuple(dataclasses.replace(each, strategies=_joined(each.strategies)) for each in found)


def _joined(strategies: Mapping[str, int]) -> dict[str, int]:
    return {"titled:1": sum(strategies.values())}


@caught_by(embedded.digests_that_do_not_fit_are_refused)
class DropsDigestsThatDoNotFit(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        try:
            await self.store.write(collection, documents, **space)
        except (InputError, NotFound):
            bare = [dataclasses.replace(each, digests=()) for each in documents]
            await self.store.write(collection, bare, **space)
