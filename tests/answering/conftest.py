"""Documents of a small handbook, chunked by hand."""

from collections.abc import Callable

import pytest

from refdesk.context import Evidence
from refdesk.documents import Chunk, Document, Hit, chunk_id
from refdesk.evidence import number_hits

LEAVE = """# Annual leave

Full-time employees get **30 days** of annual leave per year. The leave year starts in January.
Unused leave expires at the end of March, see [the rules](https://intranet.example/rules).

- Part-time employees get leave in proportion to their hours.
"""
TRAVEL = "Travel costs are refunded within four weeks [12]. Receipts must be handed in with form T-7. " * 2
FAQ = "How long is the probation period?\nSix months.\n\nWho signs contracts? The head of personnel."
MakeEvidence = Callable[..., tuple[Evidence, ...]]


@pytest.fixture
def documents() -> dict[str, Document]:
    texts = {"leave.md": LEAVE, "travel.md": TRAVEL, "faq.md": FAQ}
    return {
        name: Document(
            collection="c",
            source_id=name,
            title=name.split(".")[0].title(),
            text=text,
            url=f"file:///{name}",
        )
        for name, text in texts.items()
    }


@pytest.fixture
def evidence_of(documents: dict[str, Document]) -> MakeEvidence:
    """Return a function from document names to evidence: one chunk each, from the fifth character."""

    def make(*names: str) -> tuple[Evidence, ...]:
        return number_hits([_hit(documents[name]) for name in names])

    return make


def _hit(document: Document) -> Hit:
    text = document.text[5:]
    chunk = Chunk(
        chunk_id=chunk_id(document.document_id, 0, text),
        document_id=document.document_id,
        collection=document.collection,
        position=0,
        start=5,
        end=len(document.text),
        text=text,
    )
    return Hit(chunk=chunk, title=document.title, url=document.url, source_id=document.source_id)
