"""Answers that were kept, held against a library that went on."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.parsing.conftest import write_pdf

import refdesk
from refdesk.context import Answer, Citation
from refdesk.desk.rechecking import Recheck
from refdesk.errors import InputError, NotFound
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

LEAVE = "Employees get 30 days of leave per year. Unused leave expires in March."
SECRET = "The merger with Acme closes in June."
LINKS = {"default": "https://in.example/{source_id}"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), links=LINKS) as desk:
        await desk.ingest_text(LEAVE, source_id="leave", title="Leave")
        await desk.ingest_text(SECRET, source_id="merger", title="Merger", collection="board")
        yield desk


async def asked(
    desk: refdesk.Desk, question: str = "How many days of leave per year?", **options: Any
) -> Answer:
    llm = ScriptedLLM([f"{question} [[1]]"])
    return await desk.ask(question, llm=llm, pipeline="simple", **options)


async def only(desk: refdesk.Desk, answer: Answer, **options: Any) -> tuple[str, Citation, Recheck]:
    found = await desk.recheck(answer, **options)
    [one] = found.citations
    stands = one.state in ("holds", "moved")
    assert found.holds is stands
    assert found.answer.citations == ((one.citation,) if stands else ())
    assert (found.answer.text, found.answer.evidence, found.answer.grounding) == (answer.text, (), None)
    for citation in found.answer.citations:
        document = await desk.document(citation.document_id, collections=citation.collection)
        assert document.text[citation.start : citation.end] == citation.quote
    return one.state, one.citation, found


async def test_nothing_changed(desk: refdesk.Desk) -> None:
    answer = await asked(desk)
    state, citation, _ = await only(desk, answer)
    assert (state, (citation,)) == ("holds", answer.citations)
    assert citation.url == "https://in.example/leave"


async def test_title_and_link_are_those_of_now(desk: refdesk.Desk) -> None:
    answer = await asked(desk)
    await desk.ingest_text(LEAVE, source_id="leave", title="Annual leave", url="https://new.example/leave")
    state, citation, _ = await only(desk, answer)
    assert (state, citation.title, citation.url) == ("holds", "Annual leave", "https://new.example/leave")
    assert citation.quote == answer.citations[0].quote


async def test_text_that_moved_is_found_again(desk: refdesk.Desk) -> None:
    answer = await asked(desk)
    await desk.ingest_text("New first words.\r\n\r\n" + LEAVE, source_id="leave")
    state, citation, _ = await only(desk, answer)
    assert state == "moved"
    assert citation.start > answer.citations[0].start
    assert citation.quote == answer.citations[0].quote
    chunks = await (await desk.services.reader(refdesk.Scope())).chunks(citation.document_id)
    assert citation.chunk_id in {one.chunk_id for one in chunks}


async def test_a_text_that_was_rewritten_is_not_put_in_the_place_of_the_old(desk: refdesk.Desk) -> None:
    answer = await asked(desk)
    await desk.ingest_text(LEAVE.replace("30", "20"), source_id="leave", title="Leave")
    state, citation, found = await only(desk, answer)
    assert (state, citation.quote, citation.start, citation.end) == ("changed", "", 0, 0)
    assert (citation.title, citation.url) == ("Leave", "https://in.example/leave")
    assert "no longer" in found.citations[0].reason
    assert "20 days" not in repr(found)


async def test_what_is_gone_and_what_may_not_be_seen_look_alike(desk: refdesk.Desk) -> None:
    answer = await asked(desk, "When does the merger close?", collections="board")
    state, hidden, found = await only(desk, answer)
    assert state == "gone"
    assert (hidden.title, hidden.quote, hidden.url, hidden.source_id) == ("", "", None, "")
    assert "Merger" not in repr(found)
    assert "board" not in repr(found)
    assert (await only(desk, answer, collections="board"))[0] == "holds"
    assert (await only(desk, answer, collections="all"))[0] == "holds"
    await desk.delete("merger", collection="board")
    _, deleted, again = await only(desk, answer, collections="board")
    assert (deleted, again.citations[0].reason) == (hidden, found.citations[0].reason)


async def test_no_collections_show_nothing(desk: refdesk.Desk) -> None:
    assert (await only(desk, await asked(desk), collections=[]))[0] == "gone"


async def test_an_unknown_collection_is_an_error(desk: refdesk.Desk) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await desk.recheck(await asked(desk), collections="nowhere")


async def test_a_forged_collection_opens_nothing(desk: refdesk.Desk) -> None:
    answer = await asked(desk, "When does the merger close?", collections="board")
    forged = replace(answer, citations=(replace(answer.citations[0], collection="default"),))
    assert (await only(desk, forged, collections="default"))[0] == "gone"
    assert (await only(desk, forged, collections="all"))[0] == "gone"


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"start": -5}, "moved"),
        ({"start": 10**9}, "moved"),
        ({"quote": ""}, "changed"),
        ({"quote": "30 days of leave per week"}, "changed"),
        ({"document_id": "unknown"}, "gone"),
    ],
)
async def test_stored_answers_may_say_anything(
    desk: refdesk.Desk, change: dict[str, Any], state: str
) -> None:
    answer = await asked(desk)
    changed = replace(answer, citations=(replace(answer.citations[0], **change),))
    assert (await only(desk, changed))[0] == state


async def test_pages_of_a_pdf_before_and_after_it_grows(tmp_path: Path) -> None:
    pages = ["Cover of the handbook.", "Employees get 30 days of leave per year."]
    links = {"default": "https://in.example/{source_id}"}
    file = tmp_path / "hand book.pdf"
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), links=links) as desk:
        file.write_bytes(write_pdf(pages))
        await desk.ingest(file)
        answer = await desk.ask(
            "How many days of leave do employees get?", llm=ScriptedLLM(["30 days [[1]]."])
        )
        [citation] = answer.citations
        assert citation.quote == pages[1]
        assert (citation.page, citation.url) == (2, "https://in.example/hand%20book.pdf#page=2")
        file.write_bytes(write_pdf(["A new foreword.", *pages]))
        await desk.ingest(file)
        state, moved, _ = await only(desk, answer)
    assert (state, moved.page, moved.url) == ("moved", 3, "https://in.example/hand%20book.pdf#page=3")
    assert moved.quote == citation.quote


async def test_the_nearest_of_equal_places(desk: refdesk.Desk) -> None:
    answer = await asked(desk)
    quote = answer.citations[0].quote
    await desk.ingest_text(f"{'x ' * 40}{quote} and {'y ' * 60}{quote}", source_id="leave")
    near = replace(answer, citations=(replace(answer.citations[0], start=90),))
    assert (await only(desk, near))[1].start == 80


async def test_each_citation_is_looked_at(desk: refdesk.Desk) -> None:
    await desk.ingest_text("Trains are booked in second class.", source_id="travel")
    question = "Which class of trains, and how many days of leave?"
    llm = ScriptedLLM(["Thirty days of leave [[1]][[2]], trains in second class [[1]][[2]]."])
    answer = await desk.ask(question, llm=llm, pipeline="simple")
    await desk.delete("travel")
    found = await desk.recheck(answer)
    states = {one.state for one in found.citations}
    assert states == {"holds", "gone"}
    assert len(found.citations) == len(answer.citations)
    assert {one.source_id for one in found.answer.citations} == {"leave"}
    assert not found.holds


async def test_only_answers_can_be_rechecked(desk: refdesk.Desk) -> None:
    with pytest.raises(InputError, match="allowed is an Answer"):
        await desk.recheck(cast(Any, "Thirty days [1]."))


async def test_a_refusal_has_nothing_that_could_fail(desk: refdesk.Desk) -> None:
    answer = await desk.ask("zyxgrk qwrtz", mode="keyword")
    assert answer.refusal == "nothing_found"
    assert (await desk.recheck(answer)).holds


def test_without_an_event_loop(tmp_path: Path) -> None:
    with refdesk.open(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        desk.ingest_text(LEAVE, source_id="leave")
        answer = desk.ask("How many days of leave do employees get per year?")
        assert answer.citations
        assert desk.recheck(answer).holds
        desk.delete("leave")
        assert not desk.recheck(answer).holds
