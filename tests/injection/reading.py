"""Read a text as its readers do: as Markdown, and on a terminal. Independent of refdesk's own code."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ADDRESS = re.compile(
    r"(?i)\b[a-z][a-z0-9+.-]{1,30}://|\bwww\.[a-z0-9]|\b(?:mailto|xmpp):|[\w.+-]+@[\w-]+\.\w"
)
_TAG = re.compile(r"<\s*/?\s*([A-Za-z][\w:-]*)([^<>]*)")
_NAMES = (
    "a abbr applet audio b base body br button details div embed font form frame h1 head html i iframe image "
    "img input link math meta object p portal script select source span style svg table textarea title video"
)
_KNOWN = frozenset(_NAMES.split(" "))
MARKER = re.compile(r"[\[【［〔]\s*(\d+)[^\[\]【】］〕]{0,20}[\]】］〕]")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class _Trusting(MarkdownIt):
    """Takes a link that others would refuse for one all the same."""

    def validateLink(self, url: str) -> bool:
        return True


_MARKDOWN = _Trusting("commonmark", {"html": True}).enable(["table", "strikethrough"])


def clickable(text: str) -> Iterator[str]:
    """Yield what a reader could click, or what a browser would load, in a text shown as Markdown."""
    for token in _tokens(_MARKDOWN.parse(text)):
        if token.type in ("link_open", "image"):
            yield f"{token.type} {token.attrs.get('href') or token.attrs.get('src')}"
        elif token.type in ("html_inline", "html_block"):
            yield from (f"html {name}" for name in _tags(token.content))
        elif token.type == "text":
            yield from (f"address {found[0]}" for found in _ADDRESS.finditer(token.content))


def _tags(html: str) -> Iterator[str]:
    for name, rest in _TAG.findall(html):
        if name.lower() in _KNOWN or rest.strip(" /"):
            yield name


def markers(text: str) -> tuple[int, ...]:
    """Return the numbers that a reader takes for citations, outside code."""
    found = []
    for token in _MARKDOWN.parse(text):
        shown = "".join(one.content for one in token.children or () if one.type == "text")
        found += [int(number) for number in MARKER.findall(shown)]
    return tuple(found)


def unsafe(text: str) -> tuple[str, ...]:
    """Return the characters that steer a terminal, turn text around, or hide it."""
    return tuple(sorted({f"U+{ord(one):04X}" for one in _UNSAFE.findall(text)}))


def _tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or [])
