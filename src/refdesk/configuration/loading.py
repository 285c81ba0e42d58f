"""Load pipelines from presets, files, texts and mappings; check them without running anything."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from refdesk.configuration.building import Builder
from refdesk.configuration.names import Plugins, known_steps, known_workers
from refdesk.errors import InputError, NotFound, PipelineError, Problem
from refdesk.pipeline import Pipeline, Step
from refdesk.yamlvalues import LARGEST, Fault, Unreadable, Value, as_value, read

VERSION = 1
KEYS = ("version", "name", "description", "steps")
ENDINGS = (".yaml", ".yml")
PRESETS = ("simple", "default", "modular", "agentic", "forum", "assistant")
"""The pipelines that come with refdesk, the simplest first."""

Source = str | PathLike[str] | Mapping[str, Any]
"""A preset's name, a file, or what a file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A pipeline, or all that keeps it from running."""

    pipeline: Pipeline | None
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()
    """What should be looked at and does not keep it from running."""


def load_pipeline(
    source: Source, *, steps: Iterable[type[Step]] = (), workers: Mapping[str, Any] | None = None
) -> Pipeline:
    """Return the pipeline of a preset's name, a YAML file, or a mapping of the same form.

    `steps` are step classes and `workers` implementations by name that it may use besides the built-in ones.
    Errors: `PipelineError` with all that is wrong, `NotFound` where there is no such preset or file,
    `InputError` for a file that cannot be read.
    """
    return _whole(check_pipeline(source, steps=steps, workers=workers), source)


def pipeline_from_text(
    text: str,
    *,
    name: str = "",
    steps: Iterable[type[Step]] = (),
    workers: Mapping[str, Any] | None = None,
) -> Pipeline:
    """Return the pipeline of a YAML text. Errors: `PipelineError`."""
    return _whole(_checked_text(text, name, known_steps(steps), known_workers(workers)), name)


def check_pipeline(
    source: Source, *, steps: Iterable[type[Step]] = (), workers: Mapping[str, Any] | None = None
) -> Checked:
    """Return what is wrong with a pipeline and what should be looked at. Errors: `NotFound`, `InputError`."""
    known, implementations = known_steps(steps), known_workers(workers)
    if not isinstance(source, Mapping):
        if source in PRESETS:
            return _preset(str(source))
        path = Path(fspath(source))
        return _checked_text(_text(path), path.stem, known, implementations)
    try:
        value = as_value(source)
    except Unreadable as error:
        return Checked(pipeline=None, problems=(error.problem,))
    return _checked(value, "", known, implementations)


def presets() -> Mapping[str, str]:
    """Return the names of the presets, each with what it is for."""
    return {name: str(read(_preset_text(name)).plain["description"]) for name in PRESETS}


def _preset_text(name: str) -> str:
    return (files("refdesk.configuration") / "presets" / f"{name}.yaml").read_text("utf-8")


@cache
def _preset(name: str) -> Checked:
    return _checked_text(_preset_text(name), name, known_steps(), known_workers())


def _text(path: Path) -> str:
    """Return the text of a file. Errors: `NotFound`, `InputError`."""
    try:
        if not path.exists():
            raise _missing(str(path))
        if not path.is_file():
            raise _unusable(path, "is a folder" if path.is_dir() else "is no file")
        if path.suffix.lower() not in ENDINGS:
            raise _unusable(path, f"ends in {path.suffix!r}")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise _unusable(path, f"has more than {LARGEST:,} bytes")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unusable(path, f"is no UTF-8 text, as byte {error.start + 1} shows") from error
    except (OSError, ValueError) as error:
        raise _unusable(path, f"cannot be read: {error}") from error


def _unusable(path: Path, why: str) -> InputError:
    return InputError(
        f"The pipeline file {str(path)!r:.200} {why}.",
        remedy=f"Give a text in UTF-8 that ends in {' or '.join(ENDINGS)}.",
    )


def _missing(name: str) -> NotFound:
    near = get_close_matches(name, PRESETS, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Presets: {', '.join(PRESETS)}."
    return NotFound(f"There is no preset and no file {name!r:.200}.", remedy=hint)


def _checked_text(text: str, name: str, steps: Plugins, workers: Plugins) -> Checked:
    try:
        value = read(text)
    except Unreadable as error:
        return Checked(pipeline=None, problems=(error.problem,))
    return _checked(value, name, steps, workers)


def _checked(value: Value, name: str, steps: Plugins, workers: Plugins) -> Checked:
    entries = _entries(value)
    form = tuple(_form(value, entries))
    if entries is None:
        return Checked(pipeline=None, problems=form)
    builder = Builder(steps=steps, workers=workers)
    built = builder.build(entries.data)
    problems = (*form, *builder.problems(built))
    named = value.plain.get("name", name)
    pipeline = None if problems else Pipeline(built, name=named)
    return Checked(pipeline=pipeline, problems=problems, remarks=builder.remarks(built))


def _entries(value: Value) -> Value | None:
    """Return the entries of the steps, also where their key is misspelt; None where there is no list."""
    top: Mapping[str, Value] = value.data if isinstance(value.data, dict) else {}
    near = [] if "steps" in top else get_close_matches("steps", [key for key in top if key not in KEYS], 1)
    found = top.get(near[0] if near else "steps")
    return found if found is not None and isinstance(found.data, list) else None


def _form(value: Value, entries: Value | None) -> Iterator[Problem]:
    """Yield what is wrong with a file as a whole, apart from its entries."""
    if not isinstance(value.data, dict):
        held = "is empty" if value.data is None else f"is {value.plain!r:.60}"
        faults = [*value.everywhere(), Fault(value.line, f"It {held}.", "Write `version: 1` and `steps:`.")]
    else:
        outside = (one for one in value.data.values() if one is not entries)
        faults = [*value.faults, *(fault for one in outside for fault in one.everywhere())]
        faults += [fault for key, one in value.data.items() for fault in _key(key, one)]
        faults += _required(value.data)
    for one in faults:
        yield Problem(position="", step="", reason=one.reason, remedy=one.remedy, line=one.line or None)


def _key(key: str, value: Value) -> Iterator[Fault]:
    if key not in KEYS:
        near = get_close_matches(key, KEYS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(KEYS)}."
        yield Fault(value.line, f"It has the key {key!r}.", hint)
    elif key in ("name", "description") and not isinstance(value.data, str):
        yield Fault(value.line, f"Its {key} is {value.plain!r:.60}.", "Write text, in quotes where needed.")
    elif key == "steps" and not isinstance(value.data, list):
        yield Fault(value.line, f"Its steps are {value.plain!r:.60}.", "Write a list, `- search` and so on.")
    elif key == "version" and (type(value.data) is not int or value.data != VERSION):
        yield Fault(value.line, f"Its version is {value.plain!r:.60}.", f"Write `version: {VERSION}`.")


def _required(top: Mapping[str, Value]) -> Iterator[Fault]:
    unknown = [key for key in top if key not in KEYS]
    for key, remedy in (("version", f"Write `version: {VERSION}`."), ("steps", "Write `steps:` and a list.")):
        if key not in top and not get_close_matches(key, unknown, 1):
            yield Fault(0, f"It has no {key}.", remedy)


def _whole(checked: Checked, source: Source) -> Pipeline:
    if checked.pipeline is None:
        name = "" if isinstance(source, Mapping) else fspath(source)
        raise PipelineError(checked.problems, name=name)
    return checked.pipeline
