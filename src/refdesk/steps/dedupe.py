"""`dedupe`: the best hit of each document, or of each value of a metadata key."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.results import Results, numbered

DOCUMENT = "document"


@dataclass(frozen=True, kw_only=True)
class Dedupe(Step):
    """Keep the best hit of each document, or of each value of a metadata key, and of those the first `keep`.

    A hit whose document lacks the key, or has nothing in it, stands for itself. Where all lack it there is a
    warning.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "hits"})
    writes: ClassVar[frozenset[str]] = frozenset({"results", "evidence", "distilled"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    leaves: ClassVar[str] = "The hits as they were."

    by: str = DOCUMENT
    """`document`, or a metadata key such as `topic_id`."""
    per_value: Annotated[int, Field(ge=1)] = 1
    """Hits that are kept of each."""
    keep: Annotated[int, Field(ge=1)] | None = None
    """Hits that are kept in all."""
    on_error: OnError = "stop"

    def skips(self, context: Context) -> str:
        return "" if context.hits else "there are no hits"

    async def __call__(self, context: Context, run: Run) -> Context:
        counts: dict[Hashable, int] = {}
        kept = []
        for hit in context.hits:
            value = self._value(hit) or ("chunk", hit.chunk.chunk_id)
            counts[value] = counts.get(value, 0) + 1
            if counts[value] <= self.per_value:
                kept.append(hit)
        if not any(self._value(hit) for hit in context.hits):
            run.warn(f"No hit has the metadata key {self.by!r}, so none was taken for a repetition.")
        hits = numbered(kept[: self.keep])
        run.measure(original=len(context.hits), kept=len(hits), dropped=len(context.hits) - len(hits))
        return context.with_results((Results(question=context.question, hits=hits),))

    def _value(self, hit: Hit) -> Hashable | None:
        if self.by == DOCUMENT:
            return (hit.chunk.collection, hit.chunk.document_id)
        value = hit.metadata.get(self.by)
        # Python holds True and 1 for equal, in metadata they are not
        return None if value in (None, "", ()) else ("value", isinstance(value, bool), value)
