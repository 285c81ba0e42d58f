"""`refdesk eval generate`, on a small collection."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.parts import part
from typer.testing import CliRunner, Result

from refdesk.cli import eval_generate
from refdesk.evaluation.datasets.casefile import read_cases
from refdesk.testing.chat_server import ServerReply, chat_server

BRIDGE = """The Veltrane bridge was opened to traffic in 1931. It is long.

The Veltrane bridge has 14 pillars made of granite from Orrin.
"""
QUARRY = "The Orrin quarry was closed to visitors in 1987. Granite went to Lisbon on barges in winter.\n"


@pytest.fixture
def library(place: Path, run: Run) -> Path:
    folder = place / "texts"
    folder.mkdir()
    (folder / "bridge.md").write_text(BRIDGE, "utf-8")
    (folder / "quarry.md").write_text(QUARRY, "utf-8")
    (folder / "tiny.md").write_text("Hm.\n", "utf-8")
    assert run("ingest", "texts").exit_code == 0
    return place


def generate(variables: Mapping[str, str], *args: str) -> Result:
    return CliRunner(env=dict(variables)).invoke(part(eval_generate), ["eval", "generate", *args])


def test_a_question_file_is_written_and_what_is_unusable_is_said(
    library: Path, variables: Mapping[str, str]
) -> None:
    result = generate(variables, "own.yaml", "--kinds", "single", "-n", "1", "--seed", "3")
    assert result.exit_code == 0, result.output
    assert "texts/tiny.md" in result.stdout
    assert "too short: 2 letters" in result.stdout
    assert "Written to own.yaml." in result.stderr
    data = read_cases("own.yaml")
    [case] = data.cases
    gold = case.needs[0].alternatives[0]
    assert gold.document in ("texts/bridge.md", "texts/quarry.md")
    assert gold.quote in BRIDGE + QUARRY
    assert case.answers[0] in gold.quote


def test_the_same_command_goes_on_and_more_are_added(library: Path, variables: Mapping[str, str]) -> None:
    first = generate(variables, "own.jsonl", "--kinds", "single", "-n", "1", "--json")
    assert json.loads(first.stdout)["kinds"] == {"single": {"wanted": 1, "made": 1}}
    kept = Path("own.drafts.jsonl").read_text("utf-8").splitlines()
    second = generate(variables, "own.jsonl", "--kinds", "single,unanswerable", "-n", "2", "--json")
    record = json.loads(second.stdout)
    assert record["questions"] == 2
    assert Path("own.drafts.jsonl").read_text("utf-8").splitlines()[: len(kept)] == kept
    assert record["ids"][0] == json.loads(first.stdout)["ids"][0]
    assert len(read_cases("own.jsonl").cases) == 2


def test_a_model_that_writes_nonsense_gives_no_file(library: Path, variables: Mapping[str, str]) -> None:
    with chat_server(ServerReply(pieces=["no JSON"])) as server:
        args = ("own.yaml", "--kinds", "single", "--llm", f"openai:m@{server.base_url}")
        result = generate(variables, *args)
    assert result.exit_code == 1
    assert "the model's reply could not be read" in result.stdout
    assert "No question could be made." in result.stderr
    assert not Path("own.yaml").exists()


def test_a_budget_is_kept(library: Path, variables: Mapping[str, str]) -> None:
    with chat_server(ServerReply(pieces=["no JSON"])) as server:
        args = ("own.yaml", "--kinds", "single", "--max-requests", "1", "--llm")
        result = generate(variables, *args, f"openai:m@{server.base_url}")
    assert "at most 1 may be" in result.stderr


def test_a_file_of_somebody_else_is_left_alone(library: Path, variables: Mapping[str, str]) -> None:
    Path("own.yaml").write_text("mine", "utf-8")
    result = generate(variables, "own.yaml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is there already" in result.stderr
    assert Path("own.yaml").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("own.txt",), "End it in .yaml, .yml, .jsonl"),
        (("no/own.yaml",), "does not exist"),
        (("own.yaml", "--kinds", "magic"), "There is no kind of question 'magic'"),
        (("own.yaml", "--kinds", ","), "No question is wanted"),
        (("own.yaml", "--max-overlap", "0"), "has to be above 0"),
        (("own.yaml", "-c", "nowhere"), "nowhere"),
        (("own.yaml", "--llm", "nonsense"), "cannot be read"),
    ],
)
def test_what_goes_wrong(
    library: Path, variables: Mapping[str, str], args: tuple[str, ...], told: str
) -> None:
    result = generate(variables, *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert not Path("own.yaml").exists()


def test_drafts_of_something_else_are_refused(library: Path, variables: Mapping[str, str]) -> None:
    assert generate(variables, "own.yaml", "--kinds", "single", "-n", "1").exit_code == 0
    result = generate(variables, "own.yaml", "--kinds", "single", "-n", "1", "--seed", "4")
    assert result.exit_code == 1
    assert "seed differs" in result.stderr


def test_what_was_changed_by_hand_is_not_overwritten(library: Path, variables: Mapping[str, str]) -> None:
    assert generate(variables, "own.yaml", "--kinds", "single", "-n", "1").exit_code == 0
    mended = Path("own.yaml").read_text("utf-8").replace("?", ", do you know?")
    Path("own.yaml").write_text(mended, "utf-8")
    result = generate(variables, "own.yaml", "--kinds", "single", "-n", "2")
    assert result.exit_code == 1
    assert "was changed since it was made" in result.stderr
    assert Path("own.yaml").read_text("utf-8") == mended
