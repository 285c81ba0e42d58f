"""What the preset `typo3` makes of an installation, for tests to look at."""

from typing import Any

from tests.sources.sql.typo3_tables import Installation

from refdesk.sources.sql.connecting import Connection
from refdesk.sources.sql.presets.typo3 import Language, Site, Typo3

LANGUAGES = (
    Language(id=0, base="/", language="en"),
    Language(id=1, base="/de/", language="de"),
    Language(id=2, base="https://fr.example.org", language="fr", fallback="fallback"),
    Language(id=3, base="/nl", fallback="free"),
)
Found = dict[str, dict[str, Any]]


def found(site: Installation, **options: Any) -> Found:
    """Return the finished rows by id, with their principals; what nobody may read has none."""
    preset = Typo3(sites=(Site(root=1, base="https://example.org/", languages=LANGUAGES),), **options)
    database = Connection(site.url)
    plan = preset.plan(database)
    assert plan.finish is not None
    assert plan.principals is not None
    rows = {row["id"]: dict(plan.finish(row)) for row in database.rows(plan.query, plan.parameters)}
    acls = dict(plan.principals(database))
    assert set(acls) == set(rows)
    return {name: {**row, "acl": tuple(acls[name])} for name, row in rows.items()}


def texts(rows: Found, name: str) -> list[str]:
    """Return the paragraphs of a document."""
    body = rows[name]["text"]
    return [
        line.removeprefix("<p>").removesuffix("</p>") for line in body.splitlines() if line.startswith("<p>")
    ]
