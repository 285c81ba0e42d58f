"""The other commands: what they print, their JSON, their exit codes; and wrong command lines."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import LEAVE, Run


def test_documents(filled: Run) -> None:
    names = [one["source_id"] for one in as_json(filled, "documents", "list")]
    assert names == ["handbook/leave.md", "handbook/printer.md", "handbook/travel.txt"]
    listed = filled("documents", "list").stdout.splitlines()
    assert listed[0].split() == [
        "source",
        "title",
        "language",
        "pages",
        "chunks",
        "readable",
        "by",
        "updated",
    ]
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
