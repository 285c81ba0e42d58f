"""`gate`: what needs the documents, and what does not."""

import anyio
import pytest
from tests.steps.querying import ASKED, DOWN, QUESTION, after, assert_passed_over, prompt_of, replied, traced

from refdesk.context import Context, Turn
from refdesk.errors import LimitReached, ReplyUnreadable, StepError
from refdesk.llm import Message
from refdesk.pipeline import Pipeline
from refdesk.steps import Gate, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
YES = '{"reasoning": "about a product", "needs_retrieval": true}'
NO = '{"reasoning": "arithmetic", "needs_retrieval": false}'


class Words:
    """Sends long questions to the documents."""

    def __init__(self, most: int = 3) -> None:
        self.most = most

    def gate(self, question: str) -> tuple[bool, str]:
        return len(question.split()) > self.most, "by length"


class Never:
    async def gate(self, question: str) -> bool:
        return False


async def slow(question: str) -> bool:
    await anyio.sleep_forever()
    return True


async def test_a_question_about_the_documents_is_searched() -> None:
    context = await replied(Gate(), YES)
    assert (context.skip_retrieval, context.gate_reasoning) == (False, "about a product")
    assert traced(context).measures == {"skip_retrieval": False, "reasoning": "about a product"}
    assert context.usage.requests == 1


async def test_arithmetic_is_not_searched() -> None:
    asked = Context(question="What is 2 + 2?")
    context = await replied(Gate() | Search(searcher=lambda query, collection: 1 / 0), NO, context=asked)
    assert (context.skip_retrieval, context.gate_reasoning, context.results) == (True, "arithmetic", ())
    assert context.error is None


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{NO}\n```",
        f"Sure, here it is:\n{NO}\nI hope that helps.",
        f'<think>Is it {{"needs_retrieval": true}}? No, it is arithmetic.</think>\n{NO}',
        '{"needs_retrieval": false, "reasoning": null}',
        '{"needs_retrieval": false, "reasoning": ["a", "list"], "confidence": 0.9}',
        '{"needs_retrieval": false}',
    ],
)
async def test_replies_as_models_give_them(reply: str) -> None:
    context = await replied(Gate(on_error="stop"), reply)
    assert context.error is None
    assert context.skip_retrieval
    assert context.gate_reasoning in ("arithmetic", "")


@pytest.mark.parametrize("value", ['"false"', '"no"', "0", "null", "[]", "{}", "0.0"])
async def test_what_is_no_boolean_cannot_be_read_and_is_searched(value: str) -> None:
    reply = f'{{"needs_retrieval": {value}, "reasoning": "x"}}'
    assert_passed_over(await replied(Gate(), reply), ASKED, "gate: ")
    assert isinstance((await replied(Gate(on_error="stop"), reply)).error, ReplyUnreadable)


async def test_a_reply_is_repaired_once() -> None:
    llm = ScriptedLLM(["I think so.", NO, YES])
    context = await after(Gate(), llm=llm)
    assert (context.skip_retrieval, context.usage.requests, len(llm.asked)) == (True, 2, 2)


@pytest.mark.parametrize("reply", ["I think so.", '{"reasoning": "none"}', '{"needs_retrieval": fal', "true"])
async def test_unreadable_replies_mean_retrieval(reply: str) -> None:
    assert_passed_over(await replied(Gate(), reply), ASKED, "gate: ")


async def test_a_model_that_is_down_means_retrieval() -> None:
    assert_passed_over(await replied(Gate(), DOWN), ASKED, "cannot be reached")
    assert (await replied(Gate(on_error="stop"), DOWN)).error is DOWN


async def test_earlier_messages_are_shown_and_answers_are_not() -> None:
    history = (
        Turn("user", "first"),
        Turn("user", "Which pumps\ndo you have?"),
        Turn("assistant", "SECRET"),
        Turn("user", " "),
        Turn("user", "x" * 900),
        Turn("user", "third"),
    )
    llm = ScriptedLLM([YES])
    await after(Gate(), Context(question="and the other one?", history=history), llm=llm)
    asked = llm.asked[0][-1].text
    assert asked.startswith(
        "Earlier message: " + "x" * 200 + "\nEarlier message: third\nMessage: and the other"
    )
    assert "SECRET" not in prompt_of(llm)


async def test_a_prompt_of_ones_own() -> None:
    llm = ScriptedLLM([YES])
    await after(Gate(prompt="Needed? {question} {as JSON}"), llm=llm)
    assert llm.asked == [(Message("user", f"Needed? {QUESTION} {{as JSON}}"),)]
    llm = ScriptedLLM([YES])
    await after(Gate(prompt=lambda question: (Message("system", "S"), Message("user", question))), llm=llm)
    assert llm.asked == [(Message("system", "S"), Message("user", QUESTION))]
    context = await replied(Gate(prompt=lambda question: None), YES)  # type: ignore[arg-type,return-value]
    assert_passed_over(context, ASKED, "prompt function returned None")


async def test_a_model_of_its_own() -> None:
    others, own = ScriptedLLM([YES]), ScriptedLLM([NO])
    assert (await after(Gate(llm=own), llm=others)).skip_retrieval
    assert (await after(Gate(llm=lambda prompt: NO))).skip_retrieval
    assert not others.asked
    assert_passed_over(await after(Gate()), ASKED, "needs a language model")


@pytest.mark.parametrize(
    ("gater", "skips", "why"),
    [
        (lambda question: True, False, ""),
        (lambda question: (False, " by rule "), True, "by rule"),
        (Words, False, "by length"),
        ((Words, {"most": 30}), True, "by length"),
        (Words(30), True, "by length"),
        (Never, True, ""),
        (Never(), True, ""),
        (lambda question: (True, None), False, ""),
    ],
)
async def test_implementations_of_ones_own(gater: object, skips: bool, why: str) -> None:
    context = await after(Gate(gater=gater, on_error="stop"))  # type: ignore[arg-type]
    assert context.error is None
    assert (context.skip_retrieval, context.gate_reasoning) == (skips, why)
    assert context.usage.requests == 0


@pytest.mark.parametrize("value", [None, "no", 0, 1, [], (), {}, ("no", "why"), (True,), (True, "why", 3)])
async def test_nonsense_of_an_implementation(value: object) -> None:
    context = await after(Gate(gater=lambda question: value))  # type: ignore[arg-type,return-value]
    assert_passed_over(context, ASKED, "True or False is allowed")


async def test_failing_and_late_implementations() -> None:
    context = await after(Gate(gater=lambda question: 1 / 0 > 1))
    assert_passed_over(context, ASKED, "ZeroDivisionError")
    assert isinstance((await after(Gate(gater=lambda q: 1 / 0 > 1, on_error="stop"))).error, StepError)
    assert_passed_over(await after(Gate(gater=slow, timeout=0.02)), ASKED, "took longer than 0.02 seconds")
    late = await after(Gate(gater=slow, timeout=0.02, on_error="stop"))
    assert isinstance(late.error, LimitReached)


async def test_a_later_gate_decides_anew() -> None:
    context = await after(Gate(gater=lambda question: True), ASKED.evolve(skip_retrieval=True))
    assert not context.skip_retrieval


def test_what_is_wrong_with_options() -> None:
    wrong = Pipeline((Gate(gater=3, prompt="{hits}", timeout=0),)).problems(llm=False)  # type: ignore[arg-type]
    reasons = [str(problem) for problem in wrong]
    assert any("'gater'" in reason and "'gate'" in reason for reason in reasons)
    assert any("{hits}" in reason for reason in reasons)
    assert any("'timeout'" in reason for reason in reasons)
    assert not any("language model" in reason for reason in reasons)
    assert any("language model" in str(problem) for problem in Pipeline((Gate(),)).problems(llm=False))
