"""Values as JSON."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.cli.records import answer_record, hit_record, plain, run_record, write_json
from refdesk.context import Answer, Citation, Context, Evidence
from refdesk.documents import Chunk, Hit
from refdesk.tooluse import ToolUse

CHUNK = Chunk(
    chunk_id="c1", document_id="d1", collection="default", position=0, start=0, end=4, text="Text", page=2
)
HIT = Hit(chunk=CHUNK, title="T", url=None, source_id="t.md", rank=1, vector_score=0.5)


def written(value: object) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8")
    write_json(value, stream)
    stream.seek(0)
    return stream.read()


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none()))
def test_what_is_written_reads_back(value: dict[str, object]) -> None:
    assert json.loads(written(value)) == value


def test_control_characters_are_escaped() -> None:
    text = written("\x1b[31m\x9b2J\x7f\udcff")
    assert text.isascii()
    assert text.strip().isprintable()


def test_other_scripts_stay_readable_where_the_stream_can() -> None:
    assert "中文" in written("中文")
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    write_json("中文", stream)
    stream.seek(0)
    assert json.loads(stream.read()) == "中文"


def test_dates_paths_numbers() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    value = {"at": moment, "path": Path("a/b"), "nan": float("nan"), "score": np.float32(0.5), "pair": (1, 2)}
    assert plain(value) == {
        "at": "2026-01-02T00:00:00+00:00",
        "path": "a/b",
        "nan": None,
        "score": 0.5,
        "pair": [1, 2],
    }


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(TypeError, match="object"):
        plain(object())


def test_answer_record() -> None:
    citation = Citation(
        marker=1,
        chunk_id="c1",
        document_id="d1",
        collection="default",
        title="T",
        source_id="t.md",
        url="file:///t.md",
        page=2,
        start=0,
        end=4,
        quote="Text",
    )
    answer = Answer(
        question="q", text="Text [1].", citations=(citation,), zone="ok", evidence=(Evidence(1, HIT),)
    )
    record = answer_record(answer)
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
    ]
    wanted = {"marker", "chunk_id", "document_id", "title", "url", "page", "start", "end", "quote"}
    assert wanted <= set(record["citations"][0])


def test_hit_record_is_flat() -> None:
    record = hit_record(HIT)
    assert record["rank"] == 1
    assert record["text"] == "Text"
    assert record["found_by"] == ["vector"]
    assert record["keyword_score"] is None


def test_a_run_has_every_call_of_a_loop() -> None:
    arguments = {"query": "a\x1b[2J\ud800", "limit": 5, "deep": {"list": [1, float("nan"), None]}}
    use = ToolUse(
        tool="search",
        arguments=arguments,
        iteration=2,
        call_id="c7",
        outcome="repeated",
        summary="You searched for this before.",
        returned_chunk_ids=("a", "b"),
        seconds=0.25,
    )
    record = run_record(Context(question="?", tool_history=(use,), terminated_by="budget"))
    assert record["terminated_by"] == "budget"
    text = written(record)
    assert text.isascii()
    assert json.loads(text)["tool_history"] == [
        {
            "tool": "search",
            "arguments": {**arguments, "deep": {"list": [1, None, None]}},
            "iteration": 2,
            "call_id": "c7",
            "outcome": "repeated",
            "summary": "You searched for this before.",
            "returned_chunk_ids": ["a", "b"],
            "seconds": 0.25,
        }
    ]


def test_a_run_without_a_loop_says_so() -> None:
    record = run_record(Context(question="?"))
    assert (record["terminated_by"], record["tool_history"]) == (None, [])
