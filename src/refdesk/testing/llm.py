"""A language model for tests that replies by script, with texts, calls of tools, or failures."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from refdesk.context import Usage
from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, Calling, Message, Options, ToolCall
from refdesk.llm.calls import with_ids

Called = ToolCall | tuple[str, Mapping[str, Any]]
"""A call as it is, or the name of a tool and its arguments."""


@dataclass(frozen=True, slots=True, init=False)
class Calls:
    """A reply that calls tools: `Calls(("search", {"query": "leave"}), text="Let me look.")`."""

    calls: tuple[ToolCall, ...]
    text: str

    def __init__(self, *calls: Called, text: str = "") -> None:
        object.__setattr__(self, "calls", tuple(as_call(one) for one in calls))
        object.__setattr__(self, "text", text)

    def written(self) -> str:
        """Return the reply as a model writes it that has no calls of its own, one JSON object a line."""
        lines = (f'{{"name": {json.dumps(one.name)}, "arguments": {one.arguments}}}' for one in self.calls)
        return "\n".join([self.text, *lines] if self.text else lines)


def as_call(given: Called) -> ToolCall:
    """Return a call; one that is given by name and arguments has no id yet."""
    if isinstance(given, ToolCall):
        return given
    return ToolCall(name=given[0], arguments=json.dumps(dict(given[1]), ensure_ascii=False))


Reply = str | Sequence[str] | Calls | LLMError
"""A reply in one piece, in given pieces, with calls, or a failure."""

Script = Reply | Callable[[tuple[Message, ...]], Reply]
"""A reply, or a function from what was asked to one."""


@dataclass(slots=True)
class ScriptedLLM:
    """Replies with each script in turn, the last one again and again; records what it was asked."""

    replies: Sequence[Script]
    name: str = "scripted"
    seconds: float = 0.0
    """How long it takes until a reply begins."""
    usage: Usage | None = None
    """What each reply that comes to its end is said to have cost."""
    calling: Calling | None = None
    """Native where None is given and any reply is `Calls`; where it is written, calls are written as JSON."""
    asked: list[tuple[Message, ...]] = field(default_factory=list)
    options: list[Options] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.calling is None:
            self.calling = "native" if any(isinstance(one, Calls) for one in self.replies) else "written"

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        script = self.replies[min(len(self.asked), len(self.replies) - 1)]
        self.asked.append(messages)
        self.options.append(options)
        if self.seconds:
            await anyio.sleep(self.seconds)
        reply = script(messages) if callable(script) else script
        if isinstance(reply, LLMError):
            raise reply
        for piece in self._pieces(reply):
            yield piece
        if self.usage is not None:
            options.on_usage(self.usage)
        if isinstance(reply, Calls) and self.calling == "native":
            options.on_calls(with_ids(reply.calls, messages))

    def _pieces(self, reply: str | Sequence[str] | Calls) -> Sequence[str]:
        if isinstance(reply, Calls):
            text = reply.text if self.calling == "native" else reply.written()
            return [text] if text else []
        return [reply] if isinstance(reply, str) else reply
