"""The command line on a library in Postgres."""

import json
from pathlib import Path

from tests.cli.conftest import Run


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
