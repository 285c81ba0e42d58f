"""A run in figures: nothing that is missing is hidden, and nothing missing is counted."""

from dataclasses import replace

import pytest
from tests.evaluation.reporting.building import BAD, GOOD, UNKNOWN, a_run, answered

from refdesk.evaluation.reporting.summary import main_channel, ordered, summarise, tag_measures
from refdesk.evaluation.reporting.verdicts import criteria, meaning, state_of
from refdesk.evaluation.runs.outcomes import CaseOutcome


def failing(outcome: CaseOutcome) -> CaseOutcome:
    if outcome.case_id not in ("q3", "q7"):
        return outcome
    return replace(outcome, error="the model did not answer", measures={}, excluded={}, channels=())


def test_failed_cases_are_counted_and_not_measured() -> None:
    run = a_run("a", GOOD, change=failing)
    found = summarise(replace(run, header=replace(run.header, cases=50)))
    assert (found.asked, found.header.cases) == (40, 50)
    assert found.errors == {"the model did not answer": 2}
    assert found.states == {"right": 38, "error": 2}
    row = found.row("reranked.nDCG@10")
    assert row is not None
    assert row.mean is not None
    assert (row.mean.cases, row.failed) == (38, 2)
    assert found.latency["case"].count == 38


def test_a_measure_that_no_case_has_is_there_with_the_reason() -> None:
    row = summarise(a_run("a", GOOD)).row("answer.right")
    assert row is not None
    assert row.mean is None
    assert row.excluded == {UNKNOWN: 40}


def test_a_run_that_asked_nothing() -> None:
    run = a_run("a", GOOD, status="crashed")
    found = summarise(replace(run, outcomes={}, error="killed"))
    assert (found.asked, found.measures, found.tags, found.latency) == (0, (), (), {})
    assert found.abstaining is None
    assert found.criteria == ()


def test_tags_have_the_figures_of_their_cases() -> None:
    found = summarise(a_run("a", [1, 9, 9, 9] * 10))
    by_tag = {row.tag: row for row in found.tags}
    assert [(row.tag, row.cases) for row in found.tags] == [("easy", 30), ("short", 30), ("hard", 10)]
    assert by_tag["hard"].values["reranked.Hit@5"].value == 1.0
    assert by_tag["easy"].values["reranked.Hit@5"].value == 0.0
    assert "answer.right" not in by_tag["easy"].values


def test_refusals() -> None:
    found = summarise(a_run("a", BAD, change=answered)).abstaining
    assert found is not None
    answerable, others = found.rows
    assert (answerable.answerable, answerable.cases, answerable.refused.value) == (True, 32, 0.0)
    assert answerable.right is not None
    assert answerable.right.value == pytest.approx(8 / 32)
    assert (others.answerable, others.cases, others.refused.value) == (False, 8, 1.0)
    assert others.right is None
    assert found.refusals == {"below_threshold": 8}
    assert found.curve is not None
    assert found.curve_cases == 32
    assert found.curve.area < found.curve.chance
    assert found.curve.area == pytest.approx(found.curve.best)


def test_an_answer_that_declines_in_its_own_words_is_refused() -> None:
    def declining(outcome: CaseOutcome) -> CaseOutcome:
        one = answered(outcome)
        return replace(one, measures={**one.measures, "answer.refused": 1.0})

    found = summarise(a_run("a", GOOD, change=declining)).abstaining
    assert found is not None
    assert found.rows[0].refused.value == 1.0
    assert found.curve is None


def test_what_says_how_a_case_went() -> None:
    plain, judged = a_run("a", GOOD), a_run("b", GOOD, change=answered)
    assert criteria([plain]) == ("reranked.Hit@5",)
    assert criteria([judged]) == ("answer.right", "reranked.Hit@5")
    assert criteria([plain, judged]) == ("reranked.Hit@5",)
    assert criteria([]) == ()
    one = plain.outcomes["q1"]
    assert state_of(one, ("answer.right", "reranked.Hit@5")) == "right"
    assert state_of(one, ("answer.right",)) == "unknown"
    assert state_of(replace(one, error="no"), ("reranked.Hit@5",)) == "error"
    assert state_of(replace(one, measures={"reranked.Hit@5": 0.0}), ("reranked.Hit@5",)) == "wrong"
    assert meaning(()) == ""
    assert "where an answer could not be judged" in meaning(("answer.right", "fused.Hit@5"))


def test_the_order_of_measures() -> None:
    names = ["seconds", "answer.right", "mine.Hit@5", "fused.Hit@5", "fused.nDCG@10", "keyword.nDCG@10"]
    assert ordered(names) == [
        "keyword.nDCG@10",
        "fused.nDCG@10",
        "fused.Hit@5",
        "answer.right",
        "seconds",
        "mine.Hit@5",
    ]
    assert main_channel(names) == "fused"
    assert main_channel(["seconds"]) == ""
    rows = summarise(a_run("a", GOOD)).measures
    assert tag_measures(rows) == ["reranked.nDCG@10", "reranked.Hit@5"]
