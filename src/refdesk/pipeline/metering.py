"""A language model whose requests are counted, and to which no text can speak in control tokens."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from refdesk.context import NO_USAGE, Usage
from refdesk.evidence import estimate_tokens, without_tokens
from refdesk.llm import DEFAULTS, LLM, Message, Options


@dataclass(frozen=True, slots=True)
class MeteredLLM:
    """Passes requests on; reports what each cost, estimated where the model does not tell.

    Control tokens of chat templates are defused in every message: a server may read them in a text, too.

    A request that failed or was given up counts too, with what had been written by then.
    """

    llm: LLM
    on_call: Callable[[Usage, float, BaseException | None], None]
    """Is told once per request its usage, its seconds and its error."""

    @property
    def name(self) -> str:
        return self.llm.name

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        told: list[Usage] = []

        def tell(usage: Usage) -> None:
            told.append(usage)
            options.on_usage(usage)

        messages = tuple(replace(one, text=without_tokens(one.text)) for one in messages)
        written: list[str] = []
        began = time.perf_counter()
        error: BaseException | None = None
        try:
            async with aclosing(self.llm.stream(messages, replace(options, on_usage=tell))) as pieces:
                async for piece in pieces:
                    written.append(piece)
                    yield piece
        except BaseException as raised:
            error = raised
            raise
        finally:
            usage = sum(told, NO_USAGE) if told else _guess(messages, "".join(written))
            self.on_call(usage, time.perf_counter() - began, error)


def _guess(messages: tuple[Message, ...], written: str) -> Usage:
    asked = sum(estimate_tokens(message.text) for message in messages)
    said = estimate_tokens(written) if written else 0
    return Usage(requests=1, input_tokens=asked, output_tokens=said, estimated=True)
