"""The JSON Schema of pipeline files, for editors that complete and check YAML."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from refdesk.configuration.building import block_fields
from refdesk.configuration.loading import VERSION
from refdesk.pipeline import Step
from refdesk.pipeline.options import adapter
from refdesk.steps import BUILTIN

STEPS = {"type": "array", "items": {"$ref": "#/$defs/step"}}


def json_schema(steps: Iterable[type[Step]] = ()) -> dict[str, Any]:
    """Return the schema (draft 2020-12) of files that use the built-in steps and the given ones."""
    known = {one.name: one for one in (*BUILTIN, *steps)}
    options = {name: _options(one) for name, one in known.items()}
    bare = [name for name, schema in options.items() if not schema.get("required")]
    written = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            name: {
                "description": schema["description"],
                "anyOf": [{"$ref": f"#/$defs/{name}"}, *([{"type": "null"}] if name in bare else [])],
            }
            for name, schema in options.items()
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "refdesk pipeline",
        "type": "object",
        "required": ["version", "steps"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": VERSION},
            "name": {"type": "string"},
            "description": {"type": "string"},
            "steps": {**STEPS, "minItems": 1},
        },
        "$defs": {"step": {"anyOf": [{"enum": bare}, written]}, **options},
    }


@cache
def _shared() -> Mapping[str, Any]:
    """Return the options that every step has."""
    properties: Mapping[str, Any] = adapter(Step).json_schema()["properties"]
    return properties


def _options(step: type[Step]) -> dict[str, Any]:
    schema = adapter(step).json_schema()
    properties = schema["properties"]
    for name, shared in _shared().items():
        properties[name].setdefault("description", shared["description"])
    for name in block_fields(step):
        properties[name] = {**STEPS, "description": properties[name].get("description", "")}
    return {
        "description": inspect.getdoc(step) or step.name,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        **({"required": schema["required"]} if schema.get("required") else {}),
    }
