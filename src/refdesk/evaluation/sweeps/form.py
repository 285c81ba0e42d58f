"""The keys of a sweep file, and what is wrong with them."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from refdesk.errors import InputError, Problem
from refdesk.evaluation.sweeps.candidates import STRATEGIES
from refdesk.yamlvalues import Value

KEYS: Mapping[str, tuple[type, ...]] = {
    "version": (int,),
    "name": (str,),
    "description": (str,),
    "data": (str,),
    "split": (str,),
    "collection": (str,),
    "objective": (str,),
    "base": (dict,),
    "factors": (dict,),
    "strategy": (str,),
    "budget": (dict,),
    "every": (int,),
    "sample": (int,),
    "race": (int,),
    "seed": (int,),
}
LEAST = {"every": 1, "sample": 1, "race": 10}
NAME = re.compile(r"\w[\w.-]{0,29}")


def faulty(name: str, problems: list[Problem]) -> InputError:
    """Say all that is wrong with a sweep."""
    count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
    ordered = sorted(problems, key=lambda problem: problem.line or 0)
    told = (" ".join(str(problem).split()) for problem in ordered)
    lines = " ".join(f"({number}) {problem}" for number, problem in enumerate(told, 1))
    return InputError(f"The sweep {name!r} has {count}: {lines}")


class Form:
    """The keys of a file, with what is wrong with them."""

    def __init__(self, value: Value, problems: list[Problem]) -> None:
        self.top: Mapping[str, Value] = value.data if isinstance(value.data, dict) else {}
        self.problems = problems
        for fault in value.everywhere():
            self.wrong(fault.reason, fault.remedy, fault.line)
        if not self.top:
            self.wrong("It is no mapping.", "Write `data:`, `objective:`, `factors:`.")
        for key in ("objective", "factors"):
            if self.top and key not in self.top:
                self.wrong(f"It has no {key}.", f"Write `{key}:`.")

    def wrong(self, reason: str, remedy: str, line: int = 0) -> None:
        self.problems.append(Problem(position="", step="", reason=reason, remedy=remedy, line=line or None))

    def values(self) -> dict[str, Any]:
        """Return the plain values of the keys that can be used."""
        return {key: one.plain for key, one in self.top.items() if self._usable(key, one)}

    def inner(self, key: str) -> Mapping[str, Value]:
        one = self.top.get(key)
        return one.data if one is not None and isinstance(one.data, dict) else {}

    def _usable(self, key: str, one: Value) -> bool:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(KEYS)}."
            self.wrong(f"It has the key {key!r}.", hint, one.line)
            return False
        allowed = self._allowed(key, one.data)
        if allowed:
            self.wrong(f"Its {key} is {one.plain!r:.60}.", f"Allowed is {allowed}.", one.line)
        return not allowed

    def _allowed(self, key: str, data: Any) -> str:
        """Say what a key takes, empty where it has that."""
        if type(data) not in KEYS[key]:
            return {"int": "a whole number", "str": "text", "dict": "a mapping"}[KEYS[key][0].__name__]
        if key in LEAST and data < LEAST[key]:
            return f"at least {LEAST[key]}"
        if key == "strategy" and data not in STRATEGIES:
            return "one of " + ", ".join(STRATEGIES)
        if key == "name" and not NAME.fullmatch(data):
            return "a word of at most 30 letters, digits, and . _ -"
        return "1" if key == "version" and data != 1 else ""
