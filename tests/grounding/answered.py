"""What tests of claims have in common: evidence, and answers with the citations of their markers."""

import re
from collections.abc import Sequence
from dataclasses import replace

from refdesk.citations.build import cite
from refdesk.citations.sentences import Span
from refdesk.context import Answer, Evidence
from refdesk.evidence import number_hits
from refdesk.support import Claim, Grounding
from refdesk.testing.rerankers import sample_hit

LEAVE = "# Leave\n\nEmployees get 30 days of leave a year. Unused leave is not paid out."
TRAVEL = "A hotel may cost 120 euros a night. Flights need the approval of the head of department."
SAFETY = "Fire drills take place twice a year. Nobody may use the lift during a drill."
TRAINEES = "Trainees get 20 days of leave a year. They work 35 hours a week."
TEXTS = (LEAVE, TRAVEL, SAFETY, TRAINEES)


def evidence_of(*texts: str) -> tuple[Evidence, ...]:
    """Return numbered evidence; chunks begin somewhere in their documents."""
    hits = [sample_hit(text, source_id=f"{rank}.txt", rank=rank) for rank, text in enumerate(texts, 1)]
    return number_hits(
        [
            replace(hit, chunk=replace(hit.chunk, start=7 * rank, end=7 * rank + len(hit.chunk.text)))
            for rank, hit in enumerate(hits)
        ]
    )


EVIDENCE = evidence_of(*TEXTS)


def chunk(number: int) -> str:
    return EVIDENCE[number - 1].hit.chunk.chunk_id


def answered(text: str, evidence: Sequence[Evidence] = EVIDENCE) -> Answer:
    """Return an answer in which `[k]` cites evidence k."""
    numbers = sorted({int(number) for number in re.findall(r"\[(\d{1,4})\]", text)})
    return Answer(
        question="?",
        text=text,
        citations=tuple(
            cite(number, evidence[number - 1].hit, Span(0, len(evidence[number - 1].hit.chunk.text)))
            for number in numbers
            if 1 <= number <= len(evidence)
        ),
    )


def check(claims: Sequence[Claim], answer: Answer, evidence: Sequence[Evidence], found: Grounding) -> None:
    """Check what holds of all claims, whatever the answer."""
    chunks = {item.hit.chunk.chunk_id: item for item in evidence}
    at = 0
    for claim in claims:
        assert answer.text[claim.start : claim.end] == claim.text
        assert at <= claim.start < claim.end
        at = claim.end
        assert claim.score is None or 0 <= claim.score <= 1
        assert set(claim.misattributed) <= set(claim.cited) <= {one.marker for one in answer.citations}
        assert len(set(claim.cited)) == len(claim.cited)
        if claim.misattributed or claim.suggested:
            assert claim.support in ("supported", "partial")
        if source := claim.source:
            item = chunks[source.chunk_id]
            text, start = item.hit.chunk.text, item.hit.chunk.start
            assert source.number == item.number
            assert text[source.start - start : source.end - start] == source.quote != ""
            cites_it = {one.marker for one in answer.citations if one.chunk_id == source.chunk_id}
            assert not cites_it & set(claim.misattributed)
    judged = [*found.faithful_spans, *found.hallucinated_spans]
    if not judged:
        assert all(one.support == "unchecked" for one in claims)
