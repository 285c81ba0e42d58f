"""What citations are numbered by."""

from collections.abc import Hashable, Sequence

from refdesk.context import Evidence, NumberBy


def sources(evidence: Sequence[Evidence], by: NumberBy) -> dict[int, Hashable]:
    """Return what each number of the evidence counts as: numbers that count as the same share a marker."""
    return {item.number: _source(item, by) for item in evidence}


def _source(item: Evidence, by: NumberBy) -> Hashable:
    chunk = item.hit.chunk
    return (chunk.collection, chunk.document_id) if by == "document" else item.number
