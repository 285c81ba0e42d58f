"""`review`: what passes, what is improved, what is rejected, and what a reader sees of it."""

import json
from typing import Any

import pytest
from tests.steps.answers import FALSE, QUESTION, TRUE, given, streamed

import refdesk
from refdesk.context import Answer as Answered
from refdesk.context import Context, Verdict
from refdesk.errors import LLMError, StepError
from refdesk.events import Event, Token
from refdesk.pipeline import Pipeline, Repeat
from refdesk.steps import Answer, Cite, Ground, Review, Search
from refdesk.support import Grounding
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


def verdict(decision: str, **more: str) -> str:
    return json.dumps({"decision": decision, **more})


@pytest.mark.parametrize(
    ("reply", "text", "decision"),
    [
        (verdict("pass"), "Employees get 99 days of leave [1].", "pass"),
        (verdict("improve", improved=TRUE), "Employees get 30 days of leave per year [1].", "improve"),
        (verdict("improve", improved=" "), "Employees get 99 days of leave [1].", "pass"),
        (verdict("reject", reason="no"), Review().rejection, "reject"),
        ("cannot say", Review().rejection, "reject"),
    ],
)
async def test_review(desk: refdesk.Desk, reply: str, text: str, decision: str) -> None:
    llm = ScriptedLLM([FALSE, reply, reply])
    answer, shown, context = await streamed(desk, Search(), Answer(), Review(), Cite(), llm=llm)
    assert shown == answer.text == text
    assert context.verdict is not None
    assert context.verdict.decision == decision
    assert (answer.refusal == "review_rejected") is (decision == "reject")
    assert bool(answer.citations) is (decision != "reject")
    assert "[[1]]" in llm.asked[1][-1].text


@pytest.mark.parametrize(("unreadable", "shown"), [("pass", "Employees get 99"), ("stop", "")])
async def test_a_verdict_that_cannot_be_read(desk: refdesk.Desk, unreadable: Any, shown: str) -> None:
    llm = ScriptedLLM([FALSE, "?", "?"])
    context = await desk.run(Search() | Answer() | Review(unreadable=unreadable), QUESTION, llm=llm)
    if shown:
        assert str(context.answer).startswith(shown)
        assert any("verdict could not be read" in warning for warning in context.warnings)
    else:
        assert isinstance(context.error, LLMError)


@pytest.mark.parametrize(
    ("returned", "decision"),
    [
        (True, "pass"),
        (False, "reject"),
        ("pass", "pass"),
        (Verdict("reject", "x"), "reject"),
        (("improve", "B."), "improve"),
    ],
)
async def test_reviewers_of_ones_own(desk: refdesk.Desk, returned: Any, decision: str) -> None:
    steps = Search() | Answer() | Review(reviewer=lambda question, answer, evidence: returned)
    context = await desk.run(steps, QUESTION)
    assert context.verdict is not None
    assert context.verdict.decision == decision


@pytest.mark.parametrize("returned", [None, 5, "good", ("improve", ""), ("improve", 3)])
async def test_a_reviewer_that_returns_nonsense(desk: refdesk.Desk, returned: Any) -> None:
    steps = Search() | Answer() | Review(reviewer=lambda question, answer, evidence: returned)
    assert isinstance((await desk.run(steps, QUESTION)).error, StepError)


async def answered(desk: refdesk.Desk, text: str = "Trains [[2]], leave [[1]].") -> Context:
    """Return a context whose answer numbers its citations otherwise than the evidence."""
    context = given("Leave is 30 days.", "Trains only. See https://x.example/a.")
    return await desk.step(Answer(), context, llm=ScriptedLLM([text]))


async def test_markers_of_an_improved_text_keep_their_meaning(desk: refdesk.Desk) -> None:
    context = await answered(desk)
    assert str(context.answer) == "Trains [1], leave [2]."
    texts = {
        "Just trains [1].": ["trains"],
        "Just leave [2]!": ["leave"],
        "Leave [[1]], trains [1].": ["leave", "trains"],
        "Unknown [7].": [],
    }
    for text, sources in texts.items():
        after = await desk.step(Review(reviewer=lambda *_, text=text: ("improve", text)), context)
        assert after.answer is not None
        assert [one.source_id for one in after.answer.citations] == sources
    llm = ScriptedLLM([verdict("improve", improved="Only trains [2].")])
    after = await desk.step(Review(), context, llm=llm)
    assert "Answer:\n> Trains [[2]], leave [[1]]." in llm.asked[0][-1].text
    assert after.answer is not None
    assert (after.answer.text, after.answer.citations[0].source_id) == ("Only trains [1].", "trains")


async def test_an_improved_text_is_written_by_the_same_rules(desk: refdesk.Desk) -> None:
    reply = verdict("improve", improved="See [this](https://evil.example), https://x.example/a [[2]] [[8]].")
    after = await desk.step(Review(), await answered(desk), llm=ScriptedLLM([reply]))
    assert str(after.answer) == "See this, `https://x.example/a` [1]."
    assert any("Removed 1 links" in warning for warning in after.warnings)
    plain = verdict("improve", improved="Without a source.")
    after = await desk.step(Review(), await answered(desk), llm=ScriptedLLM([plain]))
    assert after.warnings == ("review: The answer cites no evidence.",)


async def test_an_improved_text_of_which_nothing_is_left(desk: refdesk.Desk) -> None:
    before = await answered(desk)
    reply = verdict("improve", improved=" [[9]] ", reason="better")
    after = await desk.step(Review(), before, llm=ScriptedLLM([reply]))
    assert after.answer == before.answer
    assert after.verdict == Verdict("pass", "better")
    assert any("gave no better one" in warning for warning in after.warnings)
    own = await desk.step(Review(reviewer=lambda *_: ("improve", "[[9]]"), id="gate"), before)
    assert isinstance(own.error, StepError)
    assert own.error.step == "gate"


@pytest.mark.parametrize("word", ["PASS", " Pass "])
async def test_verdicts_in_other_letters(desk: refdesk.Desk, word: str) -> None:
    llm = ScriptedLLM([verdict(word)])
    after = await desk.step(Review(), await answered(desk), llm=llm)
    assert after.verdict == Verdict("pass")
    assert len(llm.asked) == 1


async def test_a_verdict_is_mended_once(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM(["{decision: [}", verdict("pass")])
    after = await desk.step(Review(), await answered(desk), llm=llm)
    assert (after.verdict, len(llm.asked)) == (Verdict("pass"), 2)


async def test_refusals_are_not_reviewed(desk: refdesk.Desk) -> None:
    steps = Pipeline((Search(threshold=0.999), Answer(), Review()))
    llm = ScriptedLLM([verdict("reject")])
    events: list[Event] = [e async for e in desk.stream("zyxgrk?", pipeline=steps, llm=llm)]
    assert llm.asked == []
    assert "I found nothing" in "".join(one.text for one in events if isinstance(one, Token))


async def test_an_answer_without_evidence_is_held_against_the_rules(desk: refdesk.Desk) -> None:
    context = (await desk.start("2 + 2?")).evolve(answer=Answered(question="2 + 2?", text="4"))
    llm = ScriptedLLM([verdict("pass")])
    await desk.step(Review(rules="Be polite."), context, llm=llm)
    system, asked = llm.asked[0]
    assert "in the evidence" not in system.text
    assert "<evidence>" not in asked.text
    assert "Be polite." in asked.text


async def test_prompts_rules_and_models_of_ones_own(desk: refdesk.Desk) -> None:
    run, own = ScriptedLLM(["never"]), ScriptedLLM([verdict("pass")])
    context = await answered(desk)
    await desk.step(Review(llm=own, rules="No trains."), context, llm=run)
    await desk.step(Review(llm=own, prompt="{question} | {answer} | {hits}"), context, llm=run)
    assert run.asked == []
    assert "Rules of the house:\nNo trains." in own.asked[0][-1].text
    assert own.asked[1][0].text.startswith(f"{QUESTION} | Trains [1], leave [2]. | <evidence>")


async def test_a_model_that_is_down_leaves_the_answer(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([TRUE, LLMError("down")])
    answer, text, context = await streamed(desk, Search(), Answer(), Review(on_error="continue"), llm=llm)
    assert answer.text == text == "Employees get 30 days of leave per year [1]."
    assert context.verdict is None
    assert "down" in answer.warnings[0]
    stopped = await desk.run(Search() | Answer() | Review(), QUESTION, llm=ScriptedLLM([TRUE, LLMError("x")]))
    assert isinstance(stopped.error, LLMError)


async def test_a_rejected_answer_is_written_again(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, verdict("reject", reason="99 is wrong"), TRUE, verdict("pass")])
    steps = Repeat(steps=(Answer(), Review()), until="verdict=pass")
    answer, text, _ = await streamed(desk, Search(), steps, Cite(), llm=llm)
    assert answer.text == text == "Employees get 30 days of leave per year [1]."
    assert answer.refusal is None
    assert "99 is wrong" in llm.asked[2][-1].text


def test_a_rejection_says_something() -> None:
    [problem] = Pipeline((Answer(), Review(rejection=" "))).problems()
    assert "blank" in problem.reason


OBJECTION = (
    '"Employees get 99 days of leave." contradicts the evidence, which says: '
    '"Employees get 30 days of leave per year." [[1]].'
)


async def test_a_reviewer_is_told_which_statements_do_not_hold(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, verdict("pass")])
    context = await desk.run(Search() | Answer() | Review(grounder="lexical"), QUESTION, llm=llm)
    assert f"A check of its statements found:\n> {OBJECTION}\n" in llm.asked[1][-1].text
    assert context.answer is not None
    assert context.grounding is not None
    assert context.answer.grounding == context.grounding
    held = ScriptedLLM([TRUE, verdict("pass")])
    await desk.run(Search() | Answer() | Review(grounder="lexical"), QUESTION, llm=held)
    assert "A check of its statements" not in held.asked[1][-1].text


async def test_a_review_uses_the_grounding_of_an_earlier_step(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, verdict("pass")])
    steps = Search() | Answer(self_correct=True, grounder="lexical", max_corrections=0) | Review()
    context = await desk.run(steps, QUESTION, llm=llm)
    assert OBJECTION in llm.asked[1][-1].text
    assert context.grounding is not None
    assert context.grounding.grounder == "lexical"


async def test_what_the_evidence_does_not_hold_is_rejected_without_asking(desk: refdesk.Desk) -> None:
    review = Review(grounder="lexical", reject_below=0.5)
    llm = ScriptedLLM([FALSE])
    answer, text, context = await streamed(desk, Search(), Answer(), review, Cite(), Ground(), llm=llm)
    assert text == answer.text == Review().rejection
    assert (answer.refusal, len(llm.asked)) == ("review_rejected", 1)
    assert context.verdict is not None
    assert context.verdict.reason == (
        f"The evidence holds 0.00 of the answer, and at least 0.50 is asked for. {OBJECTION}"
    )
    assert answer.grounding is not None
    assert (answer.grounding.score, answer.grounding.claims) == (None, ())
    held = ScriptedLLM([TRUE, verdict("pass")])
    assert (await desk.run(Search() | Answer() | review, QUESTION, llm=held)).verdict == Verdict("pass")


async def test_a_gate_that_asks_no_model_at_all(desk: refdesk.Desk) -> None:
    gate = Review(grounder="lexical", reject_below=0.5, reviewer=lambda question, answer, evidence: True)
    wrong, right = Answer(answerer=lambda question, hits: FALSE), Answer(answerer=lambda question, hits: TRUE)
    for write, refused in ((wrong, "review_rejected"), (right, None)):
        assert (await desk.ask(QUESTION, pipeline=Search() | write | gate)).refusal == refused


@pytest.mark.parametrize("grounder", [None, lambda answer, hits: Grounding(score=None)])
async def test_without_a_score_nothing_is_rejected_by_it(desk: refdesk.Desk, grounder: Any) -> None:
    llm = ScriptedLLM([TRUE, verdict("pass")])
    steps = Search() | Answer() | Review(grounder=grounder, reject_below=0.9)
    context = await desk.run(steps, QUESTION, llm=llm)
    assert context.verdict == Verdict("pass")
    assert any("`reject_below` had no effect" in warning for warning in context.warnings)


async def test_a_better_text_has_no_grounding_yet(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([FALSE, verdict("improve", improved=TRUE)])
    steps = Search() | Answer() | Review(grounder="lexical")
    context = await desk.run(steps, QUESTION, llm=llm)
    assert context.answer is not None
    assert (context.answer.grounding, context.grounding) == (None, None)
    context = await desk.run(
        steps | Ground(), QUESTION, llm=ScriptedLLM([FALSE, verdict("improve", improved=TRUE)])
    )
    assert context.grounding is not None
    assert context.grounding.score == 1.0


def test_a_grounder_that_is_none_is_found_before() -> None:
    [problem] = Pipeline((Answer(), Review(grounder="lexcal"))).problems()
    assert "There is no grounder 'lexcal'" in problem.reason


def test_a_judge_needs_a_model_also_beside_a_reviewer() -> None:
    gate = Review(grounder="judge", reviewer=lambda question, answer, evidence: True)
    assert [one.step for one in Pipeline((Search(), Answer(), gate)).problems(llm=False)] == ["review"]
