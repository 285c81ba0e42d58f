"""`refdesk eval retrieval`: modes and pipelines beside one another, kept results, and what goes wrong."""

import json
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Command, Run

from refdesk.evaluation.searching.retrieval import RankingFile
from refdesk.testing.chat_server import ServerReply, chat_server

METALS = ("zinc", "iron", "gold", "lead", "neon", "argon", "boron", "cobalt")
ONLY = ("eval", "retrieval", "--data", "metals", "--modes", "none")
PARTS = "version: 1\nsteps: [decompose, {search: {top_k: 1}}, answer, cite]\n"
PLAIN = "version: 1\nsteps: [{search: {top_k: 3}}, answer]\n"


@pytest.fixture(autouse=True)
def metals(place: Path) -> None:
    """A data set of eight documents with a question each, and two pipelines."""
    data = place / "metals"
    (data / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": f"d{n}", "title": "", "text": f"Bars of {metal} lie there."} for n, metal in enumerate(METALS)
    ]
    asked = [{"_id": f"q{n}", "text": f"bars of {metal}"} for n, metal in enumerate(METALS)]
    (data / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    judged = [f"q{n}\td{n}\t1" for n in range(len(METALS))]
    (data / "qrels" / "test.tsv").write_text("\n".join(judged), "utf-8")
    (place / "parts.yaml").write_text(PARTS, "utf-8")
    (place / "plain.yaml").write_text(PLAIN, "utf-8")


def scripted(text: str) -> Any:
    return chat_server(ServerReply(pieces=[text]))


def model(server: Any) -> str:
    return f"openai:scripted@{server.base_url}"


def test_pipelines_stand_beside_modes(run: Run) -> None:
    with scripted('{"sub_questions": ["bars of gold"]}') as server:
        args = ("--modes", "keyword", "--pipeline", "parts.yaml", "--pipeline", "plain.yaml")
        told = run(*ONLY[:4], *args, "--llm", model(server), "--against", "keyword")
    assert told.exit_code == 0, told.output
    lines = [line.split() for line in told.stdout.splitlines()]
    assert told.stdout.startswith("metals, test: 8 documents, 8 queries\n")
    assert lines[1][-6:] == ["p50", "ms", "p95", "ms", "requests", "tokens"]
    assert [(line[0], line[2]) for line in lines[2:5]] == [
        ("keyword", "1.000"),
        ("parts", "0.125"),
        ("plain", "1.000"),
    ]
    assert [line[-2] for line in lines[2:5]] == ["0.0", "1.0", "0.0"]
    assert "Above keyword, with 95 % intervals:" in told.stdout
    assert "+0.000 (+0.000 to +0.000)" in told.stdout
    assert "-0.875 (" in told.stdout
    assert "failed" not in told.stdout
    assert told.stderr == ""


def test_what_failed_is_no_plain_search_in_disguise(run: Run) -> None:
    with scripted("I cannot do that.") as server:
        args = ("--pipeline", "parts.yaml", "--llm", model(server), "--limit", "2")
        told = run(*ONLY, *args)
        record = as_json(run, *ONLY, *args, "--per-query")
    assert told.exit_code == 0, told.output
    assert told.stdout.splitlines()[1].endswith("failed")
    assert told.stdout.splitlines()[2].split()[-1] == "2"
    assert told.stderr == (
        "warning: parts: something failed and was passed over for 2 of 2 queries: decompose in 2.\n"
    )
    [way] = record["ways"]
    assert (way["scores"]["Recall@2"], way["failed"]) == (1.0, 2)
    assert way["queries"][0]["failures"] == ["decompose"]


def test_a_sample_is_the_same_for_every_row(run: Run) -> None:
    def drawn(*args: str) -> list[list[str]]:
        record = as_json(run, *ONLY[:4], "--per-query", *args)
        return [[query["query_id"] for query in way["queries"]] for way in record["ways"]]

    args = ("--modes", "keyword,vector", "--pipeline", "plain.yaml")
    first = drawn(*args, "--sample", "3")
    assert len(first) == 3
    assert len(first[0]) == 3
    assert first[0] == first[1] == first[2] == drawn(*args, "--sample", "3")[0]
    assert {tuple(drawn("--modes", "keyword", "--sample", "3", "--seed", str(n))[0]) for n in range(4)} != {
        tuple(first[0])
    }
    assert drawn("--modes", "keyword", "--limit", "2", "--sample", "5") == [["q0", "q1"]]


def test_what_is_kept_is_not_asked_again(run: Run) -> None:
    kept = ("--results", "found.jsonl")
    with scripted('{"sub_questions": ["bars of gold"]}') as server:
        named = ("--pipeline", "parts.yaml", "--llm", model(server))
        first = as_json(run, *ONLY, *named, *kept, "--limit", "5")
        asked = len(server.requests)
        second = as_json(run, *ONLY, *named, *kept, "--limit", "5")
        assert len(server.requests) == asked == 5
        assert second == first
        as_json(run, *ONLY, *named, *kept)
        assert len(server.requests) == 8, "More questions: only the new ones."
        Path("parts.yaml").write_text(PARTS.replace("decompose", "{decompose: {most: 2}}"), "utf-8")
        as_json(run, *ONLY, *named, *kept, "--limit", "2")
        assert len(server.requests) == 10, "Another pipeline of that name: anew."
    assert len(Path("found.jsonl").read_text("utf-8").splitlines()) == 1 + 8 + 2


def test_kept_results_of_other_settings_are_refused(run: Run) -> None:
    args = ("--pipeline", "plain.yaml", "--results", "found.jsonl", "--limit", "1")
    assert run(*ONLY, *args).exit_code == 0
    told = run(*ONLY, *args, env={"REFDESK_MODE": "vector"})
    assert told.exit_code == 1
    assert "holds rankings of something else: mode differs" in told.stderr


def test_names_that_come_twice_are_told_apart(run: Run, place: Path) -> None:
    (place / "other").mkdir()
    (place / "other" / "plain.yaml").write_text(PLAIN, "utf-8")
    (place / "keyword.yml").write_text(PLAIN, "utf-8")
    files = ("plain.yaml", "other/plain.yaml", "plain.yaml", "keyword.yml", "simple")
    args = [word for file in files for word in ("--pipeline", file)]
    record = as_json(run, *ONLY[:4], "--modes", "keyword,keyword", *args)
    names = ["keyword", "plain.yaml", "other/plain.yaml", "keyword.yml", "simple"]
    assert [way["name"] for way in record["ways"]] == names


def test_questions_of_ones_own_about_a_collection_that_is_there(run: Run) -> None:
    before = [{"role": "user", "text": "Where is zinc?"}]
    rows: list[dict[str, object]] = [
        {"id": "a", "question": "bars of zinc", "expected": {"document": "d0", "quote": "zinc"}},
        {"id": "b", "question": "bars of iron", "expected": ["d1", "d-gone"]},
        {
            "id": "c",
            "question": "And gold?",
            "expected": "d2",
            "conversation": before,
        },
        {"id": "d", "question": "Who won?", "off_topic": True},
    ]
    Path("own.yaml").write_text(json.dumps(rows), "utf-8")
    assert run("eval", "retrieval", "--data", "metals", "--modes", "keyword", "--limit", "1").exit_code == 0
    args = ("eval", "retrieval", "--data", "own.yaml", "--modes", "keyword", "-c", "eval-metals")
    found = run(*args)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("own: 3 queries\n")
    assert found.stderr.splitlines() == [
        "warning: 1 gold document is missing, and will not be found: d-gone.",
        "warning: Asked without what was said before: 1 of the questions are of a conversation.",
    ]
    record = as_json(run, *args, "--per-query")
    assert (record["data"], record["split"], record["documents"], record["queries"]) == ("own", "", 0, 3)
    relevant = {one["query_id"]: one["relevant"] for one in record["ways"][0]["queries"]}
    assert relevant == {"a": {"d0": 1}, "b": {"d1": 1, "d-gone": 1}, "c": {"d2": 1}}
    assert record["ways"][0]["queries"][1]["scores"]["Recall@5"] == 0.5
    Path("own.yaml").write_text(json.dumps(rows[3:]), "utf-8")
    assert "None of the questions of 'own' says what has to be found." in failing(run, *args, code=1)


def test_documents_that_questions_bring_get_a_collection_of_their_own(run: Run) -> None:
    documents = [{"id": name, "text": f"{name} is heavy."} for name in ("osmium", "iridium")]
    questions = [{"id": "o", "question": "osmium", "expected": "osmium"}]
    Path("own.yaml").write_text(json.dumps({"name": "heavy", "documents": documents, "questions": questions}))
    found = as_json(run, "eval", "retrieval", "--data", "own.yaml", "--modes", "keyword")
    assert (found["data"], found["documents"], found["ways"][0]["scores"]["nDCG@10"]) == ("heavy", 2, 1.0)
    assert "eval-heavy" in run("collections", "list").stdout


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--modes", "none"), "Nothing is measured. Name a pipeline"),
        (("--modes", "none,keyword"), "Unknown mode 'none'"),
        (("--modes", "keyword", "--against", "vector"), "with 'vector'; measured are keyword."),
        (("--pipeline", "nowhere.yaml"), "no preset and no file 'nowhere.yaml'"),
        (("--pipeline", "simpel"), "Did you mean 'simple'?"),
        (("--pipeline", "parts.yaml"), "needs a language model"),
        (("--pipeline", "plain.yaml", "--llm", "scripted"), "scripted"),
        (("--modes", "keyword", "--results", "plain.yaml"), "plain.yaml"),
        (("--modes", "keyword", "--results", "nowhere/found.jsonl"), "cannot be written"),
    ],
)
def test_what_goes_wrong(run: Run, args: tuple[str, ...], told: str) -> None:
    result = run("eval", "retrieval", "--data", "metals", "--limit", "1", *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert result.stderr.startswith("error [")
    assert Path("plain.yaml").read_text("utf-8") == PLAIN


def test_an_error_of_a_run_ends_the_command(run: Run) -> None:
    stopping = PARTS.replace("decompose", "{decompose: {on_error: stop}}")
    Path("parts.yaml").write_text(stopping, "utf-8")
    with chat_server(ServerReply(status=401)) as server:
        line = failing(run, *ONLY, "--pipeline", "parts.yaml", "--llm", model(server), code=1)
    assert line.startswith("error [llm")


def test_ctrl_c_keeps_what_was_found(command: Command) -> None:
    kept = Path("found.jsonl").absolute()

    def slowly(body: dict[str, Any]) -> ServerReply:
        time.sleep(0.2)
        return ServerReply(pieces=['{"sub_questions": ["gold"]}'])

    with chat_server(slowly) as server:
        named = ("--pipeline", "parts.yaml", "--llm", model(server), "--results", str(kept))
        words, environment = command(*ONLY, *named)
        with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None and not (kept.exists() and kept.read_text("utf-8").count("\n") > 2):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
    assert told == "What was found so far is kept; run the same command again to go on.\nInterrupted.\n"
    assert process.returncode == 130
    with closing(RankingFile(kept, json.loads(kept.read_text("utf-8").splitlines()[0]))) as file:
        assert 2 <= len(file.known) < 8
