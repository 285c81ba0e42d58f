"""Passages that a searcher of the user's own found, as hits."""

from collections.abc import Iterable, Mapping
from typing import Any

from refdesk.documents import Chunk, Hit
from refdesk.errors import StepError
from refdesk.pipeline import Step
from refdesk.results import numbered

ALLOWED = "id, text, and where it has them document_id, title, url, source_id, score, metadata, page, start"


def hits_of(found: Any, collection: str, step: Step) -> tuple[Hit, ...]:
    """Return hits with ranks, in the order in which they came. Errors: `StepError` for anything else."""
    if isinstance(found, str | Mapping) or not isinstance(found, Iterable):
        raise _nonsense(found, step)
    hits = [one if isinstance(one, Hit) else _hit(one, collection, step) for one in found]
    return numbered(hits)


def _hit(found: Any, collection: str, step: Step) -> Hit:
    if not isinstance(found, Mapping) or not isinstance(found.get("text"), str) or "id" not in found:
        raise _nonsense(found, step)
    text, name, start = found["text"], str(found["id"]), int(found.get("start", 0))
    document = str(found.get("document_id", name))
    chunk = Chunk(
        chunk_id=name,
        document_id=document,
        collection=collection,
        position=0,
        start=start,
        end=start + len(text),
        text=text,
        page=found.get("page"),
    )
    return Hit(
        chunk=chunk,
        title=str(found.get("title", "")) or document,
        url=found.get("url"),
        source_id=str(found.get("source_id", document)),
        metadata=found.get("metadata", {}),
        fused_score=found.get("score"),
    )


def _nonsense(found: Any, step: Step) -> StepError:
    return StepError(
        f"The searcher returned {found!r:.80}; allowed is a list of hits, or of mappings with {ALLOWED}.",
        step=step.label,
        remedy="Return such a list, empty where nothing was found.",
    )
