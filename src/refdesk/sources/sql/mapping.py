"""The `map:` of a configuration: what each column is."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from refdesk.documents import PUBLIC, Strategy
from refdesk.sources.sql import selects
from refdesk.sources.sql.columns import Column, Constant, Joined, Part, Template, is_template, loose_braces
from refdesk.sources.sql.complaints import Complaints
from refdesk.sources.sql.form import KINDS, MAP, MEDIA_TYPES, STRATEGIES, Access, Fact, Map
from refdesk.yamlvalues import Value, as_value

PUBLIC_REMEDY = (
    "Write `acl: [public]` for what everyone may read, or name a column or `{principals: SELECT}`."
)
NAMED = "a column, a text with `{column}` in it, or `{value: ...}`"


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Put one map over another, key by key, in the metadata too."""
    both = {**below, **above}
    if isinstance(below.get("metadata"), Mapping) and isinstance(above.get("metadata"), Mapping):
        both["metadata"] = {**below["metadata"], **above["metadata"]}
    return both


def read_map(value: Value, complaints: Complaints, *, partial: bool = False) -> Map | None:
    """Return the map, or None where something of it is wrong; `partial` where a preset gives the rest."""
    before = len(complaints.found)
    reader = _Reader(complaints, complaints.keys("`map`", value, MAP))
    if not partial:
        reader.require(value.line)
    found = reader.map()
    return None if len(complaints.found) > before else found


def plain_map(data: Mapping[str, Any], what: str, *, acl_given: bool = False) -> Map:
    """Return the map of plain data, as a preset has it. Errors: `SettingsError`."""
    complaints = Complaints()
    given = {**data, **({"acl": []} if acl_given and "acl" not in data else {})}
    found = read_map(as_value(given), complaints)
    complaints.refuse(what)
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    complaints: Complaints
    given: Mapping[str, Value]

    def require(self, line: int) -> None:
        for key in ("id", "text", "acl"):
            if key not in self.given:
                remedy = PUBLIC_REMEDY if key == "acl" else f"Write `{key}:` and a column."
                self.complaints.wrong(f"`map` has no `{key}`.", remedy, line)

    def map(self) -> Map:
        constant = Constant(None)
        return Map(
            id=self._id() or constant,
            text=self._text() or Joined(()),
            acl=self._read("acl", self._access) or Access(),
            title=self._part("title"),
            url=self._part("url"),
            language=self._part("language"),
            media_type=self._read("media_type", self._media_type),
            updated_at=self._column("updated_at"),
            version=self._part("version"),
            deleted=self._column("deleted") if not self._is_sql("deleted") else None,
            deleted_sql=self._condition("deleted") if self._is_sql("deleted") else "",
            metadata=self._read("metadata", self._metadata) or {},
            strategy=self._strategy(),
        )

    def _read(self, key: str, read: Callable[[Value], Any]) -> Any:
        return read(self.given[key]) if key in self.given else None

    def _part(self, key: str) -> Part | None:
        one = self.given.get(key)
        return None if one is None else self.part(f"`{key}`", one, encoded=key == "url")

    def _strategy(self) -> Strategy:
        one = self.given.get("strategy")
        for strategy in STRATEGIES:
            if one is None or one.data == strategy:
                return strategy
        assert one is not None
        self.complaints.unknown("There is no strategy", str(one.plain), STRATEGIES, one.line)
        return STRATEGIES[0]

    def _id(self) -> Part | None:
        found = self._part("id")
        if found is not None and not found.names:
            self.complaints.wrong("`id` is the same for every row.", "Name a column.", self.given["id"].line)
        return found

    def part(self, where: str, value: Value, *, encoded: bool = False) -> Part | None:
        """Read a column, a template or a constant."""
        if isinstance(value.data, dict):
            inner = self.complaints.keys(where, value, ("value",))
            return Constant(inner["value"].plain) if "value" in inner else None
        written = self.complaints.of(where, value, str, NAMED)
        if not written:
            return None
        if not is_template(written):
            return Column(written)
        if loose_braces(written):
            self.complaints.wrong(f"{where} is {written!r:.60}.", "Write columns as `{column}`.", value.line)
            return None
        return Template(written, encoded)

    def _column(self, key: str) -> Column | None:
        written = self.complaints.of(f"`{key}`", self.given.get(key), str, "a column")
        if written and is_template(written):
            self.complaints.wrong(f"`{key}` is {written!r:.60}.", "Name one column.", self.given[key].line)
            return None
        return Column(written) if written else None

    def _is_sql(self, key: str) -> bool:
        return key in self.given and isinstance(self.given[key].data, dict)

    def _condition(self, key: str) -> str:
        inner = self.complaints.keys(f"`{key}`", self.given[key], ("sql",))
        written = str(self.complaints.of("`sql`", inner.get("sql"), str, "a condition in SQL") or "")
        for reason, remedy in selects.faults(f"SELECT {written}"):
            self.complaints.wrong(f"`{key}`: {reason}", remedy, self.given[key].line)
        return written

    def _text(self) -> Joined | None:
        one = self.given.get("text")
        if one is None:
            return None
        parts = one.data if isinstance(one.data, list) else [one]
        return Joined(tuple(part for each in parts if (part := self.part("`text`", each))))

    def _media_type(self, value: Value) -> Part | None:
        if isinstance(value.data, str) and "/" in value.data:
            if value.data not in MEDIA_TYPES:
                self.complaints.unknown("`media_type` is", value.data, MEDIA_TYPES, value.line)
            return Constant(value.data)
        return self.part("`media_type`", value)

    def _access(self, value: Value) -> Access | None:
        if isinstance(value.data, list):
            given = [
                self.complaints.of("`acl`", one, (str, int), "names of principals") for one in value.data
            ]
            return Access(always=tuple(str(one) for one in given if one is not None))
        if isinstance(value.data, str):
            return Access(part=self.part("`acl`", value))
        if not isinstance(value.data, dict):
            self.complaints.wrong(f"`acl` is {value.plain!r:.60}.", PUBLIC_REMEDY, value.line)
            return None
        inner = self.complaints.keys("`acl`", value, ("column", "separator", "prefix", "principals"))
        if ("column" in inner) == ("principals" in inner):
            reason = "`acl` has not one of `column` and `principals`."
            self.complaints.wrong(reason, PUBLIC_REMEDY, value.line)
            return None
        return Access(
            part=self.part("`acl`", inner["column"]) if "column" in inner else None,
            query=self._principals(inner["principals"]) if "principals" in inner else "",
            separator=self._separator("`acl`", inner),
            prefix=str(self.complaints.of("The prefix of `acl`", inner.get("prefix"), str, "a text") or ""),
        )

    def _principals(self, value: Value) -> str:
        query = str(self.complaints.of("`principals`", value, str, "one SELECT") or "select")
        for reason, remedy in selects.faults(query):
            self.complaints.wrong(f"`principals`: {reason}", remedy, value.line)
        return query

    def _separator(self, where: str, inner: Mapping[str, Value]) -> str:
        found = self.complaints.of(f"The separator of {where}", inner.get("separator"), str, "a text")
        return str(found) if found else ","

    def _metadata(self, value: Value) -> dict[str, Fact]:
        if not isinstance(value.data, dict):
            self.complaints.wrong(
                f"`metadata` is {value.plain!r:.60}.", "Write `name: column` below it.", value.line
            )
            return {}
        found = {name: self._fact(f"`metadata.{name}`", one) for name, one in value.data.items()}
        return {name: fact for name, fact in found.items() if fact}

    def _fact(self, where: str, value: Value) -> Fact | None:
        if not isinstance(value.data, dict) or "value" in value.data:
            part = self.part(where, value)
            return Fact(part=part) if part else None
        inner = self.complaints.keys(where, value, ("column", "type", "separator"))
        kind = self.complaints.of(
            f"The type of {where}", inner.get("type"), str, f"one of {', '.join(KINDS)}"
        )
        if kind and kind not in KINDS:
            self.complaints.unknown(f"The type of {where} is", kind, KINDS, value.line)
        if "column" not in inner:
            self.complaints.wrong(f"{where} has no `column`.", "Name the column.", value.line)
            return None
        part = self.part(where, inner["column"])
        return Fact(part=part, kind=kind, separator=self._separator(where, inner)) if part else None


def missing_columns(map: Map, present: Collection[str], complaints: Complaints) -> None:
    """Complain about columns that the query does not have."""
    places: dict[str, tuple[str, ...]] = {
        key: part.names
        for key in (
            "id",
            "text",
            "title",
            "url",
            "language",
            "media_type",
            "updated_at",
            "version",
            "deleted",
        )
        if (part := getattr(map, key)) is not None
    }
    places["acl"] = map.acl.part.names if map.acl.part else ()
    places |= {f"metadata.{name}": fact.part.names for name, fact in map.metadata.items()}
    for place, names in places.items():
        for name in names:
            if name in present:
                continue
            if place == "acl" and name == PUBLIC:
                complaints.wrong("`acl` names the column 'public', which there is not.", PUBLIC_REMEDY)
            else:
                complaints.unknown(f"`{place}` names the column", name, present)
