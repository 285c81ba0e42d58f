"""Functions as language models."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

import pytest

from refdesk.errors import InputError, LLMError
from refdesk.llm import Message, Options
from refdesk.llm.names import llm_for
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
QUESTION = (Message("system", "Be brief."), Message("user", "Why?"))


def shout(prompt: str) -> str:
    return prompt.upper()


async def whisper(prompt: str) -> str:
    return prompt.lower()


async def joined(value: object) -> str:
    return "".join([piece async for piece in llm_for(value).stream(QUESTION)])  # type: ignore[arg-type]


async def test_sync_and_async_functions() -> None:
    assert await joined(shout) == "BE BRIEF.\n\nWHY?"
    assert await joined(whisper) == "be brief.\n\nwhy?"
    assert await joined(partial(whisper)) == "be brief.\n\nwhy?"
    assert llm_for(shout).name == "function:shout"


async def test_failures_of_a_function() -> None:
    with pytest.raises(LLMError, match="ZeroDivisionError"):
        await joined(lambda prompt: 1 / 0)
    with pytest.raises(LLMError, match="returned int"):
        await joined(lambda prompt: 3)


async def test_a_model_passes_through() -> None:
    model = ScriptedLLM(["one", ["two", "!"]])
    assert llm_for(model) is model
    assert [await joined(model), await joined(model), await joined(model)] == ["one", "two!", "two!"]
    assert model.asked[0] == QUESTION


def test_what_is_no_model() -> None:
    with pytest.raises(InputError, match="int"):
        llm_for(3)  # type: ignore[arg-type]


async def test_a_model_that_takes_no_options() -> None:
    class Parrot:
        name = "parrot"
        closed = False

        async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[str, None]:
            try:
                yield messages[-1].text
                yield "!"
            finally:
                self.closed = True

    parrot = Parrot()
    llm = llm_for(parrot)
    assert llm.name == "parrot"
    assert "".join([piece async for piece in llm.stream(QUESTION, Options(max_tokens=3))]) == "Why?!"
    async with aclosing(llm.stream(QUESTION)) as pieces:
        parrot.closed = False
        await anext(pieces)
    assert parrot.closed
