"""HTML: the main part of a page as Markdown, without what is hidden, runs or navigates."""

import re
from dataclasses import replace

from bs4 import BeautifulSoup
from bs4.element import Tag
from markdownify import MarkdownConverter
from selectolax.lexbor import LexborHTMLParser, LexborNode

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import read_text, tidy
from refdesk.parsing.tables import unroll_long_tables

MAIN_SHARE = 0.4
"""A `main` or `article` with less than this part of the page's text is not its main part."""
FORM_SHARE = 0.3
"""A form with more than this part of the page's text is the page; some servers wrap it in one."""

_NOISE = (
    "script,style,noscript,template,iframe,object,embed,svg,canvas,nav,aside,footer,dialog,button,select,input,"
    "textarea,[hidden],[aria-hidden=true],[role=navigation],[role=banner],[role=contentinfo],[role=search],"
    "[style*='display:none'],[style*='display: none'],[style*='visibility:hidden'],"
    "[style*='visibility: hidden'],sup.reference,.mw-editsection,.vector-dropdown,.navbox,.noprint,"
    ".headerlink,.hash-link"
)
_MAIN = "main,[role=main],article,#mw-content-text"
_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([\w-]+)|<\?xml[^>]+encoding=[\"']([\w-]+)", re.IGNORECASE)

# The converter takes quadratic time for long runs of blanks.
_BLANKS = re.compile(r"[ \t]{200,}")


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read a page: its main part, its title, and what its head says of it."""
    read = read_text(data, declared=_declared(data, info))
    page = LexborHTMLParser(read.text)
    metadata = {
        "language": _attribute(page, "html", "lang"),
        "canonical_url": _attribute(page, "link[rel=canonical]", "href"),
        "description": _meta(page, "description") or _meta(page, "og:description"),
        "author": _meta(page, "author"),
    }
    title_node = page.css_first("title")
    title = (title_node.text() if title_node else "") or _meta(page, "og:title")
    body, warnings = _convert(_main_part(page))
    parsed = from_markdown(body, title=title, warnings=(*read.warnings, *warnings))
    return replace(parsed, metadata={key: value for key, value in metadata.items() if value})


def html_to_markdown(html: str) -> str:
    """Return a whole page or a fragment as Markdown, without what is hidden, runs or navigates."""
    page = LexborHTMLParser(html)
    _drop(page, _NOISE)
    return _convert(page.body)[0]


def _declared(data: bytes, info: FileInfo) -> str:
    """Return the encoding named by the media type, else by the page itself."""
    _, _, parameter = info.media_type.partition("charset=")
    if parameter:
        return parameter.strip(" \"'")
    found = _CHARSET.search(data[:4096])
    return (found[1] or found[2]).decode("ascii") if found else ""


def _main_part(page: LexborHTMLParser) -> LexborNode | None:
    _drop(page, _NOISE)
    body = page.body
    if body is None:
        return None
    size = max(1, len(body.text()))
    for form in page.css("form"):
        if len(form.text()) < FORM_SHARE * size:
            form.decompose()
    main = max(page.css(_MAIN), key=lambda node: len(node.text()), default=body)
    if len(main.text()) >= MAIN_SHARE * size:
        return main
    for header in page.css("header"):
        if header.css_first("h1") is None:
            header.decompose()
    return body


def _drop(page: LexborHTMLParser, selector: str) -> None:
    for node in page.css(selector):
        if node.tag not in ("html", "body"):
            node.decompose()


def _convert(node: LexborNode | None) -> tuple[str, tuple[str, ...]]:
    """Return a part of a page as Markdown, and what was lost."""
    if node is None:
        return "", ()
    try:
        html = _BLANKS.sub(" ", node.html or "")
        markdown = _CONVERTER.convert_soup(BeautifulSoup(html, "html.parser"))
    except RecursionError:
        return tidy(node.text(separator="\n", strip=True)), ("nested too deeply; read as plain text",)
    lines = (line.rstrip(" \t") for line in markdown.split("\n"))
    return unroll_long_tables(tidy("\n".join(lines))), ()


def _attribute(page: LexborHTMLParser, selector: str, name: str) -> str:
    node = page.css_first(selector)
    return ((node.attributes.get(name) or "") if node else "").strip()


def _meta(page: LexborHTMLParser, name: str) -> str:
    return _attribute(page, f'meta[name="{name}"],meta[property="{name}"]', "content")


class _Converter(MarkdownConverter):
    """Markdown that is text: of links and images only the words are kept."""

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return text

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return str(el.attrs.get("alt") or "")


_CONVERTER = _Converter(
    heading_style="ATX",
    bullets="-",
    escape_asterisks=False,
    escape_underscores=False,
    table_infer_header=True,
)
