"""All that is wrong with a configuration, gathered before anything is refused."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from refdesk.errors import Problem, SettingsError
from refdesk.yamlvalues import Value


@dataclass(slots=True)
class Complaints:
    """What was found so far."""

    found: list[Problem] = field(default_factory=list)

    def wrong(self, reason: str, remedy: str, line: int = 0) -> None:
        self.found.append(Problem(position="", step="", reason=reason, remedy=remedy, line=line or None))

    def unknown(self, what: str, name: str, known: Collection[str], line: int = 0) -> None:
        """Say that a name is not there, with the nearest that is."""
        near = get_close_matches(name.lower(), list(known), 1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known) or 'none'}."
        self.wrong(f"{what} {name!r}.", remedy, line)

    def keys(self, where: str, value: Value, known: Collection[str]) -> Mapping[str, Value]:
        """Return the known keys of a mapping that have a value; complain about the others."""
        if value.data is None:
            return {}
        if not isinstance(value.data, dict):
            self.wrong(f"{where} is {value.plain!r:.60}.", "Write `key: value` below it.", value.line)
            return {}
        for fault in value.faults:
            self.wrong(fault.reason, fault.remedy, fault.line)
        for key, one in value.data.items():
            if key not in known:
                self.unknown(f"{where} has the key", key, known, one.line)
        return {key: one for key, one in value.data.items() if key in known and one.data is not None}

    def of(self, where: str, value: Value | None, kinds: type | tuple[type, ...], allowed: str) -> Any:
        """Return a plain value of one of the types, else None and a complaint."""
        if value is None:
            return None
        for fault in value.faults:
            self.wrong(fault.reason, fault.remedy, fault.line)
        if isinstance(value.data, kinds) and not (isinstance(value.data, bool) and bool not in _tuple(kinds)):
            return value.plain
        if not value.faults:
            self.wrong(f"{where} is {value.plain!r:.60}.", f"Allowed is {allowed}.", value.line)
        return None

    def refuse(self, what: str) -> None:
        """Raise what was found. Errors: `SettingsError`."""
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda problem: problem.line or 0)
        told = [" ".join(str(problem).split()) for problem in ordered]
        if len(told) == 1:
            raise SettingsError(f"{what} cannot be used: {told[0]}")
        lines = " ".join(f"({number}) {one}" for number, one in enumerate(told, 1))
        raise SettingsError(f"{what} has {len(told)} problems: {lines}")


def _tuple(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)
