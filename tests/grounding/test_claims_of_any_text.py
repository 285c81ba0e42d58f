"""Whatever an answer says: every statement is one claim, and offsets are exact."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grounding.answered import EVIDENCE, answered, check

from refdesk.analysis import detect_language
from refdesk.citations.sentences import language_of, sentences
from refdesk.grounding.claims import claims_of, with_claims
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.grounding.stating import Statement
from refdesk.support import Claim
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

WORDS = (
    *("leave", "Employees", "30", "hotel", "120", "not", "drill", "the", "Siemens", "euros", "[1]", "[2]"),
    *("[3][4]", "[9]", ".", ". ", "。", "\n", "\n\n", "- ", "# ", "`a[1]`", "```\n", "|", "休暇", "é", "😀"),
    *(
        "[1].",
        ".[2]",
        ", ",
        "A hotel may cost 120 euros a night",
        "Unused leave is not paid out",
        "\u200b",
        "1.",
    ),
)
TEXT = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=30).map(" ".join)


def covered(claims: tuple[Claim, ...], text: str) -> None:
    """Check that each sentence that says something is in a claim."""
    language = detect_language(text)
    language = language if language != "und" else language_of(text)
    for sentence in sentences(text, language):
        said = Statement.of(sentence.of(text), language)
        within = [one for one in claims if one.start < sentence.end and sentence.start < one.end]
        assert within or said.empty


@given(TEXT)
@settings(max_examples=300)
async def test_every_statement_is_one_claim(text: str) -> None:
    answer = answered(text)
    found = await LexicalGrounder().ground(text, [item.hit for item in EVIDENCE])
    got = with_claims(answer, EVIDENCE, found)
    assert got.grounding is not None
    check(got.grounding.claims, got, EVIDENCE, found)
    covered(got.grounding.claims, text)
    assert [replace(one, support="unchecked") for one in got.citations] == list(answer.citations)
    worst: dict[int, set[str]] = {}
    for claim in got.grounding.claims:
        for marker in claim.cited:
            worst.setdefault(marker, set()).add(claim.support)
    for citation in got.citations:
        levels = worst.get(citation.marker, {"unchecked"})
        if citation.support in ("supported", "partial"):
            assert citation.support in levels
        if citation.support == "unchecked":
            assert "unchecked" in levels


CLAIM = st.tuples(
    st.one_of(st.text(max_size=20), st.integers(0, 40), st.just("all")),
    st.sampled_from(["supported", "unsupported", "contradicted", "unknown", "odd"]),
    st.lists(st.integers(-1, 6), max_size=3),
)


@given(TEXT, st.lists(CLAIM, max_size=6))
async def test_a_judges_claims_stand_in_the_answer(text: str, said: list[tuple[Any, str, list[int]]]) -> None:
    parts = text.split() or ["x"]
    replied = {
        "claims": [
            {
                "claim": " ".join(parts[one % len(parts) :][:5]) if isinstance(one, int) else one,
                "verdict": verdict,
                "sources": sources,
            }
            for one, verdict, sources in said
        ]
    }
    found = await JudgedGrounder(ScriptedLLM([json.dumps(replied)])).ground(text, [e.hit for e in EVIDENCE])
    placed = sorted((*found.faithful_spans, *found.hallucinated_spans), key=lambda span: span.start)
    at = 0
    for span in placed:
        assert text[span.start : span.end] == span.text
        assert at <= span.start < span.end
        at = span.end
        assert (span.support == "supported") == (span in found.faithful_spans)
    answer = answered(text)
    got = claims_of(answer, EVIDENCE, found)
    check(got, answer, EVIDENCE, found)
    covered(got, text)
