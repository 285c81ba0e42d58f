"""A desk that is fed and asked at random, beside a model that says who may read what.

Every document holds a word that stands nowhere else, in all its parts. Whatever is returned to someone, or
shown to a model for them, may hold the words of what they may read, and no other.
"""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule

import refdesk
from refdesk.blocking import BlockingDesk
from refdesk.context import Answer
from refdesk.documents import MODES, PUBLIC, Document, Mode, document_id
from refdesk.errors import NotFound
from refdesk.sources import SourceFailure, SourceItem
from refdesk.steps import Answer as Write
from refdesk.steps import Cite, Loop, Rerank, Search, Widen
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import Calls, ScriptedLLM

COLLECTIONS = ("default", "other")
PRINCIPALS = ("anna", "bert", "staff", "board")
SOURCES = "abcd"
SECRET = re.compile(r"zq\d+x")
WORDS = "Everyone works here every day."
QUESTION = "Who works here every day?"

ACLS = st.one_of(
    st.just((PUBLIC,)),
    st.lists(st.sampled_from((*PRINCIPALS, PUBLIC)), unique=True, min_size=1, max_size=3).map(tuple),
)
SAID: st.SearchStrategy[Any] = st.one_of(st.none(), st.just(()), ACLS, st.sampled_from(((" ",), ("a", 3))))
"""ACLs of sources: none, nobody, some, and such that nobody understands."""
ASKERS = st.lists(st.sampled_from((*PRINCIPALS, "nobody")), unique=True, max_size=2).map(tuple)
Asker = tuple[str, ...]
Name = tuple[str, str]


@dataclass(frozen=True)
class Stored:
    """A document as the model knows it."""

    acl: tuple[str, ...]
    secret: str
    item: SourceItem

    def is_for(self, asker: Asker) -> bool:
        return bool({PUBLIC, *asker}.intersection(self.acl))


@dataclass
class Items:
    """A source of items that are given."""

    given: list[SourceItem] = field(default_factory=list)

    def count(self) -> int:
        return len(self.given)

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        for item in self.given:
            yield item

    def covers(self, source_id: str, url: str | None) -> bool:
        return False


def is_understood(acl: Any) -> bool:
    return all(isinstance(name, str) and name.strip() == name != "" for name in acl)


class PermissionMachine(RuleBasedStateMachine):
    """Ingests, changes, deletes and asks; whatever comes back is searched for words of others."""

    answers: Bundle[Answer] = Bundle("answers")

    def __init__(self, library: str) -> None:
        super().__init__()
        self.library, self.embedder = library, HashingEmbedder()
        self.stack = ExitStack()
        self.desk = self.opened()
        self.model: dict[Name, Stored] = {}
        self.secrets = 0
        for name in COLLECTIONS:
            self.desk.create_collection(name)

    def opened(self, **options: Any) -> BlockingDesk:
        given: Any = {"embedder": self.embedder, "conversations": "none", **options}
        return self.stack.enter_context(refdesk.open(self.library, **given))

    def teardown(self) -> None:
        self.stack.close()

    def for_whom(self, asker: Asker, where: Iterable[str] = COLLECTIONS) -> dict[Name, Stored]:
        return {name: one for name, one in self.model.items() if name[0] in where and one.is_for(asker)}

    def check(self, shown: Any, asker: Asker, where: Iterable[str] = COLLECTIONS) -> None:
        """Nothing that is shown has a word of what the asker may not read."""
        allowed = {one.secret for one in self.for_whom(asker, where).values()}
        assert set(SECRET.findall(repr(shown))) <= allowed

    @rule(
        wanted=st.dictionaries(st.sampled_from(SOURCES), SAID, min_size=1),
        where=st.sampled_from(COLLECTIONS),
        acl=st.none() | ACLS,
    )
    def ingest(self, wanted: dict[str, Any], where: str, acl: tuple[str, ...] | None) -> None:
        """Bring new texts under some ids."""
        self.bring([self.made(source, said) for source, said in wanted.items()], where, acl)

    def made(self, source: str, acl: Any) -> SourceItem:
        self.secrets += 1
        secret = f"zq{self.secrets}x"
        pages = "\n\n".join(f"{WORDS} The word {number} is {secret}." for number in range(6))
        return SourceItem(
            source_id=source,
            name=source,
            text=f"{secret} begins. {pages}",
            title=f"Title {secret}",
            url=f"https://in.example/{secret}",
            metadata={"note": secret},
            acl=acl,
        )

    @precondition(lambda self: self.model)
    @rule(data=st.data(), said=SAID, acl=st.none() | ACLS)
    def permit(self, data: st.DataObject, said: Any, acl: tuple[str, ...] | None) -> None:
        """Bring what is stored again, with another word of its source or of the call on who may read it."""
        where, source = data.draw(st.sampled_from(sorted(self.model)))
        known = self.model[where, source].item
        again = {name: getattr(known, name) for name in ("source_id", "name", "text", "title", "url")}
        embedded = self.embedder.embedded
        self.bring([SourceItem(**again, metadata=known.metadata, acl=said)], where, acl)
        assert self.embedder.embedded == embedded

    def bring(self, items: list[SourceItem], where: str, acl: tuple[str, ...] | None) -> None:
        summary = self.desk.ingest(Items(items), collection=where, acl=acl)
        for item in items:
            self.note(item, where, acl)
        bad = {item.source_id for item in items if item.acl is not None and not is_understood(item.acl)}
        assert {one.source_id for one in summary.failures} == bad
        assert summary.documents == sum(place == where for place, _ in self.model)

    def note(self, item: SourceItem, where: str, acl: tuple[str, ...] | None) -> None:
        """Say what comes of an item."""
        name = (where, item.source_id)
        known = self.model.get(name)
        if item.acl is not None and not is_understood(item.acl):
            if known:
                self.model[name] = Stored((), known.secret, known.item)
            return
        usual = acl or (known.acl if known else (PUBLIC,))
        said = item.acl if item.acl is not None else usual
        self.model[name] = Stored(said, item.metadata["note"], item)  # type: ignore[arg-type]

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        where, source = data.draw(st.sampled_from(sorted(self.model)))
        self.desk.delete(source, collection=where)
        del self.model[where, source]

    @rule(size=st.sampled_from((0, 16)))
    def reembed(self, size: int) -> None:
        """Make all chunks of another size, so that what comes later is cut as what is there."""
        with refdesk.open(self.library, embedder=self.embedder, chunk_tokens=size) as other:
            for where in COLLECTIONS:
                other.reembed(where)
        self.desk = self.opened(chunk_tokens=size)

    @rule(
        asker=ASKERS,
        where=st.sampled_from(("default", "other", "all")),
        mode=st.sampled_from(MODES),
        rerank=st.booleans(),
    )
    def search(self, asker: Asker, where: str, mode: Mode, rerank: bool) -> None:
        places = COLLECTIONS if where == "all" else (where,)
        mine = self.for_whom(asker, places)
        results = self.desk.search(
            QUESTION,
            collections=list(places),
            principals=asker,
            mode=mode,
            top_k=1000,
            rerank=rerank,
            neighbours=2,
        )
        self.check(results, asker, places)
        found = {(hit.chunk.collection, hit.source_id) for hit in results.hits}
        assert found == set(mine)
        assert results.explanation.documents == len(mine)

    @rule(asker=ASKERS, number=st.integers(0, 40))
    def filter(self, asker: Asker, number: int) -> None:
        """A value that only others' documents have finds what a value finds that there never was."""
        note = {"note": f"zq{number}x"}
        mine = [one for one in self.for_whom(asker, ["default"]).values() if one.secret == note["note"]]
        results = self.desk.search(QUESTION, principals=asker, filters=note)
        assert results.explanation.matching_documents == len(mine)
        assert len(self.desk.documents(principals=asker, filters=note)) == len(mine)

    @rule(target=answers, asker=ASKERS)
    def ask(self, asker: Asker) -> Answer:
        answer = self.desk.ask(QUESTION, collections="all", principals=asker)
        self.check(answer, asker)
        return answer

    @rule(asker=ASKERS)
    def ask_a_model(self, asker: Asker) -> None:
        """What a model is shown is the asker's, through every step, and in a loop through every tool."""
        model = ScriptedLLM(["Every day [[1]]."])
        steps = Search(collection="all") | Rerank() | Widen() | Write() | Cite()
        context = self.desk.run(steps, QUESTION, principals=asker, collections="all", llm=model)
        self.check((model.asked, context.results, context.evidence), asker)

    @rule(asker=ASKERS)
    def investigate(self, asker: Asker) -> None:
        read = Calls(("read", {"passage": 1, "before": 9, "after": 9}))
        model = ScriptedLLM([Calls(("search", {"query": QUESTION, "limit": 20})), read, "Every day [[1]]."])
        context = self.desk.run(Loop(), QUESTION, principals=asker, collections="all", llm=model)
        self.check((model.asked, context.evidence, context.tool_history, context.answer), asker)

    @rule(answer=answers, asker=ASKERS)
    def recheck(self, answer: Answer, asker: Asker) -> None:
        """An answer that was kept shows of its citations what its reader may read now."""
        found = self.desk.recheck(answer, collections="all", principals=asker)
        self.check(found.citations, asker)
        self.check(found.answer.citations, asker)

    @rule(asker=ASKERS)
    def list(self, asker: Asker) -> None:
        mine = self.for_whom(asker)
        listed = self.desk.documents(collections=[*COLLECTIONS], principals=asker)
        self.check(listed, asker)
        assert [(one.collection, one.source_id) for one in listed] == sorted(mine)
        for one in self.desk.collections(principals=asker):
            assert one.documents == sum(where == one.name for where, _ in mine)
            assert one == self.desk.collection(one.name, principals=asker)

    @rule(asker=ASKERS, where=st.sampled_from(COLLECTIONS), source=st.sampled_from(SOURCES))
    def show(self, asker: Asker, where: str, source: str) -> None:
        """A document that is not for the asker is missing, in the words of one that never was."""
        is_mine = (where, source) in self.for_whom(asker)
        for name in (source, document_id(where, source)):
            found = self.found(name, where, asker)
            self.check(found, asker, [where])
            missing = f"There is no document {name!r} in the collections asked."
            assert (found == missing) is not is_mine

    def found(self, name: str, where: str, asker: Asker) -> Document | str:
        """Return a document, or in which words it is missing."""
        try:
            return self.desk.document(name, collections=where, principals=asker)
        except NotFound as error:
            return str(error)
