"""What people see in a terminal, and programs as JSON, while servers are down."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.forum.conftest import POSTS, QUESTION
from typer.testing import CliRunner, Result

from refdesk.cli.main import app
from refdesk.testing.chat_server import ServerReply, chat_server
from refdesk.testing.model_server import Fault, ModelServer

WRITTEN = ["Use a soft brush ", "and saddle soap [[1]]."]


@pytest.fixture
def variables(
    tmp_path: Path, embedder: ModelServer, reranker: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Mapping[str, str]:
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "id": f"{topic}-{post}",
            "title": title,
            "text": text,
            "url": f"https://forum.example/t/{topic}/{post}",
            "topic_id": topic,
            "category": category,
        }
        for (topic, post, title, category), text in POSTS.items()
    ]
    (tmp_path / "posts.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return {
        "REFDESK_EMBEDDER": f"tei:{embedder.url}",
        "REFDESK_RERANKER": f"tei:{reranker.url}",
        "REFDESK_PIPELINE": "forum",
        "REFDESK_LIBRARY": "",
        "NO_COLOR": "1",
    }


@pytest.fixture
def run(variables: Mapping[str, str]) -> Any:
    def call(*args: str) -> Result:
        return CliRunner(env=dict(variables)).invoke(app, list(args))

    ingested = call("ingest", "posts.jsonl")
    assert ingested.exit_code == 0, ingested.output
    return call


def test_a_model_that_is_down(run: Any) -> None:
    with chat_server(ServerReply(status=401, error="Incorrect API key: sk-1234567890")) as server:
        asked = ("ask", QUESTION, "--llm", f"openai:any@{server.base_url}")
        shown = run(*asked, "--no-stream")
        streamed = run(*asked, "--stream")
        record = json.loads(run(*asked, "--json").stdout)
    assert shown.exit_code == streamed.exit_code == 0, shown.output
    assert shown.stdout.split() == streamed.stdout.split()
    assert "No answer could be written" in shown.stdout
    assert "- Cleaning a Goodyear welt [1]: <https://forum.example/t/welt/" in shown.stdout
    assert "[1] Cleaning a Goodyear welt — https://forum.example/t/welt/" in shown.stdout
    assert "no answer [model_unavailable]" in shown.stderr
    assert "warning: answer: The model failed, so the sources are listed: " in shown.stderr
    assert "sk-1234567890" not in shown.output
    assert record["refusal"] == "model_unavailable"
    assert record["model"] == "sources"
    assert record["degraded"] == ["answer.model"]
    assert record["citations"][0]["url"].startswith("https://forum.example/t/welt/")
    answered = next(one for one in record["trace"] if one["path"] == ["answer"])
    assert answered["outcome"] == "done"
    assert answered["warnings"]


def test_servers_of_vectors_and_scores_that_are_down(
    run: Any, embedder: ModelServer, reranker: ModelServer
) -> None:
    embedder.failing = {"": Fault(status=401, error="no")}
    reranker.failing = {"/rerank": Fault(status=400, error="no")}
    with chat_server(ServerReply(pieces=WRITTEN)) as server:
        asked = ("ask", QUESTION, "--llm", f"openai:any@{server.base_url}")
        shown = run(*asked, "--no-stream", "--trace")
        record = json.loads(run(*asked, "--json").stdout)
    assert shown.exit_code == 0, shown.output
    assert "Use a soft brush and saddle soap [1]." in shown.stdout
    notes = " ".join(shown.stderr.split())
    assert "warning: search: Only by words was searched in 'default', for the vector arm failed: " in notes
    assert "rerank" in notes
    assert "continued" in notes
    assert record["zone"] == "unknown"
    assert record["degraded"][:2] == ["search.vector", "rerank"]


def test_an_invitation_is_shown_and_is_no_part_of_the_answer(run: Any, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(OWN, "utf-8")
    with chat_server(ServerReply(pieces=WRITTEN)) as server:
        asked = ("ask", QUESTION, "--pipeline", "own.yaml", "--llm", f"openai:any@{server.base_url}")
        shown, streamed = run(*asked, "--no-stream"), run(*asked, "--stream")
        record = json.loads(run(*asked, "--json").stdout)
    assert shown.stdout.rstrip().endswith("Ask in Care: https://forum.example/new")
    assert streamed.stdout.rstrip().endswith("Ask in Care: https://forum.example/new")
    assert record["invitation"] == "Ask in Care: https://forum.example/new"
    assert record["answer"] == "Use a soft brush and saddle soap [1]."


OWN = """\
version: 1
steps:
- search
- rerank: {excerpt: 300}
- dedupe: {by: [topic_id, document], keep: 6}
- answer: {show: [category]}
- cite
- ground
- invite: {text: "Ask in {metadata.category}: https://forum.example/new"}
"""
