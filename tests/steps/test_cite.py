"""`cite`: citations that are checked against the stored documents, and those that are dropped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.steps.answers import QUESTION, found
from tests.steps.conftest import TEXTS
from tests.steps.services import document, ran, services_on

import refdesk
from refdesk.context import Context
from refdesk.documents import Page
from refdesk.errors import StepError
from refdesk.events import Citations, Event
from refdesk.steps import Answer, Cite, Search
from refdesk.testing import HashingEmbedder
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


async def test_a_template_gives_the_link_that_a_document_lacks(tmp_path: Path) -> None:
    text = "Cover.\nLeave is 30 days."
    made, chunks = document(text, source_id="hr/leave.pdf")
    paged = replace(made, url="file:///srv/leave.pdf", pages=(Page(1, 0, 7), Page(2, 7, len(text))))
    settings = {"links": {"default": "https://in.example/{collection}/{source_id}"}}
    async with services_on(tmp_path / "library", (paged, chunks), settings=settings) as services:
        steps = Search() | Answer(answerer=lambda question, hits: "Leave is 30 days [[1]].") | Cite()
        context = await ran(services, steps, Context(question="How long is leave?"))
    [citation] = context.citations
    assert citation.url == "https://in.example/default/hr/leave.pdf#page=2"


LINES = "Leave is 30 days.\nTrains are second class.\nThe kitchen closes at six."


def said(question: str, hits: Any) -> str:
    """Cite whatever says each of three things, the last one twice."""
    place = {one.chunk.text.split()[0]: number for number, one in enumerate(hits, 1)}
    return (
        f"Trains are second class [[{place['Trains']}]]. Leave is 30 days [[{place['Leave']}]]. "
        f"Flights are no class [[{place['Flights']}]], and the kitchen closes at six [[{place['The']}]]."
    )


@pytest.mark.parametrize(
    ("number_by", "markers", "text"),
    [
        (
            "chunk",
            [1, 2, 3, 4],
            "Trains are second class [1]. Leave is 30 days [2]. Flights are no class [3]",
        ),
        (
            "document",
            [1, 1, 1, 2],
            "Trains are second class [1]. Leave is 30 days [1]. Flights are no class [2]",
        ),
    ],
)
async def test_a_document_keeps_one_number(
    tmp_path: Path, number_by: Any, markers: list[int], text: str
) -> None:
    documents = (document(LINES, source_id="a"), document("Flights are no class.", source_id="b"))
    async with services_on(tmp_path / "library", *documents) as services:
        steps = Search() | Answer(answerer=said, number_by=number_by) | Cite()
        context = await ran(services, steps, Context(question="leave trains flights kitchen class days six"))
    assert context.answer is not None
    assert context.answer.text.startswith(text)
    assert context.answer.number_by == number_by
    assert [one.marker for one in context.citations] == markers
    texts = {made.document_id: made.text for made, _ in documents}
    assert {one.quote for one in context.citations} == {*LINES.split("\n"), "Flights are no class."}
    for one in context.citations:
        assert texts[one.document_id][one.start : one.end] == one.quote


async def test_quotes_are_exact_whatever_the_characters_and_line_ends(tmp_path: Path) -> None:
    text = "Cafe\u0301 opens\r\nat six.\u00a0\u2028שלום עולם.\r\n\r\n👩‍👩‍👧 family leave is 30 days.\n"
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text(text, source_id="odd")
        for question in ("When does the cafe\u0301 open?", "family leave days", "שלום"):
            answer = await desk.ask(question, llm=ScriptedLLM([f"{question} [[1]]."]))
            document_now = await desk.document("odd")
            assert answer.citations
            for one in answer.citations:
                assert document_now.text[one.start : one.end] == one.quote != ""


async def test_quotes_of_an_answer_stay_exact_while_its_document_is_replaced(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(), await found(desk))
    assert context.answer is not None
    [first, *_] = context.answer.citations
    await desk.ingest_text("Preface. " + TEXTS["leave"], source_id="leave")
    checked = await desk.step(Cite(), context)
    assert first not in checked.citations
    assert any("its quote is not in the document" in warning for warning in checked.warnings)
    again = await desk.ask(QUESTION)
    for one in again.citations:
        assert (await desk.document(one.document_id)).text[one.start : one.end] == one.quote


async def test_without_an_answer_there_is_nothing_to_check(desk: refdesk.Desk) -> None:
    context = await desk.step(Cite(), await desk.start(QUESTION))
    assert context.trace[-1].outcome == "skipped"
