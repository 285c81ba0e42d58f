"""`dedupe`: the best hit of each document, or of each value of a metadata key."""

from collections.abc import Hashable, Iterator
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

    Of several keys, the first counts that a hit's document has something in. A hit whose document has none
    stands for itself. Where all lack all there is a warning.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "hits"})
    writes: ClassVar[frozenset[str]] = frozenset({"results", "evidence", "distilled"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    leaves: ClassVar[str] = "The hits as they were."

    by: str | tuple[str, ...] = DOCUMENT
    """`document`, or a metadata key such as `topic_id`; or several, as `[topic_id, document]`."""
    per_value: Annotated[int, Field(ge=1)] = 1
    """Hits that are kept of each."""
    keep: Annotated[int, Field(ge=1)] | None = None
    """Hits that are kept in all."""
    on_error: OnError = "stop"

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self._keys:
            yield "Its `by` names nothing.", f"Name a metadata key, or `{DOCUMENT}`."
        elif isinstance(self.by, tuple) and DOCUMENT in self.by[:-1]:
            yield f"Every hit has a `{DOCUMENT}`, so what comes after it is never looked at.", "Put it last."

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
            keys = " or ".join(map(repr, self._keys))
            run.warn(f"No hit has the metadata key {keys}, so none was taken for a repetition.")
        hits = numbered(kept[: self.keep])
        run.measure(original=len(context.hits), kept=len(hits), dropped=len(context.hits) - len(hits))
        return context.with_results((Results(question=context.question, hits=hits),))

    @property
    def _keys(self) -> tuple[str, ...]:
        return (self.by,) if isinstance(self.by, str) else self.by

    def _value(self, hit: Hit) -> Hashable | None:
        return next((value for key in self._keys if (value := _under(key, hit))), None)


def _under(key: str, hit: Hit) -> Hashable | None:
    """Return what a hit has under a key, with the key, so that values of two keys never repeat each other."""
    if key == DOCUMENT:
        return (key, hit.chunk.collection, hit.chunk.document_id)
    value = hit.metadata.get(key)
    # Python holds True and 1 for equal, in metadata they are not
    return None if value in (None, "", ()) else (key, isinstance(value, bool), value)
