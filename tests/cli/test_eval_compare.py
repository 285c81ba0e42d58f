"""`refdesk eval compare`, `gate` and `noise` on stored runs."""

import json
import re
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tests.cli.parts import part
from tests.evaluation.madeup import case, run_of
from typer.testing import CliRunner, Result

from refdesk.cli import eval_compare
from refdesk.cli.comparetables import show_comparison
from refdesk.cli.gatetables import show_gate, show_noise
from refdesk.cli.session import Session
from refdesk.evaluation.comparing.compare import compare
from refdesk.evaluation.comparing.gating import MAX_REGRESSION, gate
from refdesk.evaluation.comparing.noise import noise
from refdesk.evaluation.comparing.statistics import ALPHA
from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.runs.outcomes import CaseOutcome, Channel, Run
from refdesk.evaluation.runs.store import RunStore

NAMES = ("pipeline.nDCG@10", "pipeline.Recall@5", "fused.nDCG@10", "answer.right", "seconds")


def outcomes(change: float, seed: int = 0) -> list[CaseOutcome]:
    base, draw = np.random.default_rng(7), np.random.default_rng(seed)
    found = []
    for n in range(40):
        values = np.clip(base.uniform(0.3, 0.7, len(NAMES)) + draw.normal(change, 0.02, len(NAMES)), 0.01, 1)
        measures = dict(zip(NAMES, values.tolist(), strict=True))
        tags = ("hard",) if n % 3 == 0 else ("easy",)
        found.append(case(f"q{n}", measures, answer=f"The answer \x1b[31m{n}\x1b[0m.", tags=tags))
    return found


def stored(name: str, cases: Sequence[CaseOutcome], **changes: Any) -> Run:
    """Keep a run in the working folder."""
    run = run_of(cases, name, **changes)
    with RunStore(Path("runs")).begin(run.header) as file:
        for outcome in cases:
            file.add(outcome)
    return run


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A baseline, the same once more, and one that is worse."""
    monkeypatch.chdir(tmp_path)
    stored("base", outcomes(0), started="2026-01-01T00:00:00+00:00")
    stored("base-2", outcomes(0, 1), started="2026-01-02T00:00:00+00:00")
    lines = "version: 1\nsteps:\n- search\n- answer\n"
    stored("worse", outcomes(-0.2, 2), pipeline_yaml=lines, started="2026-01-03T00:00:00+00:00")


def call(*args: str, env: Mapping[str, str] = {}) -> Result:
    words = ["eval", *args, "--runs", "runs"]
    return CliRunner(env={"REFDESK_LIBRARY": "", **env}).invoke(part(eval_compare), words)


def record(*args: str, code: int = 0) -> Any:
    result = call(*args, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_compare_says_worse_and_why() -> None:
    result = call("compare", "base", "worse", "--changed", "2")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "B is worse than A." in lines
    decisive = next(line for line in lines if line.startswith("pipeline.nDCG@10"))
    assert "worse" in decisive
    assert "<0.001" in decisive
    assert "- - rerank" not in result.stdout
    assert "-- rerank" in lines
    assert "What a case takes (machines are noisy, so this decides nothing)" in lines
    assert any(line.startswith("hard") for line in lines)
    assert sum(line.startswith("  A  said") for line in lines) == 2
    assert "\x1b" not in result.stdout
    assert call("compare", "worse", "base").stdout.count("B is better than A.") == 1


def test_compare_says_no_evidence_of_two_runs_of_one_configuration() -> None:
    result = call("compare", "base", "base-2")
    assert "No evidence that A and B differ." in result.stdout
    assert "note: Both have the same configuration, so what differs is noise." in result.stderr


def test_compare_shows_at_which_rank_a_quote_was_met() -> None:
    need = Need(alternatives=(Gold(document="leave.md", quote="thirty\x1b[31m days"),))
    for name, value, rank in (("far", 0.2, 5), ("near", 1.0, 1), ("gone", 0.0, None)):
        found = Channel(name="pipeline", documents=("leave.md",), ranks=(rank,), seconds=0.1)
        stored(
            name, [case("q", {"pipeline.MRR@10": value}, needs=(need,), channels=(found,))], data_digest="d6"
        )
    moved = call("compare", "far", "near", "--measure", "pipeline.MRR@10").stdout.splitlines()
    assert '  wanted  leave.md "thirty days": rank 5 -> 1' in moved
    lost = call("compare", "near", "gone", "--measure", "pipeline.MRR@10").stdout.splitlines()
    assert '  wanted  leave.md "thirty days": rank 1 -> not found' in lost
    [change] = record("compare", "far", "near", "--measure", "pipeline.MRR@10")["changed"]
    assert [(one["a"], one["b"]) for one in change["wanted"]] == [(5, 1)]


def test_compare_as_json() -> None:
    found = record(
        "compare", "base", "worse", "--measure", "fused.nDCG@10", "--tag", "hard", "--changed", "1"
    )
    assert (found["verdict"], found["tag"], found["cases"], len(found["changed"])) == ("worse", "hard", 14, 1)
    assert [row["measure"] for row in found["headline"]] == ["fused.nDCG@10"]
    assert found["headline"][0]["difference"]["high"] < 0
    assert found["pipeline"] == ["--- base", "+++ worse", " - search", "-- rerank", " - answer"]


def test_groups_and_patterns() -> None:
    found = record("compare", "base*", "worse")
    assert (found["a"], found["verdict"]) == (["base", "base-2"], "worse")
    assert found["headline"][0]["noise_a"] > 0
    assert record("compare", "base,base-2", "worse")["a"] == ["base", "base-2"]
    assert "noise A" in call("compare", "base,base-2", "worse").stdout


def test_gate_exits_with_1_on_evidence_alone() -> None:
    passed = call("gate", "--baseline", "base", "--candidate", "base-2")
    assert passed.exit_code == 0, passed.output
    assert "Passed: what is watched is no worse than is allowed." in passed.stdout
    stopped = call("gate", "--baseline", "base")
    assert stopped.exit_code == 1
    assert "Not passed." in stopped.stdout
    assert "worse" in stopped.stdout.splitlines()[1]
    assert stopped.stderr.splitlines()[-1].startswith("error [regressed]: pipeline.nDCG@10 is worse by 0.19")
    assert call("gate", "--baseline", "base", "--max-regression", "0.5").exit_code == 0
    found = record("gate", "--baseline", "base", "--candidate", "worse", code=1)
    assert (found["passed"], found["rows"][0]["finding"]) == (False, "regressed")


def test_gate_says_where_a_pass_shows_nothing() -> None:
    few = [case(f"q{n}", {"answer.right": 1.0}) for n in range(9)]
    for name in ("few", "few-2"):
        stored(name, few, data_digest="d3")
    passed = call("gate", "--baseline", "few", "--candidate", "few-2")
    assert passed.exit_code == 0, passed.output
    assert "Passed for want of evidence: no regression is shown, and whether there is one" in passed.stdout
    assert "note: answer.right: cannot tell. None of 9 cases moved, which shows nothing" in passed.stderr
    strict = call("gate", "--baseline", "few", "--candidate", "few-2", "--strict")
    assert strict.exit_code == 1
    assert "error [unproven]: answer.right: cannot tell." in strict.stderr
    assert call("gate", "--baseline", "base", "--candidate", "worse", "--strict").stderr.count("[regressed]")


def test_gate_takes_no_run_of_a_sweep_and_says_what_it_took() -> None:
    stored("s.base", outcomes(-0.2), sweep="s", started="2030-01-01T00:00:00+00:00")
    stored("s.other", outcomes(-0.2), sweep="s", started="2030-01-01T00:00:01+00:00")
    stored("good", outcomes(0, 3), started="2029-01-01T00:00:00+00:00")
    passed = call("gate", "--baseline", "base")
    assert passed.exit_code == 0, passed.output
    assert passed.stderr.splitlines()[0] == (
        "note: the candidate is 'good', the newest run on the same data (begun 2029-01-01T00:00:00+00:00; "
        "2 runs of sweeps passed over)."
    )
    assert record("gate", "--baseline", "base")["candidate"] == ["good"]
    named = call("gate", "--baseline", "base", "--candidate", "s.base")
    assert (named.exit_code, "note: the candidate" in named.stderr) == (1, False)
    stored("alone", outcomes(0), data_digest="d4")
    stored("t.base", outcomes(0), data_digest="d4", sweep="t")
    nothing = call("gate", "--baseline", "alone")
    assert nothing.exit_code == 1
    assert "No other run on the data of 'alone' is in 'runs'; 1 run of sweeps passed over." in nothing.stderr


def test_every_row_says_its_unit() -> None:
    def timed(name: str, seconds: float) -> None:
        draw = np.random.default_rng(5).uniform(0.9, 1.1, 30)
        cases = [
            case(f"q{n}", {"answer.right": float(n % 2), "seconds": seconds * one, "cost": 0.002 * seconds})
            for n, one in enumerate(draw.tolist())
        ]
        stored(name, cases, data_digest="d5")

    timed("quick", 0.12)
    timed("slow", 1.2)
    watched = ("--measure", "seconds", "--measure", "cost", "--measure", "answer.right")
    gated = call("gate", "--baseline", "quick", "--candidate", "slow", *watched, "--max-regression", "0.2")
    assert gated.exit_code == 1
    rows = {line.split()[0]: line for line in gated.stdout.splitlines() if line}
    assert re.search(r"1[12]\d ms +1\.[12]\d s +-900\.0% \(-900\.0% to -900\.0%\)", rows["seconds"])
    assert "20 % more" in rows["seconds"]
    assert "$0.00024" in rows["cost"]
    assert "0.2 worse" in rows["answer.right"]
    assert "seconds: a case takes 900 % more (at least 900 %, allowed are 20 %)" in gated.stderr
    compared = call("compare", "quick", "slow").stdout
    assert re.search(r"seconds +30 +median +1[12]\d ms +1\.[12]\d s +× 10\.00 \(10\.00 to 10\.00\)", compared)
    assert re.search(r"seconds +30 +1[12]\d ms +1\.[12]\d s", call("noise", "quick", "slow").stdout)


def test_gate_on_failures() -> None:
    cases = outcomes(0)
    stored("failing", [*cases[:-1], case("q39", error="gone")], started="2027-01-01T00:00:00+00:00")
    stopped = call("gate", "--baseline", "base")
    assert stopped.exit_code == 1
    assert "Failed as they did not before: q39" in stopped.stdout
    assert call("gate", "--baseline", "base", "--max-failed", "1").exit_code == 0


def test_gate_needs_a_candidate_that_is_there_and_came_to_its_end() -> None:
    stored("elsewhere", outcomes(0), data_digest="d2", started="2028-01-01T00:00:00+00:00")
    result = call("gate", "--baseline", "elsewhere")
    assert result.exit_code == 1
    assert "No other run on the data of 'elsewhere'" in result.stderr
    store = RunStore(Path("runs"))
    header = run_of(outcomes(0), "broken", started="2029-01-01T00:00:00+00:00").header
    store.begin(header).finish("crashed", "gone")
    result = call("gate", "--baseline", "base")
    assert result.exit_code == 1
    assert "The run 'broken' is crashed, with 0 of 40 cases." in result.stderr


def test_noise_of_repeated_runs() -> None:
    result = call("noise", "base", "base-2", "--changed", "1")
    assert result.exit_code == 0, result.output
    assert "Cases that move most" in result.stdout
    assert record("noise", "base*")["runs"] == ["base", "base-2"]
    assert "is not a repetition of base" in call("noise", "base", "worse").stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("compare", "base", "wors"), "There is no run 'wors'"),
        (("compare", "base", "x*"), "matches 'x*'"),
        (("compare", "base,base", "worse"), "The run 'base' is named twice."),
        (("compare", "base", ","), "There is no run to compare."),
        (("compare", "base", "worse", "--measure", "fused.nDCG"), "Did you mean 'fused.nDCG@10'?"),
        (("compare", "base", "worse", "--tag", "nope"), "no case in common with the tag 'nope'"),
        (("compare", "base", "worse", "--alpha", "2"), "alpha is 2.0"),
        (("noise", "base"), "1 run has no noise"),
        (("gate", "--baseline", "base", "--max-regression", "-1"), "max_regression is -1.0"),
    ],
)
def test_what_goes_wrong(args: Sequence[str], message: str) -> None:
    result = call(*args)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_has_colours_and_nothing_of_what_answers_say(width: int) -> None:
    store = RunStore(Path("runs"))
    a, b, again = (store.read(name) for name in ("base", "worse", "base-2"))
    console = Console(
        force_terminal=True,
        width=width,
        record=True,
        markup=False,
        highlight=False,
        color_system="standard",
        legacy_windows=False,
    )
    session = Session(library=None, verbose=True, json=False, out=console, err=console)
    with console.capture() as capture:
        show_comparison(session, compare(a, b))
        show_comparison(session, compare([a, again], b))
        show_gate(session, gate(a, b))
        show_noise(session, noise([a, again]))
    shown = capture.get()
    assert "\x1b[1;31mB is worse than A." in shown
    assert "\x1b[1;31mNot passed." in shown
    assert "The answer" in shown
    assert "\x1b[31m0" not in shown


@pytest.mark.parametrize("call_of", [eval_compare.compare, eval_compare.gate])
def test_the_defaults_are_those_of_the_library(call_of: Any) -> None:
    assert signature(call_of).parameters["alpha"].default == ALPHA
    assert signature(eval_compare.gate).parameters["max_regression"].default == MAX_REGRESSION
