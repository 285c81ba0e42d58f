"""Rules from YAML, or from the same as mappings."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from refdesk.errors import InputError
from refdesk.screening.matching import mistakes
from refdesk.screening.rules import Rule

LARGEST = 1_000_000
"""Bytes of a file."""
_FORM = "a list under `rules`, each with a name and a pattern, words, longer_than, shorter_than or hidden"
_FIELDS = tuple(one.name for one in fields(Rule))
_RULE: TypeAdapter[Rule] = TypeAdapter(Rule)


def load_rules(source: str | PathLike[str] | Mapping[str, Any]) -> tuple[Rule, ...]:
    """Read rules from a YAML file, or from what such a file holds.

    Errors: `InputError` with all that is wrong, each with its rule and line; a broken file allows nothing.
    """
    if isinstance(source, Mapping):
        return _rules(source, "that were given", {}, ())
    named = repr(str(source))
    try:
        data, lines, doubled = _read(Path(source))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"The rules {named} cannot be read: {said}.", remedy=f"Write {_FORM}.") from error
    return _rules(data, named, lines, doubled)


def _read(path: Path) -> tuple[Any, dict[int, int], tuple[str, ...]]:
    """Return what a file holds, the lines of its rules, and keys that it has twice."""
    with path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    text = raw.decode("utf-8-sig")
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    entries = next((value for key, value in _pairs(node) if key.value == "rules"), None)
    listed = entries.value if isinstance(entries, yaml.SequenceNode) else []
    lines = {number: entry.start_mark.line + 1 for number, entry in enumerate(listed, 1)}
    return yaml.safe_load(text), lines, tuple(_doubled((node, *listed)))


def _pairs(node: Any) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _doubled(nodes: tuple[Any, ...]) -> Iterator[str]:
    for node in nodes:
        keys = [str(key.value) for key, _ in _pairs(node)]
        for key, _ in _pairs(node):
            if keys.count(str(key.value)) > 1:
                keys.remove(str(key.value))
                yield f"line {key.start_mark.line + 1}: the key {key.value!r} is there twice"


def _rules(data: Any, named: str, lines: Mapping[int, int], doubled: tuple[str, ...]) -> tuple[Rule, ...]:
    entries = data.get("rules") if isinstance(data, Mapping) else None
    if not isinstance(entries, list | tuple) or not entries:
        raise InputError(f"The rules {named} hold none.", remedy=f"Write {_FORM}.")
    wrong = [*_foreign(data), *doubled]
    found: dict[str, int] = {}
    rules = []
    for number, entry in enumerate(entries, 1):
        rule, faults = _rule(entry)
        if rule is not None:
            if rule.name in found:
                faults.append(f"its name is that of rule {found[rule.name]}")
            found.setdefault(rule.name, number)
            rules.append(rule)
        wrong += [f"{_place(number, lines, entry)}: {'; '.join(faults)}"] if faults else []
    if wrong:
        listed = "".join(f"\n- {one}" for one in wrong)
        raise InputError(f"The rules {named} cannot be used:{listed}", remedy=f"Write {_FORM}.")
    return tuple(rules)


def _foreign(data: Mapping[str, Any]) -> Iterator[str]:
    for key in data:
        if key not in ("rules", "version"):
            yield f"it has no field {key!r}; there are rules and version"
    if data.get("version", 1) != 1:
        yield f"its version is {data['version']!r:.40}; there is 1"


def _rule(entry: Any) -> tuple[Rule | None, list[str]]:
    """Return a rule and what is wrong with it."""
    try:
        rule = entry if isinstance(entry, Rule) else _RULE.validate_python(entry)
    except ValidationError as error:
        return None, [_fault(dict(one)) for one in error.errors(include_url=False)]
    return rule, list(mistakes(rule))


def _fault(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] != "unexpected_keyword_argument":
        return f"{place or 'it'}: {error['msg']}"
    near = get_close_matches(place, _FIELDS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_FIELDS)}"
    return f"it has no field {place!r}; {hint}"


def _place(number: int, lines: Mapping[int, int], entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else getattr(entry, "name", None)
    known = [f"line {lines[number]}"] if number in lines else []
    known += [repr(name)] if isinstance(name, str) and name else []
    return f"rule {number}" + (f" ({', '.join(known)})" if known else "")
