"""JSON out of what models say: what is accepted, what is refused, and that no input costs much."""

import json
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.errors import ReplyUnreadable
from refdesk.llm.replies import LONGEST, WORK, read, read_json, readings, without_thoughts
from refdesk.llm.scanning import DEEPEST, Cut, Malformed, Scanner
from refdesk.llm.thoughts import TAGS

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(min_size=1), VALUES, min_size=1, max_size=4)
NOISE = st.text(alphabet="{}[]\"'“”‘’,:\\/*#\n -.0159eEabtfnuyN<>|", max_size=60)

SAID: list[tuple[str, Any]] = [
    ('{"a": 1, "b": [true, null, -2.5e3]}', {"a": 1, "b": [True, None, -2500.0]}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('Sure! Here it is:\n\n{"a": 1}\n\nHope this helps {smile}.', {"a": 1}),
    ('<think>perhaps {"a": 9}</think>{"a": 1}', {"a": 1}),
    ('perhaps {"a": 9}\n</think>\n{"a": 1}', {"a": 1}),
    ('[THINK]{"a": 9}[/THINK]{"a": 1}', {"a": 1}),
    ("{'ok': True, 'why': None, 'no': False}", {"ok": True, "why": None, "no": False}),
    ('{\'s\': \'it\'s fine\', "t": "say "hi" to"}', {"s": "it's fine", "t": 'say "hi" to'}),
    ("{“a”: “smart ‘quotes’”, ‘b’: 2}", {"a": "smart ‘quotes’", "b": 2}),
    ('{“a": “mixed"}', {"a": "mixed"}),
    ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
    ('{a: 1, b-c: "x", 3: yes}', {"a": 1, "b-c": "x", "3": "yes"}),
    ('{"a": 1, // one\n "b": 2, # two\n /* three */ "c": 3}', {"a": 1, "b": 2, "c": 3}),
    (
        '{"url": "http://a.example/#x", "q": "# no comment"}',
        {"url": "http://a.example/#x", "q": "# no comment"},
    ),
    ('"{\\"a\\": \\"b\\"}"', {"a": "b"}),
    (json.dumps(json.dumps({"a": "{"})), {"a": "{"}),
    ('{"a": "braces } ] in { strings ["}', {"a": "braces } ] in { strings ["}),
    ('{"a": "two\nlines"}', {"a": "two\nlines"}),
    ('{"a": "\\ud83d\\ude00 \\u00e9"}', {"a": "😀 é"}),
    ('{"a": "half \\ud83d"}', {"a": "half \ufffd"}),
    ('{"a": "\\alpha \\d \\/ \\\' \\u12"}', {"a": "\\alpha \\d / ' \\u12"}),
    ('First {"a": 1}, no: {"a": 1, "b": 2}.', {"a": 1, "b": 2}),
    ('[1, 2, 3, 4, 5] and {"a": 1}', {"a": 1}),
    ("Queries: ['one', 'two']", ["one", "two"]),
    ('{} [] {"a": 0}', {"a": 0}),
    ('[note] {"a": 1}', {"a": 1}),
]


@pytest.mark.parametrize(("reply", "value"), SAID, ids=range(len(SAID)))
def test_what_models_say(reply: str, value: Any) -> None:
    reading = read(reply)
    assert (reading.value, reading.complete) == (value, True)
    assert read_json(reply) == value


CUT: list[tuple[str, Any]] = [
    ('{"a": 1, "b": "unfinis', {"a": 1}),
    ('{"a": 1, "b": 12', {"a": 1}),
    ('{"a": 1, "b": 1.5e', {"a": 1}),
    ('{"a": 1, "b": -', {"a": 1}),
    ('{"a": 1, "b": tru', {"a": 1}),
    ('{"a": 1, "b"', {"a": 1}),
    ('{"a": 1, "b": ', {"a": 1}),
    ('{"a": {"b": [1, 2, 3', {"a": {"b": [1, 2]}}),
    ('[{"q": "a"}, {"q": "b"}, {"q": "c', [{"q": "a"}, {"q": "b"}, {}]),
    ('{"a": 1, "b": {"c": 2}, "d": "x', {"a": 1, "b": {"c": 2}}),
    ('{"a": 1, "b": "x\\', {"a": 1}),
    ('{"a": 1, "b": "\\u00', {"a": 1}),
    ('{"a": [1, {"b": "x\\u00', {"a": [1, {}]}),
    ('{"a": 1 /* never closed', {"a": 1}),
]


@pytest.mark.parametrize(("reply", "value"), CUT, ids=range(len(CUT)))
def test_a_cut_reply_says_so_and_loses_the_cut_member(reply: str, value: Any) -> None:
    reading = read(reply)
    assert (reading.value, reading.complete) == (value, False)


def test_a_complete_value_goes_before_one_that_was_cut() -> None:
    assert read('{"a": 1} or rather {"a": 2, "b": "longer and cu').value == {"a": 1}
    assert [one.complete for one in readings('{"a": 1} {"a": 2, "b": "cu')] == [True, False]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot answer.",
        "{",
        "[",
        '<think>{"a": 1}',
        "{nothing}",
        '"plain"',
        "{'a'}",
        '{"a": 1-2}',
        '{"a": 1.2.3}',
        '{"a": x}',
        '{"a": 1e999}',
    ],
)
def test_what_holds_no_json(reply: str) -> None:
    with pytest.raises(ReplyUnreadable) as raised:
        read(reply)
    assert raised.value.reply == reply


@given(OBJECTS)
def test_json_is_read_as_the_standard_library_reads_it(value: dict[str, Any]) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        scanner = Scanner(text)
        assert scanner.value() == json.loads(text)
        assert scanner.at == len(text)


@given(OBJECTS, st.data())
def test_a_cut_object_holds_nothing_that_was_not_said(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    scanner = Scanner(text[: data.draw(st.integers(1, len(text) - 1))])
    found = scanner.value()
    assert not scanner.complete
    assert _within(found, value)


def _within(part: Any, whole: Any) -> bool:
    """Tell whether a value is another one with ends left out."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and _within(one, whole[name]) for name, one in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(_within, part, whole))
    return bool(part == whole and type(part) is type(whole))


@given(NOISE | st.text(max_size=60))
def test_any_text_gives_a_value_or_the_one_error(text: str) -> None:
    try:
        value = read_json(text)
    except ReplyUnreadable:
        return
    json.dumps(value, allow_nan=False).encode("utf-8")
    assert isinstance(value, dict | list)


def calls_of(text: str) -> int:
    """Count the functions, Python's and C's, that reading a reply calls."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with suppress(ReplyUnreadable):
            read_json(text)
    finally:
        sys.setprofile(before)
    return count


OPENERS = ["{", "[", '"', "'", "“", '{"', '["', '{"a":', '{"a":[', "[1,", "[[],", "[,", "{a:", "{a:'"]
MARKS = ["\\", '"\\', "[/*", '"/*', '["#', "{#", "//", "<think>", "</think>", "<", "-", "9", " ", "\n"]
HOSTILE = [*OPENERS, *MARKS, '{"a":1}', "[1]", "{}", '"a" ']


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("form", ["{}", "{}\nx", "[{}]", '{{"a": {}', '"{}"'])
def test_twice_the_text_is_at_most_twice_the_work(piece: str, form: str) -> None:
    text, double = (form.format(piece * (length // len(piece))) for length in (3000, 6000))
    assert calls_of(double) <= 2.1 * calls_of(text) + 300


@given(NOISE.filter(bool), NOISE, NOISE)
@settings(max_examples=40)
def test_work_grows_with_the_length_whatever_is_repeated(piece: str, before: str, after: str) -> None:
    text = before + piece * (2000 // len(piece)) + after
    assert calls_of(text) <= 12 * WORK * len(text)


@pytest.mark.parametrize("piece", HOSTILE)
def test_what_is_looked_at_is_bounded(piece: str) -> None:
    """Also what one regular expression looks at, which counting calls does not see."""
    text = (piece * 20_000)[:20_000]
    scanner = Scanner(text, left=WORK * len(text))
    with suppress(Cut, Malformed):
        scanner.value()
    assert scanner.left >= -len(text)  # at most the last look goes over


def test_depth_is_bounded_and_a_deep_value_is_no_value() -> None:
    fits = '{"a":' * DEEPEST + "1" + "}" * DEEPEST
    assert read(fits).complete
    deeper = f'{{"a":{"[" * DEEPEST}1{"]" * DEEPEST}}}'
    assert not isinstance(read_json(deeper), dict)


def test_what_lies_beyond_the_longest_reply_is_not_read() -> None:
    with pytest.raises(ReplyUnreadable):
        read(" x" * LONGEST + '{"a": 1}')


@pytest.mark.parametrize(("opening", "closing"), TAGS)
def test_thoughts_are_cut_out_whatever_tag_is_missing(opening: str, closing: str) -> None:
    assert without_thoughts(f"{opening}hm{closing} yes ") == "yes"
    assert without_thoughts(f"hm{closing}yes") == "yes"
    assert without_thoughts(f"yes {opening}hm") == "yes"
    assert without_thoughts(f"{opening.upper()}a{closing} yes {opening}b{closing.upper()} no") == "yes  no"
    assert without_thoughts(f"{opening}a {opening} b{closing}c{closing}yes") == "yes"


def test_text_without_thoughts_stays() -> None:
    assert without_thoughts(" a < b, <b>c</b> ") == "a < b, <b>c</b>"


def test_readings_say_where_they_begin() -> None:
    reply = '<think>{"no": 1}</think>First {"a": 1} then {"b": 2, "c": 3} and [4].'
    text = without_thoughts(reply)
    found = readings(reply)
    assert [one.value for one in found] == [{"b": 2, "c": 3}, {"a": 1}, [4]]
    assert [json.loads(text[one.start : one.start + one.length]) for one in found] == [
        one.value for one in found
    ]
    assert min(found, key=lambda one: one.start).value == {"a": 1}


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from(["", " ", "\n", " and "]))
def test_the_first_value_is_found_by_its_place(values: list[dict[str, Any]], between: str) -> None:
    found = readings(between.join(map(json.dumps, values)))
    assert [one.value for one in sorted(found, key=lambda one: one.start)] == values
