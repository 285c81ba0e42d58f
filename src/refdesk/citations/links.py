"""Find what a reader could click in a model's text: links, images, HTML tags, addresses."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

WAIT = -1
"""More text is needed to tell."""

_ADDRESS = re.compile(
    r"(?i)(?:[a-z][a-z0-9+.-]{0,31}://|www\.|(?:mailto|xmpp):|[a-z0-9._+-]{1,64}@(?=[a-z0-9_-]+\.[a-z0-9]))"
    r"[^\s<>\"'`\[\](){}|\\^*]+"
)
"""With what a renderer makes a link of without being told to: `www.` and addresses of mail."""
_ADDRESS_START = re.compile(
    r"[A-Za-z](?:[A-Za-z0-9+.-]{0,31}(?::/?/?)?|[A-Za-z0-9._+-]{0,63}(?:@(?:[A-Za-z0-9_-]+\.?)?)?)\Z"
)
_TRAILING = ".,;:!?_~"
_DESTINATION = re.compile(
    r"\(\s*(?:<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[A-Za-z][^\s<>@]*@[^\s<>@]+)>")
_TAG = re.compile(r"<(?:!--.*?-->|[/!?]?([A-Za-z][A-Za-z0-9:-]*)([^<>]*)>|[!?](?!--)[^<>]*>)", re.DOTALL)
_TAG_START = re.compile(r"<[A-Za-z/!?]")
_LONGEST_LINK = 1200
_LONGEST_TAG = 800
_HTML_NAMES = (
    "a abbr address area article aside audio b base bdi bdo big blink blockquote body br button "
    "canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl "
    "dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head "
    "header hgroup hr html i iframe image img input ins kbd keygen label legend li link main map mark "
    "marquee math menu menuitem meta meter nav nobr noembed noframes noscript object ol optgroup "
    "option output p param picture plaintext portal pre progress q rp rt ruby s samp script section "
    "select slot small source span strike strong style sub summary sup svg table tbody td template "
    "textarea tfoot th thead time title tr track tt u ul var video wbr xmp"
)
_HTML = frozenset(_HTML_NAMES.split(" "))


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch of text up to `end`; `text` is what may stay of it."""

    end: int
    text: str = ""


def addresses(texts: Iterable[str]) -> frozenset[str]:
    """Return the addresses that occur in some texts, as `address` reads them."""
    return frozenset(match[0].rstrip(_TRAILING) for text in texts for match in _ADDRESS.finditer(text))


def address(text: str, start: int, *, final: bool) -> Found | int | None:
    """Read an address such as `https://host/path` that begins at `start`."""
    if match := _ADDRESS.match(text, start):
        if match.end() == len(text) and not final:
            return WAIT
        kept = match[0].rstrip(_TRAILING)
        return Found(start + len(kept), kept)
    if not final and _ADDRESS_START.match(text, start):
        return WAIT
    return None


def tag(text: str, start: int, *, final: bool) -> Found | int | None:
    """Read an HTML tag, comment or `<address>`; names that HTML does not know stay, without attributes."""
    link = _AUTOLINK.match(text, start)
    if link and _within(link, _LONGEST_TAG):
        return Found(link.end(), link[1])
    match = _TAG.match(text, start)
    if match and _within(match, _LONGEST_TAG):
        return Found(match.end(), match[0] if _is_plain(match) else "")
    if final or _bounded(text, start, _LONGEST_TAG):
        return None
    begun = _TAG_START.match(text, start) and "<" not in text[start + 1 :]
    return WAIT if begun or len(text) - start == 1 or text.startswith("<!", start) else None


def _is_plain(match: re.Match[str]) -> bool:
    """Tell whether something in angle brackets is text to a browser too, such as `<stdin>`."""
    name, rest = match[1] or "", match[2] or ""
    return name.isalnum() and not rest.strip(" /") and name.lower() not in _HTML and match[0][1] not in "!?"


def link(text: str, start: int, *, final: bool) -> Found | int | None:
    """Read `[text](destination)` whose bracket opens at `start`; `Found.text` is the inner text."""
    closing = _closing(text, start)
    given_up = final or _bounded(text, start, _LONGEST_LINK)
    if closing is None:
        return None if given_up else WAIT
    if closing + 1 == len(text):
        return None if final else WAIT
    if text[closing + 1] != "(":
        return None
    end = destination(text, closing + 1, final=final)
    if isinstance(end, Found):
        return Found(end.end, text[start + 1 : closing])
    return end


def destination(text: str, start: int, *, final: bool) -> Found | int | None:
    """Read `(destination "title")` that begins at `start`."""
    match = _DESTINATION.match(text, start)
    if match and _within(match, _LONGEST_LINK):
        return Found(match.end())
    if final or _bounded(text, start, _LONGEST_LINK):
        return None
    head, closed, _ = text[start + 1 :].partition(")")
    return None if closed and not any(sign in head for sign in "\"'<(") else WAIT


def _within(match: re.Match[str], longest: int) -> bool:
    return len(match[0]) <= longest and "\n\n" not in match[0]


def _bounded(text: str, start: int, longest: int) -> bool:
    """Tell that nothing can reach from `start` to the end of the text: a blank line, or too long."""
    return len(text) - start > longest or "\n\n" in text[start:]


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for at in range(start, min(len(text), start + _LONGEST_LINK)):
        if text[at] == "[":
            depth += 1
        elif text[at] == "]":
            depth -= 1
            if depth == 0:
                return at
        elif text.startswith("\n\n", at):
            return None
    return None
