"""Old Office containers: Outlook messages and Excel workbooks."""

import struct
from collections.abc import Mapping

import pytest

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo
from refdesk.parsing.pool import ParserPool
from refdesk.parsing.xls import parse as parse_xls

pytestmark = pytest.mark.anyio

NONE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def write_ole(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE file; streams are filled with zeros to blocks of 4096 bytes, and listed in a chain."""
    padded = {name: data + bytes(-len(data) % 4096) for name, data in streams.items()}
    directory_sectors = (len(padded) + 4) // 4
    fat, directory, body = [FAT], b"", b""
    fat += [*range(2, directory_sectors + 1), END]
    for position, (name, data) in enumerate(padded.items(), 1):
        first, sectors = len(fat), len(data) // 512
        fat += [*range(first + 1, first + sectors), END]
        following = position + 1 if position < len(padded) else NONE
        directory += entry(name, 2, following, NONE, first, len(data))
        body += data
    directory = entry("Root Entry", 5, NONE, 1, END, 0) + directory
    directory += bytes(directory_sectors * 512 - len(directory))
    header = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, END, 0, END, 0) + struct.pack("<109I", 0, *[NONE] * 108)
    return header + struct.pack("<128I", *fat, *[NONE] * (128 - len(fat))) + directory + body


def entry(name: str, kind: int, following: int, child: int, first: int, size: int) -> bytes:
    encoded = (name + "\0").encode("utf-16-le")
    return (
        encoded.ljust(64, b"\0")
        + struct.pack("<HBB3I", len(encoded), kind, 1, NONE, following, child)
        + bytes(36)
        + struct.pack("<IQ", first, size)
    )


def message(subject: str, body: str) -> bytes:
    fields = {"0037": subject, "0C1F": "ada@example.org", "0E04": "team@example.org", "1000": body}
    texts = {f"__substg1.0_{tag}001F": text.ljust(2048).encode("utf-16-le") for tag, text in fields.items()}
    return write_ole(texts)


async def test_a_message(pool: ParserPool) -> None:
    parsed = await pool.parse(message("Größe", "The body of it"), FileInfo(name="a.msg"))
    assert parsed.title == "Größe"
    assert "The body of it" in parsed.text
    assert parsed.metadata == {"from": "ada@example.org", "to": "team@example.org"}
    assert parsed.media_type == "application/vnd.ms-outlook"


async def test_a_message_is_told_by_its_streams(pool: ParserPool) -> None:
    parsed = await pool.parse(message("Hello", "Body"), FileInfo(name="mail.bin"))
    assert parsed.title == "Hello"
    assert parsed.warnings == ("named as a program or data file, read as an Outlook message",)


def workbook(rows: list[list[str | float]]) -> bytes:
    """Return a worksheet in the first Excel format, which has no container."""
    out = struct.pack("<HHHH", 0x0009, 4, 2, 0x10)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            place = struct.pack("<HH3x", row, column)
            if isinstance(value, str):
                body = place + struct.pack("<B", len(value)) + value.encode("ascii")
                out += struct.pack("<HH", 0x0004, len(body)) + body
            else:
                out += struct.pack("<HH", 0x0003, 15) + place + struct.pack("<d", value)
    return out + struct.pack("<HH", 0x000A, 0)


def test_a_workbook() -> None:
    parsed = parse_xls(workbook([["Name", "Age"], ["Ada", 36.0], ["Grace", 85.5]]), FileInfo(name="a.xls"))
    assert parsed.text.endswith("Name | Age\nName: Ada; Age: 36\nName: Grace; Age: 85.5")
    assert parsed.title == ""
    assert [heading.level for heading in parsed.headings] == [2]


def test_a_workbook_that_is_none() -> None:
    with pytest.raises(ParseError) as caught:
        parse_xls(b"\x09\x00\x04\x00nonsense", FileInfo(name="a.xls"))
    assert caught.value.reason == "damaged"
