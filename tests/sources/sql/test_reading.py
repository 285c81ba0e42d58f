"""Configurations, and all that is wrong with one at once."""

from collections.abc import Mapping
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import SettingsError, SourceError
from refdesk.sources.sql import read_config
from refdesk.sources.sql.columns import Column, Constant, Joined, Template
from refdesk.sources.sql.complaints import Complaints
from refdesk.sources.sql.form import MAP, SYNC, TOP, Access, Fact
from refdesk.sources.sql.mapping import merged, plain_map

LEAST: Mapping[str, Any] = {"id": "id", "text": "body", "acl": ["public"]}
GOOD: Mapping[str, Any] = {
    "version": 1,
    "name": "notes",
    "url": "sqlite:///notes.db",
    "query": "SELECT * FROM notes",
    "map": LEAST,
}


def refused(data: Mapping[str, Any] | str | Path) -> str:
    with pytest.raises(SettingsError) as caught:
        read_config(data)
    return str(caught.value)


def test_a_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTES_SECRET", "geheim")
    path = tmp_path / "My Notes.yaml"
    path.write_text("""
version: 1
url: postgresql://reader:${NOTES_SECRET}@db.example/notes
query: |
  SELECT * FROM notes WHERE site = :site
parameters: {site: 3}
map:
  id: "{kind}-{id}"
  text: [intro, body]
  acl: {column: groups, separator: "|", prefix: "group:"}
  url: /n/{slug}/{id}
  language: {value: de}
  media_type: text/html
  deleted: {sql: deleted_at IS NOT NULL}
  metadata:
    tags: {column: tags, type: list}
    kind: {value: note}
sync: {overlap: 90s, walk: 6h, remove_at_most: 0.1, page: 500, timezone: Europe/Berlin}
""")
    config = read_config(path)
    assert config.name == "my-notes"
    assert config.url == "postgresql://reader:geheim@db.example/notes"
    assert config.parameters == {"site": 3}
    assert (config.sync.overlap, config.sync.walk) == (timedelta(seconds=90), timedelta(hours=6))
    assert (config.sync.remove_at_most, config.sync.page) == (0.1, 500)
    found = plain_map(config.map, "")
    assert found.id == Template("{kind}-{id}")
    assert found.text == Joined((Column("intro"), Column("body")))
    assert found.acl == Access(part=Column("groups"), separator="|", prefix="group:")
    assert found.url == Template("/n/{slug}/{id}", encoded=True)
    assert (found.language, found.media_type) == (Constant("de"), Constant("text/html"))
    assert found.deleted_sql == "deleted_at IS NOT NULL"
    assert found.metadata == {
        "tags": Fact(part=Column("tags"), kind="list"),
        "kind": Fact(part=Constant("note")),
    }


def test_passwords_may_have_any_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "p@ss:w/rd?")
    monkeypatch.setenv("WHOLE", "postgresql://me:p%40ss@db.example/notes")
    url = read_config({**GOOD, "url": "mariadb://me:${SECRET}@db.example/notes"}).url
    assert url == "mariadb://me:p%40ss%3Aw%2Frd%3F@db.example/notes"
    assert read_config({**GOOD, "url": "${WHOLE}"}).url == "postgresql://me:p%40ss@db.example/notes"


def test_what_is_left_out() -> None:
    config = read_config(GOOD)
    assert (config.sync.overlap, config.sync.walk, config.sync.timezone) == (
        timedelta(minutes=10),
        timedelta(0),
        UTC,
    )
    assert read_config({**GOOD, "sync": {"walk": "never"}}).sync.walk is None
    assert read_config({**GOOD, "sync": {"overlap": 0}}).sync.overlap == timedelta(0)


def test_all_problems_at_once_with_lines_and_nearest_names(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("""version: 2
urll: sqlite:///x.db
query: DROP TABLE notes
map:
  idd: id
  text: "{body"
  metadata:
    when: {column: at, type: dat}
sync:
  walk: sometimes
""")
    said = refused(path)
    for part in (
        "has 10 problems",
        "line 1: `version` is 2. Write 1.",
        "line 2: It has the key 'urll'. Did you mean 'url'?",
        "It has no `url`.",
        "line 3: `query`: It is no SELECT: DROP TABLE notes.",
        "`map` has the key 'idd'. Did you mean 'id'?",
        "`map` has no `id`.",
        "`map` has no `acl`. Write `acl: [public]` for what everyone may read",
        "line 6: `text` is '{body'. Write columns as `{column}`.",
        "'dat'. Did you mean 'date'?",
        "line 10: `walk` is 'sometimes'.",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "No Spaces"}, "`name` is 'No Spaces'"),
        ({"url": "oracle://x"}, "'oracle'. Known: postgresql"),
        ({"url": "postgres:${NO_SUCH_VARIABLE}"}, "NO_SUCH_VARIABLE"),
        ({"preset": "discourse"}, "not one of `query` and `preset`"),
        ({"options": {"a": 1}}, "`options` and no preset"),
        ({"query": "SELECT :site"}, "':site', which has no value"),
        ({"map": {**LEAST, "acl": 3}}, "`acl` is 3"),
        ({"map": {**LEAST, "acl": {"separator": ","}}}, "not one of `column` and `principals`"),
        ({"map": {**LEAST, "acl": {"principals": "DELETE FROM t"}}}, "`principals`: It is no SELECT"),
        ({"map": {**LEAST, "id": {"value": 1}}}, "the same for every row"),
        ({"map": {**LEAST, "media_type": "text/htm"}}, "Did you mean 'text/html'?"),
        ({"map": {**LEAST, "strategy": "posts"}}, "Did you mean 'post'?"),
        ({"map": {**LEAST, "deleted": {"sql": "a = 1; DROP TABLE t"}}}, "more than one statement"),
        ({"map": {**LEAST, "updated_at": "{a}{b}"}}, "Name one column."),
        ({"map": {**LEAST, "metadata": ["a"]}}, "`metadata` is ['a']"),
        ({"map": {**LEAST, "metadata": {"a": {"type": "text"}}}}, "`metadata.a` has no `column`"),
        ({"map": ["id"]}, "`map` is ['id']"),
        ({"sync": {"page": 3}}, "`page` is 3"),
        ({"sync": {"remove_at_most": 2}}, "`remove_at_most` is 2"),
        ({"sync": {"timezone": "Mars/Base"}}, "no time zone 'Mars/Base'"),
        ({"sync": {"overlap": "ten"}}, "`overlap` is 'ten'"),
        ({"parameters": [1]}, "`parameters` is [1]"),
    ],
)
def test_each_mistake_is_told(changes: Mapping[str, Any], said: str) -> None:
    assert said in refused({**GOOD, **changes})


def test_an_unknown_preset_and_a_wrong_option() -> None:
    without = {key: GOOD[key] for key in ("version", "name", "url")}
    assert "Did you mean 'discourse'?" in refused({**without, "preset": "discours"})
    said = refused({**without, "preset": "discourse", "options": {"bas_url": "x"}})
    assert "The preset has no option 'bas_url'. Did you mean 'base_url'?" in said


def test_options_inside_of_options(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("""version: 1
url: sqlite:///a.sqlite
preset: typo3
options:
  sites:
  - {root: 1, base: https://a.example}
  - rot: 1
    base: https://b.example
    languages:
    - {id: 0, base: /}
    - id: 1
      base: /de/
      fallbck: strict
      fallback: loose
""")
    said = refused(path)
    for part in (
        "has 4 problems",
        "line 7: The option 'sites', entry 2 has the key 'rot'. Did you mean 'root'?",
        "line 7: The option 'sites', entry 2 has no 'root'. Give it.",
        "line 13: The option 'sites', entry 2, 'languages', entry 2 has the key 'fallbck'.",
        "Did you mean 'fallback'?",
        "line 14: The option 'sites', entry 2, 'languages', entry 2, 'fallback': Input should be 'strict'",
    ):
        assert part in said


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [1")
    assert "no YAML" in refused(tmp_path / "a.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in refused(tmp_path / "b.yaml")
    with pytest.raises(SourceError, match=r"Did you mean .*a\.yaml"):
        read_config(tmp_path / "aa.yaml")


def test_a_map_over_a_preset_s() -> None:
    below = {"id": "a", "metadata": {"x": "x", "y": "y"}}
    assert merged(below, {"id": "b", "metadata": {"y": "z"}}) == {"id": "b", "metadata": {"x": "x", "y": "z"}}


def test_every_key_is_in_words() -> None:
    for key in (*TOP.values(), *MAP.values(), *SYNC.values()):
        assert key.meaning.endswith(".")
        assert key.values


def test_one_problem_is_told_in_a_sentence() -> None:
    complaints = Complaints()
    complaints.wrong("It is empty.", "Fill it.", 3)
    with pytest.raises(SettingsError, match=r"^The source cannot be used: line 3: It is empty\. Fill it\.$"):
        complaints.refuse("The source")
