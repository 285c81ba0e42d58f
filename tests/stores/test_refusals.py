"""What is refused of a single document, before it meets a store."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import Document, Heading
from refdesk.errors import InputError
from refdesk.stores.refusals import check_document

FIT = Document(
    collection="c",
    source_id="a.md",
    title="A title",
    text="words",
    url="https://e.org",
    metadata={"year": -(2**63), "tags": ("x", 1, True), "size": 2**63 - 1, "none": ()},
    headings=(Heading(1, "One", 0),),
    warnings=("repaired",),
)
HALF = "\udcff"


def test_a_document_that_fits_is_not_refused() -> None:
    check_document(FIT)
    check_document(dataclasses.replace(FIT, url=None, metadata={}))


@pytest.mark.parametrize(
    "change",
    [
        *({name: f"x{HALF}"} for name in ("source_id", "title", "url", "text", "media_type", "language")),
        {"digest": HALF},
        {"headings": (Heading(1, HALF, 0),)},
        {"warnings": (HALF,)},
        *(
            {"metadata": {"n": value}}
            for value in (HALF, ("x", HALF), 2**63, -(2**63) - 1, float("inf"), float("nan"))
        ),
        *({"metadata": {"n": value}} for value in (None, ["x"], {"a": 1}, b"x", (("x",),), (2**64,))),
        *({"metadata": {key: 1}} for key in (HALF, "title", 5)),
    ],
    ids=lambda change: ascii(change)[:60],
)
def test_what_cannot_be_kept_is_refused_by_name(change: dict[str, Any]) -> None:
    document = dataclasses.replace(FIT, **change)
    with pytest.raises(InputError) as raised:
        check_document(document)
    assert repr(document.source_id) in raised.value.message
    assert raised.value.message.encode()


def test_a_number_that_python_does_not_print_is_refused() -> None:
    with pytest.raises(InputError, match="40000 bits"):
        check_document(dataclasses.replace(FIT, metadata={"n": 2**39_999}))


@given(text=st.text(st.characters(categories=["Cs", "L", "Cc"])), field=st.sampled_from(["title", "text"]))
def test_only_half_characters_are_refused(text: str, field: str) -> None:
    change: dict[str, Any] = {field: text}
    document = dataclasses.replace(FIT, **change)
    if any("\ud800" <= character <= "\udfff" for character in text):
        with pytest.raises(InputError, match=field):
            check_document(document)
    else:
        check_document(document)
