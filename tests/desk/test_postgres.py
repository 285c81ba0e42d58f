"""A desk on a library in Postgres."""

import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

import refdesk
from refdesk.errors import EmbeddingMismatch, InputError, MissingExtra, NotFound
from refdesk.places import files_beside
from refdesk.steps import Answer, Recall, Remember, Search
from refdesk.testing import HashingEmbedder

LEAVE = "Employees get 30 days of leave a year.\n\nTen days may be carried over."


def test_a_desk_works_as_on_a_folder(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text(LEAVE, "utf-8")
    with refdesk.open(postgres, embedder=HashingEmbedder()) as desk:
        with pytest.raises(NotFound, match="There is no library in postgresql://"):
            desk.search("leave")
        summary = desk.ingest("handbook")
        assert summary.counts == {"added": 1}
        assert desk.ingest("handbook").counts == {"unchanged": 1}
        (hit,) = desk.search("days of leave", top_k=1).hits
        assert hit.source_id == "handbook/leave.md"
        answer = desk.ask("How many days of leave do employees get?")
        assert "30 days" in answer.text
        assert answer.citations
        assert desk.collection("default").documents == 1
        assert desk.delete("handbook/leave.md").documents == 1
        assert desk.documents() == ()
    assert [each.name for each in tmp_path.iterdir()] == ["handbook"]


def test_one_pipeline_recalls_what_it_remembers(postgres: str) -> None:
    talk = Recall(retrieval=True) | Search() | Answer() | Remember(retrieval=True)
    with refdesk.open(postgres, embedder=HashingEmbedder()) as desk:
        desk.ingest_text(LEAVE, source_id="leave")
        runs = [desk.run(talk, "How many days of leave?", conversation="c") for _ in range(3)]
        assert [(len(one.history), one.warnings) for one in runs] == [(0, ()), (2, ()), (4, ())]
        assert desk.conversations.count().hits == len(runs[-1].hits) > 0


def test_two_desks_share_a_library(postgres: str) -> None:
    with (
        refdesk.open(postgres, embedder=HashingEmbedder()) as writing,
        refdesk.open(postgres, embedder=HashingEmbedder()) as reading,
    ):
        writing.ingest_text(LEAVE, source_id="leave")
        assert [hit.source_id for hit in reading.search("leave", top_k=1).hits] == ["leave"]
        writing.delete("leave")
        assert reading.search("leave", top_k=1).hits == ()


def test_a_collection_is_embedded_anew(postgres: str) -> None:
    with refdesk.open(postgres, embedder=HashingEmbedder()) as desk:
        desk.ingest_text(LEAVE, source_id="leave")
    with refdesk.open(postgres, embedder=HashingEmbedder(dimension=32)) as desk:
        with pytest.raises(EmbeddingMismatch):
            desk.search("leave", mode="vector")
        desk.reembed()
        assert [hit.source_id for hit in desk.search("leave", top_k=1, mode="vector").hits] == ["leave"]


def test_files_beside_a_library_are_the_users(postgres: str) -> None:
    with refdesk.open(postgres, embedder=HashingEmbedder()) as desk:
        file = desk._desk.services.calibration_file
        assert file.parent == files_beside(postgres)
        assert file.is_relative_to(platformdirs.user_data_path("refdesk", appauthor=False))


def test_settings_show_no_password() -> None:
    settings = refdesk.Settings.load({"library": "postgresql://ann:hush@db.example/desk"}, environ={})
    assert "hush" not in repr(settings)


def test_other_databases_are_refused() -> None:
    with (
        refdesk.open("mysql://ann:hush@db.example/desk", embedder=HashingEmbedder()) as desk,
        pytest.raises(InputError, match="a folder or a URL postgresql") as raised,
    ):
        desk.collections()
    assert "hush" not in str(raised.value)


SCRIPT = """
import sys
import refdesk
from refdesk.testing import HashingEmbedder

with refdesk.open(sys.argv[1], embedder=HashingEmbedder()) as desk:
    desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
    print(desk.collection("default").documents)
"""


def test_a_process_that_used_a_desk_ends_in_silence(postgres: str) -> None:
    command = [sys.executable, "-W", "default", "-c", SCRIPT, postgres]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


def test_the_extra_is_named_where_it_is_not_installed() -> None:
    script = (
        "import sys, anyio; sys.modules['psycopg'] = None\n"
        "from refdesk.errors import MissingExtra\n"
        "from refdesk.stores.opening import open_store\n"
        "try:\n    anyio.run(open_store, 'postgresql://db.example/desk')\n"
        "except MissingExtra as error:\n    print(error.remedy)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "Run: pip install 'refdesk[postgres]'.\n"
    assert MissingExtra.code == "extra_missing"
