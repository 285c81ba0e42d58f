"""A configuration that was read: where, what, and what each column is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from typing import Any, Literal, get_args

from refdesk.documents import Strategy
from refdesk.sources.sql.columns import Column, Joined, Part

VERSION = 1
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,59}")
Kind = Literal["text", "number", "boolean", "date", "list"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
MEDIA_TYPES = ("text/plain", "text/markdown", "text/html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One key of the metadata."""

    part: Part
    kind: Kind | None = None
    """None: as the database types it."""
    separator: str = ","


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may read a row: one of the three, or none of them where a preset says it."""

    always: tuple[str, ...] = ()
    """The same principals for every row."""
    part: Part | None = None
    """A list of principals, a JSON list, or text between separators."""
    separator: str = ","
    prefix: str = ""
    """What is put before each principal, such as `group:`."""
    query: str = ""
    """A second SELECT of ids and principals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """What the columns of a row are."""

    id: Part
    text: Joined
    acl: Access
    title: Part | None = None
    url: Part | None = None
    language: Part | None = None
    media_type: Part | None = None
    updated_at: Column | None = None
    version: Part | None = None
    deleted: Column | None = None
    deleted_sql: str = ""
    metadata: Mapping[str, Fact] = field(default_factory=dict)
    strategy: Strategy = "titled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """How the source is followed."""

    overlap: timedelta = timedelta(minutes=10)
    """How long before the cursor rows are read again: transactions may last, and clocks differ."""
    walk: timedelta | None = timedelta(0)
    """How often ids and ACLs are compared; 0 in every run, None never."""
    remove_at_most: float = 0.5
    """Share of the documents that may vanish at once unless `prune` confirms it."""
    page: int = 10_000
    """Rows of one statement."""
    timezone: tzinfo = UTC
    """What times without a zone are in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One SQL source."""

    name: str
    url: str
    query: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    preset: Any = None
    """A preset with its options, see `plan.Preset`."""
    map: Mapping[str, Any] = field(default_factory=dict)
    """As it was written; with a preset, what is put over the preset's."""
    sync: Sync = field(default_factory=Sync)


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a file as readers understand it."""

    values: str
    default: str
    meaning: str


TOP: Mapping[str, Key] = {
    "version": Key("`1`", "required", "Version of this form."),
    "name": Key(
        "`a-z`, digits, `.`, `_`, `-`",
        "the file's name",
        "Name of the source: ids begin with it, and how far it was read is kept under it.",
    ),
    "url": Key(
        "`postgresql://`, `mysql://`, `mariadb://` or `sqlite:///` address",
        "required",
        "The database; `${NAME}` is an environment variable, for passwords.",
    ),
    "query": Key("one SELECT", "or `preset`", "What is read; its columns are mapped below `map`."),
    "parameters": Key("names with values", "", "Values of `:name` in the query."),
    "preset": Key("name of a preset", "or `query`", "Tables that are known."),
    "options": Key("options of the preset", "", "See the preset."),
    "map": Key("parts of a document", "required with `query`", "See below; over a preset's, key by key."),
    "sync": Key("see below", "", "How the source is followed."),
}
MAP: Mapping[str, Key] = {
    "id": Key("column or template", "required", "What tells rows apart; in the collection after the name."),
    "text": Key("column, template, or list of them", "required", "The text; several with an empty line."),
    "acl": Key(
        "list; column; `{column, separator, prefix}`; `{principals: SELECT, prefix}`",
        "required",
        "Who may read a row: `[public]` for everyone. NULL, empty and unknown is nobody.",
    ),
    "title": Key("column or template", "the id", "The title; it is embedded with every chunk."),
    "url": Key("column or template", "", "Where a reader finds it; values are percent-encoded."),
    "language": Key("column or `{value: de}`", "detected", "ISO 639-1 code."),
    "media_type": Key(
        "`text/plain`, `text/markdown`, `text/html`, or a column",
        "`text/plain`",
        "How the text is parsed.",
    ),
    "updated_at": Key(
        "column",
        "",
        "When a row changed: time, number since 1970, or ISO text. Without it every run reads all rows.",
    ),
    "version": Key(
        "column or template",
        "",
        "A short text that changes with the document: the walk compares it, for changes without a time.",
    ),
    "deleted": Key(
        "column or `{sql: condition}`", "", "Which rows are gone: not NULL, not 0, not `f`, `false`, `no`."
    ),
    "metadata": Key(
        "names with columns, or `{column, type, separator}`, `{value}`",
        "",
        "What can be filtered; types are `text`, `number`, `boolean`, `date`, `list`.",
    ),
    "strategy": Key(
        ", ".join(f"`{one}`" for one in STRATEGIES),
        "`titled`",
        "What is embedded before each chunk: the title; with `post` also the metadata `category` and `tags`.",
    ),
}
SYNC: Mapping[str, Key] = {
    "overlap": Key(
        "duration such as `90s`, `10m`, `6h`", "`10m`", "Read rows again that changed so long ago."
    ),
    "walk": Key(
        "`always`, `never` or a duration",
        "`always`",
        "Compare ids and ACLs of all rows: finds what vanished or appeared, and changed permissions.",
    ),
    "remove_at_most": Key(
        "0 to 1", "`0.5`", "Share of the documents that may vanish at once without `--prune`."
    ),
    "page": Key("10 to 1,000,000", "`10000`", "Rows that one statement reads."),
    "timezone": Key("IANA name", "`UTC`", "What times without a zone are in."),
}
