"""`refdesk recheck`: an answer that was kept, and a library that went on."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import LEAVE, QUESTION, Run

QUOTE = "Every employee has thirty days of leave a year."


@pytest.fixture
def kept(filled: Run, llm: str) -> dict[str, Any]:
    """The answer, also in the file answer.json."""
    record: dict[str, Any] = as_json(filled, "ask", QUESTION, "--llm", llm)
    Path("answer.json").write_text(json.dumps(record), "utf-8")
    return record


def test_an_answer_that_holds(filled: Run, kept: dict[str, Any]) -> None:
    result = filled("recheck", "answer.json")
    assert (result.exit_code, result.stderr) == (0, "1 of 1 citations stand.\n")
    assert result.stdout == f"{kept['answer']}\n\n[1] Leave — handbook/leave.md\n    “{QUOTE}”\n"
    piped = filled("recheck", "-", "--json", input=json.dumps(kept))
    assert piped.exit_code == 0
    record = json.loads(piped.stdout)
    assert record["holds"] is True
    [citation] = record["citations"]
    assert citation == {"state": "holds", "reason": "", **kept["citations"][0]}


def test_a_document_that_changed(filled: Run, kept: dict[str, Any]) -> None:
    Path("handbook/leave.md").write_text("# Leave\n\nSince May:\n" + LEAVE.partition("\n")[2], "utf-8")
    assert filled("ingest", "handbook").exit_code == 0
    assert as_json(filled, "recheck", "answer.json")["citations"][0]["state"] == "moved"
    Path("handbook/leave.md").write_text(LEAVE.replace("thirty", "twenty"), "utf-8")
    assert filled("ingest", "handbook").exit_code == 0
    result = filled("recheck", "answer.json")
    assert (result.exit_code, result.stderr) == (1, "0 of 1 citations stand.\n")
    assert "[1] Leave — handbook/leave.md\n    The document changed; the quote is no longer" in result.stdout
    assert "“" not in result.stdout
    assert "twenty" not in result.stdout


def test_a_document_that_is_gone(filled: Run, kept: dict[str, Any]) -> None:
    assert filled("documents", "delete", "handbook/leave.md").exit_code == 0
    result = filled("recheck", "answer.json")
    assert result.exit_code == 1
    shown = result.stdout.removeprefix(kept["answer"])
    assert shown == "\n\n[1]\n    The document is in none of the collections that were asked.\n"
    record = as_json(filled, "recheck", "answer.json", code=1)
    assert record["holds"] is False
    assert "leave.md" not in json.dumps(record["citations"])


def test_other_collections_show_nothing(filled: Run, kept: dict[str, Any]) -> None:
    assert filled("collections", "create", "other").exit_code == 0
    record = as_json(filled, "recheck", "answer.json", "--collection", "other", code=1)
    assert record["citations"][0]["state"] == "gone"


def test_what_is_no_answer(filled: Run, kept: dict[str, Any]) -> None:
    assert failing(filled, "recheck", "nowhere.json", code=1).startswith("error [input_invalid]: Cannot read")
    Path("bad.json").write_text("{", "utf-8")
    assert "Cannot read the answer in 'bad.json'" in failing(filled, "recheck", "bad.json", code=1)
    records: tuple[Any, ...] = (
        [],
        {},
        {**kept, "citations": [{"marker": "x"}]},
        {**kept, "answer": 5},
        {"citations": []},
    )
    for record in records:
        Path("bad.json").write_text(json.dumps(record), "utf-8")
        assert "This is no answer as" in failing(filled, "recheck", "bad.json", code=1)


def test_support_is_in_the_record_of_an_answer(filled: Run, llm: str) -> None:
    Path("own.yaml").write_text("version: 1\nsteps: [search, answer, cite, ground]\n", "utf-8")
    call = ("ask", QUESTION, "--llm", llm, "--pipeline", "own.yaml")
    [citation] = as_json(filled, *call)["citations"]
    assert citation["support"] == "supported"
    assert f"“{QUOTE}”\n" in filled(*call).stdout


def test_links_and_numbers_are_set_by_variables(filled: Run, llm: str) -> None:
    links = json.dumps({"default": "https://in.example/{source_id}"})
    environment = {"REFDESK_LINKS": links, "REFDESK_NUMBER_BY": "document"}
    result = filled("ask", QUESTION, "--llm", llm, env=environment)
    assert "[1] Leave — https://in.example/handbook/leave.md\n" in result.stdout
    record = json.loads(filled("ask", QUESTION, "--llm", llm, "--json", env=environment).stdout)
    assert record["number_by"] == "document"
    wrong = filled("ask", QUESTION, env={"REFDESK_LINKS": '{"default": "ftp://h/{page}"}'})
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith(
        "error [settings_invalid]: The link template of 'default' from environment"
    )
