"""Front matter of Markdown: the simple part of YAML that it is written in."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from refdesk.cleaning import fits
from refdesk.documents import Metadata, Scalar

_BLOCK = re.compile(r"---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w .-]{0,80}?)[ \t]{0,20}:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?$")
MAX_DIGITS = 400
"""Characters of a number; Python refuses to convert integers of thousands of digits."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:?\d\d)?)?$")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stood before the text, and the text."""

    body: str
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def split_front_matter(text: str) -> FrontMatter:
    """Take a leading `---` block off the text. A block with prose between the rules is text."""
    block = _BLOCK.match(text)
    if block is None or not _is_yaml(block[1]):
        return FrontMatter(text)
    metadata, unread = _read_lines(block[1].split("\n"))
    warnings = (f"{unread} lines of front matter are not simple values and were left out",) if unread else ()
    return FrontMatter(text[block.end() :].lstrip("\n"), metadata, warnings)


def _is_yaml(block: str) -> bool:
    """Tell values from prose: every line has a key, is indented, an item or a comment."""
    lines = [line for line in block.split("\n") if line.strip()]
    return bool(lines) and all(_KEY.match(line) or line[0] in " \t-#]}" for line in lines)


def _read_lines(lines: list[str]) -> tuple[dict[str, Scalar | tuple[Scalar, ...]], int]:
    """Return keys with values, and how many lines were neither."""
    metadata: dict[str, Scalar | tuple[Scalar, ...]] = {}
    unread, last = 0, ""
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, item = _KEY.match(line), _ITEM.match(line)
        if key:
            last = key[1]
            if key[2]:
                metadata[last] = _value(key[2].strip())
        elif item and last and isinstance(metadata.get(last, ()), tuple):
            metadata[last] = (*_as_tuple(metadata.get(last)), _scalar(item[1].strip()))
        else:
            unread += 1
    return metadata, unread


def _as_tuple(value: Scalar | tuple[Scalar, ...] | None) -> tuple[Scalar, ...]:
    return value if isinstance(value, tuple) else ()


def _value(text: str) -> Scalar | tuple[Scalar, ...]:
    if text.startswith("[") and text.endswith("]"):
        return tuple(_scalar(item.strip()) for item in text[1:-1].split(",") if item.strip())
    return _scalar(text)


def _scalar(text: str) -> Scalar:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    text = text.split(" #")[0].rstrip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _NUMBER.match(text):
        return _number(text)
    return _date(text) if _DATE.match(text) else text


def _number(text: str) -> Scalar:
    """Return a number; the text where it is none that can be kept."""
    if len(text) > MAX_DIGITS:
        return text
    number = float(text) if "." in text else int(text)
    return number if fits(number) else text


def _date(text: str) -> Scalar:
    """Return a point in time, in UTC where no zone is given; the text where there is no such day."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
