"""Values out of a model: what fits, one repair, and then the failure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, StrictBool

from refdesk.errors import LLMError, ReplyUnreadable
from refdesk.llm import Message, Options
from refdesk.llm.asking import SHOWN, ask_for
from refdesk.llm.function import FunctionLLM
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
QUESTION = (Message("system", "Judge."), Message("user", "Enough?"))


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: Literal["pass", "reject"]
    sure: StrictBool = True
    follow_up: tuple[str, ...] = ()
    score: Annotated[float, Field(ge=0, le=10)] = 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    scores: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


FITTING: list[tuple[str, Verdict]] = [
    ('{"decision": "pass"}', Verdict("pass")),
    ('{"decision": "reject", "sure": false, "score": "7.5", "mood": [1]}', Verdict("reject", False, (), 7.5)),
    ('{"decision": "pass", "sure": null, "follow_up": null}', Verdict("pass")),
    ('{"Decision": "pass", "followUp": ["a"]}', Verdict("pass", True, ("a",))),
    ('{"DECISION": "reject", "decision": "pass", "follow-up": ["a"]}', Verdict("pass", True, ("a",))),
    ('[{"decision": "pass"}]', Verdict("pass")),
    (
        'The form {"type": "object", "properties": {"decision": {"enum": ["pass"]}}}: {"decision": "pass"}',
        Verdict("pass"),
    ),
    ('{"decision": "maybe", "follow_up": ["long", "list"]} no, {"decision": "reject"}', Verdict("reject")),
]


@pytest.mark.parametrize(("reply", "value"), FITTING, ids=range(len(FITTING)))
async def test_what_fits(reply: str, value: Verdict) -> None:
    llm = ScriptedLLM([reply])
    assert await ask_for(Verdict, llm, QUESTION) == value
    assert len(llm.asked) == 1


MISFITTING: list[tuple[str, str]] = [
    ("Yes, it passes.", "no JSON"),
    ("{}", "decision"),
    ('{"decision": "perhaps"}', "'pass' or 'reject'"),
    ('{"decision": "pass", "sure": "false"}', "sure"),
    ('{"decision": "pass", "sure": 0}', "sure"),
    ('{"decision": "pass", "sure": [true]}', "sure"),
    ('{"decision": "pass", "score": 11}', "score"),
    ('{"decision": "pass", "follow_up": {"a": 1}}', "follow_up"),
    ('{"decision": "pass", "follow_up": ["a", "b', "breaks off"),
    (
        '{"decision": "nothing"} {"decision": "pass", "follow_up": ["a much longer one, and then it',
        "breaks off",
    ),
    ('["pass"]', "Verdict"),
]


@pytest.mark.parametrize(("reply", "wrong"), MISFITTING, ids=range(len(MISFITTING)))
async def test_one_repair_says_what_was_wrong(reply: str, wrong: str) -> None:
    llm = ScriptedLLM([reply, '{"decision": "reject"}'])
    assert await ask_for(Verdict, llm, QUESTION) == Verdict("reject")
    repair = llm.asked[1]
    assert repair[:2] == QUESTION
    assert repair[2] == Message("assistant", reply)
    assert wrong in repair[3].text
    assert '"decision"' in repair[3].text
    assert len(llm.asked) == 2


@pytest.mark.parametrize(("reply", "wrong"), MISFITTING, ids=range(len(MISFITTING)))
async def test_after_one_repair_it_fails(reply: str, wrong: str) -> None:
    llm = ScriptedLLM([reply])
    with pytest.raises(ReplyUnreadable, match=wrong) as raised:
        await ask_for(Verdict, llm, QUESTION)
    assert raised.value.reply == reply
    assert len(llm.asked) == 2


async def test_an_object_about_something_else_is_not_one_that_says_nothing() -> None:
    schema = '{"type": "object", "properties": {}}'
    assert await ask_for(Scores, ScriptedLLM([schema, '{"scores": {"1": 8}}']), QUESTION) == Scores(
        {"1": 8.0}
    )
    assert await ask_for(Scores, ScriptedLLM(['{"scores": null}']), QUESTION) == Scores()
    for reply in (schema, "{}"):
        with pytest.raises(ReplyUnreadable):
            await ask_for(Scores, ScriptedLLM([reply]), QUESTION)


async def test_a_bad_reply_is_shown_shortened_and_without_thoughts() -> None:
    llm = ScriptedLLM(
        [f"<think>{'hm ' * 99}</think>{'no ' * SHOWN}", "<think>only</think>", '{"decision": "pass"}']
    )
    with pytest.raises(ReplyUnreadable):
        await ask_for(Verdict, llm, QUESTION)
    assert llm.asked[1][2].text.startswith("no no")
    assert len(llm.asked[1][2].text) == SHOWN
    assert len(llm.asked[1][3].text) < 2000
    llm = ScriptedLLM(["<think>only</think>", '{"decision": "pass"}'])
    assert await ask_for(Verdict, llm, QUESTION) == Verdict("pass")
    assert llm.asked[1][2].text


async def test_options_are_kept_and_the_schema_is_added() -> None:
    llm = ScriptedLLM(["?", '{"decision": "pass"}'])
    await ask_for(Verdict, llm, QUESTION, Options(max_tokens=99, temperature=0.5))
    first, second = llm.options
    assert first.max_tokens == second.max_tokens == 99
    assert first.temperature == second.temperature == 0.5
    schema: Mapping[str, Any] | None = first.json_schema
    assert schema is not None
    assert schema["required"] == ["decision"]
    assert second.json_schema == schema


async def test_a_model_without_options_and_failures_of_models() -> None:
    assert await ask_for(Verdict, FunctionLLM(lambda prompt: '{"decision": "pass"}'), QUESTION) == Verdict(
        "pass"
    )
    with pytest.raises(LLMError, match="down"):
        await ask_for(Verdict, ScriptedLLM([LLMError("down")]), QUESTION)
    with pytest.raises(LLMError, match="no text"):
        await ask_for(Verdict, ScriptedLLM([" \n"]), QUESTION)
