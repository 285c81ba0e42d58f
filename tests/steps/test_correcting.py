"""`answer` with `self_correct`: drafts that are judged and written anew."""

import json
from typing import Any

import pytest
from tests.steps.answers import FALSE, TRUE, found, given, streamed

import refdesk
from refdesk.answering.writing import ABSTENTION
from refdesk.context import Correction
from refdesk.errors import LLMError
from refdesk.steps import Answer, Cite, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


def judged(grounded: Any, feedback: str = "") -> str:
    return json.dumps({"grounded": grounded, "feedback": feedback})


async def test_a_draft_that_does_not_hold_is_written_anew(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False, "99 is not there"), TRUE, judged(True)])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), Cite(), llm=llm)
    assert text == answer.text == "Employees get 30 days of leave per year [1]."
    assert context.corrections == (Correction("Employees get 99 days of leave [1].", "99 is not there"),)
    assert context.correction_count == 1
    assert "99 is not there" in llm.asked[2][-1].text
    attempts = [step for step in context.trace if step.path[:2][-1].startswith("self_correct")]
    assert [step.measures["result"] for step in attempts] == ["corrected", "accepted"]
    assert context.usage.requests == 4


async def test_corrections_end(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), FALSE, judged(False), FALSE, judged(False, "still wrong")])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), llm=llm)
    assert context.correction_count == 2
    assert len(llm.asked) == 6
    assert text == answer.text
    assert any("did not hold after 2 corrections" in warning for warning in answer.warnings)
    assert context.corrections[0].feedback != ""


@pytest.mark.parametrize("reply", ["{broken: [}", '{"grounded": "perhaps"}', "yes", LLMError("down")])
async def test_a_draft_that_cannot_be_judged_stays_with_a_warning(desk: refdesk.Desk, reply: Any) -> None:
    llm = ScriptedLLM([TRUE, reply, reply])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), llm=llm)
    assert answer.text == text == "Employees get 30 days of leave per year [1]."
    assert any("could not be checked against the evidence" in warning for warning in answer.warnings)
    assert context.correction_count == 0


async def test_a_model_that_fails_while_correcting_is_an_error(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), LLMError("down")])
    context = await desk.step(Answer(self_correct=True), await found(desk), llm=llm)
    assert isinstance(context.error, LLMError)


async def test_markers_keep_their_meaning_from_draft_to_correction(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM(
        ["Trains [[2]], leave [[1]].", judged(False, "Say first."), "Leave [[1]].", judged(True)]
    )
    context = await desk.step(Answer(self_correct=True), given("Leave is 30 days.", "Trains only."), llm=llm)
    for asked in (llm.asked[1][-1].text, llm.asked[2][-1].text):
        assert "Trains [[2]], leave [[1]]." in asked
    assert context.answer is not None
    assert [one.source_id for one in context.answer.citations] == ["leave"]


async def test_a_correction_is_asked_as_the_draft_was(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False, "99"), TRUE, judged(True)])
    own = Answer(self_correct=True, prompt=lambda question, hits: f"Mine: {hits[0].title}")
    context = await desk.step(own, (await found(desk)).evolve(zone="weak"), llm=llm)
    assert [message.text for message in llm.asked[0]] == ["Mine: leave"]
    assert llm.asked[2][0].text.startswith("Mine: leave\n\nYour draft:\nEmployees get 99 days")
    assert context.answer is not None
    assert context.answer.zone == "weak"
    llm = ScriptedLLM([FALSE, judged(False, "99"), TRUE, judged(True)])
    history = [("user", "Hello"), ("assistant", "Hi")]
    await desk.step(
        Answer(self_correct=True, instructions="Be brief."), await found(desk, history=history), llm=llm
    )
    assert [message.text for message in llm.asked[2][1:3]] == ["Hello", "Hi"]
    assert "Be brief." in llm.asked[2][0].text


async def test_a_correction_that_abstains_is_not_judged_again(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False, "99"), ABSTENTION])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), llm=llm)
    assert (answer.refusal, text) == ("abstained", ABSTENTION)
    assert (len(llm.asked), context.correction_count) == (3, 1)


async def test_no_corrections_are_allowed(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False, "99")])
    answer, text, context = await streamed(
        desk, Search(), Answer(self_correct=True, max_corrections=0), llm=llm
    )
    assert answer.text == text == "Employees get 99 days of leave [1]."
    assert (len(llm.asked), context.correction_count) == (2, 0)
    assert any("did not hold after 0 corrections" in warning for warning in answer.warnings)


async def test_nothing_is_shown_while_a_draft_may_be_replaced(desk: refdesk.Desk) -> None:
    shown_before_the_end: list[int] = []
    tokens: list[str] = []

    def noting(reply: str) -> Any:
        def script(messages: Any) -> str:
            shown_before_the_end.append(len(tokens))
            return reply

        return script

    llm = ScriptedLLM([noting(FALSE), noting(judged(False, "99")), noting(TRUE), noting(judged(True))])
    steps = Search() | Answer(self_correct=True)
    await desk.run(
        steps,
        "Leave?",
        llm=llm,
        on_event=lambda event: (
            tokens.append(getattr(event, "text", "")) if isinstance(event, refdesk.Token) else None
        ),
    )
    assert shown_before_the_end == [0, 0, 0, 0]
    assert "".join(tokens) == "Employees get 30 days of leave per year [1]."


async def test_a_refusal_is_not_judged(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([ABSTENTION])
    context = await desk.step(Answer(self_correct=True), await found(desk), llm=llm)
    assert len(llm.asked) == 1
    assert context.correction_count == 0
