"""HTML and SVG as text in which whatever came from outside is escaped."""

import re
from collections.abc import Iterable
from html import escape

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""What pages cannot hold, and what makes a text look like another one."""
EMPTY = frozenset({"meta", "input", "br", "link"})
"""Elements of HTML that have no end."""


class Markup(str):
    """Text that is HTML already; any other text is escaped where it is put in."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
"""What an element may hold; None is left out."""
Attribute = str | int | float | bool | None


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element. `class_` is `class`, `aria_label` is `aria-label`; None and False are left out."""
    opening = f"<{name}{''.join(_attribute(*pair) for pair in attributes.items())}>"
    if name in EMPTY:
        return Markup(opening)
    return Markup(f"{opening}{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Return what is given one after another, escaped where it is not `Markup`."""
    return Markup("".join(map(_child, children)))


def visible(text: str) -> str:
    """Show what hides or turns text by its code, such as `[U+202E]`."""
    return HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text.replace("\r\n", "\n"))


def shortened(text: str, limit: int) -> str:
    """Return a text on one line, cut to `limit` characters."""
    line = " ".join(text[: limit * 8].split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"


def quoted(text: str, limit: int) -> Markup:
    """Return foreign text, in its own direction; what `limit` cuts off is counted."""
    more = len(text) - limit
    rest = element("span", f" … and {more:,} more characters", class_="quiet") if more > 0 else None
    return element("bdi", text[:limit], rest, dir="auto", class_="long")


def label(text: str, limit: int) -> Markup:
    """Return foreign text on one line; where it is cut, the title has all of it."""
    short = shortened(text, limit)
    return element("bdi", short, title=text[: 20 * limit] if short != text else None, dir="auto")


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _child(child: Child) -> str:
    match child:
        case None:
            return ""
        case Markup():
            return child
        case str():
            return escape(visible(child), quote=True)
        case int():
            return f"{child:,}"
    return joined(child)


def _attribute(name: str, value: Attribute) -> str:
    plain = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {plain}" if value is True else f' {plain}="{escape(visible(_number(value)), quote=True)}"'


def _number(value: str | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
