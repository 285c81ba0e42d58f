"""JSON Schemas of tools: made plain for models, put in words, and reduced to what a grammar can hold."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from refdesk.errors import InputError

MOST_NODES = 2000
"""Parts of a tool's schema; one that names the same form again and again grows with every level."""
_NAMED = ("properties", "patternProperties", "$defs")
"""Keywords whose keys are names of one's own."""
_DATA = ("default", "enum", "const", "examples", "required")
_REPEATED = 50
"""Longest list that a grammar is asked to count."""
_FORMATS = {
    "date": "a date such as 2026-01-31",
    "time": "a time such as 14:30:00",
    "date-time": "a time such as 2026-01-31T14:30:00Z",
    "duration": "a duration such as P3DT12H",
    "uuid": "a UUID",
    "uri": "a URL",
}

Schema = Mapping[str, Any]


def plain(schema: Schema) -> dict[str, Any]:
    """Return a schema without pydantic's titles and with its references put in place.

    A form that holds itself stays a reference. Errors: `InputError` for one that is too large.
    """
    forms: Schema = schema.get("$defs", {})
    counted = iter(range(MOST_NODES))
    kept: set[str] = set()

    def put(part: Any, inside: tuple[str, ...]) -> Any:
        if next(counted, None) is None:
            raise InputError(
                f"The parameters of a tool have more than {MOST_NODES} parts, too many for a model.",
                remedy="Give it fewer parameters, or simpler ones.",
            )
        if isinstance(part, list):
            return [put(one, inside) for one in part]
        if not isinstance(part, Mapping):
            return part
        name = str(part.get("$ref", "")).removeprefix("#/$defs/")
        if name in inside:
            kept.add(name)
            return dict(part)
        if name in forms:
            rest = {key: value for key, value in part.items() if key != "$ref"}
            return put(forms[name], (*inside, name)) | put(rest, inside)
        return {key: _entry(key, value, inside, put) for key, value in part.items() if not _noise(key, value)}

    made: dict[str, Any] = put({key: value for key, value in schema.items() if key != "$defs"}, ())
    done: dict[str, Any] = {}
    while left := sorted(kept - done.keys()):
        done |= {name: put(forms[name], (name,)) for name in left}
    return made | ({"$defs": done} if done else {})


def _entry(key: str, value: Any, inside: tuple[str, ...], put: Callable[[Any, tuple[str, ...]], Any]) -> Any:
    if key in _DATA:
        return value
    if key in _NAMED:
        return {name: put(one, inside) for name, one in value.items()}
    return put(value, inside)


def _noise(key: str, value: Any) -> bool:
    return key == "title" or (key == "discriminator" and isinstance(value, Mapping))


def branches(schema: Schema) -> list[Schema]:
    """Return the forms that a value may have, null aside."""
    several = schema.get("anyOf", schema.get("oneOf", (schema,)))
    return [one for one in several if one.get("type") != "null"]


def admits_null(schema: Schema) -> bool:
    """Tell whether null is a value of its own."""
    several = schema.get("anyOf", schema.get("oneOf", (schema,)))
    return any(
        one.get("type", "null") == "null" and one.get("const") is None
        for one in several
        if "enum" not in one and "$ref" not in one
    )


def in_words(schema: Schema) -> str:
    """Say what a schema allows, empty where that is not known."""
    if several := branches(schema) if {"anyOf", "oneOf"} & schema.keys() else ():
        each = [in_words(one) for one in several]
        return " or ".join(dict.fromkeys(each)) if all(each) else ""
    if "enum" in schema or "const" in schema:
        values = [
            json.dumps(value, ensure_ascii=False) for value in schema.get("enum", [schema.get("const")])
        ]
        return " or ".join(values) if len(values) < 3 else f"one of {', '.join(values)}"
    return _WORDS[kind](schema) if (kind := schema.get("type")) in _WORDS else ""


def _whole_number(schema: Schema) -> str:
    return _number({"noun": "a whole number", **_bounds(schema)})


def _number(schema: Schema) -> str:
    noun = schema.get("noun", "a number")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{noun} from {low} to {high}"
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    bounds = {"of at least": low, "above": above, "of at most": high, "below": below}
    said = " and ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)
    return f"{noun} {said}".rstrip()


def _bounds(schema: Schema) -> dict[str, int]:
    """Return the bounds of a whole number as the least and the greatest that are allowed."""
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    low = schema.get("minimum", None if above is None else above + 1)
    high = schema.get("maximum", None if below is None else below - 1)
    return {key: one for key, one in (("minimum", low), ("maximum", high)) if isinstance(one, int)}


def _text(schema: Schema) -> str:
    least, most, pattern = (schema.get(key) for key in ("minLength", "maxLength", "pattern"))
    noun = _FORMATS.get(schema.get("format", ""), "text")
    said = [f"of at least {least} character{'s' if least != 1 else ''}" if least else ""]
    said += [
        f"of at most {most} characters" if most is not None else "",
        f"that matches {pattern}" if pattern else "",
    ]
    return " ".join((noun, *filter(None, said)))


def _list(schema: Schema) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    count = (
        f"{least}"
        if least == most
        else f"{least or 0} to {most}"
        if most is not None
        else f"at least {least}"
    )
    size = f"a list of {count}" if least or most is not None else "a list"
    if each := [in_words(one) for one in schema.get("prefixItems", ())]:
        return f"a list of {', '.join(each)}" if all(each) else size
    return f"{size}, each {said}" if (said := in_words(schema.get("items", {}))) else size


def _object(schema: Schema) -> str:
    required = schema.get("required", ())
    keys = [
        (f"`{name}`", ", ".join(filter(None, (in_words(one), "" if name in required else "optional"))))
        for name, one in schema.get("properties", {}).items()
    ]
    names = ", ".join(f"{name} ({said})" if said else name for name, said in keys)
    return f"an object with {names}" if names else "an object"


_WORDS: Mapping[Any, Callable[[Schema], str]] = {
    "integer": _whole_number,
    "number": _number,
    "boolean": lambda _: "true or false",
    "string": _text,
    "array": _list,
    "object": _object,
}


def for_grammar(schema: Schema) -> dict[str, Any]:
    """Return a schema of what servers can hold a model to: shapes, choices, small bounds.

    It allows no less than the schema that it is made of; what it leaves out is checked afterwards.
    """
    if "anyOf" in schema or "oneOf" in schema:
        return {"anyOf": [for_grammar(one) for one in schema.get("anyOf", schema.get("oneOf", ()))]}
    if "const" in schema or "enum" in schema:
        return {key: schema[key] for key in ("type", "const", "enum") if key in schema}
    made = {"type": schema["type"]} if isinstance(schema.get("type"), str) else {}
    return made | dict(_kept(schema, made.get("type", "")))


def _kept(schema: Schema, kind: str) -> Iterator[tuple[str, Any]]:
    if kind == "object" and "properties" in schema:
        yield "properties", {name: for_grammar(one) for name, one in schema["properties"].items()}
        yield "required", list(schema.get("required", ()))
        yield "additionalProperties", False
    elif kind == "object":
        more = schema.get("additionalProperties", True)
        yield "additionalProperties", for_grammar(more) if isinstance(more, Mapping) else True
    elif kind == "array":
        yield from _items(schema)
    elif kind == "integer":
        yield from _bounds(schema).items()


def _items(schema: Schema) -> Iterator[tuple[str, Any]]:
    first: Sequence[Schema] = schema.get("prefixItems", ())
    if first:
        yield "prefixItems", [for_grammar(one) for one in first]
    elif "items" in schema:
        yield "items", for_grammar(schema["items"])
    yield from (
        (key, schema[key]) for key in ("minItems", "maxItems") if schema.get(key, _REPEATED) < _REPEATED
    )


def sample(schema: Schema) -> Any:
    """Return a value that shows the form of what a schema allows; of an object what it must have."""
    if {"anyOf", "oneOf"} & schema.keys():
        return sample(next(iter(branches(schema)), {}))
    if known := [
        *schema.get("examples", ()),
        *schema.get("enum", ()),
        *([schema["const"]] if "const" in schema else ()),
    ]:
        return known[0]
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        return {name: sample(properties.get(name, {})) for name in schema.get("required", ())}
    if schema.get("type") == "array":
        return [sample(one) for one in schema.get("prefixItems", (schema.get("items", {}),))]
    return {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": True}.get(
        schema.get("type", ""), "..."
    )
