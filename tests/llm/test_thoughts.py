"""Thoughts in a reply that streams."""

from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.llm.replies import without_thoughts
from refdesk.llm.thoughts import TAGS, Thoughts, said


def shown(pieces: Sequence[str]) -> str:
    thoughts = Thoughts()
    return "".join([*(thoughts.feed(piece) for piece in pieces), thoughts.finish()])


@pytest.mark.parametrize(("opening", "closing"), TAGS)
def test_pieces_of_one_character(opening: str, closing: str) -> None:
    assert shown(list(f"\n{opening} hm < b {closing}\n\nYes, <b>.")) == "Yes, <b>."
    assert shown(list(f"{opening.upper()}a{closing}{opening}b{closing.upper()} Yes")) == "Yes"
    assert shown(list(f"{opening}never ends")) == ""


def test_text_that_only_begins_like_a_tag_is_shown() -> None:
    assert shown(["<", "th", "e> book"]) == "<the> book"
    assert shown(["<th"]) == "<th"
    assert shown([" plain", " text"]) == " plain text"


def test_a_reply_is_shown_as_soon_as_it_is_no_thought() -> None:
    thoughts = Thoughts()
    assert [thoughts.feed(piece) for piece in ("<thi", "nk>a", "</think>", "\nY", "es")] == [
        "",
        "",
        "",
        "Y",
        "es",
    ]


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "İ", "hm", " ", "yes", "\n"]), max_size=8)
)
def test_how_a_reply_is_cut_into_pieces_makes_no_difference(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert shown(pieces) == shown([whole]) == shown(list(whole))


@given(st.text(max_size=20), st.text(alphabet="abc ", max_size=20))
def test_streamed_and_whole_replies_agree(thought: str, reply: str) -> None:
    text = f"<think>{thought.replace('<', '')}</think>{reply}"
    assert shown(list(text)).strip() == without_thoughts(text)


@pytest.mark.anyio
async def test_a_stream_of_pieces() -> None:
    async def pieces() -> AsyncGenerator[str, None]:
        for piece in ("<think>", "a", "</think>", "b", "", "c"):
            yield piece

    assert [piece async for piece in said(pieces())] == ["b", "c"]
