"""What the queries over TYPO3 depend on, and the conditions that all of them have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["strict", "mixed", "free"]
"""Which elements a translated page shows: only translated ones, also untranslated ones, only its own."""
WIDE = 100_000
"""Characters of all restrictions on the way to an element: of each page above, 255 and a semicolon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the queries depend on."""

    dialect: str
    pages: frozenset[str]
    content: frozenset[str]
    languages: tuple[tuple[int, int, Mode], ...]
    """Root page, language, mode."""
    columns: tuple[int, ...]
    unsearchable: bool
    now: int

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"now": self.now}

    def name(self, column: str) -> str:
        """Quote a column; capitals count in PostgreSQL."""
        return f"`{column}`" if self.dialect == "mysql" else f'"{column}"'

    def text(self, value: str) -> str:
        """Return a value as text of any length; in MySQL in one collation, since those of columns differ."""
        if self.dialect == "mysql":
            return f"CONVERT(CAST({value} AS CHAR({WIDE})) USING utf8mb4) COLLATE utf8mb4_bin"
        return f"CAST({value} AS TEXT)"

    def joined(self, *parts: str) -> str:
        if self.dialect == "sqlite":
            return "(" + " || ".join(parts) + ")"
        return f"CONCAT({', '.join(parts)})"

    def latest(self, *parts: str) -> str:
        found = ", ".join(f"COALESCE({part}, 0)" for part in parts)
        return f"MAX({found})" if self.dialect == "sqlite" else f"GREATEST({found})"

    def page(self, alias: str, column: str, otherwise: str = "0") -> str:
        """Return a column of `pages` that not every installation has."""
        return f"{alias}.{self.name(column)}" if column in self.pages else otherwise


def once(shape: Shape, name: str, columns: str, query: str) -> str:
    """Return a common table that is worked out once. MariaDB does that for recursive ones alone."""
    again = f" UNION ALL SELECT {columns} FROM {name} WHERE 1 = 0" if shape.dialect == "mysql" else ""
    return f"{name} ({columns}) AS ({query}{again})"


def alive(alias: str) -> str:
    """Return the condition that a record is there at all."""
    live = f"{alias}.t3ver_wsid = 0 AND {alias}.t3ver_oid = 0 AND {alias}.t3ver_state <= 0"
    return f"{alias}.deleted = 0 AND {live}"


def visible(alias: str) -> str:
    """Return the condition that a record is shown now."""
    times = f"{alias}.starttime <= :now AND ({alias}.endtime = 0 OR {alias}.endtime > :now)"
    return f"{alias}.hidden = 0 AND {times}"


def group(shape: Shape, alias: str) -> str:
    """Return the restriction of a record, nothing where there is none."""
    given = f"{alias}.fe_group"
    return shape.text(f"CASE WHEN {given} IS NULL OR {given} = '0' THEN '' ELSE {given} END")


def both(shape: Shape, one: str, other: str) -> str:
    """Return two restrictions as one, each once."""
    joined = shape.joined(one, "';'", other)
    return (
        f"CASE WHEN {one} = '' OR {one} = {other} THEN {other} WHEN {other} = '' THEN {one} ELSE {joined} END"
    )
