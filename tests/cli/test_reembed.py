"""`refdesk reembed`, on a real library and two tiny models."""

import json
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cli.conftest import Command, Run

from refdesk.ingest.batch import DOCUMENTS
from refdesk.testing.models import write_tiny_model

QUESTION = "thirty days of leave"
MANY = 5 * DOCUMENTS
"""Documents that take a while."""


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Settings that name another model."""
    folder = tmp_path_factory.mktemp("other")
    return {"REFDESK_EMBEDDER": str(write_tiny_model(folder / "other", max_length=64, seed=7))}


def test_another_model_is_refused_with_the_command_that_helps(filled: Run, other: Mapping[str, str]) -> None:
    for words in (["search", QUESTION, "--mode", "vector"], ["ask", QUESTION], ["ingest", "handbook"]):
        refused = filled(*words, env=other)
        assert refused.exit_code == 1
        assert refused.stderr.startswith("error [embedding_mismatch]: ")
        assert refused.stderr.endswith("Run: refdesk reembed --collection default\n")
    done = filled("reembed", "--collection", "default", env=other)
    assert done.exit_code == 0
    assert done.stdout.startswith("updated 3 in ")
    assert "3 documents, " in done.stdout
    assert done.stderr == ""
    assert filled("search", QUESTION, "--mode", "vector", env=other).exit_code == 0
    assert "embedding_mismatch" in filled("search", QUESTION, "--mode", "vector").stderr


def test_json(filled: Run, other: Mapping[str, str]) -> None:
    before = json.loads(filled("documents", "list", "--json").stdout)
    record = json.loads(filled("reembed", "--json", env=other).stdout)
    assert record["collection"] == "default"
    assert record["counts"]["updated"] == record["documents"] == 3
    assert record["embedded"] == record["chunks"] > 0
    assert record["failed"] == []
    again = json.loads(filled("reembed", "--json", env=other).stdout)
    assert (again["counts"]["unchanged"], again["embedded"]) == (3, 0)
    ingested = json.loads(filled("ingest", "handbook", "--json", env=other).stdout)
    assert (ingested["counts"]["unchanged"], ingested["embedded"]) == (3, 0)
    after = json.loads(filled("documents", "list", "--json", env=other).stdout)
    ids = ("document_id", "source_id", "title", "url", "chunks", "metadata")
    assert [[one[name] for name in ids] for one in after] == [[one[name] for name in ids] for one in before]


@pytest.mark.parametrize("collection", ["defalt", "a b"])
def test_an_unknown_collection_is_one_line(filled: Run, collection: str) -> None:
    failed = filled("reembed", "--collection", collection)
    assert failed.exit_code == 1
    assert failed.stdout == ""
    assert failed.stderr.startswith("error [not_found]: ")
    assert failed.stderr.count("\n") == 1


def test_no_library_is_made(run: Run, place: Path) -> None:
    failed = run("reembed")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error [not_found]: ")
    assert not (place / ".refdesk").exists()


def test_ctrl_c_says_how_to_go_on(run: Run, place: Path, command: Command, other: Mapping[str, str]) -> None:
    lines = [json.dumps({"_id": f"r{n}", "text": f"Record {n} speaks of leave."}) for n in range(MANY)]
    (place / "many.jsonl").write_text("\n".join(lines), "utf-8")
    assert run("ingest", "many.jsonl").exit_code == 0
    words, environment = command("reembed", "--json", env=other)
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while len(list((place / ".refdesk" / "chunks").iterdir())) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert "run the same command again to go on" in err
    assert run("search", "leave", "--mode", "vector").exit_code == 0
    (collection,) = json.loads(run("stats", "--everything", "--json").stdout)["collections"]
    searched, made = collection["vectors"]
    assert (searched["current"], searched["strategies"]) == (True, {"titled:1": MANY})
    assert made["strategies"]["titled:1"] + made["missing"] == MANY
    shown = run("stats", "--everything").stdout
    assert f"being made, {made['missing']} documents missing" in shown
    assert "vectors" not in json.loads(run("stats", "--json").stdout)["collections"][0]
    record = json.loads(run("reembed", "--json", env=other).stdout)
    assert record["documents"] == MANY
    assert record["counts"]["unchanged"] > 0
    assert record["counts"]["updated"] + record["counts"]["unchanged"] == MANY
