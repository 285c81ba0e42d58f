"""Markdown: the text is kept as it stands, without its front matter; headings are located in it."""

import itertools
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from refdesk.documents import Heading
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.frontmatter import split_front_matter
from refdesk.parsing.normalise import clean, read_text

# Only blocks are needed to find headings; inline markup is read for the headings alone.
_BLOCKS = MarkdownIt("commonmark").disable("inline")
_INLINE = MarkdownIt("commonmark")
_EDGES = " \t\u200b\u2060¶"
"""Blanks, and the marks that documentation tools put behind headings."""


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Keep the text, read front matter into metadata."""
    read = read_text(data)
    front = split_front_matter(read.text)
    headings = find_headings(front.body)
    title = front.metadata.get("title")
    return Parsed(
        text=front.body,
        title=title if isinstance(title, str) and title else first_title(front.body, headings),
        headings=headings,
        metadata={key: value for key, value in front.metadata.items() if key != "title"},
        warnings=read.warnings + front.warnings,
    )


def from_markdown(text: str, *, title: str = "", warnings: Sequence[str] = ()) -> Parsed:
    """Return Markdown that a converter made, cleaned, with its headings."""
    cleaned = clean(text)
    headings = find_headings(cleaned.text)
    return Parsed(
        text=cleaned.text,
        title=" ".join(clean(title).text.split()) or first_title(cleaned.text, headings),
        headings=headings,
        warnings=(*warnings, *cleaned.warnings),
    )


def find_headings(text: str) -> tuple[Heading, ...]:
    """Locate the headings; each starts where its line does."""
    if "#" not in text and "\n=" not in text and "\n-" not in text:
        return ()
    lines = list(itertools.accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    tokens = _BLOCKS.parse(text)
    return tuple(
        Heading(int(opening.tag[1]), title, lines[opening.map[0]])
        for opening, inline in itertools.pairwise(tokens)
        if opening.type == "heading_open" and opening.map and (title := _plain(inline.content))
    )


def first_title(text: str, headings: Sequence[Heading]) -> str:
    """Return the heading that names the whole text: its beginning, or the only one of the highest level."""
    if not headings:
        return ""
    first, *others = headings
    opens = not text[: first.start].strip()
    alone = all(first.level < other.level for other in others)
    return first.title if opens or alone else ""


def _plain(content: str) -> str:
    """Return inline Markdown as its text, on one line."""
    if not any(mark in content for mark in "*_`[]<&\\\n"):
        return content.strip(_EDGES)
    return " ".join("".join(_texts(_INLINE.parseInline(content))).split()).strip(_EDGES)


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        yield from _texts(token.children or ())
