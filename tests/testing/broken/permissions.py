"""Stores that show what is hidden, or hide what is not."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tests.testing.broken.wrapping import BROKEN, BrokenReader, BrokenStore, caught_by, with_readers

from refdesk.documents import PUBLIC, Hit, Scope
from refdesk.errors import NotFound
from refdesk.filters import Filter
from refdesk.stores import Entry, Reader, Remake, Store, StoredDocument
from refdesk.testing.stores import permissions, principals, revoking
from refdesk.testing.stores.permissions import EVERYTHING

ARMS = (
    *("vector_search", "keyword_search", "neighbours", "vectors", "token_vectors", "document", "chunks"),
    *("documents", "count", "languages"),
)


class Leaky(BrokenReader):
    """Forgets the ACL in one way to read."""

    def __init__(self, arm: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.arm = arm

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole if name == self.arm else self.reader, name)


def _leaking(arm: str) -> type[BrokenStore]:
    def leaky(*arguments: Any) -> BrokenReader:
        return Leaky(arm, *arguments)

    return with_readers(leaky)


BROKEN.extend((f"Leaky {arm}", _leaking(arm), permissions.an_acl_says_who_sees_a_document) for arm in ARMS)


def with_acl(stored: StoredDocument, acl: tuple[str, ...]) -> StoredDocument:
    return dataclasses.replace(stored, document=dataclasses.replace(stored.document, acl=acl))


def scoped(scope: Scope, *names: str) -> Scope:
    """Return a scope with other principals."""
    return Scope(scope.collections, names, upkeep=scope.upkeep)


@caught_by(permissions.an_empty_acl_is_hidden_from_everyone)
class TakesAnEmptyAclForPublic(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        opened = [with_acl(each, each.document.acl or (PUBLIC,)) for each in documents]
        await self.store.write(collection, opened, **space)


@caught_by(permissions.an_acl_says_who_sees_a_document)
class TakesNoPrincipalsForAll(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        return await self.store.reader(scope if scope.principals else Scope(scope.collections, upkeep=True))


@caught_by(permissions.upkeep_reads_whatever_the_acls_say)
class IgnoresUpkeep(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        return await self.store.reader(Scope(scope.collections, scope.principals))


@caught_by(permissions.hidden_is_worded_as_missing)
class SaysThatItIsForbidden(BrokenReader):
    async def document(self, document_id: str) -> Any:
        await self.whole.document(document_id)
        try:
            return await self.reader.document(document_id)
        except NotFound as error:
            raise NotFound(f"You may not read {document_id!r}.") from error


@caught_by(permissions.hidden_documents_do_not_shorten_a_list)
class HidesAfterTheSearch(BrokenReader):
    async def vector_search(self, vector: Any, *, top_k: int, filter: Filter | None = None) -> Any:
        seen = {each.document_id for each in await self.reader.documents()}
        found = await self.whole.vector_search(vector, top_k=top_k, filter=filter)
        return tuple(hit for hit in found if hit.chunk.document_id in seen)


@caught_by(permissions.scores_do_not_depend_on_who_asks)
class CountsWordsAmongWhatIsSeen(BrokenReader):
    async def keyword_search(self, tokens: Any, **asked: Any) -> Any:
        share = (await self.reader.count())[1] / ((await self.whole.count())[1] or 1)
        found = await self.reader.keyword_search(tokens, **asked)
        return tuple(
            dataclasses.replace(hit, keyword_score=share * (hit.keyword_score or 0)) for hit in found
        )


@caught_by(permissions.the_same_source_has_an_acl_in_each_collection)
class KnowsDocumentsBySourceOnly(BrokenReader):
    async def documents(self, **asked: Any) -> Any:
        seen = {each.source_id for each in await self.reader.documents()}
        return tuple(each for each in await self.whole.documents(**asked) if each.source_id in seen)


@caught_by(permissions.filters_select_among_what_is_seen)
class ForgetsTheAclWithAFilter(BrokenReader):
    async def keyword_search(self, tokens: Any, *, top_k: int, filter: Filter | None = None) -> Any:
        reader = self.whole if filter else self.reader
        return await reader.keyword_search(tokens, top_k=top_k, filter=filter)


@caught_by(permissions.a_clash_of_kinds_tells_nothing_of_hidden_documents)
class JudgesFiltersByAllDocuments(BrokenReader):
    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        await self.whole.count(filter)
        return await self.reader.count(filter)


@caught_by(permissions.pages_hold_only_what_is_seen)
class PagesBeforeItHides(BrokenReader):
    async def documents(self, **asked: Any) -> Any:
        seen = {each.document_id for each in await self.reader.documents()}
        return tuple(each for each in await self.whole.documents(**asked) if each.document_id in seen)


@caught_by(principals.ten_thousand_principals_may_ask)
class ReadsAThousandPrincipals(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        return await self.store.reader(scoped(scope, *scope.principals[:1_000]))


@caught_by(principals.principals_are_compared_exactly)
class IgnoresBlanksAroundPrincipals(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        return await self.store.reader(scoped(scope, *scope.principals, *map(str.strip, scope.principals)))


@caught_by(principals.principals_are_compared_exactly)
class IgnoresCaseOfPrincipals(BrokenStore):
    async def reader(self, scope: Scope) -> Reader:
        return await self.store.reader(scoped(scope, *scope.principals, *map(str.lower, scope.principals)))


@caught_by(principals.a_principal_with_nul_is_kept_or_refused)
class CutsPrincipalsAtNul(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        cut = [with_acl(each, tuple(name.split("\0")[0] for name in each.document.acl)) for each in documents]
        await self.store.write(collection, cut, **space)


@caught_by(revoking.an_acl_changes_through_update, revoking.maintenance_keeps_acls)
class UpdatesNoAcl(BrokenStore):
    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        old = await self.store.entries(collection)
        kept = [dataclasses.replace(each, acl=old[each.source_id].acl) for each in entries]
        await self.store.update(collection, kept)


@caught_by(revoking.an_update_of_something_else_keeps_the_acl)
class OpensWhatIsUpdated(BrokenStore):
    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        await self.store.update(collection, [dataclasses.replace(each, acl=(PUBLIC,)) for each in entries])


@caught_by(revoking.an_acl_changes_through_write)
class KeepsTheFirstAcl(BrokenStore):
    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        old = await self.store.entries(collection)
        names = [each.document.source_id for each in documents]
        kept = [
            with_acl(each, old[name].acl) if name in old else each
            for name, each in zip(names, documents, strict=True)
        ]
        await self.store.write(collection, kept, **space)


@caught_by(revoking.what_is_deleted_and_written_again_has_its_new_acl)
class RemembersAclsOfTheDeleted(BrokenStore):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.seen: dict[str, tuple[str, ...]] = {}

    async def write(self, collection: str, documents: Sequence[StoredDocument], **space: Any) -> None:
        for each in documents:
            self.seen.setdefault(each.document.source_id, each.document.acl)
        await self.store.write(
            collection, [with_acl(each, self.seen[each.document.source_id]) for each in documents], **space
        )


@caught_by(revoking.maintenance_keeps_acls)
class ForgetsAclsInMaintenance(BrokenStore):
    async def optimise(self, **_: Any) -> None:
        for each in await self.store.collections():
            entries = (await self.store.entries(each.name)).values()
            await self.store.update(each.name, [dataclasses.replace(one, acl=()) for one in entries])


@caught_by(revoking.a_revocation_reaches_an_open_reader_whole_or_not)
class RevokesInOneArm(BrokenStore):
    """Has the newest permissions in one search and those of the beginning in the other."""

    async def reader(self, scope: Scope) -> Any:
        first = await self.store.reader(scope)
        seen = {each.document_id for each in await first.documents()}
        return _HalfRevoked(seen, first, await self.store.reader(EVERYTHING), self.store, scope)


class _HalfRevoked(BrokenReader):
    def __init__(self, seen: set[str], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seen = seen

    async def vector_search(self, vector: Any, **asked: Any) -> Sequence[Hit]:
        return await (await self.store.reader(self.scope)).vector_search(vector, **asked)

    async def keyword_search(self, tokens: Any, **asked: Any) -> Sequence[Hit]:
        found = await self.whole.keyword_search(tokens, **asked)
        return [hit for hit in found if hit.chunk.document_id in self.seen]


@caught_by(revoking.readers_never_see_half_a_change)
class UpdatesOneByOne(BrokenStore):
    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        for each in entries:
            await self.store.update(collection, [each])


class ForgetfulRemake:
    """Puts the ACLs back that were when the remake began."""

    def __init__(self, remake: Remake, store: Store, collection: str, entries: Mapping[str, Entry]) -> None:
        self.remake, self.store, self.collection, self.entries = remake, store, collection, entries

    def __getattr__(self, name: str) -> Any:
        return getattr(self.remake, name)

    async def switch(self) -> bool:
        done = await self.remake.switch()
        now = await self.store.entries(self.collection)
        await self.store.update(
            self.collection,
            [dataclasses.replace(now[name], acl=each.acl) for name, each in self.entries.items()],
        )
        return done


@caught_by(revoking.a_remake_keeps_acls)
class RemakesOldAcls(BrokenStore):
    async def remake(self, collection: str, **space: Any) -> Any:
        entries = await self.store.entries(collection)
        return ForgetfulRemake(await self.store.remake(collection, **space), self.store, collection, entries)
