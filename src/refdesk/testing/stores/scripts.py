"""Checks of characters: every one of Unicode is kept as it is, in every place."""

import dataclasses

from refdesk.documents import Heading, Scope
from refdesk.errors import NotFound
from refdesk.filters import Equals, Exists, In, Not, Or
from refdesk.stores import StoredDocument
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.promise import Check, OpenStore, only, refused
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

SCOPE = Scope()


async def keeps_text_of_every_script(open_store: OpenStore) -> None:
    store = await open_store()
    texts = [
        "数据库 检索 系统",
        "ภาษา ไทย",
        "café naïve Ünïcode",
        "emoji 👩‍👩‍👧 𝔘𝔫𝔦",
        "null \x00 inside",
        "עברית العربية",
    ]
    await put(store, *(sample(f"файл/{text}", text, metadata={"ключ": text}) for text in texts))
    reader = await store.reader(SCOPE)
    for text in texts:
        hit = only(await reader.keyword_search([text.split()[0].lower()], top_k=3))
        assert (hit.chunk.text, hit.source_id, hit.metadata["ключ"]) == (text, f"файл/{text}", text)
        assert (await reader.document(hit.chunk.document_id)).text == text


ODD = (
    "null \x00 inside",
    "control \x01\x1b\x7f\x85",
    "lines\r\n\u2028\u2029 end",
    "astral 𝔘𝔫𝔦 😀 \U0010ffff",
    "combining e\u0301 caf\u00e9",
    "right \u202eto left\u202c עברית العربية",
    "joined 👩‍👩‍👧 \u200b\u200d\ufeff",
    "not a character \ufffe\uffff \ufffd",
    "'single' \"double\" `back` \\ \\x00 \\u0000 %s $1 {}",
    " spaces around ",
    "<b>&amp;</b> -- /* */ ;",
)


async def keeps_odd_characters_in_every_place(open_store: OpenStore) -> None:
    store = await open_store()
    documents = [_with(number, text) for number, text in enumerate(ODD)]
    await put(store, *documents)
    await assert_sees(await store.reader(SCOPE), documents, documents)
    entries = await store.entries(COLLECTION)
    assert set(entries) == set(ODD)
    for stored in documents:
        entry = entries[stored.document.source_id]
        kept = (entry.title, entry.url, entry.metadata)
        assert kept == (stored.document.title, stored.document.url, stored.document.metadata)
    receipt = await store.delete(COLLECTION, ODD)
    assert (receipt.source_ids, receipt.documents) == (ODD, len(ODD))


def _with(number: int, text: str) -> StoredDocument:
    """Return a document that holds a text wherever one can be."""
    stored = sample(text, text, f"words {number}", metadata={text: (text, number)}, url=text, late=True)
    document = dataclasses.replace(
        stored.document, title=text, headings=(Heading(1, text, 0),), warnings=(text,)
    )
    chunks = tuple(dataclasses.replace(chunk, heading_path=(text, text)) for chunk in stored.chunks)
    return dataclasses.replace(stored, document=document, chunks=chunks)


async def finds_odd_characters_by_filter(open_store: OpenStore) -> None:
    store = await open_store()
    documents = [_with(number, text) for number, text in enumerate(ODD)]
    await put(store, *documents)
    reader = await store.reader(SCOPE)
    for stored in documents:
        text = stored.document.title
        for filter in (
            Equals("source_id", text),
            Equals("title", text),
            Equals("url", text),
            Equals(text, text),
            Exists(text),
            Not(Not(In(text, (text, "other")))),
        ):
            assert [each.source_id for each in await reader.documents(filter=filter)] == [text], filter
            assert [
                hit.source_id for hit in await reader.vector_search(vector("x"), top_k=1, filter=filter)
            ] == [text]


async def texts_that_look_alike_are_different(open_store: OpenStore) -> None:
    """Case, accents, composition, blanks and invisible characters all tell sources and words apart."""
    store = await open_store()
    names = ("caf\u00e9", "cafe\u0301", "cafe", "Cafe", "cafe ", " cafe", "cafe\u200b", "c\u0430fe")
    words = (*names[:3], "cafe\u200b", "c\u0430fe", "stra\u00dfe", "strasse", "\ufb01n", "fin")
    await put(store, *(sample(name, f"text {n}") for n, name in enumerate(names)))
    await put(store, *(sample(f"word {word}", word) for word in words))
    reader = await store.reader(SCOPE)
    for name in names:
        assert [each.source_id for each in await reader.documents(filter=Equals("source_id", name))] == [name]
    for word in words:
        found = await reader.keyword_search([word], top_k=9)
        assert [hit.source_id for hit in found] == [f"word {word}"]
    await store.delete(COLLECTION, ["cafe"])
    assert set(await store.entries(COLLECTION)) == {*names, *(f"word {word}" for word in words)} - {"cafe"}


async def a_question_may_hold_any_character(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    reader = await store.reader(SCOPE)
    for text in ODD:
        query = ["words", *text.split()]
        assert [hit.source_id for hit in await reader.keyword_search(query, top_k=9)] == ["a"]
        assert await reader.count(Or((Equals("title", text), Equals(text, text)))) == (0, 0)
        assert await reader.vectors([text]) == {}
        with refused(NotFound):
            await reader.document(text)
        with refused(NotFound):
            await store.collection(text)
        with refused(NotFound):
            await store.delete(COLLECTION, [text])


CHECKS: tuple[Check, ...] = (keeps_text_of_every_script,)
