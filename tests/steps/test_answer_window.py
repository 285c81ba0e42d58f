"""`answer`: what a model is shown of evidence, notes and history, and what its window has no room for."""

from collections.abc import Iterator, Sequence

import pytest
from tests.steps.answers import TRUE, found, given

import refdesk
from refdesk.context import Turn
from refdesk.documents import Hit
from refdesk.errors import ContextTooLong
from refdesk.steps import Answer
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


async def test_evidence_is_left_out_where_the_window_is_too_small(desk: refdesk.Desk) -> None:
    context = given("Leave is 30 days. " * 30, "Travel " * 300, "Kitchen " * 300)
    context = await desk.step(Answer(budget=300), context, llm=ScriptedLLM([TRUE]))
    assert context.warnings == ("answer: Evidence 2, 3 was left out: the token budget is used up.",)
    assert context.answer is not None
    assert [item.number for item in context.evidence] == [1]
    assert context.answer.evidence == context.evidence


async def test_a_prompt_that_is_too_long_is_tried_with_less(desk: refdesk.Desk) -> None:
    context = given(*(f"{name} leave is granted. " * 60 for name in ("Annual", "Special", "Sick")))
    llm = ScriptedLLM([ContextTooLong("4097 tokens"), ContextTooLong("2049 tokens"), TRUE])
    context = await desk.step(Answer(), context, llm=llm)
    assert context.error is None
    assert len(llm.asked) == 3
    assert [asked[-1].text.count("</source>") for asked in llm.asked] == [3, 1, 1]
    assert len(llm.asked[2][-1].text) < len(llm.asked[1][-1].text)
    assert any("too long for the model" in warning for warning in context.warnings)
    assert any("Evidence 2, 3 was left out" in warning for warning in context.warnings)


async def test_a_prompt_that_stays_too_long_is_an_error(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([ContextTooLong("4097 tokens")])
    context = await desk.step(Answer(), given("Leave is 30 days. " * 500), llm=llm)
    assert isinstance(context.error, ContextTooLong)
    assert 2 < len(llm.asked) < 9
    short = ScriptedLLM([ContextTooLong("9 tokens")])
    context = await desk.step(Answer(), given("Leave is 30 days."), llm=short)
    assert isinstance(context.error, ContextTooLong)
    assert len(short.asked) == 1


async def test_a_prompt_of_ones_own_is_given_what_fits(desk: refdesk.Desk) -> None:
    context = given("Leave " * 60, "Travel " * 200, "Short one.", "Also short.")
    llm = ScriptedLLM([ContextTooLong("long"), "Short [[2]], long [[1]]."])
    step = Answer(prompt=lambda question, hits: " ".join(hit.title for hit in hits))
    after = await desk.step(step, context, llm=llm)
    assert [asked[0].text for asked in llm.asked] == ["leave travel short also", "leave"]
    assert after.answer is not None
    assert after.answer.text == "Short, long [1]."
    assert [item.hit.title for item in after.evidence] == ["leave"]


async def test_markers_of_a_template_are_those_of_its_evidence(desk: refdesk.Desk) -> None:
    context = given("One is first.", "Two is second.")
    context = context.evolve(evidence=tuple(_renumbered(context.hits)))
    llm = ScriptedLLM(["Second [[2]]."])
    for step in (Answer(prompt="{hits}"), Answer(answerer=lambda question, hits: "Second [[2]].")):
        after = await desk.step(step, context, llm=llm)
        assert after.answer is not None
        assert [one.source_id for one in after.answer.citations] == ["two"]


def _renumbered(hits: Sequence[Hit]) -> Iterator[refdesk.Evidence]:
    return (refdesk.Evidence(number, hit) for number, hit in zip((1, 5), hits, strict=True))


async def test_notes_are_shown_in_place_of_the_evidence(desk: refdesk.Desk) -> None:
    context = given("Leave is 30 days.", "Travel " * 900)
    context = context.evolve(distilled="Leave is 30 days [[1]]. Trains only [[2]].")
    llm = ScriptedLLM(["Trains [[2]]."])
    after = await desk.step(Answer(budget=200), context, llm=llm)
    assert "Trains only [[2]]." in llm.asked[0][-1].text
    assert "<source" not in llm.asked[0][-1].text
    assert after.answer is not None
    assert (after.answer.text, after.warnings) == ("Trains [1].", ())
    assert after.answer.citations[0].source_id == "travel"


async def test_a_long_history_leaves_room_for_the_evidence(desk: refdesk.Desk) -> None:
    history = [
        Turn("user", "word " * 3000),
        Turn("assistant", "ok"),
        Turn("user", "Hi"),
        Turn("assistant", "Ho"),
    ]
    llm = ScriptedLLM([TRUE])
    context = await desk.step(Answer(), await found(desk, history=history), llm=llm)
    assert [message.text for message in llm.asked[0][1:-1]] == ["Hi", "Ho"]
    assert context.warnings == (
        "answer: The 1 oldest of the earlier turns were left out: they are too long.",
    )
    assert context.answer is not None
    assert context.answer.citations
