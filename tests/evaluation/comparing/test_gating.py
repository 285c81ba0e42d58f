"""Gates stop what is shown to be worse, and nothing else."""

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.madeup import case, measured, run_of

from refdesk.cli.records import plain
from refdesk.errors import InputError
from refdesk.evaluation.comparing.gateresult import Gate, GateRow
from refdesk.evaluation.comparing.gating import gate
from refdesk.evaluation.comparing.statistics import cases_unseen, share
from refdesk.evaluation.runs.outcomes import Run

COUNT = 120


def runs(change: float = 0.0, spread: float = 0.1, *, seed: int = 0, count: int = COUNT) -> tuple[Run, Run]:
    """Return a baseline, and a candidate that is better by `change` on average."""
    draw = np.random.default_rng(seed)
    before = draw.random(count)
    after = before + change + draw.normal(0, spread, count)
    return measured({"m": before.tolist()}), measured({"m": after.tolist()}, "b")


def row_of(found: Gate) -> GateRow:
    [row] = found.rows
    return row


def test_a_candidate_that_is_much_worse_does_not_pass() -> None:
    found = gate(*runs(-0.1), measures=["m"])
    row = row_of(found)
    assert not found.passed
    assert row.finding == "regressed"
    assert row.gain.high < -0.01
    assert row.baseline - row.candidate == pytest.approx(-row.gain.value)
    assert found.reasons == (
        f"m is worse by {-row.gain.value:.3f} (at least {-row.gain.high:.3f}, allowed are 0.01), p 0.0001.",
    )
    assert json.loads(json.dumps(plain(found.to_json())))["passed"] is False


def test_what_is_not_shown_passes_and_is_told() -> None:
    found = gate(*runs(-0.005, 0.3), measures=["m"])
    row = row_of(found)
    assert found.passed
    assert row.finding == "cannot tell"
    assert row.needed is not None
    assert row.needed > COUNT
    [note] = found.notes
    assert note.startswith("m: cannot tell. With 120 cases a regression of 0.01 could not be seen, only one")
    assert f"about {row.needed:,} cases would be needed" in note


@pytest.mark.parametrize("change", [0.0, 0.05])
def test_a_candidate_as_good_or_better_holds(change: float) -> None:
    found = gate(*runs(change, 0.01), measures=["m"])
    assert found.passed
    assert row_of(found).finding == "held"
    assert found.notes == ()


def test_a_regression_that_is_shown_but_allowed_passes() -> None:
    found = gate(*runs(-0.05, 0.02), measures=["m"], max_regression=0.1)
    assert (found.passed, row_of(found).finding) == (True, "held")
    assert not gate(*runs(-0.05, 0.02), measures=["m"], max_regression=0.0).passed
    assert row_of(gate(*runs(0.0, 0.3), measures=["m"], max_regression=0.0)).needed is None


def test_the_same_run_holds_where_so_many_cases_that_did_not_move_show_it() -> None:
    same, _ = runs(count=381)
    assert (row_of(gate(same, same, measures=["m"])).finding, cases_unseen(0.01)) == ("held", 381)
    fewer, _ = runs(count=380)
    [one, _] = (found := gate(fewer, fewer, measures=["m"])).notes[::-1]
    assert (found.passed, row_of(found).finding, row_of(found).moved) == (True, "cannot tell", 0)
    assert one == (
        "m: cannot tell. None of 380 cases moved, which shows nothing of other questions; about 381 cases "
        "would be needed to rule a regression of 0.01 out."
    )
    assert row_of(gate(fewer, fewer, measures=["m"], max_regression=0.02)).finding == "held"
    without_limit = row_of(gate(same, same, measures=["m"], max_regression=0.0))
    assert (without_limit.finding, without_limit.needed) == ("cannot tell", None)


@pytest.mark.parametrize("worse", [0, 1, 3])
def test_a_handful_of_which_few_moved_never_holds(worse: int) -> None:
    """The interval of differences that are nearly all 0 is narrow however few they are."""
    before = measured({"answer.right": [1.0] * 30})
    after = measured({"answer.right": [0.0] * worse + [1.0] * (30 - worse)}, "b")
    for first, second in ((before, after), (after, before)):
        row = row_of(gate(first, second, measures=["answer.right"], max_regression=0.05))
        assert (row.finding, row.moved) == ("cannot tell", worse)
        assert row.needed is not None
        assert row.needed >= 73


def test_strict_stops_what_cannot_be_told() -> None:
    one, other = measured({"m": [1.0] * 12}), measured({"m": [1.0] * 12}, "b")
    assert gate(one, other, measures=["m"]).passed
    found = gate(one, other, measures=["m"], strict=True)
    assert not found.passed
    assert found.reasons[0].startswith("m: cannot tell. None of 12 cases moved")
    held = gate(*runs(0.0, 0.01), measures=["m"], strict=True)
    assert (held.passed, held.reasons) == (True, ())
    nothing = gate(measured({"x": [1.0]}), measured({"y": [1.0]}, "b"), strict=True)
    assert nothing.reasons == ("No measure is watched, only failures.",)


def test_no_case_is_too_few_for_more_than_a_doubt() -> None:
    for count in (1, 2, 5):
        few, other = measured({"m": [1.0] * count}), measured({"m": [0.0] * count}, "b")
        found = gate(few, other, measures=["m"])
        assert (found.passed, row_of(found).finding) == (True, "cannot tell")
        assert f"{count} cases are too few" in found.notes[0]
    enough = measured({"m": [1.0] * 8}), measured({"m": [0.0] * 8}, "b")
    assert not gate(*enough, measures=["m"]).passed


def test_false_alarms_are_rare_and_real_damage_is_found_as_promised() -> None:
    said: Counter[str] = Counter()
    size = row_of(gate(*runs(0, 0.1), measures=["m"])).seen_from
    assert size is not None
    for seed in range(60):
        said[f"at the limit {gate(*runs(-0.01, 0.1, seed=seed), measures=['m']).passed}"] += 1
        said[f"damaged {gate(*runs(-size, 0.1, seed=seed), measures=['m']).passed}"] += 1
    assert said["at the limit False"] <= 4
    assert 40 <= said["damaged False"] <= 57


def test_lower_is_better_is_turned_round() -> None:
    low, high = (
        measured({"fused.pollution@5": [value] * 20}, name) for value, name in ((2.0, "a"), (3.0, "b"))
    )
    assert not gate(low, high, measures=["fused.pollution@5"]).passed
    found = gate(high, low, measures=["fused.pollution@5"])
    assert (found.passed, row_of(found).gain.value) == (True, 1.0)


def test_what_a_case_takes_is_watched_where_it_is_named_as_a_share() -> None:
    draw = np.random.default_rng(0)
    seconds = draw.gamma(2, 0.2, 80)
    fast = measured({"m": [0.5] * 80, "seconds": seconds.tolist()})
    slow = measured({"m": [0.5] * 80, "seconds": (seconds * draw.lognormal(0.4, 0.1, 80)).tolist()}, "b")
    assert {row.measure for row in gate(fast, slow, measures=["m"]).rows} == {"m"}
    found = gate(fast, slow, measures=["m", "seconds"], max_regression=0.2)
    row = next(row for row in found.rows if row.measure == "seconds")
    assert not found.passed
    assert row.gain.value == pytest.approx(1 - np.exp(0.4), abs=0.05)
    assert row.gain.low < row.gain.value < row.gain.high < -0.2
    assert row.shares
    assert row.gain.value == pytest.approx(1 - row.candidate / row.baseline)
    assert re.fullmatch(
        r"seconds: a case takes 4\d(\.\d)? % more \(at least 4\d(\.\d)? %, allowed are 20 %\), p 0\.0\d*\.",
        found.reasons[0],
    )
    assert gate(fast, slow, measures=["m", "seconds"], max_regression=0.8).passed
    with pytest.raises(InputError, match="'cost' is 0 in some cases"):
        gate(*(measured({"cost": [0.0] * 9}, name) for name in "ab"), measures=["cost"])


def test_failures_beyond_the_baseline_do_not_pass() -> None:
    good = run_of([case(f"q{n}", {"m": 0.5}) for n in range(20)])
    bad = run_of([case(f"q{n}", {"m": 0.5}) if n else case("q0", error="gone") for n in range(20)], "b")
    found = gate(good, bad, measures=["m"])
    assert (found.passed, found.failed) == (False, ("q0",))
    assert found.reasons == ("1 cases fail that did not in the baseline; allowed are 0 more than before.",)
    assert found.notes[0] == "m is of 19 cases; left out: 1 failed (B)."
    assert gate(good, bad, measures=["m"], max_failed=1).passed
    assert gate(bad, good, measures=["m"]).passed
    assert gate(bad, bad, measures=["m"]).passed
    other = run_of(
        [case(f"q{n}", {"m": 0.5}) if n != 1 else case("q1", error="gone") for n in range(20)], "c"
    )
    found = gate(bad, other, measures=["m"])
    assert (found.passed, found.failed, found.failed_before) == (True, ("q1",), ("q0",))


def test_what_cannot_be_judged() -> None:
    a, b = runs()
    with pytest.raises(InputError, match=r"'b' is interrupted, with 120 of 120 cases\.") as caught:
        gate(a, replace(b, status="interrupted"))
    assert "--resume" in caught.value.remedy
    with pytest.raises(InputError, match="different data"):
        gate(a, replace(b, header=replace(b.header, data_digest="other")))
    with pytest.raises(InputError, match="max_regression"):
        gate(a, b, max_regression=-0.1)
    with pytest.raises(InputError, match="max_failed"):
        gate(a, b, max_failed=-1)
    with pytest.raises(InputError, match="alpha"):
        gate(a, b, alpha=0)
    with pytest.raises(InputError, match="not measured"):
        gate(a, b, measures=["nope"])
    unfinished = gate(replace(a, status="crashed"), b, measures=["m"])
    assert unfinished.notes[0] == "a is crashed: 120 of 120 cases."


def test_a_measure_that_the_candidate_lost_is_told() -> None:
    a = measured({"answer.right": [1.0] * 10, "answer.faithfulness": [1.0] * 10})
    lost = [
        case(f"q{n}", {"answer.right": 1.0, **({"answer.faithfulness": 1.0} if n > 20 else {})})
        for n in range(10)
    ]
    lost.append(case("q30", {"answer.right": 1.0, "answer.faithfulness": 1.0}))
    found = gate(a, run_of(lost, "b"))
    assert found.passed
    assert "answer.faithfulness has no case that both measured, so nothing is known of it." in found.notes
    assert "1 cases are not compared: only in B." in found.notes
    silent = measured({"answer.right": [1.0] * 10}, "b")
    told = gate(a, silent).notes
    assert told[0] == "answer.faithfulness was measured in A alone, so it cannot decide."
    nothing = gate(measured({"x": [1.0]}), measured({"y": [1.0]}, "b"))
    assert "No measure is watched, only failures." in nothing.notes


def test_the_headline_is_watched_where_nothing_is_named() -> None:
    names = ("pipeline.nDCG@10", "pipeline.Recall@5", "answer.right", "fused.nDCG@10")
    a, b = (measured({name: [0.5] * 10 for name in names}, run) for run in "ab")
    assert [row.measure for row in gate(a, b).rows] == [*names[:3]]


def test_a_run_against_itself_is_told() -> None:
    one = measured({"m": np.linspace(0.1, 0.9, 12).tolist()}, "a")
    assert "Baseline and candidate are the same run." in gate(one, one, measures=["m"]).notes
    other = measured({"m": np.linspace(0.1, 0.9, 12).tolist()}, "b")
    assert "Baseline and candidate are the same run." not in gate(one, other, measures=["m"]).notes


def test_a_cost_that_was_named_decides_alone() -> None:
    a, b = (
        measured({"seconds": [value] * 12, "m": [0.0] * 12}, name) for name, value in (("a", 1.0), ("b", 9.0))
    )
    found = gate(a, b, measures=["seconds"], max_regression=0.2)
    assert not found.passed
    assert not any("nothing decides" in note for note in found.notes)


@pytest.mark.parametrize("part", [0.001, 0.01, 0.05, 0.2])
def test_so_many_cases_that_did_not_move_leave_room_for_no_larger_share(part: float) -> None:
    enough = cases_unseen(part)
    assert share(0, enough).high <= part < share(0, enough - 1).high
