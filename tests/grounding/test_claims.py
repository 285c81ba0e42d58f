"""The statements of an answer: each once, with its support, its source and its markers."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grounding.answered import EVIDENCE, TRAVEL, answered, check, chunk, evidence_of

from refdesk.context import Answer, Citation
from refdesk.grounding.claims import claims_of, with_claims
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.support import Claim, GroundedSpan, Grounding, SpanSource

Spans = tuple[GroundedSpan, ...]
pytestmark = pytest.mark.anyio


async def grounded(text: str, answer: Answer | None = None) -> Answer:
    answer = answer or answered(text)
    found = await LexicalGrounder().ground(answer.text, [item.hit for item in EVIDENCE])
    made = with_claims(answer, EVIDENCE, found)
    assert made.grounding is not None
    check(made.grounding.claims, made, EVIDENCE, found)
    return made


async def claims(text: str) -> tuple[Claim, ...]:
    grounding = (await grounded(text)).grounding
    assert grounding is not None
    return grounding.claims


async def test_right_wrong_and_invented() -> None:
    held, wrong, invented = await claims(
        "Employees get 30 days of leave a year [1]. A hotel may cost 150 euros a night [2]. Whales sing."
    )
    assert (held.support, held.score, held.cited) == ("supported", 1.0, (1,))
    assert held.source is not None
    assert held.source.quote == "Employees get 30 days of leave a year."
    assert (wrong.support, wrong.score) == ("contradicted", 0.0)
    assert wrong.source is not None
    assert wrong.source.quote == "A hotel may cost 120 euros a night."
    assert (invented.support, invented.score, invented.source) == ("unsupported", 0.0, None)


async def test_a_wrong_source_is_named_and_the_right_one_suggested() -> None:
    wrong, both, uncited = await claims(
        "Employees get 30 days of leave a year [4]. A hotel may cost 120 euros a night [3][2]. "
        "Fire drills take place twice a year."
    )
    assert (wrong.cited, wrong.misattributed) == ((4,), (4,))
    assert wrong.suggested is not None
    assert (wrong.suggested.number, wrong.suggested.chunk_id) == (1, chunk(1))
    assert (both.cited, both.misattributed, both.suggested) == ((3, 2), (3,), None)
    assert uncited.suggested is not None
    assert uncited.suggested.number == 3


async def test_nothing_is_suggested_for_what_nothing_holds() -> None:
    for claim in await claims("A hotel may cost 150 euros a night. Whales sing beautifully [2]."):
        assert (claim.suggested, claim.misattributed) == (None, ())


async def test_several_chunks_together_hold_it_in_part() -> None:
    [claim] = await claims("Employees get 30 days and trainees 20 days of leave a year [1][4].")
    assert (claim.support, claim.cited, claim.misattributed) == ("partial", (1, 4), ())


@pytest.mark.parametrize(
    ("text", "support"),
    [
        ("Unused leave is paid out.", "contradicted"),
        ("Unused leave is not paid out.", "supported"),
        ("Flights do not need the approval of the head of department.", "contradicted"),
        ("A hotel doesn't cost 120 euros a night.", "contradicted"),
        ("Flights need the approval of the head of Siemens.", "unsupported"),
        ("Employees get leave in 2020.", "contradicted"),
    ],
)
async def test_what_says_the_opposite_or_more(text: str, support: str) -> None:
    [claim] = await claims(text)
    assert claim.support == support


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Employees get 30 days [1]. Hotels cost 120 euros [2].", [(1,), (2,)]),
        ("Employees get 30 days. [1] Hotels cost 120 euros. [2]", [(1,), (2,)]),
        ("Employees get 30 days.[1][3] Hotels cost 120 euros.", [(1, 3), ()]),
        ("Employees get 30 days.\n[1]\n\nHotels cost 120 euros.", [(1,), ()]),
        ("Employees get 30 days.\n\n[1] Hotels cost 120 euros.", [(), (1,)]),
        ("- Employees get 30 days\n- [1] Hotels cost 120 euros\n", [(), (1,)]),
        ("Employees get 30 days. [2] says that hotels cost 120 euros.", [(), (2,)]),
        ("Employees [1] get 30 days [4, ] of leave [1].", [(1,)]),
        ("| Leave | 30 days [1] |\n| Hotel | 120 euros [2] |\n", [(1,), (2,)]),
        ("Employees get 30 days [9]. Hotels `cost[2]` 120 euros.", [(), ()]),
        ("# Leave [1]\n\nEmployees get 30 days.", [()]),
        ("**Employees get 30 days.** [1] *Hotels cost 120 euros* [2].", [(1,), (2,)]),
        ("社員は30日の休暇を得る。[1]ホテルは120ユーロである。[2]", [(1,), (2,)]),
    ],
)
async def test_where_a_marker_belongs(text: str, cited: list[tuple[int, ...]]) -> None:
    assert [claim.cited for claim in await claims(text)] == cited


def spans(text: str, *parts: str, **more: Any) -> Spans:
    return tuple(
        GroundedSpan(text=part, start=text.index(part), end=text.index(part) + len(part), score=0.9, **more)
        for part in parts
    )


def made(text: str, held: Spans = (), lost: Spans = (), **more: Any) -> list[tuple[str, str]]:
    found = Grounding(score=0.5, faithful_spans=held, hallucinated_spans=lost, **more)
    answer = answered(text)
    got = claims_of(answer, EVIDENCE, found)
    check(got, answer, EVIDENCE, found)
    return [(one.text, one.support) for one in got]


def test_what_was_not_judged_is_unchecked() -> None:
    text = "Employees get 30 days of leave [1]. Yes. Whales sing.\n\n# Heading 1\n\nHotels are cheap."
    assert made(text, spans(text, "Whales sing.")) == [
        ("Employees get 30 days of leave [1].", "unchecked"),
        ("Whales sing.", "supported"),
        ("Hotels are cheap.", "unchecked"),
    ]
    assert {support for _, support in made(text)} == {"unchecked"}


def test_the_rest_of_a_sentence_counts_where_it_says_something() -> None:
    text = "Employees get 30 days of leave, and red whales sing loudly in Norway, as such."
    assert made(text, spans(text, "Employees get 30 days of leave"), spans(text, "in Norway")) == [
        ("Employees get 30 days of leave", "supported"),
        ("and red whales sing loudly", "unchecked"),
        ("in Norway", "unsupported"),
    ]


def test_spans_that_overlap_are_one_and_the_worst_counts() -> None:
    text = "Employees get 30 days of leave."
    bad = spans(text, "30 days", support="contradicted")
    assert made(text, spans(text, text), bad) == [(text, "contradicted")]


def test_tokens_are_judged_by_the_sentence() -> None:
    text = "[1] Employees get 99 days of leave. Whales sing."
    held, lost = spans(text, "Employees get", "days of leave.", "Whales sing."), spans(text, "99")
    assert made(text, held, lost, token_labels=(0, 0, 1, 0)) == [
        ("Employees get 99 days of leave.", "unsupported"),
        ("Whales sing.", "supported"),
    ]


def test_a_level_that_a_grounder_gave_is_kept() -> None:
    text = "Employees get 99 days of leave a year. Whales sing."
    source = SpanSource(chunk(1), 0.8)
    derived = spans(text, "Employees get 99 days of leave a year.", sources=(source,))
    assert made(text, (), derived)[0][1] == "contradicted"
    given = tuple(replace(one, support="unsupported") for one in derived)
    assert made(text, (), given)[0][1] == "unsupported"
    assert made(text, spans(text, "Whales sing.", support="partial"))[-1][1] == "partial"


def test_chunks_that_are_no_evidence_are_no_sources() -> None:
    text = "Whales sing [1]."
    found = Grounding(score=1.0, faithful_spans=spans(text, text, sources=(SpanSource("elsewhere", 1.0),)))
    [claim] = claims_of(answered(text), EVIDENCE, found)
    assert (claim.support, claim.source, claim.misattributed) == ("supported", None, ())


async def test_a_citation_is_as_good_as_the_worst_of_its_statements() -> None:
    answer = await grounded(
        "Employees get 30 days of leave a year [1]. Unused leave is paid out [1]. "
        "A hotel may cost 120 euros a night [2]. Fire drills are twice a year [2][3].\n\n# Trainees [4]"
    )
    assert [(one.marker, one.support) for one in answer.citations] == [
        (1, "contradicted"),
        (2, "unsupported"),
        (3, "supported"),
        (4, "unchecked"),
    ]


async def test_under_one_marker_each_chunk_is_seen_by_itself() -> None:
    answer = answered("Employees get 30 days of leave a year [1]. Trainees get 20 days of leave a year [1].")
    more = tuple(replace(one, marker=1) for one in answered("[3] [4]").citations)
    got = await grounded("", replace(answer, citations=(*answer.citations, *more)))
    assert got.grounding is not None
    assert [one.misattributed for one in got.grounding.claims] == [(), ()]
    assert [(one.chunk_id, one.support) for one in got.citations] == [
        (chunk(1), "supported"),
        (chunk(3), "unsupported"),
        (chunk(4), "supported"),
    ]


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 4), st.integers(1, 4))
def test_only_a_chunk_that_holds_less_than_another_is_a_wrong_source(
    high: float, low: float, best: int, cited: int
) -> None:
    """The chunk that holds a statement best is never wrong, nor is a copy of it."""
    high, low = max(high, low), min(high, low)
    text = f"Whales sing [{cited}]."
    sources = (SpanSource(chunk(best), high), SpanSource(chunk(cited), low))
    found = Grounding(score=1.0, faithful_spans=spans(text, text, sources=sources))
    [claim] = claims_of(answered(text), EVIDENCE, found)
    wrong = bool(claim.misattributed)
    assert wrong == (cited != best and low < 0.6 * high)
    copies = evidence_of(TRAVEL, TRAVEL + " ")
    text = "A hotel may cost 120 euros a night [2]."
    source = SpanSource(copies[0].hit.chunk.chunk_id, max(high, 0.1))
    found = Grounding(score=1.0, faithful_spans=spans(text, text, sources=(source,)))
    [claim] = claims_of(answered(text, copies), copies, found)
    assert claim.misattributed == ()


def test_citations_without_a_statement_are_unchecked() -> None:
    answer = answered("[1] [2]")
    got = with_claims(answer, EVIDENCE, Grounding(score=None, reason="?"))
    assert got.grounding is not None
    assert got.grounding.claims == ()
    assert {one.support for one in got.citations} == {"unchecked"}
    assert all(isinstance(one, Citation) for one in got.citations)
