"""One number per document, through every step that writes, reads or replaces an answer."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.steps.answers import streamed
from tests.steps.services import document, ran, services_on

import refdesk
from refdesk.context import Answer as Answered
from refdesk.context import Context
from refdesk.pipeline import Step
from refdesk.steps import Answer, Cite, Review, Search
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

LINES = "Leave is 30 days.\nTrains are second class.\nThe kitchen closes at six."
QUESTION = "leave trains kitchen days class six flights"
ALL = "Leave is 30 days [[{Leave}]]. Trains are second class [[{Trains}]], flights no class [[{Flights}]]."


def written(context: Context) -> str:
    """Return a reply that cites each line by its number in the evidence."""
    numbers = {item.hit.chunk.text.split()[0]: item.number for item in context.evidence}
    return ALL.format(**numbers)


async def answered(
    folder: Path, *steps: Step, llm: Any = None, settings: dict[str, Any] | None = None
) -> Answered:
    """Return the answer of steps after a search, on a library of two documents."""
    documents = (document(LINES, source_id="a"), document("Flights have no class.", source_id="b"))
    async with services_on(folder / "library", *documents, llm=llm, settings=settings) as services:
        context = await ran(services, Search(), Context(question=QUESTION))
        for step in steps:
            context = (await ran(services, step, context)).raise_for_error()
    assert context.answer is not None
    texts = {made.document_id: made.text for made, _ in documents}
    for one in context.answer.citations:
        assert texts[one.document_id][one.start : one.end] == one.quote
        assert f"[{one.marker}]" in context.answer.text
    return context.answer


def model(*replies: str) -> ScriptedLLM:
    """Reply in the numbers of the evidence that the prompt shows."""
    return ScriptedLLM([_reply(text) for text in replies])


def _reply(text: str) -> Any:
    def reply(messages: Any) -> str:
        shown = messages[-1].text
        order = sorted(("Leave", "Trains", "Flights", "The"), key=shown.index)
        return text.format(**{word: number for number, word in enumerate(order, 1)})

    return reply


NUMBERED = [
    ("chunk", "Leave is 30 days [1]. Trains are second class [2], flights no class [3].", [1, 2, 3]),
    ("document", "Leave is 30 days [1]. Trains are second class [1], flights no class [2].", [1, 1, 2]),
]


@pytest.mark.parametrize(("number_by", "text", "markers"), NUMBERED)
async def test_a_model(tmp_path: Path, number_by: Any, text: str, markers: list[int]) -> None:
    steps = (Answer(number_by=number_by), Cite())
    answer = await answered(tmp_path, *steps, llm=model(ALL))
    assert (answer.text, answer.number_by) == (text, number_by)
    assert [one.marker for one in answer.citations] == markers


async def test_the_setting_serves_steps_that_say_nothing(tmp_path: Path) -> None:
    settings = {"number_by": "document"}
    answer = await answered(tmp_path / "1", Answer(), llm=model(ALL), settings=settings)
    assert answer.text == NUMBERED[1][1]
    own = await answered(tmp_path / "2", Answer(number_by="chunk"), llm=model(ALL), settings=settings)
    assert own.text == NUMBERED[0][1]


@pytest.mark.parametrize("number_by", ["chunk", "document"])
async def test_quoting(tmp_path: Path, number_by: Any) -> None:
    """Sentences of one chunk share a number, and with `document` those of one document."""
    texts = {
        "a": "Full-time staff get 30 days of leave.\n\nKitchens close.\n\nPart-time leave of staff: 20 days.",
        "b": "Interns get ten days of leave, as staff on trial.",
    }
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        for name, text in texts.items():
            await desk.ingest_text(text, source_id=name)
        pipeline = Search() | Answer(number_by=number_by) | Cite()
        answer = await desk.ask(
            "How many days of leave do staff get, full-time and part-time?", pipeline=pipeline
        )
    shared: dict[int, set[str]] = {}
    for one in answer.citations:
        shared.setdefault(one.marker, set()).add(one.chunk_id if number_by == "chunk" else one.document_id)
    assert list(shared) == list(range(1, len(shared) + 1))
    assert all(len(named) == 1 for named in shared.values())
    assert len(set.union(*shared.values())) == len(shared)
    assert len(answer.citations) > len(shared)


@pytest.mark.parametrize(("number_by", "text", "markers"), NUMBERED)
async def test_an_improved_answer_is_numbered_the_same_way(
    tmp_path: Path, number_by: Any, text: str, markers: list[int]
) -> None:
    def better(question: str, answer: str, evidence: Any) -> Any:
        assert answer == text
        return "improve", f"Surely: {answer}"

    steps = (Answer(number_by=number_by), Review(reviewer=better), Cite())
    answer = await answered(tmp_path, *steps, llm=model(ALL))
    assert (answer.text, answer.number_by) == (f"Surely: {text}", number_by)
    assert [one.chunk_id for one in answer.citations] == list(
        dict.fromkeys(one.chunk_id for one in answer.citations)
    )
    assert sorted({one.marker for one in answer.citations}) == sorted(set(markers))


async def test_a_draft_goes_back_with_the_numbers_of_its_evidence(tmp_path: Path) -> None:
    asked = ScriptedLLM([_reply("Leave is 99 days [[{Leave}]][[{Trains}]]."), _reply(ALL)])

    def grounder(answer: str, hits: Any) -> float:
        return 0.0 if "99" in answer else 1.0

    answer = await answered(
        tmp_path,
        Answer(number_by="document", self_correct=True, grounder=grounder),
        llm=asked,
    )
    assert answer.number_by == "document"
    [_, again] = asked.asked
    assert re.search(r"99 days \[\[\d\]\]\[\[\d\]\]\.", again[-1].text)
    assert answer.text == NUMBERED[1][1]


async def test_what_is_streamed_is_what_is_stored(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Employees get 30 days of leave per year.", source_id="a")
        await desk.ingest_text("How many days of leave do employees get? Ask.", source_id="b")
        llm = ScriptedLLM([["Leave [", "[1]", "][[", "2]] is [[9]] 30 ", "days [[1", "]]."]])
        steps = (Search(), Answer(number_by="document"), Cite())
        answer, shown, context = await streamed(desk, *steps, llm=llm)
    assert shown == answer.text == "Leave [1][2] is 30 days [1]."
    [measures] = [one.measures for one in context.trace if one.path == ("answer",)]
    assert (answer.removed_markers, answer.removed_links) == (1, 0)
    assert (measures["removed_markers"], measures["removed_links"]) == (1, 0)
