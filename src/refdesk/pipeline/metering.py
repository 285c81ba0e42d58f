"""A language model whose requests are counted."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from refdesk.context import NO_USAGE, Usage
from refdesk.evidence import estimate_tokens
from refdesk.llm import DEFAULTS, LLM, Message, Options


@dataclass(frozen=True, slots=True)
class MeteredLLM:
    """Passes requests on; reports what each cost, estimated where the model does not tell."""

    llm: LLM
    on_usage: Callable[[Usage], None]

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

        length = 0
        try:
            async with aclosing(self.llm.stream(messages, replace(options, on_usage=tell))) as pieces:
                async for piece in pieces:
                    length += estimate_tokens(piece) - 1
                    yield piece
        finally:
            self.on_usage(sum(told, NO_USAGE) if told else _guess(messages, length))


def _guess(messages: tuple[Message, ...], written: int) -> Usage:
    asked = sum(estimate_tokens(message.text) for message in messages)
    return Usage(requests=1, input_tokens=asked, output_tokens=written + 1, estimated=True)
