"""What the checks of conversations say and find."""

from dataclasses import replace
from typing import Any

from refdesk.context import Answer, Citation, Turn
from refdesk.conversations import KeptResults
from refdesk.conversations.kept import kept
from refdesk.evidence import number_hits
from refdesk.results import Results
from refdesk.support import Claim, EvidenceSpan, GroundedSpan, Grounding, SpanSource
from refdesk.testing.rerankers import sample_hits

SAID = (
    Turn("user", "How many days of leave are granted?"),
    Turn("assistant", "Thirty days [1].\n\n```\nleave = 30\n```"),
    Turn("user", "图书馆几点开门? \U0001f4da e\u0301 \0 \x1b[31m \ud83d ' OR '1'='1"),
    Turn("assistant", " At nine. "),
)


def sample_results() -> KeptResults:
    return kept(Results(question="leave", hits=sample_hits(), collection="handbook", mode="hybrid"))


def sample_answer() -> Answer:
    """Return an answer that has something in every field."""
    hits = sample_hits()
    chunk = hits[0].chunk
    where: dict[str, Any] = {
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "collection": chunk.collection,
        "start": chunk.start,
        "end": chunk.end,
        "quote": chunk.text,
    }
    citation = Citation(
        marker=1, title="Leave \u202e[1]", source_id="leave", url=None, page=3, support="partial", **where
    )
    proof = EvidenceSpan(number=1, score=1 / 3, **where)
    span = GroundedSpan(text="Thirty", start=0, end=6, score=0.1, sources=(SpanSource("c", 0.7, "leave", 2),))
    claim = Claim(text="Thirty", start=0, end=6, support="supported", score=0.9, source=proof, cited=(1,))
    return Answer(
        question="How many days?",
        text="Thirty [1].\n\u2028\0 \ud83d e\u0301",
        citations=(citation, replace(citation, marker=2, url="https://example.org/?a=1&b=ä#page=3")),
        zone="weak",
        refusal="abstained",
        evidence=number_hits(hits),
        warnings=("The reranker is down.",),
        timings={"search": 0.1},
        model="scripted",
        number_by="document",
        removed_markers=1,
        removed_links=2,
        grounding=Grounding(
            score=None, faithful_spans=(span,), token_labels=(0, 1), claims=(claim,), grounder="local"
        ),
    )
