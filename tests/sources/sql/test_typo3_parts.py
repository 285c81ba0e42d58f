"""Restrictions taken together, and elements as HTML."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import PUBLIC
from refdesk.errors import SourceError
from refdesk.sources.sql.presets.typo3 import _elements
from refdesk.sources.sql.presets.typo3_access import readers
from refdesk.sources.sql.presets.typo3_html import Element, page_html

GROUPS = frozenset({"1", "2", "3"})
LISTS = st.lists(st.sampled_from(["0", "-1", "-2", "1", "2", "3", "9"]), max_size=3).map(",".join)
VISITORS = st.one_of(
    st.just(frozenset({"-1"})), st.sets(st.sampled_from("123")).map(lambda one: one | {"-2"})
)


def passes(restriction: str, visitor: frozenset[str]) -> bool:
    """Tell what TYPO3 tells: a visitor has one of the groups, and 0 is everyone's."""
    named = {one for one in restriction.split(",") if one}
    return not named or bool(named & (visitor | {"0"}))


@given(chain=st.lists(LISTS, max_size=4), visitor=VISITORS)
def test_nobody_reads_what_the_site_does_not_show(chain: list[str], visitor: frozenset[str]) -> None:
    found = readers(chain, GROUPS)
    if PUBLIC in found:  # anyone can read it: as a visitor who is logged out, or whoever they are
        assert all(passes(one, frozenset({"-1"})) for one in chain)
    elif {f"fe_group:{group}" for group in visitor} & set(found):
        assert all(passes(one, visitor) for one in chain)


@given(restriction=LISTS, visitor=VISITORS)
def test_one_restriction_lets_in_whom_the_site_lets_in(restriction: str, visitor: frozenset[str]) -> None:
    found = set(readers([restriction], GROUPS))
    allowed = PUBLIC in found or bool({f"fe_group:{group}" for group in visitor} & found)
    assert allowed or not passes(restriction, visitor)


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ([], ("public",)),
        (["", "0", ""], ("public",)),
        (["0,2"], ("public",)),
        (["-1,-2"], ("public",)),
        (["-1", "-2"], ()),
        (["2 , 1"], ("fe_group:1", "fe_group:2")),
        (["1,2", "2,3"], ("fe_group:2",)),
        (["1", "2"], ()),
        (["-2", "1", "-2"], ("fe_group:1",)),
        (["-2,1", "1,2"], ("fe_group:1", "fe_group:2")),
        (["9"], ()),
        (["1,9"], ("fe_group:1",)),
        (["x"], ()),
    ],
)
def test_restrictions(chain: list[str], expected: tuple[str, ...]) -> None:
    assert readers(chain, GROUPS) == expected


def element(kind: str, body: str, **values: Any) -> Element:
    return Element(kind=kind, column=0, sorting=0, after=1, body=body, **values)


@pytest.mark.parametrize(
    ("one", "html"),
    [
        (element("text", "<p>It <b>is</b>.</p>"), "<p>It <b>is</b>.</p>\n"),
        (element("text", "one\n\ntwo"), "<p>one</p>\n<p>two</p>\n"),
        (element("textmedia", "", header="A & B"), "<h2>A &amp; B</h2>\n"),
        (element("header", "", header="A", layout=4, subheader="b"), "<h4>A</h4>\n<h5>b</h5>\n"),
        (element("text", "x", header="A", layout=100), "<p>x</p>\n"),
        (element("bullets", "a\n<b>\n"), "<ul><li>a</li><li>&lt;b&gt;</li></ul>\n"),
        (element("bullets", "a", list_kind=1), "<ol><li>a</li></ol>\n"),
        (element("bullets", "a|what it means", list_kind=2), "<ul><li>a: what it means</li></ul>\n"),
        (
            element("table", "a|b\n1|2\n\n"),
            "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>\n",
        ),
        (
            element("table", "a;'b;c'", delimiter=59, enclosure=39),
            "<table><tr><td>a</td><td>b;c</td></tr></table>\n",
        ),
        (element("table", 'a "b|c'), "<table><tr><td>a &quot;b</td><td>c</td></tr></table>\n"),
        (
            element("table", "a<br />b| <i>\n", caption="C & D"),
            "<table><caption>C &amp; D</caption><tr><td>a b</td><td>&lt;i&gt;</td></tr></table>\n",
        ),
        (element("html", "<em>raw</em>", header="for editors"), "<em>raw</em>\n"),
        (element("shortcut", "", header="for editors"), ""),
        (element("div", "", header="for editors"), ""),
        (element("list", "left over", header="News"), "<h2>News</h2>\n"),
        (element("menu_subpages", "left over"), ""),
        (element("my_teaser", "<p>own kind</p>"), "<p>own kind</p>\n"),
        (element("text", "  \n"), ""),
    ],
)
def test_elements(one: Element, html: str) -> None:
    assert one.html == html


def test_a_page_without_anything_has_no_text() -> None:
    assert page_html({"part": ""}, []) == ""
    assert page_html({"part": "", "abstract": " a \n b ", "description": "a b"}, []).count("<p>a b</p>") == 1
    assert page_html({"part": "2", "abstract": "of the whole page"}, []) == ""


@pytest.mark.parametrize("value", ['[{"after": 1, "kind": "te', "[]", None])
def test_elements_that_were_cut_off_fail(value: str | None) -> None:
    with pytest.raises(SourceError, match="cut off the 2 content elements") as caught:
        _elements(value, 2)
    assert "max_allowed_packet" in caught.value.remedy
    assert _elements(None, 0) == []
