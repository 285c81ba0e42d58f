"""What only MariaDB has: its types, its collations, its modes, and connections that it ends."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy
from tests.mariadb import run
from tests.sources.sql.tables import MAP, Notes, changes, cursor, ids, item, walk

from refdesk.errors import SourceError
from refdesk.sources import SourceItem
from refdesk.sources.sql.connecting import DRIVERS, Connection, filled
from refdesk.sources.sql.cursor import Cursor
from refdesk.sources.sql.opening import opened
from refdesk.sources.sql.reader import Reader

pytestmark = pytest.mark.anyio


@pytest.fixture
def notes(mariadb: str) -> Notes:
    notes = Notes(mariadb)
    notes.create()
    return notes


@pytest.fixture
def ansi(mariadb_server: str) -> Iterator[None]:
    """Let the server read SQL as the standard has it, where double quotes are around names."""
    run(mariadb_server, "SET GLOBAL sql_mode = 'ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES'")
    yield
    run(mariadb_server, "SET GLOBAL sql_mode = DEFAULT")


def end_others(url: str) -> int:
    """End every other connection to a database, and say how many there were."""
    scheme, _, rest = url.partition(":")
    engine = sqlalchemy.create_engine(f"{DRIVERS[scheme]}:{rest}", poolclass=sqlalchemy.NullPool)
    query = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
    with engine.connect() as connection:
        found = [row[0] for row in connection.exec_driver_sql(query)]
        for one in found:
            connection.exec_driver_sql(f"KILL CONNECTION {int(one)}")
    return len(found)


def test_a_connection_that_breaks_is_opened_again_where_it_was(notes: Notes) -> None:
    notes.run(
        "INSERT INTO notes (id, title, body, changed, readers) SELECT seq, CONCAT('Note ', seq),"
        " REPEAT('long ', 400), '2024-01-01 12:00:00', 'public' FROM seq_1_to_9000"
    )
    reader = Reader(opened(notes.source().config), wait=0)
    found = []
    for number, one in enumerate(reader.changes(Cursor())):
        if number in (1300, 5300):
            assert end_others(notes.url) == 1
        if isinstance(one, SourceItem):
            found.append(one.source_id)
    assert found == [f"notes:{number}" for number in range(1, 9001)]


def test_a_database_that_does_not_come_back_is_an_error(notes: Notes) -> None:
    notes.run(
        "INSERT INTO notes (id, title, body, changed, readers) SELECT seq, 'Note',"
        " REPEAT('long ', 400), '2024-01-01 12:00:00', 'public' FROM seq_1_to_9000"
    )
    reader = Reader(opened(notes.source().config), wait=0)

    def all_of() -> None:
        for number, _ in enumerate(reader.changes(Cursor())):
            if number == 1300:
                assert end_others(notes.url) == 1
                notes.run("RENAME TABLE notes TO others")

    with pytest.raises(SourceError, match="doesn't exist"):
        all_of()


async def test_ids_that_differ_in_case_or_accents_alone(notes: Notes) -> None:
    notes.run("CREATE TABLE words (word varchar(20), body text, changed datetime)")
    words = ["a", "A", "\u00e4", "\u00c4", "b", "B", "e", "\u00e9", "z", "Z", "o", "\u00f6", "ss", "\u00df"]
    notes.run("INSERT INTO words VALUES (:word, 'text', '2024-01-01')", *({"word": word} for word in words))
    mapped = {"id": "word", "text": "body", "acl": ["public"], "updated_at": "changed"}
    source = notes.source(query="SELECT * FROM words", map=mapped, sync={"page": 10})
    expected = sorted(f"notes:{word}" for word in words)
    assert sorted(ids(await changes(source))) == expected
    assert sorted(ids(await walk(source))) == expected
    await walk(source, known=["notes:a"])
    unknown = ids([one async for one in source.unknown()])
    assert set(expected) - {"notes:a"} <= set(unknown)


async def test_types(notes: Notes) -> None:
    notes.run(
        "CREATE TABLE kinds (id int, body longtext, open bit(1), mask bit(10), flag tinyint(1),"
        " price decimal(10,2), data json, day date, at datetime, stamp timestamp NULL, lasts time,"
        " born year, raw varbinary(9),"
        " kind enum('x','y'), many set('p','q'), readers json, big bigint unsigned)"
    )
    notes.run(
        "INSERT INTO kinds VALUES (1, 'text', b'1', b'1000000001', 1, 12.50, '{\"a\": [1]}', '2024-05-01',"
        " '2024-05-01 10:00:00', NULL, '10:30:00', 2024, 'bytes', 'y', 'p,q', '[\"b\", \"a\"]',"
        " 18446744073709551615)"
    )
    names = (
        "open",
        "mask",
        "flag",
        "price",
        "data",
        "day",
        "at",
        "stamp",
        "lasts",
        "born",
        "raw",
        "kind",
        "big",
    )
    facts: dict[str, Any] = {name: name for name in names}
    facts |= {
        "many": {"column": "many", "type": "list"},
        "true": {"column": "open", "type": "boolean"},
        "also": {"column": "flag", "type": "boolean"},
    }
    mapped = {"id": "id", "text": "body", "acl": "readers", "deleted": "mask", "metadata": facts}
    source = notes.source(query="SELECT * FROM kinds", map={**mapped, "deleted": {"sql": "open = b'0'"}})
    one = item((await changes(source))[0])
    assert one.acl == ("a", "b")
    assert one.metadata == {
        "open": 1,
        "mask": 513,
        "flag": 1,
        "price": 12.5,
        "data": '{"a": [1]}',
        "day": datetime(2024, 5, 1, tzinfo=UTC),
        "at": datetime(2024, 5, 1, 10, tzinfo=UTC),
        "lasts": "10:30:00",
        "born": 2024,
        "raw": "bytes",
        "kind": "y",
        "big": str(2**64 - 1),
        "many": ("p", "q"),
        "true": True,
        "also": True,
    }
    gone = notes.source(query="SELECT * FROM kinds", map={**mapped, "deleted": "open"})
    assert ids(await changes(gone)) == ["notes:1"]
    assert not isinstance((await changes(gone))[0], SourceItem)


async def test_dates_that_are_none(notes: Notes) -> None:
    notes.run("ALTER TABLE notes MODIFY changed datetime NULL")
    notes.add(2, changed=datetime(2024, 1, 1))
    notes.run(
        "SET STATEMENT sql_mode = '' FOR INSERT INTO notes VALUES (1, 'A', 'B', '0000-00-00', 0, 'public')"
    )
    notes.run(
        "SET STATEMENT sql_mode = '' FOR INSERT INTO notes VALUES (3, 'A', 'B', '2024-00-00', 0, 'public')"
    )
    source = notes.source(map={**MAP, "metadata": {"changed": "changed"}}, sync={"page": 10, "overlap": 0})
    found = await changes(source)
    assert sorted(ids(found)) == ["notes:1", "notes:2", "notes:3"]
    assert item(found[0]).metadata["changed"] == "0000-00-00 00:00:00"
    notes.add(4, changed=datetime(2024, 1, 2))
    assert ids(await changes(source, cursor(found)))[-1] == "notes:4"
    assert sorted(ids(await walk(source))) == [f"notes:{number}" for number in range(1, 5)]


async def test_hostile_texts(notes: Notes) -> None:
    texts = ["a\0b", "\U0001f600 \U0001d54f", "'; DROP TABLE notes; --", "\\", "%s %(x)s :id ? ``", "\x1a"]
    notes.run(
        "INSERT INTO notes VALUES (:id, :title, :title, '2024-01-01', 0, 'public')",
        *({"id": number, "title": text} for number, text in enumerate(texts, 1)),
    )
    source = notes.source(map={**MAP, "id": "title", "version": "title"}, sync={"page": 10})
    found = [one for one in await changes(source) if isinstance(one, SourceItem)]
    assert sorted(str(one.text) for one in found) == sorted(texts)
    known = {one.source_id: str(one.metadata["source.version"]) for one in found}
    _ = [one async for one in source.walk("", known)]
    assert [one async for one in source.unknown()] == []
    _ = [one async for one in source.walk("", {})]
    assert len([one async for one in source.unknown()]) == len(texts)


async def test_a_list_of_groups_is_never_cut(notes: Notes) -> None:
    notes.add(1)
    notes.run("CREATE TABLE readers (page int, name varchar(40))")
    notes.run("INSERT INTO readers SELECT 1, CONCAT('group-', seq) FROM seq_1_to_200000")
    query = "SELECT n.*, (SELECT GROUP_CONCAT(name) FROM readers r WHERE r.page = n.id) AS names FROM notes n"
    one = item((await changes(notes.source(query=query, map={**MAP, "acl": "names"})))[0])
    assert one.acl == tuple(sorted(f"group-{number}" for number in range(1, 200_001)))


@pytest.mark.usefixtures("ansi")
async def test_a_server_with_standard_sql(notes: Notes) -> None:
    notes.add(1, 2)
    query = """SELECT "id", "title" || '!' AS "title", "body", "changed", "deleted", "readers"
      FROM "notes" WHERE "id" > :low"""
    deleted = {"sql": '"deleted" = 1'}
    source = notes.source(query=query, parameters={"low": 1}, map={**MAP, "deleted": deleted})
    assert [item(one).title for one in (await changes(source))[:-1]] == ["Note 2!"]
    assert ids(await walk(source, cursor(await changes(source)), known=[])) == ["notes:2"]


@pytest.mark.parametrize("password", ["pa%ss@:/ö", "密码", "plain"])
def test_passwords_outside_of_latin_1(
    mariadb: str, mariadb_server: str, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    run(mariadb_server, f"CREATE USER other@localhost IDENTIFIED BY '{password.replace('%', '%%')}'")
    try:
        run(mariadb_server, "GRANT SELECT ON *.* TO other@localhost")
        monkeypatch.setenv("OTHER_PASSWORD", password)
        url = filled(mariadb.replace("root@", "other:${OTHER_PASSWORD}@"))
        assert list(Connection(url).rows("SELECT 1 AS one")) == [{"one": 1}]
        with pytest.raises(SourceError, match="Access denied"):
            list(Connection(filled(mariadb.replace("root@", "other:wrong@"))).rows("SELECT 1 AS one"))
    finally:
        run(mariadb_server, "DROP USER other@localhost")
