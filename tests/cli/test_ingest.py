"""`refdesk ingest`: what becomes of every source, and the exit codes."""

import json
import re
from pathlib import Path

from tests.cli.calling import as_json, failing
from tests.cli.conftest import Run


def test_ingest_says_what_became_of_every_source(run: Run, place: Path) -> None:
    (place / "handbook" / "broken.pdf").write_bytes(b"%PDF-1.4 not really")
    (place / "handbook" / "empty.txt").write_text("\n")
    result = run("ingest", "handbook")
    assert result.exit_code == 3
    assert result.stdout.startswith("added 3, skipped 1, failed 1 in ")
    assert "handbook/broken.pdf  failed   damaged" in result.stdout
    assert "handbook/empty.txt   skipped  empty" in result.stdout
    ending = r"\n3 documents, \d+ chunks in collection default \(counted in the store\)\n$"
    assert re.search(ending, result.stdout)
    assert result.stderr == ""


def test_ingest_json(run: Run, place: Path) -> None:
    record = as_json(run, "ingest", "handbook", "--collection", "books")
    assert record["collection"] == "books"
    assert record["documents"] == 3
    assert record["counts"]["added"] == 3
    again = as_json(run, "ingest", "handbook", "--collection", "books")
    assert again["embedded"] == 0
    assert again["counts"] == {**dict.fromkeys(record["counts"], 0), "unchanged": 3}


def test_ingest_partly_is_3_also_as_json(run: Run, place: Path) -> None:
    (place / "handbook" / "broken.pdf").write_bytes(b"%PDF-1.4 not really")
    record = as_json(run, "ingest", "handbook", code=3)
    assert [one["source_id"] for one in record["failed"]] == ["handbook/broken.pdf"]
    assert record["failed"][0]["reason"] == "damaged"


def test_many_failures_are_grouped_and_listed_when_asked(run: Run, place: Path) -> None:
    for number in range(12):
        (place / "handbook" / f"broken{number}.pdf").write_bytes(b"%PDF-1.4 not really")
    grouped = run("ingest", "handbook")
    assert "failed   damaged  12" in grouped.stdout
    assert "broken5.pdf" not in grouped.stdout
    assert "broken5.pdf" in run("ingest", "handbook", "-v").stdout


def test_prune_and_glob(filled: Run, place: Path) -> None:
    (place / "handbook" / "travel.txt").unlink()
    assert as_json(filled, "ingest", "handbook", "--glob", "*.md")["counts"]["removed"] == 0
    assert as_json(filled, "ingest", "handbook", "--prune")["counts"]["removed"] == 1
    assert as_json(filled, "stats")["collections"][0]["documents"] == 2


def test_records_are_documents(run: Run, place: Path) -> None:
    lines = [{"_id": f"r{number}", "text": f"Record number {number} speaks."} for number in range(3)]
    Path("notes.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert as_json(run, "ingest", "notes.jsonl")["documents"] == 3
    Path("rows.json").write_text(json.dumps([{"key": "k1", "body": "A body of text."}]), "utf-8")
    as_json(run, "ingest", "rows.json", "--id-field", "key", "--text-field", "body")
    found = as_json(run, "documents", "list")
    ids = ["notes.jsonl#r0", "notes.jsonl#r1", "notes.jsonl#r2", "rows.json#k1"]
    assert [one["source_id"] for one in found] == ids


def test_prune_removes_the_records_that_a_file_lost(run: Run, place: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        rows = [{"id": number, "text": f"Record {number} of {name}."} for number in (1, 2)]
        Path(name).write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert as_json(run, "ingest", "a.jsonl", "b.jsonl")["documents"] == 4
    Path("a.jsonl").write_text('{"id": 1, "text": "Record 1 of a.jsonl."}\n{"id": 2, "te', "utf-8")
    broken = run("ingest", "a.jsonl", "--prune", "--json")
    assert json.loads(broken.stdout)["documents"] == 4
    Path("a.jsonl").write_text('{"id": 1, "text": "Record 1 of a.jsonl."}', "utf-8")
    assert as_json(run, "ingest", "a.jsonl", "--prune")["documents"] == 3


def test_fields_without_a_file_of_records(run: Run) -> None:
    line = failing(run, "ingest", "handbook", "--id-field", "key", code=1)
    assert line.startswith("error [input_invalid]: Fields of records were given")


def test_a_path_that_does_not_exist(run: Run) -> None:
    line = failing(run, "ingest", "handbok", code=1)
    assert line.startswith("error [source_unreadable]: There is no file or folder")
    assert "handbook" in line


def test_what_kept_its_vector_is_told(run: Run, place: Path) -> None:
    sections = [
        f"## Part {part}\n\n" + " ".join(f"The rule {part}.{each} says this and that." for each in range(20))
        for part in range(5)
    ]
    page = place / "handbook" / "rules.md"
    page.write_text("\n\n".join(sections), "utf-8")
    assert "embedded" not in run("ingest", "handbook").stdout
    page.write_text("\n\n".join([*sections, "## New\n\nA new rule."]), "utf-8")
    record = as_json(run, "ingest", "handbook", "--dry-run")
    assert 0 < record["embedded"] < record["texts"]
    told = f"{record['embedded']} of {record['texts']} texts\n"
    assert f"\nwould embed {told}" in run("ingest", "handbook", "--dry-run").stdout
    assert f"\nembedded {told}" in run("ingest", "handbook").stdout
    assert "embedded" not in run("ingest", "handbook").stdout
    assert "embedded" not in run("ingest", "handbook", "--acl", "staff").stdout
    result = run("reembed", env={"REFDESK_CHUNK_TOKENS": "60"})
    assert re.search(r"\nembedded \d+ of \d+ texts", result.stdout), result.output
