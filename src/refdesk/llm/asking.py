"""Ask a model for values of a declared form."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from refdesk.errors import ReplyUnreadable
from refdesk.llm import DEFAULTS, LLM, Message, Options
from refdesk.llm.complete import complete
from refdesk.llm.replies import read, without_thoughts

T = TypeVar("T")

SHOWN = 2000
"""Characters of an unreadable reply that the model is shown again."""


async def ask_for(kind: type[T], llm: LLM, messages: tuple[Message, ...], options: Options = DEFAULTS) -> T:
    """Return a reply as a value of `kind`, a dataclass that pydantic can check; ask once for a repair.

    Keys that `kind` lacks are ignored, and null stands for a key that is not there. A reply that was cut off
    is repaired too, even where what is left would fit.
    Errors: `ReplyUnreadable` where the repaired reply cannot be read either; `LLMError`.
    """
    schema = _schema(kind)
    options = replace(options, json_schema=schema)
    reply = await complete(llm, messages, options)
    try:
        return _value(kind, reply)
    except ReplyUnreadable as error:
        again = (*messages, *_repair(reply, error.message, schema))
    return _value(kind, await complete(llm, again, options))


def _value(kind: type[T], reply: str) -> T:
    """Read a value out of a reply. Errors: `ReplyUnreadable` with what is wrong."""
    reading = read(reply)
    if not reading.complete:
        raise ReplyUnreadable(f"The reply breaks off: {reply!r:.200}.", reply=reply)
    found = reading.value
    if isinstance(found, dict):
        found = {key: one for key, one in found.items() if one is not None}
    try:
        value: T = _adapter(kind).validate_python(found)
        return value
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the value'}: {one['msg']}"
            for one in error.errors(include_url=False)[:5]
        )
        raise ReplyUnreadable(
            f"The reply {reply!r:.200} does not have the form that was asked for: {wrong}.", reply=reply
        ) from error


def _repair(reply: str, wrong: str, schema: dict[str, Any]) -> tuple[Message, Message]:
    asked = (
        f"That reply cannot be used. {wrong[:500]}\n"
        f"Reply again, with JSON alone, no text around it, that fits this schema:\n{json.dumps(schema)}"
    )
    return Message("assistant", without_thoughts(reply)[:SHOWN] or "(nothing)"), Message("user", asked)


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


@cache
def _schema(kind: Any) -> dict[str, Any]:
    return _adapter(kind).json_schema()
