"""SQL selects the documents that the filter means."""

import dataclasses
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stores.postgres.written import database, written
from tests.stores.test_filter_sql import FILTERS, METADATA, TEXTS, documents_of

from refdesk.documents import Document, Metadata, Scope
from refdesk.errors import InputError
from refdesk.filters import And, Compare, Equals, Exists, Filter, In, Not, Or, matches
from refdesk.filters.meaning import check, comparisons
from refdesk.stores.postgres import filter_sql, listing
from refdesk.stores.postgres.connecting import Connection, Database
from refdesk.stores.postgres.selecting import dated
from refdesk.stores.postgres.view import open_view, seen

pytestmark = pytest.mark.anyio

LONG = "x" * 150
LONG_TEXTS = st.sampled_from([LONG, LONG + "a", LONG + "b", "x" * 9000, "2025-01-01 or so", "9999-99-99"])


@pytest.fixture
async def library(postgres: str) -> AsyncIterator[Database]:
    async with database(postgres) as opened:
        yield opened


async def selected(
    connection: Connection, documents: Sequence[Document], filter: Filter, *, checked: bool = True
) -> list[Document]:
    """Select stored documents; unless `checked`, also by comparisons that none can pass."""
    view = await open_view(connection, Scope(("c",)))
    if checked:
        found = await listing.listed(connection, view, filter, 0, None)
        return [documents[int(record.source_id)] for record in found]
    check(filter)
    passes = filter_sql.condition(filter, await dated(connection, view, filter))
    among = filter_sql.joined("AND", (seen(view, view.parts[0]), passes))
    page = await listing.page(connection, view.parts[0], among, 0, None)
    return [documents[int(record.source_id)] for record in page]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(
        st.tuples(METADATA, TEXTS | LONG_TEXTS, st.none() | TEXTS | LONG_TEXTS), min_size=1, max_size=5
    ),
    filter=FILTERS,
)
async def test_sql_selects_what_the_filter_means(
    library: Database, drawn: list[tuple[Metadata, str, str | None]], filter: Filter
) -> None:
    documents = documents_of(drawn)
    expected = [document for document in documents if matches(filter, document)]
    async with written(library, documents) as connection:
        assert await selected(connection, documents, filter, checked=False) == expected
        try:
            assert await selected(connection, documents, filter) == expected
        except InputError:
            assert any(not any(matches(one, each) for each in documents) for one in comparisons(filter))


async def test_long_keys_and_texts_are_compared_to_their_end(library: Database) -> None:
    drawn = [
        ({LONG: LONG}, "", None),
        ({LONG: LONG + "a"}, "", None),
        ({LONG + "a": LONG}, "", None),
        ({"k": "x" * 9000}, "x" * 9000, None),
        ({"k": "x" * 8999}, "x" * 8999, None),
    ]
    documents = documents_of(drawn)
    filters: list[Filter] = [
        Equals(LONG, LONG),
        Exists(LONG),
        Compare(LONG, ">", LONG),
        In(LONG + "a", (LONG, LONG + "a")),
        Equals("k", "x" * 9000),
        Equals("title", "x" * 9000),
        Compare("k", "<", "x" * 9000),
    ]
    async with written(library, documents) as connection:
        for filter in filters:
            expected = [each for each in documents if matches(filter, each)]
            assert await selected(connection, documents, filter) == expected


@pytest.mark.parametrize("key", ["n", "source_id", "title"])
async def test_many_values_are_looked_up(library: Database, key: str) -> None:
    documents = documents_of([({"n": str(number)}, str(number), None) for number in range(10)])
    values = (*map(str, range(5)), *(f"x{number}" for number in range(50_000)))
    async with written(library, documents) as connection:
        assert await selected(connection, documents, In(key, values)) == documents[:5]
        either = Or(tuple(Equals(key, value) for value in values))
        assert await selected(connection, documents, either) == documents[:5]
        neither = And(tuple(Not(Equals(key, value)) for value in values))
        assert await selected(connection, documents, neither) == documents[5:]


async def test_more_conditions_than_a_statement_takes_are_refused(library: Database) -> None:
    wide = Or(tuple(Compare(f"n{number}", ">", number) for number in range(20_000)))
    with pytest.raises(InputError, match="In"):
        filter_sql.condition(wide, {})


async def test_values_of_documents_out_of_sight_cause_no_error(library: Database) -> None:
    """What kinds a key has is told of documents that are seen alone."""
    (hidden, shown) = documents_of([({"n": "text"}, "", None), ({}, "", None)])
    documents = [dataclasses.replace(hidden, acl=("boss",)), shown]
    async with written(library, documents) as connection:
        asked = Compare("n", ">", 1)
        assert await selected(connection, documents, asked) == []
        view = await open_view(connection, Scope(("c",), ("boss",)))
        with pytest.raises(InputError, match="text"):
            await listing.listed(connection, view, asked, 0, None)


MANY = tuple(f"no value {number}" for number in range(filter_sql.FEW)) + tuple(
    number + 0.125 for number in range(filter_sql.FEW)
)


def widened(filter: Filter) -> Filter:
    """Return a filter that means the same of these documents, with many values in each `In` and `Equals`."""
    match filter:
        case And(filters):
            return And(tuple(map(widened, filters)))
        case Or(filters):
            return Or(tuple(map(widened, filters)))
        case Not(inner):
            return Not(widened(inner))
        case Equals(key, value):
            return In(key, (value, *MANY))
        case In(key, values):
            return In(key, (*values, *MANY))
    return filter


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(st.tuples(METADATA, TEXTS, st.none() | TEXTS), min_size=1, max_size=5),
    filter=FILTERS.map(widened),
)
async def test_many_values_mean_what_few_do(
    library: Database, drawn: list[tuple[Metadata, str, str | None]], filter: Filter
) -> None:
    documents = documents_of(drawn)
    expected = [document for document in documents if matches(filter, document)]
    async with written(library, documents) as connection:
        assert await selected(connection, documents, filter, checked=False) == expected
