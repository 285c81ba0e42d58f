"""Fill a database with the tables of Discourse: `python fill.py [FOLDER]`, the database is named by FORUM_DB.

FOLDER holds the `Posts.xml` of a Stack Exchange site: https://archive.org/details/stackexchange. A question
becomes a topic, it and its answers the posts; the tag that says what kind of question it is becomes the
category. Without a FOLDER that has it, the threads of `made.yaml` are taken. Tables that are there are
dropped.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import iterparse

import psycopg
import yaml
from psycopg import sql

KINDS = ("bug", "feature-request", "support", "discussion")
"""Tags that are categories here, the rarer first; questions on a meta site have one of them."""
HERE = Path(__file__).parent
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass
class Post:
    number: int
    author: str
    written: datetime
    html: str
    likes: int = 0


@dataclass
class Thread:
    """A topic; its first post is the question."""

    number: int
    title: str
    category: str
    tags: list[str]
    accepted: int | None
    posts: list[Post] = field(default_factory=list)


def from_stack_exchange(file: Path) -> list[Thread]:
    """Read the questions and answers of a site."""
    threads: dict[int, Thread] = {}
    answers: list[tuple[int, Post]] = []
    for row in _rows(file):
        post = Post(
            number=int(row["Id"]),
            author=f"user{row.get('OwnerUserId', '0').lstrip('-')}",
            written=datetime.fromisoformat(row["CreationDate"]).replace(tzinfo=UTC),
            html=row["Body"],
            likes=max(0, int(row["Score"])),
        )
        if row["PostTypeId"] == "1":
            threads[post.number] = _thread(row, post)
        elif row["PostTypeId"] == "2":
            answers.append((int(row["ParentId"]), post))
    for question, post in sorted(answers, key=lambda one: one[1].written):
        if question in threads:
            threads[question].posts.append(post)
    return list(threads.values())


def _rows(file: Path) -> Iterator[dict[str, str]]:
    for _, element in iterparse(file):
        if element.tag == "row":
            yield dict(element.attrib)
        element.clear()


def _thread(row: dict[str, str], question: Post) -> Thread:
    tags = re.findall(r"<([^<>]+)>", row["Tags"]) or [tag for tag in row["Tags"].split("|") if tag]
    kind = next((kind for kind in KINDS if kind in tags), "discussion")
    accepted = row.get("AcceptedAnswerId")
    return Thread(
        number=question.number,
        title=row["Title"],
        category=kind,
        tags=[tag for tag in tags if tag != kind],
        accepted=int(accepted) if accepted else None,
        posts=[question],
    )


def made_up() -> list[Thread]:
    """Return the threads of `made.yaml`; the first answer of each is the accepted one."""
    threads = []
    for at, one in enumerate(yaml.safe_load((HERE / "made.yaml").read_text("utf-8"))):
        posts = [
            Post(
                number=at * 10 + place,
                author=f"user{(at + place) % 7}",
                written=BEGAN + timedelta(days=at, hours=place),
                html=f"<p>{escape(text)}</p>",
            )
            for place, text in enumerate([one["question"], *one["answers"]], 1)
        ]
        threads.append(Thread(at + 1, one["title"], one["category"], one["tags"], posts[1].number, posts))
    return threads


def fill(connection: psycopg.Connection[Any], threads: Iterable[Thread]) -> None:
    """Make the tables and copy all threads into them."""
    tables = (HERE / "tables.sql").read_text("utf-8")
    for name in re.findall(r"CREATE TABLE (\w+)", tables):
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(sql.Identifier(name)))
    connection.execute(tables)
    threads = list(threads)
    users = _numbered(post.author for thread in threads for post in thread.posts)
    categories = _numbered(thread.category for thread in threads)
    tags = _numbered(tag for thread in threads for tag in thread.tags)
    put = Copier(connection)
    put.rows(
        "users",
        [
            {"id": at, "username": name, "username_lower": name, "trust_level": 1}
            for name, at in users.items()
        ],
    )
    put.rows("groups", [{"id": 0, "name": "everyone"}, {"id": 10, "name": "trust_level_0"}])
    put.rows(
        "categories",
        [
            {"id": at, "name": name, "name_lower": name, "slug": name, "user_id": 1}
            for name, at in categories.items()
        ],
    )
    put.rows("tags", [{"id": at, "name": name} for name, at in tags.items()])
    put.rows("topics", [_topic(thread, categories, users) for thread in threads])
    put.rows(
        "topic_tags", [{"topic_id": one.number, "tag_id": tags[tag]} for one in threads for tag in one.tags]
    )
    put.rows("posts", [row for thread in threads for row in _posts(thread, users)])
    put.rows(
        "topic_custom_fields",
        [
            {"topic_id": one.number, "name": "accepted_answer_post_id", "value": str(one.accepted)}
            for one in threads
            if one.accepted in {post.number for post in one.posts}
        ],
    )


def _topic(thread: Thread, categories: dict[str, int], users: dict[str, int]) -> dict[str, Any]:
    first, last = thread.posts[0], thread.posts[-1]
    return {
        "id": thread.number,
        "title": thread.title,
        "slug": re.sub(r"[^a-z0-9]+", "-", thread.title.lower()).strip("-") or "topic",
        "category_id": categories[thread.category],
        "user_id": users[first.author],
        "last_post_user_id": users[last.author],
        "posts_count": len(thread.posts),
        "highest_post_number": len(thread.posts),
        "bumped_at": last.written,
        "created_at": first.written,
        "updated_at": first.written,
    }


def _posts(thread: Thread, users: dict[str, int]) -> Iterator[dict[str, Any]]:
    for place, post in enumerate(thread.posts, 1):
        yield {
            "id": post.number,
            "topic_id": thread.number,
            "post_number": place,
            "user_id": users[post.author],
            "raw": post.html,
            "cooked": post.html,
            "like_count": post.likes,
            "created_at": post.written,
            "updated_at": post.written,
            "last_version_at": post.written,
        }


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(dict.fromkeys(names), 1)}


@dataclass
class Copier:
    """Copies rows into tables; those without dates get the day the forum began."""

    connection: psycopg.Connection[Any]

    def rows(self, table: str, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        dated = [{"created_at": BEGAN, "updated_at": BEGAN, **row} for row in rows]
        names = [sql.Identifier(name) for name in dated[0]]
        query = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), sql.SQL(", ").join(names))
        with self.connection.cursor() as cursor, cursor.copy(query) as copy:
            for row in dated:
                copy.write_row([row[name] for name in dated[0]])
        print(f"{table}: {len(rows)}")


def main(folder: str = "") -> None:
    file = Path(folder) / "Posts.xml"
    found = folder and file.is_file()
    threads = from_stack_exchange(file) if found else made_up()
    print(f"Threads from {file if found else 'made.yaml'}: {len(threads)}")
    with psycopg.connect(os.environ["FORUM_DB"]) as connection:
        connection.execute("SET timezone TO 'UTC'")
        fill(connection, threads)


if __name__ == "__main__":
    main(*sys.argv[1:2])
