"""The example of a forum: what it fills a database with is what the preset reads."""

import runpy
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from refdesk.sources.sql.connecting import Connection
from refdesk.sources.sql.presets.discourse import Discourse

FOLDER = Path(__file__).parents[1] / "examples" / "forum"
POSTS = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="7" PostTypeId="1" AcceptedAnswerId="9" CreationDate="2010-08-16T20:20:28.943" Score="3"
    OwnerUserId="4" Title="A wet floor" Tags="&lt;discussion&gt;&lt;support&gt;&lt;seals&gt;"
    Body="&lt;p&gt;It leaks.&lt;/p&gt;" />
  <row Id="9" PostTypeId="2" ParentId="7" CreationDate="2010-08-18T20:20:28.943" Score="-2" OwnerUserId="5"
    Body="&lt;p&gt;Tighten the nut.&lt;/p&gt;" />
  <row Id="8" PostTypeId="2" ParentId="7" CreationDate="2010-08-17T20:20:28.943" Score="0" Body="Mine too." />
  <row Id="10" PostTypeId="2" ParentId="99" CreationDate="2010-08-17T20:20:28.943" Score="0" Body="Lost." />
  <row Id="11" PostTypeId="4" CreationDate="2010-08-17T20:20:28.943" Score="0" Body="A tag's description" />
</posts>
"""


def filled(url: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[dict[str, Any]]:
    """Run the example's script, and read what the preset gives."""
    monkeypatch.setenv("FORUM_DB", url)
    monkeypatch.setattr(sys, "argv", ["fill.py", *arguments])
    runpy.run_path(str(FOLDER / "fill.py"), run_name="__main__")
    database = Connection(url)
    plan = Discourse(base_url="https://forum.example").plan(database)
    return sorted(database.rows(plan.query, plan.parameters), key=lambda row: row["id"])


def accepted(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT value FROM topic_custom_fields ORDER BY id")]


def test_a_site_of_stack_exchange(postgres: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "Posts.xml").write_text(POSTS, "utf-8")
    rows = filled(postgres, monkeypatch, str(tmp_path))
    assert [(row["id"], row["post_number"], row["topic_id"]) for row in rows] == [
        (7, 1, 7),
        (8, 2, 7),
        (9, 3, 7),
    ]
    assert {(row["title"], row["slug"], row["category"]) for row in rows} == {
        ("A wet floor", "a-wet-floor", "support")
    }
    assert rows[0]["tags"] == ["discussion", "seals"]
    assert rows[2]["body"] == "<p>Tighten the nut.</p>"
    assert rows[2]["created_at"].isoformat() == "2010-08-18T20:20:28.943000"
    assert accepted(postgres) == ["9"]


def test_a_forum_that_was_made_up_and_filled_again(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = filled(postgres, monkeypatch)
    again = filled(postgres, monkeypatch, "no such folder")
    assert first == again
    assert len({row["topic_id"] for row in first}) == 16
    posts = {str(row["id"]): row["post_number"] for row in first}
    assert {posts[name] for name in accepted(postgres)} == {2}
    assert all(row["acl"] == ["public"] for row in first)
