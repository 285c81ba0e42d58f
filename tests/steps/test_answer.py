"""`answer`: texts, refusals, prompts, what a model is shown, what is left out, what fails."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from tests.steps.answers import QUESTION, TRUE, found, streamed

import refdesk
from refdesk.context import Answer as Answered
from refdesk.context import Verdict
from refdesk.documents import Hit
from refdesk.errors import LLMError, StepError
from refdesk.events import Event, Token
from refdesk.llm import Message
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Cite, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize("with_model", [True, False])
async def test_zone_none_asks_nobody(desk: refdesk.Desk, with_model: bool) -> None:
    llm = ScriptedLLM([TRUE]) if with_model else None
    context = (await found(desk)).evolve(zone="none")
    for step in (Answer(), Answer(self_correct=True), Answer(answerer=lambda question, hits: 1 / 0)):
        after = await desk.step(step, context, llm=llm)
        assert after.answer is not None
        assert (after.answer.refusal, after.answer.citations) == ("below_threshold", ())
    assert llm is None or llm.asked == []


async def test_answerers_of_ones_own_where_there_are_no_hits(desk: refdesk.Desk) -> None:
    step = Answer(answerer=lambda question, hits: f"{len(hits)} hits")
    unsearched = await desk.start(QUESTION)
    nothing = await desk.step(Search(threshold=0.999), await desk.start("zyxgrk?"))
    texts = [
        str((await desk.step(step, context)).answer)
        for context in (unsearched, nothing, nothing.evolve(skip_retrieval=True))
    ]
    assert texts == ["0 hits", "I found nothing about this in the documents.", "0 hits"]


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
    answer, text, context = await streamed(desk, Search(), Answer(answerer=lambda question, hits: whole))
    assert text == answer.text == "Whole."
    assert (answer.question, answer.evidence) == (QUESTION, context.evidence)


async def test_pieces_of_a_plain_generator_do_not_hold_up_the_loop(desk: refdesk.Desk) -> None:
    threads = set()

    def slowly(question: str, hits: Sequence[Hit]) -> Iterator[str]:
        for piece in ("Thirty ", "days [[1]]."):
            threads.add(threading.get_ident())
            yield piece

    answer, text, _ = await streamed(desk, Search(), Answer(answerer=slowly))
    assert text == answer.text == "Thirty days [1]."
    assert threading.get_ident() not in threads


async def test_pieces_end_when_nobody_listens(desk: refdesk.Desk) -> None:
    closed = []

    async def endless(question: str, hits: Sequence[Hit]) -> AsyncIterator[str]:
        try:
            while True:
                yield "More. "
                await asyncio.sleep(0)
        finally:
            closed.append(True)

    stream = desk.stream(QUESTION, pipeline=Search() | Answer(answerer=endless))
    async for event in stream:
        if isinstance(event, Token):
            break
    await stream.aclose()
    assert closed == [True]


async def test_an_answerer_whose_own_model_fails(desk: refdesk.Desk) -> None:
    def failing(question: str, hits: Sequence[Hit]) -> str:
        raise LLMError("down")

    context = await desk.step(Answer(answerer=failing), await found(desk))
    assert isinstance(context.error, LLMError)


@pytest.mark.parametrize(
    "nonsense",
    [None, "", "  ", "[[9]]", 5, {"a": 1}, {"a"}, [1, 2], [], b"text", Answered(question="?", text=" ")],
)
async def test_nonsense_is_an_error(desk: refdesk.Desk, nonsense: Any) -> None:
    context = await desk.step(Answer(answerer=lambda question, hits: nonsense, id="mine"), await found(desk))
    assert isinstance(context.error, StepError)
    assert context.error.step == "mine"
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
    history = [
        ("user", "Hello"),
        ("assistant", "Good day"),
        ("user", "Leave?"),
        {"role": "assistant", "content": "30 days [1][2]."},
    ]
    step = Answer(instructions="Be formal.", language="Latin", plain_language=True, history=3)
    await desk.step(step, await found(desk, history=history), llm=llm)
    system, *before, asked = llm.asked[0]
    assert "Be formal." in system.text
    assert "Latin" in system.text
    assert "plain language" in system.text
    assert [(one.role, one.text) for one in before] == [("user", "Leave?"), ("assistant", "30 days.")]
    assert QUESTION in asked.text


async def test_thoughts_are_not_shown(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([["<thi", "nk>Let me see [[1]].</th", "ink>\n\n", "Thirty [[1]]."]])
    answer, text, _ = await streamed(desk, Search(), Answer(), llm=llm)
    assert text == answer.text == "Thirty [1]."
    context = await desk.step(Answer(), await found(desk), llm=ScriptedLLM(["<think>only this"]))
    assert isinstance(context.error, LLMError)


async def test_what_a_review_rejected_is_told(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([TRUE])
    rejected = (await found(desk)).evolve(verdict=Verdict("reject", "It names no source."))
    await desk.step(Answer(), rejected, llm=llm)
    await desk.step(Answer(), (await found(desk)).evolve(verdict=Verdict("pass", "Fine.")), llm=llm)
    system, asked = llm.asked[0]
    assert "\n> It names no source.\n" in asked.text
    assert "It names no source." not in system.text
    assert "Fine." not in "".join(message.text for message in llm.asked[1])


async def test_what_has_no_effect_without_a_model_is_said(desk: refdesk.Desk) -> None:
    context = await desk.step(Answer(self_correct=True), await found(desk))
    assert context.answer is not None
    assert context.answer.model == "extractive"
    assert "no effect" in context.warnings[0]


async def test_options_reach_the_model_and_no_other_step(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([TRUE])
    await desk.step(Answer(temperature=0.5, max_tokens=77), await found(desk), llm=llm)
    await desk.step(Answer(), await found(desk), llm=llm)
    assert [(one.temperature, one.max_tokens) for one in llm.options] == [(0.5, 77), (None, 1024)]


async def test_a_failure_after_the_first_token_surfaces(desk: refdesk.Desk) -> None:
    class Breaking(ScriptedLLM):
        async def stream(self, messages: tuple[Message, ...], options: Any = None) -> Any:
            yield "Employees get 30 days "
            yield "of leave"
            raise LLMError("cut off")

    events: list[Event] = []
    steps = Search() | Answer(on_model_error="quotes", on_error="continue")
    context = await desk.run(steps, QUESTION, llm=Breaking([""]), on_event=events.append)
    assert isinstance(context.error, LLMError)
    assert context.answer is None
    assert "".join(one.text for one in events if isinstance(one, Token)).startswith("Employees get 30 days")


async def test_quoting_in_place_of_a_model_that_is_down(desk: refdesk.Desk) -> None:
    step = Answer(on_model_error="quotes")
    answer, text, _ = await streamed(desk, Search(), step, llm=ScriptedLLM([LLMError("down")]))
    assert answer.model == "extractive"
    assert answer.text == text
    assert "The model failed, so the documents are quoted" in answer.warnings[0]
    assert answer.degraded == ("answer.model",)
    llm = ScriptedLLM([LLMError("down")])
    answer, _, _ = await streamed(desk, Search(), Answer(on_model_error="quotes", self_correct=True), llm=llm)
    assert answer.model == "extractive"
    assert len(llm.asked) == 1


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


@pytest.mark.parametrize(
    "options",
    [
        {"self_correct": True},
        {"on_model_error": "sources"},
        {"model_timeout": 5},
        {"show": ("category",)},
        {"prompt": "{question}"},
    ],
)
def test_options_that_an_answerer_of_ones_own_does_not_heed(options: dict[str, Any]) -> None:
    steps = (Search(), Answer(answerer=Template, **options))
    [problem] = Pipeline(steps).problems()
    assert "of its own" in problem.reason
