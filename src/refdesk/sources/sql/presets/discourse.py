"""Posts of a Discourse forum, each a document that those may read who may read it in the forum.

What is left out is left out in the query, so that the walk over ids removes what was ingested before: other
posts than regular ones, what is deleted or hidden, and messages unless they are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from refdesk.documents import PUBLIC
from refdesk.errors import SourceError
from refdesk.sources.sql.plan import Database, Plan

TABLES = ("posts", "topics", "categories", "category_groups", "groups")
EVERYONE, ANONYMOUS, MEMBERS = 0, 4, 10
"""Automatic groups: of all and of those without login, which have no members, and of all with an account."""

_CATEGORIES = """
WITH RECURSIVE labels AS (
  SELECT id, CAST(name AS text) AS label, updated_at, read_restricted, 1 AS depth
  FROM categories WHERE parent_category_id IS NULL
  UNION ALL
  SELECT c.id,
    CASE WHEN l.read_restricted AND NOT c.read_restricted THEN CAST(c.name AS text)
      ELSE l.label || ' > ' || c.name END,
    GREATEST(c.updated_at, l.updated_at), c.read_restricted, l.depth + 1
  FROM categories c JOIN labels l ON c.parent_category_id = l.id WHERE l.depth < 10
), readers AS (
  SELECT c.id, CAST(COALESCE(l.label, c.name) AS text) AS label,
    COALESCE(l.updated_at, c.updated_at) AS updated_at,
    CASE WHEN c.read_restricted THEN ARRAY(
      SELECT 'group:' || g.name FROM category_groups cg JOIN groups g ON g.id = cg.group_id
      WHERE cg.category_id = c.id AND g.id <> :everyone ORDER BY g.name)
    ELSE CAST(:public AS text[]) END AS acl
  FROM categories c LEFT JOIN labels l ON l.id = c.id
)"""

_TAGGED = """, tagged AS (
  SELECT tt.topic_id, array_agg(CAST(tg.name AS text) ORDER BY tg.name) AS tags,
    max(GREATEST(tt.updated_at, tg.updated_at)) AS updated_at
  FROM topic_tags tt JOIN tags tg ON tg.id = tt.tag_id
  {shown}
  GROUP BY tt.topic_id
)"""

_NO_TAGS = """, tagged AS (
  SELECT id AS topic_id, CAST('{}' AS text[]) AS tags, updated_at FROM topics WHERE false
)"""

_SHOWN_TAGS = """WHERE NOT EXISTS (
    SELECT 1 FROM tag_group_memberships m JOIN tag_group_permissions p ON p.tag_group_id = m.tag_group_id
    WHERE m.tag_id = tg.id)
  OR EXISTS (
    SELECT 1 FROM tag_group_memberships m JOIN tag_group_permissions p ON p.tag_group_id = m.tag_group_id
    WHERE m.tag_id = tg.id AND p.group_id IN (:everyone, :anonymous))"""

_MESSAGES = """, participants AS (
  SELECT topic_id, array_agg(name ORDER BY name) AS acl FROM (
    SELECT a.topic_id, 'user:' || u.username AS name
    FROM topic_allowed_users a JOIN users u ON u.id = a.user_id
    UNION ALL
    SELECT a.topic_id, 'group:' || g.name
    FROM topic_allowed_groups a JOIN groups g ON g.id = a.group_id
  ) AS allowed GROUP BY topic_id
)"""

_POSTS = """
SELECT p.id, p.cooked AS body, p.topic_id, p.post_number, p.created_at, t.title,
  COALESCE(NULLIF(t.slug, ''), 'topic') AS slug, t.category_id, COALESCE(r.label, '') AS category,
  COALESCE(g.tags, CAST('{{}}' AS text[])) AS tags{author},
  GREATEST(p.updated_at, p.last_version_at, t.updated_at, r.updated_at, g.updated_at) AS updated_at,
  md5(concat_ws(chr(31), p.topic_id, p.post_number, t.title, t.slug, r.label, g.tags)) AS version,
  {acl} AS acl
FROM posts p JOIN topics t ON t.id = p.topic_id
LEFT JOIN readers r ON r.id = t.category_id
LEFT JOIN tagged g ON g.topic_id = t.id
{joins}
WHERE p.post_type = 1 AND p.deleted_at IS NULL AND NOT p.hidden AND NOT p.user_deleted
  AND t.deleted_at IS NULL {archetypes} {listed}"""

_PUBLIC_ACL = "CASE WHEN t.category_id IS NULL THEN CAST(:public AS text[]) ELSE r.acl END"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discourse:
    """A forum. Title, category and tags of the topic are embedded with each post."""

    kind: ClassVar[str] = "discourse"

    base_url: str
    """Address of the forum, such as `https://forum.example`."""
    authors: bool = False
    """Keep the names of those who wrote the posts, as metadata `author`."""
    messages: bool = False
    """Also read personal messages, for their participants only."""
    unlisted: bool = False
    """Also read topics that the forum does not list."""
    language: str = ""
    """Language of the forum, such as `en`; empty to tell that of each post by its text."""

    def plan(self, database: Database) -> Plan:
        """Look at the tables. Errors: `SourceError` where this is no Discourse forum."""
        base = _base(self.base_url)
        messages = ("users", "topic_allowed_users", "topic_allowed_groups") if self.messages else ()
        authors = ("users",) if self.authors else ()
        _check(database, tuple(dict.fromkeys((*TABLES, *authors, *messages))))
        return Plan(
            query=self._query(database),
            map=self._map(base),
            parameters={"everyone": EVERYONE, "anonymous": ANONYMOUS, "public": [_public(database)]},
        )

    def _query(self, database: Database) -> str:
        authors = "LEFT JOIN users u ON u.id = p.user_id" if self.authors else ""
        joins = f"{authors} LEFT JOIN participants m ON m.topic_id = t.id" if self.messages else authors
        acl = f"CASE WHEN t.archetype = 'private_message' THEN m.acl ELSE {_PUBLIC_ACL} END"
        posts = _POSTS.format(
            author=", u.username AS author" if self.authors else "",
            acl=acl if self.messages else _PUBLIC_ACL,
            joins=joins,
            archetypes="" if self.messages else "AND t.archetype <> 'private_message'",
            listed="" if self.unlisted else "AND t.visible",
        )
        return _CATEGORIES + _tags(database) + (_MESSAGES if self.messages else "") + posts

    def _map(self, base: str) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            name: name for name in ("category", "tags", "topic_id", "post_number", "created_at")
        }
        if self.authors:
            metadata["author"] = "author"
        return {
            "id": "id",
            "text": "body",
            "title": "title",
            "url": base + "/t/{slug}/{topic_id}/{post_number}",
            "media_type": {"value": "text/html"},
            **({"language": {"value": self.language}} if self.language else {}),
            "updated_at": "updated_at",
            "version": "version",
            "strategy": "post",
            "acl": "acl",
            "metadata": metadata,
        }


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or "{" in url or parts.query:
        raise SourceError(
            f"The option 'base_url' of the preset 'discourse' is {url!r}; an http address is wanted.",
            remedy="Give the address of the forum, such as https://forum.example.",
        )
    return url.rstrip("/")


def _check(database: Database, tables: Sequence[str]) -> None:
    """Refuse what is no forum. Errors: `SourceError`."""
    if database.dialect != "postgresql":
        raise SourceError(
            f"The preset 'discourse' reads PostgreSQL, and this is {database.dialect}.",
            remedy="Name the forum's own database.",
        )
    if missing := [name for name in tables if not database.columns(name)]:
        raise SourceError(
            f"This is no database of Discourse, or not readable: {', '.join(missing)} are missing.",
            remedy="Check `url:`, and that its user may read these tables.",
        )


def _tags(database: Database) -> str:
    """Return who has which tags, without those that only some groups may see."""
    if not database.columns("topic_tags"):
        return _NO_TAGS
    restricted = database.columns("tag_group_permissions") and database.columns("tag_group_memberships")
    return _TAGGED.format(shown=_SHOWN_TAGS if restricted else "")


def _public(database: Database) -> str:
    """Return who may read what has no restriction: those with an account, where the forum wants a login."""
    if not database.columns("site_settings"):
        return PUBLIC
    query = "SELECT value FROM site_settings WHERE name = 'login_required'"
    values = [str(row["value"]).lower() for row in database.rows(query)]
    if not {"t", "true"} & set(values):
        return PUBLIC
    names = list(database.rows("SELECT name FROM groups WHERE id = :members", {"members": MEMBERS}))
    return f"group:{names[0]['name']}" if names else "group:trust_level_0"
