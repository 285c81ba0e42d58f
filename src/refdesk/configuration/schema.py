"""The JSON Schema of pipeline files, for editors that complete and check YAML."""

from collections.abc import Iterable, Mapping
from typing import Any

from refdesk.configuration.describing import STEPS, options_schema
from refdesk.configuration.loading import VERSION
from refdesk.configuration.names import known_steps, step_class
from refdesk.pipeline import Step

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(steps: Iterable[type[Step]] = ()) -> dict[str, Any]:
    """Return the schema (draft 2020-12) of files that use the built-in steps, packages' and the given ones.

    A step of a package that cannot be loaded may have any options.
    """
    known = known_steps(steps)
    options: dict[str, Mapping[str, Any]] = {}
    for name in known:
        try:
            options[name] = options_schema(step_class(known, name))
        except ValueError as error:
            options[name] = {"type": "object", "description": f"It {error}."}
    shared = {name: one for schema in options.values() for name, one in schema.get("$defs", {}).items()}
    own = {_key(name): _bare(one) for name, one in options.items()}
    return {
        "$schema": DRAFT,
        "title": "Pipeline of refdesk",
        "type": "object",
        "required": ["version", "steps"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": VERSION, "description": "Version of this form."},
            "name": {"type": "string", "description": "What the pipeline is called in traces."},
            "description": {"type": "string", "description": "When to use it."},
            "steps": {**STEPS, "minItems": 1, "description": "What is done, in this order."},
        },
        "$defs": {"step": _step(options), **shared, **own},
    }


def _step(options: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the schema of an entry: a step's name alone, or one with its options."""
    alone = [name for name, schema in options.items() if not schema.get("required")]
    names = [{"const": name, "description": options[name]["description"]} for name in alone]
    return {
        "anyOf": [
            {"type": "string", "anyOf": names},
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": False,
                "properties": {name: _options(name, options[name], name in alone) for name in options},
            },
        ]
    }


def _options(name: str, schema: Mapping[str, Any], optional: bool) -> dict[str, Any]:
    refer = {"$ref": f"#/$defs/{_key(name)}"}
    described = {"description": schema["description"]}
    return {**described, "anyOf": [refer, {"type": "null"}]} if optional else {**described, **refer}


def _key(name: str) -> str:
    return f"{name}-options"


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$defs"}
