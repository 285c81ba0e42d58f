"""Readers that find, filter, list or count something else than what is stored."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import anyio
from tests.testing.broken.wrapping import BrokenReader, BrokenStore, caught_by

from refdesk.documents import Chunk, Document, Hit, Scope
from refdesk.errors import InputError, NotFound, StoreError
from refdesk.filters import Filter
from refdesk.stores import Reader
from refdesk.testing.stores import (
    extremes,
    keywords,
    listing,
    meanwhile,
    permissions,
    reading,
    remaking,
    revoking,
    scoping,
    scripts,
)


@caught_by(
    meanwhile.a_reader_keeps_the_state_it_was_opened_in,
    meanwhile.a_reader_outlasts_a_drop_or_fails,
    meanwhile.many_readers_may_be_open,
    meanwhile.pages_stay_whole_while_others_write,
    revoking.a_grant_does_not_reach_an_open_reader,
    revoking.new_text_for_others_never_reaches_an_open_reader,
    remaking.a_reader_keeps_the_chunks_it_was_opened_on,
)
class AlwaysReadsTheNewest(BrokenReader):
    """Opens the state anew for every search."""

    def __getattr__(self, name: str) -> Any:
        async def read(*arguments: Any, **asked: Any) -> Any:
            return await getattr(await self.store.reader(self.scope), name)(*arguments, **asked)

        return getattr(self.reader, name) if name == "languages" else read


@caught_by(meanwhile.searches_at_once_do_not_mix)
class KeepsItsQuestionInItself(BrokenReader):
    async def vector_search(self, vector: Any, **asked: Any) -> Sequence[Hit]:
        self.question = vector
        await anyio.sleep(0.001)
        return await self.reader.vector_search(self.question, **asked)


@caught_by(meanwhile.readers_never_see_two_spaces, meanwhile.readers_never_see_half_a_write)
class OpensItsArmsOneAfterTheOther(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        await anyio.sleep(0.01)
        return await (await self.store.reader(self.scope)).keyword_search(tokens, **asked)


@caught_by(reading.an_empty_collection_has_nothing)
class FailsWhereThereIsNothing(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        if await self.reader.count() == (0, 0):
            raise StoreError("There is no index yet.")
        return await self.reader.keyword_search(tokens, **asked)


@caught_by(
    reading.an_unknown_collection_is_an_error,
    scoping.an_unknown_collection_opens_no_reader,
    remaking.a_remake_ends_with_its_collection,
)
class PassesOverUnknownCollections(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        known = {each.name for each in await self.store.collections()}
        names = tuple(name for name in scope.collections if name in known)
        return await self.store.reader(Scope(names, scope.principals, upkeep=scope.upkeep))

    async def drop(self, name: str) -> Any:
        receipt = await self.store.drop(name)
        await self.store.create(name)
        return receipt


@caught_by(scoping.no_collection_shows_nothing, reading.nothing_outside_the_scope_can_be_read)
class TakesOneCollectionForAll(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        await self.store.reader(scope)
        names = tuple(each.name for each in await self.store.collections())
        return await self.store.reader(Scope(names, scope.principals, upkeep=scope.upkeep))


@caught_by(scoping.a_collection_named_twice_counts_once)
class CountsCollectionsTwice(BrokenReader):
    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        documents, chunks = await self.reader.count(filter)
        times = len(self.scope.collections) / len({*self.scope.collections})
        return int(documents * times), int(chunks * times)


@caught_by(scoping.many_collections_stay_apart)
class ReadsTenCollections(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        return await self.store.reader(Scope(scope.collections[:10], scope.principals, upkeep=scope.upkeep))


@caught_by(reading.several_collections_are_searched_together, reading.equal_scores_have_one_order)
class RanksBackwards(BrokenReader):
    async def vector_search(self, vector: Any, **asked: Any) -> Sequence[Hit]:
        return tuple(reversed(await self.reader.vector_search(vector, **asked)))


@caught_by(reading.vector_scores_are_cosines)
class ScoresByLength(BrokenReader):
    async def vector_search(self, vector: Any, **asked: Any) -> Sequence[Hit]:
        length = float((vector**2).sum() ** 0.5)
        found = await self.reader.vector_search(vector, **asked)
        return [dataclasses.replace(hit, vector_score=(hit.vector_score or 0) * length) for hit in found]


@caught_by(reading.a_vector_without_direction_scores_nothing)
class FindsOnlyWhatPointsSomewhere(BrokenReader):
    async def vector_search(self, vector: Any, **asked: Any) -> Sequence[Hit]:
        found = await self.reader.vector_search(vector, **asked)
        return tuple(hit for hit in found if hit.vector_score)


@caught_by(reading.refuses_impossible_searches, keywords.no_token_finds_nothing)
class TakesTheImpossibleForNothing(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        try:
            return await self.reader.keyword_search(tokens, **asked)
        except InputError:
            return ()


@caught_by(reading.gives_the_neighbours_of_a_chunk)
class LeavesOutTheChunkItself(BrokenReader):
    async def neighbours(self, chunk: Chunk, **asked: Any) -> Any:
        return tuple(each for each in await self.reader.neighbours(chunk, **asked) if each != chunk)


@caught_by(reading.maintenance_changes_no_result)
class LosesAWordInMaintenance(BrokenStore):
    async def optimise(self, **_: Any) -> None:
        await self.store.optimise()
        for each in await self.store.collections():
            await self.store.delete(each.name, [*await self.store.entries(each.name)][:1])


@caught_by(
    listing.lists_documents_in_pages,
    listing.lists_several_collections_in_pages,
)
class PagesOverlap(BrokenReader):
    async def documents(self, *, offset: int = 0, **asked: Any) -> Any:
        return await self.reader.documents(offset=max(0, offset - 1), **asked)


@caught_by(listing.lists_documents_by_code_points)
class ListsAsALanguageOrders(BrokenReader):
    async def documents(self, *, offset: int = 0, limit: int | None = None, **asked: Any) -> Any:
        found = await self.reader.documents(**asked)
        ordered = sorted(found, key=lambda each: (each.collection.lower(), each.source_id.lower()))
        return tuple(ordered[offset : None if limit is None else offset + limit])


@caught_by(listing.counts_in_the_store, listing.counts_follow_every_change)
class CountsChunksForDocuments(BrokenReader):
    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        _, chunks = await self.reader.count(filter)
        return chunks, chunks


@caught_by(listing.names_languages_by_frequency)
class NamesLanguagesByName(BrokenReader):
    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted(self.reader.languages, reverse=True))


@caught_by(
    keywords.scores_are_bm25_after_any_writes,
    keywords.several_collections_share_their_statistics,
    remaking.readers_see_the_old_chunks_until_the_switch,
)
class ScoresAlmostAsBm25(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        found = await self.reader.keyword_search(tokens, **asked)
        return [dataclasses.replace(hit, keyword_score=1.001 * (hit.keyword_score or 0)) for hit in found]


@caught_by(keywords.a_filter_does_not_change_scores)
class ScoresAmongTheFiltered(BrokenReader):
    async def keyword_search(self, tokens: Any, *, top_k: int, filter: Filter | None = None) -> Any:
        found = await self.reader.keyword_search(tokens, top_k=top_k, filter=filter)
        scale = 0.5 if filter else 1.0
        return tuple(
            dataclasses.replace(hit, keyword_score=scale * (hit.keyword_score or 0)) for hit in found
        )


@caught_by(keywords.query_syntax_has_no_meaning, scripts.texts_that_look_alike_are_different)
class ReadsTokensLoosely(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        loose = [token.strip("*+-~").lower().replace("\u200b", "") for token in tokens]
        return await self.reader.keyword_search(loose, **asked)


@caught_by(keywords.a_frequent_word_still_counts)
class HasStopWords(BrokenReader):
    async def keyword_search(self, tokens: Sequence[str], **asked: Any) -> Sequence[Hit]:
        return await self.reader.keyword_search([each for each in tokens if each != "the"], **asked)


@caught_by(scripts.a_question_may_hold_any_character)
class FailsAtNul(BrokenReader):
    async def vectors(self, chunk_ids: Sequence[str]) -> Any:
        if any("\0" in each for each in chunk_ids):
            raise StoreError("A string literal cannot contain NUL (0x00) characters.")
        return await self.reader.vectors(chunk_ids)


@caught_by(extremes.keeps_ten_thousand_chunks_of_a_document)
class ReadsAThousandChunks(BrokenReader):
    async def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        return (await self.reader.chunks(document_id))[:1_000]


@caught_by(permissions.an_acl_says_who_sees_a_document)
class HidesTextsOfTheSeen(BrokenReader):
    async def document(self, document_id: str) -> Document:
        found = await self.reader.document(document_id)
        if found.acl != ("public",):
            raise NotFound(f"There is no document {document_id!r} in the collections asked.")
        return found
