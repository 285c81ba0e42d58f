"""Which documents a search looks at: those that are seen and pass the filter."""

from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.filters import Compare, Filter, check
from refdesk.filters.language import DOCUMENT_FIELDS
from refdesk.filters.meaning import clash, comparisons
from refdesk.filters.values import Kind, instant, typed
from refdesk.stores.postgres.connecting import Connection, one, rows
from refdesk.stores.postgres.filter_sql import COLUMNS, KEY, TRUE, Dates, Sql, condition, dated_fields, joined
from refdesk.stores.postgres.texts import escaped, plain
from refdesk.stores.postgres.view import Part, View, seen, seen_anywhere

FEW = 5_000
"""Up to so many chunks, the best of them are found by looking at each; the index takes as long for these."""
RECORDS = "records AS r LEFT JOIN documents AS d ON d.key = r.document"
KINDS: tuple[Kind, ...] = ("text", "number", "bool", "date")


@dataclass(frozen=True, slots=True)
class Selection:
    """The documents of a part that a search looks at."""

    part: Part
    matching: Sql
    """The condition on records `r` of documents `d`."""
    keys: tuple[int, ...] | None
    """The documents, where they have few chunks."""

    @property
    def is_empty(self) -> bool:
        return self.keys == ()

    def among(self, column: str) -> Sql:
        """Return the condition that a column names one of the documents."""
        if self.keys is not None:
            return Sql(f"{column} = ANY(%s::bigint[])", (list(self.keys),))
        return Sql(
            f"{column} IN (SELECT r.document FROM {RECORDS} WHERE {self.matching.text})",
            self.matching.parameters,
        )

    def probed(self, column: str) -> Sql:
        """Return the same condition for one row at a time, whatever the planner thinks of it."""
        return Sql(
            f"(SELECT true FROM {RECORDS} WHERE r.document = {column} AND {self.matching.text} LIMIT 1)",
            self.matching.parameters,
        )


async def filtered(connection: Connection, view: View, filter: Filter | None) -> Sql:
    """Return a filter as SQL.

    Errors: `InputError` for one that cannot be evaluated, or a comparison that no document in the scope can
    pass because its key holds another kind of value everywhere.
    """
    if filter is None:
        return TRUE
    check(filter)
    for comparison in comparisons(filter):
        await _refuse_clash(connection, view, comparison)
    return condition(filter, await dated(connection, view, filter))


async def dated(connection: Connection, view: View, filter: Filter) -> Dates:
    """Return what a filter must know of fields that may read as dates."""
    return {key: await _dates(connection, view, key) for key in dated_fields(filter)}


async def _dates(connection: Connection, view: View, key: str) -> dict[str, int]:
    """Return the values of a field that read as dates, with their instants."""
    column, among = COLUMNS[key], seen_anywhere(view)
    statement = (
        f"SELECT DISTINCT {column} FROM {RECORDS} WHERE {column} LIKE '____-__-__%%'"
        f" AND length({column}) < 40 AND ({among.text})"
    )
    found = [plain(text) for (text,) in await rows(connection, statement, among.parameters)]
    return {text: moment for text in found if (moment := instant(text)) is not None}


async def _refuse_clash(connection: Connection, view: View, comparison: Compare) -> None:
    if comparison.key in DOCUMENT_FIELDS:
        kinds = frozenset(("text", "date"))
    elif await _is_kept(connection, view, comparison.key, typed(comparison.value).kind):
        return
    else:
        kept = [kind for kind in KINDS if await _is_kept(connection, view, comparison.key, kind)]
        kinds = frozenset(kept)
    if error := clash(comparison, kinds):
        raise error


async def _is_kept(connection: Connection, view: View, key: str, kind: str) -> bool:
    """Tell whether a document that is seen has a value of this kind under a key."""
    among, kept = seen_anywhere(view), escaped(key)
    test = "f.kind = 'text'" if kind == "text" else f"f.kind <> 'text' AND f.kind = '{kind}'"
    statement = (
        f"SELECT 1 FROM facts AS f JOIN records AS r ON r.key = f.record WHERE {test}"
        f" AND left(f.key, {KEY}) = %s AND f.key = %s AND ({among.text}) LIMIT 1"
    )
    return await one(connection, statement, (kept[:KEY], kept, *among.parameters)) is not None


async def selected(
    connection: Connection, view: View, filter: Filter | None, *, few: int = FEW
) -> list[Selection]:
    """Return the parts that hold matching chunks, each with its documents where they have few."""
    passes = await filtered(connection, view, filter)
    found = [
        await _selection(connection, view, part, passes, whole=filter is None, few=few)
        for part in view.parts
        if part.chunk_set
    ]
    return [each for each in found if not each.is_empty]


async def _selection(
    connection: Connection, view: View, part: Part, passes: Sql, *, whole: bool, few: int
) -> Selection:
    matching = joined("AND", (seen(view, part), passes))
    if whole and part.seen > few:
        return Selection(part, matching, None)
    most = (
        few // max(1, part.seen // max(1, part.documents)) + 1
    )  # documents, as long as these are on average
    statement = f"SELECT r.document, r.chunks FROM {RECORDS} WHERE r.chunks > 0 AND {matching.text} LIMIT %s"
    found = await rows(connection, statement, (*matching.parameters, most))
    counted = sum(chunks for _, chunks in found)
    return Selection(part, matching, _keys(found) if counted <= few and len(found) < most else None)


def _keys(found: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted({key for key, _ in found}))
