"""Tables of the page, and what stands around them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refdesk.evaluation.reporting.bars import COLOURS
from refdesk.evaluation.reporting.markup import Child, Markup, element, joined, label


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with a class, with what it sorts by, or over several columns."""

    content: Child
    class_: str = ""
    key: float | str | None = None
    columns: int = 1


def table(
    caption: Child,
    headings: Sequence[Child | Cell],
    rows: Iterable[Sequence[Child | Cell]],
    *,
    sortable: bool = False,
) -> Markup:
    """Return a table; the first cell of each row is its head. The script lets `sortable` ones be sorted."""
    drawn = element(
        "table",
        element("caption", caption) if caption else None,
        head(headings),
        element("tbody", [_row(row) for row in rows]),
        class_="sortable" if sortable else None,
    )
    plain = isinstance(caption, str) and not isinstance(caption, Markup)
    return scrolling(drawn, str(caption) if plain else "Table")


def scrolling(content: Markup, name: str) -> Markup:
    """Let what is wider than the page scroll by itself, also by keyboard."""
    return element("div", content, class_="scroll", tabindex=0, role="group", aria_label=name)


def head(headings: Iterable[Child | Cell], above: Iterable[Cell] = ()) -> Markup:
    """Return the head of a table; `above` are headings of several columns together."""
    groups = [
        element("th", one.content, scope="colgroup", colspan=one.columns, class_=one.class_ or None)
        for one in above
    ]
    cells = [one if isinstance(one, Cell) else Cell(one) for one in headings]
    named = [element("th", one.content, scope="col", class_=one.class_ or None) for one in cells]
    return element("thead", element("tr", groups) if groups else None, element("tr", named))


def _row(row: Sequence[Child | Cell]) -> Markup:
    cells = [one if isinstance(one, Cell) else Cell(one) for one in row]
    return element("tr", [cell(one, head=place == 0) for place, one in enumerate(cells)])


def cell(one: Cell, *, head: bool = False) -> Markup:
    """Return a cell, or the head of a row."""
    name = "th" if head else "td"
    return element(
        name,
        one.content,
        class_=one.class_ or None,
        data_key=f"{one.key:.6g}" if isinstance(one.key, int | float) else one.key,
        colspan=one.columns if one.columns > 1 else None,
        scope="row" if head else None,
    )


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that can be linked to."""

    anchor: str
    title: str
    content: Markup

    def drawn(self) -> Markup:
        """Return it under its heading."""
        heading = element("h2", self.title, id=f"{self.anchor}-title")
        return element(
            "section", heading, self.content, id=self.anchor, aria_labelledby=f"{self.anchor}-title"
        )


def section(anchor: str, title: str, *children: Child) -> Section:
    """Return a part of the page."""
    return Section(anchor, title, joined(children))


def folded(summary: Child, *children: Child, open_: bool = False, class_: str = "") -> Markup:
    """Return what opens on demand, also without a script."""
    return element("details", element("summary", summary), *children, open=open_, class_=class_ or None)


def figure(caption: Child, *children: Child) -> Markup:
    return element("figure", element("figcaption", caption), *children)


def paragraph(*children: Child, class_: str = "") -> Markup:
    return element("p", *children, class_=class_ or None)


def legend(names: Sequence[str]) -> Markup | None:
    """Say which run has which colour; nothing for one run alone."""
    if len(names) < 2:
        return None
    keys = [
        element("li", element("span", class_=f"key k{place % COLOURS}", aria_hidden="true"), label(name, 80))
        for place, name in enumerate(names)
    ]
    return element("ul", keys, class_="legend", aria_label="Colours of the runs")


def measure_heading(name: str) -> Markup:
    """Return the heading of a column: what is measured small above the measure."""
    about, _, measure = name.rpartition(".")
    above = element("small", about, class_="about") if about else None
    return element("span", above, element("bdi", measure.replace("_", " ")))


def counted(counts: Iterable[tuple[str, int]], limit: int = 10) -> Markup:
    """Return texts with how often they occur."""
    pairs = list(counts)
    items = [
        element("li", element("bdi", text[:600], dir="auto"), f" ({count:,})")
        for text, count in pairs[:limit]
    ]
    if len(pairs) > limit:
        items.append(element("li", f"and {len(pairs) - limit:,} other reasons"))
    return element("ul", items, class_="plain")


def blocks(children: Iterable[Child], class_: str) -> Markup:
    return element("div", joined(children), class_=class_)
