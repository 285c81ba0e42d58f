"""YAML as it is read: the words that mean something, the limits, and what is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.yamlvalues import DEEPEST, MOST, Unreadable, read


def refused(text: str) -> str:
    with pytest.raises(Unreadable) as raised:
        read(text)
    return str(raised.value.problem)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0", 0),
        ("5.0", 5.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("-.inf", float("-inf")),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("On", "On"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("012", "012"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        (".nan", ".nan"),
        ("hits<3", "hits<3"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("[1, [a]]", [1, ["a"]]),
        ("{5: a, <<: b}", {"5": "a", "<<": "b"}),
    ],
)
def test_plain_words_mean_what_they_mean_to_editors(text: str, value: object) -> None:
    found = read(text).plain
    assert found == value
    assert type(found) is type(value)


def test_values_know_their_lines() -> None:
    value = read("# first\na: 1\nb:\n  - x\n  - y: 2\n").data
    assert (value["a"].line, value["b"].line) == (2, 3)
    assert [one.line for one in value["b"].data] == [4, 5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2", "line 1: It is no YAML: expected ',' or ']'"),
        (
            "steps:\n\t- search",
            "line 2: It is no YAML: found character '\\t' that cannot start any token.",
        ),
        ("a: 1\n---\na: 2", "line 2: It is no YAML: but found another document"),
        ("a: \x07", "It is no YAML: special characters are not allowed"),
        ('a: "\\UFFFFFFFF"', "It is no YAML:"),
        ("a: &x 1\nb: *x", "line 2: It uses an alias (*name)."),
        ("&x [*x]", "line 1: It uses an alias (*name)."),
        ("a: {" * 50, f"line 1: It nests deeper than {DEEPEST} levels."),
        ("[" * 100_000, f"line 1: It nests deeper than {DEEPEST} levels."),
        ("- 1\n" * (MOST + 5), f"line {MOST}: It has more than {MOST:,} values."),
        ("x" * 1_000_001, "It has 1,000,001 characters; 1,000,000 are allowed."),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    assert refused(text).startswith(said)


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 20))
    assert "It uses an alias" in refused(f"l0: &l0 x\n{levels}")


def test_numbers_that_are_too_long_are_a_fault_of_their_value() -> None:
    value = read(f"a: {'9' * 5000}\nb: 1")
    [fault] = value.everywhere()
    assert (fault.line, value.data["b"].data) == (1, 1)


@given(st.text() | st.text(alphabet="[]{}:,-&*!|>'\"#%@`\n\t ab1?<."))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(Unreadable):
        assert 1 <= read(text).line <= len(text.splitlines()) + 1
