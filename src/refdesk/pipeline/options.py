"""The options of a step class as pydantic sees them: values of steps made in code are checked like YAML's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from refdesk.pipeline.step import Step


adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Takes a step class, returns what reads and checks its options."""


def wrong_options(step: "Step") -> Iterator[tuple[str, str]]:
    """Yield a reason and a remedy for each option whose value is not of its type or out of its bounds."""
    values = {one.name: getattr(step, one.name) for one in fields(step) if one.init}
    try:
        read = adapter(type(step)).validate_python(values)
    except ValidationError as error:
        yield from reasons(error, list(values))
        return
    for name, value in values.items():
        if isinstance(value, str | int | float) and value != (meant := getattr(read, name)):
            yield f"Its option {name!r} is {value!r:.60}.", f"Write {meant!r:.60}."


def reasons(error: ValidationError, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield one reason and remedy per option, however many forms of it were tried."""
    for _, reason, remedy in reasons_by_option(error, known):
        yield reason, remedy


def reasons_by_option(error: ValidationError, known: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield option, reason and remedy, one of each per option."""
    seen: set[str] = set()
    for one in error.errors(include_url=False):
        option = str(one["loc"][0]) if one["loc"] else ""
        if option not in seen:
            seen.add(option)
            yield option, *_reason(option, one, known)


def _reason(option: str, one: "ErrorDetails", known: Sequence[str]) -> tuple[str, str]:
    if one["type"] == "unexpected_keyword_argument":
        near = get_close_matches(option, known, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Its options: {', '.join(sorted(known))}."
        return f"It has no option {option!r}.", hint
    if one["type"] == "missing":
        return f"Its option {option!r} is missing.", "Give it."
    said = str(one.get("ctx", {}).get("error", "")) or f"is {one['input']!r:.60}: {one['msg']}"
    said = said if said.endswith("?") else f"{said.rstrip('.')}."
    return f"Its option {option!r} {said}", "Change the value, or leave the option out."
