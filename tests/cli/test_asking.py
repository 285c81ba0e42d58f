"""`refdesk ask` and `search`: answers, hits, filters, and text that would steer the terminal."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import LEAVE, QUESTION, Run

from refdesk.cli.answers import QUOTE
from refdesk.cli.terminal import one_line


def test_ask_json(filled: Run, llm: str) -> None:
    record = as_json(filled, "ask", QUESTION, "--llm", llm)
    assert list(record) == [
        "question",
        "answer",
        "citations",
        "number_by",
        "grounding",
        "zone",
        "refusal",
        "removed_markers",
        "removed_links",
        "warnings",
        "timings",
        "model",
        "invitation",
        "degraded",
        "terminated_by",
        "tool_history",
        "usage",
        "trace",
    ]
    assert (record["terminated_by"], record["tool_history"]) == (None, [])
    assert record["answer"] == "Every employee has thirty days of leave a year [1]."
    assert record["model"] == llm
    (citation,) = record["citations"]
    assert citation["source_id"] == "handbook/leave.md"
    shown = as_json(filled, "documents", "show", citation["document_id"])
    assert shown["text"][citation["start"] : citation["end"]] == citation["quote"] != ""


def test_ask_shows_the_sources_and_streams_the_same(filled: Run, llm: str) -> None:
    answer = as_json(filled, "ask", QUESTION, "--llm", llm)
    whole = filled("ask", QUESTION, "--llm", llm).stdout
    assert whole.startswith(answer["answer"] + "\n\n[1] Leave — handbook/leave.md\n")
    assert f"“{one_line(answer['citations'][0]['quote'], QUOTE)}”" in whole
    assert filled("ask", QUESTION, "--llm", llm, "--stream").stdout == whole


@pytest.mark.model
def test_ask_without_a_language_model(run: Run) -> None:
    own = {"REFDESK_EMBEDDER": "minilm", "REFDESK_RERANKER": "", "REFDESK_MODE": "", "REFDESK_CACHE": ""}
    assert run("ingest", "handbook", env=own).exit_code == 0
    record = json.loads(run("ask", "How many days of leave do employees have?", "--json", env=own).stdout)
    assert record["model"] == "extractive"
    assert "thirty days of leave" in record["answer"]
    assert record["citations"][0]["quote"] in LEAVE


def test_ask_without_an_answer_says_why(filled: Run) -> None:
    result = filled("ask", "zyxgrk?")
    assert result.exit_code == 0
    assert result.stderr == "no answer [nothing_found]\n"
    assert result.stdout.strip()


def test_stream_and_json_do_not_go_together(filled: Run) -> None:
    line = failing(filled, "ask", "leave", "--json", "--stream", code=2)
    assert line.startswith("error [usage]: Invalid value for --stream")


def test_search(filled: Run) -> None:
    record = as_json(filled, "search", "days of leave", "--top-k", "1", "--explain")
    assert record["mode"] == "keyword"
    (hit,) = record["hits"]
    assert (hit["rank"], hit["source_id"], hit["found_by"]) == (1, "handbook/leave.md", ["keyword"])
    assert hit["text"] == LEAVE[hit["start"] : hit["end"]]
    assert record["explanation"]["arms"][0]["name"] == "keyword"
    shown = filled("search", "days of leave", "--explain").stdout
    assert shown.startswith("1. Leave — file://")
    assert "in scope   3 documents" in shown


def test_search_modes_and_fusion(filled: Run) -> None:
    for options in (["--mode", "vector"], ["--mode", "hybrid", "--fusion", "rrf"]):
        record = as_json(filled, "search", "travel costs", *options, "--explain")
        assert record["mode"] == options[1]
        assert record["hits"]
    assert record["explanation"]["fusion"] == "rrf"


def test_filters_must_all_hold(filled: Run) -> None:
    plain = ["--filter", "media_type=text/plain"]
    found = as_json(filled, "search", "employees costs", *plain)["hits"]
    assert {hit["source_id"] for hit in found} == {"handbook/travel.txt"}
    result = filled("search", "costs", *plain, "--filter", "language=fr")
    assert result.exit_code == 0
    assert result.stderr.startswith("no hits [filtered_out]: ")


def test_a_filter_that_cannot_be_read(filled: Run) -> None:
    line = failing(filled, "search", "leave", "--filter", "year", code=1)
    assert line.startswith("error [input_invalid]: Cannot read the filter 'year'. Write it as")


def test_escape_sequences_of_a_document_reach_no_terminal(filled: Run, llm: str) -> None:
    record = {"_id": "p\x1b[2J", "title": "Printer \x9b31m", "url": "x:\x1b]0;owned\x07", "text": LEAVE}
    Path("evil.jsonl").write_text(json.dumps({**record, "made\x1b[1m": "\x1b[5mpaper"}), "utf-8")
    filled("ingest", "evil.jsonl", "--collection", "evil")
    for args in (
        ("documents", "list"),
        ("documents", "show", "handbook/printer.md"),
        ("documents", "show", "evil.jsonl#p\x1b[2J", "--collection", "evil"),
        ("search", "printer burns paper"),
        ("ask", QUESTION, "--collection", "evil", "--llm", llm),
        ("search", "printer burns paper", "--json"),
    ):
        text = filled(*args).output
        assert "rinter" in text
        assert not set(text) & {"\x1b", "\x07", "\x9b"}


def test_markup_in_a_document_is_text(filled: Run) -> None:
    assert "[bold red]Printer[/]" in filled("documents", "list").stdout
    assert ":smile:" in filled("documents", "show", "handbook/printer.md").stdout


def test_a_trace_shows_every_step(filled: Run, llm: str) -> None:
    result = filled("ask", QUESTION, "--llm", llm, "--trace")
    lines = [line for line in result.stderr.splitlines() if line[:2] in ("├─", "└─")]
    steps = ["recall", "condense", "search", "rerank", "answer", "cite", "ground", "remember"]
    assert [line.split()[1] for line in lines] == steps
    assert all(" ms" in line for line in lines)
    assert "hits=" in lines[2]
    record = as_json(filled, "ask", QUESTION, "--llm", llm)
    assert [step["path"] for step in record["trace"]] == [[step] for step in steps]
    assert record["usage"]["requests"] == 1


def test_a_pipeline_by_name_and_file(filled: Run, llm: str, tmp_path: Path) -> None:
    record = as_json(filled, "ask", QUESTION, "--llm", llm, "--pipeline", "simple")
    assert [step["path"][0] for step in record["trace"]] == ["search", "answer", "cite"]
    own = tmp_path / "own.yaml"
    own.write_text("version: 1\nsteps:\n- search: {top_k: 1}\n- answer\n", "utf-8")
    record = as_json(filled, "ask", QUESTION, "--llm", llm, "--pipeline", str(own))
    assert [step["path"][0] for step in record["trace"]] == ["search", "answer"]


def test_a_pipeline_that_cannot_run_names_all_problems(filled: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("version: 1\nsteps:\n- serch\n- rerank: {treshold: 7}\n", "utf-8")
    result = filled("ask", QUESTION, "--pipeline", str(own))
    assert result.exit_code == 1
    first, *lines = result.stderr.splitlines()
    assert first.startswith("error [pipeline_invalid]: ")
    assert "Did you mean 'search'?" in lines[0]
    assert any("Did you mean 'threshold'?" in line for line in lines)
    result = filled("ask", QUESTION, "--pipeline", "modular")
    assert result.exit_code == 1
    assert result.stderr.count("needs a language model") == result.stderr.count("\n") - 1
