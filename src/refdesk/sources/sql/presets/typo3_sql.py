"""The queries over pages and content elements of TYPO3, for each of the three kinds of database.

What is visible follows TYPO3's own rules: no record that is deleted, hidden, before its start or after its
end, or of a workspace; what a page with `extendToSubpages` has of these holds below it; nothing lies below a
page for backend users or in the recycler.
"""

from refdesk.sources.sql.presets import typo3_content as content
from refdesk.sources.sql.presets import typo3_pages as pages
from refdesk.sources.sql.presets.typo3_shape import Shape


def documents_query(shape: Shape) -> str:
    """Return the query of all documents: their page, language and restriction, with elements as JSON."""
    counts = ("COALESCE(e.many, 0)", "':'", "COALESCE(e.total, 0)", "':'", "COALESCE(e.places, 0)")
    return f"""{_shared(shape)}
SELECT {_id(shape)} AS id, d.page, d.site, d.language_uid, p.part,
  d.title, d.slug, d.subtitle, d.abstract, d.description,
  {shape.latest("d.changed", "e.changed")} AS written,
  {shape.latest("d.changed", "e.changed", "d.lapsed", "c.lapsed")} AS changed,
  {shape.joined(*counts)} AS version,
  COALESCE(e.many, 0) AS many, e.elements
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
    found = (pages.tree(shape), pages.languages(shape), pages.seen(shape), pages.documents(shape))
    said = (content.shown(shape), content.parts(), content.written(shape), content.lapses())
    return "WITH RECURSIVE " + ", ".join((*found, *said))
