"""Tools for models that cannot call them: one JSON object per reply, described and read here.

A call is what the model itself writes, outside its thoughts and any other value: text inside arguments is
data, however it looks, and what cannot be read as a whole is no call.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from refdesk.llm import ToolCall, ToolForm
from refdesk.llm.replies import without_thoughts
from refdesk.loop.schemas import for_grammar, in_words, sample
from refdesk.loop.spotting import Spot, spots

SHAPE = '{"name": TOOL, "arguments": {NAME: VALUE}}'
_WRAP = (
    r"(?:```[\w-]*|</?tool_?calls?>|<\|?/?tool_?calls?(?:_begin|_end)?\|?>|</?function_?calls?>"
    r"|\[/?TOOL_CALLS\]|<\|python_tag\|>)"
)
_AROUND = re.compile(rf"\s*(?:{_WRAP}\s*)*+", re.IGNORECASE)
_WRAPPED = re.compile(rf"{_WRAP}\s*\Z", re.IGNORECASE)
_LETTERS = re.compile(r"[\W_]+")
_NAMES = ("name", "tool", "tool_name", "action", "function", "function_name")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "action_input", "tool_input")
_HOLDERS = ("tool_calls", "function", "function_call", "tool_call", "action", "tool")
_BESIDE = ("thought", "thoughts", "reasoning", "call_id")
"""Keys that models put beside a call, and that are no arguments."""
_KEY = re.compile(r"\{\s*[\"'“‘]?(\w[\w$-]*)")
_DEEPEST = 3
_LONGEST_WRAP = 40


@dataclass(frozen=True, slots=True)
class Action:
    """What a reply wants."""

    call: ToolCall | None = None
    text: str = ""
    """The reply without its thoughts, where there is no call."""
    problem: str = ""
    """Why a call could not be read, in words for the model."""


def instructions(forms: Sequence[ToolForm]) -> str:
    """Return the part of a system prompt that describes tools and how to call one."""
    if not forms:
        return ""
    example = next((form for form in forms if form.parameters.get("required")), forms[0])
    shape = json.dumps({"name": example.name, "arguments": sample(example.parameters)}, ensure_ascii=False)
    tools = "\n".join(_described(form) for form in forms)
    return _INSTRUCTIONS.format(tools=tools, shape=shape)


def _described(form: ToolForm) -> str:
    required = form.parameters.get("required", ())
    lines = [f"- {form.name}: {form.description}" if form.description else f"- {form.name}"]
    for name, one in form.parameters.get("properties", {}).items():
        facts = ", ".join(filter(None, (in_words(one), "" if name in required else _optional(one))))
        about = f"{name} ({facts})" if facts else name
        lines.append(f"  - {about}: {one['description']}" if one.get("description") else f"  - {about}")
    return "\n".join(lines)


def _optional(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    if default in (None, "", [], {}):
        return "optional"
    return f"default {json.dumps(default, ensure_ascii=False)}"


def schema(forms: Sequence[ToolForm]) -> Mapping[str, Any]:
    """Return the schema of a reply that calls one of these tools, as servers can hold a model to it."""
    return {"anyOf": [_call_schema(form) for form in forms]}


def _call_schema(form: ToolForm) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "const": form.name},
            "arguments": for_grammar(form.parameters),
        },
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def written_call(call: ToolCall) -> str:
    """Return a call as the message of the model that made it."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    return json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)


def written_result(call: ToolCall, text: str) -> str:
    """Return what a call gave, as the message that answers it."""
    return f"Result of {call.name}:\n{text}"


def action_of(reply: str, names: Collection[str], *, strict: bool) -> Action:
    """Read what a reply wants: its first call, in whatever form models write one, or its text.

    `strict` is for models that were told to reply with a call: one that is cut off, broken or of no known
    tool is a problem. Otherwise only a whole call counts that begins the reply, or ends it fenced or tagged;
    all else is text, also an answer that has JSON in it.
    """
    said, problem = without_thoughts(reply), ""
    for spot in spots(reply):
        named = _call(spot.value, names, loose=True) if strict else _beside_text(spot, names)
        if isinstance(named, ToolCall):
            return Action(named)
        if strict:
            problem = problem or _problem(spot, named, names)
        if named is not None or not spot.whole:  # what follows may be made up, or inside it
            break
    return Action(None, said, problem)


def _problem(spot: Spot, unknown: str | None, names: Collection[str]) -> str:
    """Say what is wrong with what is no call, empty where it was not meant as one."""
    if unknown is not None:
        near = get_close_matches(unknown.lower(), names, 1)
        wrong = f"There is no tool {unknown!r:.80}.{f' Did you mean {near[0]!r}?' if near else ''}"
    elif not _is_attempt(spot, names):
        return ""
    elif spot.whole:
        wrong = "The JSON in the reply names no tool."
    elif spot.cut:
        wrong = "The reply breaks off inside its JSON; write a shorter one."
    else:
        wrong = "The JSON in the reply cannot be read."
    return f"{wrong} Reply with one JSON object, {SHAPE}; the tools are {', '.join(names)}."


def _beside_text(spot: Spot, names: Collection[str]) -> ToolCall | None:
    """Return a call that stands where an answer in words would not have one."""
    begins, ends = _begins(spot), _AROUND.fullmatch(spot.text, spot.end) is not None
    if not spot.whole or not (begins or (ends and _is_wrapped(spot))):
        return None
    named = _call(spot.value, names, loose=begins and ends)
    return named if isinstance(named, ToolCall) else None


def _begins(spot: Spot) -> bool:
    return spot.first and _AROUND.fullmatch(spot.text, spot.begin, spot.start) is not None


def _is_wrapped(spot: Spot) -> bool:
    return _WRAPPED.search(spot.text[max(spot.begin, spot.start - _LONGEST_WRAP) : spot.start]) is not None


def _is_attempt(spot: Spot, names: Collection[str]) -> bool:
    """Tell whether what is no call was meant as one; an answer may well show an object."""
    if spot.text[spot.start] != "{":
        return False
    if spot.whole or _begins(spot):
        return _begins(spot)
    if _is_wrapped(spot):
        return True
    key = _KEY.match(spot.text, spot.start)
    meant = {_letters(name) for name in (*_NAMES, *_HOLDERS, *names)}
    return key is not None and _letters(key[1]) in meant


def _call(value: Any, names: Collection[str], *, loose: bool, depth: int = 0) -> ToolCall | str | None:
    """Return the call that a value is, the name of a tool that is unknown, or None for what is no call.

    `loose`: its arguments may stand beside the name, or the name may be the only key.
    """
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    value = {key: one for key, one in value.items() if key in names or key not in _BESIDE}
    named = _by_name(value, names, loose=loose)
    if named is None:
        inner = [value[key] for key in _HOLDERS if isinstance(value.get(key), Mapping | list)]
        tried = (_call(one, names, loose=loose, depth=depth + 1) for one in inner)
        named = next((one for one in tried if one is not None), None)
    if named is None and loose and len(value) == 1:
        [(key, arguments)] = value.items()
        if (name := _known(key, names)) and isinstance(arguments, Mapping | list | str | None):
            return ToolCall(name=name, arguments=_arguments(arguments))
    return named


def _by_name(value: Mapping[str, Any], names: Collection[str], *, loose: bool) -> ToolCall | str | None:
    keys = [key for key in _NAMES if isinstance(value.get(key), str)]
    key = next((one for one in keys if _known(value[one], names)), next(iter(keys), None))
    if key is None:
        return None
    held = next((one for one in _ARGUMENTS if one in value and one != key), None)
    name = _known(value[key], names)
    if not name:
        return str(value[key]) if held or len(value) == 1 else None
    if held is not None:
        return ToolCall(name=name, arguments=_arguments(value[held]))
    rest = {one: given for one, given in value.items() if one not in (key, "type")}
    return ToolCall(name=name, arguments=_arguments(rest)) if loose else None


def _known(written: str, names: Collection[str]) -> str:
    """Return the tool that a name means, empty for none."""
    if written in names:
        return written
    letters = {_letters(name): name for name in names}
    return letters.get(_letters(written), letters.get(_letters(written.rpartition(".")[2]), ""))


def _letters(name: str) -> str:
    return _LETTERS.sub("", name).lower()


def _arguments(value: Any) -> str:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return value
    return "{}" if value is None else json.dumps(value, ensure_ascii=False)


_INSTRUCTIONS = """\
Tools
{tools}

How to use them
Reply with one JSON object and nothing else: the name of one tool and its arguments, such as
{shape}
One tool in one reply. The next message gives its result; never write a result yourself."""
