"""The `options:` of a preset: its fields, checked by their types, with the nearest name for others."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from refdesk.sources.sql.complaints import Complaints
from refdesk.yamlvalues import Value

MISSING = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})


def read_options(kind: Any, given: Value, line: int, complaints: Complaints) -> Any:
    """Return a preset with its options, or None where something of them is wrong."""
    return _Options(complaints, given, line).read(kind)


@dataclass(frozen=True, slots=True)
class _Options:
    complaints: Complaints
    given: Value
    line: int
    """Where the preset is named."""

    def read(self, kind: Any) -> Any:
        known = tuple(one.name for one in fields(kind))
        options = self.given.data or {}
        for name, one in options.items():
            if name not in known:
                self.complaints.unknown("The preset has no option", name, known, one.line)
        self._inside(kind, self.given, ())
        plain = {name: one.plain for name, one in options.items() if name in known}
        try:
            return TypeAdapter(kind).validate_python(plain)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                self._wrong(one)
            return None

    def _inside(self, kind: Any, value: Value, at: tuple[str | int, ...]) -> None:
        """Complain about keys that no entry of a list has, however deep."""
        hints = get_type_hints(kind)
        for name, one in (value.data or {}).items():
            entry = next(filter(is_dataclass, get_args(hints.get(name))), None)
            if entry is None or not isinstance(one.data, list):
                continue
            known = tuple(hint.name for hint in fields(entry))
            for number, each in enumerate(one.data):
                if not isinstance(each.data, dict):
                    continue
                place = (*at, name, number)
                for key, inner in each.data.items():
                    if key not in known:
                        self.complaints.unknown(f"{_told(place)} has the key", key, known, inner.line)
                self._inside(entry, each, place)

    def _wrong(self, error: ErrorDetails) -> None:
        *above, name = error["loc"] or ("",)
        line = _line(self.given, error["loc"]) or self.line
        if error["type"] in MISSING:
            said = f"{_told(above)} has no {name!r}." if above else f"The option {name!r} is missing."
            self.complaints.wrong(said, "Give it.", line)
        else:
            reason = error["msg"].removeprefix("Value error, ").rstrip(".")
            self.complaints.wrong(f"{_told(error['loc'])}: {reason}.", "Change it.", line)


def _told(place: Sequence[str | int]) -> str:
    """Return a place in words, entries counted from 1: The option 'sites', entry 2, 'languages', entry 1."""
    words = (f"entry {one + 1}" if isinstance(one, int) else repr(one) for one in place)
    return "The option " + ", ".join(words)


def _line(value: Value, place: Sequence[str | int]) -> int:
    """Return the line of the innermost value on the way to a place."""
    line = 0
    for one in place:
        match value.data, one:
            case dict() as inside, str() if one in inside:
                value = inside[one]
            case list() as entries, int() if one < len(entries):
                value = entries[one]
            case _:
                break
        line = value.line or line
    return line
