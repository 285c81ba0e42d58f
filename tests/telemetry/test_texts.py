"""Texts are told only to those who ask for them; words of ours always are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.telemetry.texts import as_text, figures


def test_figures_and_words_are_no_texts() -> None:
    kept: dict[str, Any] = {"hits": 3, "score": 0.5, "sufficient": True, "missing": None}
    words: dict[str, Any] = {"zone": "weak", "terminated_by": "gave_up", "tool": "search", "call_id": "c-1"}
    texts: dict[str, Any] = {"query": "leave", "queries": ("leave",), "reason": "why", "summary": "Found 3."}
    assert figures({**kept, **words, **texts}) == {**kept, **words}


@pytest.mark.parametrize("name", ["leave for two", "tool\n", "", "x" * 65, "a/b", "<b>"])
def test_what_does_not_look_like_a_name_is_a_text(name: str) -> None:
    assert figures({"tool": name}) == {}


def test_arguments_are_json_without_what_nobody_sees() -> None:
    assert as_text({"query": "é\u202ex", "limit": 5}) == '{"query": "éx", "limit": 5}'


def test_arguments_too_deep_for_json_are_left_out() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert as_text({"query": deep}) == ""


@given(st.dictionaries(st.text(), st.text() | st.binary() | st.complex_numbers()))
def test_any_arguments_have_a_text(arguments: dict[str, Any]) -> None:
    assert as_text(arguments).startswith("{")
