"""Calls that run together.

Some servers give all calls of a reply one place, or send a call's name again with every piece of it.
"""

import json
import re
from collections.abc import Collection
from dataclasses import replace

from refdesk.llm import ToolCall

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"\s*")


def parted(call: ToolCall, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls that a call is made of, for a name that is no tool's but several of them in a row.

    The first keeps the id. Where the arguments do not fit the names, the call stays as it is.
    """
    if call.name in names or len(called := _names(call.name, names)) < 2:
        return (call,)
    values = _objects(call.arguments)
    if len(values) == 1 and len(set(called)) == 1:
        return (replace(call, name=called[0]),)
    if len(values) != len(called):
        return (call,)
    return tuple(
        replace(call, name=name, arguments=value, id="" if at else call.id)
        for at, (name, value) in enumerate(zip(called, values, strict=True))
    )


def _names(text: str, names: Collection[str]) -> list[str]:
    """Return the names that a text consists of, none where it does not."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    if not longest_first:
        return []
    found = re.findall("|".join(map(re.escape, longest_first)), text)
    return found if "".join(found) == text else []


def _objects(text: str) -> list[str]:
    """Return the JSON objects that a text consists of, none where it does not."""
    found: list[str] = []
    at = 0
    while (start := _BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(text[start:at])
    return found
