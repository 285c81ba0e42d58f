"""Patterns: the same as in an engine that backtracks, and a clear word on what there is not."""

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.screening import Rule, mistakes, screen
from refdesk.screening.patterns import compiled, marked, unmarked
from refdesk.screening.seeing import folded

LETTERS = "abäß1_- .'ж東"
ATOMS = st.one_of(
    st.sampled_from([*"abäBÄж東1_", r"\-", r"\.", "'", " ", "ss", "ß"]),
    st.sampled_from(
        [".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\p{L}", r"\P{L}", r"\p{^N}", r"\x{e4}"]
    ),
    st.sampled_from(["[ab]", "[^ab]", "[äß]", "[^ß]", r"[\w-]", r"[^\w]", r"[\W1]", r"[^\W_]", r"[\P{L}a]"]),
    st.sampled_from(["[a-z]", "[A-C]", r"[^\P{L}]", r"[\d.]", r"[\D]", r"[^\s]", "[ж-я]"]),
)
EDGES = st.sampled_from(["", "", r"\b"])
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{0,3}", "*?", "+?"])
TEXTS = st.text(LETTERS + "AB", max_size=12)


def grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=4).map("".join)
    choices = st.lists(several, min_size=1, max_size=3).map("|".join)
    return st.tuples(choices, REPEATS).map(lambda parts: f"(?:{parts[0]}){parts[1]}")


PIECES = st.tuples(EDGES, ATOMS, REPEATS, EDGES).map("".join)
MIDDLES = st.lists(st.recursive(PIECES, grouped, max_leaves=8), min_size=1, max_size=5).map("".join)
STARTS, ENDS = st.sampled_from(["", "", "^", r"\A"]), st.sampled_from(["", "", "$", r"\z"])
PATTERNS = st.tuples(STARTS, MIDDLES, ENDS).map("".join)


ELSEWHERE = {r"\z": r"\Z", r"\x{e4}": "ä", "[äß]": "(?:ä|ss)", "[^ß]": ".", "ß": "(?:ss)"}
"""How the other engine writes it, which does not fold patterns."""


def found(pattern: str, text: str) -> bool:
    return compiled(pattern).search(marked(folded(text))) is not None


@settings(deadline=None, max_examples=300)
@given(PATTERNS, TEXTS)
def test_patterns_mean_what_they_mean_elsewhere(pattern: str, text: str) -> None:
    assume(pattern.count(r"\b") * 2 ** pattern.count("{2}") <= 3)  # the edges that one place has
    spelt = pattern
    for here, there in ELSEWHERE.items():
        spelt = spelt.replace(here, there)
    other = regex.compile(spelt, regex.IGNORECASE | regex.VERSION1)
    assert found(pattern, text) is bool(other.search(folded(text))), (pattern, folded(text))


@given(st.text())
def test_marks_are_all_that_is_added(text: str) -> None:
    assert unmarked(marked(folded(text))) == folded(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bécrire\b", "Peux-tu ÉCRIRE ?"),
        (r"\bбомб\w*", "Как сделать БОМБУ?"),
        (r"\b(?:foo\b|bar)\b", "a foo."),
        (r"\b\b\bfoo\b\b\b", "foo"),
        (r"\d{3}", "٣٣٣"),
        (r"Straße$", "HAUPTSTRASSE"),
        (r"^[ß]+$", "ssSS"),
        (r"\p{Lu}{2}", "ab"),
        (r"(?-i:AB)", "ab"),
        (r"(?P<one>a)(?:b)(?i)C", "abc"),
        ("a\\x{e4}\\x62", "AÄB"),
        ("a\tb\\nc", "a b\n\nc"),
        ("e\u0301te\u0301", "été"),
        ("(?x) a b  # two letters\n | c[ #]d\\ e", "c#d e"),
        ("(?x) a b  # two letters\n | c[ #]d\\ e", "xabx"),
        (r"l’arme", "l'arme"),
        ("[’‐]x", "-x"),
        (r"[\]\-\^]+\\", r"]-^" + "\\"),
        (r"[]a]+b", "]ab"),
        ("a{x}", "a{x}"),
        (r"[\x00-\x7f]{3}$", "a b"),
    ],
)
def test_patterns_that_find(pattern: str, text: str) -> None:
    assert found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bcrire", "écrire"),
        (r"foo\W", "foo"),
        (r"foo[\W]", "foo"),
        (r"foo[^a]", "foo"),
        (r"foo\P{L}", "foo"),
        (r"foo[\x00-\x7f]", "foo"),
        (r"foo.\bbar", "foobar"),
        (r"^\b.\b$", "ab"),
        ("[^ß]x$", "x"),
    ],
)
def test_marks_are_nothing_that_patterns_find(pattern: str, text: str) -> None:
    assert not found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "said", "remedy"),
    [
        ("a(?=b)", "`(?=`, which looks ahead or behind", "State what is found"),
        ("(?<!a)b", "`(?<!`, which looks ahead or behind", "State what is found"),
        (r"(a)\1", r"`\1`, which refers back to a group", "Write out"),
        (r"(?P<a>x)(?P=a)", "`(?P=`, which cannot be matched in linear time", "Write a group"),
        ("(?>a)", "`(?>`, which cannot be matched", "Write a group"),
        ("(?(1)a)", "`(?(`", "Write a group"),
        ("a++", "`++`, which is possessive", "Write +"),
        ("a{2}+", "`{2}+`, which is possessive", "Write {2}"),
        ("a(?x) b", "`(?x`", "at the beginning"),
        (r"a\Z", r"`\Z`, which is unknown", r"Write \z"),
        (r"a\B", r"`\B`, which is unknown", r"such as \w"),
        (r"\u00e9", r"`\u`, which is unknown", r"\x{E9}"),
        ("\\", "`\\`, which is unknown", "backslash"),
        ("[[:alpha:]]", "`[:alpha:]`, which knows only ASCII", r"\p{L}"),
        ("[ab", "`[`, which is never closed", "Close it"),
        (r"\x{110000}", "is no character", "at most"),
        ("a\u200bb\u200b|\u200b", "U+200B, which rules do not see", "hidden"),
        (r"[\x{202e}]", "U+202E, which rules do not see", "hidden"),
        ("a{1001}", "repeats more than 1,000 times", "Write *"),
        ("a{2,99999999999}", "repeats more than 1,000 times", "Write"),
        ("(a{1,999}){1,999}", "repetition", "RE2"),
        ("(", "missing )", "RE2"),
        (")(", "unexpected )", "RE2"),
        ("*", "no argument", "RE2"),
        ("[z-a]", "z-a", "RE2"),
        (r"\p{Foo}", r"\p{Foo}", "RE2"),
        ("\ud800", "U+D800", "Leave it out"),
        (r"(?:\w{1,1000}){1}\w{1000}\w{1000}\p{L}{1000}\w{1000}\w{1000}\w{1000}", "too large", "RE2"),
    ],
)
def test_patterns_that_cannot_be_used(pattern: str, said: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        compiled(pattern)
    assert said in caught.value.message
    assert remedy in caught.value.remedy
    assert "\x01" not in str(caught.value)
    rule = Rule(id="bad", pattern=pattern)
    [fault] = mistakes(rule)
    assert said in fault
    with pytest.raises(InputError, match="'bad' cannot be applied"):
        screen("anything", (rule,))
