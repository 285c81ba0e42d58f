"""Arguments of a call held against a tool's parameters; what is wrong with them in words for a model."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from refdesk.errors import ReplyUnreadable, ToolError
from refdesk.llm.replies import read
from refdesk.loop.schemas import admits_null, branches, in_words

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SHOWN = 80
"""Characters of a wrong value that a model is shown again."""
MOST = 5
"""Problems that it is told at once."""
_LETTERS = re.compile(r"[\W_]+")
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_OWN_WORDS = ("value_error", "assertion_error")

Schema = Mapping[str, Any]


def checked(
    tool: str, model: type[BaseModel], schema: Schema, fields: Mapping[str, str], given: Schema
) -> dict[str, Any]:
    """Return arguments as the function takes them, defaults filled in. Errors: `ToolError`."""
    known: Schema = schema["properties"]
    named = fitted(given, known, schema["required"])
    if unknown := [key for key in named if key not in known]:
        raise ToolError(f"{tool}: {' '.join(_unknown(key, known) for key in unknown[:MOST])}")
    try:
        value = model.model_validate(named)
    except ValidationError as error:
        found = dict.fromkeys(_problems(error.errors(include_url=False), schema, named))
        raise ToolError(f"{tool}: {' '.join([*found][:MOST])}") from error
    except Exception as error:  # a check of the tool's own that broke
        raise ToolError(
            f"{tool}: the arguments cannot be checked: {type(error).__name__}: {error!s:.200}."
        ) from error
    return {own: getattr(value, field) for own, field in fields.items()}


def fitted(given: Schema, known: Schema, required: Collection[str]) -> dict[str, Any]:
    """Return arguments by the names and in the forms of a schema, where it is plain what was meant."""
    if len(given) == 1:
        [(key, inner)] = given.items()
        if key not in known and isinstance(inner, Mapping) and inner and inner.keys() <= known.keys():
            given = inner
    letters = {_letters(name): name for name in known}
    named = {
        key if key in known else letters.get(_letters(str(key)), str(key)): value
        for key, value in given.items()
    }
    named |= {key: value for key, value in given.items() if key in known}
    return {
        key: _in_form(value, known.get(key, {}))
        for key, value in named.items()
        if value is not None or key not in known or key in required or admits_null(known[key])
    }


def _letters(name: str) -> str:
    return _LETTERS.sub("", name).lower()


def _in_form(value: Any, schema: Schema) -> Any:
    """Read lists and objects that were written as text; one value is a list of one."""
    kinds = {one.get("type") for one in branches(schema)}
    if not isinstance(value, str) or not kinds or not kinds <= {"array", "object"}:
        return value
    try:
        found = read(value).value
    except ReplyUnreadable:
        found = value
    if kinds == {"array"}:
        return found if isinstance(found, list) else [found]
    return found


def _unknown(key: str, known: Schema) -> str:
    near = get_close_matches(key.lower(), known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else "."
    names = ", ".join(f"`{name}`" for name in known)
    allowed = f"Allowed are {names}." if names else "It takes none."
    return f"There is no parameter `{key:.{SHOWN}}`{hint} {allowed}"


def _problems(errors: "list[ErrorDetails]", schema: Schema, given: Schema) -> Iterator[str]:
    for error in errors:
        if error["type"] in _UNKNOWN:
            yield f"`{'.'.join(map(str, error['loc']))}` is no key that is allowed."
            continue
        path, part, value = _place(error, schema, given)
        where, allowed = f"`{'.'.join(path)}`", in_words(part)
        if error["type"] == "missing":
            yield f"{where} is missing; give {allowed}." if allowed else f"{where} is missing."
        elif allowed and error["type"] not in _OWN_WORDS:
            yield f"{where} is {shown(value)}; {allowed} is allowed."
        else:
            reason = str(error.get("ctx", {}).get("error", "")) or error["msg"]
            yield f"{where} is {shown(value)}; {reason.rstrip('.')}."


def _place(error: "ErrorDetails", schema: Schema, given: Schema) -> tuple[list[str], Schema, Any]:
    """Follow an error to the part that it is about, as far as the schema says where that is."""
    path: list[str] = []
    value: Any = given
    part = schema
    for step in error["loc"]:
        inner = _inner(part, step, schema.get("$defs", {}))
        if inner is None:
            break
        path.append(str(step))
        part, value = inner, _entry(value, step)
    return path, part, value


def _entry(value: Any, step: int | str) -> Any:
    if isinstance(value, list) and isinstance(step, int):
        return value[step] if step < len(value) else None
    return value.get(step) if isinstance(value, Mapping) else None


def _inner(schema: Schema, step: int | str, forms: Schema) -> Schema | None:
    several = branches(schema)
    if len(several) != 1:
        return None
    form = forms.get(str(several[0].get("$ref", "")).removeprefix("#/$defs/"), several[0])
    if isinstance(step, int):
        first = form.get("prefixItems", ())
        found = first[step] if step < len(first) else form.get("items")
    else:
        found = form.get("properties", {}).get(step, form.get("additionalProperties"))
    return found if isinstance(found, Mapping) else None


def shown(value: Any) -> str:
    """Return a value as a model wrote it, cut."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
