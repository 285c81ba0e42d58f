"""`refdesk eval run` and `refdesk eval runs`: tables, kept runs, Ctrl-C, killed processes, wrong input."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.parts import part
from typer.testing import CliRunner, Result

from refdesk.cli import eval_run
from refdesk.evaluation.runs.store import KILLED, RunStore
from refdesk.testing.chat_server import ChatServer, ServerReply, chat_server

METALS = ("zinc", "iron", "gold", "lead", "neon", "argon", "boron", "cobalt")
RUN = ("eval", "run", "first", "--data", "metals")
STORE = Path(".refdesk/evaluations")
PARTS = """
import sys
from tests.cli.parts import part
from refdesk.cli import eval_run
from refdesk.cli.main import Refdesk
app = part(eval_run)
app.info.cls = Refdesk
app(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def metals(place: Path) -> None:
    """A data set of eight documents with a question each, and one that nothing answers."""
    (place / "metals").mkdir()
    (place / "metals" / "qrels").mkdir()
    corpus = [
        {"_id": f"d{n}", "title": "", "text": f"Bars of {metal} lie there."} for n, metal in enumerate(METALS)
    ]
    asked = [{"_id": f"q{n}", "text": f"Bars of {metal} lie there."} for n, metal in enumerate(METALS)]
    (place / "metals" / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    (place / "metals" / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    judged = [f"q{n}\td{n}\t1" for n in range(len(METALS))]
    (place / "metals" / "qrels" / "test.tsv").write_text("\n".join(judged), "utf-8")


@pytest.fixture
def call(variables: Mapping[str, str]) -> Any:
    """Run a command in this process."""

    def run(*args: str, env: Mapping[str, str] = {}, input: str | None = None) -> Result:
        return CliRunner(env={**variables, **env}).invoke(part(eval_run), list(args), input=input)

    return run


@contextmanager
def slow(seconds: float) -> Iterator[ChatServer]:
    """A model that takes its time."""

    def reply(body: dict[str, Any]) -> ServerReply:
        time.sleep(seconds)
        return ServerReply(pieces=["Bars lie there [[1]]."])

    with chat_server(reply) as server:
        yield server


def model(server: ChatServer) -> str:
    return f"openai:scripted@{server.base_url}"


def rows(text: str, title: str) -> list[list[str]]:
    """Return the cells of a table, its headings first."""
    part = text.split(f"\n{title}\n")[1].split("\n\n")[0]
    return [line.split("  ") for line in part.splitlines()]


def test_a_run_is_told_and_kept(call: Any) -> None:
    done = call(*RUN)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("first: done. metals, test, 8 cases\npipeline    default\n")
    found = {line[0]: [cell.strip() for cell in line if cell.strip()] for line in rows(done.stdout, "Found")}
    assert list(found) == ["channel", "keyword", "vector", "fused", "pipeline"]
    assert found["keyword"][1:4] == ["1.000", "1.000", "1.000"]
    assert found["keyword"][8:10] == ["8", "0"]
    answered = {
        line[0]: [cell.strip() for cell in line if cell.strip()] for line in rows(done.stdout, "Answered")
    }
    assert answered["citation_validity"][1] == "1.000"
    assert answered["correctness"][1:] == ["–", "0", "8"]
    assert (
        "left out: no reference answer is known: 8 cases of answer.right, answer.correctness" in done.stderr
    )
    assert "Kept in" in done.stderr
    run = RunStore(STORE).read("first")
    assert (run.status, len(run.outcomes)) == ("done", 8)
    assert call("eval", "runs", "show", "first").stdout == done.stdout


def test_one_json_document(call: Any) -> None:
    done = call(*RUN, "--json", "--sample", "3", "--seed", "4", "--channels", "keyword", "--no-answers")
    assert (done.exit_code, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert (record["status"], record["asked"], record["header"]["seed"]) == ("done", 3, 4)
    assert record["header"]["options"]["sample"] == 3
    assert list(record["latency"]) == ["case", "keyword"]
    assert record["header"]["pipeline"] == ""
    shown = json.loads(call("eval", "runs", "show", "first", "--json", "--cases").stdout)
    assert len(shown["cases"]) == 3
    assert {name: value for name, value in shown.items() if name != "cases"} == record


def test_runs_are_listed_the_newest_first(call: Any) -> None:
    args = ("--channels", "keyword", "--no-answers")
    call(*RUN, *args)
    call("eval", "run", "second", "--data", "metals", "--sample", "2", "--runs", "elsewhere", *args)
    listed = call("eval", "runs")
    assert listed.exit_code == 0, listed.output
    assert listed.stdout.splitlines()[1].split()[:5] == ["first", "done", "8", "8", "0"]
    assert "keyword.nDCG@10 1.000" in listed.stdout
    [record] = json.loads(call("eval", "runs", "list", "--runs", "elsewhere", "--json").stdout)
    assert (record["run"], record["asked"], record["figures"]) == ("second", 2, {"keyword.nDCG@10": 1.0})
    assert call("eval", "runs", "--runs", "nowhere").stderr == "There are no runs in nowhere.\n"


def test_a_damaged_run_does_not_hide_the_others(call: Any) -> None:
    call(*RUN, "--channels", "keyword", "--no-answers")
    (STORE / "broken").mkdir()
    (STORE / "broken" / "run.json").write_text("{")
    listed = call("eval", "runs")
    assert "first" in listed.stdout
    assert listed.stderr.startswith("warning: The run in")


def test_a_run_is_deleted_once_it_is_confirmed(call: Any) -> None:
    call(*RUN, "--channels", "keyword", "--no-answers")
    refused = call("eval", "runs", "rm", "first")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Add --yes." in refused.stderr
    assert call("eval", "runs", "rm", "first", "--yes").stdout == "Deleted first with 8 cases.\n"
    assert not (STORE / "first").exists()


def test_a_name_that_is_taken_is_refused_before_anything_is_read_in(call: Any) -> None:
    call(*RUN, "--channels", "keyword", "--no-answers")
    again = call(*RUN, "--collection", "other")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "already" in again.stderr
    assert "--resume" in again.stderr
    listed = CliRunner().invoke(part(eval_run), ["eval", "runs", "show", "frist"])
    assert "Did you mean 'first'?" in listed.stderr


def test_something_else_is_not_resumed(call: Any) -> None:
    call(*RUN, "--channels", "keyword", "--no-answers")
    for args, told in (
        (("--channels", "vector", "--no-answers"), "channels was ['keyword'] and is ['vector']"),
        (("--channels", "keyword", "--no-answers", "--sample", "2"), "cases was 8 and is 2"),
        (("--channels", "keyword"), "the pipeline differs"),
    ):
        result = call(*RUN, *args, "--resume")
        assert result.exit_code == 1
        assert told in result.stderr


def test_cases_that_fail_are_counted_and_asked_again(call: Any) -> None:
    failed: list[dict[str, Any]] = []

    def sometimes(body: dict[str, Any]) -> ServerReply:
        if "gold" in json.dumps(body) and not failed:
            failed.append(body)
            return ServerReply(status=400)
        return ServerReply(pieces=["Bars lie there [[1]]."])

    with chat_server(sometimes) as server:
        args = ("--llm", model(server), "--channels", "none")
        first = call(*RUN, *args)
        assert first.exit_code == 0, first.output
        assert "failed: 1 case: " in first.stderr
        asked = len(server.requests)
        again = call(*RUN, *args, "--resume")
        assert again.exit_code == 0, again.output
        assert len(server.requests) == asked + 1
    assert "failed" not in again.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--channels", "keywords"), "Unknown channel 'keywords'"),
        (("--channels", "reranked"), "has no reranker"),
        (("--channels", "none", "--no-answers"), "Nothing is measured"),
        (("--judge", "openai:x", "--no-answers"), "nothing to judge"),
        (("--pipeline", "simpel"), "Did you mean 'simple'?"),
        (("--pipeline", "modular"), "needs a language model"),
        (("--tag", "hard"), "'hard'"),
        (("--split", "dev"), "dev"),
        (("--judge", "nonsense"), "model string"),
    ],
)
def test_what_goes_wrong(call: Any, args: tuple[str, ...], told: str) -> None:
    result = call(*RUN, *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert result.stderr.startswith("error [")
    assert not STORE.exists()


def begun(process: "subprocess.Popen[str]", cases: int) -> None:
    """Wait until so many cases are kept."""
    path = STORE / "first" / "cases.jsonl"
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= cases):
        time.sleep(0.01)


@pytest.fixture
def started(variables: Mapping[str, str]) -> Any:
    """Run a command in a process of its own."""
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, **variables, "PYTHONPATH": root}

    def start(*args: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", PARTS, *args],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_a_killed_run_is_told_as_crashed_and_resumed(call: Any, started: Any) -> None:
    with slow(0.2) as server:
        args = (*RUN, "--llm", model(server), "--channels", "keyword")
        with started(*args) as process:
            begun(process, 2)
            assert json.loads(call("eval", "runs", "--json").stdout)[0]["status"] == "running"
            busy = call(*args, "--resume")
            assert busy.stderr.startswith("error [store_locked]")
            process.send_signal(signal.SIGKILL)
        run = RunStore(STORE).read("first")
        assert (run.status, run.error) == ("crashed", KILLED)
        kept = dict(run.outcomes)
        assert 2 <= len(kept) < 8
        assert "first  crashed" in call("eval", "runs").stdout
        asked = len(server.requests)
        done = call(*args, "--resume")
        assert done.exit_code == 0, done.output
        assert len(server.requests) - asked == 8 - len(kept)
    run = RunStore(STORE).read("first")
    assert (run.status, list(run.outcomes)) == ("done", [f"q{n}" for n in range(8)])
    assert {name: run.outcomes[name] for name in kept} == kept


def test_ctrl_c_keeps_what_was_measured(call: Any, started: Any) -> None:
    with slow(0.2) as server:
        args = (*RUN, "--llm", model(server), "--channels", "none")
        with started(*args) as process:
            begun(process, 2)
            process.send_signal(signal.SIGINT)
            told = process.communicate()[1]
    assert told == f"{eval_run.KEPT}\nInterrupted.\n"
    assert process.returncode == 130
    run = RunStore(STORE).read("first")
    assert run.status == "interrupted"
    assert 2 <= len(run.outcomes) < 8
    shown = call("eval", "runs", "show", "first")
    assert shown.stdout.startswith(f"first: interrupted. metals, test, {len(run.outcomes)} of 8 cases")


def test_a_judge_is_another_model(call: Any, place: Path) -> None:
    (place / "questions.yaml").write_text(
        "questions:\n"
        "  - {id: gold, question: Bars of gold lie there., expected: d2, answer: They lie there.}\n"
        "  - {id: tin, question: Who sold the bars of tin, off_topic: true}\n",
        "utf-8",
    )
    assert call(*RUN, "--channels", "keyword", "--no-answers").exit_code == 0

    def reply(body: dict[str, Any]) -> ServerReply:
        if "You judge whether" not in json.dumps(body):
            return ServerReply(pieces=["Bars lie there [[1]]."])
        broken = "faithful" in json.dumps(body)
        return ServerReply(pieces=["Well." if broken else '{"reason": "so", "declines": false, "score": 7}'])

    with chat_server(reply) as server:
        args = ("--data", "questions.yaml", "--collection", "eval-metals", "--channels", "none")
        done = call("eval", "run", "judged", *args, "--llm", model(server), "--judge", model(server))
    assert done.exit_code == 0, done.output
    assert "judge       openai:scripted@" in done.stdout
    answered = {
        line[0]: [cell.strip() for cell in line if cell.strip()] for line in rows(done.stdout, "Answered")
    }
    assert answered["correctness"][1] == "0.700"
    assert answered["right"][1] == "0.500", "The answer to what nothing answers is wrong."
    assert answered["faithfulness"][1:] == ["–", "0", "2"]
    assert "left out: the judge's reply could not be read" in done.stderr


def test_documents_that_were_cut_otherwise_are_told(call: Any, place: Path) -> None:
    """Else a chunk size that never came to be used would seem to make no difference."""
    assert call(*RUN, "--no-answers").exit_code == 0
    (place / "own.jsonl").write_text('{"id": "q", "question": "Where are bars of zinc?", "expected": "d0"}\n')
    own = ("--data", "own.jsonl", "--collection", "eval-metals", "--no-answers")
    alike = call("eval", "run", "alike", *own)
    other = call("eval", "run", "other", *own, env={"REFDESK_CHUNK_TOKENS": "32"})
    assert (alike.exit_code, other.exit_code) == (0, 0), other.output
    assert "other settings" not in alike.stderr
    assert "8 of 8 documents in 'eval-metals' were cut or embedded with other settings" in " ".join(
        other.stderr.split()
    )


def test_cases_are_shown_one_a_line(call: Any) -> None:
    assert call(*RUN, "--sample", "3").exit_code == 0
    shown = call("eval", "runs", "show", "first", "--cases")
    assert shown.exit_code == 0, shown.output
    assert "found at (pipeline)" in shown.stdout.split("\nCases. Right: ")[1].splitlines()[1]
    lines = shown.stdout.split("\nCases. ")[1].splitlines()[2:]
    names = list(RunStore(STORE).read("first").outcomes)
    assert [line.split()[0] for line in lines] == names
    assert all("right" in line and "Bars of" in line for line in lines)
    assert "\nCases." not in call("eval", "runs", "show", "first").stdout
    cases = json.loads(call("eval", "runs", "show", "first", "--cases", "--json").stdout)["cases"]
    assert [one["case_id"] for one in cases] == names
    assert all(one["channels"][-1]["ranks"] == [1] for one in cases)


def test_documents_that_the_collection_lacks_are_told(call: Any) -> None:
    assert call(*RUN, "--sample", "1").exit_code == 0
    rows = [
        {"id": "there", "question": "Bars of zinc", "expected": "gone-1"},
        {"id": "two", "question": "Bars of iron", "expected": ["gone-1", "gone-2"]},
    ]
    Path("own.yaml").write_text(json.dumps(rows), "utf-8")
    done = call("eval", "run", "own", "--data", "own.yaml", "-c", "eval-metals", "--no-answers")
    assert done.exit_code == 0, done.output
    said = "warning: 2 gold documents are missing, and will not be found: gone-1, gone-2."
    assert done.stderr.splitlines().count(said) == 1
    assert "warning: 2 cases: The document 'gone-1' is not there." in done.stderr
