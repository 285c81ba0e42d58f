"""Stores whose filters mean something else."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from tests.testing.broken.wrapping import BrokenReader, BrokenStore, caught_by

from refdesk.documents import Hit
from refdesk.errors import InputError
from refdesk.filters import And, Equals, Filter, In, Or
from refdesk.testing.stores import filtering, refusing, scripts


@caught_by(refusing.judges_a_filter_by_the_whole_scope, filtering.names_a_clash_of_kinds)
class TakesAClashForNothing(BrokenReader):
    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        try:
            return await self.reader.count(filter)
        except InputError:
            return 0, 0

    async def vector_search(self, vector: Any, **asked: Any) -> Sequence[Hit]:
        try:
            return await self.reader.vector_search(vector, **asked)
        except InputError:
            return ()


@caught_by(filtering.selects_what_the_filter_means, scripts.finds_odd_characters_by_filter)
class ComparesCaselessly(BrokenReader):
    async def vector_search(self, vector: Any, *, top_k: int, filter: Filter | None = None) -> Any:
        if isinstance(filter, Equals) and isinstance(filter.value, str):
            filter = Equals(filter.key, filter.value.strip().lower())
        return await self.reader.vector_search(vector, top_k=top_k, filter=filter)


@caught_by(filtering.selects_by_filters_of_any_form)
class TakesAnyForAll(BrokenReader):
    async def keyword_search(self, tokens: Any, *, top_k: int, filter: Filter | None = None) -> Any:
        given = And(filter.filters) if isinstance(filter, Or) and filter.filters else filter
        return await self.reader.keyword_search(tokens, top_k=top_k, filter=given)


@caught_by(filtering.takes_any_number_of_values)
class ReadsAHundredValues(BrokenReader):
    async def documents(self, *, filter: Filter | None = None, **asked: Any) -> Any:
        cut = In(filter.key, filter.values[:100]) if isinstance(filter, In) else filter
        return await self.reader.documents(filter=cut, **asked)


@caught_by(filtering.serves_top_k_under_selective_filters)
class FiltersAfterTheSearch(BrokenReader):
    async def vector_search(self, vector: Any, *, top_k: int, filter: Filter | None = None) -> Any:
        fit = {each.document_id for each in await self.reader.documents(filter=filter)}
        found = await self.reader.vector_search(vector, top_k=2 * top_k)
        return tuple(hit for hit in found if hit.chunk.document_id in fit)[:top_k]


@caught_by(filtering.refuses_metadata_it_cannot_keep)
class PassesOverUnfitDocuments(BrokenStore):
    async def write(self, collection: str, documents: Any, **space: Any) -> None:
        try:
            await self.store.write(collection, documents, **space)
        except InputError:
            return


@caught_by(filtering.gives_back_metadata_with_its_types)
class GivesTextsForDates(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        found = await self.reader.keyword_search(tokens, **asked)
        return [dataclasses.replace(hit, metadata={**hit.metadata, "when": "2025"}) for hit in found]
