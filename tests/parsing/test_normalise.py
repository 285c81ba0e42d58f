"""Text as it is kept, whatever bytes come in."""

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import ParseError
from refdesk.parsing.normalise import clean, read_text, tidy


@given(st.text())
def test_cleaned_text_can_be_kept(text: str) -> None:
    cleaned = clean(text).text
    cleaned.encode("utf-8")
    controls = {character for character in cleaned if unicodedata.category(character) == "Cc"}
    assert controls <= {"\t", "\n"}


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text).text
    assert clean(once) == type(clean(once))(once)


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "Zs"))))
def test_words_survive(text: str) -> None:
    kept = unicodedata.normalize("NFC", text)
    assert clean(text).text.split() == kept.split()


@pytest.mark.parametrize(
    ("raw", "expected", "warning"),
    [
        ("a\0b\0", "ab", "2 NUL characters removed"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd", ""),
        ("\ufeffa\xa0b\xadc", "a bc", ""),
        ("\x1b[31mred", "[31mred", "1 control characters removed"),
        ("a\ud800b", "ab", "1 lone surrogates removed"),
        ("it\x92s", "it’s", ""),
        ("e\u0301", "é", ""),
    ],
)
def test_what_is_cleaned(raw: str, expected: str, warning: str) -> None:
    cleaned = clean(raw)
    assert (cleaned.text, cleaned.warnings) == (expected, (warning,) if warning else ())


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FFF)))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_encodings_are_read_back(encoding: str, text: str) -> None:
    assert read_text(text.encode(encoding)).text == clean(text).text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Die Größe der Straße überrascht Jürgen sehr, und täglich kommen Gäste aus Köln.", "cp1252"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю. Это простой текст.", "cp1251"),
        ("名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n", "cp932"),
    ],
)
def test_other_encodings_are_guessed_and_noted(text: str, encoding: str) -> None:
    read = read_text(text.encode(encoding))
    assert read.text == text
    assert "guess" in read.warnings[0]


def test_a_declared_encoding_counts_before_a_guess() -> None:
    read = read_text("Żółć".encode("iso-8859-2"), declared="iso-8859-2")
    assert read.text == "Żółć"


@pytest.mark.parametrize("declared", ["hex", "nonsense", "x" * 1000])
def test_a_declared_encoding_that_is_none_is_not_used(declared: str) -> None:
    assert read_text("größer und größer".encode("cp1252"), declared=declared).text == "größer und größer"


def test_a_few_damaged_bytes_do_not_change_the_encoding() -> None:
    read = read_text("größer ".encode() * 50 + b"\xff" + "später".encode())
    assert "später" in read.text
    assert read.warnings == ("1 characters could not be read as utf-8",)


def test_damage_far_into_ascii_does_not_lose_the_rest() -> None:
    read = read_text(b"plain words " * 20_000 + "größer und schöner über Straßen".encode("cp1252"))
    assert read.text.endswith("größer und schöner über Straßen")


@pytest.mark.parametrize("data", [bytes(range(256)) * 8, b"\0" * 100, b"\x00\x01\x02\x03" * 50])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        read_text(data)
    assert caught.value.reason == "binary"


@given(st.text(alphabet="a \t\n"))
def test_tidy_leaves_no_two_blank_lines(text: str) -> None:
    lines = tidy(text).split("\n")
    assert not any(not a.strip() and not b.strip() for a, b in itertools.pairwise(lines))
