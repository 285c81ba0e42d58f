"""A reply as one text."""

from contextlib import aclosing

from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, LLM, Message, Options


async def complete(llm: LLM, messages: tuple[Message, ...], options: Options = DEFAULTS) -> str:
    """Return what a model replies, stripped. Errors: `LLMError`, also where it is no text."""
    async with aclosing(llm.stream(messages, options)) as pieces:
        text = "".join([piece async for piece in pieces]).strip()
    if not text:
        raise LLMError(f"The model {llm.name} returned no text.", retryable=True)
    return text
