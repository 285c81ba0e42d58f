"""A pipeline as data that loads to an equal one."""

from dataclasses import MISSING, Field, fields
from typing import Any

import yaml

from refdesk.configuration.loading import VERSION
from refdesk.errors import InputError
from refdesk.pipeline import Pipeline, Step


def to_data(pipeline: Pipeline) -> dict[str, Any]:
    """Return a pipeline as plain values; options with their default are left out.

    Errors: `InputError` for a step that holds code, which has no form as data.
    """
    named = {"name": pipeline.name} if pipeline.name else {}
    return {"version": VERSION, **named, "steps": [entry(step) for step in pipeline.steps]}


def to_yaml(pipeline: Pipeline) -> str:
    """Return a pipeline as the text of a file."""
    return yaml.safe_dump(to_data(pipeline), sort_keys=False, allow_unicode=True, width=100)


def entry(step: Step) -> str | dict[str, Any]:
    """Return a step as an entry of a file."""
    options = {
        one.name: _plain(getattr(step, one.name), step, one.name)
        for one in fields(step)
        if one.init and getattr(step, one.name) != _default(one)
    }
    return {step.name: options} if options else step.name


def _default(one: Field[Any]) -> Any:
    return one.default_factory() if one.default_factory is not MISSING else one.default


def _plain(value: Any, step: Step, option: str) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Step():
            return entry(value)
        case tuple() | list():
            return [_plain(one, step, option) for one in value]
        case dict():
            return {key: _plain(one, step, option) for key, one in value.items()}
    raise InputError(
        f"The option {option!r} of the step {step.label!r} is {value!r:.60}, which has no form as data.",
        remedy="Use a name that is given when the file is loaded, or keep the pipeline in code.",
    )
