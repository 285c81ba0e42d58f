"""`decompose`: several questions in one, each searched."""

from typing import Any

import anyio
import pytest
from tests.steps.querying import ASKED, DOWN, QUESTION, after, assert_passed_over, prompt_of, replied, traced

from refdesk.context import Context
from refdesk.errors import LimitReached, ReplyUnreadable, StepError
from refdesk.llm import Message
from refdesk.pipeline import Pipeline
from refdesk.steps import Decompose, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
COMPARE = Context(question="Compare Elixir and Erlang")
PARTS = ("What is Elixir?", "What is Erlang?")
REPLY = '{"sub_questions": ["What is Elixir?", "What is Erlang?"]}'


class Splitter:
    """Splits at words."""

    def __init__(self, at: str = " and ") -> None:
        self.at = at

    def decompose(self, question: str) -> list[str]:
        return [part.strip() for part in question.split(self.at)]


class Later:
    async def decompose(self, question: str) -> tuple[str, ...]:
        return (question, "later")


async def slow(question: str) -> list[str]:
    await anyio.sleep_forever()
    return []


async def test_sub_questions_are_what_is_searched() -> None:
    llm = ScriptedLLM([REPLY])
    context = await after(Decompose() | Search(searcher=lambda query, name: []), COMPARE, llm=llm)
    assert context.sub_questions == PARTS
    assert [one.question for one in context.results] == list(PARTS)
    assert context.trace[0].measures == {"sub_questions": PARTS, "dropped": 0}
    assert llm.asked[0][-1].text == "Question: Compare Elixir and Erlang"
    assert '{"sub_questions": ["...", "..."]}' in prompt_of(llm)
    assert "2 to 4 questions" in prompt_of(llm)


@pytest.mark.parametrize(
    "reply",
    [
        REPLY.replace("sub_questions", "subquestions"),
        REPLY.replace("sub_questions", "questions"),
        f"```json\n{REPLY}\n```",
        f"Here you are: {REPLY} Good luck!",
        f'<think>Two things {{"sub_questions": ["x"]}}</think>{REPLY}',
        '{"sub_questions": [" What is Elixir? ", "", "  ", "What is Erlang?"]}',
        '{"sub_questions": ["What is Elixir?", "what is  elixir", "What is Erlang?", "WHAT IS ERLANG"]}',
        '{"reasoning": "two languages", "sub_questions": ["What is Elixir?", "What is Erlang?"]}',
    ],
)
async def test_replies_as_models_give_them(reply: str) -> None:
    context = await replied(Decompose(on_error="stop"), reply, context=COMPARE)
    assert (context.error, context.sub_questions) == (None, PARTS)


@pytest.mark.parametrize(
    "questions", ["[]", '[""]', '[" ", "?"]', f'["{QUESTION}"]', f'["{QUESTION.upper()}"]']
)
async def test_a_simple_question_stays_alone(questions: str) -> None:
    context = await replied(Decompose(), f'{{"sub_questions": {questions}}}')
    assert [one.casefold() for one in context.sub_questions] == [QUESTION.casefold()]
    assert context.warnings == ()


async def test_there_are_never_more_than_most() -> None:
    reply = '{"sub_questions": ["a", "b", "A?", "c", "d", "e", "f"]}'
    context = await replied(Decompose(), reply)
    assert context.sub_questions == ("a", "b", "c", "d")
    assert traced(context).measures["dropped"] == 3
    assert (await replied(Decompose(most=1), reply)).sub_questions == ("a",)
    context = await after(Decompose(most=20, decomposer=lambda q: [str(one) for one in range(30)]))
    assert len(context.sub_questions) == 20
    llm = ScriptedLLM([reply])
    await after(Decompose(most=6), llm=llm)
    assert "2 to 6 questions" in prompt_of(llm)


@pytest.mark.parametrize(
    "reply",
    [
        "What is Elixir? What is Erlang?",
        '{"sub_questions": "What is Elixir?"}',
        '{"sub_questions": null}',
        '{"sub_questions": [1, 2]}',
        '{"sub_questions": [["What is Elixir?"]]}',
        '{"answer": "Both are languages."}',
    ],
)
async def test_unreadable_replies_leave_the_query_undivided(reply: str) -> None:
    before = COMPARE.evolve(rewritten_query="Elixir Erlang")
    context = await replied(Decompose(), reply, context=before)
    assert_passed_over(context, before, "decompose: ")
    assert context.queries == ("Elixir Erlang",)
    assert isinstance((await replied(Decompose(on_error="stop"), reply)).error, ReplyUnreadable)


async def test_an_answer_in_the_place_of_a_question() -> None:
    reply = f'{{"sub_questions": ["What is Elixir?", "{"It is a language. " * 200}"]}}'
    assert_passed_over(await replied(Decompose(), reply, context=COMPARE), COMPARE, "as its sub-question")


async def test_a_model_that_is_down() -> None:
    assert_passed_over(await replied(Decompose(), DOWN), ASKED, "cannot be reached")
    assert (await replied(Decompose(on_error="stop"), DOWN)).error is DOWN


async def test_a_skipped_retrieval_needs_no_questions() -> None:
    llm = ScriptedLLM([REPLY])
    context = await after(Decompose(), ASKED.evolve(skip_retrieval=True), llm=llm)
    assert (context.sub_questions, llm.asked, traced(context).outcome) == ((), [], "skipped")


async def test_it_works_on_the_query_as_it_is_so_far() -> None:
    llm = ScriptedLLM(['{"sub_questions": []}'])
    context = await after(Decompose(), ASKED.evolve(rewritten_query="r", expanded_query="r wide"), llm=llm)
    assert llm.asked[0][-1].text == "Question: r wide"
    assert context.sub_questions == ("r wide",)


async def test_prompts_and_models_of_ones_own() -> None:
    llm, own = ScriptedLLM(["theirs"]), ScriptedLLM([REPLY])
    prompt = 'Split this. Return JSON: {"sub_questions": ["q1", "q2"]}\nQuestion: {question}'
    context = await after(Decompose(prompt=prompt, llm=own), COMPARE, llm=llm)
    assert (context.sub_questions, llm.asked) == (PARTS, [])
    filled = prompt.replace("{question}", "Compare Elixir and Erlang")
    assert own.asked == [(Message("user", filled),)]
    context = await after(Decompose(prompt=lambda question: question, llm=lambda prompt: REPLY))
    assert context.sub_questions == PARTS
    assert_passed_over(await after(Decompose()), ASKED, "needs a language model")


@pytest.mark.parametrize(
    ("decomposer", "questions"),
    [
        (lambda question: question.split(" and "), ("Compare Elixir", "Erlang")),
        (lambda question: [], ("Compare Elixir and Erlang",)),
        (lambda question: {"first": 1, "second": 2}.keys(), ("first", "second")),
        (Splitter, ("Compare Elixir", "Erlang")),
        (Splitter(" E"), ("Compare", "lixir and", "rlang")),
        ((Splitter, {"at": "Elixir"}), ("Compare", "and Erlang")),
        (Later, ("Compare Elixir and Erlang", "later")),
        (Later(), ("Compare Elixir and Erlang", "later")),
    ],
)
async def test_implementations_of_ones_own(decomposer: Any, questions: tuple[str, ...]) -> None:
    context = await after(Decompose(decomposer=decomposer, on_error="stop"), COMPARE)
    assert (context.error, context.sub_questions, context.usage.requests) == (None, questions, 0)


@pytest.mark.parametrize(
    "value", [None, "one text", 3, [1], ["fine", None], {"a": "b"}, [["a"]], [b"x"], "", True]
)
async def test_nonsense_of_an_implementation(value: Any) -> None:
    assert_passed_over(
        await after(Decompose(decomposer=lambda q: value)), ASKED, "a list of texts is allowed"
    )
    assert isinstance((await after(Decompose(decomposer=lambda q: value, on_error="stop"))).error, StepError)


async def test_failing_and_late_implementations() -> None:
    assert_passed_over(await after(Decompose(decomposer=lambda q: [q][9:][0])), ASKED, "IndexError")
    assert_passed_over(await after(Decompose(decomposer=slow, timeout=0.02)), ASKED, "took longer than 0.02")
    late = await after(Decompose(decomposer=slow, timeout=0.02, on_error="stop"))
    assert isinstance(late.error, LimitReached)


@pytest.mark.parametrize("most", [0, -1, 21, "many"])
def test_what_is_wrong_with_options(most: Any) -> None:
    wrong, *_ = Pipeline((Decompose(most=most),)).problems()
    assert "'most'" in wrong.reason
