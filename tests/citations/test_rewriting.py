"""The rewriter: what a reader sees does not depend on how a reply was cut, and holds nothing to click."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refdesk.citations.links import addresses
from refdesk.citations.rewriting import Rewriter

FRAGMENTS = (
    [
        "[",
        "]",
        "[[",
        "]]",
        "[[1]]",
        "[[2]]",
        "[1]",
        "[[1, 3]]",
        "[[1][2]]",
        "【2】",
        "［3］",
        "[0]",
        "[-1]",
        "[99]",
    ]
    + [
        "[^1]",
        "[Source 2]",
        "1",
        "2",
        "9",
        ", ",
        "; ",
        "-",
        ".",
        "?",
        "(",
        ")",
        "!",
        ":",
        "/",
        "//",
        "\\",
        "|",
        "\n",
        "\n\n",
    ]
    + [
        "`",
        "``",
        "```",
        "```py\n",
        "~~~",
        "\n```\n",
        "- ",
        "> ",
        "    ",
        "  ",
        " ",
        "\t",
        "<",
        ">",
        "<b>",
        "</b>",
        "<a href='x'>",
    ]
    + [
        "<!--",
        "-->",
        "<int>",
        "<img src=x",
        "http",
        "https://",
        "https://evil.example/x",
        "https://ok.example/a",
        "www",
        "www.",
    ]
    + [
        "[text](https://evil.example)",
        "![i](u)",
        "](",
        "]:",
        "(u)",
        '"',
        "'",
        "word",
        "Ünï",
        "那数据",
        "é",
        "١",
    ]
)
REPLIES = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=14).map("".join)
KNOWN = addresses(["See https://ok.example/a for more."])
FENCE = re.compile(
    r"(?ms)^ {0,3}(`{3,})[^`\n]*\n.*?(?:^ {0,3}\1`*[ \t]*$|\Z)|^ {0,3}(~{3,})[^\n]*\n.*?(?:^ {0,3}\2~*[ \t]*$|\Z)"
)
CODE = re.compile(r"(?<![`\\])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


def rewrite(text: str, cuts: list[int] | None = None, evidence: int = 3) -> tuple[str, Rewriter]:
    rewriter = Rewriter(frozenset(range(1, evidence + 1)), KNOWN)
    edges = [0, *sorted({cut % (len(text) + 1) for cut in cuts or []}), len(text)]
    shown = [rewriter.feed(text[start:end]) for start, end in zip(edges, edges[1:], strict=False)]
    return "".join([*shown, rewriter.finish()]), rewriter


def prose(text: str) -> str:
    """Blank out what is code, keeping offsets."""
    return CODE.sub(lambda m: "`" * len(m[0]), FENCE.sub(lambda m: "`" * len(m[0]), text))


@settings(max_examples=2000, deadline=None)
@given(REPLIES, st.lists(st.integers(0, 400), max_size=12))
@example("http:<b></b>//evil.example", [6, 13, 14])
@example("a  [[9]]  b", [2, 9, 10])
def test_cuts_do_not_matter(text: str, cuts: list[int]) -> None:
    whole, once = rewrite(text)
    pieces, cut = rewrite(text, cuts)
    assert pieces == whole
    assert (cut.order, cut.places) == (once.order, once.places)
    assert (cut.removed_markers, cut.removed_links) == (once.removed_markers, once.removed_links)


@settings(max_examples=600, deadline=None)
@given(REPLIES)
def test_character_by_character_is_the_same(text: str) -> None:
    assert rewrite(text, list(range(len(text))))[0] == rewrite(text)[0]


@settings(max_examples=2000, deadline=None)
@given(REPLIES)
def test_every_marker_shown_is_one_that_was_placed(text: str) -> None:
    shown, rewriter = rewrite(text)
    for place in rewriter.places:
        assert shown.startswith(f"[{place.marker}]", place.start)
    placed = {place.start for place in rewriter.places}
    assert all(found.start() in placed for found in re.finditer(r"\[\d+\]", prose(shown)))


@settings(max_examples=500, deadline=None)
@given(REPLIES)
def test_numbers_follow_first_appearance(text: str) -> None:
    _, rewriter = rewrite(text)
    seen = list(dict.fromkeys(place.marker for place in rewriter.places))
    assert seen == list(range(1, len(seen) + 1))
    assert len(set(rewriter.order)) == len(rewriter.order) == len(seen)
    assert all(1 <= number <= 3 for number in rewriter.order)


@settings(max_examples=2000, deadline=None)
@given(REPLIES)
def test_nothing_is_left_to_click(text: str) -> None:
    left = prose(rewrite(text)[0])
    assert "](" not in left
    assert not re.search(r"^ {0,3}\[[^\]\n]+\]:", left, re.MULTILINE)
    assert not re.search(r"(?i)<\s*/?(?:a|b|img|script|iframe)\b[^<>]*>", left)
    shown = re.findall(r"(?i)(?:[a-z]+://|www\.\w)[^\s<]*", left)
    assert {address.rstrip(".,;:!?)]}\"'*_~") for address in shown} <= {"https://ok.example/a"}
