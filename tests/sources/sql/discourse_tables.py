"""A forum: the tables that Discourse has, and a few lines to fill them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

CREATE = (Path(__file__).parents[3] / "examples" / "forum" / "tables.sql").read_text()

START = datetime(2024, 1, 1)
GROUPS = {
    0: "everyone",
    1: "admins",
    3: "staff",
    4: "anonymous_users",
    5: "logged_in_users",
    10: "trust_level_0",
    12: "trust_level_2",
}
DATED = frozenset(
    (
        *("users", "groups", "group_users", "categories", "category_groups", "topics", "posts", "tags"),
        *("topic_tags", "tag_groups", "tag_group_memberships", "tag_group_permissions"),
        *("topic_allowed_users", "site_settings"),
    )
)


@dataclass
class Forum:
    """A forum's database. The clock goes on by a minute with every change."""

    url: str
    connection: psycopg.Connection[tuple[Any, ...]]
    clock: datetime = field(default=START)

    def add(self, table: str, **values: Any) -> int:
        """Add a row and return its id."""
        self.clock += timedelta(minutes=1)
        if table in DATED:
            values = {"created_at": self.clock, "updated_at": self.clock, **values}
        names = [sql.Identifier(name) for name in values]
        query = sql.SQL("INSERT INTO {} ({}) VALUES ({}) RETURNING id").format(
            sql.Identifier(table),
            sql.SQL(", ").join(names),
            sql.SQL(", ").join(sql.Placeholder() * len(values)),
        )
        found = self.connection.execute(query, list(values.values())).fetchone()
        assert found is not None
        return int(found[0])

    def change(self, table: str, row: int, *, touch: bool = True, **values: Any) -> None:
        """Change a row, as Discourse does with its time of change unless it is not touched."""
        self.clock += timedelta(minutes=1)
        if touch and table in DATED:
            values["updated_at"] = self.clock
        sets = sql.SQL(", ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in values)
        query = sql.SQL("UPDATE {} SET {} WHERE id = %s").format(sql.Identifier(table), sets)
        self.connection.execute(query, [*values.values(), row])

    def remove(self, table: str, row: int) -> None:
        query = sql.SQL("DELETE FROM {} WHERE id = %s").format(sql.Identifier(table))
        self.connection.execute(query, [row])

    def user(self, name: str) -> int:
        return self.add("users", username=name, username_lower=name.lower(), active=True, trust_level=1)

    def category(self, name: str, *, readers: Sequence[int] = (), **values: Any) -> int:
        """Add a category that only some groups may read, where there are `readers`."""
        given = {"read_restricted": bool(readers), "user_id": 1, "slug": name.lower(), **values}
        made = self.add("categories", name=name, name_lower=name.lower(), **given)
        for group in readers:
            self.add("category_groups", category_id=made, group_id=group, permission_type=3)
        return made

    def topic(self, title: str, category: int | None, *, tags: Sequence[str] = (), **values: Any) -> int:
        given = {"slug": title.lower().replace(" ", "-"), "user_id": 1, "last_post_user_id": 1, **values}
        made = self.add("topics", title=title, category_id=category, bumped_at=self.clock, **given)
        for tag in tags:
            self.tag(made, tag)
        return made

    def tag(self, topic: int, name: str) -> int:
        """Give a topic a tag; returns the id of the link."""
        found = self.connection.execute("SELECT id FROM tags WHERE name = %s", [name]).fetchone()
        tag = int(found[0]) if found else self.add("tags", name=name)
        return self.add("topic_tags", topic_id=topic, tag_id=tag)

    def post(self, topic: int, text: str, **values: Any) -> int:
        found = self.connection.execute("SELECT count(*) FROM posts WHERE topic_id = %s", [topic]).fetchone()
        number = int(found[0]) + 1 if found else 1
        cooked = values.pop("cooked", f"<p>{text}</p>")
        given = {"user_id": 1, "post_number": number, "last_version_at": self.clock, **values}
        return self.add("posts", topic_id=topic, raw=text, cooked=cooked, **given)


@contextmanager
def forum(url: str) -> Iterator[Forum]:
    """Make a forum in an empty database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CREATE)
        made = Forum(url, connection)
        for number, name in GROUPS.items():
            made.add("groups", id=number, name=name, automatic=True)
        made.user("alice")
        yield made
