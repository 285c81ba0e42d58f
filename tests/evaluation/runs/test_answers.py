"""What an answer is worth, from its parts."""

import pytest

from refdesk.context import Answer, Citation, Context
from refdesk.evaluation.datasets.cases import Case
from refdesk.evaluation.runs.answers import (
    NOT_ANSWERED_BY,
    OF_ANSWERS,
    REFUSED,
    UNCHECKED,
    UNKNOWN,
    Mark,
    Reading,
    answer_marks,
    answer_outcome,
    citation_validity,
    confidence,
    held,
    read_by_words,
    rightness,
)
from refdesk.support import Claim, Grounding, Support

ANSWERABLE = Case(case_id="a", question="How many days?", answers=("thirty days", "30"))
OPEN = Case(case_id="b", question="How many days?")
OFF_TOPIC = Case(case_id="c", question="Who won?", answerable=False)


def citation(marker: int = 1, support: Support = "supported") -> Citation:
    return Citation(
        marker=marker,
        chunk_id="c",
        document_id="d",
        collection="k",
        title="Leave",
        source_id="leave.md",
        url=None,
        page=None,
        start=0,
        end=6,
        quote="Thirty",
        support=support,
    )


def claim(support: Support = "supported", cited: tuple[int, ...] = (1,)) -> Claim:
    return Claim(text="x", start=0, end=1, support=support, cited=cited)


def answer(*supports: Support, removed: int = 0, grounding: Grounding | None = None) -> Answer:
    return Answer(
        question="How many days?",
        text="It is thirty days [1].",
        citations=tuple(citation(number, one) for number, one in enumerate(supports, 1)),
        removed_markers=removed,
        grounding=grounding,
    )


def reading(refused: Mark = 0.0, correctness: Mark = 1.0, faithfulness: Mark = 1.0) -> Reading:
    return Reading(refused=refused, correctness=correctness, faithfulness=faithfulness)


def test_citations_are_valid_where_they_point_to_evidence_and_their_quote_stands() -> None:
    assert citation_validity(answer("supported", "supported"), 2) == 1.0
    assert citation_validity(answer("supported", "supported", removed=2), 1) == 0.25
    assert citation_validity(answer(removed=1), 0) == 0.0
    assert citation_validity(answer(), 0) == "the answer cites nothing"


def test_shares_are_of_what_was_checked() -> None:
    assert held(["supported", "partial", "unsupported", "contradicted", "unchecked"], "claim") == 0.5
    assert held(["unchecked"], "claim") == "no claim was checked"
    assert held([], "citation") == "there is no citation"


def test_all_marks_of_an_answer() -> None:
    grounding = Grounding(score=0.75, claims=(claim(), claim("unsupported", ()), claim(), claim("partial")))
    marks = answer_marks(
        ANSWERABLE, answer("supported", "contradicted", grounding=grounding), reading(0.0, 0.75, 0.75), 2
    )
    assert marks == {
        "citation_validity": 1.0,
        "citation_support": 0.5,
        "claim_support": 0.75,
        "coverage": 0.75,
        "faithfulness": 0.75,
        "correctness": 0.75,
        "refused": 0.0,
        "right": 1.0,
    }


def test_an_answer_that_nobody_checked_has_no_marks_for_it() -> None:
    marks = answer_marks(
        ANSWERABLE, answer("unchecked"), read_by_words(ANSWERABLE, answer(), refused=False), 1
    )
    assert marks["claim_support"] == marks["coverage"] == marks["faithfulness"] == UNCHECKED
    assert marks["citation_support"] == "no citation was checked"
    unsure = answer(grounding=Grounding(score=None, reason="too long"))
    assert read_by_words(ANSWERABLE, unsure, refused=False).faithfulness == "too long"


def test_a_refusal_has_no_marks_of_an_answer() -> None:
    marks = answer_marks(OFF_TOPIC, answer("supported"), reading(1.0, NOT_ANSWERED_BY, 1.0), 1)
    assert {marks[name] for name in OF_ANSWERS} == {REFUSED}
    assert (marks["refused"], marks["right"], marks["correctness"]) == (1.0, 1.0, NOT_ANSWERED_BY)


@pytest.mark.parametrize(
    ("case", "read", "expected"),
    [
        (ANSWERABLE, reading(correctness=0.5), 1.0),
        (ANSWERABLE, reading(correctness=0.49), 0.0),
        (ANSWERABLE, reading(1.0, 0.0), 0.0),
        (ANSWERABLE, reading("broken", "broken"), "broken"),
        (OPEN, reading(0.0, UNKNOWN), UNKNOWN),
        (OPEN, reading(1.0, UNKNOWN), UNKNOWN),
        (OFF_TOPIC, reading(1.0, NOT_ANSWERED_BY), 1.0),
        (OFF_TOPIC, reading(0.0, NOT_ANSWERED_BY), 0.0),
        (OFF_TOPIC, reading("broken", NOT_ANSWERED_BY), "broken"),
    ],
)
def test_what_is_right(case: Case, read: Reading, expected: Mark) -> None:
    assert rightness(case, read) == expected


def test_words_are_compared_without_markers() -> None:
    assert read_by_words(ANSWERABLE, answer(), refused=False).correctness == 1.0
    assert read_by_words(ANSWERABLE, answer(), refused=True).correctness == 0.0
    assert read_by_words(OPEN, answer(), refused=True).correctness == UNKNOWN
    assert read_by_words(OFF_TOPIC, answer(), refused=True).correctness == NOT_ANSWERED_BY


def test_confidence_is_what_was_known_before() -> None:
    grounding = Grounding(score=0.25)
    context = Context(question="How many days?")
    assert confidence(context, answer()) is None
    assert confidence(context, answer(grounding=grounding)) == 0.25
    assert (
        confidence(context.evolve(rerank_scores={"a": 0.5, "b": 0.75}), answer(grounding=grounding)) == 0.75
    )


def test_an_answer_as_it_is_stored() -> None:
    context, given = Context(question="How many days?"), answer("partial", grounding=Grounding(score=1.0))
    read = Reading(refused=1.0, correctness=0.0, faithfulness=REFUSED, reasons={"refused": "so", "x": ""})
    stored = answer_outcome(context, given, read)
    assert stored.refusal == "declined"
    assert stored.judgements == {"answer.refused": "so"}
    assert stored.citations[0]["support"] == "partial"
    assert stored.confidence == 1.0
    assert answer_outcome(context, given, reading()).refusal is None
