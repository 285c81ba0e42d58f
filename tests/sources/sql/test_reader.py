"""One run over a server: connections that break, roles that may only read, functions that would write."""

import psycopg
import pytest
from tests.sources.sql.tables import MAP, Notes

from refdesk.errors import SourceError
from refdesk.sources import SourceItem
from refdesk.sources.sql.cursor import Cursor
from refdesk.sources.sql.opening import opened
from refdesk.sources.sql.reader import Reader


@pytest.fixture
def notes(postgres: str) -> Notes:
    notes = Notes(postgres)
    notes.create()
    return notes


def broken(url: str) -> int:
    """End every other connection, and say how many there were."""
    query = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(query).fetchone()
    assert found is not None
    return int(found[0])


def test_a_connection_that_breaks_is_opened_again_where_it_was(notes: Notes) -> None:
    notes.add(*range(1, 4001))
    reader = Reader(opened(notes.source().config), wait=0)
    found = []
    for number, one in enumerate(reader.changes(Cursor())):
        if number in (1300, 3300):
            assert broken(notes.url) == 1
        if isinstance(one, SourceItem):
            found.append(one.source_id)
    assert found == [f"notes:{number}" for number in range(1, 4001)]


def test_a_database_that_does_not_come_back_is_an_error(notes: Notes) -> None:
    notes.add(*range(1, 4001))
    reader = Reader(opened(notes.source().config), wait=0)

    def all_of() -> None:
        for number, _ in enumerate(reader.changes(Cursor())):
            if number == 1300:
                assert broken(notes.url) == 1
                notes.run("ALTER TABLE notes RENAME TO others")

    with pytest.raises(SourceError, match="does not exist"):
        all_of()


def test_a_function_that_would_write_is_refused(notes: Notes) -> None:
    notes.add(1)
    notes.run("CREATE SEQUENCE counted")
    query = "SELECT notes.*, nextval('counted') AS number FROM notes"
    reader = Reader(opened(notes.source(query=query, map={**MAP, "title": "number"}).config))
    with pytest.raises(SourceError, match="read-only transaction"):
        list(reader.changes(Cursor()))


def test_a_role_that_may_only_read_is_enough(notes: Notes) -> None:
    notes.add(1)
    role = notes.url.rpartition("/")[2].partition("?")[0] + "_reader"
    with psycopg.connect(notes.url, autocommit=True) as connection:
        connection.execute(f'CREATE ROLE "{role}"')
        connection.execute(f'GRANT SELECT ON notes TO "{role}"')
    try:
        mark = "&" if "?" in notes.url else "?"
        restricted = Notes(f"{notes.url}{mark}options=-crole%3D{role}")
        assert restricted.source().count() == 1
        with pytest.raises(SourceError, match="permission denied"):
            restricted.source(query="SELECT rolname AS id, rolpassword AS body FROM pg_authid").count()
    finally:
        with psycopg.connect(notes.url, autocommit=True) as connection:
            connection.execute(f'REVOKE ALL ON notes FROM "{role}"')
            connection.execute(f'DROP ROLE "{role}"')


def test_types_of_postgres(notes: Notes) -> None:
    query = """
    SELECT 7 AS id, 'x' AS body, ARRAY['b', 'a', NULL] AS readers, '{"a": [1]}'::jsonb AS data,
           1.50::numeric AS price, true AS open, DATE '2024-05-01' AS day, 'infinity'::timestamp AS until,
           ARRAY[1, 2] AS numbers, gen_random_uuid() AS code, NULL::text AS nothing,
           INTERVAL '1 day' AS length
    """
    names = ("data", "price", "open", "day", "until", "numbers", "code", "nothing", "length")
    mapped = {
        "id": "id",
        "text": "body",
        "acl": "readers",
        "metadata": {name: name for name in names},
    }
    found = next(iter(Reader(opened(notes.source(query=query, map=mapped).config)).changes(Cursor())))
    assert isinstance(found, SourceItem), found
    assert found.acl == ("a", "b")
    assert found.metadata["price"] == 1.5
    assert found.metadata["open"] is True
    assert found.metadata["numbers"] == (1, 2)
    assert found.metadata["data"] == '{"a": [1]}'
    assert found.metadata["until"] == "infinity"
    assert "nothing" not in found.metadata
