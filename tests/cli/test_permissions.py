"""`--acl` says who may read, `--as` who asks; without them it is everyone, and what is public."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import QUESTION, Run

ENV = {"REFDESK_PRINCIPALS": "staff, anna"}


@pytest.fixture
def shared(run: Run, place: Path) -> Run:
    """Run a command after each file was ingested: for staff, for the board and the boss, for everyone."""
    for file, *acl in (("leave.md", "staff"), ("travel.txt", "board", "boss"), ("printer.md",)):
        result = run("ingest", f"handbook/{file}", *(word for name in acl for word in ("--acl", name)))
        assert result.exit_code == 0, result.output
    return run


def sources(run: Run, *args: str) -> list[str]:
    return [Path(one["source_id"]).name for one in as_json(run, *args)]


def test_ingest_says_who_may_read_what_nothing_else_said(run: Run, place: Path) -> None:
    told = run("ingest", "handbook/leave.md").stdout
    assert "1 without an ACL of their own: readable by everyone (setting acl)\n" in told
    told = run("ingest", "handbook/travel.txt", env={"REFDESK_ACL": "staff,board"}).stdout
    assert "1 without an ACL of their own: readable by staff, board (setting acl)\n" in told
    assert "without an ACL" not in run("ingest", "handbook", "--acl", "staff").stdout
    record = as_json(run, "ingest", "handbook", "--acl", "staff", "--acl", "anna")
    assert (record["acl"], record["unsaid"], record["updated_only"]) == (["staff", "anna"], 0, {"acl": 3})


def test_documents_are_those_of_the_asker(shared: Run) -> None:
    assert sources(shared, "documents", "list") == ["printer.md"]
    assert sources(shared, "documents", "list", "--as", "staff") == ["leave.md", "printer.md"]
    both = sources(shared, "documents", "list", "--as", "staff", "--as", "board")
    assert both == ["leave.md", "printer.md", "travel.txt"]
    assert sources(shared, "documents", "list", "--everything") == both
    result = shared("documents", "list", env=ENV)
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == [
        "handbook/leave.md",
        "handbook/printer.md",
    ]
    assert "board, boss" in shared("documents", "list", "--as", "boss").stdout


def test_a_hidden_document_is_missing(shared: Run) -> None:
    for name in ("handbook/leave.md", "handbook/never.md"):
        said = failing(shared, "documents", "show", name, code=1)
        assert said == f"error [not_found]: There is no document {name!r} in the collections asked."
    assert "readable by" in shared("documents", "show", "handbook/leave.md", "--as", "staff").stdout


def test_searching_and_asking_is_done_for_the_asker(shared: Run) -> None:
    assert as_json(shared, "search", QUESTION)["hits"] == []
    found = as_json(shared, "search", QUESTION, "--as", "staff", "--explain")
    assert {Path(hit["source_id"]).name for hit in found["hits"]} == {"leave.md"}
    assert found["explanation"]["documents"] == 2
    answer = as_json(shared, "ask", QUESTION, "--as", "staff")
    assert "thirty days" in answer["answer"]
    assert as_json(shared, "ask", QUESTION)["citations"] == []


def test_an_answer_is_rechecked_for_its_reader(shared: Run, place: Path) -> None:
    kept = place / "answer.json"
    kept.write_text(shared("ask", QUESTION, "--json", "--as", "staff").stdout, "utf-8")
    assert as_json(shared, "recheck", str(kept), "--as", "staff")["holds"]
    lost = as_json(shared, "recheck", str(kept), code=1)
    assert [one["state"] for one in lost["citations"]] == ["gone"]


def test_counts_are_those_of_the_asker(shared: Run) -> None:
    for args, count in (((), 1), (("--as", "staff"), 2), (("--everything",), 3)):
        for command in (("collections", "list"), ("stats",)):
            record = as_json(shared, *command, *args)
            found = record["collections"] if command == ("stats",) else record
            assert [one["documents"] for one in found] == [count]
        assert as_json(shared, "collections", "describe", "default", *args)["documents"] == count


@pytest.mark.parametrize("name", ["", " staff", "a\tb"])
def test_what_is_no_name_is_refused(shared: Run, name: str) -> None:
    assert "settings_invalid" in failing(shared, "search", QUESTION, "--as", name, code=1)
    assert "input_invalid" in failing(shared, "ingest", "handbook", "--acl", name, code=1)


def test_records_say_it_in_a_field(run: Run, place: Path) -> None:
    (place / "r.jsonl").write_text('{"id": "a", "text": "A text here.", "groups": ["staff"]}\n', "utf-8")
    as_json(run, "ingest", "r.jsonl", "--acl-field", "groups")
    assert as_json(run, "documents", "list", "--everything")[0]["acl"] == ["staff"]


def test_the_summary_tells_apart_why_nobody_may_read(run: Run, place: Path) -> None:
    records = [{"id": name, "text": f"The text {name}."} for name in ("known", "meant", "a", "b")]
    file = place / "r.jsonl"
    file.write_text("\n".join(map(json.dumps, records[:1])), "utf-8")
    run("ingest", "r.jsonl", "--id-field", "id")
    acls: tuple[object, ...] = (None, [], " ", 3)
    odd = [{**record, "acl": acl} for record, acl in zip(records, acls, strict=True)]
    file.write_text("\n".join(map(json.dumps, odd)), "utf-8")
    result = run("ingest", "r.jsonl", "--id-field", "id")
    assert result.exit_code == 3
    for line in (
        "1 of what was listed may be read by nobody: the ACL is empty",
        "2 not stored: the ACL cannot be understood",
        "1 stored before, now read by nobody: the ACL cannot be understood",
    ):
        assert f"\n{line}\n" in result.stdout
    record = as_json(run, "ingest", "r.jsonl", "--id-field", "id", code=3)
    assert (record["hidden"], record["refused"], record["withheld"]) == (1, 2, 1)


@pytest.mark.parametrize(
    "words",
    [("documents", "list"), ("collections", "list"), ("collections", "describe", "default"), ("stats",)],
)
def test_everything_is_not_for_somebody(shared: Run, words: tuple[str, ...]) -> None:
    said = failing(shared, *words, "--as", "anna", "--everything", code=2)
    assert "--everything: it is for whoever may read it, and --as says who asks" in said
    assert shared(*words, "--everything", env=ENV).exit_code == 0


def test_an_empty_variable_makes_nothing_public(run: Run) -> None:
    for name in ("ACL", "PRINCIPALS"):
        result = run("ingest", "handbook", env={f"REFDESK_{name}": ""})
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"or unset REFDESK_{name}." in result.stderr
    assert "'library' from options is ''" in run("ingest", "handbook", "--library", "").stderr
    assert "A path is empty." in run("ingest", "").stderr
    assert run("ingest", "handbook", "--collection", "").exit_code == 1
    assert not Path(".refdesk").exists()


def test_an_older_library_is_upgraded_by_saying_who_may_read_it(shared: Run, place: Path) -> None:
    with sqlite3.connect(place / ".refdesk" / "control.sqlite", isolation_level=None) as control:
        control.execute("PRAGMA foreign_keys = OFF")
        for statement in (
            "DROP INDEX documents_counted",
            "DROP INDEX documents_of_acl",
            "DROP TABLE readers",
            "DROP TABLE acls",
            "ALTER TABLE documents DROP COLUMN acl",
            "CREATE INDEX documents_counted ON documents (collection, language, chunks, tokens)",
            "PRAGMA user_version = 1",
        ):
            control.execute(statement)
    control.close()
    said = failing(shared, "stats", code=1)
    assert "upgrade --acl NAME" in said
    assert "Missing option '--acl'" in failing(shared, "upgrade", code=2)
    assert shared("upgrade", "--acl", "staff").stdout == "3 documents may now be read by staff.\n"
    assert len(sources(shared, "documents", "list", "--as", "staff")) == 3
    assert "nothing was changed" in shared("upgrade", "--acl", "public").stdout
    assert sources(shared, "documents", "list") == []


def test_a_database_is_not_upgraded_here_and_its_password_not_shown(run: Run) -> None:
    said = failing(run, "--library", "postgresql://u:hush@h/d", "upgrade", "--acl", "staff", code=1)
    assert "hush" not in said
    assert "postgresql://h/d" in said
