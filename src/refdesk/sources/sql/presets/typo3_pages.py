"""The pages of a site as queries: the tree, what it hands down, and what is shown in each language."""

from refdesk.sources.sql.presets.typo3_shape import Shape, alive, group, once, visible

LINK, SHORTCUT, BACKEND, MOUNT, SPACER, FOLDER, RECYCLER = 3, 4, 6, 7, 199, 254, 255
"""Values of `doktype` without content, but for some mount points. Version 13 has no recycler."""
WITHOUT_CONTENT = (LINK, SHORTCUT, BACKEND, SPACER, FOLDER, RECYCLER)
LENDS_NOTHING = (SHORTCUT, MOUNT, SPACER, FOLDER)
"""Pages whose content no other page shows."""
DEPTH = 99


def tree(shape: Shape) -> str:
    """Return all pages with their site, and what the pages above them hand down."""
    extends = f"p.{shape.name('extendToSubpages')} = 1" if "extendToSubpages" in shape.pages else "1 = 0"
    roots = ", ".join(str(int(root)) for root in sorted({root for root, _, _ in shape.languages}))
    there = f"{alive('c')} AND c.sys_language_uid = 0 AND c.doktype NOT IN ({BACKEND}, {RECYCLER})"
    handed = shape.joined("t.chain", "';'", group(shape, "p"))
    return f"""tree (uid, site, shut, chain, depth) AS (
  SELECT c.uid, CASE WHEN c.uid IN ({roots}) THEN c.uid ELSE 0 END, 0, {shape.text("''")}, 0
  FROM pages c WHERE c.pid = 0 AND {there}
  UNION ALL
  SELECT c.uid, CASE WHEN c.uid IN ({roots}) THEN c.uid ELSE t.site END,
    CASE WHEN t.shut = 1 OR ({extends} AND NOT ({visible("p")})) THEN 1 ELSE 0 END,
    CASE WHEN {extends} THEN {shape.text(handed)} ELSE t.chain END,
    t.depth + 1
  FROM tree t JOIN pages p ON p.uid = t.uid JOIN pages c ON c.pid = t.uid
  WHERE {there} AND t.depth < {DEPTH}
)"""


def languages(shape: Shape) -> str:
    rows = (
        f"SELECT {int(root)} AS site, {int(language)} AS language_uid, {shape.text(repr(str(mode)))} AS mode"
        for root, language, mode in shape.languages
    )
    return f"languages AS ({' UNION ALL '.join(rows)})"


def seen(shape: Shape) -> str:
    """Return the pages that are shown, in every language that they are there in."""
    fields = ", ".join(
        f"{{0}}.{name} AS {name}" for name in ("title", "slug", "subtitle", "abstract", "description")
    )
    shown = f"{visible('p')} AND t.shut = 0 AND {_has_content(shape, 'p')}"
    return f"""seen AS (
  SELECT p.uid AS page, t.site, 0 AS language_uid, l.mode, {_place(shape, "p")} AS content,
    {shape.joined("t.chain", "';'", group(shape, "p"))} AS chain, {fields.format("p")},
    p.tstamp AS changed, {_lapsed(shape, "p")} AS lapsed
  FROM tree t JOIN pages p ON p.uid = t.uid JOIN languages l ON l.site = t.site AND l.language_uid = 0
  WHERE {shown} AND ({shape.page("p", "l18n_cfg")} & 1) = 0 {_searchable(shape, "p")}
  UNION ALL
  SELECT p.uid, t.site, o.sys_language_uid, l.mode, {_place(shape, "o")},
    {shape.joined("t.chain", "';'", group(shape, "p"), "';'", group(shape, "o"))}, {fields.format("o")},
    {shape.latest("p.tstamp", "o.tstamp")}, {shape.latest(_lapsed(shape, "p"), _lapsed(shape, "o"))}
  FROM tree t JOIN pages p ON p.uid = t.uid
  JOIN pages o ON o.l10n_parent = p.uid AND o.sys_language_uid > 0 AND {alive("o")}
  JOIN languages l ON l.site = t.site AND l.language_uid = o.sys_language_uid
  WHERE {shown} AND {visible("o")} AND {_has_content(shape, "o")}
    {_searchable(shape, "p")} {_searchable(shape, "o")}
)"""


def _has_content(shape: Shape, alias: str) -> str:
    """Return the condition that a page has content of its own; a mount point may be replaced as a whole."""
    own = f"{alias}.doktype NOT IN ({', '.join(map(str, WITHOUT_CONTENT))})"
    return f"{own} AND ({alias}.doktype <> {MOUNT} OR {shape.page(alias, 'mount_pid_ol', '1')} = 0)"


def _place(shape: Shape, alias: str) -> str:
    """Return the page whose elements are shown."""
    content = shape.page(alias, "content_from_pid")
    return f"CASE WHEN {content} > 0 THEN {content} ELSE p.uid END"


def documents(shape: Shape) -> str:
    """Return the pages with all restrictions: who sees the content of another page has to be let in there."""
    about = "title, slug, subtitle, abstract, description"
    names = f"page, site, language_uid, mode, content, {about}, changed, lapsed"
    both = shape.joined("s.chain", "';'", "t.chain", "';'", group(shape, "c"))
    lends = f"{visible('c')} AND t.shut = 0 AND c.doktype NOT IN ({', '.join(map(str, LENDS_NOTHING))})"
    query = f"""
  SELECT {", ".join(f"s.{name.strip()}" for name in names.split(","))},
    CASE WHEN s.content = s.page THEN s.chain ELSE {both} END
  FROM seen s JOIN tree t ON t.uid = s.content JOIN pages c ON c.uid = s.content
  WHERE s.content = s.page OR ({lends})"""
    return once(shape, "documents", f"{names}, chain", query)


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
