"""`answer`, alone and with `review` and `cite`: texts, refusals, corrections, citations."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

import refdesk
from refdesk.context import Answer as Answered
from refdesk.context import Context, Correction, Turn, Verdict
from refdesk.documents import Hit
from refdesk.errors import ContextTooLong, LLMError, StepError
from refdesk.events import Citations, Done, Event, Token
from refdesk.pipeline import Pipeline, Step
from refdesk.steps import Answer, Cite, Review, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

QUESTION = "How many days of leave do employees get?"
TRUE = "Employees get 30 days of leave per year [[1]]."
FALSE = "Employees get 99 days of leave [[1]]."


async def found(desk: refdesk.Desk, **options: Any) -> Context:
    return await desk.step(Search(top_k=3), await desk.start(QUESTION, **options))


async def streamed(desk: refdesk.Desk, *steps: Step, llm: Any = None) -> tuple[Answered, str, Context]:
    """Return the answer of a pipeline, the tokens joined, and the context."""
    events: list[Event] = [e async for e in desk.stream(QUESTION, pipeline=Pipeline(steps), llm=llm)]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.context is not None
    return done.answer, "".join(one.text for one in events if isinstance(one, Token)), done.context


async def test_without_a_model_the_documents_are_quoted(desk: refdesk.Desk) -> None:
    answer, text, _ = await streamed(desk, Search(), Answer(), Cite())
    assert (answer.model, answer.text) == ("extractive", text)
    assert "30 days of leave" in text
    assert answer.citations[0].source_id == "leave"


async def test_a_model_writes_and_the_code_cites(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([["Employees get 30 ", "days of leave per year [", "[1]", "]."]])
    answer, text, context = await streamed(desk, Search(), Answer(), Cite(), llm=llm)
    assert text == answer.text == "Employees get 30 days of leave per year [1]."
    assert context.citations == answer.citations
    assert context.evidence == context.context_used == answer.evidence


async def test_no_hits_call_no_model(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([TRUE])
    context = await desk.step(Answer(), await desk.start(QUESTION), llm=llm)
    assert context.answer is not None
    assert context.answer.refusal == "nothing_found"
    assert llm.asked == []


async def test_zone_none_calls_no_model(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([TRUE])
    context = await desk.step(Answer(), (await found(desk)).evolve(zone="none"), llm=llm)
    assert context.answer is not None
    assert (context.answer.refusal, llm.asked) == ("below_threshold", [])


async def test_skipped_retrieval_is_answered_from_knowledge(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM(["It is 4 [[1]], see [that](https://x.example)."])
    context = (await found(desk)).evolve(skip_retrieval=True)
    context = await desk.step(Answer(), context, llm=llm)
    assert context.answer is not None
    assert context.answer.text == "It is 4, see that."
    assert (context.evidence, context.answer.citations) == ((), ())
    assert "30 days" not in "".join(message.text for message in llm.asked[0])
    alone = await desk.step(Answer(), (await desk.start(QUESTION)).evolve(skip_retrieval=True))
    assert alone.answer is not None
    assert alone.answer.refusal == "nothing_found"


class Template:
    def answer(self, question: str, hits: Sequence[Hit]) -> str:
        return f"Based on {len(hits)} sources [[1]]:\n\n{hits[0].chunk.text}\n\nQuestion: {question}"


async def pieces(question: str, hits: Sequence[Hit]) -> AsyncIterator[str]:
    for piece in ("Thirty ", "days [[", "1]]."):
        yield piece


def streaming(question: str, hits: Sequence[Hit]) -> AsyncIterator[str]:
    return pieces(question, hits)


async def test_answerers_of_ones_own(desk: refdesk.Desk) -> None:
    answer, text, _ = await streamed(desk, Search(), Answer(answerer=Template), Cite())
    assert text == answer.text
    assert answer.text.startswith("Based on 3 sources [1]:")
    assert answer.citations[0].source_id == "leave"
    answer, text, _ = await streamed(desk, Search(), Answer(answerer=streaming))
    assert text == answer.text == "Thirty days [1]."
    whole = Answered(question="?", text="Whole.")
    answer, text, _ = await streamed(desk, Search(), Answer(answerer=lambda question, hits: whole))
    assert text == answer.text == "Whole."


@pytest.mark.parametrize("nonsense", [None, "", "  ", 5, {"a": 1}, [1, 2], b"text"])
async def test_nonsense_is_an_error(desk: refdesk.Desk, nonsense: Any) -> None:
    context = await desk.step(Answer(answerer=lambda question, hits: nonsense), await found(desk))
    assert isinstance(context.error, StepError)
    assert context.answer is None


async def test_prompts_and_models_of_ones_own(desk: refdesk.Desk) -> None:
    run, own = ScriptedLLM(["Run."]), ScriptedLLM([TRUE])

    def prompt(question: str, hits: Sequence[Hit]) -> str:
        return f"{question} {len(hits)}"

    context = await desk.step(Answer(llm=own, prompt=prompt), await found(desk), llm=run)
    assert [message.text for message in own.asked[0]] == [f"{QUESTION} 3"]
    assert run.asked == []
    assert context.answer is not None
    assert context.answer.citations
    template = Answer(prompt="Only from this:\n{hits}\nQ: {question}")
    await desk.step(template, await found(desk), llm=own)
    assert own.asked[1][0].text.startswith("Only from this:\n<evidence>")


async def test_rules_language_and_history_reach_the_model(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([TRUE])
    history = [("user", "Hello"), {"role": "assistant", "content": "Good day"}, Turn("user", "Leave?")]
    step = Answer(instructions="Be formal.", language="Latin", plain_language=True, history=2)
    await desk.step(step, await found(desk, history=history), llm=llm)
    system, *before, asked = llm.asked[0]
    assert "Be formal." in system.text
    assert "Latin" in system.text
    assert "plain language" in system.text
    assert [(one.role, one.text) for one in before] == [("assistant", "Good day"), ("user", "Leave?")]
    assert QUESTION in asked.text


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


async def test_thoughts_are_not_shown(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([["<thi", "nk>Let me see [[1]].</th", "ink>\n\n", "Thirty [[1]]."]])
    answer, text, _ = await streamed(desk, Search(), Answer(), llm=llm)
    assert text == answer.text == "Thirty [1]."
    context = await desk.step(Answer(), await found(desk), llm=ScriptedLLM(["<think>only this"]))
    assert isinstance(context.error, LLMError)


async def test_evidence_is_left_out_where_the_window_is_too_small(desk: refdesk.Desk) -> None:
    await desk.ingest_text("Leave " * 400, source_id="big")
    llm = ScriptedLLM([TRUE])
    context = await desk.step(Answer(budget=300), await found(desk), llm=llm)
    assert any("token budget" in warning for warning in context.warnings)


async def test_a_prompt_that_is_too_long_is_tried_with_less(desk: refdesk.Desk) -> None:
    for number in range(3):
        await desk.ingest_text(f"Leave {number} is granted. " * 60, source_id=f"big{number}")
    llm = ScriptedLLM([ContextTooLong("4097 tokens"), TRUE])
    context = await desk.step(Answer(), await found(desk), llm=llm)
    assert context.error is None
    assert len(llm.asked[1][-1].text) < len(llm.asked[0][-1].text)
    assert any("too long for the model" in warning for warning in context.warnings)


async def test_quoting_in_place_of_a_model_that_is_down(desk: refdesk.Desk) -> None:
    step = Answer(extractive_on_failure=True)
    answer, text, _ = await streamed(desk, Search(), step, llm=ScriptedLLM([LLMError("down")]))
    assert answer.model == "extractive"
    assert answer.text == text
    assert "The model failed, so the documents are quoted" in answer.warnings[0]


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
    assert (answer.refusal == "rejected") is (decision == "reject")
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


async def test_citations_are_checked_against_the_documents(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(), await found(desk))
    assert context.answer is not None
    [good, *_] = context.answer.citations
    bad = [
        refdesk.Citation(**{**{f: getattr(good, f) for f in good.__slots__}, **change})
        for change in (
            {"quote": "99 days"},
            {"start": good.start + 1},
            {"chunk_id": "unknown"},
            {"quote": ""},
        )
    ]
    events: list[Event] = []
    step = Cite(citer=lambda answer, evidence: [good, *bad])
    checked = await desk.step(step, context, on_event=events.append)
    assert checked.citations == (good,)
    assert len(checked.warnings) == len(bad)
    assert checked.trace[-1].measures == {"citations": 1, "dropped": 4}
    assert [one for one in events if isinstance(one, Citations)] == [Citations((good,))]


async def test_hits_from_elsewhere_are_checked_against_their_own_text(desk: refdesk.Desk) -> None:
    hits = [
        {"id": "1", "text": "Leave is thirty days.", "title": "Intranet", "url": "https://in.example/leave"}
    ]
    steps = Search(searcher=lambda question, collection: hits) | Answer() | Cite()
    context = await desk.run(steps, QUESTION, llm=ScriptedLLM(["Leave is thirty days [[1]]."]))
    [citation] = context.citations
    assert (citation.quote, citation.url) == ("Leave is thirty days.", "https://in.example/leave")


@pytest.mark.parametrize("returned", [None, "x", [1]])
async def test_a_citer_that_returns_nonsense(desk: refdesk.Desk, returned: Any) -> None:
    steps = Search() | Answer() | Cite(citer=lambda answer, evidence: returned)
    assert isinstance((await desk.run(steps, QUESTION)).error, StepError)


async def test_questions_at_once_do_not_mix(desk: refdesk.Desk) -> None:
    def model(prompt: str) -> str:
        number = prompt.rpartition("number ")[2].split()[0]
        return f"It is {number} [[1]]."

    pipeline = Search() | Answer() | Cite()

    async def ask(number: int) -> str:
        answer = await desk.ask(f"What about leave number {number}", pipeline=pipeline, llm=model)
        return answer.text

    texts = await asyncio.gather(*(ask(number) for number in range(30)))
    assert texts == [f"It is {number} [1]." for number in range(30)]


def test_correcting_is_for_models() -> None:
    steps = (Search(), Answer(answerer=Template, self_correct=True))
    [problem] = Pipeline(steps).problems()
    assert "answerer of its own" in problem.reason
