"""Damaged, lying and malicious files: a stable reason each, and no harm."""

import io
import itertools
import zipfile
from collections.abc import Callable

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, ParseLimits
from refdesk.parsing.formats import BY_SUFFIX, PARSERS
from refdesk.parsing.pool import ParserPool
from refdesk.parsing.reading import read

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {name} "{f"&{of};" * 10}">' for of, name in itertools.pairwise("abcdefghi"))
    + "]><r>&i;</r>"
)
EXTERNAL = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def archive(members: dict[str, bytes], *, flag: int = 0) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    out = bytearray(stream.getvalue())
    out[out.index(b"PK\x01\x02") + 8] |= flag
    return bytes(out)


def word_with(part: bytes) -> bytes:
    """Return a Word file whose text part is replaced."""
    stream, out = io.BytesIO(), io.BytesIO()
    docx.Document().save(stream)
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, part if name == "word/document.xml" else old.read(name))
    return out.getvalue()


def reason_of(name: str, data: bytes) -> str:
    with pytest.raises(ParseError) as caught:
        read(data, FileInfo(name=name), ParseLimits(), PARSERS)
    assert str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.md", b" \n\t\n", "empty"),
        ("a.pdf", b"", "empty"),
        ("a.md", b"---\ntitle: only\n---\n", "empty"),
        ("a.html", b"<html><body><script>x</script></body></html>", "empty"),
        ("a.txt", bytes(range(256)) * 20, "binary"),
        ("a.bin", bytes(range(256)), "binary"),
        ("data", b"SQLite format 3\0" + bytes(100), "binary"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(50), "unsupported"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(50), "unsupported"),
        ("a.zip", archive({"a.txt": b"x"}), "unsupported"),
        ("a.docx", archive({"a.txt": b"x"}), "unsupported"),
        ("a.odt", archive({"META-INF/manifest.xml": b"x", "content.xml": b"x"}), "unsupported"),
        ("a.doc", OLE + "WordDocument".encode("utf-16-le"), "unsupported"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("a.docx", archive({"word/document.xml": b"x"}, flag=1), "encrypted"),
        ("a.pdf", b"%PDF-1.7\n" + b"x" * 500, "damaged"),
        ("a.pdf", b"just words", "damaged"),
        ("a.docx", b"just words", "damaged"),
        ("a.docx", b"PK\x03\x04" + b"x" * 100, "damaged"),
        ("a.docx", archive({"word/document.xml": b"x"}), "damaged"),
        ("a.pptx", archive({"ppt/presentation.xml": b"x"}), "damaged"),
        ("a.xlsx", archive({"xl/workbook.xml": b"x"}), "damaged"),
        ("a.epub", archive({"META-INF/container.xml": b"<x/>"}), "damaged"),
        ("a.xls", OLE + "Workbook".encode("utf-16-le") + bytes(600), "damaged"),
        ("a.msg", OLE + "__substg1.0_".encode("utf-16-le"), "damaged"),
        ("a.ipynb", b"[]", "damaged"),
        ("a.ipynb", b"{", "damaged"),
        ("a.eml", b"no headers here", "damaged"),
        ("a.xml", b"<a>", "damaged"),
        ("laughs.xml", LAUGHS.encode(), "damaged"),
        ("external.xml", EXTERNAL.encode(), "damaged"),
        ("bomb.docx", archive({"word/document.xml": bytes(200 * 1024 * 1024)}), "too_large"),
        ("bomb.epub", archive({"META-INF/container.xml": bytes(200 * 1024 * 1024)}), "too_large"),
        ("laughs.docx", word_with(LAUGHS.encode()), "damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_reason(name: str, data: bytes, reason: str) -> None:
    assert reason_of(name, data) == reason


def test_a_truncated_container_is_damaged(make_pdf: Callable[..., bytes]) -> None:
    whole = word_with(b"x")
    assert reason_of("a.docx", whole[: len(whole) // 2]) == "damaged"


@pytest.mark.anyio
async def test_deep_nesting_is_read_as_plain_text(pool: ParserPool) -> None:
    depth = 20_000
    html = "<div>" * depth + "<p>the core</p>" + "</div>" * depth
    parsed = await pool.parse(html.encode(), FileInfo(name="deep.html"))
    assert "the core" in parsed.text


@pytest.mark.anyio
async def test_json_that_nests_deeply_is_kept(pool: ParserPool) -> None:
    parsed = await pool.parse(b"[" * 100_000 + b"]" * 100_000, FileInfo(name="deep.json"))
    assert parsed.warnings == ("not valid JSON; read as plain text",)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(name=st.sampled_from(sorted(BY_SUFFIX)), data=st.binary(max_size=300))
def test_any_bytes_under_any_name_give_text_or_a_reason(name: str, data: bytes) -> None:
    try:
        parsed = read(data, FileInfo(name=f"a{name}"), ParseLimits(), PARSERS)
    except ParseError as error:
        outcome = error.reason
    else:
        outcome = "text" if parsed.text.strip() and parsed.text.encode() else "nothing"
    assert outcome in {"text", "binary", "damaged", "empty", "unsupported", "encrypted", "too_large"}


@settings(max_examples=40)
@given(data=st.data())
def test_a_damaged_pdf_gives_text_or_a_reason(make_pdf: Callable[..., bytes], data: st.DataObject) -> None:
    whole = bytearray(make_pdf(["one", "two"], outline=[("one", 0)], info={"Title": "x"}))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=20)):
        whole[at] = data.draw(st.integers(0, 255))
    try:
        parsed = read(bytes(whole), FileInfo(name="a.pdf"), ParseLimits(), PARSERS)
    except ParseError:
        return
    assert parsed.text.strip()
