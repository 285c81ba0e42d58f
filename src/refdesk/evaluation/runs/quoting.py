"""Which runs that are kept name or quote documents."""

from collections.abc import Collection, Iterator

from refdesk.evaluation.runs.outcomes import CaseOutcome, Run
from refdesk.evaluation.runs.store import RunStore


def runs_with(store: RunStore, collection: str, sources: Collection[str]) -> tuple[str, ...]:
    """Return the names of the runs on a collection that name some of its documents, by source id.

    Errors: `StoreError` for a run that cannot be read.
    """
    wanted = frozenset(sources)
    named = (name for name in store.names() if wanted)
    return tuple(name for name in named if _has(store.read(name), collection, wanted))


def _has(run: Run, collection: str, wanted: frozenset[str]) -> bool:
    if run.header.options.get("collection", collection) != collection:
        return False
    return any(name in wanted for one in run.outcomes.values() for name in documents_of(one))


def documents_of(outcome: CaseOutcome) -> Iterator[str]:
    """Yield the source ids that stand in an outcome: wanted, found or cited."""
    yield from (gold.document for need in outcome.needs for gold in need.alternatives)
    yield from (name for channel in outcome.channels for name in channel.documents)
    if outcome.answer is not None:
        yield from (str(one.get("source_id", "")) for one in outcome.answer.citations)
