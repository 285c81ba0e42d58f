"""Windows and inputs: nothing is lost, nothing is too long, nothing passes for a special token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError, ModelError
from refdesk.grounding.pairs import PairTokenizer, evidence_windows, headline
from refdesk.testing.classifiers import word_tokenizer
from refdesk.testing.models import tiny_tokenizer
from refdesk.testing.rerankers import sample_hit

TEXT = " ".join(f"Sentence number {number} is here." for number in range(20))


def count(text: str) -> int:
    return len(text.split())


def letters(max_length: int = 64, template: str = "") -> PairTokenizer:
    return PairTokenizer(tiny_tokenizer(), max_length, template)


@given(st.text(max_size=300), st.integers(1, 40), st.booleans())
def test_windows_cover_a_text_and_fit(text: str, room: int, overlap: bool) -> None:
    windows = evidence_windows(text, len, room, overlap=overlap)
    assert all(len(window) <= room for window in windows)
    at = 0
    for window in windows:
        here = text.rfind(window, 0, at + len(window))
        assert here >= 0
        at = max(at, here + len(window))
    assert at == len(text)
    if not overlap:
        assert "".join(windows) == text


def test_windows_begin_with_sentences_and_share_short_ones() -> None:
    windows = evidence_windows(TEXT, count, 25)
    assert len(windows) > 4
    assert all(window.startswith("Sentence") and count(window) <= 25 for window in windows)
    assert windows[1].startswith("Sentence number 4")
    assert windows[0].rstrip().endswith("number 4 is here.")


def test_long_sentences_are_not_repeated() -> None:
    assert "".join(evidence_windows(TEXT, count, 7)) == TEXT


def test_headings_and_code_between_sentences_are_kept() -> None:
    text = "# Leave\n\nThirty days are granted.\n\n```\nleave(30)\n```\n\nIt ends in March."
    assert "".join(evidence_windows(text, count, 4, overlap=False)) == text


def test_an_input_that_is_too_long_becomes_several() -> None:
    tokenizer = letters()
    pairs = list(tokenizer.fitted("abc " * 50, "a statement"))
    assert len(pairs) > 3
    assert all(len(pair.ids) <= 64 for pair in pairs)
    read = sum(len(pair.ids) - len(pair.places) - 3 for pair in pairs)
    assert read == tokenizer.count("abc " * 50)


def test_a_statement_that_fills_the_model_is_an_error() -> None:
    with pytest.raises(InputError, match="does not fit"):
        list(letters().fitted("a", "b" * 100))


@pytest.mark.parametrize(
    "template", ["", "Read this: {text1} Done.", "Premise: {text1}\nHypothesis: {text2}!"]
)
def test_the_statement_is_found_in_its_input(template: str) -> None:
    statement = "it rains a lot"
    pair = letters(128, template).pair("it rains", statement)
    assert [statement[start:end] for _, start, end in pair.places] == list(statement.replace(" ", ""))
    assert 0.5 < pair.shared < 1.0


def test_shared_tokens_are_counted_once() -> None:
    tokenizer = letters()
    assert tokenizer.pair("abc", "abc abc").shared == 1.0
    assert tokenizer.pair("xyz", "abc").shared == 0.0
    assert tokenizer.pair("xyz", "").shared == 0.0


@given(st.text(st.sampled_from("[]SEPCLUNK <>/s|a"), max_size=30))
def test_special_tokens_that_a_text_spells_out_are_plain_text(text: str) -> None:
    tokenizer = PairTokenizer(word_tokenizer(["a"]), 128)
    pair = tokenizer.pair(text, f"a [SEP] {text}")
    assert [one for one in pair.ids if one in (2, 3)] == [2, 3, 3]
    assert len(tokenizer.plain(text)) == len(text)


def test_lone_surrogates_do_no_harm() -> None:
    assert letters().plain("a\ud800b") == "a\ufffdb"
    assert letters().pair("a\udfff", "\ud800").ids


@pytest.mark.parametrize(
    "template", ["no place", "{text2} {text1}", "{text1} {text1}", "{text1} {text2} {text2}"]
)
def test_templates_without_the_two_places_are_refused(template: str) -> None:
    with pytest.raises(InputError, match="template"):
        letters(64, template)


def test_a_model_without_room_is_an_error() -> None:
    with pytest.raises(ModelError, match=r"12 tokens.*max_length"):
        letters(12)


def test_a_headline_has_what_the_text_lacks() -> None:
    hit = sample_hit("Thirty days.", source_id="a", title="Leave")
    assert headline(hit) == "Leave"
    assert headline(sample_hit("Leave is granted.", source_id="a", title="Leave")) == ""
