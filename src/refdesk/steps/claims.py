"""Hits from outside that say they are of the library: only what may be read now is taken for that.

A searcher of one's own may return hits that it kept from another time, or from another asker. A hit is the
library's where its document has the id that the library gives to its source.
"""

from collections.abc import Sequence

from refdesk.documents import Hit, document_id
from refdesk.errors import NotFound
from refdesk.filters import In
from refdesk.pipeline import Services
from refdesk.results import numbered


def is_claimed(hit: Hit) -> bool:
    """Tell whether a hit says that it is of the library."""
    return hit.chunk.document_id == document_id(hit.chunk.collection, hit.source_id)


async def readable(services: Services, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return hits without those of the library that are not there any more, or not for those who ask."""
    claimed = [hit for hit in hits if is_claimed(hit)]
    if not claimed:
        return tuple(hits)
    there = await _there(services, claimed)
    return numbered([hit for hit in hits if not is_claimed(hit) or hit.chunk.document_id in there])


async def _there(services: Services, claimed: Sequence[Hit]) -> set[str]:
    """Return the ids of those documents that may be read; of none where there is no library."""
    found: set[str] = set()
    for name in sorted({hit.chunk.collection for hit in claimed}):
        ids = {hit.chunk.document_id for hit in claimed if hit.chunk.collection == name}
        try:
            reader = await services.reader([name])
        except NotFound:
            continue
        records = await reader.documents(filter=In("document_id", tuple(sorted(ids))))
        found |= {record.document_id for record in records}
    return found
