"""Whatever a text holds, it is text in the page."""

from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from refdesk.evaluation.reporting.markup import (
    HIDDEN,
    Markup,
    element,
    label,
    plural,
    quoted,
    shortened,
    visible,
)

ANY = st.text(alphabet=st.characters(exclude_categories=())) | st.sampled_from(
    [
        "</p><script>x()</script>",
        '" onload="x()',
        "&lt;b&gt;",
        "a\0b",
        "\u202eabc",
        "\ud800",
        "--><!--",
        "]]>",
    ]
)


def parsed(html: str) -> LexborHTMLParser:
    return LexborHTMLParser(f"<!doctype html><body>{html}</body>")


@given(ANY, ANY)
@example("</bdi></p><img src=x onerror=alert(1)>", "' onmouseover='alert(1)")
@example("\r\n", "\r")
def test_text_stays_text(content: str, attribute: str) -> None:
    page = parsed(element("p", content, title=attribute))
    [paragraph] = page.css("p")
    assert len(page.css("body *")) == 1
    assert set(paragraph.attributes) == {"title"}
    assert paragraph.text() == visible(content)
    assert (paragraph.attributes["title"] or "") == visible(attribute)
    assert not HIDDEN.search(element("p", content, title=attribute))


@given(ANY, st.integers(1, 40))
def test_labels_are_short_and_keep_the_whole_text_as_title(text: str, limit: int) -> None:
    [node] = parsed(label(text, limit)).css("bdi")
    assert len(shortened(text, limit)) <= limit
    assert node.attributes["dir"] == "auto"
    if "title" not in node.attributes:
        assert node.text() == visible(" ".join(text.split()))


def test_what_is_cut_off_is_counted() -> None:
    assert "and 9,990 more characters" in quoted("x" * 10_000, 10)
    assert "more" not in quoted("x" * 10, 10)


def test_elements() -> None:
    made = element("input", type="search", aria_label="Text & more", hidden=True, disabled=False, value=None)
    assert made == '<input type="search" aria-label="Text &amp; more" hidden>'
    assert (
        element("p", Markup("<b>1</b>"), ["<", 1234, None], class_="a")
        == '<p class="a"><b>1</b>&lt;1,234</p>'
    )
    assert element("rect", x=1.23456, y=2.0) == '<rect x="1.23" y="2"></rect>'
    assert element("span", name="a") == '<span name="a"></span>'


def test_hidden_characters_are_named() -> None:
    assert visible("a\u202eb\0") == "a[U+202E]b[U+0000]"
    assert visible("שלום\n\tعربي") == "שלום\n\tعربي"


def test_plurals() -> None:
    assert [plural(count, "case") for count in (0, 1, 2000)] == ["0 cases", "1 case", "2,000 cases"]
