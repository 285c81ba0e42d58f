"""A pool of parsers that the tests share, and PDFs made by hand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import md5

import anyio
import pytest

from refdesk.parsing.pool import ParserPool

MakePdf = Callable[..., bytes]

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@pytest.fixture(scope="session")
def pool() -> Iterator[ParserPool]:
    shared = ParserPool(workers=1)
    yield shared
    anyio.run(shared.aclose)


@pytest.fixture(scope="session")
def make_pdf() -> MakePdf:
    return write_pdf


def write_pdf(
    pages: Sequence[str],
    *,
    outline: Sequence[tuple[str, int]] = (),
    info: Mapping[str, str] | None = None,
    password: str = "",
) -> bytes:
    """Return a PDF: lines of text per page, outline entries (title, page index), info, RC4 encryption."""
    objects: dict[int, bytes] = {3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
    key, encrypt = _encryption(password) if password else (b"", b"")
    numbers = [10 + 2 * index for index in range(len(pages))]
    for number, text in zip(numbers, pages, strict=True):
        lines = " ".join(f"({line}) Tj T*" for line in text.split("\n") if line)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET".encode("latin-1")
        if key:
            stream = _rc4(md5(key + (number + 1).to_bytes(3, "little") + b"\0\0").digest()[:10], stream)
        objects[number + 1] = b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream)
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % (number + 1)
        )
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = b"<</Type/Pages/Count %d/Kids[%b]>>" % (len(pages), kids)
    entries = [1000 + index for index in range(len(outline))]
    objects[1] = b"<</Type/Catalog/Pages 2 0 R%b>>" % (b"/Outlines 4 0 R" if outline else b"")
    if outline:
        objects[4] = b"<</First %d 0 R/Last %d 0 R>>" % (entries[0], entries[-1])
    for position, (title, page) in enumerate(outline):
        following = b"/Next %d 0 R" % entries[position + 1] if position + 1 < len(entries) else b""
        objects[entries[position]] = b"<</Title(%b)/Parent 4 0 R%b/Dest[%d 0 R/Fit]>>" % (
            title.encode("latin-1"),
            following,
            numbers[page],
        )
    fields = (b"/%b(%b)" % (name.encode(), text.encode("latin-1")) for name, text in (info or {}).items())
    objects[5] = b"<<%b>>" % b"".join(fields)
    trailer = b"<</Root 1 0 R/Info 5 0 R/Size 2000%b>>" % encrypt
    return _file(objects, trailer)


def _file(objects: Mapping[int, bytes], trailer: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    table = b""
    for number, body in sorted(objects.items()):
        table += b"%d 1\n%010d 00000 n \n" % (number, len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    return bytes(out) + b"xref\n0 1\n0000000000 65535 f \n%btrailer\n%b\nstartxref\n%d\n%%%%EOF" % (
        table,
        trailer,
        len(out),
    )


def _encryption(password: str) -> tuple[bytes, bytes]:
    """Return the key and the trailer entries of the standard handler, revision 2 (40-bit RC4)."""
    padded = (password.encode() + _PADDING)[:32]
    owner = _rc4(md5(padded).digest()[:5], padded)
    key = md5(padded + owner + (-4 & 0xFFFFFFFF).to_bytes(4, "little") + b"id").digest()[:5]
    entry = b"/ID[<6964><6964>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%b>/U<%b>>>" % (
        owner.hex().encode(),
        _rc4(key, _PADDING).hex().encode(),
    )
    return key, entry


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
