"""Ask a model for values of a declared form."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from refdesk.errors import ReplyUnreadable
from refdesk.llm import DEFAULTS, LLM, Message, Options
from refdesk.llm.complete import complete
from refdesk.llm.replies import Reading, readings, without_thoughts

T = TypeVar("T")

SHOWN = 2000
"""Characters of an unreadable reply that the model is shown again."""
TRIED = 8
"""Values in one reply that are held against the form."""
_LETTERS = re.compile(r"[\W_]+")


async def ask_for(kind: type[T], llm: LLM, messages: tuple[Message, ...], options: Options = DEFAULTS) -> T:
    """Return a reply as a value of `kind`, a dataclass that pydantic can check; ask once for a repair.

    Of several values in a reply the likeliest that fits counts. Keys that `kind` lacks are ignored, keys may
    differ in case, `-` and `_`, and null stands for an absent key. What a value may be is for `kind`
    to say: pydantic reads "no" and 0 as a `bool`, and neither as a `StrictBool`. A reply that was cut off is
    repaired too, even where what is left would fit.

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
    """Read a value out of a reply. Errors: `ReplyUnreadable` with what is wrong with the longest."""
    wrong: dict[int, ReplyUnreadable] = {}
    for reading in readings(reply)[:TRIED]:
        try:
            return _fitting(kind, reading, reply)
        except ReplyUnreadable as error:
            wrong.setdefault(reading.length, error)
    raise wrong[max(wrong)]


def _fitting(kind: type[T], reading: Reading, reply: str) -> T:
    if not reading.complete:
        raise ReplyUnreadable(f"The reply breaks off: {reply!r:.200}.", reply=reply)
    found = _named(reading.value, _schema(kind))
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


def _named(found: Any, schema: Mapping[str, Any]) -> Any:
    """Return an object with the keys of a schema, for keys that are written a little differently."""
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        found = found[0]
    if not isinstance(found, dict):
        return found
    known = {_letters(name): name for name in schema.get("properties", {})}
    named = {known.get(_letters(key), key): value for key, value in found.items()} | {
        key: value for key, value in found.items() if key in known.values()
    }
    if not schema.get("required") and not named.keys() & set(known.values()):
        return (
            None  # where everything has a default, an object about something else would pass for an empty one
        )
    return {name: value for name, value in named.items() if value is not None}


def _letters(name: str) -> str:
    return _LETTERS.sub("", name).lower()


def _repair(reply: str, wrong: str, schema: Mapping[str, Any]) -> tuple[Message, Message]:
    asked = (
        f"That reply cannot be used. {wrong[:500]}\n"
        f"Reply again, with JSON alone, no text around it, that fits this schema:\n{json.dumps(schema)}"
    )
    return Message("assistant", without_thoughts(reply)[:SHOWN] or "(nothing)"), Message("user", asked)


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
_schema: Callable[[Any], dict[str, Any]] = cache(lambda kind: _adapter(kind).json_schema())
