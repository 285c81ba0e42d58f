"""Checks of filters: the store selects exactly what `refdesk.filters.matches` does."""

import random
from datetime import UTC, datetime, timedelta, timezone

from refdesk.documents import Metadata, Scope
from refdesk.errors import InputError
from refdesk.filters import And, Compare, Equals, Exists, Filter, In, Not, Operator, Or, matches
from refdesk.filters.meaning import comparisons
from refdesk.stores import Reader
from refdesk.testing.stores.promise import Check, OpenStore, only, refused
from refdesk.testing.stores.samples import put, sample, vector

SCOPE = Scope()
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
HOSTILE = (
    "' OR '1'='1",
    '" OR 1=1 --',
    "x'; DROP TABLE documents; --",
    "%",
    "_",
    "*",
    "\x00",
    "😀",
    "a\nb",
    "",
    "a.b[0]",
    "$.x",
    "{}",
    "\\",
    "x" * 3_000,
)

METADATA: tuple[Metadata, ...] = (
    {},
    {"year": 2024, "tag": "x", "public": True},
    {"year": 2025, "tag": ("x", "y"), "public": False, "date": "2025-01-01"},
    {"year": 2025.5, "tag": "1", "date": NOON},
    {"year": 2**62, "tag": 1, "date": "2025-01-01T13:00:00+01:00"},
    {"year": -1, "tag": (), "date": "yesterday"},
    {"tag": True, "' OR '1'='1": "x"},
    {"when": datetime(2024, 2, 29, 23, 59, 59, 999_999), "year": 0.1 + 0.2},
    {"when": ("1969-12-31", datetime(1, 1, 1)), "year": -0.0},
    {"when": "2024-02-29T23:59:59.999999+00:00", "year": 2**53 + 1},
    {"when": "2024-02-30", "year": (2**63 - 1, -(2**63))},
    *({"tag": value} for value in HOSTILE),
    *({key: value} for key, value in zip(HOSTILE, reversed(HOSTILE), strict=True)),
)

FILTERS: tuple[Filter, ...] = (
    Equals("year", 2025),
    Equals("year", 2025.0),
    Equals("year", "2025"),
    Equals("tag", 1),
    Equals("tag", "1"),
    Equals("tag", True),
    Equals("public", True),
    Equals("public", 1),
    Equals("date", "2025-01-01T00:00:00Z"),
    Equals("date", NOON),
    Equals("date", NOON.astimezone(timezone(timedelta(hours=-5)))),
    Equals("source_id", "s03"),
    Equals("title", "Title of s04"),
    Equals("language", 1),
    Equals("unknown", "x"),
    Equals("' OR '1'='1", "x"),
    *(Equals("tag", value) for value in HOSTILE),
    *(Equals("source_id", value) for value in HOSTILE),
    *(Equals(key, value) for key, value in zip(HOSTILE, reversed(HOSTILE), strict=True)),
    *(Exists(key) for key in HOSTILE),
    *(Compare(key, ">=", "") for key in HOSTILE),
    Equals("when", "2024-02-29T23:59:59.999999Z"),
    Equals("when", "2024-02-29T23:59:59.999998Z"),
    Equals("when", "2024-02-30"),
    Compare("when", "<", "1970-01-01"),
    Compare("when", "<=", datetime(1, 1, 1)),
    Compare("when", ">", datetime(2024, 2, 29, 23, 59, 59, 999_998)),
    Equals("year", 0.30000000000000004),
    Equals("year", 0.3),
    Equals("year", 0),
    Equals("year", 2**53),
    Equals("year", 2**53 + 1),
    Equals("year", float(2**53)),
    Compare("year", ">", 2**53),
    Compare("year", ">=", 2**63 - 1),
    Compare("year", "<=", -(2**63)),
    Compare("year", "<", 1e300),
    In("year", (2024.0, 2**62, 2025.5)),
    In("tag", ("y", 1, True, "%")),
    In("tag", ()),
    In("source_id", ("s01", "s02", "nowhere", 5)),
    Compare("year", ">=", 2025),
    Compare("year", "<", 0.5),
    Compare("date", ">=", "2025-01-01"),
    Compare("date", ">", datetime(2025, 1, 1)),
    Compare("date", "<=", "2025-01-01T12:00:00"),
    Compare("source_id", ">", "s05"),
    Compare("tag", "<", "x"),
    Exists("tag"),
    Exists("url"),
    Exists("title"),
    Not(Exists("year")),
    Not(Equals("tag", "x")),
    And(()),
    Or(()),
    And((Exists("year"), Or((Equals("tag", "x"), Compare("year", "<", 0))))),
    Not(And((Equals("tag", "x"), Not(Equals("public", True))))),
)


async def selects_what_the_filter_means(open_store: OpenStore) -> None:
    store = await open_store()
    documents = [
        sample(f"s{n:02}", "words", metadata=data, url="https://e.org" if n % 2 else None)
        for n, data in enumerate(METADATA)
    ]
    await put(store, *documents)
    reader = await store.reader(SCOPE)
    for filter in FILTERS:
        expected = [each.document.source_id for each in documents if matches(filter, each.document)]
        await _assert_selects(reader, filter, expected)


async def _assert_selects(reader: Reader, filter: Filter, expected: list[str]) -> None:
    listed = [record.source_id for record in await reader.documents(filter=filter)]
    near = [hit.source_id for hit in await reader.vector_search(vector("x"), top_k=999, filter=filter)]
    worded = [hit.source_id for hit in await reader.keyword_search(["words"], top_k=999, filter=filter)]
    assert listed == expected, filter
    assert sorted(near) == expected, filter
    assert sorted(worded) == expected, filter
    assert await reader.count(filter) == (len(expected), len(expected)), filter


KEYS = ("year", "tag", "when", "source_id", "' OR '1'='1", "nowhere", "url")
VALUES = (1, 2024, 2025.5, -1, True, False, "x", "1", "s03", "2025-01-01", NOON, "%", "", "\x00")


def _drawn(chance: random.Random, depth: int) -> Filter:
    """Return a filter of any form."""
    form = chance.randrange(8 if depth else 4)
    key = chance.choice(KEYS)
    match form:
        case 0:
            return Equals(key, chance.choice(VALUES))
        case 1:
            return In(key, tuple(chance.sample(VALUES, chance.randrange(4))))
        case 2:
            return Exists(key)
        case 3:
            return Compare(key, chance.choice(OPERATORS), chance.choice(ORDERED))
        case 4 | 5:
            return Not(_drawn(chance, depth - 1))
    inner = tuple(_drawn(chance, depth - 1) for _ in range(chance.randrange(4)))
    return And(inner) if form == 6 else Or(inner)


OPERATORS: tuple[Operator, ...] = ("<", "<=", ">", ">=")
ORDERED = tuple(value for value in VALUES if not isinstance(value, bool))


async def selects_by_filters_of_any_form(open_store: OpenStore) -> None:
    """Conditions nested in one another mean what `matches` says, or are refused for a clash of kinds."""
    store, chance = await open_store(), random.Random(5)
    documents = [
        sample(f"s{n:02}", "words", metadata=data, url="https://e.org" if n % 2 else None)
        for n, data in enumerate(METADATA)
    ]
    await put(store, *documents)
    reader = await store.reader(SCOPE)
    refusals = 0
    for _ in range(250):
        filter = _drawn(chance, 3)
        try:
            await reader.count(filter)
        except InputError:
            assert any(True for _ in comparisons(filter)), filter
            refusals += 1
            continue
        expected = [each.document.source_id for each in documents if matches(filter, each.document)]
        await _assert_selects(reader, filter, expected)
    assert refusals < 125


async def takes_any_number_of_values(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *(sample(f"s{n:04}", f"words {n}", metadata={"n": n}) for n in range(300)))
    reader = await store.reader(SCOPE)
    for count in (101, 299, 300, 5_000, 50_000):
        expected = [f"s{n:04}" for n in range(min(count, 300))]
        await _assert_selects(reader, In("source_id", tuple(f"s{n:04}" for n in range(count))), expected)
        await _assert_selects(reader, In("n", tuple(range(count))), expected)
    any_of = Or(tuple(Equals("n", n) for n in range(5_000)))
    await _assert_selects(reader, any_of, [f"s{n:04}" for n in range(300)])


async def serves_top_k_under_selective_filters(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *(sample(f"s{n}", f"words {n}", metadata={"rare": n % 100 == 0}) for n in range(2_000)))
    reader = await store.reader(SCOPE)
    for top_k, expected in ((10, 10), (20, 20), (50, 20)):
        assert (
            len(await reader.vector_search(vector("x"), top_k=top_k, filter=Equals("rare", True))) == expected
        )
        assert (
            len(await reader.keyword_search(["words"], top_k=top_k, filter=Equals("rare", True))) == expected
        )
    hit = only(await reader.keyword_search(["words"], top_k=10, filter=Equals("source_id", "s1999")))
    assert hit.source_id == "s1999"


async def names_a_clash_of_kinds(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words", metadata={"year": "unknown", "public": True}))
    reader = await store.reader(SCOPE)
    with refused(InputError) as raised:
        await reader.count(Compare("year", ">", 2020))
    assert "year" in raised.error.message
    with refused(InputError):
        await reader.vector_search(vector("x"), top_k=1, filter=Compare("public", ">", False))
    with refused(InputError):
        await reader.keyword_search(["words"], top_k=1, filter=Equals("year", float("nan")))
    assert await reader.count(Compare("nowhere", ">", 2020)) == (0, 0)


async def refuses_metadata_it_cannot_keep(open_store: OpenStore) -> None:
    store = await open_store()
    unfit: tuple[Metadata, ...] = ({"n": float("inf")}, {"n": 2**70}, {"n": "\ud800"}, {"title": "x"})
    for metadata in unfit:
        with refused(InputError):
            await put(store, sample("a", "words", metadata=metadata))
    assert await (await store.reader(SCOPE)).count() == (0, 0)


async def gives_back_metadata_with_its_types(open_store: OpenStore) -> None:
    store = await open_store()
    metadata: Metadata = {
        "text": "2025-01-01",
        "whole": 7,
        "broken": 7.0,
        "flag": True,
        "when": NOON,
        "local": datetime(2025, 1, 1),
        "list": ("a", 1, NOON),
        "none": (),
    }
    await put(store, sample("a", "words", metadata=metadata))
    hit = only(await (await store.reader(SCOPE)).keyword_search(["words"], top_k=1))
    assert hit.metadata == metadata
    assert [type(value) for value in hit.metadata.values()] == [type(value) for value in metadata.values()]


CHECKS: tuple[Check, ...] = (
    selects_what_the_filter_means,
    selects_by_filters_of_any_form,
    takes_any_number_of_values,
    serves_top_k_under_selective_filters,
    names_a_clash_of_kinds,
    refuses_metadata_it_cannot_keep,
    gives_back_metadata_with_its_types,
)
