"""`refdesk eval levels`, on labelled texts made here."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from tests.cli.parts import part
from typer.testing import CliRunner, Result

from refdesk.cli import eval_levels
from refdesk.grounding.calibration import read_levels

METALS = ("zinc", "iron", "tin", "gold")


@pytest.fixture
def texts(place: Path) -> Path:
    """Faithful texts, and others with more and more foreign words."""
    path = place / "texts.json"
    rows = []
    for number in range(24):
        fact = f"The {METALS[number % 4]} of store {number} lies dry under the roof beside the door."
        other = " ".join(
            [*fact.split()[: 3 + number % 5], "was sold to merchants from overseas last winter."]
        )
        rows += [{"doc": fact, "summary": fact, "label": 1}, {"doc": fact, "summary": other, "label": 0}]
    path.write_text(json.dumps(rows), "utf-8")
    return path


def run(variables: Mapping[str, str], *args: str) -> Result:
    return CliRunner(env=dict(variables)).invoke(part(eval_levels), ["eval", "levels", *args])


def test_levels_are_written_where_ground_reads_them(texts: Path, variables: Mapping[str, str]) -> None:
    args = ("--data", "texts.json", "--grounder", "lexical", "--plot", "levels.png", "--scores", "kept.jsonl")
    Path(".refdesk").mkdir()
    result = run(variables, *args)
    assert result.exit_code == 0, result.output
    assert "Fitted on 12 faithful texts and 12 others" in result.stdout
    assert "supported_from" in result.stdout
    assert "balanced accuracy, faithful where all is supported" in result.stdout
    assert Path("levels.png").read_bytes().startswith(b"\x89PNG")
    assert "Written to .refdesk/calibration.yaml." in result.stderr
    levels = read_levels(".refdesk/calibration.yaml")["lexical"]
    assert levels.measured_on == "texts.json: 12 faithful texts, 12 others"
    assert len(Path("kept.jsonl").read_text("utf-8").splitlines()) == 49
    again = run(variables, *args, "--json", "--per-text")
    record = json.loads(again.stdout)
    assert record["in_force"]["levels"]["supported_from"] == levels.supported_from
    assert record["written"] == ".refdesk/calibration.yaml"
    assert len(record["scores"]["faithful"]) == 12


def test_a_dry_run_writes_nothing(texts: Path, variables: Mapping[str, str]) -> None:
    result = run(variables, "--data", "texts.json", "--grounder", "lexical", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "Nothing was written. Without --dry-run: .refdesk/calibration.yaml." in result.stderr
    assert not Path(".refdesk").exists()


def test_other_entries_of_the_file_stay(texts: Path, variables: Mapping[str, str]) -> None:
    own = {"version": 1, "rerankers": {"mine": {"abstain_below": 0.1, "weak_below": 0.2}}}
    Path("own.yaml").write_text(yaml.safe_dump(own), "utf-8")
    result = run(
        {**variables, "REFDESK_CALIBRATION": "own.yaml"}, "--data", "texts.json", "--grounder", "lexical"
    )
    assert result.exit_code == 0, result.output
    written = yaml.safe_load(Path("own.yaml").read_text("utf-8"))
    assert written["rerankers"] == own["rerankers"]
    assert list(written["grounders"]) == ["lexical"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--data", "nowhere.json"), "cannot be read"),
        (("--data", "texts.json", "--grounder", "judge"), "needs a language model"),
        (("--data", "texts.json", "--grounder", "lexicl"), "Did you mean 'lexical'?"),
        (("--data", "texts.json", "--grounder", "lexical", "--limit", "8"), "at least 10 of each"),
        (("--data", "texts.json", "--grounder", "lexical", "--max-missed", "3"), "from 0 to less than 1"),
        (("--data", "texts.json", "--plot", "levels.bmp"), ".png, .svg, .pdf"),
    ],
)
def test_what_goes_wrong(texts: Path, variables: Mapping[str, str], args: tuple[str, ...], told: str) -> None:
    result = run(variables, *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
