"""Messages and options in pydantic-ai's words, and its replies in ours."""

import itertools
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from refdesk.context import Usage
from refdesk.llm import Message, Options
from refdesk.llm.calls import definitions, reply_of, result_of


def history(messages: tuple[Message, ...], library: ModuleType) -> list[Any]:
    """Return messages as pydantic-ai takes them; results that follow each other are one request."""
    requests: list[Any] = []
    for are_results, group in itertools.groupby(messages, lambda message: message.role == "tool"):
        if are_results:
            parts = [result_of(message, library) for message in group]
            requests.append(library.messages.ModelRequest(parts=parts))
        else:
            requests.extend(_request_of(message, library) for message in group)
    return requests


def settings_of(options: Options, timeout: float, further: Mapping[str, Any]) -> dict[str, Any]:
    """Return model settings; what the options say comes first."""
    wanted = {"max_tokens": options.max_tokens, "temperature": options.temperature}
    given = {name: value for name, value in wanted.items() if value is not None}
    return {"timeout": timeout, "max_retries": 0, **further, **given}


def parameters(options: Options, model: Any, library: ModuleType) -> Any:
    """Return the tools and what holds the reply to a schema, None where there is neither.

    A model that knows no schemas gets none.
    """
    wanted: dict[str, Any] = {}
    if options.tools:
        wanted["function_tools"] = definitions(options, library)
    if options.json_schema is not None and model.profile.get("supports_json_schema_output"):
        form = library.output.OutputObjectDefinition(json_schema=dict(options.json_schema), name="reply")
        wanted |= {"output_mode": "native", "output_object": form}
    return library.models.ModelRequestParameters(**wanted) if wanted else None


def text_of(event: Any) -> str:
    """Return the new text of a stream event, empty for thoughts, tool calls and ends."""
    part = getattr(event, "part", None) if event.event_kind == "part_start" else None
    if part is not None:
        return str(part.content) if part.part_kind == "text" else ""
    delta = getattr(event, "delta", None) if event.event_kind == "part_delta" else None
    return str(delta.content_delta or "") if delta is not None and delta.part_delta_kind == "text" else ""


def usage_of(reply: Any, *, priced: bool) -> Usage | None:
    """Return what a reply that came to its end cost, None where the server did not tell."""
    told = reply.usage
    if told.unmeasured_requests or not (told.input_tokens or told.output_tokens):
        return None
    return Usage(
        requests=1,
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cost=_cost(reply) if priced else 0.0,
    )


def _cost(reply: Any) -> float:
    """Return US dollars by the price list that comes with pydantic-ai, 0 for a model that is not on it."""
    try:
        return float(reply.get().cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return 0.0


def _request_of(message: Message, library: ModuleType) -> Any:
    if message.role == "assistant":
        return reply_of(message, library)
    parts = library.messages
    kind = parts.SystemPromptPart if message.role == "system" else parts.UserPromptPart
    return parts.ModelRequest(parts=[kind(content=message.text)])
