"""YAML to plain values that know their lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from refdesk.errors import Problem

LARGEST = 1_000_000
"""Characters of a file."""
DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Unreadable(Exception):
    """A text is no YAML that is accepted, with what is wrong."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Value:
    """A value with the line on which it begins, from 1; values in lists and mappings are `Value`s too."""

    data: Any
    line: int

    @property
    def plain(self) -> Any:
        """The value without lines."""
        match self.data:
            case list():
                return [one.plain for one in self.data]
            case dict():
                return {key: one.plain for key, one in self.data.items()}
        return self.data


def as_value(data: Any, line: int = 0) -> Value:
    """Wrap plain data as if it had been read."""
    match data:
        case list() | tuple():
            return Value([as_value(one) for one in data], line)
        case dict():
            return Value({key: as_value(one) for key, one in data.items()}, line)
    return Value(data, line)


def read(text: str) -> Value:
    """Read one YAML document. Errors: `Unreadable`, for anything that YAML or good sense does not allow."""
    if len(text) > LARGEST:
        raise _wrong(f"It has {len(text):,} characters; {LARGEST:,} are allowed.", "Make it smaller.")
    try:
        _check_shape(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return Value(None, 1) if node is None else _value(node, yaml.constructor.SafeConstructor())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = " ".join(str(getattr(error, "problem", None) or error).split())
        raise _wrong(
            f"It is no YAML: {said}.", "Mend it there.", None if mark is None else mark.line + 1
        ) from error


def _check_shape(text: str) -> None:
    """Refuse what can grow or nest without bound, before anything is built of it."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise _wrong("It uses an alias (*name).", "Write the value out.", line)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise _wrong(f"It nests deeper than {DEEPEST} levels.", "Make it flatter.", line)


def _value(node: yaml.Node, constructor: Any) -> Value:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return Value([_value(one, constructor) for one in node.value], line)
    if isinstance(node, yaml.MappingNode):
        return Value(dict(_pairs(node, constructor)), line)
    return Value(constructor.construct_object(node), line)


def _pairs(node: yaml.MappingNode, constructor: Any) -> Iterator[tuple[Any, Value]]:
    seen = set()
    for key_node, value_node in node.value:
        key = _value(key_node, constructor)
        if not isinstance(key.data, str | int | float | bool):
            raise _wrong(f"It has the key {key.plain!r:.60}; a key is a word.", "Mend it there.", key.line)
        if key.data in seen:
            raise _wrong(f"It has the key {key.data!r} twice.", "Leave one out.", key.line)
        seen.add(key.data)
        yield key.data, _value(value_node, constructor)


def _wrong(reason: str, remedy: str, line: int | None = None) -> Unreadable:
    return Unreadable(Problem(position="", step="", reason=reason, remedy=remedy, line=line))
