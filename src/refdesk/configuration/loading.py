"""Load pipelines from presets, files and mappings."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from refdesk.configuration.building import Built
from refdesk.configuration.names import Names, known_names
from refdesk.configuration.reading import LARGEST, Unreadable, Value, as_value, read
from refdesk.errors import InputError, NotFound, PipelineError, Problem
from refdesk.pipeline import Pipeline, Step
from refdesk.pipeline.checking import errors

VERSION = 1
KEYS = ("version", "name", "description", "steps")
ENDINGS = (".yaml", ".yml")


def load_pipeline(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    steps: Iterable[type[Step]] = (),
    workers: Mapping[str, Any] | None = None,
) -> Pipeline:
    """Return the pipeline of a preset's name, a YAML file, or a mapping of the same form.

    `steps` are step classes and `workers` implementations by name that it may use besides the built-in ones.
    Errors: `PipelineError` with all that is wrong, `NotFound` where there is no such preset or file.
    """
    names = known_names(steps, workers)
    if isinstance(source, Mapping):
        return _pipeline(as_value(dict(source)), "", names)
    text, name = _text(fspath(source))
    try:
        return _pipeline(read(text), name, names)
    except Unreadable as error:
        raise PipelineError([error.problem], name=name) from error


def presets() -> Mapping[str, str]:
    """Return the names of the presets, each with what it is for."""
    return {name: str(read(text).data["description"].data) for name, text in _presets().items()}


@cache
def _presets() -> Mapping[str, str]:
    folder = files("refdesk.configuration") / "presets"
    found = {one.name: one for one in folder.iterdir() if one.name.endswith(ENDINGS)}
    return {name.rpartition(".")[0]: found[name].read_text("utf-8") for name in sorted(found)}


def _text(source: str) -> tuple[str, str]:
    """Return the text and the name of a preset or file. Errors: `NotFound`, `InputError`."""
    if source in _presets():
        return _presets()[source], source
    path = Path(source)
    if not path.exists():
        near = get_close_matches(source, _presets(), 1)
        known = ", ".join(_presets())
        raise NotFound(
            f"There is no preset and no file {source!r}.",
            remedy=f"Did you mean {near[0]!r}?" if near else f"Presets: {known}.",
        )
    try:
        if path.stat().st_size > 4 * LARGEST:
            raise InputError(f"The pipeline file {source!r} is too large: {path.stat().st_size:,} bytes.")
        return path.read_text("utf-8-sig"), source
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The pipeline file {source!r} cannot be read: {error}.", remedy="Give a YAML file in UTF-8."
        ) from error


def _pipeline(value: Value, name: str, names: Names) -> Pipeline:
    built = Built(names)
    top = value.data if isinstance(value.data, dict) else {}
    wrong = [*_form(value)]
    entries = top.get("steps", Value([], 0))
    steps = built.steps(entries) if "steps" in top else ()
    ordered = built.placed(errors(steps)) if "steps" in top else ()
    if problems := [*wrong, *_sorted([*built.problems, *ordered])]:
        raise PipelineError(problems, name=name)
    return Pipeline(steps, name=str(top["name"].data) if "name" in top else name)


def _sorted(problems: list[Problem]) -> list[Problem]:
    whole = [one for one in problems if not one.position]
    placed = [one for one in problems if one.position]
    return [*sorted(placed, key=lambda one: [part.zfill(4) for part in one.position.split(".")]), *whole]


def _form(value: Value) -> Iterable[Problem]:
    """Yield what is wrong with a file as a whole."""
    if not isinstance(value.data, dict):
        held = "nothing" if value.data is None else f"{value.plain!r:.60}"
        yield _whole(f"It holds {held}.", "Write a mapping with `version: 1` and `steps`.", value)
        return
    for key, one in value.data.items():
        if key not in KEYS:
            near = get_close_matches(str(key), KEYS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(KEYS)}."
            yield _whole(f"It has the key {key!r}.", hint, one)
        elif key in ("name", "description") and not isinstance(one.data, str):
            yield _whole(f"Its {key} is {one.plain!r:.60}.", "Write text.", one)
    version = value.data.get("version")
    if version is None or version.plain != VERSION:
        said = "no version" if version is None else f"version {version.plain!r}"
        yield _whole(f"It has {said}; {VERSION} is read here.", f"Write `version: {VERSION}`.", version)
    if "steps" not in value.data:
        yield _whole("It has no steps.", "Write `steps:` and a list of steps.", value)


def _whole(reason: str, remedy: str, at: Value | None) -> Problem:
    line = at.line if at is not None and at.line else None
    return Problem(position="", step="", reason=reason, remedy=remedy, line=line)
