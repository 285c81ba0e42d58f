"""Conditions on a context, for `when` and `repeat`: a function in code, text such as `hits<3` in YAML."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from refdesk.answering import REFUSALS
from refdesk.context import Context, Decision, Zone
from refdesk.documents import Scalar
from refdesk.errors import InputError
from refdesk.filters import And, Compare, Equals, Filter, In, Not, Record, parse_filter
from refdesk.filters.meaning import check, matches
from refdesk.tooluse import TerminatedBy

Condition = Callable[[Context], bool] | str | tuple[str, ...]
"""A function, one condition as text, or several of which all must hold."""


def facts(context: Context) -> Mapping[str, Scalar | tuple[Scalar, ...]]:
    """Return what a condition may ask about."""
    hits = context.hits
    scores = [hit.rerank_score for hit in hits if hit.rerank_score is not None]
    found: dict[str, Scalar | tuple[Scalar, ...]] = {
        "question_words": len(context.question.split()),
        "history": len(context.history),
        "collections": context.collections,
        "skip_retrieval": context.skip_retrieval,
        "sub_questions": len(context.sub_questions),
        "hits": len(hits),
        "zone": context.zone,
        "corrections": context.correction_count,
        "warnings": len(context.warnings),
        "answered": context.answer is not None and context.answer.refusal is None,
        "citations": len(context.citations),
    }
    optional = {
        "best_score": max(scores, default=None),
        "refusal": context.answer.refusal if context.answer else None,
        "terminated_by": context.terminated_by,
        "verdict": context.verdict.decision if context.verdict else None,
        "grounding": context.grounding.score if context.grounding else None,
    }
    return found | {name: value for name, value in optional.items() if value is not None}


WORDS: Mapping[str, tuple[str, ...]] = {
    "zone": get_args(Zone),
    "verdict": get_args(Decision),
    "refusal": REFUSALS,
    "terminated_by": get_args(TerminatedBy),
}
"""Facts that are one of some words."""
TRUTHS = ("skip_retrieval", "answered")
FACTS = (*facts(Context(question="")), "best_score", "refusal", "terminated_by", "verdict", "grounding")


def holds(condition: Condition, context: Context) -> bool:
    """Tell whether a condition is true. Errors: `InputError` for one that cannot be read."""
    if callable(condition):
        return bool(condition(context))
    return matches(parsed(condition), _Facts(facts(context)))


def parsed(condition: str | tuple[str, ...]) -> Filter:
    """Read conditions. Errors: `InputError`, also for names that no context has."""
    lines = (condition,) if isinstance(condition, str) else condition
    return And(tuple(_read(line) for line in lines))


def _read(line: str) -> Filter:
    read = parse_filter(line)
    check(read)
    asked = read.filter if isinstance(read, Not) else read
    name = getattr(asked, "key", "")
    if name not in FACTS:
        raise InputError(f"The condition {line!r} asks about {name!r}.", remedy=f"Known: {', '.join(FACTS)}.")
    if wrong := [value for value in _values(asked) if not _may_be(name, value)]:
        raise InputError(
            f"The condition {line!r} can never hold: {name} is never {wrong[0]!r}.",
            remedy=f"Allowed: {_allowed(name)}.",
        )
    return read


def _values(asked: Filter) -> tuple[Scalar, ...]:
    """Return what a condition compares with, one for each reading of what was typed."""
    match asked:
        case In(values=values):
            fitting = {str(value).casefold() for value in values if _may_be(asked.key, value)}
            return tuple(value for value in values if str(value).casefold() not in fitting)
        case Equals(value=value) | Compare(value=value):
            return (value,)
    return ()


def _may_be(name: str, value: Scalar) -> bool:
    if name in WORDS:
        return value in WORDS[name]
    if name in TRUTHS:
        return isinstance(value, bool)
    return name == "collections" or (isinstance(value, int | float) and not isinstance(value, bool))


def _allowed(name: str) -> str:
    return ", ".join(WORDS.get(name, ("true", "false") if name in TRUTHS else ("a number",)))


@dataclass(frozen=True, slots=True)
class _Facts(Record):
    """Facts in the place of a document's metadata."""

    metadata: Mapping[str, Scalar | tuple[Scalar, ...]]
    source_id: str = ""
    document_id: str = ""
    title: str = ""
    url: str | None = None
    media_type: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class ConditionOption:
    """Marks an option that takes a condition."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        text = {"type": "string"}
        return {
            "anyOf": [text, {"type": "array", "items": text}],
            "description": f"Such as hits<3, zone=weak. Known: {', '.join(FACTS)}.",
        }

    def _read(self, value: Any) -> Any:
        if inspect.iscoroutinefunction(value):
            raise ValueError(f"is {value!r:.80}, an async function; allowed are text and plain functions")
        if callable(value):
            return value
        lines = (
            (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
        )
        if not lines or not all(isinstance(line, str) for line in lines):
            raise ValueError(f"is {value!r:.80}; allowed are text such as 'hits<3', a list of it, a function")
        try:
            parsed(lines)
        except InputError as error:
            raise ValueError(f"cannot be used: {error}") from error
        return value if isinstance(value, str) else lines
