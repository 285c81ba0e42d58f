"""Rules from YAML, from the same as mappings, or by the name of a set that comes with refdesk."""

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from os import PathLike
from typing import Any

import yaml
from pydantic import TypeAdapter

from refdesk.errors import InputError
from refdesk.screening.matching import mistakes
from refdesk.screening.reading import Listed, built, entries_of, foreign, listed, raw, shipped, unreadable
from refdesk.screening.rules import Rule

RULES = "rules"
ENDING = ".rules.yaml"
REMEDY = (
    "Write a list under `rules`, each with an id and a pattern, any_of, longer_than, shorter_than or hidden."
)
_FIELDS = tuple(one.name for one in fields(Rule))
_RULE: TypeAdapter[Rule] = TypeAdapter(Rule)
Source = str | PathLike[str] | Mapping[str, Any]


def rule_sets() -> tuple[str, ...]:
    """Return the names of the sets of rules that come with refdesk."""
    return shipped(ENDING)


def load_rules(source: Source) -> tuple[Rule, ...]:
    """Read rules from a YAML file, a set by its name, or from what a file holds.

    Errors: `InputError` with all that is wrong, each with its rule and line; a broken file allows nothing.
    """
    rules, wrong = check_rules(source)
    if wrong:
        named = "that were given" if isinstance(source, Mapping) else repr(str(source))
        listing = "".join(f"\n- {one}" for one in wrong)
        raise InputError(f"The rules {named} cannot be used:{listing}", remedy=REMEDY)
    return rules


def check_rules(source: Source) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the rules of a source and all that is wrong with them.

    Errors: `InputError` where it cannot be read, or holds no rules.
    """
    if isinstance(source, Mapping):
        return _rules(Listed(data=source, lines={}), "that were given")
    return _read(raw(source, ENDING, RULES), str(source))


@lru_cache(maxsize=32)
def _read(data: bytes, source: str) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Read what a file holds; as long as that is the same, it is read once."""
    try:
        found = listed(data, RULES)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise unreadable(source, RULES, error) from error
    return _rules(found, repr(source))


def _rules(found: Listed, named: str) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    entries = entries_of(found, RULES, f"rules {named}")
    wrong = [*foreign(found.data, RULES), *found.doubled]
    known: dict[str, int] = {}
    rules = []
    for number, entry in enumerate(entries, 1):
        rule, faults = _rule(entry)
        if rule is not None:
            if rule.id in known:
                faults.append(f"its id is that of rule {known[rule.id]}")
            known.setdefault(rule.id, number)
            rules.append(rule)
        wrong += [f"{_place(number, found.lines, entry)}: {'; '.join(faults)}"] if faults else []
    return tuple(rules), tuple(wrong)


def _rule(entry: Any) -> tuple[Rule | None, list[str]]:
    """Return a rule and what is wrong with it."""
    rule, faults = (entry, []) if isinstance(entry, Rule) else built(_RULE, entry, _FIELDS)
    return rule, faults or list(mistakes(rule))


def _place(number: int, lines: Mapping[int, int], entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else getattr(entry, "id", None)
    known = [f"line {lines[number]}"] if number in lines else []
    known += [repr(name)] if isinstance(name, str) and name else []
    return f"rule {number}" + (f" ({', '.join(known)})" if known else "")
