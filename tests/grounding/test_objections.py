"""What a model is told of an answer that does not hold."""

from typing import Any

import pytest

from refdesk.grounding.objections import LONGEST, SOMETHING, objections
from refdesk.support import Claim, EvidenceSpan, Grounding, Support

SOURCE = EvidenceSpan(
    number=3, chunk_id="c", document_id="d", collection="x", start=0, end=9, quote="It is\n120.", score=0.9
)


def of(support: Support, text: str = "It is 150 [1].", **more: Any) -> Claim:
    return Claim(text=text, start=0, end=len(text), support=support, **more)


def test_each_statement_that_does_not_hold_is_quoted() -> None:
    claims = (
        of("supported", source=SOURCE),
        of("contradicted", source=SOURCE),
        of("unsupported", source=SOURCE),
        of("contradicted"),
        of("partial"),
    )
    assert objections(Grounding(score=0.4, claims=claims)) == (
        '"It is 150." contradicts the evidence, which says: "It is 120." [[3]].',
        '"It is 150." is not in the evidence.',
        '"It is 150." contradicts the evidence.',
    )


@pytest.mark.parametrize(
    ("score", "support", "said"),
    [
        (0.2, "unchecked", (SOMETHING,)),
        (0.5, "unchecked", ()),
        (None, "unchecked", ()),
        (0.2, "supported", ()),
    ],
)
def test_a_score_tells_only_where_no_statement_was_checked(
    score: float | None, support: Support, said: tuple[str, ...]
) -> None:
    assert objections(Grounding(score=score, claims=(of(support),))) == said
    assert objections(Grounding(score=0.1)) == (SOMETHING,)


def test_long_statements_are_shortened() -> None:
    [said] = objections(Grounding(score=0.0, claims=(of("unsupported", text="word " * 400),)))
    assert len(said) < LONGEST + 50
    assert "…" in said
