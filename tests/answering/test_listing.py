"""The sources themselves as an answer, and what takes the place of a model."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.answering.fallback import Events, Failure, begun_within, later, or_instead
from refdesk.answering.listing import EXCERPT, excerpt, list_sources
from refdesk.answering.refusing import INCOMPLETE, TEXTS, said_of
from refdesk.context import Answer
from refdesk.documents import Chunk, Hit
from refdesk.errors import LLMError, ModelError, RemoteError
from refdesk.events import AnswerEvent, Done, Token
from refdesk.evidence import number_hits

pytestmark = pytest.mark.anyio

DOWN = LLMError("down")


def hit(text: str, name: str, title: str, url: str | None = None, document: str = "") -> Hit:
    chunk = Chunk(
        chunk_id=name,
        document_id=document or f"d-{name}",
        collection="forum",
        position=0,
        start=10,
        end=10 + len(text),
        text=text,
    )
    return Hit(chunk=chunk, title=title, url=url, source_id=name, metadata={"topic": name})


async def listed(*hits: Hit, **options: Any) -> Answer:
    events = [event async for event in list_sources("Why?", number_hits(hits), **options)]
    done = events[-1]
    assert isinstance(done, Done)
    assert "".join(event.text for event in events if isinstance(event, Token)) == done.answer.text
    return done.answer


async def test_each_source_has_a_line_a_link_and_a_citation() -> None:
    answer = await listed(
        hit("One. Two.", "a", "First", "https://a.example/1"),
        hit("Three.", "b", "Second"),
        hit("Four.", "c", "Third", "file:///etc/passwd"),
        zone="weak",
        links={"forum": "https://forum.example/t/{metadata.topic}"},
    )
    assert answer.text.splitlines()[2:] == [
        "- First [1]: <https://a.example/1>",
        "- Second [2]: <https://forum.example/t/b>",
        "- Third [3]: <https://forum.example/t/c>",
    ]
    assert [(one.marker, one.quote, one.start) for one in answer.citations] == [
        (1, "One. Two.", 10),
        (2, "Three.", 10),
        (3, "Four.", 10),
    ]
    assert (answer.zone, answer.refusal, answer.model) == ("weak", "model_unavailable", "sources")


async def test_sources_of_a_document_can_share_a_number() -> None:
    hits = (hit("One.", "a", "T", document="d"), hit("Two.", "b", "U"), hit("Three.", "c", "T", document="d"))
    answer = await listed(*hits, number_by="document")
    assert answer.text.splitlines()[2:] == ["- T [1]", "- U [2]"]
    assert [(one.marker, one.quote) for one in answer.citations] == [(1, "One."), (1, "Three."), (2, "Two.")]


async def test_titles_are_plain_text() -> None:
    wild = "[Click](https://evil.example) <script>x</script>\n- Fake [9]: <https://evil.example>"
    answer = await listed(hit("One.", "a", wild), hit("Two.", "b", ""))
    lines = answer.text.splitlines()[2:]
    assert len(lines) == 2
    assert "evil.example>" not in answer.text
    assert "](" not in answer.text
    assert "[9]" not in answer.text
    assert "<script" not in answer.text
    assert lines[1] == "- b [2]"


async def test_without_sources_there_is_the_reason_alone() -> None:
    answer = await listed()
    assert answer.text == TEXTS["model_unavailable"]
    assert answer.citations == ()


@given(st.text(max_size=900))
def test_an_excerpt_is_a_part_of_its_text(text: str) -> None:
    span = excerpt(text)
    assert 0 <= span.start <= span.end <= len(text)
    assert span.end - span.start <= EXCERPT
    assert bool(span.of(text).strip()) == bool(text.strip())


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("One sentence. Another one.", "One sentence. Another one."),
        ("A short one. " + "word " * 100, "A short one."),
        ("word " * 100, ("word " * 60).strip()),
        ("x" * 500, "x" * EXCERPT),
        ("  \n indented", "indented"),
    ],
)
def test_an_excerpt_ends_with_a_sentence_or_a_word(text: str, quote: str) -> None:
    assert excerpt(text).of(text) == quote


async def test_a_blank_source_is_listed_and_not_cited() -> None:
    answer = await listed(hit("  ", "a", "Empty"))
    assert answer.citations == ()
    assert answer.text.endswith("- Empty [1]")


def test_a_search_by_half_is_told_in_refusals() -> None:
    assert said_of("nothing_found", ("rerank",)) == TEXTS["nothing_found"]
    for part in ("search.vector", "search-2.keyword"):
        assert said_of("nothing_found", (part,)).endswith(INCOMPLETE)


async def giving(*events: AnswerEvent | Exception | float) -> AsyncGenerator[AnswerEvent, None]:
    for event in events:
        if isinstance(event, Exception):
            raise event
        if isinstance(event, float):
            await anyio.sleep(event)
        else:
            yield event


async def texts(events: Events) -> list[str]:
    return [event.text async for event in events if isinstance(event, Token)]


async def other(error: Failure) -> Events:
    return giving(Token(f"instead of {error}"))


async def nothing(error: Failure) -> None:
    return None


@pytest.mark.parametrize("error", [DOWN, ModelError("no weights"), RemoteError("no server", retryable=True)])
async def test_something_else_takes_the_place_of_what_did_not_begin(error: Exception) -> None:
    assert await texts(or_instead(giving(error), other, final=True)) == [f"instead of {error}"]
    assert await texts(or_instead(giving(Token("a")), other, final=True)) == ["a"]
    with pytest.raises(type(error)):
        await texts(or_instead(giving(error), nothing, final=True))


async def test_what_a_reader_has_seen_is_not_replaced() -> None:
    with pytest.raises(LLMError):
        await texts(or_instead(giving(Token("a"), DOWN), other, final=True))
    shown = await texts(or_instead(giving(Token("a"), DOWN), other, final=False))
    assert shown == ["a", "instead of down"]


async def test_other_errors_are_not_replaced() -> None:
    with pytest.raises(ZeroDivisionError):
        await texts(or_instead(giving(ZeroDivisionError()), other, final=True))


async def test_a_model_has_to_begin_in_time() -> None:
    with pytest.raises(LLMError, match=r"The model m wrote nothing within 0\.02 seconds\.") as caught:
        await texts(begun_within(giving(60.0, Token("a")), 0.02, "m"))
    assert caught.value.retryable
    assert await texts(begun_within(giving(Token("a"), 0.05, Token("b")), 0.02, "m")) == ["a", "b"]
    assert await texts(begun_within(giving(0.01, Token("a")), None, "m")) == ["a"]
    assert await texts(begun_within(giving(), 5, "m")) == []


async def test_what_begins_later_may_fail_later() -> None:
    async def fails() -> Events:
        raise DOWN

    events = later(fails)
    assert await texts(or_instead(events, other, final=True)) == ["instead of down"]


def test_answers_show_an_invitation_below() -> None:
    answer = Answer(question="?", text="Yes.")
    assert str(answer) == "Yes."
    assert str(replace(answer, invitation="Ask us.")) == "Yes.\n\nAsk us."
