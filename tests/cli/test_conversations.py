"""`refdesk ask --conversation`, `refdesk conversations`, and receipts of what is deleted."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import QUESTION, Process, Run

PIPELINE = "version: 1\nsteps:\n- recall\n- search\n- answer\n- cite\n- remember: {retrieval: true}\n"


@pytest.fixture
def talking(filled: Run, place: Path) -> Run:
    (place / "talk.yaml").write_text(PIPELINE, "utf-8")
    return filled


def ask(run: Run, *options: str) -> dict[str, object]:
    answer = as_json(run, "ask", QUESTION, "--pipeline", "talk.yaml", *options)
    assert isinstance(answer, dict)
    return answer


def test_a_conversation_is_kept_and_shown_as_it_was(talking: Run) -> None:
    answer = ask(talking, "--conversation", "work", "--user", "anna")
    [listed] = as_json(talking, "conversations", "list")
    assert (listed["user"], listed["name"], listed["messages"]) == ("anna", "work", 2)
    assert as_json(talking, "conversations", "list", "--user", "bert") == []
    assert as_json(talking, "conversations", "list", "--user", "") == []
    question, shown = as_json(talking, "conversations", "show", "work", "--user", "anna")
    assert (question["role"], question["text"], question["answer"]) == ("user", QUESTION, None)
    unlike = {"timings"}
    assert {name: value for name, value in shown["answer"].items() if name not in unlike} == {
        name: value for name, value in answer.items() if name in shown["answer"] and name not in unlike
    }
    assert shown["answer"]["citations"]
    text = talking("conversations", "show", "work", "--user", "anna").stdout
    assert f"user, {question['at'][:10]}" in text
    assert "“Every employee has thirty days of leave a year.”" in text
    assert len(as_json(talking, "conversations", "show", "work", "--user", "anna", "--last", "1")) == 1


def test_a_conversation_goes_on_in_the_next_process(talking: Run, process: Process) -> None:
    first = process("ask", QUESTION, "--pipeline", "talk.yaml", "--conversation", "work", "--json")
    assert first.returncode == 0, first.stderr
    record = ask(talking, "--conversation", "work")
    trace = record["trace"]
    assert isinstance(trace, list)
    assert trace[0]["measures"] == {"turns": 2}


def test_without_a_conversation_nothing_is_kept(talking: Run) -> None:
    ask(talking)
    assert as_json(talking, "conversations", "list") == []
    assert talking("conversations", "list").stdout.startswith("user")


def test_a_pipeline_without_memory_says_so(filled: Run) -> None:
    result = filled("ask", QUESTION, "--conversation", "work", "--pipeline", "simple")
    assert result.exit_code == 0
    assert "neither `recall` nor `remember`" in result.stderr
    assert as_json(filled, "conversations", "list") == []
    assert "recall" not in filled("ask", QUESTION).stderr


def test_without_a_pipeline_a_conversation_is_kept(filled: Run) -> None:
    for _ in range(2):
        result = filled("ask", QUESTION, "--conversation", "work", "--user", "anna")
        assert result.exit_code == 0
    assert "No language model is named" in result.stderr
    [listed] = as_json(filled, "conversations", "list")
    assert (listed["name"], listed["user"], listed["messages"]) == ("work", "anna", 4)


def test_deleting_asks_first(talking: Run) -> None:
    ask(talking, "--conversation", "work")
    line = failing(talking, "conversations", "delete", "work", code=1)
    assert (
        line
        == "error [input_invalid]: Deleting 'work' needs a confirmation, and nobody can be asked. Add --yes."
    )
    assert failing(talking, "conversations", "purge", "--older-than", "1d", code=1).endswith("Add --yes.")
    assert as_json(talking, "conversations", "delete", "work", "--yes")["messages"] == 2
    assert "There is no conversation 'work'." in failing(
        talking, "conversations", "delete", "work", "--yes", code=1
    )
    assert "There is no conversation 'work'." in failing(talking, "conversations", "show", "work", code=1)


def test_purging_by_user_and_by_age(talking: Run, place: Path) -> None:
    for user in ("anna", "bert", ""):
        ask(talking, "--conversation", "work", "--user", user)
    assert as_json(talking, "conversations", "purge", "--user", "anna", "--yes")["conversations"] == 1
    assert as_json(talking, "conversations", "purge", "--older-than", "30d", "--yes")["conversations"] == 0
    with sqlite3.connect(place / ".refdesk" / "conversations.sqlite") as connection:
        connection.execute(
            "UPDATE conversations SET used_at = used_at - 31 * 86400 * 1000000 WHERE user = 'bert'"
        )
    connection.close()
    said = talking("conversations", "purge", "--older-than", "30d", "--yes").stdout
    assert said.startswith("Deleted 1 conversations with 2 messages and ")
    assert [one["user"] for one in as_json(talking, "conversations", "list")] == [""]
    assert as_json(talking, "conversations", "purge", "--user", "", "--yes")["conversations"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("conversations", "purge"), "Nothing says which conversations are to be purged."),
        (("conversations", "purge", "--older-than", "soon", "--yes"), "The age is 'soon'"),
        (("ask", QUESTION, "--conversation", " "), "the name may not be blank"),
        (("ask", QUESTION, "--conversation", "x" * 501), "500 are allowed"),
    ],
)
def test_what_cannot_be_used(talking: Run, words: tuple[str, ...], said: str) -> None:
    assert said in failing(talking, *words, code=1)


@pytest.mark.parametrize("user", [(), ("--user", "anna")])
def test_an_empty_name_is_no_conversation(talking: Run, user: tuple[str, ...]) -> None:
    said = failing(talking, "ask", QUESTION, "--conversation", "", *user, code=2)
    assert "--conversation: it is empty; name one, or leave it out." in said
    assert "nothing is kept of a user" in failing(talking, "ask", QUESTION, "--user", "anna", code=2)


def test_hostile_names_and_titles_do_not_steer_the_terminal(talking: Run) -> None:
    name = "a\x1b[31m\u202eb"
    ask(talking, "--conversation", name, "--user", "\x1b]0;owned\x07")
    for words in (("list",), ("show", name, "--user", "\x1b]0;owned\x07")):
        said = talking("conversations", *words).stdout
        assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert as_json(talking, "conversations", "list")[0]["name"] == name


def test_the_receipt_of_a_document(talking: Run) -> None:
    ask(talking, "--conversation", "work")
    receipt = as_json(talking, "documents", "delete", "handbook/leave.md")
    assert receipt["documents"] == receipt["ledger"] == 1
    assert receipt["chunks"] == receipt["vectors"] == receipt["full_text"] > 0
    assert receipt["kept_hits"] > 0
    assert (receipt["answers"], receipt["answers_deleted"], receipt["caches"], receipt["runs"]) == (
        1,
        False,
        [],
        [],
    )
    said = talking("documents", "delete", "handbook/travel.txt", "--answers", "--wipe").stdout
    assert said.startswith("Deleted from default:\n")
    assert "ledger         1 sources, 0 notes of failures" in said
    assert "kept passages, 0 answers that cited it" in said
    assert "caches         none" in said
    assert "files" not in said


def test_runs_that_quote_a_document_are_named(filled: Run, place: Path) -> None:
    (place / "questions.jsonl").write_text(
        json.dumps({"id": "1", "question": QUESTION, "expected": "handbook/leave.md"}) + "\n", "utf-8"
    )
    made = filled("eval", "run", "first", "--data", "questions.jsonl", "--no-answers")
    assert made.exit_code == 0, made.output
    assert as_json(filled, "documents", "delete", "handbook/leave.md")["runs"] == ["first"]
    said = filled("collections", "purge", "default", "--yes").stdout
    assert "evaluation runs first" in said


def test_collections_are_purged_deleted_and_wiped(filled: Run) -> None:
    as_json(filled, "collections", "create", "default", "--description", "The handbook")
    for verb in ("purge", "delete"):
        assert failing(filled, "collections", verb, "default", code=1).endswith("Add --yes.")
    receipt = as_json(filled, "collections", "purge", "default", "--yes")
    assert receipt["documents"] == 3
    kept = as_json(filled, "collections", "describe", "default")
    assert (kept["documents"], kept["description"]) == (0, "The handbook")
    assert as_json(filled, "collections", "wipe") == {"wiped": True}
    assert as_json(filled, "collections", "delete", "default", "--yes")["documents"] == 0
    assert as_json(filled, "collections", "list") == []
    assert "no collection" in failing(filled, "collections", "purge", "default", "--yes", code=1)
