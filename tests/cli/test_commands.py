"""Every command, on a real library: what it prints, its JSON, its exit code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import LEAVE, QUESTION, Run

from refdesk.cli.answers import QUOTE
from refdesk.cli.terminal import one_line


def as_json(run: Run, *args: str, code: int = 0) -> Any:
    """Run a command with --json; stdout must be one document and nothing else."""
    result = run(*args, "--json")
    assert result.exit_code == code, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def failing(run: Run, *args: str, code: int) -> str:
    """Run a command that fails, and return its one line on stderr."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr.rstrip("\n")


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
    assert [one["source_id"] for one in found] == ["k1", "r0", "r1", "r2"]


def test_fields_without_a_file_of_records(run: Run) -> None:
    line = failing(run, "ingest", "handbook", "--id-field", "key", code=1)
    assert line.startswith("error [input_invalid]: Fields of records were given")


def test_a_path_that_does_not_exist(run: Run) -> None:
    line = failing(run, "ingest", "handbok", code=1)
    assert line.startswith("error [source_unreadable]: There is no file or folder")
    assert "handbook" in line


def test_ask_json(filled: Run, llm: str) -> None:
    record = as_json(filled, "ask", QUESTION, "--llm", llm)
    assert list(record) == [
        "question",
        "answer",
        "citations",
        "zone",
        "refusal",
        "warnings",
        "timings",
        "model",
    ]
    assert record["answer"] == "Every employee has thirty days of leave a year [1]."
    assert record["model"] == llm
    (citation,) = record["citations"]
    assert citation["source_id"] == "handbook/leave.md"
    shown = as_json(filled, "documents", "show", citation["document_id"])
    assert shown["text"][citation["start"] : citation["end"]] == citation["quote"] != ""


def test_ask_shows_the_sources_and_streams_the_same(filled: Run, llm: str) -> None:
    answer = as_json(filled, "ask", QUESTION, "--llm", llm)
    whole = filled("ask", QUESTION, "--llm", llm).stdout
    assert whole.startswith(answer["answer"] + "\n\n[1] Leave — file://")
    assert f"“{one_line(answer['citations'][0]['quote'], QUOTE)}”" in whole
    assert filled("ask", QUESTION, "--llm", llm, "--stream").stdout == whole


@pytest.mark.model
def test_ask_without_a_language_model(run: Run) -> None:
    own = {"REFDESK_EMBEDDER": "minilm", "REFDESK_RERANKER": "", "REFDESK_MODE": "", "REFDESK_CACHE": ""}
    assert run("ingest", "handbook", env=own).exit_code == 0
    record = json.loads(run("ask", QUESTION, "--json", env=own).stdout)
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


def test_documents(filled: Run) -> None:
    names = [one["source_id"] for one in as_json(filled, "documents", "list")]
    assert names == ["handbook/leave.md", "handbook/printer.md", "handbook/travel.txt"]
    listed = filled("documents", "list").stdout.splitlines()
    assert listed[0].split() == ["source", "title", "language", "pages", "chunks", "updated"]
    assert len(listed) == 4
    assert LEAVE.strip() in filled("documents", "show", "handbook/leave.md").stdout
    assert as_json(filled, "documents", "delete", "handbook/leave.md")["documents"] == 1
    line = failing(filled, "documents", "show", "handbook/leave.md", code=1)
    assert line.startswith("error [not_found]: ")


def test_an_unknown_document_stops_the_whole_delete(filled: Run) -> None:
    failing(filled, "documents", "delete", "handbook/leave.md", "handbook/gone.md", code=1)
    assert len(as_json(filled, "documents", "list")) == 3


def test_collections(filled: Run) -> None:
    created = as_json(filled, "collections", "create", "books", "--description", "All books")
    assert created["description"] == "All books"
    assert [one["name"] for one in as_json(filled, "collections", "list")] == ["books", "default"]
    assert "documents   3\n" in filled("collections", "describe", "default").stdout
    assert as_json(filled, "collections", "delete", "default", "--yes")["documents"] == 3
    assert "Did you mean 'books'" in failing(filled, "collections", "describe", "bookz", code=1)


def test_nothing_is_deleted_where_nobody_can_be_asked(filled: Run) -> None:
    line = failing(filled, "collections", "delete", "default", code=1)
    assert line == (
        "error [input_invalid]: Deleting 'default' needs a confirmation, and nobody can be asked. Add --yes."
    )
    assert as_json(filled, "collections", "describe", "default")["documents"] == 3


def test_stats(filled: Run, place: Path) -> None:
    (place / "handbook" / "broken.pdf").write_bytes(b"%PDF-1.4 not really")
    (place / "handbook" / "empty.txt").write_text("\n")
    filled("ingest", "handbook")
    record = as_json(filled, "stats")
    assert record["bytes"] == sum(
        file.stat().st_size for file in Path(".refdesk").rglob("*") if file.is_file()
    )
    (default,) = record["collections"]
    assert (default["documents"], len(default["failed"]), len(default["skipped"])) == (3, 1, 1)
    assert default["fingerprint"].startswith("tiny@int8/32#")
    assert "handbook/broken.pdf" in filled("stats", "-v").stdout


def test_models(run: Run, tmp_path: Path, variables: dict[str, str]) -> None:
    empty = {"REFDESK_CACHE": str(tmp_path / "nothing")}
    listed = json.loads(run("models", "list", "--json", env=empty).stdout)
    assert {one["name"]: one["state"] for one in listed}["all-MiniLM-L6-v2"] == "absent"
    assert "all-MiniLM-L6-v2" in run("models", "list", env=empty).stdout
    missing = run("models", "verify", "minilm", env=empty)
    assert missing.exit_code == 1
    assert missing.stderr.startswith("error [model_unavailable]: ")
    assert "refdesk models pull" in missing.stderr
    folder = run("models", "pull")
    assert folder.stdout.startswith(variables["REFDESK_EMBEDDER"])
    assert "was there already" in folder.stdout


def test_eval_retrieval(run: Run) -> None:
    data = Path("tiny-data")
    (data / "qrels").mkdir(parents=True)
    texts = {"a": "Cats sleep all day.", "b": "Ships cross the sea.", "c": "Bread is baked at night."}
    corpus = [json.dumps({"_id": key, "title": "", "text": text}) for key, text in texts.items()]
    (data / "corpus.jsonl").write_text("\n".join(corpus), "utf-8")
    asked = [{"_id": "q1", "text": "sleeping cats"}, {"_id": "q2", "text": "ships at sea"}]
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    (data / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t1\n", "utf-8")
    record = as_json(run, "eval", "retrieval", "--data", "tiny-data", "--modes", "keyword,vector")
    assert [way["name"] for way in record["ways"]] == ["keyword", "vector"]
    assert record["ways"][0]["scores"]["nDCG@10"] == 1.0
    assert record["queries"] == 2
    limited = run("eval", "retrieval", "--data", "tiny-data", "--modes", "keyword", "--limit", "1")
    assert limited.stdout.startswith("tiny-data, test: 3 documents, 1 queries\n")
    assert "p95 ms" in limited.stdout
    line = failing(run, "eval", "retrieval", "--data", "tiny-data", "--modes", "fuzzy", code=1)
    assert "Known modes: keyword, vector, hybrid, hybrid+rerank." in line


def test_escape_sequences_of_a_document_reach_no_terminal(filled: Run, llm: str) -> None:
    record = {"_id": "p\x1b[2J", "title": "Printer \x9b31m", "url": "x:\x1b]0;owned\x07", "text": LEAVE}
    Path("evil.jsonl").write_text(json.dumps({**record, "made\x1b[1m": "\x1b[5mpaper"}), "utf-8")
    filled("ingest", "evil.jsonl", "--collection", "evil")
    for args in (
        ("documents", "list"),
        ("documents", "show", "handbook/printer.md"),
        ("documents", "show", "p\x1b[2J", "--collection", "evil"),
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


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("search", "leave", "--fuzzy"), "No such option: --fuzzy"),
        (("search",), "Missing argument"),
        (("search", "leave", "--mode", "fuzzy"), "'fuzzy' is not one of"),
        (("search", "leave", "--top-k", "0"), "greater than or equal to 1"),
        (("serch", "leave"), "Did you mean 'search'?"),
        (("documents",), "Missing command. Run: refdesk documents --help."),
        (("ask", "\udcff"), "not valid UTF-8"),
    ],
)
def test_usage_errors(run: Run, args: tuple[str, ...], told: str) -> None:
    line = failing(run, *args, code=2)
    assert line.startswith("error [usage]: ")
    assert told in line
    assert line.endswith("--help.")


def test_a_missing_library(run: Run) -> None:
    for args in (("ask", "leave"), ("documents", "list"), ("stats",)):
        line = failing(run, *args, "--library", "nowhere", code=1)
        assert line.startswith("error [not_found]: ")
        assert "nowhere" in line
    assert not Path("nowhere").exists()


def test_the_library_may_be_named_before_or_after_the_command(filled: Run) -> None:
    filled("ingest", "handbook/travel.txt", "--library", "other")
    for args in (("--library", "other", "documents", "list"), ("documents", "list", "--library", "other")):
        assert len(as_json(filled, *args)) == 1


def test_a_setting_that_is_impossible(run: Run) -> None:
    result = run("stats", env={"REFDESK_TOP_K": "many"})
    assert result.exit_code == 1
    assert result.stderr.startswith("error [settings_invalid]: ")


def test_verbose_shows_the_traceback(run: Run) -> None:
    for args in (("-v", "ingest", "nowhere"), ("ingest", "nowhere", "--verbose")):
        lines = run(*args).stderr.splitlines()
        assert lines[0].startswith("Traceback")
        assert lines[-1].startswith("error [source_unreadable]")


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout == "refdesk 0.1.0\n"
    assert run().stdout == run("--help").stdout
    assert "Answer a question with citations" in run("--help").stdout


def test_reembed_after_a_change_of_settings(filled: Run) -> None:
    other = {"REFDESK_PRECISION": "fp32"}
    refused = filled("ingest", "handbook", env=other)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error [embedding_mismatch]: ")
    assert "Run: refdesk reembed --collection default" in refused.stderr
    done = filled("reembed", "--json", env=other)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["documents"] == 3
    assert filled("ingest", "handbook", env=other).stdout.startswith("unchanged 3 in ")
