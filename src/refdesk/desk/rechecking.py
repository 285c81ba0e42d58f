"""A stored answer's citations, held against the library as it is now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from refdesk.citations.build import link_to
from refdesk.citations.templates import source_of
from refdesk.context import Answer, Citation
from refdesk.documents import Chunk, Document, page_at
from refdesk.errors import InputError, NotFound
from refdesk.stores import Reader

State = Literal["holds", "moved", "changed", "gone"]
"""The quote stands where it stood; stands elsewhere in its document; stands in it no more; the document is in
none of the collections that were asked."""

REASONS: Mapping[State, str] = {
    "holds": "",
    "moved": "The document changed; the quote stands elsewhere in it.",
    "changed": "The document changed; the quote is no longer in it.",
    "gone": "The document is in none of the collections that were asked.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckedCitation:
    """A citation as it may be shown now.

    One that is `changed` has no quote. One that is `gone` has only its marker and ids, whether its document
    was deleted or the asker may not see it.
    """

    state: State
    citation: Citation

    @property
    def reason(self) -> str:
        """What became of it, empty where it holds."""
        return REASONS[self.state]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """What became of an answer."""

    answer: Answer
    """The same text with the citations that stand; without evidence and grounding, which are of then."""
    citations: tuple[RecheckedCitation, ...]
    """All of the answer's, in order."""

    @property
    def holds(self) -> bool:
        """Whether every citation still stands."""
        return all(_stands(one) for one in self.citations)


async def recheck(answer: Answer, reader: Reader, links: Mapping[str, str]) -> Recheck:
    """Hold the citations of an answer against what a reader can see. Errors: `InputError`, `StoreError`."""
    if not isinstance(answer, Answer):
        raise InputError(f"Cannot recheck {answer!r:.80}; allowed is an Answer.")
    found: dict[str, tuple[Document, tuple[Chunk, ...]] | None] = {}
    checked = []
    for citation in answer.citations:
        name = citation.document_id
        if name not in found:
            found[name] = await _document(name, reader)
        template = links.get(citation.collection, "")
        checked.append(_rechecked(citation, found[name], template))
    standing = tuple(one.citation for one in checked if _stands(one))
    now = replace(answer, citations=standing, evidence=(), grounding=None)
    return Recheck(answer=now, citations=tuple(checked))


def _stands(one: RecheckedCitation) -> bool:
    return one.state in ("holds", "moved")


async def _document(name: str, reader: Reader) -> tuple[Document, tuple[Chunk, ...]] | None:
    try:
        return await reader.document(name), await reader.chunks(name)
    except NotFound:
        return None


def _rechecked(
    citation: Citation, found: tuple[Document, tuple[Chunk, ...]] | None, template: str
) -> RecheckedCitation:
    if found is None or found[0].collection != citation.collection:
        bare = replace(
            citation, collection="", title="", source_id="", url=None, page=None, start=0, end=0, quote=""
        )
        return RecheckedCitation(state="gone", citation=replace(bare, support="unchecked"))
    document, chunks = found
    start = _place(citation, document.text)
    if start is None:
        left = replace(citation, start=0, end=0, quote="", page=None, support="unchecked")
        return RecheckedCitation(state="changed", citation=_named(left, document, template))
    placed = replace(
        citation,
        start=start,
        end=start + len(citation.quote),
        page=page_at(document.pages, start),
        chunk_id=_chunk_id(citation, start, chunks),
    )
    state: State = "holds" if start == citation.start else "moved"
    return RecheckedCitation(state=state, citation=_named(placed, document, template))


def _named(citation: Citation, document: Document, template: str) -> Citation:
    """Return a citation with title and link as the document has them now."""
    url = link_to(source_of(document), citation.page, template)
    return replace(citation, title=document.title, source_id=document.source_id, url=url)


def _place(citation: Citation, text: str) -> int | None:
    """Return where the quote stands: at its place, else nearest to it, None where it does not."""
    quote, at = citation.quote, citation.start
    if not quote:
        return None
    if at >= 0 and text.startswith(quote, at):
        return at
    before, after = text.rfind(quote, 0, max(at, 0) + len(quote)), text.find(quote, max(at, 0))
    places = [place for place in (before, after) if place >= 0]
    return min(places, key=lambda place: abs(place - at), default=None)


def _chunk_id(citation: Citation, start: int, chunks: Sequence[Chunk]) -> str:
    """Return the id of the chunk that holds the quote now: its own while that is there."""
    holding = [one.chunk_id for one in chunks if one.start <= start < one.end]
    return citation.chunk_id if citation.chunk_id in holding or not holding else holding[0]
