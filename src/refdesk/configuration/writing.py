"""A pipeline as data that loads to an equal one."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import yaml

from refdesk.configuration.building import option_names, step_fields
from refdesk.configuration.loading import VERSION
from refdesk.errors import InputError
from refdesk.pipeline import Pipeline, Step
from refdesk.yamlvalues import Loader


def to_data(pipeline: Pipeline, *, workers: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a pipeline as plain values; options with their default are left out.

    `workers` are the implementations by name that it may be loaded with.
    Errors: `InputError` for a step that holds other code, which has no form as data.
    """
    named = {"name": pipeline.name} if pipeline.name else {}
    writer = _Writer(workers or {})
    return {"version": VERSION, **named, "steps": [writer.entry(step) for step in pipeline.steps]}


def to_yaml(pipeline: Pipeline, *, workers: Mapping[str, Any] | None = None) -> str:
    """Return a pipeline as the text of a file. Errors: as of `to_data`."""
    return as_yaml(to_data(pipeline, workers=workers))


def as_yaml(data: Any) -> str:
    """Return plain values as a YAML text that `reading.read` reads as the same."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def changed_options(step: Step) -> dict[str, Any]:
    """Return the options of a step that are not the default, as they are."""
    changed = _changed(step)
    return {name: changed[name] for name in option_names(type(step)) if name in changed}


def shown_options(step: Step) -> dict[str, Any]:
    """Return the same without inner steps and as plain values, for readers: code as Python shows it."""
    found = {}
    for name, value in changed_options(step).items():
        if name not in step_fields(type(step)):
            try:
                found[name] = _Writer({})._plain(value, step, name)
            except InputError:
                found[name] = f"{value!r:.60}"
    return found


def _changed(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not the default."""
    own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
    return {one.name: own[one.name] for one in fields(value) if one.init and own[one.name] != _default(one)}


def _default(option: Field[Any]) -> Any:
    return option.default_factory() if option.default_factory is not MISSING else option.default


class _Writer:
    """Writes steps as entries of a file."""

    def __init__(self, workers: Mapping[str, Any]) -> None:
        self.workers = workers

    def entry(self, step: Step) -> str | dict[str, Any]:
        options = {name: self._plain(value, step, name) for name, value in changed_options(step).items()}
        return {step.name: options} if options else step.name

    def _plain(self, value: Any, step: Step, option: str) -> Any:
        match value:
            case None | bool() | int() | str():
                return value
            case float() if not math.isnan(value):
                return value
            case Step():
                return self.entry(value)
            case (worker, Mapping() as options) if name := self._name(worker):
                return {name: self._plain(options, step, option)}
            case tuple() | list():
                return [self._plain(one, step, option) for one in value]
            case Mapping() if all(isinstance(key, str) for key in value):
                return {key: self._plain(one, step, option) for key, one in value.items()}
        return self._name(value) or self._record(value, step, option)

    def _record(self, value: Any, step: Step, option: str) -> Any:
        if is_dataclass(value) and not isinstance(value, type) and not callable(value):
            return self._plain(_changed(value), step, option)
        raise InputError(
            f"The option {option!r} of the step {step.label!r} is {value!r:.60}, which has no form as data.",
            remedy="Give it as `workers=` under a name, use text instead, or keep the pipeline in code.",
        )

    def _name(self, worker: Any) -> str:
        return next((name for name, known in self.workers.items() if known is worker), "")


class _Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.1 or 1.2 would read as something other than text; long texts keep their lines."""


for _first, _resolvers in Loader.yaml_implicit_resolvers.items():
    for _tag, _pattern in _resolvers:
        _Dumper.add_implicit_resolver(_tag, _pattern, [_first])


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    printable = text.replace("\n", "").isprintable()
    style = "|" if printable and "\n" in text else None if printable else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
