"""Verdicts on two runs: right about noise, right about damage, and never silent about what is left out."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.madeup import case, header, measured, run_of

from refdesk.cli.records import plain
from refdesk.errors import InputError
from refdesk.evaluation.comparing.changed import Wanted
from refdesk.evaluation.comparing.compare import compare
from refdesk.evaluation.comparing.comparison import Comparison, MeasureRow
from refdesk.evaluation.comparing.headers import header_differences, pipeline_changes
from refdesk.evaluation.comparing.statistics import Floats, detectable
from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.runs.outcomes import Channel, Run

HEADLINE = ("pipeline.nDCG@10", "pipeline.Recall@5", "answer.right", "answer.faithfulness")
OTHERS = ("fused.nDCG@10", "vector.nDCG@10")
STEPS = np.array([0.0, 0.39, 0.63, 1.0])


def moved(truth: Mapping[str, Floats], draw: np.random.Generator) -> dict[str, list[float]]:
    """Return values of which three of ten come out differently this time."""
    found = {}
    for name, values in truth.items():
        other = draw.random(len(values)) < 0.3
        found[name] = np.where(other, draw.choice(STEPS, len(values)), values).tolist()
    return found


def truth(draw: np.random.Generator, count: int = 40) -> dict[str, Floats]:
    return {name: draw.choice(STEPS, count) for name in (*HEADLINE, *OTHERS)}


def test_a_configuration_compared_with_itself_says_no_evidence_in_95_of_100() -> None:
    said: Counter[str] = Counter()
    others = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        values = truth(draw)
        found = compare(measured(moved(values, draw)), measured(moved(values, draw), "b"), seed=seed)
        assert tuple(row.measure for row in found.headline) == HEADLINE
        said[found.verdict] += 1
        others += any(row.verdict != "no evidence" for row in found.others)
    assert said["no evidence"] >= 95
    assert others <= 5


def test_damage_is_found_as_often_as_promised() -> None:
    """One measure loses as much as is called detectable, which is to be seen 4 times of 5."""
    said: Counter[str] = Counter()
    size = detectable(0.05 / np.sqrt(40))
    for seed in range(50):
        draw = np.random.default_rng(seed)
        a, noise = draw.normal(0.6, 0.1, 40), draw.normal(0, 0.05, 40)
        said[compare(*two(a, a + noise - size), measures=["m"]).verdict] += 1
    assert 34 <= said["worse"] <= 46
    assert said["better"] == 0


def two(a: Floats, b: Floats, measure: str = "m") -> tuple[Run, Run]:
    return measured({measure: a.tolist()}), measured({measure: b.tolist()}, "b")


def one_row(found: Comparison) -> MeasureRow:
    [row] = found.headline
    return row


def test_a_row_says_what_was_measured() -> None:
    found = compare(
        *two(np.array([0.5, 0.5, 0.2, 1.0] * 5), np.array([0.5, 1.0, 0.4, 0.9] * 5)), measures=["m"]
    )
    row = one_row(found)
    assert (row.measure, row.cases, row.better, row.worse) == ("m", 20, 10, 5)
    assert (row.a, row.b) == pytest.approx((0.55, 0.7))
    assert row.difference.value == pytest.approx(0.15)
    assert row.difference.low < 0.15 < row.difference.high
    assert row.chance == row.corrected
    assert (row.verdict, found.verdict) == ("better", "better")
    assert json.loads(json.dumps(plain(found.to_json())))["headline"][0]["verdict"] == "better"


def test_the_other_way_round_is_the_other_verdict() -> None:
    draw = np.random.default_rng(0)
    a = draw.random(40)
    low, high = two(a, a - 0.2 + draw.normal(0, 0.1, 40))
    there, back = compare(low, high, measures=["m"]), compare(high, low, measures=["m"])
    assert (there.verdict, back.verdict) == ("worse", "better")
    assert one_row(there).difference.value == pytest.approx(-one_row(back).difference.value)
    assert one_row(there).chance == one_row(back).chance


def test_lower_is_better_where_it_is() -> None:
    a, b = np.array([3.0] * 20), np.array([2.0] * 20)
    row = one_row(compare(*two(a, b, "fused.pollution@5"), measures=["fused.pollution@5"]))
    assert (row.difference.value, row.verdict, row.better) == (-1.0, "better", 20)


def test_measures_that_disagree_are_mixed() -> None:
    up, down = [0.2] * 20, [0.8] * 20
    a, b = measured({"x": up, "y": down}), measured({"x": down, "y": up}, "b")
    assert compare(a, b, measures=["x", "y"]).verdict == "mixed"
    assert compare(a, b, measures=["x"]).verdict == "better"


def test_a_family_is_corrected_together() -> None:
    values = {f"m{n}": [0.6, 0.7] * 4 for n in range(5)}
    a = measured({name: [0.5] * 8 for name in values})
    alone = compare(a, measured(values, "b"), measures=["m0"])
    together = compare(a, measured(values, "b"), measures=list(values))
    assert alone.verdict == "better"
    assert together.verdict == "no evidence"
    assert together.headline[0].corrected == pytest.approx(5 * together.headline[0].chance)


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_few_cases_prove_nothing(count: int) -> None:
    found = compare(*two(np.zeros(count), np.ones(count)), measures=["m"])
    assert found.verdict == "no evidence"
    assert f"m is of {count} cases; below 7 nothing can be told from chance." in found.notes
    assert one_row(found).detectable is None  # there is no spread to tell it from
    assert compare(*two(np.zeros(7), np.ones(7)), measures=["m"]).verdict == "better"


def test_a_run_is_not_better_than_itself() -> None:
    run = measured({name: [0.1, 0.9] * 10 for name in HEADLINE}, tags=("x", "y"))
    found = compare(run, run)
    assert found.verdict == "no evidence"
    assert all(row.corrected == 1 and row.difference.value == 0 for row in found.headline)
    assert found.changed == ()
    assert "A and B are the same run." in found.notes


def test_only_what_both_measured_is_compared_and_the_rest_is_counted() -> None:
    base = [case(f"q{n}", {"m": 0.5}) for n in range(20)]
    other = [case(f"q{n}", {"m": 0.6}) for n in range(20)]
    other[0] = case("q0", error="the model did not reply")
    other[1] = case("q1", excluded={"m": "the judge's reply could not be read: no JSON"})
    other[2] = case("q2")
    base[3] = case("q3", excluded={"m": "unknown"})
    base[4], other[4] = case("q4"), case("q4")
    found = compare(run_of([*base, case("extra", {"m": 1.0})]), run_of(other, "b"), measures=["m"])
    row = found.headline[0]
    assert (found.cases, found.left_out) == (20, {"only in A": 1})
    assert (found.failed_a, found.failed_b) == (0, 1)
    assert row.cases == 15
    assert row.left_out == {
        "failed (B)": 1,
        "excluded: the judge's reply could not be read (B)": 1,
        "not measured (B)": 1,
        "excluded: unknown (A)": 1,
    }
    assert found.notes[-1].startswith("m is of 15 of 20 cases alone; left out: 1 failed (B), ")


def test_failures_decide_too() -> None:
    base = [case(f"q{n}", {"m": 0.5}) for n in range(40)]
    other = [case(f"q{n}", {"m": 0.5}) if n > 9 else case(f"q{n}", error="gone") for n in range(40)]
    found = compare(run_of(base), run_of(other, "b"), measures=["m"])
    assert [row.measure for row in found.headline] == ["m", "failed"]
    assert (found.headline[1].verdict, found.verdict) == ("worse", "worse")
    assert found.changed[0].b.error == "gone"
    few = [*base[:39], case("q39", error="gone")]
    assert compare(run_of(base), run_of(few, "b"), measures=["m"]).verdict == "no evidence"


def test_other_data_is_refused_or_the_same_cases_of_it_are_compared() -> None:
    a = run_of([case(f"q{n}", {"m": 0.5}) for n in range(10)])
    changed = [replace(case("q9", {"m": 1.0}), needs=(Need(alternatives=(Gold(document="d"),)),))]
    other = [case(f"q{n}", {"m": 0.5}) for n in range(5, 9)] + changed
    b = run_of(other, "b", data_digest="d2")
    with pytest.raises(InputError, match=r"different data: .*d1; b: metals test, 5 cases, d2") as caught:
        compare(a, b)
    assert "--force" in caught.value.remedy
    found = compare(a, b, measures=["m"], force=True)
    assert (found.cases, found.left_out) == (4, {"only in A": 5, "another question or gold": 1})
    assert "The runs are on different data; compared are the 4 cases that are the same." in found.notes


def test_what_cannot_be_compared() -> None:
    a = measured({"m": [0.5] * 8, "fused.nDCG@10": [0.1] * 8})
    with pytest.raises(InputError, match="no case in common"):
        compare(a, run_of([case("other")], "b"))
    with pytest.raises(InputError, match="'nope' was not measured") as caught:
        compare(a, a, measures=["nope"])
    assert "fused.nDCG@10" in caught.value.remedy
    with pytest.raises(InputError, match="'m' was measured in 'a' alone"):
        compare(a, measured({"fused.nDCG@10": [0.1] * 8}, "b"), measures=["m"])
    with pytest.raises(InputError, match="no case in common with the tag 'x'"):
        compare(a, a, tag="x")
    with pytest.raises(InputError, match="neither good nor bad"):
        compare(a, a, measures=["answer.refused"])
    with pytest.raises(InputError, match="no run to compare"):
        compare([], a)
    with pytest.raises(InputError, match="alpha"):
        compare(a, a, alpha=1)
    for value in (float("nan"), float("inf"), "0.5"):
        broken = run_of([case(f"q{n}", {"m": value if n == 3 else 0.5}) for n in range(8)], "b")  # type: ignore[dict-item]
        with pytest.raises(InputError, match=r"run 'b' m of the case 'q3' is .*no number"):
            compare(a, broken, measures=["m"])


def test_nothing_in_common_decides_nothing() -> None:
    a, b = measured({"x": [0.5] * 8}), measured({"y": [0.5] * 8}, "b")
    found = compare(a, b)
    assert (found.verdict, found.headline, found.others) == ("no evidence", (), ())
    assert "No measure of quality is in both, so nothing decides." in found.notes


def test_the_last_stage_that_both_have_decides() -> None:
    few, more = ("keyword", "fused"), ("keyword", "fused", "reranked", "pipeline")
    a, b = (
        measured(
            {f"{one}.{name}": [0.5] * 8 for one in stages for name in ("nDCG@10", "Recall@5", "Hit@1")}, run
        )
        for run, stages in (("a", more), ("b", few))
    )
    found = compare(a, b)
    assert [row.measure for row in found.headline] == ["fused.nDCG@10", "fused.Recall@5"]
    assert "pipeline was measured in A alone, so fused decides." in found.notes
    assert [row.measure for row in compare(a, a).headline] == ["pipeline.nDCG@10", "pipeline.Recall@5"]
    assert {row.measure for row in found.others} >= {"fused.Hit@1", "keyword.nDCG@10"}


def test_a_run_without_a_reranker_is_compared_by_its_own_last_stage() -> None:
    values = {f"fused.{name}": [0.4, 0.5] * 10 for name in ("nDCG@10", "Recall@5")}
    better = {f"reranked.{name}": [0.9, 0.6] * 10 for name in ("nDCG@10", "Recall@5")}
    a = measured({**values, **better})
    b = measured(values, "b", versions={"embedder": "e"})
    found = compare(a, b)
    assert [row.measure for row in found.headline] == ["final.nDCG@10", "final.Recall@5"]
    assert (found.headline[0].a, found.headline[0].b) == pytest.approx((0.75, 0.45))
    assert found.verdict == "worse"
    assert "reranked in A, fused in B" in found.notes[0]
    assert compare(a, measured(values, "b")).headline[0].measure == "fused.nDCG@10"


def test_false_refusals_decide_where_no_answer_is_known() -> None:
    base = [case(f"q{n}", {"answer.refused": 0.0, "answer.faithfulness": 0.9}) for n in range(20)]
    off = [case(f"off{n}", {"answer.refused": 1.0, "answer.right": 1.0}, answerable=False) for n in range(9)]
    silent = [case(f"q{n}", {"answer.refused": 1.0}) for n in range(20)]
    found = compare(run_of([*base, *off]), run_of([*silent, *off], "b"))
    rows = {row.measure: row for row in found.headline}
    assert (rows["answer.false_refusal"].verdict, rows["answer.false_refusal"].cases) == ("worse", 20)
    assert found.verdict == "worse"
    known = [replace(one, measures={**one.measures, "answer.right": 1.0}) for one in base]
    found = compare(run_of(known), run_of(known, "b"))
    assert [row.measure for row in found.headline] == ["answer.right", "answer.faithfulness"]
    assert "answer.false_refusal" in {row.measure for row in found.others}


def test_costs_are_ratios_without_a_verdict() -> None:
    draw = np.random.default_rng(0)
    seconds = draw.gamma(2, 0.1, 60)
    a = measured({"m": [0.5] * 60, "seconds": seconds.tolist(), "cost": [0.0] * 60})
    b = measured({"m": [0.5] * 60, "seconds": (seconds * 2).tolist(), "cost": [0.1] * 60}, "b")
    found = compare(a, b)
    rows = {row.measure: row for row in found.costs}
    assert rows["seconds"].figure == "median"
    assert rows["seconds"].ratio is not None
    assert rows["seconds"].ratio.value == pytest.approx(2)
    assert (rows["cost"].figure, rows["cost"].ratio) == ("mean", None)
    assert found.verdict == "no evidence"
    assert [row.measure for row in found.others] == ["m"]
    assert compare(a, b, measures=["m", "seconds"]).costs[0].measure == "seconds"


def test_tags_are_a_family_of_their_own() -> None:
    values = [0.5] * 40
    worse = [value - (0.3 if n % 4 == 0 else 0) for n, value in enumerate(values)]
    tags = ("hard", "easy", "easy", "easy")
    a = measured({"pipeline.nDCG@10": values, "pipeline.Recall@5": values}, tags=tags)
    b = measured({"pipeline.nDCG@10": worse, "pipeline.Recall@5": values}, "b", tags=tags)
    found = compare(a, b)
    rows = {(one.tag, row.measure): row for one in found.tags for row in one.rows}
    assert len(rows) == 4
    assert (rows["hard", "pipeline.nDCG@10"].cases, rows["hard", "pipeline.nDCG@10"].verdict) == (10, "worse")
    assert rows["easy", "pipeline.nDCG@10"].verdict == "no evidence"
    only = compare(a, b, tag="hard")
    assert (only.cases, only.tag, only.tags) == (10, "hard", ())
    rare = measured({"pipeline.nDCG@10": values, "pipeline.Recall@5": values}, tags=("x", *("y",) * 39))
    assert [one.tag for one in compare(rare, rare).tags] == ["y"]


def test_the_cases_that_differ_most_come_first_with_what_each_side_did() -> None:
    needs = (Need(alternatives=(Gold(document="gold"),)),)
    a, b = [], []
    for n, (before, after) in enumerate([(1.0, 0.0), (0.2, 0.9), (0.5, 0.5), (0.4, 0.5)]):
        found = Channel(name="pipeline", documents=tuple(f"d{k}" for k in range(9)), seconds=0.1)
        a.append(case(f"q{n}", {"pipeline.Hit@1": before}, answer=f"before {n}", needs=needs))
        b.append(
            case(f"q{n}", {"pipeline.Hit@1": after}, answer=f"after {n}", needs=needs, channels=(found,))
        )
    changed = compare(run_of(a), run_of(b, "b"), measures=["pipeline.Hit@1"]).changed
    assert [one.case_id for one in changed] == ["q0", "q1", "q3"]
    first = changed[0]
    assert (first.gain, first.a.value, first.b.value) == (-1.0, 1.0, 0.0)
    assert first.wanted == (Wanted(documents=("gold",), quote="", a=0, b=0),)
    assert (first.a.answer, first.b.answer) == ("before 0", "after 0")
    assert (first.a.ranking, first.b.ranking) == (("doc of q0", "other"), ("d0", "d1", "d2", "d3", "d4"))
    assert len(compare(run_of(a), run_of(b, "b"), measures=["pipeline.Hit@1"], changed=1).changed) == 1


def test_cases_that_moved_say_at_which_rank_each_need_is_met() -> None:
    quoted = Need(alternatives=(Gold(document="gold", quote="thirty days"), Gold(document="faq")))
    needs = (quoted, Need(alternatives=(Gold(document="other"),)))

    def side(name: str, value: float, *ranks: int | None) -> Run:
        found = Channel(name="fused", documents=("x", "gold", "other"), ranks=ranks, seconds=0.1)
        return run_of([case("q", {"fused.MRR@10": value}, needs=needs, channels=(found,))], name)

    def ranks(a: Run, b: Run) -> list[tuple[int | None, int | None]]:
        [change] = compare(a, b, measures=["fused.MRR@10"]).changed
        assert [(one.documents, one.quote) for one in change.wanted] == [
            (("gold", "faq"), "thirty days"),
            (("other",), ""),
        ]
        return [(one.a, one.b) for one in change.wanted]

    assert ranks(side("a", 0.2, 5, None), side("b", 1.0, 1, 4)) == [(5, 1), (0, 4)]
    older = side("a", 0.2)
    assert ranks(older, side("b", 1.0, None, 2)) == [(None, 0), (3, 2)], "Old runs know ranks of documents."


def test_groups_are_compared_by_their_means_and_say_their_noise() -> None:
    draw = np.random.default_rng(1)
    values = draw.random(50)
    a = [measured({"m": np.clip(values + draw.normal(0, 0.2, 50), 0, 1).tolist()}, f"a{n}") for n in range(3)]
    b = [
        measured({"m": np.clip(values + draw.normal(0.2, 0.2, 50), 0, 1).tolist()}, f"b{n}") for n in range(2)
    ]
    one, several = compare(a[0], b[0], measures=["m"]), compare(a, b, measures=["m"])
    assert several.a == ("a0", "a1", "a2")
    before, after = one_row(one), one_row(several)
    assert before.noise_a is None
    assert after.noise_a is not None
    assert 0 < after.noise_a < 0.1
    assert before.detectable is not None
    assert after.detectable is not None
    assert after.detectable < before.detectable
    expected = np.mean([[o.measures["m"] for o in run.outcomes.values()] for run in a])
    assert after.a == pytest.approx(expected)


def test_a_group_counts_a_case_by_the_runs_that_measured_it() -> None:
    first = run_of([case("q0", error="gone"), case("q1", {"m": 0.2})], "a1")
    second = run_of([case("q0", {"m": 0.4}), case("q1", {"m": 0.6})], "a2")
    other = run_of([case("q0", {"m": 1.0}), case("q1", {"m": 1.0})], "b")
    found = compare([first, second], other, measures=["m"])
    assert found.headline[0].cases == 2
    assert found.headline[0].a == pytest.approx((0.4 + 0.4) / 2)
    assert found.failed_a == 1
    assert found.headline[1].a == pytest.approx(0.25)
    unlike = replace(second, header=replace(second.header, settings={"top_k": 3}))
    assert any(
        "a2 has another configuration than a1" in note for note in compare([first, unlike], other).notes
    )


def test_what_was_done_differently_is_said() -> None:
    a = header("a", settings={"mode": "hybrid", "own": {"x": 1, "y": 2}}, options={"channels": ["keyword"]})
    yaml = a.pipeline_yaml.replace("- rerank\n", "")
    b = header("b", settings={"own": {"x": 1, "y": 3}}, versions={"refdesk": "1"}, pipeline_yaml=yaml, seed=1)
    found = {one.what: (one.a, one.b) for one in header_differences(a, b)}
    assert found == {
        "seed": ("0", "1"),
        "settings.mode": ("hybrid", "the default"),
        "settings.own.y": ("2", "3"),
        "options.channels": ("keyword", "none"),
        "versions.embedder": ("e", "none"),
        "versions.reranker": ("r", "none"),
    }
    assert pipeline_changes(a, b) == ("--- a", "+++ b", " - search", "-- rerank", " - answer")
    assert header_differences(a, replace(a, name="c", started="later")) == ()
    assert pipeline_changes(a, a) == ()


def test_a_reader_is_told_what_is_unfinished_and_what_is_the_same() -> None:
    a = measured({"m": [0.5] * 8})
    b = replace(measured({"m": [0.5] * 8}, "b", cases=20), status="crashed", header=header("b", cases=20))
    assert "b is crashed: 8 of 20 cases were asked." in compare(a, b).notes
    assert (
        "Both have the same configuration, so what differs is noise."
        in compare(a, replace(a, header=replace(a.header, name="c"))).notes
    )
