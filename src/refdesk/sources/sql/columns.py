"""What a part of a document is made of: a column, a template of columns, or a constant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from refdesk.sources.sql.plan import Row
from refdesk.sources.sql.values import text

_PLACE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Column:
    """The value of one column as it is."""

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def value(self, row: Row) -> Any:
        return row[self.name]


@dataclass(frozen=True, slots=True)
class Template:
    """A text with `{column}` in it. It is NULL where one of its columns is."""

    written: str
    encoded: bool = False
    """Percent-encode the values, as in an address."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_PLACE.findall(self.written)))

    def value(self, row: Row) -> str | None:
        if any(row[name] is None for name in self.names):
            return None
        return _PLACE.sub(lambda place: self._shown(row[place[1]]), self.written)

    def _shown(self, value: Any) -> str:
        return quote(text(value), safe="") if self.encoded else text(value)


@dataclass(frozen=True, slots=True)
class Constant:
    """The same for every row."""

    given: Any

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def value(self, row: Row) -> Any:
        return self.given


Part = Column | Template | Constant


def is_template(written: str) -> bool:
    return "{" in written or "}" in written


def loose_braces(written: str) -> bool:
    """Tell whether there is a brace that is no part of `{column}`."""
    rest = _PLACE.sub("", written)
    return "{" in rest or "}" in rest or "{}" in written


@dataclass(frozen=True, slots=True)
class Joined:
    """Several parts, one below the other, those that are empty left out."""

    parts: tuple[Part, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.names))

    def value(self, row: Row) -> str:
        shown = (text(part.value(row)) for part in self.parts)
        return "\n\n".join(one for one in shown if one.strip())


def named(parts: Sequence[Part | Joined | None]) -> tuple[str, ...]:
    """Return the columns of some parts, each once."""
    return tuple(dict.fromkeys(name for part in parts if part is not None for name in part.names))
