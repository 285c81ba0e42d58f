"""Files of rules and of cases: a list of entries, each with its line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from refdesk.errors import InputError

LARGEST = 1_000_000
"""Bytes of a file."""
_UNREADABLE = (OSError, ValueError, RecursionError, yaml.YAMLError)
_SHIPPED = files("refdesk.screening") / "sets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a file holds."""

    data: Any
    lines: Mapping[int, int]
    """The line of each entry, by its number from 1."""
    doubled: tuple[str, ...] = ()
    """Keys that are there twice, said in words."""


def shipped(ending: str) -> tuple[str, ...]:
    """Return the names of what comes with refdesk: files with this ending."""
    return tuple(
        sorted(one.name.removesuffix(ending) for one in _SHIPPED.iterdir() if one.name.endswith(ending))
    )


def raw(source: str | PathLike[str], ending: str, what: str) -> bytes:
    """Return the bytes of what comes with refdesk under a name, else of a file. Errors: `InputError`."""
    known = shipped(ending)
    if source in known:
        return _shipped(f"{source}{ending}")
    try:
        with Path(source).open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        near = get_close_matches(str(source), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"{', '.join(known)}, or a file."
        raise InputError(
            f"There are no {what} {str(source)!r:.200}, and no such file.", remedy=f"Known {what}: {hint}"
        ) from error
    except _UNREADABLE as error:
        raise unreadable(source, what, error) from error
    if len(data) > LARGEST:
        raise unreadable(source, what, ValueError(f"it has more than {LARGEST:,} bytes"))
    return data


@cache
def _shipped(name: str) -> bytes:
    return (_SHIPPED / name).read_bytes()


def unreadable(source: object, what: str, error: BaseException) -> InputError:
    said = " ".join(str(error).split())
    return InputError(
        f"The {what} {str(source)!r:.200} cannot be read: {said}.",
        remedy=f"Write a list of {what} in YAML.",
    )


def listed(data: bytes, key: str) -> Listed:
    """Read YAML with a list under a key. Errors: those of YAML and of decoding."""
    text = data.decode("utf-8-sig")
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    entries = next((value for name, value in _pairs(node) if name.value == key), None)
    held = entries.value if isinstance(entries, yaml.SequenceNode) else []
    lines = {number: entry.start_mark.line + 1 for number, entry in enumerate(held, 1)}
    return Listed(data=yaml.safe_load(text), lines=lines, doubled=tuple(_doubled((node, *held))))


def listed_lines(data: bytes, key: str) -> Listed:
    """Read JSON lines as the same. Errors: those of JSON, with the line, and of decoding."""
    entries, lines = [], {}
    for number, line in enumerate(data.decode("utf-8-sig").split("\n"), 1):
        if line.strip():
            try:
                entries.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
            lines[len(entries)] = number
    return Listed(data={key: entries}, lines=lines)


def _pairs(node: Any) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _doubled(nodes: tuple[Any, ...]) -> Iterator[str]:
    for node in nodes:
        keys = [str(key.value) for key, _ in _pairs(node)]
        for key, _ in _pairs(node):
            if keys.count(str(key.value)) > 1:
                keys.remove(str(key.value))
                yield f"line {key.start_mark.line + 1}: the key {key.value!r} is there twice"


def entries_of(found: Listed, key: str, what: str) -> list[Any]:
    """Return the entries. Errors: `InputError` where there are none."""
    entries = found.data.get(key) if isinstance(found.data, Mapping) else None
    if not isinstance(entries, list | tuple) or not entries:
        raise InputError(f"The {what} hold none.", remedy=f"Write a list under `{key}`.")
    return list(entries)


def foreign(data: Mapping[str, Any], key: str) -> Iterator[str]:
    """Yield what is wrong with a file beside its entries."""
    for name in data:
        if name not in (key, "version"):
            yield f"it has no field {name!r}; there are {key} and version"
    if data.get("version", 1) != 1:
        yield f"its version is {data['version']!r:.40}; there is 1"


def built(kind: "TypeAdapter[Any]", entry: Any, fields: Sequence[str]) -> tuple[Any, list[str]]:
    """Return an entry as what it stands for, or what is wrong with it."""
    try:
        return kind.validate_python(entry), []
    except ValidationError as error:
        return None, [_fault(dict(one), fields) for one in error.errors(include_url=False)]


def _fault(error: Mapping[str, Any], fields: Sequence[str]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] != "unexpected_keyword_argument":
        return f"{place or 'it'}: {error['msg']}"
    near = get_close_matches(place, fields, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(fields)}"
    return f"it has no field {place!r}; {hint}"
