"""The content elements of pages as queries: where each is shown, to whom, and what it says.

An element of the type "insert records" shows others in its place, for those who may see it, the page that
they are on, and themselves. What these insert in turn is left out.
"""

from collections.abc import Iterator, Mapping

from refdesk.sources.sql.presets.typo3_shape import Shape, alive, both, group, once, visible

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
    "caption": "table_caption",
}
INSERTED = 200
"""Records that one element inserts, as many as TYPO3 lets an editor choose."""
PLACE = "uid, col, sorting, after, position"
PLACED = f"page, language_uid, part, {PLACE}"


def shown(shape: Shape) -> str:
    """Return all elements of each page in each language, at the place that their original has."""
    chosen = ", ".join(str(int(one)) for one in shape.columns)
    column = f"o.{shape.name('colPos')}"
    direct = _overlaid(
        shape,
        "direct",
        "FROM documents d JOIN tt_content o ON o.pid = d.content",
        f"'' AS held, {column} AS col, o.sorting, o.uid AS after, 0 AS position",
        own="d.language_uid = 0 OR d.mode = 'free' OR (d.mode = 'strict' AND o.l18n_parent = 0)",
        only=f"AND {column} IN ({chosen})" if chosen else "",
    )
    placed = f"SELECT page, language_uid, {both(shape, 'own', 'theirs')}, {PLACE} FROM direct"
    if "records" not in shape.content:
        return f"{direct}, {once(shape, 'shown', PLACED, placed)}"
    inserted = _overlaid(
        shape,
        "inserted",
        "FROM listed l JOIN documents d ON d.page = l.page AND d.language_uid = l.language_uid"
        " JOIN tt_content o ON o.uid = l.uid",
        "l.part AS held, l.col, l.sorting, l.after, l.position",
        own="1 = 1",
        untranslated="OR (d.mode = 'free' AND o.sys_language_uid = 0)",
    )
    met = f"SELECT page, language_uid, held, {both(shape, 'own', 'theirs')} AS own, {PLACE} FROM inserted"
    everything = f"""SELECT {PLACED} FROM placed
  UNION ALL SELECT page, language_uid, {both(shape, "held", "own")}, {PLACE} FROM met"""
    found = (direct, once(shape, "placed", PLACED, placed), _named(shape), *_listed(shape), inserted)
    return ", ".join((*found, f"met AS ({met})", once(shape, "shown", PLACED, everything)))


def _overlaid(
    shape: Shape, name: str, source: str, place: str, *, own: str, only: str = "", untranslated: str = ""
) -> str:
    """Return the elements `o` of a source as each language shows them: as they are, or translated as `e`."""
    first = "o.sys_language_uid = 0 AND d.language_uid > 0 AND d.mode <> 'free'"
    translated = "e.l18n_parent = o.uid AND e.pid = o.pid AND e.sys_language_uid = d.language_uid"
    return f"""{name} AS (
  SELECT d.page, d.language_uid, {group(shape, "o")} AS own, {group(shape, "e")} AS theirs,
    COALESCE(e.uid, o.uid) AS uid, {place}
  {source} LEFT JOIN tt_content e ON {first} AND {translated} AND {alive("e")} AND {visible("e")}
  WHERE {alive("o")} AND {visible("o")} {only} AND (o.sys_language_uid = -1
    OR (o.sys_language_uid = d.language_uid AND ({own})) {untranslated}
    OR ({first} AND (e.uid IS NOT NULL OR d.mode = 'mixed')))
)"""


def _named(shape: Shape) -> str:
    """Return what elements insert, one name after the other: `tt_content_7` or `7`."""
    comma = {"postgresql": "STRPOS(n.rest, ',')"}.get(shape.dialect, "INSTR(n.rest, ',')")
    name, rest = f"SUBSTR(n.rest, 1, {comma} - 1)", f"SUBSTR(n.rest, {comma} + 1)"
    records = shape.joined(f"REPLACE(e.{shape.name('records')}, ' ', '')", "','")
    return f"""named (page, language_uid, part, col, sorting, after, position, name, rest) AS (
  SELECT s.page, s.language_uid, s.part, s.col, s.sorting, s.uid, 0, {shape.text("''")}, {shape.text(records)}
  FROM placed s JOIN tt_content e ON e.uid = s.uid
  WHERE e.{shape.name("CType")} = 'shortcut' AND e.{shape.name("records")} <> ''
  UNION ALL
  SELECT n.page, n.language_uid, n.part, n.col, n.sorting, n.after, n.position + 1,
    {shape.text(f"REPLACE({name}, 'tt_content_', '')")}, {shape.text(rest)}
  FROM named n WHERE n.rest <> '' AND n.position < {INSERTED}
)"""


def _listed(shape: Shape) -> Iterator[str]:
    """Yield the elements that are inserted, with the restriction of the page that each is on."""
    host = f"CASE WHEN h.uid = n.page THEN '' ELSE {group(shape, 'h')} END"
    yield f"""hosted AS (
  SELECT n.page, n.language_uid, n.part, r.uid, n.col, n.sorting, n.after, n.position, {host} AS host
  FROM named n JOIN tt_content r ON r.uid = {_uid(shape)} JOIN pages h ON h.uid = r.pid
  WHERE n.name <> '' AND r.uid <> n.after AND (h.uid = n.page OR ({alive("h")} AND {visible("h")}))
)"""
    yield f"""listed AS (
  SELECT page, language_uid, {both(shape, "part", "host")} AS part, {PLACE} FROM hosted
)"""


def _uid(shape: Shape) -> str:
    """Return the number that a name is; none for a record of another table."""
    if shape.dialect == "postgresql":
        return "CASE WHEN n.name ~ '^[0-9]{1,9}$' THEN CAST(n.name AS integer) END"
    return f"CAST(n.name AS {'UNSIGNED' if shape.dialect == 'mysql' else 'INTEGER'})"


def parts() -> str:
    """Return the documents: every page, and each restriction of its elements."""
    return """parts AS (
  SELECT page, language_uid, '' AS part FROM documents
  UNION SELECT page, language_uid, part FROM shown
)"""


def written(shape: Shape) -> str:
    """Return what the elements of each document say, and what tells other elements from these."""
    collect, build = JSON[shape.dialect]
    return f"""written AS (
  SELECT s.page, s.language_uid, s.part, {collect}({build}({", ".join(_fields(shape))})) AS elements,
    MAX(e.tstamp) AS changed, COUNT(*) AS many, SUM(e.uid) AS total, SUM(s.sorting) AS places
  FROM shown s JOIN tt_content e ON e.uid = s.uid GROUP BY s.page, s.language_uid, s.part
)"""


def _fields(shape: Shape) -> Iterator[str]:
    yield from ("'col', s.col", "'sorting', s.sorting", "'after', s.after", "'position', s.position")
    yield f"'kind', e.{shape.name('CType')}"
    for key, column in OPTIONAL_FIELDS.items():
        if column in shape.content:
            yield f"'{key}', e.{shape.name(column)}"


def lapses() -> str:
    """Return when an element of a page last changed, appeared or vanished, those that are gone included."""
    times = " UNION ALL ".join(
        f"SELECT pid, {one} AS moment FROM tt_content WHERE t3ver_wsid = 0"
        for one in ("tstamp", "starttime", "endtime")
    )
    return f"""lapses AS (
  SELECT pid, MAX(moment) AS lapsed FROM ({times}) AS moments WHERE moment <= :now GROUP BY pid
)"""
