"""`answer` with `self_correct`: drafts that are judged and written anew."""

import json
from typing import Any

import pytest
from tests.steps.answers import FALSE, QUESTION, TRUE, found, given, streamed

import refdesk
from refdesk.answering.writing import ABSTENTION
from refdesk.context import Correction
from refdesk.errors import LLMError
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Cite, Ground, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


WRONG = (
    '"Employees get 99 days of leave" contradicts the evidence, which says: '
    '"Employees get 30 days of leave per year." [[1]].'
)


def judged(holds: bool, claim: str = "") -> str:
    """Return what a judge replies of the one claim of a draft."""
    made = "Employees get 30 days of leave per year" if holds else "Employees get 99 days of leave"
    verdict = "supported" if holds else "contradicted"
    return json.dumps({"claims": [{"claim": claim or made, "verdict": verdict, "sources": [1]}]})


async def test_a_draft_that_does_not_hold_is_written_anew(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), TRUE, judged(True)])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), Cite(), llm=llm)
    assert text == answer.text == "Employees get 30 days of leave per year [1]."
    assert context.corrections == (Correction("Employees get 99 days of leave [1].", WRONG),)
    assert context.correction_count == 1
    assert f"> {WRONG}" in llm.asked[2][-1].text
    attempts = [step for step in context.trace if step.path[:2][-1].startswith("self_correct")]
    assert [step.measures["result"] for step in attempts] == ["corrected", "accepted"]
    assert context.usage.requests == 4


async def test_corrections_end(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), FALSE, judged(False), FALSE, judged(False)])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), llm=llm)
    assert context.correction_count == 2
    assert len(llm.asked) == 6
    assert text == answer.text
    assert any("did not hold after 2 corrections" in warning for warning in answer.warnings)
    assert context.corrections[0].feedback != ""


@pytest.mark.parametrize(
    "reply", ["{broken: [}", '{"grounded": true}', "yes", '{"claims": []}', LLMError("down")]
)
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
        ["Trains [[2]], leave [[1]].", judged(False, "Trains"), "Leave [[1]].", judged(True, "Leave")]
    )
    context = await desk.step(Answer(self_correct=True), given("Leave is 30 days.", "Trains only."), llm=llm)
    assert "> Trains, leave." in llm.asked[1][-1].text
    assert "Trains [[2]], leave [[1]]." in llm.asked[2][-1].text
    assert context.answer is not None
    assert [one.source_id for one in context.answer.citations] == ["leave"]


async def test_a_correction_is_asked_as_the_draft_was(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), TRUE, judged(True)])
    own = Answer(self_correct=True, prompt=lambda question, hits: f"Mine: {hits[0].title}")
    context = await desk.step(own, (await found(desk)).evolve(zone="weak"), llm=llm)
    assert [message.text for message in llm.asked[0]] == ["Mine: leave"]
    assert llm.asked[2][0].text.startswith("Mine: leave\n\nA draft of the answer:\n> Employees get 99 days")
    assert context.answer is not None
    assert context.answer.zone == "weak"
    llm = ScriptedLLM([FALSE, judged(False), TRUE, judged(True)])
    history = [("user", "Hello"), ("assistant", "Hi")]
    await desk.step(
        Answer(self_correct=True, instructions="Be brief."), await found(desk, history=history), llm=llm
    )
    assert [message.text for message in llm.asked[2][1:3]] == ["Hello", "Hi"]
    assert "Be brief." in llm.asked[2][0].text


async def test_a_correction_that_abstains_is_not_judged_again(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), ABSTENTION])
    answer, text, context = await streamed(desk, Search(), Answer(self_correct=True), llm=llm)
    assert (answer.refusal, text) == ("abstained", ABSTENTION)
    assert (len(llm.asked), context.correction_count) == (3, 1)


async def test_no_corrections_are_allowed(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False)])
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

    llm = ScriptedLLM([noting(FALSE), noting(judged(False)), noting(TRUE), noting(judged(True))])
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


async def test_the_last_grounding_is_the_answers_and_is_not_made_twice(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False), TRUE, judged(True)])
    steps = Search() | Answer(self_correct=True) | Cite() | Ground(grounder="judge")
    context = await desk.run(steps, QUESTION, llm=llm)
    assert len(llm.asked) == 4
    assert context.answer is not None
    assert context.grounding is not None
    assert context.answer.grounding == context.grounding
    assert (context.grounding.score, context.grounding.grounder) == (1.0, "judge")
    assert [one.support for one in context.grounding.claims] == ["supported"]
    assert [one.support for one in (*context.citations, *context.answer.citations)] == ["supported"] * 2
    other = ScriptedLLM([FALSE, judged(False), TRUE, judged(True)])
    context = await desk.run(Search() | Answer(self_correct=True) | Ground(), QUESTION, llm=other)
    assert context.grounding is not None
    assert context.grounding.grounder == "lexical"


async def test_a_draft_that_was_given_up_has_its_grounding(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, judged(False)])
    context = await desk.run(Search() | Answer(self_correct=True, max_corrections=0), QUESTION, llm=llm)
    assert context.answer is not None
    assert context.answer.grounding is not None
    assert context.answer.grounding.score == 0.0
    assert context.answer.citations[0].support == "contradicted"


@pytest.mark.parametrize("grounder", ["lexical", lambda answer, hits: 0.0 if "99" in answer else 1.0])
async def test_drafts_are_checked_by_any_grounder(desk: refdesk.Desk, grounder: Any) -> None:
    llm = ScriptedLLM([FALSE, TRUE])
    context = await desk.run(Search() | Answer(self_correct=True, grounder=grounder), QUESTION, llm=llm)
    assert str(context.answer) == "Employees get 30 days of leave per year [1]."
    assert (len(llm.asked), context.correction_count) == (2, 1)


def failing(answer: str, hits: Any) -> float:
    raise OSError("no route")


@pytest.mark.parametrize("grounder", [failing, lambda answer, hits: "fine", lambda answer, hits: None])
async def test_a_grounder_that_fails_leaves_the_draft(desk: refdesk.Desk, grounder: Any) -> None:
    steps = Search() | Answer(self_correct=True, grounder=grounder)
    context = await desk.run(steps, QUESTION, llm=ScriptedLLM([FALSE]))
    assert context.error is None
    assert str(context.answer) == "Employees get 99 days of leave [1]."
    assert context.grounding is None
    assert any("could not be checked against the evidence" in warning for warning in context.warnings)


async def test_a_new_answer_has_not_the_grounding_of_the_old_one(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, TRUE])
    context = await desk.run(Search() | Answer() | Ground() | Answer(id="again"), QUESTION, llm=llm)
    assert context.error is None
    assert context.grounding is None


def test_a_grounder_that_is_none_is_found_before() -> None:
    [problem] = Pipeline((Search(), Answer(grounder="judgge"))).problems()
    assert "Did you mean 'judge'?" in problem.remedy
