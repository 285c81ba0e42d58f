"""Check what workers and models return, so that nonsense becomes an error of the step."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from refdesk.cleaning import clean
from refdesk.errors import StepError
from refdesk.pipeline import Step

LONGEST_QUERY = 2000
"""Characters; a longer query is an answer, or noise."""

_FENCE = re.compile(r"```\w*")
_LABEL = re.compile(
    r"[-*•>#\s]*(?:(?:the|a|my|search|rewritten|better|improved|clear|expanded|new|stand-?alone) ){0,3}"
    r"query[*\s]*[:：][*\s]*",
    re.IGNORECASE,
)
_QUOTES = (
    ("```", "```"),
    ("**", "**"),
    *zip("\"'`“„‘«»「", "\"'`”“’»«」", strict=True),
)


def text_of(value: Any, step: Step, what: str) -> str:
    """Return a text without the white space around it. Errors: `StepError` where it is none, or blank."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise StepError(
        f"The step {step.label!r} got {value!r:.80} as its {what}; text that is not blank is allowed.",
        step=step.label,
        remedy=f"Make the {step.worker or 'implementation'} return text.",
    )


def one_line(value: Any, step: Step, what: str, longest: int = LONGEST_QUERY) -> str:
    """Return the query in a text, see `query_in`. Errors: `StepError` where there is none."""
    line = query_in(text_of(value, step, what))
    if len(line) > longest:
        raise StepError(
            f"The step {step.label!r} got {len(line)} characters as its {what}; {longest} are allowed.",
            step=step.label,
            remedy="A query is short; an answer is not asked for here.",
        )
    if not any(character.isalnum() for character in line):
        raise StepError(
            f"The step {step.label!r} got {value!r:.80} as its {what}; it holds no word.",
            step=step.label,
            remedy=f"Make the {step.worker or 'implementation'} return a query.",
        )
    return line


def query_in(text: str) -> str:
    """Return the first line that is not an announcement, without label, fence and quotes; may be empty."""
    stripped = (line.strip() for line in clean(text).text.splitlines())
    lines = [line for line in stripped if line and not _FENCE.fullmatch(line)]
    while len(lines) > 1 and lines[0].rstrip("*").endswith((":", "：")):
        lines.pop(0)
    line = " ".join(lines[0].split()) if lines else ""
    label = _LABEL.match(line)
    return _unquoted(line[label.end() :] if label and label.end() < len(line) else line)


def _unquoted(line: str) -> str:
    """Take away quotes around all of a line; those around parts of it mean something."""
    for opening, closing in _QUOTES:
        inner = line[len(opening) : -len(closing)]
        around = len(line) >= len(opening + closing) and line.startswith(opening) and line.endswith(closing)
        if around and opening not in inner and closing not in inner:
            return _unquoted(inner.strip())
    return line


def same(query: str) -> str:
    """Return what equal queries have in common, whatever their case, spacing and last sign."""
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split()).rstrip(" ?!.,;:")


def distinct(queries: Iterable[str]) -> tuple[str, ...]:
    """Return queries without blank ones and repetitions, in their order."""
    found: dict[str, str] = {}
    for query in queries:
        found.setdefault(same(query), query)
    return tuple(query for key, query in found.items() if key)


def listed(value: Any, step: Step, what: str) -> tuple[str, ...]:
    """Return a list of texts. Errors: `StepError` for anything else, a single text included."""
    items = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else (None,)
    if all(isinstance(item, str) for item in items):
        return items
    raise StepError(
        f"The step {step.label!r} got {value!r:.80} as its {what}; a list of texts is allowed.",
        step=step.label,
        remedy=f"Make the {step.worker or 'implementation'} return such a list.",
    )


def reason_in(value: Any) -> str:
    """Return a reason that was given for a decision, empty where it is no text: nothing depends on it."""
    return clean(value).text.strip() if isinstance(value, str) else ""


Reason = Annotated[str, BeforeValidator(reason_in)]
"""A field of a model's reply that says why."""
