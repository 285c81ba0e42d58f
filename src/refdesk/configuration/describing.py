"""The options of a step in words, and as JSON Schema: for docs, editors and forms."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema

from refdesk.configuration.building import option_names, step_fields
from refdesk.pipeline import Step, When
from refdesk.pipeline.conditions import ConditionOption
from refdesk.pipeline.options import adapter
from refdesk.pipeline.prompts import PromptOption
from refdesk.pipeline.workers import ModelOption, WorkerOption

STEPS = {"type": "array", "items": {"$ref": "#/$defs/step"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a step as readers understand it."""

    name: str
    values: str
    """What may be given."""
    default: str
    """As it is written in a file; `required` where there is none, empty for none at all."""
    meaning: str


def options_of(kind: type[Step]) -> tuple[Option, ...]:
    """Return the options of a step class, its own before those that every step has."""
    schema = options_schema(kind)
    hints = get_type_hints(kind, include_extras=True)
    required = schema.get("required", ())
    return tuple(
        Option(
            name=name,
            values=_marked(getattr(hints[name], "__metadata__", ())) or in_words(one),
            default="required" if name in required else _default(one),
            meaning=" ".join(one.get("description", "").split()),
        )
        for name, one in schema["properties"].items()
    )


def speakers(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps whose text a reader is shown: the last that speaks; in `when` the last of each block.

    Where it cannot be replaced any more its text is shown while it is written, else when the step ends.
    """
    for last in [step for step in steps if step.speaks][-1:]:
        if isinstance(last, When):
            for block in last.blocks:
                yield from speakers(block)
        else:
            yield last


def _options_schema(kind: type[Step]) -> Mapping[str, Any]:
    schema = adapter(kind).json_schema(schema_generator=_Schema)
    bases = [base for base in kind.__mro__[1:] if issubclass(base, Step)]
    given = schema.get("properties", {})
    hints = get_type_hints(kind, include_extras=True)
    properties = {
        name: {**given[name], **_meaning(name, given, bases), **_form(given[name], hints[name])}
        for name in option_names(kind)
    }
    for name in step_fields(kind):
        properties[name] = {**properties[name], **STEPS}
        properties[name].pop("default", None)
    rest = {key: value for key, value in schema.items() if key not in ("properties", "$defs")}
    return {**rest, "properties": properties, "$defs": _others(schema, kind)}


options_schema: Callable[[Any], Mapping[str, Any]] = cache(_options_schema)
"""Takes a step class, returns the JSON Schema of its options; steps in it refer to `#/$defs/step`."""


def _meaning(name: str, given: Mapping[str, Any], bases: list[type[Step]]) -> Mapping[str, str]:
    """Return the docstring of an option, where it has none that of the same option of a base class."""
    for properties in (given, *(options_schema(base)["properties"] for base in bases)):
        if text := properties.get(name, {}).get("description"):
            return {"description": text}
    return {}


def _form(schema: Mapping[str, Any], hint: Any) -> Mapping[str, Any]:
    """Return the alternatives of an option with what its marks say of texts, beside its own docstring."""
    marks = [
        one for one in getattr(hint, "__metadata__", ()) if isinstance(one, PromptOption | ConditionOption)
    ]
    said = [TypeAdapter(Annotated[Any, one]).json_schema()["description"] for one in marks]
    if not said:
        return {}
    text, *others = schema["anyOf"]
    return {"anyOf": [{**text, "description": said[0]}, *others]}


def _others(schema: Mapping[str, Any], kind: type[Step]) -> Mapping[str, Any]:
    """Return the definitions that options refer to, without the one of steps."""
    return {} if step_fields(kind) else schema.get("$defs", {})


class _Schema(GenerateJsonSchema):
    """Without titles; what only code can give is left open."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 as pydantic has it

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def handle_invalid_for_json_schema(self, schema: CoreSchema, error_info: str) -> dict[str, Any]:
        return {}


def _marked(metadata: tuple[Any, ...]) -> str:
    """Return what options take that know code, empty for others."""
    for one in metadata:
        match one:
            case WorkerOption(method=method, names=names):
                known = "name, " if names else ""
                return f"{known}function, or object with a method `{method}`"
            case PromptOption(names=allowed):
                shown = ", ".join(f"`{{{name}}}`" for name in allowed)
                return f"text with {shown}, or function"
            case ModelOption():
                return "model string, model, or function"
            case ConditionOption():
                return "condition, list of conditions, or function"
    return ""


def in_words(schema: Mapping[str, Any]) -> str:
    """Return what a JSON Schema allows, in words."""
    if choices := schema.get("anyOf"):
        return " or ".join(dict.fromkeys(in_words(one) for one in choices if one.get("type") != "null"))
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        items = schema.get("items", {})
        return f"list of {'step' if items == STEPS['items'] else in_words(items)}s"
    words = {"integer": "whole number", "number": "number", "string": "text", "boolean": "`true`, `false`"}
    return words.get(str(schema.get("type")), "mapping") + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    said = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    return "".join(f", {words} {schema[key]:g}" for key, words in said.items() if key in schema)


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    empty = value is None or value in ("", [])
    return "" if empty else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
