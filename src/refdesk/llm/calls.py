"""Calls of tools: their ids, and their form in pydantic-ai's words.

A call keeps the reply that it came with. Providers want more back than the call: thoughts with signatures,
ids of their own, the order of the parts.
"""

import itertools
import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any

from refdesk.llm import Message, Options, ToolCall
from refdesk.llm.joined_calls import parted


def with_ids(calls: Iterable[ToolCall], messages: tuple[Message, ...] = ()) -> tuple[ToolCall, ...]:
    """Return calls with ids of their own: a new one for none, and for one that the conversation has."""
    taken = {call.id for message in messages for call in message.calls} | {""}
    numbered: list[ToolCall] = []
    for call in calls:
        if call.id in taken:
            call = replace(call, id=_free(taken))
        taken.add(call.id)
        numbered.append(call)
    return tuple(numbered)


def definitions(options: Options, library: ModuleType) -> list[Any]:
    """Return the tools as pydantic-ai takes them."""
    return [
        library.ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
        )
        for tool in options.tools
    ]


def calls_of(reply: Any, messages: tuple[Message, ...], names: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls of a reply that came to its end; `names` are those of the tools."""
    parts = [part for part in reply.parts if part.part_kind == "tool-call"]
    groups = [
        parted(ToolCall(name=part.tool_name, arguments=_text(part.args), id=part.tool_call_id), names)
        for part in parts
    ]
    calls = with_ids(itertools.chain(*groups), messages)
    ends = itertools.accumulate(map(len, groups))
    firsts = iter([calls[end - len(group)].id for end, group in zip(ends, groups, strict=True)])
    kept = replace(
        reply,
        parts=[
            replace(part, tool_call_id=next(firsts)) if part.part_kind == "tool-call" else part
            for part in reply.parts
        ],
    )
    return tuple(replace(call, details=kept) for call in calls)


def reply_of(message: Message, library: ModuleType) -> Any:
    """Return an assistant's message, with all that came with its calls."""
    words = library.messages
    replies = (call.details for call in message.calls)
    kept = next((reply for reply in replies if isinstance(reply, words.ModelResponse)), None)
    text = [words.TextPart(content=message.text)] if message.text or not message.calls else []
    if kept is None:
        return words.ModelResponse(parts=[*text, *(_part_of(call, words) for call in message.calls)])
    return replace(kept, parts=_merged(message, kept.parts, text, words))


def result_of(message: Message, library: ModuleType) -> Any:
    """Return a tool's message as a part of a request; one that belongs to no call is what a user says."""
    if message.call is None:
        return library.messages.UserPromptPart(content=message.text)
    return library.messages.ToolReturnPart(
        tool_name=message.call.name, content=message.text, tool_call_id=_id_of(message.call)
    )


def _merged(message: Message, kept: Iterable[Any], text: list[Any], words: ModuleType) -> list[Any]:
    """Return the parts of a reply, as far as they are still said: calls may be left out, a text changed."""
    kept = list(kept)
    unchanged = "".join(part.content for part in kept if part.part_kind == "text") == message.text
    calls = {call.id: call for call in message.calls}
    merged: list[Any] = []
    for part in kept:
        if part.part_kind == "tool-call":
            if call := calls.pop(part.tool_call_id, None):
                merged.append(replace(part, tool_name=call.name, args=call.arguments))
        elif part.part_kind != "text" or unchanged:
            merged.append(part)
    merged += [_part_of(call, words) for call in calls.values()]
    if unchanged:
        return merged
    first = next((at for at, part in enumerate(merged) if part.part_kind == "tool-call"), len(merged))
    return [*merged[:first], *text, *merged[first:]]


def _part_of(call: ToolCall, words: ModuleType) -> Any:
    return words.ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=_id_of(call))


def _id_of(call: ToolCall) -> str:
    return call.id or call.name


def _text(arguments: str | dict[str, Any] | None) -> str:
    """Return arguments as JSON; what is empty is a call without any."""
    if isinstance(arguments, str):
        return arguments if arguments.strip() else "{}"
    return json.dumps(arguments or {}, ensure_ascii=False)


def _free(taken: set[str]) -> str:
    """Return an id of nine letters and digits, which every provider takes."""
    return next(one for number in itertools.count(1) if (one := f"call{number:05d}") not in taken)
