"""The parts of `benchmarks/compare_noise`: what is drawn, jittered and exchanged."""

import random

from benchmarks.compare_noise import drawn, exchanged, jittered, verdicts
from tests.evaluation.madeup import case, run_of

from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.runs.outcomes import Channel, Run

NEEDS = (Need(alternatives=(Gold(document="d0"),)),)


def stored(name: str, first: int, count: int = 40) -> Run:
    """Return a run in which the right document is at a place."""
    ranking = [f"d{n}" for n in range(1, 10)]
    ranking.insert(first, "d0")
    channel = Channel(name="pipeline", documents=tuple(ranking), seconds=0.1)
    value = 1.0 if first < 5 else 0.0
    measures = {"pipeline.nDCG@10": value, "pipeline.Recall@5": value}
    return run_of([case(f"q{n}", measures, needs=NEEDS, channels=(channel,)) for n in range(count)], name)


def test_drawn_are_the_same_questions_of_both() -> None:
    a, b = drawn(stored("a", 0), stored("b", 8, 30), 20, random.Random(0))
    assert a.outcomes.keys() == b.outcomes.keys()
    assert len(a.outcomes) == 20
    assert (a.header.name, b.header.name) == ("a", "b")
    assert drawn(a, b, 90, random.Random(0))[0].outcomes.keys() == a.outcomes.keys()


def test_a_jittered_run_is_measured_anew() -> None:
    run = stored("a", 0)
    same, other = (jittered(run, share, random.Random(1)) for share in (0.0, 0.5))
    assert {one.measures["pipeline.nDCG@10"] for one in same.outcomes.values()} == {1.0}
    values = {one.measures["pipeline.nDCG@10"] for one in other.outcomes.values()}
    assert 1.0 in values
    assert min(values) < 0.8


def test_exchanged_runs_have_both_outcomes_of_each_question() -> None:
    a, b = exchanged(stored("a", 0), stored("b", 8), random.Random(2))
    pairs = [(a.outcomes[one].measures, b.outcomes[one].measures) for one in a.outcomes]
    assert {one["pipeline.nDCG@10"] + other["pipeline.nDCG@10"] for one, other in pairs} == {1.0}
    assert 0 < sum(one["pipeline.nDCG@10"] for one, _ in pairs) < 40


def test_verdicts_are_counted() -> None:
    good, bad = stored("a", 0), stored("b", 8)
    said, last = verdicts(lambda rng: drawn(good, bad, 20, rng), 3)
    assert (said["worse"], said["no evidence"], last.cases) == (3, 0, 20)
