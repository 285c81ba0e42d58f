"""The queries over pages and content elements of TYPO3, for each of the three kinds of database.

What is visible follows TYPO3's own rules: no record that is deleted, hidden, before its start or after its
end, or of a workspace; what a page with `extendToSubpages` has of these holds below it; nothing lies below a
page for backend users or in the recycler.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["strict", "mixed", "free"]
"""Which elements a translated page shows: only translated ones, also untranslated ones, only its own."""

BACKEND, RECYCLER = 6, 255
WITHOUT_CONTENT = (3, 4, BACKEND, 7, 199, 254, RECYCLER)
"""Link, shortcut, for backend users, mount point, spacer, folder, recycler."""
DEPTH = 99
JSON: Mapping[str, tuple[str, str]] = {
    "postgresql": ("json_agg", "json_build_object"),
    "mysql": ("JSON_ARRAYAGG", "JSON_OBJECT"),
    "sqlite": ("json_group_array", "json_object"),
}
OPTIONAL_FIELDS: Mapping[str, str] = {
    "header": "header",
    "layout": "header_layout",
    "subheader": "subheader",
    "body": "bodytext",
    "list_kind": "bullets_type",
    "delimiter": "table_delimiter",
    "enclosure": "table_enclosure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the queries depend on."""

    dialect: str
    pages: frozenset[str]
    content: frozenset[str]
    languages: tuple[tuple[int, int, Mode], ...]
    """Root page, language, mode."""
    columns: tuple[int, ...]
    unsearchable: bool
    now: int

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"now": self.now}

    def name(self, column: str) -> str:
        """Quote a column; capitals count in PostgreSQL."""
        return f"`{column}`" if self.dialect == "mysql" else f'"{column}"'

    def text(self, value: str) -> str:
        return f"CAST({value} AS {'CHAR(2000)' if self.dialect == 'mysql' else 'TEXT'})"

    def joined(self, *parts: str) -> str:
        if self.dialect == "sqlite":
            return "(" + " || ".join(parts) + ")"
        return f"CONCAT({', '.join(parts)})"

    def latest(self, *parts: str) -> str:
        found = ", ".join(f"COALESCE({part}, 0)" for part in parts)
        return f"MAX({found})" if self.dialect == "sqlite" else f"GREATEST({found})"

    def page(self, alias: str, column: str, otherwise: str = "0") -> str:
        """Return a column of `pages` that not every installation has."""
        return f"{alias}.{self.name(column)}" if column in self.pages else otherwise


def documents_query(shape: Shape) -> str:
    """Return the query of all documents: their page, language and restriction, with elements as JSON."""
    counts = ("COALESCE(e.many, 0)", "':'", "COALESCE(e.total, 0)", "':'", "COALESCE(e.places, 0)")
    return f"""{_shared(shape)}
SELECT {_id(shape)} AS id, d.page, d.site, d.language_uid, p.part,
  d.title, d.slug, d.subtitle, d.abstract, d.description,
  {shape.latest("d.changed", "e.changed")} AS written,
  {shape.latest("d.changed", "e.changed", "d.lapsed", "c.lapsed")} AS changed,
  {shape.joined(*counts)} AS version, e.elements
FROM parts p JOIN documents d ON d.page = p.page AND d.language_uid = p.language_uid
LEFT JOIN written e ON e.page = p.page AND e.language_uid = p.language_uid AND e.part = p.part
LEFT JOIN lapses c ON c.pid = d.content"""


def access_query(shape: Shape) -> str:
    """Return the query of every document's id and the restrictions on the way to it, with `;` between."""
    return f"""{_shared(shape)}
SELECT {_id(shape)} AS id, {shape.joined("d.chain", "';'", "p.part")} AS chain
FROM parts p JOIN documents d ON d.page = p.page AND d.language_uid = p.language_uid"""


def _id(shape: Shape) -> str:
    whole = shape.joined(shape.text("p.page"), "':'", shape.text("p.language_uid"))
    part = shape.joined(whole, "':'", "p.part")
    return f"CASE WHEN p.part = '' THEN {whole} ELSE {part} END"


def _shared(shape: Shape) -> str:
    parts = (_tree(shape), _languages(shape), _documents(shape), _shown(shape), _parts(), _written(shape))
    return "WITH RECURSIVE " + ", ".join((*parts, _lapses()))


def _alive(alias: str) -> str:
    """Return the condition that a record is there at all."""
    return f"{alias}.deleted = 0 AND {alias}.t3ver_wsid = 0 AND {alias}.t3ver_oid = 0"


def _open(alias: str) -> str:
    """Return the condition that a record is shown now."""
    times = f"{alias}.starttime <= :now AND ({alias}.endtime = 0 OR {alias}.endtime > :now)"
    return f"{alias}.hidden = 0 AND {times}"


def _group(alias: str) -> str:
    """Return the restriction of a record, nothing where there is none."""
    return f"CASE WHEN {alias}.fe_group IS NULL OR {alias}.fe_group = '0' THEN '' ELSE {alias}.fe_group END"


def _tree(shape: Shape) -> str:
    """Return all pages with their site, and what the pages above them hand down."""
    extends = f"p.{shape.name('extendToSubpages')} = 1" if "extendToSubpages" in shape.pages else "1 = 0"
    roots = ", ".join(str(int(root)) for root in sorted({root for root, _, _ in shape.languages}))
    alive = f"{_alive('c')} AND c.sys_language_uid = 0 AND c.doktype NOT IN ({BACKEND}, {RECYCLER})"
    handed = shape.joined("t.chain", "';'", _group("p"))
    return f"""tree (uid, site, shut, chain, depth) AS (
  SELECT c.uid, CASE WHEN c.uid IN ({roots}) THEN c.uid ELSE 0 END, 0, {shape.text("''")}, 0
  FROM pages c WHERE c.pid = 0 AND {alive}
  UNION ALL
  SELECT c.uid, CASE WHEN c.uid IN ({roots}) THEN c.uid ELSE t.site END,
    CASE WHEN t.shut = 1 OR ({extends} AND NOT ({_open("p")})) THEN 1 ELSE 0 END,
    CASE WHEN {extends} THEN {shape.text(handed)} ELSE t.chain END,
    t.depth + 1
  FROM tree t JOIN pages p ON p.uid = t.uid JOIN pages c ON c.pid = t.uid
  WHERE {alive} AND t.depth < {DEPTH}
)"""


def _languages(shape: Shape) -> str:
    rows = (
        f"SELECT {int(root)} AS site, {int(language)} AS language_uid, {shape.text(repr(str(mode)))} AS mode"
        for root, language, mode in shape.languages
    )
    return f"languages AS ({' UNION ALL '.join(rows)})"


def _documents(shape: Shape) -> str:
    """Return the pages that are shown, in every language that they are there in."""
    content = shape.page("p", "content_from_pid")
    fields = ", ".join(
        f"{{0}}.{name} AS {name}" for name in ("title", "slug", "subtitle", "abstract", "description")
    )
    seen = f"{_open('p')} AND t.shut = 0 AND p.doktype NOT IN ({', '.join(map(str, WITHOUT_CONTENT))})"
    place = f"CASE WHEN {content} > 0 THEN {content} ELSE p.uid END AS content"
    return f"""documents AS (
  SELECT p.uid AS page, t.site, 0 AS language_uid, l.mode, {place},
    {shape.joined("t.chain", "';'", _group("p"))} AS chain, {fields.format("p")},
    p.tstamp AS changed, {_lapsed(shape, "p")} AS lapsed
  FROM tree t JOIN pages p ON p.uid = t.uid JOIN languages l ON l.site = t.site AND l.language_uid = 0
  WHERE {seen} AND ({shape.page("p", "l18n_cfg")} & 1) = 0 {_searchable(shape, "p")}
  UNION ALL
  SELECT p.uid, t.site, o.sys_language_uid, l.mode, {place},
    {shape.joined("t.chain", "';'", _group("p"), "';'", _group("o"))}, {fields.format("o")},
    {shape.latest("p.tstamp", "o.tstamp")}, {shape.latest(_lapsed(shape, "p"), _lapsed(shape, "o"))}
  FROM tree t JOIN pages p ON p.uid = t.uid
  JOIN pages o ON o.l10n_parent = p.uid AND o.sys_language_uid > 0 AND {_alive("o")}
  JOIN languages l ON l.site = t.site AND l.language_uid = o.sys_language_uid
  WHERE {seen} AND {_open("o")} {_searchable(shape, "p")} {_searchable(shape, "o")}
)"""


def _searchable(shape: Shape, alias: str) -> str:
    if shape.unsearchable:
        return ""
    return f"AND {shape.page(alias, 'no_search')} = 0 AND {shape.page(alias, 'no_index')} = 0"


def _lapsed(shape: Shape, alias: str) -> str:
    """Return when a record last appeared or vanished by itself."""
    times = (
        f"CASE WHEN {alias}.{time} <= :now THEN {alias}.{time} ELSE 0 END"
        for time in ("starttime", "endtime")
    )
    return shape.latest(*times)


def _shown(shape: Shape) -> str:
    """Return the elements of each page in each language, at the place that their original has."""
    column = shape.name("colPos")
    chosen = ", ".join(str(int(one)) for one in shape.columns)
    only = f"AND {{0}}.{column} IN ({chosen})" if chosen else ""
    alive = f"{_alive('e')} AND {_open('e')}"
    original = f"{_alive('o')} AND {_open('o')} AND o.sys_language_uid = 0 {only.format('o')}"
    own, its = _group("e"), _group("o")
    both = f"CASE WHEN {its} = {own} THEN {its} ELSE {shape.joined(its, repr(';'), own)} END"
    translated = f"e.l18n_parent = o.uid AND e.sys_language_uid = d.language_uid AND {alive}"
    return f"""shown AS (
  SELECT d.page, d.language_uid, {shape.text(_group("e"))} AS part, e.uid, e.{column} AS col, e.sorting
  FROM documents d JOIN tt_content e ON e.pid = d.content
  WHERE {alive} {only.format("e")} AND (e.sys_language_uid = -1 OR (e.sys_language_uid = d.language_uid
    AND (d.language_uid = 0 OR d.mode = 'free' OR (d.mode = 'strict' AND e.l18n_parent = 0))))
  UNION ALL
  SELECT d.page, d.language_uid, {shape.text(both)}, e.uid, o.{column}, o.sorting
  FROM documents d JOIN tt_content o ON o.pid = d.content JOIN tt_content e ON {translated}
  WHERE d.language_uid > 0 AND d.mode <> 'free' AND {original}
  UNION ALL
  SELECT d.page, d.language_uid, {shape.text(_group("o"))}, o.uid, o.{column}, o.sorting
  FROM documents d JOIN tt_content o ON o.pid = d.content
  WHERE d.language_uid > 0 AND d.mode = 'mixed' AND {original}
    AND NOT EXISTS (SELECT 1 FROM tt_content e WHERE {translated})
)"""


def _parts() -> str:
    """Return the documents: every page, and each restriction of its elements."""
    return """parts AS (
  SELECT page, language_uid, '' AS part FROM documents
  UNION SELECT page, language_uid, part FROM shown
)"""


def _written(shape: Shape) -> str:
    """Return what the elements of each document say, and what tells other elements from these."""
    collect, build = JSON[shape.dialect]
    return f"""written AS (
  SELECT s.page, s.language_uid, s.part, {collect}({build}({", ".join(_fields(shape))})) AS elements,
    MAX(e.tstamp) AS changed, COUNT(*) AS many, SUM(e.uid) AS total, SUM(s.sorting) AS places
  FROM shown s JOIN tt_content e ON e.uid = s.uid GROUP BY s.page, s.language_uid, s.part
)"""


def _fields(shape: Shape) -> Iterator[str]:
    yield from ("'uid', s.uid", "'col', s.col", "'sorting', s.sorting", f"'kind', e.{shape.name('CType')}")
    for key, column in OPTIONAL_FIELDS.items():
        if column in shape.content:
            yield f"'{key}', e.{shape.name(column)}"


def _lapses() -> str:
    """Return when an element of a page last changed, appeared or vanished, those that are gone included."""
    parts = ("tstamp", "starttime", "endtime")
    times = " UNION ALL ".join(
        f"SELECT pid, {one} AS moment FROM tt_content WHERE t3ver_wsid = 0" for one in parts
    )
    return f"""lapses AS (
  SELECT pid, MAX(moment) AS lapsed FROM ({times}) AS moments WHERE moment <= :now GROUP BY pid
)"""
