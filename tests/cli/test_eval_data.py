"""`refdesk eval data`, on files that are read and on a library that is asked."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Run
from typer.testing import CliRunner, Result

from refdesk.cli import eval_data, ingest

QUESTIONS = """
questions:
  - id: days
    question: How many days of leave?
    expected: {document: handbook/leave.md, quote: thirty days of leave}
    tags: [leave]
  - id: hotel
    question: What may a hotel cost?
    expected: {document: handbook/travel.txt, quote: 120 dollars a night}
  - id: pets
    question: May I bring my dog?
    expected: handbook/pets.md
    tags: [leave, pets]
  - id: cup
    question: Who won the cup?
    off_topic: true
"""


app, group = typer.Typer(), typer.Typer()
ingest.add_to(app)
eval_data.add_to(group)
group.callback()(lambda: None)
app.add_typer(group, name="eval")


@pytest.fixture
def run(place: Path, variables: Mapping[str, str]) -> Run:
    """Run a command of those that are tried here."""

    def call(*args: str, input: str | None = None, env: Mapping[str, str] = {}) -> Result:
        return CliRunner(env={**variables, **env}).invoke(app, list(args), input=input)

    return call


@pytest.fixture
def questions(place: Path) -> Path:
    path = place / "questions.yaml"
    path.write_text(QUESTIONS, "utf-8")
    return path


def test_what_a_data_set_holds_is_shown(run: Run, questions: Path) -> None:
    result = run("eval", "data", "questions.yaml")
    assert result.exit_code == 0, result.output
    rows = dict(line.rsplit("  ", 1) for line in result.stdout.splitlines() if "  " in line)
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    assert rows["questions"] == "4"
    assert rows["not answered by the documents"] == "1"
    assert (rows["gold documents"], rows["gold spans"]) == ("3", "2")
    assert rows["documents"] == "none of its own"
    assert (rows["leave"], rows["pets"]) == ("2", "1")


def test_gold_is_looked_for_in_a_collection(filled: Run, questions: Path) -> None:
    result = filled("eval", "data", "questions.yaml", "-c", "default")
    assert result.exit_code == 1
    assert "Not in the collection default:" in result.stdout
    assert "hotel" in result.stdout
    assert "120 dollars a night" in result.stdout
    assert "days  " not in result.stdout.split("Not in")[1]
    assert "error [input_invalid]: 2 of what 'questions' expects is not in" in result.stderr

    result = filled("eval", "data", "questions.yaml", "-c", "default", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["collection"]["lost"] == [
        {
            "case": "hotel",
            "document": "handbook/travel.txt",
            "quote": "120 dollars a night",
            "missing": "quote",
        },
        {"case": "pets", "document": "handbook/pets.md", "quote": "", "missing": "document"},
    ]


def test_all_gold_may_be_there(filled: Run, questions: Path) -> None:
    mended = QUESTIONS.replace("dollars", "euros").replace("pets.md", "printer.md")
    questions.write_text(mended, "utf-8")
    result = filled("eval", "data", "questions.yaml", "-c", "default")
    assert result.exit_code == 0, result.output
    assert "All gold is in the collection default." in result.stdout
    found = as_json(filled, "eval", "data", "questions.yaml", "-c", "default")
    assert found["collection"] == {"name": "default", "lost": []}
    assert (found["cases"], found["answerable"], found["tags"]) == (4, 3, {"leave": 2, "pets": 1})


def test_what_is_wrong_with_a_file_is_one_line(run: Run, questions: Path) -> None:
    questions.write_text("- {id: 1, questoin: x}\n- {id: 1, question: y}\n", "utf-8")
    line = failing(run, "eval", "data", "questions.yaml", code=1)
    assert line.startswith("error [source_unreadable]: The question file 'questions.yaml' has 3 problems:")
    assert "Did you mean 'question'?" in line


def test_an_unknown_collection_is_an_error(filled: Run, questions: Path) -> None:
    assert "not_found" in failing(filled, "eval", "data", "questions.yaml", "-c", "defualt", code=1)


def test_many_tags_and_many_faults_are_cut(filled: Run, place: Path) -> None:
    rows = [
        {"id": str(n), "question": "Why?", "expected": f"gone {n}", "tags": [f"tag {n}"]} for n in range(25)
    ]
    (place / "many.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    short = filled("eval", "data", "many.jsonl", "-c", "default").stdout
    assert "… and 5 other tags; -v shows all." in short
    assert "… and 5 more; -v shows all." in short
    long = filled("eval", "data", "many.jsonl", "-c", "default", "-v").stdout
    assert "gone 24" in long
    assert "shows all" not in long
