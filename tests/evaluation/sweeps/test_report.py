"""What a sweep says of its runs: differences from the base, effects of factors, what is worth its time."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from refdesk.evaluation.runs.outcomes import CaseOutcome, Channel
from refdesk.evaluation.sweeps.candidates import candidates
from refdesk.evaluation.sweeps.factors import Factor
from refdesk.evaluation.sweeps.report import SweepReport, report
from refdesk.evaluation.sweeps.rows import Row
from refdesk.evaluation.sweeps.tried import Status, Tried

OBJECTIVE = "pipeline.nDCG@10"
FACTORS = (Factor(name="fusion", values=("zscore", "rrf")), Factor(name="depth", values=(10, 25, 50)))
BASE = {"fusion": "zscore", "depth": 10}
QUESTIONS = 40
Value = Callable[[Mapping[str, Any], int], float]


def outcome(
    case: int, value: float | None, *, objective: str = OBJECTIVE, seconds: float = 0.1
) -> CaseOutcome:
    return CaseOutcome(
        case_id=f"q{case}",
        question=f"Question {case}?",
        measures={} if value is None else {objective: value},
        excluded={} if value is not None else {objective: "nothing to find"},
        channels=(Channel(name="pipeline", documents=(), seconds=seconds),),
        seconds=9.0,
        tokens=100,
        cost=0.5,
    )


def tried(strategy: Any, value: Value, *, status: Status = "done", objective: str = OBJECTIVE) -> list[Tried]:
    """Return all configurations of a strategy, whose values follow from theirs and the question's number."""
    found = candidates(FACTORS, BASE, strategy=strategy, most=100, seed=1)
    return [
        Tried(
            candidate=one,
            run=one.name,
            status=status,
            outcomes={
                f"q{case}": outcome(
                    case, value(one.values, case), objective=objective, seconds=one.values["depth"] / 100
                )
                for case in range(QUESTIONS)
            },
        )
        for one in found
    ]


def reported(found: list[Tried], objective: str = OBJECTIVE) -> SweepReport:
    return report(
        found,
        name="s",
        data="d",
        split="train",
        questions=QUESTIONS,
        objective=objective,
        strategy="grid",
    )


def row(of: SweepReport, name: str) -> Row:
    return next(one for one in of.rows if one.name == name)


def additive(values: Mapping[str, Any], case: int) -> float:
    """Of questions that differ by far more than configurations do."""
    hard, depths = random.Random(case).random() * 0.5, {10: 0.0, 25: 0.02, 50: -0.05}
    wobble = random.Random(f"{case}{values}").gauss(0, 0.02)
    return float(hard + 0.1 * (values["fusion"] == "rrf") + depths[values["depth"]] + wobble)


@pytest.mark.parametrize("strategy", ["one_at_a_time", "grid", "random"])
def test_effects_are_those_that_made_the_figures(strategy: str) -> None:
    effects = {(one.factor, one.value): one for one in reported(tried(strategy, additive)).effects}
    assert list(effects) == [("fusion", "rrf"), ("depth", 25), ("depth", 50)]
    for term, true in ((("fusion", "rrf"), 0.1), (("depth", 25), 0.02), (("depth", 50), -0.05)):
        estimate = effects[term].effect
        assert estimate is not None
        assert estimate.low < true < estimate.high
        assert estimate.high - estimate.low < 0.05


def test_one_at_a_time_an_effect_is_the_difference_from_the_base() -> None:
    found = reported(tried("one_at_a_time", additive))
    for effect in found.effects:
        difference = row(found, f"{effect.factor}={effect.value}").difference
        assert difference is not None
        assert effect.effect is not None
        assert effect.effect.value == pytest.approx(difference.value)


@pytest.mark.parametrize("strategy", ["grid", "random"])
def test_a_base_outside_of_the_grid_leaves_effects_beside_the_first_values(strategy: Any) -> None:
    outside = {"fusion": "sum", "depth": 99}
    found = candidates(FACTORS, outside, strategy=strategy, most=100)
    made = [
        Tried(
            candidate=one,
            run=one.name,
            status="done",
            outcomes={
                f"q{case}": outcome(case, 0.9 if one.values == outside else additive(one.values, case))
                for case in range(QUESTIONS)
            },
        )
        for one in found
    ]
    effects = {(one.factor, one.value, one.beside): one.effect for one in reported(made).effects}
    first = found[1].values
    assert set(effects) == {
        (one.name, value, first[one.name])
        for one in FACTORS
        for value in one.values
        if value != first[one.name]
    }
    (estimate,) = (effect for (name, _, _), effect in effects.items() if name == "fusion")
    assert estimate is not None
    assert estimate.value == pytest.approx(-0.1 if first["fusion"] == "rrf" else 0.1, abs=0.02)


def test_one_at_a_time_a_base_outside_of_the_values_is_what_all_are_beside() -> None:
    (only,) = reported(tried("one_at_a_time", additive)[:2]).effects
    assert (only.value, only.beside) == ("rrf", "zscore")
    assert only.effect is not None


def test_effects_that_always_come_together_are_not_told_apart() -> None:
    grid = tried("grid", additive)
    both = [one for one in grid if one.candidate.values in (BASE, {"fusion": "rrf", "depth": 50})]
    assert [(one.factor, one.effect) for one in reported(both).effects] == [("fusion", None), ("depth", None)]


def test_the_best_is_better_only_on_evidence() -> None:
    found = reported(tried("one_at_a_time", additive))
    assert found.best == "fusion=rrf"
    assert re.fullmatch(
        r"Best by pipeline\.nDCG@10: fusion=rrf with 0\.\d{4}, where the base has 0\.\d{4}: \+0\.\d{3} "
        r"\(\+0\.\d{3} to \+0\.\d{3}\)\. It is better \(p < 0\.001, corrected for 3 comparisons\)\.",
        found.verdict,
    )
    assert found.price.startswith("A question takes it ")
    assert row(found, "fusion=rrf").changed == QUESTIONS

    def chance(values: Mapping[str, Any], case: int) -> float:
        return random.Random(f"{case}{values}").random()

    assert "without evidence" in reported(tried("one_at_a_time", chance)).verdict


def test_equal_configurations_change_nothing() -> None:
    found = reported(tried("one_at_a_time", lambda values, case: case / QUESTIONS))
    mean = (QUESTIONS - 1) / 2 / QUESTIONS
    assert found.verdict == (
        f"None is better than the base by pipeline.nDCG@10: it has {mean:.4f}; next is fusion=rrf with "
        f"{mean:.4f}, +0.000 (+0.000 to +0.000)."
    )
    assert {one.changed for one in found.rows} == {0}
    assert {one.chance for one in found.rows[1:]} == {1.0}


def test_lower_is_better_for_what_costs() -> None:
    found = reported(tried("one_at_a_time", lambda v, _: v["depth"] / 10, objective="cost"), "cost")
    assert (found.best, row(found, "base").front) == ("base", True)
    assert not row(found, "depth=50").front
    assert found.verdict.startswith("None is better than the base by cost: it has $1.00; next is ")


def test_the_front_has_what_none_beats_in_quality_and_time() -> None:
    quality = {10: 0.5, 25: 0.7, 50: 0.7}
    found = reported(tried("one_at_a_time", lambda v, _: quality[v["depth"]] - (v["fusion"] == "rrf") * 0.1))
    assert {one.name for one in found.rows if one.front} == {"base", "depth=25"}
    assert row(found, "depth=25").p50 == 0.25
    assert (row(found, "base").cost, row(found, "base").tokens) == (0.5, 100)
    assert found.verdict.startswith(
        "Best by pipeline.nDCG@10: depth=25 with 0.7000, where the base has 0.5000"
    )
    assert found.price == (
        "A question takes it 250 ms (the base 100 ms); 100 tokens (the base 100 tokens); $0.5 (the base "
        "$0.5). Faster, and not beaten in both: base (0.5000 in 100 ms)."
    )


def test_what_was_not_asked_everything_is_neither_best_nor_on_the_front() -> None:
    base, *others = tried("one_at_a_time", additive)
    some = [
        Tried(candidate=one.candidate, run=one.run, status="dropped", outcomes=one.outcomes) for one in others
    ]
    found = reported([base, *some])
    assert (found.best, [one.name for one in found.rows if one.front]) == ("base", ["base"])
    assert row(found, "fusion=rrf").difference is not None


def test_failed_and_missing_cases_are_left_out_and_counted() -> None:
    base, other, *_ = tried("one_at_a_time", additive)
    outcomes = {
        **other.outcomes,
        "q0": outcome(0, None),
        "q1": CaseOutcome(case_id="q1", question="?", error="x"),
    }
    found = reported([base, Tried(candidate=other.candidate, run="r", status="done", outcomes=outcomes)])
    second = found.rows[1]
    assert (second.asked, second.missing) == (QUESTIONS, 2)
    assert second.difference is not None
    assert second.difference.value == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("status", ["not run", "failed"])
def test_what_never_ran_has_no_figures(status: Status) -> None:
    found = candidates(FACTORS, BASE, strategy="one_at_a_time")
    empty = reported([Tried(candidate=one, run=one.name, status=status, error="why") for one in found])
    assert empty.verdict == "No configuration was asked everything, so none is called the best."
    assert empty.price == ""
    assert empty.effects == ()
    assert all(one.objective is None and one.error == "why" for one in empty.rows)


def test_few_questions_have_no_chance() -> None:
    few = [
        Tried(
            candidate=one.candidate,
            run=one.run,
            status="done",
            outcomes=dict(list(one.outcomes.items())[:3]),
        )
        for one in tried("one_at_a_time", additive)
    ]
    found = reported(few)
    assert row(found, "fusion=rrf").chance is None
    assert found.verdict.endswith(
        "Fewer than 6 questions have both, which is too few to tell it from chance."
    )


def test_what_was_dropped_leaves_the_other_effects_all_their_questions() -> None:
    first, second, third, fourth = tried("one_at_a_time", additive)
    few = dict(list(fourth.outcomes.items())[:10])
    dropped = Tried(candidate=fourth.candidate, run=fourth.run, status="dropped", outcomes=few)
    found = reported([first, second, third, dropped])
    for row_, effect in zip(found.rows[1:], found.effects, strict=True):
        assert row_.difference is not None
        assert effect.effect is not None
        assert effect.effect.value == pytest.approx(row_.difference.value)
        assert (effect.effect.low, effect.effect.high) == pytest.approx(
            (row_.difference.low, row_.difference.high), abs=0.003
        )
