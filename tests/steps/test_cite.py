"""`cite`: citations that are checked against the stored documents, and those that are dropped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.steps.answers import QUESTION, found
from tests.steps.services import document, ran, services_on

import refdesk
from refdesk.context import Context
from refdesk.documents import Page
from refdesk.errors import StepError
from refdesk.events import Citations, Event
from refdesk.steps import Answer, Cite, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


async def test_citations_are_checked_against_the_documents(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(), await found(desk))
    assert context.answer is not None
    [good, *_] = context.answer.citations
    changes: tuple[dict[str, Any], ...] = (
        {"quote": "99 days"},
        {"start": good.start + 1},
        {"chunk_id": "unknown"},
        {"quote": ""},
        {"start": good.start - 1000, "end": good.end - 1000},
        {"end": good.end + 1},
        {"document_id": "another"},
        {"collection": "pumps"},
    )
    bad = [replace(good, **change) for change in changes]
    events: list[Event] = []
    step = Cite(citer=lambda answer, evidence: [good, *bad])
    checked = await desk.step(step, context, on_event=events.append)
    assert checked.citations == (good,)
    assert len(checked.warnings) == len(bad)
    assert checked.trace[-1].measures == {"citations": 1, "dropped": 8}
    assert [one for one in events if isinstance(one, Citations)] == [Citations((good,))]


async def test_hits_from_elsewhere_are_checked_against_their_own_text(desk: refdesk.Desk) -> None:
    hits = [
        {"id": "1", "text": "Leave is thirty days.", "title": "Intranet", "url": "https://in.example/leave"}
    ]
    steps = Search(searcher=lambda question, collection: hits) | Answer() | Cite()
    context = await desk.run(steps, QUESTION, llm=ScriptedLLM(["Leave is thirty days [[1]]."]))
    [citation] = context.citations
    assert (citation.quote, citation.url) == ("Leave is thirty days.", "https://in.example/leave")


@pytest.mark.parametrize("returned", [None, "x", "", b"", [1], {}])
async def test_a_citer_that_returns_nonsense(desk: refdesk.Desk, returned: Any) -> None:
    steps = Search() | Answer() | Cite(citer=lambda answer, evidence: returned)
    assert isinstance((await desk.run(steps, QUESTION)).error, StepError)


async def test_a_citer_names_neither_links_nor_titles(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(), await found(desk))
    assert context.answer is not None
    [good, *_] = context.answer.citations
    wrong = replace(good, url="https://evil.example", title="Evil", source_id="x", page=None)
    checked = await desk.step(Cite(citer=lambda answer, evidence: [wrong]), context)
    assert checked.citations == (good,)


async def test_a_dropped_citation_is_reported_with_its_marker(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(), await found(desk))
    assert context.answer is not None
    wrong = tuple(replace(one, quote=one.quote.upper()) for one in context.answer.citations)
    context = context.evolve(answer=replace(context.answer, citations=wrong))
    checked = await desk.step(Cite(), context)
    assert checked.answer is not None
    assert context.answer is not None
    assert (checked.answer.text, checked.answer.citations) == (context.answer.text, ())
    assert checked.warnings[0] == (
        "cite: Citation [1] was dropped: its quote is not in the document. Its marker stays in the text."
    )


async def test_a_document_that_changed_since_it_was_searched(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(), await found(desk))
    await desk.ingest_text("Leave was abolished.", source_id="leave")
    checked = await desk.step(Cite(), context)
    assert checked.citations == ()
    assert checked.warnings


async def test_pages_come_from_the_stored_document(tmp_path: Path) -> None:
    text = "Cover.\nLeave is 30 days."
    made, chunks = document(text)
    paged = replace(made, url="https://x.example/a.pdf", pages=(Page(1, 0, 7), Page(2, 7, len(text))))
    async with services_on(tmp_path / "library", (paged, chunks)) as services:
        steps = Search() | Answer(answerer=lambda question, hits: "Leave is 30 days [[1]].")
        answered = await ran(services, steps, Context(question="How long is leave?"))
        assert answered.answer is not None
        [unchecked] = answered.answer.citations
        assert unchecked.page is None
        checked = await ran(services, Cite(), answered)
    [citation] = checked.citations
    assert (citation.page, citation.url) == (2, "https://x.example/a.pdf#page=2")
    assert text[citation.start : citation.end] == citation.quote == "Leave is 30 days."


async def test_without_an_answer_there_is_nothing_to_check(desk: refdesk.Desk) -> None:
    context = await desk.step(Cite(), await desk.start(QUESTION))
    assert context.trace[-1].outcome == "skipped"
