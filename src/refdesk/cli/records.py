"""Values to JSON: the names of the fields are the names of the library."""

import json
import re
import sys
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from math import isfinite
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TextIO

from refdesk.context import Answer, Citation, Context
from refdesk.documents import Hit
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.retrieval import Results

UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def write_json(value: object, stream: TextIO | None = None, *, indent: int | None = 2) -> None:
    """Write one JSON document and a newline. What steers or hides text is escaped, so it is safe to show."""
    stream = stream or sys.stdout
    unicode = (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")
    text = json.dumps(plain(value), ensure_ascii=not unicode, indent=indent, allow_nan=False)
    stream.write(UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n")


def plain(value: Any) -> Any:
    """Turn dataclasses, mappings, sequences, dates and paths into what JSON has; NaN becomes null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | Set):
        return [plain(one) for one in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case Enum():
            return plain(value.value)
        case float() if not isfinite(value):
            return None
        case None | bool() | int() | float() | str():
            return value
        case date():
            return value.isoformat()
        case PathLike():
            return fspath(value)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    raise TypeError(f"No JSON form is known for {type(value).__name__}.")


def answer_record(answer: Answer) -> dict[str, Any]:
    """Return what `ask --json` prints: the answer with its citations, without the evidence's texts."""
    names = (
        "citations",
        "number_by",
        "grounding",
        "zone",
        "refusal",
        "removed_markers",
        "removed_links",
        "warnings",
        "timings",
        "model",
        "invitation",
        "degraded",
    )
    return {
        "question": answer.question,
        "answer": answer.text,
        **{name: plain(getattr(answer, name)) for name in names},
    }


def answer_of(record: object) -> Answer:
    """Return the answer that `ask --json` printed, with what its citations need. Errors: `InputError`."""
    from pydantic import TypeAdapter, ValidationError

    given = record if isinstance(record, Mapping) else {}
    try:
        citations = TypeAdapter(tuple[Citation, ...]).validate_python(given.get("citations"))
        question, text = TypeAdapter(tuple[str, str]).validate_python(
            (given.get("question"), given.get("answer"))
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"This is no answer as `refdesk ask --json` prints it: {where or 'citations'}: {first['msg']}.",
            remedy="Give it what `refdesk ask QUESTION --json` printed, whole.",
        ) from None
    return Answer(question=question, text=text, citations=citations)


def run_record(context: Context) -> dict[str, Any]:
    """Return what a run used and did, step by step in the order in which they began.

    Without an agentic loop, `terminated_by` is null and `tool_history` empty.
    """
    steps = sorted(context.trace, key=lambda one: one.started)
    return {
        "terminated_by": context.terminated_by,
        "tool_history": [plain(one) for one in context.tool_history],
        "usage": plain(context.usage),
        "trace": [plain(one) for one in steps],
    }


def hit_record(hit: Hit) -> dict[str, Any]:
    """Return a hit with its chunk's fields beside its own."""
    own = plain(hit)
    chunk = own.pop("chunk")
    return {"rank": own.pop("rank"), **chunk, **own, "found_by": list(hit.found_by)}


def results_record(results: "Results", *, explain: bool) -> dict[str, Any]:
    """Return what `search --json` prints."""
    record = {
        "question": results.question,
        "mode": results.mode,
        "hits": [hit_record(hit) for hit in results.hits],
        "reason": results.explanation.reason,
    }
    return {**record, "explanation": plain(results.explanation)} if explain else record
