"""What a sweep varies: settings of the desk, and options of the steps of its pipeline."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from refdesk.configuration import load_pipeline
from refdesk.configuration.building import option_names, step_fields
from refdesk.configuration.loading import PRESETS
from refdesk.errors import InputError, RefdeskError
from refdesk.pipeline import Pipeline, Step
from refdesk.pipeline.checking import placed
from refdesk.pipeline.options import adapter, reasons
from refdesk.settings import KINDS, Settings

STORED = ("embedder", "precision", "chunk_tokens", "token_vectors")
"""Settings that change what is stored: each combination of them has a library of its own."""
FIXED = ("library", "collection", "cache", "password")
"""Settings that say where things are, and nothing about quality."""
SHADOWED: Mapping[str, tuple[str, str]] = {
    "mode": ("search", "mode"),
    "fusion": ("search", "fusion"),
    "reranker": ("rerank", "reranker"),
    "rerank_depth": ("rerank", "depth"),
}
"""Settings to the step and the option that hold instead of them, where they are given."""

Values = Mapping[str, Any]
"""Name of a factor to the value that it has in one configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A setting, or `STEP.OPTION` with the step's id or name, and the values to try."""

    name: str
    values: tuple[Any, ...]

    @property
    def step(self) -> str:
        """The step's label; empty for a setting."""
        return self.name.rpartition(".")[0]

    @property
    def option(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What a configuration is where no factor changes it."""

    own: Settings
    """Of the library that is there."""
    settings: Settings
    """The same, with what the sweep file changes."""
    pipeline: str = ""
    """A preset's name or a file; empty for the setting `pipeline`."""
    judge: str = ""
    """Model string of what judges answers; empty where they are compared by words."""
    folder: Path = Path()
    """What the names of pipeline files are relative to."""

    def loaded(self, named: str = "") -> Pipeline:
        """Return the pipeline that is named, else the base's. Errors: those of `load_pipeline`."""
        source = named or self.pipeline or self.settings.pipeline
        return load_pipeline(source if source in PRESETS else self.folder / source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What one configuration runs with."""

    settings: Settings
    pipeline: Pipeline


def setup(base: Base, values: Values) -> Setup:
    """Put values of factors into the base. Errors: `SettingsError`, `InputError`, those of a pipeline."""
    settings = {name: value for name, value in values.items() if "." not in name and name != "pipeline"}
    pipeline = base.loaded(values.get("pipeline", ""))
    for name, value in values.items():
        step, _, option = name.rpartition(".")
        if step:
            pipeline = with_option(pipeline, step, option, value)
    return Setup(settings=base.settings.merged(settings, "the sweep"), pipeline=pipeline)


def base_values(base: Base, factors: Sequence[Factor]) -> dict[str, Any]:
    """Return what the base has for each factor. Errors: `InputError` for an unknown step or option."""
    pipeline = base.loaded()
    found: dict[str, Any] = {}
    for one in factors:
        if one.name == "pipeline":
            found[one.name] = base.pipeline or base.settings.pipeline
        elif one.step:
            found[one.name] = getattr(_step(pipeline, one.step, one.option), one.option)
        else:
            found[one.name] = getattr(base.settings, one.name)
    return found


def with_option(pipeline: Pipeline, label: str, option: str, value: Any) -> Pipeline:
    """Return a pipeline with one option of one step changed. Errors: `InputError`, `PipelineError`."""
    _step(pipeline, label, option)
    steps = _changed(pipeline.steps, label, lambda step: _optioned(step, option, value))
    return Pipeline(steps, name=pipeline.name)


def wrong_values(base: Base, factor: Factor) -> Iterator[str]:
    """Yield what is wrong with a factor, each with what to do."""
    try:
        _refuse_name(base, factor)
    except RefdeskError as error:
        yield str(error)
        return
    for value in factor.values:
        try:
            _try_value(base, factor, value)
        except RefdeskError as error:
            yield str(error)


def shadowed(base: Base, factor: Factor) -> str:
    """Say which step keeps a factor from having any effect; empty where none does."""
    label, option = SHADOWED.get(factor.name, ("", ""))
    for _, step in placed(base.loaded().steps):
        if step.name == label and getattr(step, option) is not None:
            return f"the step {step.label!r} has {option} {getattr(step, option)!r} of its own"
    return ""


def _refuse_name(base: Base, factor: Factor) -> None:
    if factor.step:
        _step(base.loaded(), factor.step, factor.option)
    elif factor.name in FIXED:
        raise InputError(f"The setting {factor.name!r} has no effect on quality.", remedy="Leave it out.")
    elif factor.name not in KINDS:
        near = get_close_matches(factor.name, KINDS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else "Options of steps are written STEP.OPTION."
        raise InputError(f"There is no setting {factor.name!r}.", remedy=hint)


def _try_value(base: Base, factor: Factor, value: Any) -> None:
    if factor.name == "pipeline":
        base.loaded(str(value))
    elif factor.step:
        with_option(base.loaded(), factor.step, factor.option, value)
    else:
        changed = base.settings.merged({factor.name: value}, "the sweep")
        _refuse_conversion(factor.name, value, getattr(changed, factor.name))


def _step(pipeline: Pipeline, label: str, option: str) -> Step:
    """Find a step by its label. Errors: `InputError` where it, or the option, is not there or not alone."""
    labels = [step.label for _, step in placed(pipeline.steps)]
    if labels.count(label) != 1:
        near = get_close_matches(label, labels, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Its steps: {', '.join(dict.fromkeys(labels))}."
        several = f"has no step {label!r} that could be told apart: {labels.count(label)} are called so"
        lacking = f"has no step {label!r}"
        raise InputError(
            f"The pipeline {pipeline.name!r} {several if label in labels else lacking}.",
            remedy="Give them an `id` each." if label in labels else hint,
        )
    step = next(step for _, step in placed(pipeline.steps) if step.label == label)
    names = option_names(type(step))
    if option not in names or option in (*step_fields(type(step)), "id"):
        near = get_close_matches(option, names, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Its options: {', '.join(names)}."
        raise InputError(f"The step {label!r} has no option {option!r} that could vary.", remedy=hint)
    return step


def _changed(steps: tuple[Step, ...], label: str, change: Callable[[Step], Step]) -> tuple[Step, ...]:
    return tuple(change(step) if step.label == label else _inside(step, label, change) for step in steps)


def _inside(step: Step, label: str, change: Callable[[Step], Step]) -> Step:
    blocks = {name: getattr(step, name) for name in step_fields(type(step))}
    if not any(one.label == label for block in blocks.values() for _, one in placed(block)):
        return step
    changed: dict[str, Any] = {name: _changed(block, label, change) for name, block in blocks.items()}
    return replace(step, **changed)


def _optioned(step: Step, option: str, value: Any) -> Step:
    """Return a step with another value of an option, read as from a file. Errors: `InputError`."""
    known = {one.name: getattr(step, one.name) for one in fields(step) if one.init}
    try:
        changed: Step = adapter(type(step)).validate_python({**known, option: value})
    except ValidationError as error:
        reason, remedy = next(reasons(error, list(known)))
        raise InputError(f"The step {step.label!r}: {reason}", remedy=remedy) from error
    _refuse_conversion(f"{step.label}.{option}", value, getattr(changed, option))
    for reason, remedy in changed.problems():
        raise InputError(f"The step {step.label!r} with {option} {value!r:.60}: {reason}", remedy=remedy)
    return changed


def _refuse_conversion(name: str, given: Any, read: Any) -> None:
    """Refuse '5' for 5: a name made of it would not tell them apart."""
    widened = type(given) is int and type(read) is float
    plain = isinstance(given, str | bool | int | float) and isinstance(read, str | bool | int | float)
    if plain and type(given) is not type(read) and not widened:
        raise InputError(f"{name} is {given!r:.60}.", remedy=f"Write {read!r:.60}.")


def in_words(value: Any) -> str:
    """Return a value as it is shown in names and tables."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return re.sub(r"\s+", " ", str(value))
