"""`widen`: the text around a hit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.documents import Chunk, Document, Hit
from refdesk.errors import NotFound
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.results import Results, numbered
from refdesk.stores import Reader


@dataclass(frozen=True, kw_only=True)
class Widen(Step):
    """Let each of the best hits reach over its neighbouring chunks, so that a model reads it in its context.

    Hits of one document that then touch or overlap become one, so no text comes twice, and
    `document.text[start:end]` is still a hit's text. A hit of a searcher of one's own stays as it is.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "hits"})
    writes: ClassVar[frozenset[str]] = frozenset({"results", "evidence", "distilled"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    leaves: ClassVar[str] = "The hits as they were."

    before: Annotated[int, Field(ge=0, le=20)] = 1
    """Chunks before a hit."""
    behind: Annotated[int, Field(ge=0, le=20)] = 1
    """Chunks after a hit."""
    hits: Annotated[int, Field(ge=1)] = 6
    """Hits that are widened; those behind them keep their text."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "" if context.hits else "there are no hits"

    async def __call__(self, context: Context, run: Run) -> Context:
        best, rest = context.hits[: self.hits], context.hits[self.hits :]
        reader = await run.services.reader([hit.chunk.collection for hit in best])
        documents: dict[str, Document | None] = {}
        wide = [await self._wide(hit, reader, documents) for hit in best]
        if outside := sum(document is None for document in documents.values()):
            run.warn(f"{outside} documents are in no collection; their hits were not widened.")
        joined = joined_up(wide, documents)
        left = [hit for hit in rest if not any(_within(hit.chunk, other.chunk) for other in joined)]
        run.measure(widened=len(best), joined=len(best) - len(joined), hits=len(joined) + len(left))
        return context.with_results((Results(question=context.question, hits=numbered([*joined, *left])),))

    async def _wide(self, hit: Hit, reader: Reader, documents: dict[str, Document | None]) -> Hit:
        name = hit.chunk.document_id
        if name not in documents:
            documents[name] = await _document(reader, name)
        document = documents[name]
        if document is None:
            return hit
        around = await reader.neighbours(hit.chunk, before=self.before, after=self.behind)
        start = min([hit.chunk.start, *(chunk.start for chunk in around)])
        end = max([hit.chunk.end, *(chunk.end for chunk in around)])
        return _reaching(hit, document, start, end)


async def _document(reader: Reader, name: str) -> Document | None:
    """Return a stored document, None for one that a searcher of one's own found elsewhere."""
    try:
        return await reader.document(name)
    except NotFound:
        return None


def joined_up(hits: Sequence[Hit], documents: dict[str, Document | None]) -> list[Hit]:
    """Join hits of one document that touch or overlap; the better one stands for both."""
    joined: list[Hit] = []
    for hit in hits:
        document = documents.get(hit.chunk.document_id)
        for place, other in enumerate(joined):
            if document is not None and _touch(hit.chunk, other.chunk):
                start = min(hit.chunk.start, other.chunk.start)
                end = max(hit.chunk.end, other.chunk.end)
                joined[place] = _reaching(other, document, start, end)
                break
        else:
            joined.append(hit)
    return joined if len(joined) == len(hits) else joined_up(joined, documents)


def _reaching(hit: Hit, document: Document, start: int, end: int) -> Hit:
    return replace(hit, chunk=replace(hit.chunk, start=start, end=end, text=document.text[start:end]))


def _touch(one: Chunk, other: Chunk) -> bool:
    return one.document_id == other.document_id and one.start <= other.end and other.start <= one.end


def _within(one: Chunk, other: Chunk) -> bool:
    return one.document_id == other.document_id and other.start <= one.start and one.end <= other.end
