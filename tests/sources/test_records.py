"""Records in JSON and JSON lines, and single texts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError, SourceError
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.fields import Fields, item_from
from refdesk.sources.records import Records
from refdesk.sources.text import Text

pytestmark = pytest.mark.anyio


async def listed(source: Records | Text) -> list[SourceItem | SourceFailure]:
    found = [item async for item in source.items()]
    assert source.count() == len(found)
    return found


def item(found: SourceItem | SourceFailure) -> SourceItem:
    assert isinstance(found, SourceItem)
    return found


def failure(found: SourceItem | SourceFailure) -> SourceFailure:
    assert isinstance(found, SourceFailure)
    return found


async def test_lines_of_the_beir_layout(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "7", "title": "T", "text": "words", "metadata": {"url": "u", "year": 2024}}\n\n')
    (found,) = await listed(Records(path))
    one = item(found)
    assert (one.source_id, one.title, one.text, one.url) == ("7", "T", "words", None)
    assert one.metadata == {"url": "u", "year": 2024}


async def test_a_broken_line_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        b'\xef\xbb\xbf{"id": 1, "text": "one"}',
        b"{broken",
        b'{"id": 2}',
        b"[]",
        b"\xff",
        b'{"id": 3, "text": "three"}',
    ]
    path.write_bytes(b"\n".join(lines))
    found = await listed(Records(path))
    assert [item(one).source_id for one in (found[0], found[5])] == ["1", "3"]
    broken = [failure(one) for one in found[1:5]]
    assert [one.source_id for one in broken] == ["a.jsonl:2", "a.jsonl:3", "a.jsonl:4", "a.jsonl:5"]
    assert [one.reason for one in broken] == ["damaged", "incomplete", "incomplete", "damaged"]
    assert "Line 2" in broken[0].message
    assert "'text'" in broken[1].message
    assert "id" in broken[1].message


async def test_fields_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    record = {"key": "k", "body": "words", "name": "N", "link": "https://x", "tag": "t", "other": 1}
    path.write_text(json.dumps([record]))
    fields = Fields(id="key", text="body", title="name", url="link", metadata=("tag",))
    (found,) = await listed(Records(path, fields, prefix="kb:"))
    one = item(found)
    assert (one.source_id, one.text, one.title, one.url) == ("kb:k", "words", "N", "https://x")
    assert one.metadata == {"tag": "t"}


async def test_only_a_prefix_tells_own_records_from_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    assert Records(path, prefix="kb:").covers("kb:1", None)
    assert not Records(path, prefix="kb:").covers("1", None)
    assert not Records(path).covers("1", None)


@pytest.mark.parametrize("content", [b"{", b'{"a": 1}', b'"x"', b"\xff", b"[" * 100_000])
async def test_json_without_an_array_is_one_failure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    (found,) = await listed(Records(tmp_path / "a.json", prefix="kb#"))
    one = failure(found)
    assert (one.source_id, one.reason, one.hides) == ("kb#a.json", "damaged", "kb#")
    assert "a.json" in one.message


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
async def test_a_file_that_cannot_be_read_is_one_failure(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("[]")
    source = Records(path, prefix="kb#")
    path.unlink()
    (found,) = await listed(source)
    one = failure(found)
    assert (one.source_id, one.reason, one.hides) == (f"kb#{name}", "unreadable", "kb#")
    assert "No such file" in one.message


async def test_a_failure_may_be_of_any_record_with_the_prefix(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{broken\n{"text": "no id"}\n{"id": "\\ud800", "text": "x"}\n{"id": "1", "text": "x"}\n'
    )
    found = await listed(Records(path, prefix="kb#"))
    broken = [failure(one) for one in found[:3]]
    assert [one.source_id for one in broken] == ["kb#a.jsonl:1", "kb#a.jsonl:2", "kb#a.jsonl:3"]
    assert [one.reason for one in broken] == ["damaged", "incomplete", "damaged"]
    assert {one.hides for one in broken} == {"kb#"}
    assert item(found[3]).source_id == "kb#1"


async def test_what_cannot_be_stored_is_cleaned_or_refused(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.jsonl")
    odd = "a\ud800b"
    good = {
        "id": "1",
        "text": "x",
        "title": odd,
        "url": f"https://{odd}",
        odd: [odd, [odd]],
        "tags": [odd, 2**64],
    }
    bad = [{"id": odd, "text": "x"}, {odd: "no id"}]
    path.write_text("".join(json.dumps(record) + "\n" for record in [good, *bad]))
    found = await listed(Records(path, prefix="kb#"))
    one = item(found[0])
    assert (one.title, one.url) == ("ab", "https://ab")
    assert one.metadata == {"ab": '["ab", ["ab"]]', "tags": ("ab", str(2**64))}
    broken = [failure(one) for one in found[1:]]
    assert [one.reason for one in broken] == ["damaged", "incomplete"]
    for one_broken in broken:
        (one_broken.source_id + one_broken.message).encode()


async def test_a_path_that_is_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        Records(tmp_path / "missing.jsonl")
    with pytest.raises(SourceError, match="folder"):
        Records(tmp_path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": {"b": {"c": 1}}}, {"a.b.c": 1}),
        ({"tags": ["x", None, 2]}, {"tags": ("x", 2)}),
        ({"rows": [{"x": "ä"}]}, {"rows": '[{"x": "ä"}]'}),
        ({"none": None, "yes": True}, {"yes": True}),
        ({"big": 2**70, "nan": float("nan")}, {"big": str(2**70), "nan": "nan"}),
        ({"low": -(2**63), "high": 2**63 - 1}, {"low": -(2**63), "high": 2**63 - 1}),
    ],
)
async def test_metadata_is_flat(value: dict[str, Any], expected: dict[str, Any]) -> None:
    one = item_from({"id": "1", "text": "x", **value}, Fields(), prefix="", media_type="text/plain")
    assert one.metadata == expected


TEXT = st.text(st.characters(), max_size=5)
"""With lone surrogates, which JSON can write."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.one_of(
        JSON, st.builds(lambda id, more: {"id": id, "text": "x", **more}, TEXT, st.dictionaries(TEXT, JSON))
    )
)
def test_any_record_is_an_item_or_an_error_of_ours(record: Any) -> None:
    try:
        one = item_from(record, Fields(), prefix="", media_type="text/plain")
    except SourceError as error:
        str(error).encode()
        return
    assert one.source_id
    assert one.text
    kept = [one.source_id, one.title, one.url or "", *one.metadata]
    for value in one.metadata.values():
        kept += map(str, value) if isinstance(value, tuple) else [str(value)]
    "".join(kept).encode()


async def test_a_text_is_known_by_its_id_or_url() -> None:
    (found,) = await listed(Text("words", source_id="a", url="https://x", metadata={"k": 1}))
    one = item(found)
    assert (one.source_id, one.text, one.url, one.metadata) == ("a", "words", "https://x", {"k": 1})
    (by_url,) = await listed(Text("words", url="https://x"))
    assert item(by_url).source_id == "https://x"
    assert Text("words", url="https://x").covers("https://x", "https://x")
    assert not Text("words", url="https://x").covers("https://y", "https://y")


async def test_a_text_with_markup_is_given_as_bytes_to_parse() -> None:
    (found,) = await listed(Text("# Ä", source_id="a", media_type="text/markdown"))
    one = item(found)
    assert (one.data, one.text, one.media_type) == ("# Ä".encode(), None, "text/markdown")


async def test_a_text_without_identity_is_an_error() -> None:
    with pytest.raises(InputError):
        Text("words")
