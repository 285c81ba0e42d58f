"""Rows of a real database: what is listed first, what changed, and what is there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.sources.sql.tables import EARLY, MAP, Notes, changes, cursor, failure, ids, item, walk

import refdesk
from refdesk.errors import InputError, SettingsError, SourceError
from refdesk.principals import as_principals
from refdesk.sources import VERSION_KEY, Followed, SourceGone, SourceMark, SourcePresent
from refdesk.sources.sql.source import Sql

pytestmark = pytest.mark.anyio
LATE = EARLY + timedelta(days=1)


async def test_rows_become_items(notes: Notes) -> None:
    notes.add(1, readers="staff, board")
    source = notes.source(map={**MAP, "url": "/n/{title}", "metadata": {"changed": "changed", "n": "id"}})
    assert isinstance(source, Followed)
    assert source.count() == 1
    found = await changes(source)
    one = item(found[0])
    assert (one.source_id, one.title, one.text) == ("notes:1", "Note 1", "The body of note 1.")
    assert (one.url, one.acl) == ("/n/Note%201", ("board", "staff"))
    when = one.metadata["changed"]
    assert when == EARLY.replace(tzinfo=UTC) or when == str(EARLY)
    assert one.metadata["n"] == 1
    assert [each async for each in source.items()] == [one]


async def test_only_what_changed_is_listed_again(notes: Notes) -> None:
    notes.add(1, 2)
    notes.add(3, changed=LATE)
    at = cursor(await changes(notes.source()))
    notes.add(4, changed=LATE + timedelta(days=1))
    source = notes.source()
    assert source.count_since(at) == 2
    # The last one that was seen is read again: another may have the same time.
    assert ids(await changes(source, at)) == ["notes:3", "notes:4"]


async def test_equal_times_are_never_passed_over(notes: Notes) -> None:
    notes.add(5, 6)
    at = cursor(await changes(notes.source(sync={"overlap": 0})))
    notes.add(1, 9)
    assert ids(await changes(notes.source(sync={"overlap": 0}), at)) == [
        "notes:1",
        "notes:5",
        "notes:6",
        "notes:9",
    ]


async def test_what_was_committed_late_is_read_within_the_overlap(notes: Notes) -> None:
    notes.add(1, changed=LATE)
    at = cursor(await changes(notes.source()))
    notes.add(2, changed=LATE - timedelta(minutes=9))
    notes.add(3, changed=LATE - timedelta(minutes=11))
    assert ids(await changes(notes.source(), at)) == ["notes:2", "notes:1"]
    assert ids(await changes(notes.source(sync={"overlap": "1h"}), at)) == ["notes:3", "notes:2", "notes:1"]


async def test_pages_of_equal_times_are_read_to_the_end(notes: Notes) -> None:
    notes.add(*range(1, 36))
    notes.add(*range(36, 41), changed=None)
    found = ids(await changes(notes.source(sync={"page": 10})))
    assert sorted(found) == sorted(f"notes:{number}" for number in range(1, 41))
    assert len(found) == 40


async def test_rows_that_do_not_say_when_they_changed_are_read_each_time(notes: Notes) -> None:
    notes.add(1, changed=None)
    notes.add(2)
    at = cursor(await changes(notes.source(sync={"overlap": 0})))
    notes.add(3, changed=LATE)
    assert ids(await changes(notes.source(sync={"overlap": 0}), at)) == ["notes:1", "notes:2", "notes:3"]


async def test_a_clock_that_is_ahead_hides_nothing(notes: Notes) -> None:
    notes.add(1, changed=datetime(2099, 1, 1))
    at = cursor(await changes(notes.source()))
    notes.add(2, changed=datetime.now(UTC).replace(tzinfo=None))
    assert ids(await changes(notes.source(), at)) == ["notes:2", "notes:1"]


async def test_without_a_time_every_run_reads_all(notes: Notes) -> None:
    notes.add(1, 2)
    source = notes.source(map={key: MAP[key] for key in MAP if key != "updated_at"})
    at = cursor(await changes(source))
    assert ids(await changes(source, at)) == ["notes:1", "notes:2"]


async def test_a_cursor_of_another_query_is_worth_nothing(notes: Notes) -> None:
    notes.add(1)
    notes.add(2, changed=LATE)
    at = cursor(await changes(notes.source()))
    other = notes.source(query="SELECT * FROM notes WHERE id < 3")
    assert ids(await changes(other, at)) == ["notes:1", "notes:2"]
    assert ids(await changes(notes.source(), "{nonsense")) == ["notes:1", "notes:2"]


async def test_deleted_rows_are_gone(notes: Notes) -> None:
    notes.add(1, 2)
    notes.run("UPDATE notes SET deleted = 1 WHERE id = 1")
    assert (await changes(notes.source()))[0] == SourceGone("notes:1")
    conditioned = notes.source(map={**MAP, "deleted": {"sql": "deleted = 1 OR title LIKE '%e 2'"}})
    assert (await changes(conditioned))[:2] == [SourceGone("notes:1"), SourceGone("notes:2")]
    assert sorted(ids(await walk(conditioned))) == ["notes:1", "notes:2"]
    assert all(isinstance(one, SourceGone) for one in (await walk(conditioned))[:2])


async def test_the_walk_lists_ids_and_readers_and_remembers_the_unknown(notes: Notes) -> None:
    notes.add(1, 2, 3)
    notes.run("UPDATE notes SET readers = NULL WHERE id = 2")
    source = notes.source()
    found = await walk(source, known=["notes:1"])
    assert sorted(found[:-1], key=str) == [
        SourcePresent("notes:1", ("public",)),
        SourcePresent("notes:2", ()),
        SourcePresent("notes:3", ("public",)),
    ]
    assert isinstance(found[-1], SourceMark)
    assert sorted(ids([one async for one in source.unknown()])) == ["notes:2", "notes:3"]


async def test_the_walk_remembers_what_is_of_another_version(notes: Notes) -> None:
    notes.add(1, 2, 3, 4)
    source = notes.source(map={**MAP, "version": "{title}!"})
    assert item((await changes(source))[0]).metadata == {VERSION_KEY: "Note 1!"}
    known = {"notes:1": "Note 1!", "notes:2": "Note 2", "notes:3": None}
    assert len([one async for one in source.walk("", known)]) == 5
    assert sorted(ids([one async for one in source.unknown()])) == ["notes:2", "notes:4"]


async def test_a_walk_is_made_when_it_is_time(notes: Notes) -> None:
    notes.add(1)
    source = notes.source(sync={"walk": "6h"})
    at = cursor(await walk(source, cursor(await changes(source))))
    assert not source.walks(at)
    assert source.walks("")
    assert notes.source().walks(at)
    assert not notes.source(sync={"walk": "never"}).walks("")
    # What was changed stays read where the walk notes that it was made.
    assert ids(await changes(notes.source(sync={"walk": "6h", "overlap": 0}), at)) == ["notes:1"]


async def test_principals_of_a_second_query(notes: Notes) -> None:
    notes.add(1, 2, 3)
    query = "SELECT id, title FROM notes WHERE id = 1 UNION ALL SELECT id, 'staff' FROM notes WHERE id < 3"
    source = notes.source(map={**MAP, "acl": {"principals": query, "prefix": "g:"}})
    acls = {each.source_id: each.acl for each in map(item, (await changes(source))[:3])}
    assert acls == {"notes:1": ("g:Note 1", "g:staff"), "notes:2": ("g:staff",), "notes:3": ()}
    present = {each.source_id: each.acl for each in await walk(source) if isinstance(each, SourcePresent)}
    assert present == acls


@pytest.mark.parametrize("said", ["public ", " public", "staff, public ", "staff ,public", "public,\t", " "])
@pytest.mark.parametrize("prefix", ["", "g:"])
async def test_a_name_with_blanks_hides_its_row(notes: Notes, said: str, prefix: str) -> None:
    notes.add(1, readers=said)
    query = "SELECT id, readers FROM notes"
    for access in ({"column": "readers"}, {"principals": query}):
        source = notes.source(map={**MAP, "acl": {**access, "prefix": prefix}})
        one, there = item((await changes(source))[0]), (await walk(source))[0]
        assert isinstance(there, SourcePresent)
        assert one.acl == there.acl
        with pytest.raises(InputError, match="blank"):
            as_principals(one.acl, "The ACL")


async def test_such_a_row_is_a_failure_and_what_is_stored_is_hidden(notes: Notes, tmp_path: Path) -> None:
    notes.add(1, 2)
    notes.add(3, readers="public ")
    with refdesk.open(tmp_path / "library") as desk:
        first = desk.ingest(notes.source())
        assert [(one.source_id, one.reason) for one in first.failures] == [("notes:3", "acl")]
        notes.run("UPDATE notes SET readers = 'public ' WHERE id = 2")
        desk.ingest(notes.source())
        assert [one.source_id for one in desk.documents()] == ["notes:1"]


async def test_ids_of_several_columns(notes: Notes) -> None:
    notes.add(*range(1, 26))
    source = notes.source(map={**MAP, "id": "{title}/{id}"}, sync={"page": 10})
    found = ids(await changes(source))
    assert found[0] == "notes:Note 1/1"
    assert len(set(found)) == 25
    await walk(source, known=found[2:])
    assert sorted(ids([one async for one in source.unknown()])) == sorted(found[:2])


async def test_nothing_can_be_written(notes: Notes) -> None:
    notes.add(1)
    with pytest.raises(SourceError):
        await changes(notes.source(query="WITH a AS (SELECT 1) DELETE FROM notes"))
    source = notes.source()
    await changes(source)
    reader = source._opened()
    with pytest.raises(SourceError), reader.source.connection.reading() as connection:
        connection.exec_driver_sql("DELETE FROM notes")
    assert notes.source().count() == 1


async def test_columns_that_are_not_there(notes: Notes) -> None:
    with pytest.raises(SettingsError) as caught:
        notes.source(map={**MAP, "title": "titel", "text": "{bodi}"}).count()
    assert "`title` names the column 'titel'. Did you mean 'title'?" in str(caught.value)
    assert "`text` names the column 'bodi'. Did you mean 'body'?" in str(caught.value)


async def test_queries_that_fail_say_why(notes: Notes) -> None:
    with pytest.raises(SourceError, match="nots"):
        notes.source(query="SELECT * FROM nots").count()
    with pytest.raises(SourceError, match="Cannot read"):
        notes.source(map={**MAP, "deleted": {"sql": "no_such = 1"}}).count()
    with pytest.raises(SettingsError, match="has the columns id, title, body"):
        notes.source(map={**MAP, "acl": {"principals": "SELECT id, title, body FROM notes"}}).count()


async def test_percent_signs_and_colons_are_what_they_are(notes: Notes) -> None:
    notes.add(1, 2)
    query = "SELECT *, ':x %s %(a)s' AS odd FROM notes WHERE title LIKE '%:e%' OR title LIKE :like -- 100 %"
    source = notes.source(query=query, parameters={"like": "%2"}, map={**MAP, "title": "odd"})
    assert [item(one).title for one in (await changes(source))[:-1]] == [":x %s %(a)s"]


async def test_html_and_metadata_types(notes: Notes) -> None:
    notes.add(1)
    notes.run("UPDATE notes SET body = '<p>Hi</p>', title = 'a|b'")
    facts = {
        "tags": {"column": "title", "type": "list", "separator": "|"},
        "when": {"column": "changed", "type": "date"},
        "gone": {"column": "deleted", "type": "boolean"},
        "number": {"column": "id", "type": "text"},
        "kind": {"value": "note"},
    }
    one = item((await changes(notes.source(map={**MAP, "media_type": "text/html", "metadata": facts})))[0])
    assert (one.data, one.text, one.media_type) == (b"<p>Hi</p>", None, "text/html")
    assert one.metadata == {
        "tags": ("a", "b"),
        "when": EARLY.replace(tzinfo=UTC),
        "gone": False,
        "number": "1",
        "kind": "note",
    }


async def test_broken_rows_fail_alone(sqlite: Notes) -> None:
    sqlite.add(1, 2, 3)
    sqlite.run("UPDATE notes SET title = 'soon' WHERE id = 2")
    sqlite.run("CREATE TABLE loose (id, body, changed, day)")
    sqlite.run(
        "INSERT INTO loose VALUES (NULL, 'x', 1, 1), (' ', 'y', 2, 2), (3, x'ff', 3, 3), (4, 'z', 4, 'soon')"
    )
    source = sqlite.source(
        query="SELECT * FROM loose",
        map={
            "id": "id",
            "text": "body",
            "acl": ["public"],
            "updated_at": "changed",
            "metadata": {"day": {"column": "day", "type": "date"}},
        },
    )
    found = await changes(source)
    failures = [failure(one) for one in found[:4]]
    assert [one.source_id for one in failures] == ["notes:", "notes:", "notes:3", "notes:4"]
    assert "1 row has no id: id is NULL" in failures[0].message
    assert "has no id" in failures[1].message
    assert "no text" in failures[2].message
    assert "'day': 'soon' is no time" in failures[3].message


async def test_text_that_is_no_utf8(sqlite: Notes) -> None:
    sqlite.add(1)
    sqlite.run("UPDATE notes SET body = CAST(x'48ff49' AS text)")
    assert item((await changes(sqlite.source()))[0]).text == "H\ufffdI"


@pytest.mark.parametrize("value", ['["a"', '{"a": 1}', "[[1]]", ""])
async def test_a_list_that_cannot_be_read_hides(sqlite: Notes, value: str) -> None:
    sqlite.add(1)
    sqlite.run("UPDATE notes SET readers = :value", {"value": value})
    assert item((await changes(sqlite.source()))[0]).acl == ()


async def test_two_columns_of_one_name(postgres: str) -> None:
    notes = Notes(postgres)
    notes.create()
    with pytest.raises(SettingsError, match="2 columns 'id'"):
        notes.source(query="SELECT id, id, body, title, changed, deleted, readers FROM notes").count()


def test_a_missing_file_is_not_made(tmp_path: Any) -> None:
    with pytest.raises(SourceError, match="no SQLite file"):
        Notes(f"sqlite:///{tmp_path}/none.db").source().count()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb"])
def test_errors_show_no_password(scheme: str) -> None:
    source = Sql(
        {
            "version": 1,
            "name": "n",
            "url": f"{scheme}://reader:hunter2%40x@127.0.0.1:9/db",
            "query": "SELECT 1 AS id",
            "map": {"id": "id", "text": "id", "acl": ["public"]},
        }
    )
    with pytest.raises(SourceError) as caught:
        source.count()
    assert "Cannot open the database" in str(caught.value)
    assert "hunter2" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"


async def test_a_column_public_that_there_is_not(notes: Notes) -> None:
    with pytest.raises(SettingsError, match=r"column 'public'.*`acl: \[public\]` for what everyone may read"):
        notes.source(map={**MAP, "acl": "public"}).count()


async def test_rows_without_an_id_are_told_once_in_a_run(sqlite: Notes) -> None:
    sqlite.run("CREATE TABLE loose (id, body)")
    sqlite.run("INSERT INTO loose VALUES (NULL, 'x'), (1, 'y')")
    mapped = {"id": "id", "text": "body", "acl": ["public"]}
    source = sqlite.source(query="SELECT * FROM loose", map=mapped)
    for _ in range(2):
        source.count_since("")
        assert ids(await changes(source)) == ["notes:", "notes:1"]
        assert ids(await walk(source)) == ["notes:1"]
    source.count_since("")
    assert ids(await walk(source)) == ["notes:", "notes:1"]
