"""`widen`: the text around a hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.documents import Chunk, Document, Hit, page_at
from refdesk.errors import NotFound
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.results import Results, numbered
from refdesk.retrieval.threads import Thread, around
from refdesk.stores import Reader

Documents = Mapping[str, Document | None]
"""By id; None for one that is not stored."""


@dataclass(frozen=True, kw_only=True)
class Widen(Step):
    """Let each of the best hits reach over its neighbouring chunks, so that a model reads it in its context.

    Hits of one document that then touch or overlap become one, so no text comes twice, and
    `document.text[start:end]` is still a hit's text. A hit that is in no collection, as a searcher of one's
    own may find it, stays as it is, with a warning.

    With `by`, each of the best hits is followed by the documents before and behind its own in their thread,
    as hits of their own without score: such as the posts around a post, each with its own address. Of a
    neighbour that is long, this is its beginning. What the one who asks may not read is passed over.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "hits"})
    writes: ClassVar[frozenset[str]] = frozenset({"results", "evidence", "distilled"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    leaves: ClassVar[str] = "The hits as they were."

    before: Annotated[int, Field(ge=0, le=20)] = 1
    """Chunks before a hit; with `by`, documents."""
    behind: Annotated[int, Field(ge=0, le=20)] = 1
    """Chunks after a hit; with `by`, documents."""
    by: str = ""
    """Metadata that documents of a thread share, such as `topic_id`; empty for the chunks of one document."""
    order: str = "post_number"
    """Metadata that numbers the documents of a thread, with `by`."""
    hits: Annotated[int, Field(ge=1)] = 6
    """Hits that are widened; those behind them keep their text."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "" if context.hits else "there are no hits"

    async def __call__(self, context: Context, run: Run) -> Context:
        best, rest = context.hits[: self.hits], context.hits[self.hits :]
        known = {one.name for one in await run.services.collections()}
        reader = await run.services.reader(sorted({hit.chunk.collection for hit in best} & known))
        if self.by:
            return await self._threads(context, run, reader)
        documents = {name: await _document(reader, name) for name in {hit.chunk.document_id for hit in best}}
        wide = [await self._wide(hit, reader, documents) for hit in best]
        if outside := wide.count(None):
            run.warn(f"{outside} of {len(best)} hits are in no collection and were not widened.")
        reached = joined_up([new or hit for hit, new in zip(best, wide, strict=True)], documents)
        again = [hit for hit in rest if any(_repeats(hit, one, documents) for one in reached)]
        joined = joined_up([*reached, *again], documents)
        hits = (*joined, *(hit for hit in rest if hit not in again))
        run.measure(widened=len(best) - outside, joined=len(context.hits) - len(hits), hits=len(hits))
        return context.with_results((Results(question=context.question, hits=numbered(hits)),))

    async def _threads(self, context: Context, run: Run, reader: Reader) -> Context:
        """Put the neighbours in its thread behind each of the best hits; none comes twice."""
        best, rest = context.hits[: self.hits], context.hits[self.hits :]
        thread = Thread(by=self.by, order=self.order, before=self.before, behind=self.behind)
        seen = {hit.chunk.document_id for hit in context.hits}
        placed: list[Hit] = []
        lone = 0
        for hit in best:
            found = await around(reader, hit, thread)
            new = [one for one in found or () if one.chunk.document_id not in seen]
            seen.update(one.chunk.document_id for one in new)
            placed += [hit, *new]
            lone += found is None
        if lone:
            run.warn(f"{lone} of {len(best)} hits have no {self.by!r} or no number in {self.order!r}.")
        run.measure(widened=len(best) - lone, added=len(placed) - len(best), hits=len(placed) + len(rest))
        hits = numbered((*placed, *rest))
        return context.with_results((Results(question=context.question, hits=hits),))

    async def _wide(self, hit: Hit, reader: Reader, documents: Documents) -> Hit | None:
        """Return a hit that reaches over its neighbours, None where its chunk is not stored as it is."""
        chunk, document = hit.chunk, _holding(hit, documents)
        if document is None:
            return None
        try:
            around = await reader.neighbours(chunk, before=self.before, after=self.behind)
        except NotFound:
            return None
        start = min([chunk.start, *(each.start for each in around)])
        end = max([chunk.end, *(each.end for each in around)])
        return _reaching(hit, document, start, end)


async def _document(reader: Reader, name: str) -> Document | None:
    """Return a stored document, None for one that a searcher of one's own found elsewhere."""
    try:
        return await reader.document(name)
    except NotFound:
        return None


def joined_up(hits: Sequence[Hit], documents: Documents) -> list[Hit]:
    """Join hits of one document that touch or overlap; the better one stands for both."""
    joined: list[Hit] = []
    for hit in hits:
        document = _holding(hit, documents)
        for place, other in enumerate(joined):
            if document and _touch(hit.chunk, other.chunk) and _holding(other, documents):
                start = min(hit.chunk.start, other.chunk.start)
                end = max(hit.chunk.end, other.chunk.end)
                joined[place] = _reaching(other, document, start, end)
                break
        else:
            joined.append(hit)
    return joined if len(joined) == len(hits) else joined_up(joined, documents)


def _holding(hit: Hit, documents: Documents) -> Document | None:
    """Return the document that has the text of a hit where the hit says, None where there is none."""
    document = documents.get(hit.chunk.document_id)
    same = document and document.text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
    return document if same else None


def _reaching(hit: Hit, document: Document, start: int, end: int) -> Hit:
    page = page_at(document.pages, start) if document.pages else hit.chunk.page
    text = document.text[start:end]
    return replace(hit, chunk=replace(hit.chunk, start=start, end=end, text=text, page=page))


def _repeats(hit: Hit, other: Hit, documents: Documents) -> bool:
    """Tell whether two hits show some of the same text of a document."""
    one, two = hit.chunk, other.chunk
    overlap = one.document_id == two.document_id and one.start < two.end and two.start < one.end
    return overlap and bool(_holding(hit, documents) and _holding(other, documents))


def _touch(one: Chunk, other: Chunk) -> bool:
    return one.document_id == other.document_id and one.start <= other.end and other.start <= one.end
