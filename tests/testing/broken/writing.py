"""Stores that write, delete or note something else than they were told."""

import dataclasses
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from tests.testing.broken.wrapping import BrokenStore, caught_by

from refdesk.documents import Collection, DeleteReceipt, Document
from refdesk.errors import EmbeddingMismatch, InputError, NotFound
from refdesk.stores import StoredDocument
from refdesk.testing.stores import extremes, meanwhile, refusing, scoping, scripts, writing


@caught_by(
    writing.creates_a_collection_once,
)
class KeepsTheFirstDescription(BrokenStore):
    async def create(self, name: str, *, description: str = "") -> Collection:
        known = {each.name: each for each in await self.store.collections()}
        return known.get(name) or await self.store.create(name, description=description)


@caught_by(writing.names_the_nearest_collection)
class NamesNothing(BrokenStore):
    async def collection(self, name: str) -> Collection:
        try:
            return await self.store.collection(name)
        except NotFound:
            raise NotFound("There is none.") from None


@caught_by(writing.refuses_to_write_to_an_unknown_collection)
class CreatesWhatIsWritten(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        await self.store.create(collection)
        await self.store.write(collection, documents, **space)


@caught_by(
    meanwhile.readers_never_see_half_a_write,
    meanwhile.a_cancelled_write_is_whole_or_nothing,
    meanwhile.a_failed_write_changes_nothing,
    writing.writes_all_or_nothing,
)
class WritesOneByOne(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        for each in documents:
            await self.store.write(collection, [each], **space)


@caught_by(meanwhile.readers_never_see_half_a_write)
class DeletesBeforeItWrites(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        known = await self.store.entries(collection)
        names = [each.document.source_id for each in documents]
        await self.store.delete(collection, [name for name in names if name in known])
        await anyio.sleep(0.01)
        await self.store.write(collection, documents, **space)


@caught_by(meanwhile.writes_at_once_are_all_kept)
class DropsAWriteDuringAnother(BrokenStore):
    writing = False

    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        if not self.writing:
            self.writing = True
            await anyio.sleep(0.3)
            await self.store.write(collection, documents, **space)
            self.writing = False


def _changed(document: Callable[[StoredDocument], StoredDocument]) -> type[BrokenStore]:
    """Return a store that changes what it is given to keep."""

    class Changing(BrokenStore):
        async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
            await self.store.write(collection, [document(each) for each in documents], **space)

    return Changing


def _with_document(stored: StoredDocument, **changes: Any) -> StoredDocument:
    return dataclasses.replace(stored, document=dataclasses.replace(stored.document, **changes))


def _fewer(stored: StoredDocument, count: int) -> StoredDocument:
    return dataclasses.replace(
        stored,
        chunks=stored.chunks[:count],
        tokens=stored.tokens[:count],
        vectors=stored.vectors[:count],
        token_vectors=stored.token_vectors[:count],
    )


@caught_by(writing.gives_back_what_was_written, extremes.keeps_ten_thousand_chunks_of_a_document)
class LosesTheLastChunk(_changed(lambda stored: _fewer(stored, max(1, len(stored.chunks) - 1)))):  # type: ignore[misc]
    pass


@caught_by(writing.keeps_token_vectors)
class LosesTokenVectors(_changed(lambda stored: dataclasses.replace(stored, token_vectors=()))):  # type: ignore[misc]
    pass


@caught_by(refusing.keeps_all_that_a_document_has)
class LosesWarnings(_changed(lambda stored: _with_document(stored, warnings=()))):  # type: ignore[misc]
    pass


def _composed(document: Document) -> dict[str, Any]:
    return {"title": unicodedata.normalize("NFC", document.title).replace("\0", "")}


@caught_by(scripts.keeps_odd_characters_in_every_place)
class ComposesCharacters(_changed(lambda stored: _with_document(stored, **_composed(stored.document)))):  # type: ignore[misc]
    pass


@caught_by(extremes.keeps_a_document_without_chunks)
class DropsEmptyDocuments(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        await self.store.write(collection, [each for each in documents if each.chunks], **space)


def _cut(stored: StoredDocument, length: int) -> StoredDocument:
    document = dataclasses.replace(stored.document, text=stored.document.text[:length])
    fit = sum(chunk.end <= length for chunk in stored.chunks)
    return dataclasses.replace(_fewer(stored, fit), document=document)


@caught_by(
    extremes.keeps_a_document_of_ten_megabytes,
    extremes.keeps_a_chunk_of_ten_megabytes,
    extremes.keeps_empty_and_huge_chunks,
)
class CutsLongTexts(_changed(lambda stored: _cut(stored, 200_000))):  # type: ignore[misc]
    pass


def _is_plain(text: str) -> bool:
    return bool(text) and text.isascii()


@caught_by(extremes.a_text_of_blanks_is_found_by_vector_only, scripts.keeps_text_of_every_script)
class DropsOddChunks(
    _changed(lambda stored: stored if _is_plain(stored.document.text.strip()) else _fewer(stored, 0))  # type: ignore[misc]
):
    pass


@caught_by(
    refusing.refuses_half_characters_in_documents,
    refusing.refuses_half_characters_in_questions,
)
class RepairsHalfCharacters(BrokenStore):
    """Keeps something else than it was given, where it ought to refuse."""

    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        try:
            await self.store.write(collection, documents, **space)
        except InputError:
            return

    async def create(self, name: str, *, description: str = "") -> Collection:
        return await self.store.create(name.encode("utf-8", "replace").decode(), description=description)


@caught_by(writing.writing_again_changes_nothing)
class AddsWhatItHas(BrokenStore):
    """Keeps the old document under another name beside the new one."""

    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        known = await self.store.entries(collection)
        for each in documents:
            await self.store.write(collection, [each], **space)
            if each.document.source_id in known:
                name = f"{each.document.source_id} (2)"
                again = dataclasses.replace(each.document, source_id=name)
                moved = [dataclasses.replace(one, document_id=again.document_id) for one in each.chunks]
                copy = dataclasses.replace(each, document=again, chunks=tuple(moved))
                await self.store.write(collection, [copy], **space)


@caught_by(writing.replaces_all_chunks_of_a_document)
class ReplacesNothing(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        known = await self.store.entries(collection)
        new = [each for each in documents if each.document.source_id not in known]
        await self.store.write(collection, new, **space)


@caught_by(writing.keeps_equal_paragraphs_of_two_sources)
class KeepsEqualTextsOnce(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        once = {each.document.text: each for each in reversed(documents)}
        await self.store.write(collection, [*once.values()], **space)


@caught_by(writing.refuses_another_embedding_space)
class TakesAnySpace(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        known = (await self.store.collection(collection)).fingerprint
        await self.store.write(
            collection, documents, **{**space, "fingerprint": known or space["fingerprint"]}
        )


@caught_by(extremes.nothing_to_do_is_no_error)
class RefusesAnEmptyBatch(BrokenStore):
    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        if not source_ids:
            raise InputError("Cannot delete nothing.")
        return await self.store.delete(collection, source_ids)


@caught_by(scoping.a_blank_name_is_refused)
class TakesABlankName(BrokenStore):
    async def create(self, name: str, *, description: str = "") -> Collection:
        return await self.store.create(name or "unnamed", description=description)


@caught_by(scoping.a_query_of_another_dimension_is_refused_in_any_of_them)
class SearchesWhatFits(BrokenStore):
    async def reader(self, scope: Any) -> Any:
        reader = await self.store.reader(scope)

        class Fitting:
            def __getattr__(self, name: str) -> Any:
                return getattr(reader, name)

            async def vector_search(self, *arguments: Any, **asked: Any) -> Any:
                try:
                    return await reader.vector_search(*arguments, **asked)
                except EmbeddingMismatch:
                    return ()

        return Fitting()
