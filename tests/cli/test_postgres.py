"""The command line on a library in Postgres."""

import json
from pathlib import Path

import psycopg
import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import QUESTION, Run


def test_commands_take_a_url(run: Run, postgres: str, place: Path) -> None:
    library = ("--library", postgres)
    empty = run("stats", *library)
    assert empty.exit_code != 0
    assert "There is no library in postgresql://" in " ".join(empty.stderr.split())
    assert run("ingest", "handbook", *library).exit_code == 0
    found = json.loads(run("stats", *library, "--json").stdout)
    assert found["bytes"] > 0
    assert found["library"].startswith("postgresql://")
    assert found["collections"][0]["documents"] == 3
    assert run("search", "leave", *library).exit_code == 0
    assert run("collections", "list", *library).exit_code == 0
    assert run("documents", "list", env={"REFDESK_LIBRARY": postgres}).exit_code == 0


def test_no_command_shows_a_password(run: Run) -> None:
    for command in (["stats"], ["search", "leave"], ["ingest", "."]):
        for url in ("postgresql://ann:hush@127.0.0.1:1/desk", "postgresql://ann:hu/sh@h/desk"):
            ended = run(*command, "--library", url, "--verbose")
            assert ended.exit_code != 0
            assert "hu" not in ended.output.replace("such", "")


def made(postgres: str) -> set[str]:
    """Return the schemas and extensions of a database."""
    with psycopg.connect(postgres) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace UNION SELECT extname FROM pg_extension")
        return {name for (name,) in rows.fetchall()}


READING: tuple[tuple[str, ...], ...] = (
    ("conversations", "list"),
    ("conversations", "list", "--user", "anna"),
    ("conversations", "purge", "--user", "anna", "--yes"),
    ("conversations", "purge", "--older-than", "1d", "--yes"),
)
MISSING: tuple[tuple[str, ...], ...] = (
    ("conversations", "show", "x"),
    ("conversations", "delete", "x", "--yes"),
    ("collections", "list"),
    ("collections", "describe", "default"),
    ("collections", "delete", "default", "--yes"),
    ("collections", "purge", "default", "--yes"),
    ("collections", "wipe"),
    ("documents", "list"),
    ("documents", "show", "x"),
    ("documents", "delete", "x"),
    ("search", QUESTION),
    ("ask", QUESTION, "--conversation", "c"),
    ("reembed",),
    ("stats", "--everything"),
)


@pytest.mark.parametrize("where", ["database", "folder"])
def test_what_only_reads_or_removes_makes_no_library(
    run: Run, postgres: str, place: Path, where: str
) -> None:
    library = ("--library", postgres if where == "database" else "library")
    before = made(postgres)
    for words in READING:
        found = as_json(run, *words, *library)
        assert found in ([], {"conversations": 0, "messages": 0, "hits": 0})
    for words in MISSING:
        assert "error [not_found]" in failing(run, *words, *library, code=1), words
    assert as_json(run, "ingest", "handbook", "--dry-run", *library)["counts"]["added"] == 3
    assert made(postgres) == before
    assert not (place / "library").exists()


def test_a_conversation_in_a_database(run: Run, postgres: str) -> None:
    library = ("--library", postgres)
    assert run("ingest", "handbook", *library).exit_code == 0
    assert run("ask", QUESTION, "--conversation", "c", *library).exit_code == 0
    assert as_json(run, "conversations", "list", *library)[0]["messages"] == 2
    assert len(as_json(run, "conversations", "show", "c", *library)) == 2
    assert as_json(run, "conversations", "delete", "c", "--yes", *library)["messages"] == 2
