"""A store that is written and read at random, beside a model that says who may read what."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from anyio.from_thread import start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from refdesk.documents import PUBLIC, Scope
from refdesk.stores import Reader, Store, StoredDocument
from refdesk.testing.stores.arms import assert_sees, shown
from refdesk.testing.stores.samples import DIMENSION, FINGERPRINT, sample

T = TypeVar("T")
Name = tuple[str, str]
"""Collection and source id."""
Model = Mapping[Name, StoredDocument]

COLLECTIONS = ("default", "other")
PRINCIPALS = ("anna", "bert", "Anna")
NAMES = st.tuples(st.sampled_from(COLLECTIONS), st.sampled_from("abc"))
WATCHED = 3
"""Open readers that are looked at after every change."""
ACLS = st.one_of(
    st.sampled_from(((PUBLIC,), (), *((name,) for name in PRINCIPALS))),
    st.lists(st.sampled_from((*PRINCIPALS, PUBLIC)), unique=True, max_size=3).map(tuple),
)
TEXTS = st.lists(st.sampled_from(("words one", "words two here", "rare", "more words")), max_size=3)
LANGUAGES = st.sampled_from(("en", "de", "und"))
SCOPES = st.builds(
    Scope,
    st.sampled_from((COLLECTIONS, ("default",), ("other",), ())),
    st.lists(st.sampled_from(PRINCIPALS), unique=True, max_size=2).map(tuple),
)


def readable(stored: StoredDocument, scope: Scope) -> bool:
    """Tell what the model says of a document."""
    return stored.document.collection in scope.collections and bool(
        scope.readers.intersection(stored.document.acl)
    )


@dataclass(frozen=True)
class Open:
    """A reader with what it could see when it was opened."""

    reader: Reader
    scope: Scope
    state: Model


class AclMachine(RuleBasedStateMachine):
    """Writes, changes, deletes, remakes and reads; every read is held against the model."""

    def __init__(self, opening: Callable[[], Awaitable[Store]]) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.portal = self.stack.enter_context(start_blocking_portal())
        self.store = self.portal.call(opening)
        self.stack.callback(self.portal.call, self.store.aclose)
        self.model: dict[Name, StoredDocument] = {}
        self.ever: list[StoredDocument] = []
        self.recipes = 0
        self.opened: list[Open] = []
        self.changed = False
        for name in COLLECTIONS:
            self.do(self.store.create, name)

    def teardown(self) -> None:
        self.stack.close()

    def do(self, call: Callable[..., Awaitable[T]], *args: Any, **options: Any) -> T:
        async def work() -> T:
            return await call(*args, **options)

        return self.portal.call(work)

    def keep(self, stored: StoredDocument) -> None:
        document = stored.document
        self.model[document.collection, document.source_id] = stored
        self.ever.append(stored)
        self.changed = True

    @rule(
        wanted=st.dictionaries(NAMES, st.tuples(TEXTS, ACLS, LANGUAGES), min_size=1, max_size=4),
        tidy=st.booleans(),
    )
    def write(self, wanted: dict[Name, tuple[list[str], tuple[str, ...], str]], tidy: bool) -> None:
        """Add documents, or replace them with another text, another ACL or both."""
        made = [
            sample(source, *texts, collection=where, acl=acl, language=language, late=True)
            for (where, source), (texts, acl, language) in wanted.items()
        ]
        for where in COLLECTIONS:
            here = [one for one in made if one.document.collection == where]
            if here:
                self.do(self.store.write, where, here, fingerprint=FINGERPRINT, dimension=DIMENSION)
        for one in made:
            self.keep(one)
        if tidy:
            self.do(self.store.optimise)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), acl=ACLS)
    def change(self, data: st.DataObject, acl: tuple[str, ...]) -> None:
        """Give stored documents another ACL, and nothing else."""
        names = data.draw(st.lists(st.sampled_from(sorted(self.model)), min_size=1, max_size=3, unique=True))
        for where in dict.fromkeys(where for where, _ in names):
            entries = self.do(self.store.entries, where)
            here = [replace(entries[source], acl=acl) for place, source in names if place == where]
            self.do(self.store.update, where, here)
        for name in names:
            stored = self.model[name]
            self.keep(replace(stored, document=replace(stored.document, acl=acl)))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        where, source = data.draw(st.sampled_from(sorted(self.model)))
        self.do(self.store.delete, where, [source])
        del self.model[where, source]

    @rule(where=st.sampled_from(COLLECTIONS))
    def drop(self, where: str) -> None:
        """Delete a collection, and make one of the same name."""
        self.do(self.store.drop, where)
        self.do(self.store.create, where)
        self.model = {name: one for name, one in self.model.items() if name[0] != where}

    @rule(where=st.sampled_from(COLLECTIONS), data=st.data(), acl=ACLS)
    def remake(self, where: str, data: st.DataObject, acl: tuple[str, ...]) -> None:
        """Make all chunks anew; one document may get another ACL meanwhile."""
        here = {source: one for (place, source), one in self.model.items() if place == where}
        if not here:
            return
        self.recipes += 1
        begun = {"fingerprint": FINGERPRINT, "dimension": DIMENSION, "recipe": f"{self.recipes}"}
        remake = self.do(self.store.remake, where, **begun)
        made = {source: self.anew(one) for source, one in here.items()}
        self.do(remake.write, [*made.values()])
        if changed := data.draw(st.sampled_from((None, *sorted(here)))):
            entries = self.do(self.store.entries, where)
            self.do(self.store.update, where, [replace(entries[changed], acl=acl)])
            document = replace(made[changed].document, acl=acl)
            made[changed] = replace(made[changed], document=document)
        if not self.do(remake.switch):
            assert changed
            self.do(remake.write, [made[source] for source in self.do(remake.missing)])
            assert self.do(remake.switch)
        for one in made.values():
            self.keep(one)

    def anew(self, stored: StoredDocument) -> StoredDocument:
        """Return a document with all its text in one chunk."""
        document = stored.document
        texts = [document.text] if document.text else []
        made = sample(document.source_id, *texts, collection=document.collection, late=True)
        return replace(made, document=replace(document, digest=f"remade {self.recipes}"))

    @rule(scope=SCOPES)
    def open(self, scope: Scope) -> None:
        opened = Open(self.do(self.store.reader, scope), scope, dict(self.model))
        self.opened = [*self.opened, opened][-WATCHED:]

    @rule(scope=SCOPES)
    def read(self, scope: Scope) -> None:
        """A new reader sees what it may, whichever way it reads, and nothing else."""
        expected = [one for one in self.model.values() if readable(one, scope)]
        self.do(assert_sees, self.do(self.store.reader, scope), self.ever, expected)

    @rule(scope=SCOPES)
    def look_after(self, scope: Scope) -> None:
        """Upkeep sees all, and the ledger says who may read it."""
        everything = [one for one in self.model.values() if one.document.collection in scope.collections]
        reader = self.do(self.store.reader, replace(scope, upkeep=True))
        self.do(assert_sees, reader, self.ever, everything)
        for where in scope.collections:
            acls = {source: entry.acl for source, entry in self.do(self.store.entries, where).items()}
            here = {source: one for (place, source), one in self.model.items() if place == where}
            assert acls == {source: one.document.acl for source, one in here.items()}

    @invariant()
    def nobody_reads_on(self) -> None:
        """An old reader shows nothing that it could not see then, and nothing that was taken away since."""
        if self.changed:
            self.changed = False
            for opened in self.opened:
                self.look(opened)

    def look(self, opened: Open) -> None:
        scope = opened.scope
        then = {one.document.document_id for one in opened.state.values() if readable(one, scope)}
        hidden = {one.document.document_id for one in self.model.values() if not readable(one, scope)}
        for way, seen in self.do(shown, opened.reader, self.ever).items():
            if isinstance(seen, set):
                assert seen <= then - hidden, f"{way} shows {seen - (then - hidden)} to {scope}"
            elif way.startswith("count"):
                assert isinstance(seen, tuple)
                assert seen[0] <= len(then - hidden)
