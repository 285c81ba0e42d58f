"""Addresses made from templates: whatever a document says, scheme and host are the operator's."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.citations.build import link_to
from refdesk.citations.templates import Source, filled, problem, source_of, web_address
from refdesk.documents import Document

SOURCE = Source(
    collection="handbook",
    document_id="d1",
    source_id="hr/leave & more.md",
    title="Leave? Yes",
    url=None,
    metadata={"year": 2026, "draft": True, "tags": ("a", "b"), "at": datetime(2026, 1, 2), "empty": ""},
)
FULL = "https://intranet.example/{collection}/{source_id}?page={page}&t={title}#y{metadata.year}"


@pytest.mark.parametrize(
    ("template", "page", "address"),
    [
        (FULL, 3, "https://intranet.example/handbook/hr/leave%20%26%20more.md?page=3&t=Leave%3F%20Yes#y2026"),
        (FULL, None, "https://intranet.example/handbook/hr/leave%20%26%20more.md?t=Leave%3F%20Yes#y2026"),
        ("http://h:8080/?id={source_id}", None, "http://h:8080/?id=hr%2Fleave%20%26%20more.md"),
        ("https://h/{document_id}#page={page}", None, "https://h/d1"),
        ("https://h/{document_id}?p={page}", None, "https://h/d1"),
        ("https://h/{page}/x", None, None),
        ("https://h/{metadata.gone}", 1, None),
        ("https://h/{metadata.tags}", 1, None),
        ("https://h/{metadata.empty}", 1, None),
        ("https://h/{metadata.draft}/{metadata.at}", 1, "https://h/true/2026-01-02T00%3A00%3A00"),
        ("https://müller.example/{title}", 1, "https://müller.example/Leave%3F%20Yes"),
        ("https://h/{{x}}", 1, "https://h/%7Bx%7D"),
        ("https://h?d={document_id}", 1, "https://h?d=d1"),
    ],
)
def test_filled(template: str, page: int | None, address: str | None) -> None:
    assert problem(template) == ""
    assert filled(template, SOURCE, page) == address


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("ftp://h/{source_id}", "begin with http"),
        ("javascript:alert({page})", "begin with http"),
        ("file:///{source_id}", "begin with http"),
        ("//h/{source_id}", "begin with http"),
        ("/{source_id}", "begin with http"),
        ("", "begin with http"),
        ("https://", "begin with http"),
        ("https://{collection}/x", "begin with http"),
        ("https://{collection}.example/x", "begin with http"),
        ("https://h.example:{page}/", "begin with http"),
        ("https://user@h.example/{page}", "begin with http"),
        ("https://h.example\\{source_id}", "begin with http"),
        ("https://h/{soruce_id}", "allowed: {source_id}"),
        ("https://h/{year}", "{metadata.NAME}"),
        ("https://h/{}", "{metadata.NAME}"),
        ("https://h/{metadata.}", "{metadata.NAME}"),
        ("https://h/{page:03d}", "no format"),
        ("https://h/{title!r}", "no format"),
        ("https://h/{page", "cannot be read"),
    ],
)
def test_templates_that_cannot_be_used(template: str, said: str) -> None:
    assert said in problem(template)


HOSTILE = st.text(
    st.sampled_from("/\\.%:@?#&=<>\"' \r\n\t\0a2eE{}é\u202e\ud800"), max_size=12
) | st.sampled_from(
    [
        "//evil.example/x",
        "@evil.example",
        "..",
        "../..",
        "%2e%2e/x",
        ".%2E/",
        "javascript:alert(1)",
        "\\\\evil.example",
    ]
)


@given(HOSTILE, HOSTILE, HOSTILE, st.sampled_from([FULL, "https://intranet.example/a/{source_id}/{title}/e"]))
def test_values_change_neither_host_nor_scheme(source: str, title: str, value: str, template: str) -> None:
    made = filled(template, replace(SOURCE, source_id=source, title=title, metadata={"year": value}), 1)
    if made is None:
        return
    parts = urlsplit(made)
    assert (parts.scheme, parts.netloc) == ("https", "intranet.example")
    assert made.isascii()
    assert not set(made) & set("\\<>\"' {}\r\n\t")
    assert parts.path.startswith(("/handbook/", "/a/"))
    steps = parts.path.lower().replace("%2e", ".").split("/")
    assert "." not in steps
    assert ".." not in steps
    assert len(parts.query.split("&")) <= 2


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://h.example/a b?c=<d>", "https://h.example/a%20b?c=%3Cd%3E"),
        ("HTTPS://H.example/ä%20b", "HTTPS://H.example/%C3%A4%20b"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("https://h.example", "https://h.example"),
        ("https://user:secret@h.example/", None),
        ("https://good.example\\@evil.example/", None),
        ("https://", None),
        ("https:///path", None),
        ("https:h.example", None),
        (" https://h.example/", None),
        ("ht\ntps://h.example/", None),
        ("https://h\n.example/", None),
        ("https://h .example/", None),
        ("file:///etc/passwd", None),
        ("JavaScript:alert(1)//https://h", None),
        ("data:text/html,x", None),
        ("https://h.example/\ud800", None),
        ("https://[broken", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses_of_documents(url: str | None, address: str | None) -> None:
    assert web_address(url) == address


@pytest.mark.parametrize("url", [None, "", "file:///srv/a.pdf", "javascript:alert(1)"])
def test_a_template_serves_where_a_document_has_no_address_of_its_own(url: str | None) -> None:
    source = replace(SOURCE, url=url, source_id="a.pdf")
    assert link_to(source, 4, "https://h/{source_id}") == "https://h/a.pdf#page=4"
    assert link_to(source, 4, "https://h/{source_id}#p{page}") == "https://h/a.pdf#p4"
    assert link_to(source, 4) is None
    own = replace(source, url="https://own.example/x")
    assert link_to(own, 4, "https://h/{source_id}") == "https://own.example/x"


def test_a_document_is_a_source() -> None:
    fields: dict[str, Any] = {"collection": "c", "source_id": "s", "title": "T", "url": None}
    document = Document(text="x", metadata={"k": 1}, **fields)
    assert source_of(document) == Source(document_id=document.document_id, metadata={"k": 1}, **fields)
