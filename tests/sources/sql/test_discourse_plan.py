"""What the preset `discourse` makes of a forum: which posts, what of them, and who may read them."""

from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.sources.sql.discourse_tables import Forum, forum

from refdesk.errors import SourceError
from refdesk.sources.sql import Sql
from refdesk.sources.sql.connecting import Connection
from refdesk.sources.sql.presets.discourse import Discourse

BASE = "https://forum.example"
Row = dict[str, Any]


@pytest.fixture
def made(postgres: str) -> Iterator[Forum]:
    with forum(postgres) as found:
        yield found


def rows(made: Forum, **options: Any) -> dict[int, Row]:
    database = Connection(made.url)
    plan = Discourse(base_url=BASE, **options).plan(database)
    return {row["id"]: row for row in database.rows(plan.query, plan.parameters)}


def test_a_post_with_what_its_topic_says(made: Forum) -> None:
    parent = made.category("Pumps")
    category = made.category("Repair", parent_category_id=parent)
    topic = made.topic("It leaks", category, tags=("seals", "noise"))
    post = made.post(topic, "Mine leaks too.")
    (row,) = rows(made).values()
    assert (row["id"], row["topic_id"], row["post_number"]) == (post, topic, 1)
    assert (row["title"], row["slug"], row["body"]) == ("It leaks", "it-leaks", "<p>Mine leaks too.</p>")
    assert (row["category"], row["category_id"]) == ("Pumps > Repair", category)
    assert (row["tags"], row["acl"]) == (["noise", "seals"], ["public"])
    assert "author" not in row
    assert rows(made, authors=True)[post]["author"] == "alice"


@pytest.mark.parametrize(
    "gone",
    [
        {"post_type": 2},
        {"post_type": 3},
        {"post_type": 4},
        {"hidden": True},
        {"user_deleted": True},
        {"deleted_at": "2024-05-01"},
    ],
    ids=str,
)
def test_posts_that_are_left_out(made: Forum, gone: dict[str, Any]) -> None:
    topic = made.topic("It leaks", made.category("Pumps"))
    kept = made.post(topic, "It does.")
    made.post(topic, "Not this.", **gone)
    assert set(rows(made)) == {kept}


@pytest.mark.parametrize(
    "gone", [{"deleted_at": "2024-05-01"}, {"visible": False}, {"archetype": "private_message"}], ids=str
)
def test_topics_that_are_left_out(made: Forum, gone: dict[str, Any]) -> None:
    made.post(made.topic("It leaks", made.category("Pumps"), **gone), "It does.")
    assert rows(made) == {}
    assert len(rows(made, unlisted=True)) == ("visible" in gone)


def test_a_restricted_category_is_read_by_its_groups(made: Forum) -> None:
    inside = made.category("Inside", readers=(3, 12))
    below = made.category("Below", parent_category_id=inside, readers=(3,))
    beside = made.category("Beside", parent_category_id=inside)
    nobody = made.category("Nobody", read_restricted=True)
    posts = {
        made.post(made.topic(name, category), name): acl
        for name, category, acl in (
            ("a", inside, ["group:staff", "group:trust_level_2"]),
            ("b", below, ["group:staff"]),
            ("c", beside, ["public"]),
            ("d", nobody, []),
            ("e", None, ["public"]),
        )
    }
    found = rows(made)
    assert {post: found[post]["acl"] for post in posts} == posts
    assert found[max(posts)]["category"] == ""
    labels = [found[post]["category"] for post in sorted(posts)]
    assert labels == ["Inside", "Inside > Below", "Beside", "Nobody", ""]


@pytest.mark.parametrize("permission", [1, 2, 3])
def test_every_kind_of_permission_lets_read(made: Forum, permission: int) -> None:
    category = made.category("Inside", read_restricted=True)
    made.add("category_groups", category_id=category, group_id=12, permission_type=permission)
    made.post(made.topic("a", category), "a")
    assert [row["acl"] for row in rows(made).values()] == [["group:trust_level_2"]]


def test_everyone_is_nobody_in_a_restricted_category(made: Forum) -> None:
    made.post(made.topic("a", made.category("Odd", readers=(0, 3))), "a")
    assert [row["acl"] for row in rows(made).values()] == [["group:staff"]]


def test_a_category_that_is_gone_hides(made: Forum) -> None:
    made.post(made.topic("a", 4711), "a")
    assert [row["acl"] for row in rows(made).values()] == [None]


@pytest.mark.parametrize(("value", "acl"), [("t", "group:trust_level_0"), ("f", "public"), (None, "public")])
def test_a_forum_that_wants_a_login(made: Forum, value: str | None, acl: str) -> None:
    made.add("site_settings", name="login_required", data_type=5, value=value)
    made.post(made.topic("a", made.category("Pumps")), "a")
    made.post(made.topic("b", None), "b")
    assert [row["acl"] for row in rows(made).values()] == [[acl]] * 2


def test_the_group_of_all_members_has_the_name_it_has_here(made: Forum) -> None:
    made.change("groups", 10, name="niveau_0")
    made.add("site_settings", name="login_required", data_type=5, value="t")
    made.post(made.topic("b", None), "b")
    assert [row["acl"] for row in rows(made).values()] == [["group:niveau_0"]]


def test_messages_are_for_their_participants(made: Forum) -> None:
    bob = made.user("bob")
    message = made.topic("Hello", None, archetype="private_message", slug=None)
    for user in (1, bob):
        made.add("topic_allowed_users", topic_id=message, user_id=user)
    made.add("topic_allowed_groups", topic_id=message, group_id=3)
    post = made.post(message, "Between us.")
    alone = made.post(made.topic("Nobody", None, archetype="private_message"), "To nobody.")
    public = made.post(made.topic("Open", None), "To all.")
    found = rows(made, messages=True)
    assert found[post]["acl"] == ["group:staff", "user:alice", "user:bob"]
    assert found[post]["slug"] == "topic"
    assert found[alone]["acl"] is None
    assert found[public]["acl"] == ["public"]
    assert set(rows(made)) == {public}


def test_tags_that_only_some_may_see_are_no_tags(made: Forum) -> None:
    tags = ("loose", "open", "shared", "secret", "unsaid", "guests")
    topic = made.topic("It leaks", made.category("Pumps"), tags=tags)
    groups = {
        "everyone": ([0], ("open", "shared")),
        "staff": ([3], ("secret", "shared")),
        "nobody said": ([], ("unsaid",)),
        "all": ([4, 5], ("guests",)),
    }
    for name, (permitted, held) in groups.items():
        number = made.add("tag_groups", name=name)
        for group in permitted:
            made.add("tag_group_permissions", tag_group_id=number, group_id=group)
        for tag in held:
            made.add("tag_group_memberships", tag_group_id=number, tag_id=tags.index(tag) + 1)
    made.post(topic, "Does it?")
    assert [row["tags"] for row in rows(made).values()] == [["guests", "loose", "open", "shared", "unsaid"]]


def test_a_topic_that_is_the_banner_is_read(made: Forum) -> None:
    post = made.post(made.topic("Welcome", made.category("Pumps"), archetype="banner"), "Read this.")
    assert rows(made)[post]["acl"] == ["public"]
    assert rows(made, messages=True)[post]["acl"] == ["public"]


def test_a_category_for_all_who_are_logged_in(made: Forum) -> None:
    post = made.post(made.topic("Inside", made.category("Members", readers=[5])), "Only for members.")
    assert rows(made)[post]["acl"] == ["group:logged_in_users"]


def state(made: Forum) -> tuple[Any, str]:
    (row,) = rows(made).values()
    return row["updated_at"], row["version"]


def test_what_changes_a_document_changes_its_time_or_version(made: Forum) -> None:
    parent = made.category("Machines")
    category = made.category("Pumps", parent_category_id=parent)
    topic = made.topic("It leaks", category)
    post = made.post(topic, "It does.")
    link = made.tag(topic, "seals")
    states = [state(made)]
    changes: list[tuple[str, int, dict[str, Any]]] = [
        ("posts", post, {"cooked": "<p>It did.</p>"}),
        ("topics", topic, {"title": "It leaked"}),
        ("categories", category, {"name": "Old pumps"}),
        ("categories", parent, {"name": "Old machines"}),
        ("tags", 1, {"name": "gaskets"}),
    ]
    for table, row, values in changes:
        made.change(table, row, **values)
        states.append(state(made))
        assert states[-1][0] == made.clock
    made.remove("topic_tags", link)
    assert state(made)[1] != states[-1][1]
    made.change("topics", topic, touch=False, slug="it-leaked")
    states.append(state(made))
    made.change("categories", category, touch=False, parent_category_id=None)
    assert state(made)[1] != states[-1][1]


def test_an_edit_within_the_grace_period_counts(made: Forum) -> None:
    post = made.post(made.topic("a", None), "a")
    later = made.clock + timedelta(days=1)
    made.change("posts", post, touch=False, last_version_at=later)
    assert state(made)[0] == later


def test_a_circle_of_categories_ends(made: Forum) -> None:
    one = made.category("One")
    two = made.category("Two", parent_category_id=one)
    made.change("categories", one, parent_category_id=two)
    made.post(made.topic("a", two), "a")
    assert [row["category"] for row in rows(made).values()] == ["Two"]


def test_the_page_names_every_option() -> None:
    page = (Path(__file__).parents[3] / "docs" / "sources-discourse.md").read_text("utf-8")
    assert [one.name for one in fields(Discourse) if f"| `{one.name}` |" not in page] == []


def test_a_forum_without_tags(made: Forum) -> None:
    made.connection.execute("DROP TABLE topic_tags, tags, tag_group_permissions, site_settings")
    made.post(made.topic("a", None), "a")
    assert [(row["tags"], row["acl"]) for row in rows(made).values()] == [([], ["public"])]


def test_another_database_is_refused(postgres: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no database of Discourse.*posts, topics"):
        Discourse(base_url=BASE).plan(Connection(postgres))
    with pytest.raises(SourceError, match="reads PostgreSQL, and this is sqlite"):
        Discourse(base_url=BASE).plan(Connection(f"sqlite:///{tmp_path / 'a'}"))


@pytest.mark.parametrize("base", ["", "forum.example", "ftp://forum.example", "https://", "https://x/{slug}"])
def test_addresses_that_cannot_be(postgres: str, base: str) -> None:
    with pytest.raises(SourceError, match="'base_url'"):
        Discourse(base_url=base).plan(Connection(postgres))


def test_a_table_that_an_option_needs(made: Forum) -> None:
    made.post(made.topic("a", made.category("Any")), "a")
    made.connection.execute("DROP TABLE topic_allowed_users")
    assert len(rows(made)) == 1
    with pytest.raises(SourceError, match="topic_allowed_users are missing") as caught:
        rows(made, messages=True)
    assert "may read these tables" in caught.value.remedy


def test_a_table_that_the_user_may_not_read(made: Forum) -> None:
    made.connection.execute("DROP ROLE IF EXISTS refdesk_reader")
    made.connection.execute("CREATE ROLE refdesk_reader")
    made.connection.execute("GRANT SELECT ON posts, topics TO refdesk_reader")
    try:
        url = f"{made.url}{'&' if '?' in made.url else '?'}options=-crole%3Drefdesk_reader"
        data = {"version": 1, "name": "forum", "url": url, "preset": "discourse"}
        with pytest.raises(SourceError, match="permission denied for table") as caught:
            Sql({**data, "options": {"base_url": BASE}}).count()
        assert "SELECT on the tables that the preset 'discourse' reads" in caught.value.remedy
    finally:
        made.connection.execute("DROP OWNED BY refdesk_reader")
        made.connection.execute("DROP ROLE refdesk_reader")
