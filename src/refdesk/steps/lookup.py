"""How a loop searches and reads on: in its collections, through the filter of the call."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from refdesk.context import Context
from refdesk.documents import Chunk, Hit
from refdesk.errors import NotFound, ToolError
from refdesk.pipeline import Run
from refdesk.pipeline.workers import bind
from refdesk.steps.claims import readable
from refdesk.steps.outside import hits_of, passing
from refdesk.steps.search import similar
from refdesk.steps.searching import ranked

if TYPE_CHECKING:
    from refdesk.steps.investigate import Loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How one loop searches and reads: always in its collections, always through the filter of the call."""

    loop: "Loop"
    context: Context
    run: Run
    collections: tuple[str, ...]

    async def search(self, query: str, limit: int, collections: tuple[str, ...]) -> tuple[Hit, ...]:
        given = dict(self.loop.search_opts or {})
        if self.loop.search_fn is not None:
            work = bind(self.loop.search_fn, "search", self.loop.label)
            scope = {"collections": collections, "principals": self.context.principals}
            found = await work(query, {**given, "limit": limit, **scope})
            where = collections[0] if len(collections) == 1 else ""
            hits = passing(hits_of(found, where, self.loop), self.context.filter)
            return await readable(self.run.services, hits)
        threshold = given.pop("threshold", None)
        results = await ranked(
            self.run.services,
            query,
            collections,
            top_k=limit,
            filter=self.context.filter,
            on_failure=lambda error: self.run.warn(f"The hits keep the order of the search: {error}"),
            **given,
        )
        return similar(results.hits, threshold)

    async def read(self, hit: Hit, before: int, after: int) -> tuple[Hit, ...]:
        """Return what stands around a hit. Errors: `ToolError` for one that is not in these collections."""
        try:
            if hit.chunk.collection not in self.collections:
                raise NotFound(f"{hit.title!r:.80} is not in the library.")
            reader = await self.run.services.reader(self.collections)
            around = await reader.neighbours(hit.chunk, before=before, after=after)
        except NotFound as error:
            raise ToolError("read: this passage cannot be read on, it is all there is of it.") from error
        others = [chunk for chunk in around if chunk.chunk_id != hit.chunk.chunk_id]
        return tuple(_neighbour(hit, chunk) for chunk in others)


def _neighbour(hit: Hit, chunk: Chunk) -> Hit:
    return Hit(chunk=chunk, title=hit.title, url=hit.url, source_id=hit.source_id, metadata=hit.metadata)
