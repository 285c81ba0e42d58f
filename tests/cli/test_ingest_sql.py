"""`refdesk ingest --sql`: rows of a database, dry runs, and staying with it."""

import json
import signal
import sqlite3
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Command, Run
from tests.cli.test_process import line_of, started

CONFIG = """\
version: 1
url: sqlite:///notes.db
query: SELECT * FROM notes
map:
  id: id
  title: title
  text: body
  acl: readers
  updated_at: changed
"""


@pytest.fixture
def notes(place: Path) -> sqlite3.Connection:
    """Give a database of three notes, and a file that says how it is read."""
    connection = sqlite3.connect(place / "notes.db", isolation_level=None)
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, title, body, readers, changed)")
    for number in (1, 2, 3):
        add(connection, number)
    (place / "notes.yaml").write_text(CONFIG, "utf-8")
    return connection


def add(notes: sqlite3.Connection, number: int) -> None:
    row = (number, f"Note {number}", f"The body of note {number}.", "public", f"2024-01-{number:02} 12:00:00")
    notes.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", row)


def test_a_dry_run_then_the_real_one(run: Run, notes: sqlite3.Connection) -> None:
    notes.execute("UPDATE notes SET readers = NULL WHERE id = 2")
    dry = run("ingest", "--sql", "notes.yaml", "--dry-run")
    assert dry.exit_code == 0, dry.output
    first, hidden, held = dry.stdout.splitlines()
    assert first.startswith("would be: added 3 in ")
    assert hidden == "1 of what was listed may be read by nobody: the ACL is empty"
    assert held.startswith("3 documents, 3 chunks would be in collection default (nothing was written)")
    assert not Path(".refdesk").exists()
    assert as_json(run, "ingest", "--sql", "notes.yaml")["counts"]["added"] == 3


def test_changes_of_readers_are_told_apart(run: Run, notes: sqlite3.Connection) -> None:
    as_json(run, "ingest", "--sql", "notes.yaml")
    notes.execute("UPDATE notes SET readers = 'staff'")
    record = as_json(run, "ingest", "--sql", "notes.yaml", "--dry-run")
    assert (record["dry_run"], record["counts"]["updated"], record["updated_only"]) == (True, 3, {"acl": 3})
    assert "updated 3 (only acl 3) in " in run("ingest", "--sql", "notes.yaml").stdout


def test_much_that_vanished_needs_prune(run: Run, notes: sqlite3.Connection) -> None:
    as_json(run, "ingest", "--sql", "notes.yaml", "handbook")
    notes.execute("DELETE FROM notes")
    record = as_json(run, "ingest", "--sql", "notes.yaml", code=3)
    assert [one["reason"] for one in record["failed"]] == ["too_many_gone"]
    assert record["documents"] == 6
    assert as_json(run, "ingest", "--sql", "notes.yaml", "--prune")["documents"] == 3


def test_full_reads_all_rows(run: Run, notes: sqlite3.Connection) -> None:
    as_json(run, "ingest", "--sql", "notes.yaml")
    assert as_json(run, "ingest", "--sql", "notes.yaml")["counts"]["unchanged"] == 1
    assert as_json(run, "ingest", "--sql", "notes.yaml", "--full")["counts"]["unchanged"] == 3


def test_a_wrong_file_is_told_in_one_line(run: Run, place: Path, notes: sqlite3.Connection) -> None:
    (place / "notes.yaml").write_text(CONFIG.replace("readers", "reader").replace("text: body", "text: bod"))
    told = failing(run, "ingest", "--sql", "notes.yaml", code=1)
    assert told.startswith("error [settings_invalid]: The SQL source 'notes' has 2 problems: ")
    assert "Did you mean 'body'?" in told
    assert "Did you mean 'readers'?" in told
    assert "notes.yaml" in failing(run, "ingest", "--sql", "note.yaml", code=1)


def test_options_that_do_not_go_together(run: Run, notes: sqlite3.Connection) -> None:
    failing(run, "ingest", "handbook", "--every", "5", code=2)
    failing(run, "ingest", "--sql", "notes.yaml", "--dry-run", "--watch", code=2)
    failing(run, "ingest", code=2)


def test_staying_with_a_database(command: Command, notes: sqlite3.Connection) -> None:
    process = started(command, "ingest", "--sql", "notes.yaml", "--every", "1", "--json")
    assert json.loads(line_of(process.stdout, "{"))["counts"]["added"] == 3
    add(notes, 4)
    added = 0
    while not added:
        added = json.loads(line_of(process.stdout, "{"))["counts"]["added"]
    assert added == 1
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.endswith("Interrupted. 4 documents are stored; run the same command again to go on.\n")
