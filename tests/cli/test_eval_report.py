"""`refdesk eval report`: stored runs as tables, JSON and a page."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.evaluation.reporting.building import BAD, GOOD, a_run, answered
from typer.testing import CliRunner, Result

from refdesk.cli import eval_report
from refdesk.evaluation.runs.outcomes import Run
from refdesk.evaluation.runs.store import RunStore


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder of three runs, of which the second is worse and the third came to no end."""
    folder = tmp_path / "runs"
    stored = (
        a_run("good", GOOD, change=answered),
        a_run("bad", BAD, seed=1, change=answered, pipeline="other"),
        a_run("short", GOOD, seed=2, change=answered, status="interrupted"),
    )
    for run in stored:
        keep(folder, run)
    return folder


def keep(folder: Path, run: Run) -> None:
    writing = RunStore(folder).begin(run.header)
    for outcome in list(run.outcomes.values())[: 25 if run.status == "interrupted" else None]:
        writing.add(outcome)
    writing.finish(run.status, "" if run.status == "done" else "It was broken off.")


def report(folder: Path, *args: str) -> Result:
    app = typer.Typer()
    app.callback()(lambda: None)
    eval_report.add_to(app)
    return CliRunner().invoke(app, ["report", *args, "--runs", str(folder)])


def as_json(folder: Path, *args: str) -> Any:
    result = report(folder, *args, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_one_run(runs: Path) -> None:
    result = report(runs, "good")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("good: done. handbook, test, 40 cases\n")
    assert "faithfulness" in result.stdout


def test_two_runs(runs: Path) -> None:
    result = report(runs, "good", "bad")
    assert result.exit_code == 0, result.output
    assert "bad is worse than good. Paired on 40 cases:" in result.stdout
    assert "40 of 40" in result.stdout
    lines = result.stdout.splitlines()
    [row] = [line for line in lines if line.startswith("reranked.nDCG@10") and "worse" in line]
    assert "-0." in row
    shown = lines[
        next(place for place, line in enumerate(lines) if line.startswith("Cases that changed:")) + 2
    ]
    assert shown.split()[1:3] == ["✓", "✗"]
    assert "more cases changed; --out FILE.html and --json have them all." in result.stderr


def test_a_run_that_was_broken_off_says_so(runs: Path) -> None:
    result = report(runs, "good", "short", "bad")
    assert "25 of 40" in result.stdout
    assert "short: interrupted: It was broken off." in result.stderr
    assert "short cannot be told apart by these cases from good. Paired on 25 cases:" in result.stdout
    assert "bad is worse than good" in result.stdout


def test_json_has_all_that_the_page_shows(runs: Path) -> None:
    record = as_json(runs, "good", "bad")
    assert [one["header"]["name"] for one in record["runs"]] == ["good", "bad"]
    assert record["comparisons"][0]["verdict"] == "worse"
    assert len(record["cases"]) == 40
    first = record["cases"][0]
    assert (first["changed"], first["went"]) == (True, ["right", "wrong"])
    assert first["outcomes"][0]["answer"]["text"] == "It is said [1]."
    assert record["written"] is None
    assert as_json(runs, "good")["comparisons"] == []


def test_a_page(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    result = report(runs, "good", "bad", "--out", str(out), "--cases", "3")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith(f"Written to {out} (0.")
    page = out.read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<tbody id=") == 3
    record = as_json(runs, "good", "--out", str(out))
    assert record["written"] == str(out)
    assert "<title>Evaluation: good</title>" in out.read_text("utf-8")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("gut",), "There is no run 'gut'"),
        (("god",), "Did you mean 'good'?"),
        (("good", "good"), "A run is named twice: good, good."),
        (("good", "--out", "report.txt"), "Give a name with .html or .htm."),
        (("good", "--out", "nowhere/report.html"), "does not exist"),
        (("good", "--out", "folder.html"), "Cannot write the report"),
    ],
)
def test_what_goes_wrong(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.html").mkdir()
    result = report(runs, *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_run_is_a_mistake_in_the_command_line(runs: Path) -> None:
    assert report(runs).exit_code == 2
    assert report(runs, "good", "--cases", "-1").exit_code == 2
