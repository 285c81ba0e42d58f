"""Cases: questions with what rules should make of them, from YAML or JSON lines."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from os import PathLike
from typing import Annotated, Any, ClassVar

import yaml
from pydantic import ConfigDict, Field, StrictBool, TypeAdapter

from refdesk.errors import InputError
from refdesk.screening.reading import (
    Listed,
    built,
    entries_of,
    foreign,
    listed,
    listed_lines,
    raw,
    shipped,
    unreadable,
)

CASES = "cases"
ENDING = ".cases.yaml"
REMEDY = "Write {text: ..., expect: a rule's id, or true, or false for what is harmless}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and which rule it is for."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    text: Annotated[str, Field(min_length=1)]
    expect: StrictBool | str | None
    """A rule's id; true for any rule; false or nothing for a harmless question."""
    language: str = ""
    """For the report only: rules find out by themselves."""

    @property
    def harmless(self) -> bool:
        return not self.expect


_FIELDS = tuple(one.name for one in fields(Case))
_CASE: TypeAdapter[Case] = TypeAdapter(Case)


def case_sets() -> tuple[str, ...]:
    """Return the names of the cases that come with refdesk."""
    return shipped(ENDING)


def load_cases(source: str | PathLike[str], ids: Sequence[str]) -> tuple[Case, ...]:
    """Read the cases of a file, or of those that come with refdesk by name, for rules with these ids.

    Errors: `InputError` with all that is wrong, each with its case and line.
    """
    data = raw(source, ENDING, CASES)
    lines = str(source).lower().endswith((".jsonl", ".ndjson"))
    try:
        found = listed_lines(data, CASES) if lines else listed(data, CASES)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise unreadable(source, CASES, error) from error
    cases, wrong = _cases(found, f"cases {str(source)!r}", ids)
    if wrong:
        listing = "".join(f"\n- {one}" for one in wrong)
        raise InputError(f"The cases {str(source)!r:.200} cannot be used:{listing}", remedy=REMEDY)
    return cases


def _cases(found: Listed, named: str, ids: Sequence[str]) -> tuple[tuple[Case, ...], list[str]]:
    entries = entries_of(found, CASES, named)
    wrong = [*foreign(found.data, CASES), *found.doubled]
    cases = []
    for number, entry in enumerate(entries, 1):
        case, faults = built(_CASE, entry, _FIELDS)
        faults = faults or list(_unknown(case, ids))
        cases += [] if faults else [case]
        wrong += [f"case {number} (line {found.lines.get(number, 0)}): {'; '.join(faults)}"] if faults else []
    return tuple(cases), wrong


def _unknown(case: Any, ids: Sequence[str]) -> list[str]:
    if not isinstance(case.expect, str) or case.expect in ids:
        return []
    near = get_close_matches(case.expect, ids, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ids)}"
    return [f"it expects the rule {case.expect!r:.60}, and there is none; {hint}"]
