"""Sentences as they are shown: the same words, no mark-up."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.answering.showing import shown, with_marker


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("**Bold** and *light* and __both__\n  in two lines.", "Bold and light and both in two lines."),
        (
            "See [the rules](https://x.example/y) or https://x.example/z.",
            "See the rules or `https://x.example/z`.",
        ),
        ("Paris has 2.1 million people [12][3].", "Paris has 2.1 million people."),
        ("`argv[0]` and sys.argv[1] are names.", "`argv[0]` and `sys.argv[1]` are names."),
        ("a * b * c and snake_case_name stay", "a * b * c and snake_case_name stay"),
        ("| Mon | 8 h |", "Mon, 8 h"),
        ("Quoted\n> over lines", "Quoted over lines"),
        ("Press <kbd>F1</kbd> for x < 3.", "Press F1 for x < 3."),
    ],
)
def test_shown(quote: str, text: str) -> None:
    assert shown(quote) == text


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("It is 30.", "It is 30 [2]."),
        ('He said "no."', 'He said "no [2]."'),
        ("列表项。", "列表项 [2]。"),
        ("a list item", "a list item [2]."),
        ("as follows:", "as follows [2]."),
        ("...", "... [2]."),
    ],
)
def test_with_marker(sentence: str, text: str) -> None:
    assert with_marker(sentence, 2) == text


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1[]()<>*_`|!.: \n/", max_size=50))
def test_no_marker_but_ours(quote: str) -> None:
    code = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
    assert not re.search(r"\[\d+\]", code.sub("", shown(quote)))
