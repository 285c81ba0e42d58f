"""Messages to a reply. Implementations: model strings through pydantic-ai (`refdesk.llm.models`)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    text: str


class LLM(Protocol):
    """Stream the reply to a conversation as pieces of text. Failures are `LLMError`."""

    @property
    def name(self) -> str: ...

    def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[str, None]: ...
