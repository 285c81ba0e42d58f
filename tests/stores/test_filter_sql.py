"""SQL selects the documents that the filter means."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refdesk.documents import PUBLIC, Document, Metadata, Scalar, Scope
from refdesk.errors import InputError
from refdesk.filters import And, Compare, Equals, Exists, Filter, In, Not, Or, matches
from refdesk.filters.meaning import comparisons
from refdesk.stores import acls, control, filter_sql, records, shelves

KEYS = st.sampled_from(["a", "b", "'; --", "title", "url", "source_id", "ключ"])
META_KEYS = st.sampled_from(["a", "b", "'; --", "ключ"])
TEXTS = st.sampled_from(
    [
        "",
        "a",
        "A",
        "b",
        "1",
        "true",
        "2025-01-01",
        "2025-01-01T00:00:00Z",
        "2025-01-02",
        "' OR 1=1",
        "\x00",
        "é",
    ]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
SCALARS: st.SearchStrategy[Scalar] = st.one_of(
    TEXTS,
    st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 2.0**62, 1e300]) | st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.datetimes(datetime(2024, 12, 31), datetime(2025, 1, 3), timezones=st.sampled_from([UTC, None])),
)
METADATA: st.SearchStrategy[Metadata] = st.dictionaries(
    META_KEYS, SCALARS | st.lists(SCALARS, max_size=3).map(tuple), max_size=3
)
ORDERED = SCALARS.filter(lambda value: not isinstance(value, bool))
LEAVES: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Equals, KEYS, SCALARS),
    st.builds(In, KEYS, st.lists(SCALARS, max_size=4).map(tuple)),
    st.builds(Compare, KEYS, st.sampled_from(["<", "<=", ">", ">="]), ORDERED),
    st.builds(Exists, KEYS),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


ACLS = st.sampled_from([("public",), ("public",), ("staff",), ("board",), ("board", "staff"), ()])
SCOPE = Scope(principals=("staff",))


def documents_of(drawn: Sequence[tuple[Metadata, str, str | None]]) -> list[Document]:
    return [
        Document(
            collection="c",
            source_id=f"{number}",
            title=title,
            text="",
            url=url,
            metadata=metadata,
            acl=(PUBLIC,),
        )
        for number, (metadata, title, url) in enumerate(drawn)
    ]


Select = Callable[[sqlite3.Connection, Sequence[int], acls.Readable, Filter], list[int]]


def matching(
    connection: sqlite3.Connection, collections: Sequence[int], seen: acls.Readable, filter: Filter
) -> list[int]:
    filter_sql.refuse(connection, collections, seen, filter)
    return filter_sql.select(connection, collections, seen, filter)


def selected(
    folder: Path, documents: list[Document], filter: Filter, select: Select = matching
) -> list[Document]:
    """Store documents, select, and undo."""
    connection = control._connect(folder, mode="rw")
    try:
        connection.execute("BEGIN")
        shelves.create(connection, "c", "")
        shelf = shelves.shelf(connection, "c")
        for key, document in enumerate(documents):
            records.put(connection, shelf, key, document, chunks=0, tokens=0)
        seen = acls.readable(connection, SCOPE)
        return [documents[key] for key in select(connection, [shelf.key], seen, filter)]
    finally:
        connection.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    control.create(folder)
    return folder


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(st.tuples(METADATA, TEXTS, st.none() | TEXTS), min_size=1, max_size=5),
    acl=st.lists(ACLS, min_size=5, max_size=5),
    filter=FILTERS,
)
def test_sql_selects_what_the_filter_means(
    library: Path, drawn: list[tuple[Metadata, str, str | None]], acl: list[tuple[str, ...]], filter: Filter
) -> None:
    documents = [replace(one, acl=acl[number]) for number, one in enumerate(documents_of(drawn))]
    readable = [document for document in documents if SCOPE.readers.intersection(document.acl)]
    expected = [document for document in readable if matches(filter, document)]
    assert selected(library, documents, filter, filter_sql.select) == expected
    found, refused = or_refused(library, documents, filter)
    assert refused or found == expected
    if refused:
        assert any(not any(matches(one, each) for each in readable) for one in comparisons(filter))
    if readable:
        assert or_refused(library, readable, filter) == (found, refused)


def or_refused(library: Path, documents: list[Document], filter: Filter) -> tuple[list[Document], str]:
    try:
        return selected(library, documents, filter), ""
    except InputError as error:
        return [], str(error)


@pytest.mark.parametrize("key", ["n", "source_id", "title"])
def test_many_values_are_looked_up(library: Path, key: str) -> None:
    documents = documents_of([({"n": str(number)}, str(number), None) for number in range(10)])
    wanted = In(key, (*map(str, range(5)), *(f"x{number}" for number in range(50_000))))
    assert selected(library, documents, wanted) == documents[:5]


def test_more_conditions_than_sqlite_takes_are_refused(library: Path) -> None:
    with pytest.raises(InputError, match="In"):
        selected(library, documents_of([({}, "", None)]), Or(tuple(Equals("n", n) for n in range(20_000))))
