"""What repeated runs say about themselves."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.madeup import case, measured, run_of

from refdesk.errors import InputError
from refdesk.evaluation.comparing.noise import drift, noise
from refdesk.evaluation.runs.outcomes import Run


def repeated(count: int = 3, *, shift: float = 0.0, cases: int = 80) -> list[Run]:
    """Return runs whose cases move on their own, and all of a run by `shift`."""
    draw = np.random.default_rng(2)
    values = draw.uniform(0.2, 0.6, cases)
    return [
        measured({"m": (values + draw.normal(0, 0.05, cases) + shift * n).tolist()}, f"run-{n}")
        for n in range(count)
    ]


def test_runs_whose_cases_move_on_their_own() -> None:
    found = noise(repeated())
    [row] = found.measures
    assert (found.runs, found.cases, row.cases) == (("run-0", "run-1", "run-2"), 80, 80)
    assert row.within == pytest.approx(0.05, rel=0.2)
    assert row.expected == pytest.approx(row.within / np.sqrt(80))
    assert row.between == pytest.approx(np.std(row.means, ddof=1))
    assert row.between < 3 * row.expected
    assert row.chance > 0.02
    assert row.moved == 80
    assert found.notes == ()


def test_runs_that_drift_are_told_from_them() -> None:
    [row] = noise(repeated(shift=0.04)).measures
    assert row.between > 3 * row.expected
    assert row.chance < 0.01


def test_runs_that_are_alike_have_no_noise() -> None:
    run = measured({"m": [0.1, 0.7, 0.3]})
    [row] = noise([run, replace(run, header=replace(run.header, name="b"))]).measures
    assert (row.between, row.expected, row.within, row.moved, row.chance) == (0, 0, 0, 0, 1)
    assert noise([run, run]).moving == ()


def test_the_cases_that_flip_come_first() -> None:
    outcomes = [[0.0, 1.0, 0.5], [1.0, 1.0, 0.6]]
    runs = [
        measured({"x": values, "fused.pollution@5": [1.0, 5.0, 3.0]}, f"r{n}")
        for n, values in enumerate(outcomes)
    ]
    found = noise(runs)
    assert [(one.case_id, one.measure, one.values) for one in found.moving] == [
        ("q0", "x", (0.0, 1.0)),
        ("q2", "x", (0.5, 0.6)),
    ]
    assert len(noise(runs, most=1).moving) == 1
    assert [row.measure for row in noise(runs, measures=["x"]).measures] == ["x"]


def test_only_cases_that_every_run_measured_count() -> None:
    a = run_of([case("q0", {"m": 0.5}), case("q1", {"m": 0.5}), case("q2", {"m": 0.1})])
    b = run_of([case("q0", {"m": 0.7}), case("q1", error="gone")], "b")
    found = noise([a, b])
    rows = {row.measure: row for row in found.measures}
    assert (found.cases, rows["m"].cases, rows["m"].means) == (2, 1, (0.5, 0.7))
    assert (rows["failed"].cases, rows["failed"].means) == (2, (0.0, 0.5))


def test_the_chance_of_a_drift_is_uniform_where_there_is_none() -> None:
    draw = np.random.default_rng(0)
    chances = np.sort([drift(draw.normal(0, 1, (20, 3)), seed=seed) for seed in range(200)])
    assert np.abs(chances - np.arange(1, 201) / 200).max() < 1.63 / np.sqrt(200)


def test_what_has_no_noise() -> None:
    one = measured({"m": [0.5, 0.5]})
    with pytest.raises(InputError, match="1 run has no noise"):
        noise([one])
    with pytest.raises(InputError, match="different data"):
        noise([one, replace(one, header=replace(one.header, data_digest="d2"))])
    with pytest.raises(InputError, match="no case in common"):
        noise([one, run_of([case("other", {"m": 1.0})], "b")])
    with pytest.raises(InputError, match="No measure is in all"):
        noise([one, measured({"x": [0.5, 0.5]}, "b")])
    with pytest.raises(InputError, match="'nope' was not measured"):
        noise([one, one], measures=["nope"])


def test_another_configuration_is_no_repetition() -> None:
    a, b, _ = repeated()
    other = replace(b, header=replace(b.header, settings={"mode": "vector"}, pipeline_yaml="steps: []"))
    [note] = noise([a, other]).notes
    assert note.startswith(
        "run-1 is not a repetition of run-0: settings.mode, the lines of the pipeline differ"
    )
