"""All the ways to read, side by side: what one shows, the others must show, and nothing else."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from refdesk.documents import Hit
from refdesk.errors import NotFound
from refdesk.filters import Exists, Filter
from refdesk.stores import Reader, StoredDocument
from refdesk.testing.stores.samples import vector

T = TypeVar("T")

ALL = 10_000
EVERY = Exists("title")
"""A filter that all documents pass."""

Shown = Mapping[str, object]
"""What each way to read shows: as a rule the ids of documents."""


async def assert_sees(
    reader: Reader, everything: Sequence[StoredDocument], expected: Iterable[StoredDocument]
) -> None:
    """A reader sees these of all stored documents, whichever way it reads, and nothing of the others."""
    seen = list(expected)
    wanted = _wanted(seen)
    for way, found in (await shown(reader, everything)).items():
        assert found == wanted[way.partition(" ")[0]], f"{way} shows {found}, not {wanted[way.split()[0]]}"
    for stored in seen:
        assert await reader.document(stored.document.document_id) == stored.document
        assert await reader.chunks(stored.document.document_id) == stored.chunks


def _wanted(seen: Sequence[StoredDocument]) -> Shown:
    some = _ids(each for each in seen if each.chunks)
    languages = [each.document.language for each in seen if each.document.language != "und"]
    return {
        "vector_search": some,
        "keyword_search": _ids(each for each in seen if any(each.tokens)),
        "vectors": some,
        "token_vectors": _ids(each for each in seen if each.token_vectors),
        "neighbours": some,
        "document": _ids(seen),
        "chunks": _ids(seen),
        "documents": _ids(seen),
        "count": (len(seen), sum(len(each.chunks) for each in seen)),
        "languages": tuple(sorted(set(languages), key=lambda each: (-languages.count(each), each))),
    }


def _ids(documents: Iterable[StoredDocument]) -> set[str]:
    return {each.document.document_id for each in documents}


async def shown(reader: Reader, everything: Sequence[StoredDocument]) -> Shown:
    """Return what each way to read shows of the stored documents; a key begins with the method's name."""
    owners = {chunk.chunk_id: chunk.document_id for stored in everything for chunk in stored.chunks}
    listed = {f"documents {name}": await _listed(reader, each) for name, each in FILTERS.items()}
    counted = {f"count {name}": await reader.count(each) for name, each in FILTERS.items()}
    return {
        **await _searched(reader, everything),
        "vectors": {owners[each] for each in await reader.vectors([*owners])},
        "token_vectors": {owners[each] for each in await reader.token_vectors([*owners])},
        **await _by_id(reader, everything),
        **listed,
        **counted,
        "languages": reader.languages,
    }


FILTERS: Mapping[str, Filter | None] = {"of all": None, "with a filter": EVERY}


async def _searched(reader: Reader, everything: Sequence[StoredDocument]) -> Shown:
    words = sorted({word for stored in everything for text in stored.tokens for word in text.split()})
    found: dict[str, set[str]] = {}
    for name, each in FILTERS.items():
        near = await reader.vector_search(vector("x"), top_k=ALL, filter=each)
        found[f"vector_search {name}"] = _of(near)
        found[f"keyword_search {name}"] = _of(await reader.keyword_search(words, top_k=ALL, filter=each))
    return found


def _of(hits: Iterable[Hit]) -> set[str]:
    return {hit.chunk.document_id for hit in hits}


async def _listed(reader: Reader, filter: Filter | None) -> set[str]:
    listed = [each.document_id for each in await reader.documents(filter=filter)]
    assert len(listed) == len(set(listed))
    return set(listed)


async def _by_id(reader: Reader, everything: Sequence[StoredDocument]) -> Shown:
    found: dict[str, set[str]] = {"document": set(), "chunks": set(), "neighbours": set()}
    for stored in everything:
        name = stored.document.document_id
        if await _is_found(reader.document, name, name):
            found["document"].add(name)
        if await _is_found(reader.chunks, name, name):
            found["chunks"].add(name)
        for chunk in stored.chunks[:1]:
            if await _is_found(reader.neighbours, chunk, chunk.chunk_id, name):
                found["neighbours"].add(name)
    return found


async def _is_found(read: Callable[[T], Awaitable[object]], what: T, *names: str) -> bool:
    """Tell whether something is there; where it is not, the error names it."""
    try:
        await read(what)
    except NotFound as error:
        return _is_missing(error, names)
    return True


def _is_missing(error: NotFound, names: Sequence[str]) -> bool:
    assert any(name in error.message for name in names), error
    return False
