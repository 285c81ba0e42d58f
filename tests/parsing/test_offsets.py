"""Headings and pages index the text that is kept."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import Page
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.frontmatter import split_front_matter
from refdesk.parsing.markdown import find_headings, parse
from refdesk.parsing.pdf import parse as parse_pdf
from refdesk.parsing.python import parse as parse_python

WORDS = st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lo")), min_size=1, max_size=8)
TITLES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
LINES = st.one_of(
    st.tuples(st.integers(1, 6), TITLES).map(lambda pair: "#" * pair[0] + " " + pair[1]),
    TITLES,
    TITLES.map(lambda title: f"\n{title}\n==="),
    st.sampled_from(["", "---", "```", "> # Quote", "- # Item", "<div>", "\x0b", "    # code", "|a|\n|---|"]),
)


def pages_are_in_order(pages: tuple[Page, ...], text: str) -> bool:
    return all(page.start <= page.end <= len(text) for page in pages) and all(
        before.end <= after.start and before.number + 1 == after.number
        for before, after in itertools.pairwise(pages)
    )


def headings_stand_in_text(parsed: Parsed) -> bool:
    starts = [heading.start for heading in parsed.headings]
    return starts == sorted(set(starts)) and all(
        heading.title in parsed.text[heading.start :].split("\n")[0] for heading in parsed.headings
    )


@given(st.lists(LINES, max_size=12).map("\n".join), st.sampled_from(["\n", "\r\n", "\r"]))
def test_markdown_headings_begin_at_their_line(text: str, newline: str) -> None:
    parsed = parse(text.replace("\n", newline).encode(), FileInfo(name="a.md"))
    assert headings_stand_in_text(parsed)
    for heading in parsed.headings:
        assert heading.start == 0 or parsed.text[heading.start - 1] == "\n"


@given(st.lists(st.tuples(st.integers(1, 6), TITLES), min_size=1, max_size=8))
def test_every_heading_is_found(headings: list[tuple[int, str]]) -> None:
    text = "\n\nwords\n\n".join("#" * level + " " + title for level, title in headings)
    found = find_headings(text)
    assert [(heading.level, heading.title) for heading in found] == [
        (level, " ".join(title.split())) for level, title in headings
    ]


def test_titles_are_without_markup() -> None:
    text = "# The `code` of **Ada** &amp; [a link](x) #\n\n## Mark\u200b\n\n#\n"
    assert [heading.title for heading in find_headings(text)] == ["The code of Ada & a link", "Mark"]


@given(texts=st.lists(st.text(alphabet="ab \n", max_size=30), min_size=1, max_size=5))
def test_pdf_pages_are_in_order(make_pdf: Callable[..., bytes], texts: list[str]) -> None:
    # Text on the first page: a PDF without any is refused.
    pages = ["start", *texts]
    parsed = parse_pdf(make_pdf(pages), FileInfo(name="a.pdf"))
    assert pages_are_in_order(parsed.pages, parsed.text)
    read = ["".join(parsed.text[page.start : page.end].split()) for page in parsed.pages]
    assert read == ["".join(text.split()) for text in pages]


@pytest.mark.parametrize(
    "source",
    [
        "x = 'é'; y = 1\nclass A:\n  def f(self): pass\n\n  class B:\n    async def g(self): ...\n",
        "def f(): ...\n",
    ],
)
def test_python_definitions_stand_in_the_text(source: str) -> None:
    parsed = parse_python(source.encode(), FileInfo(name="a.py"))
    assert parsed.headings
    assert headings_stand_in_text(parsed)
    assert all(parsed.text[heading.start :].startswith(heading.title) for heading in parsed.headings)


@given(st.text(alphabet="-ab: \n", max_size=60))
def test_front_matter_is_cut_off_or_left(text: str) -> None:
    front = split_front_matter(text)
    assert text.endswith(front.body)
    assert front.body == text or front.metadata or front.warnings or not front.body.startswith("---")
