"""A language model whose requests are counted, and to which no text can speak in control tokens."""

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from refdesk.context import NO_USAGE, Usage
from refdesk.errors import InputError, MissingExtra, ModelError, SettingsError
from refdesk.evidence import estimate_tokens, without_tokens
from refdesk.llm import DEFAULTS, LLM, Calling, Message, Options, ToolCall, calling_of


@dataclass(frozen=True, slots=True)
class MeteredLLM:
    """Passes requests on; reports what each cost, estimated where the model does not tell.

    Control tokens of chat templates are defused in every message, its calls too: a server may read them in a
    text as well.

    A request that failed or was given up counts too, with what had been written by then.
    """

    llm: LLM
    on_call: Callable[[Usage, float, BaseException | None], None]
    """Is told once per request its usage, its seconds and its error."""

    @property
    def name(self) -> str:
        return self.llm.name

    @property
    def calling(self) -> Calling:
        return calling_of(self.llm)

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        told: list[Usage] = []
        written: list[str] = []

        def tell(usage: Usage) -> None:
            told.append(usage)
            options.on_usage(usage)

        def pass_on(calls: tuple[ToolCall, ...]) -> None:
            written.extend(call.name + call.arguments for call in calls)
            options.on_calls(calls)

        messages = tuple(_defused(message) for message in messages)
        listening = replace(options, on_usage=tell, on_calls=pass_on)
        began = time.perf_counter()
        error: BaseException | None = None
        try:
            async with aclosing(self.llm.stream(messages, listening)) as pieces:
                async for piece in pieces:
                    written.append(piece)
                    yield piece
        except BaseException as raised:
            error = raised
            raise
        finally:
            asked = bool(written) or not isinstance(error, UNASKED)
            usage = sum(told, NO_USAGE)
            if not told and asked:
                usage = _guess(messages, options, "".join(written))
            self.on_call(usage, time.perf_counter() - began, error)


UNASKED = (InputError, SettingsError, MissingExtra, ModelError)
"""What is raised before anything was sent to a model."""


def _defused(message: Message) -> Message:
    return replace(
        message,
        text=without_tokens(message.text),
        calls=tuple(_defused_call(call) for call in message.calls),
        call=message.call and _defused_call(message.call),
    )


def _defused_call(call: ToolCall) -> ToolCall:
    return replace(call, name=without_tokens(call.name), arguments=without_tokens(call.arguments))


def _guess(messages: tuple[Message, ...], options: Options, written: str) -> Usage:
    """Estimate what a request cost; forms of tools are a part of the prompt."""
    texts = [message.text for message in messages]
    texts += [call.name + call.arguments for message in messages for call in message.calls]
    texts += [tool.name + tool.description + json.dumps(dict(tool.parameters)) for tool in options.tools]
    said = estimate_tokens(written) if written else 0
    asked = sum(map(estimate_tokens, texts))
    return Usage(requests=1, input_tokens=asked, output_tokens=said, estimated=True)
