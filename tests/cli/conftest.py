"""Commands run against a real library, with a tiny model whose weights are random."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest
from typer.testing import CliRunner, Result

from refdesk.cli.main import app
from refdesk.testing.chat_server import ServerReply, chat_server
from refdesk.testing.models import write_tiny_model

LEAVE = """# Leave

## Days of leave

Every employee has thirty days of leave a year. Part-time employees have the same share of them.

## Carrying over

Ten days may be carried over until the end of March.
"""
EVIL = (
    "# [bold red]Printer[/]\n\nThe printer \x1b[31mburns\x1b[0m \x1b]0;owned\x07paper \x9b2J daily :smile:.\n"
)
QUESTION = "Every employee has thirty days of leave a year."
"""A sentence of the handbook itself: the nearest to it also where the weights are random."""
TRAVEL = "Travel costs are paid back within two weeks. A hotel may cost 120 euros a night.\n"


class Run(Protocol):
    def __call__(self, *args: str, input: str | None = None, env: Mapping[str, str] = ...) -> Result: ...


class Process(Protocol):
    def __call__(self, *args: str, env: Mapping[str, str] = ...) -> "subprocess.CompletedProcess[str]": ...


class Command(Protocol):
    def __call__(self, *args: str, env: Mapping[str, str] = ...) -> tuple[list[str], dict[str, str]]: ...


@pytest.fixture(scope="session")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Settings of a library that needs no fetched model."""
    folder = tmp_path_factory.mktemp("models")
    return {
        "REFDESK_EMBEDDER": str(write_tiny_model(folder / "tiny", max_length=64)),
        "REFDESK_CACHE": str(folder / "cache"),
        "REFDESK_RERANKER": "none",
        "REFDESK_MODE": "keyword",
        "REFDESK_LIBRARY": "",
    }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with documents, and no library yet."""
    monkeypatch.chdir(tmp_path)
    handbook = tmp_path / "handbook"
    handbook.mkdir()
    (handbook / "leave.md").write_text(LEAVE, "utf-8")
    (handbook / "printer.md").write_text(EVIL, "utf-8")
    (handbook / "travel.txt").write_text(TRAVEL, "utf-8")
    return tmp_path


@pytest.fixture
def run(place: Path, variables: Mapping[str, str]) -> Run:
    """Run a command in this process."""

    def call(*args: str, input: str | None = None, env: Mapping[str, str] = {}) -> Result:
        return CliRunner(env={**variables, **env}).invoke(app, list(args), input=input)

    return call


@pytest.fixture
def command(place: Path, variables: Mapping[str, str]) -> Command:
    """Give the words and the environment of a command for a process of its own."""

    def words(*args: str, env: Mapping[str, str] = {}) -> tuple[list[str], dict[str, str]]:
        return [sys.executable, "-m", "refdesk", *args], {**os.environ, **variables, **env}

    return words


@pytest.fixture
def process(command: Command) -> Process:
    """Run a command in a process of its own, its output in pipes."""

    def call(*args: str, env: Mapping[str, str] = {}) -> "subprocess.CompletedProcess[str]":
        words, environment = command(*args, env=env)
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    return call


@pytest.fixture
def llm() -> Iterator[str]:
    """Give the model string of a server that answers from the first evidence."""
    reply = ServerReply(pieces=["Every employee ", "has thirty days of leave a year [[", "1]]."])
    with chat_server(reply) as server:
        yield f"openai:scripted@{server.base_url}"


@pytest.fixture
def filled(run: Run) -> Run:
    """Run a command after the handbook has been ingested."""
    result = run("ingest", "handbook")
    assert result.exit_code == 0, result.output
    return run
