"""YAML to values that know their lines. Nothing in a file runs code or grows without bound."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from refdesk.errors import Problem

LARGEST = 1_000_000
"""Bytes of a file."""
DEEPEST = 40
MOST = 20_000
"""Values in a file."""


class Unreadable(Exception):
    """A text is no YAML that is accepted; `problem` says where and why."""

    def __init__(self, reason: str, remedy: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.problem = Problem(position="", step="", reason=reason, remedy=remedy, line=line)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a value, though the rest can be read."""

    line: int
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Value:
    """A value with the line on which it begins, 0 for none; in lists and mappings are `Value`s too."""

    data: Any
    line: int = 0
    faults: tuple[Fault, ...] = ()

    @property
    def plain(self) -> Any:
        """The value without lines."""
        match self.data:
            case list():
                return [one.plain for one in self.data]
            case dict():
                return {key: one.plain for key, one in self.data.items()}
        return self.data

    def everywhere(self) -> Iterator[Fault]:
        """Yield the faults of the value and of all values in it."""
        yield from self.faults
        inner = self.data.values() if isinstance(self.data, dict) else self.data
        for one in inner if isinstance(self.data, list | dict) else ():
            yield from one.everywhere()


def as_value(data: Any, depth: int = 1) -> Value:
    """Wrap plain data as if it had been read. Errors: `Unreadable` where it nests too deep."""
    if depth > DEEPEST:
        raise too_deep(None)
    match data:
        case list() | tuple():
            return Value([as_value(one, depth + 1) for one in data])
        case Mapping():
            return Value({str(key): as_value(one, depth + 1) for key, one in data.items()})
    return Value(data)


def read(text: str, *, largest: int = LARGEST, most: int = MOST) -> Value:
    """Read one YAML document, of at most so many characters and values.

    Errors: `Unreadable`, for what is no YAML, uses aliases or is too large.
    """
    if len(text) > largest:
        raise Unreadable(f"It has {len(text):,} characters; {largest:,} are allowed.", "Make it smaller.")
    try:
        loader = Loader(text)
        loader.most = most
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        raise _no_yaml(error) from error
    except (ValueError, OverflowError) as error:  # of an escape such as "\UFFFFFFFF"
        raise Unreadable(f"It is no YAML: {error}.", "Mend the escapes in its texts.") from error
    return Value(None, 1) if node is None else _value(node)


class Loader(yaml.SafeLoader):
    """Reads plain words as YAML 1.2 does, as editors do: `no` and `12:30` are text, only `true` is true."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 as yaml has it
    depth = 0
    count = 0
    most = MOST

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Read a value, within limits that hold before anything is built."""
        line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise Unreadable("It uses an alias (*name).", "Write the value out.", line)
        self.depth += 1
        self.count += 1
        if self.depth > DEEPEST:
            raise too_deep(line)
        if self.count > self.most:
            raise Unreadable(f"It has more than {self.most:,} values.", "Make it smaller.", line)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


PLAIN: Mapping[str, tuple[str, str]] = {
    "tag:yaml.org,2002:null": (r"~|null|Null|NULL|", "~nN"),
    "tag:yaml.org,2002:bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "tag:yaml.org,2002:int": (r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))",
        "-+.0123456789",
    ),
}
"""What plain words mean something other than themselves, and how those begin."""

for _tag, (_pattern, _first) in PLAIN.items():
    Loader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), [*_first, ""])

TAGS: Mapping[str, Callable[[str], Any]] = {
    "tag:yaml.org,2002:null": lambda _: None,
    "tag:yaml.org,2002:bool": lambda text: {"true": True, "false": False}[text.lower()],
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": lambda text: float(text.replace(".inf", "inf").replace(".INF", "inf")),
    "tag:yaml.org,2002:str": str,
}
"""How values of each tag are read; no other tags are."""


def _value(node: yaml.Node) -> Value:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return Value([_value(one) for one in node.value], line)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, line)
    try:
        return Value(TAGS[node.tag](node.value), line)
    except (KeyError, ValueError):
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")
        fault = Fault(line, f"The value {node.value!r:.40} cannot be read as {tag}.", "Write it in quotes.")
        return Value(None, line, (fault,))


def _mapping(node: yaml.MappingNode, line: int) -> Value:
    found: dict[str, Value] = {}
    faults: list[Fault] = []
    for key_node, value_node in node.value:
        key, at = key_node.value, key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            faults.append(Fault(at, "A key is a list or a mapping.", "Write a word before the colon."))
        elif key in found:
            faults.append(Fault(at, f"The key {key!r} is there twice.", "Leave one out."))
        else:
            found[key] = replace(_value(value_node), line=at)
    return Value(found, line, tuple(faults))


def _no_yaml(error: yaml.YAMLError) -> Unreadable:
    mark = getattr(error, "problem_mark", None)
    said = " ".join(str(getattr(error, "problem", None) or getattr(error, "reason", error)).split())
    remedy = "Indent with blanks." if "\\t" in said else "Mend it there, or put the text in quotes."
    return Unreadable(f"It is no YAML: {said}.", remedy, None if mark is None else mark.line + 1)


def too_deep(line: int | None) -> Unreadable:
    return Unreadable(f"It nests deeper than {DEEPEST} levels.", "Make it flatter.", line)
