"""The grounder that comes with refdesk, on MiniLM's vectors."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import anyio
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from tests.grounding.answered import answered, check, evidence_of

from refdesk.embedding.names import embedder_for
from refdesk.grounding.claims import claims_of
from refdesk.grounding.kept import TOKENS
from refdesk.grounding.levels import Levels
from refdesk.grounding.local import VETO, LocalGrounder, calibrated
from refdesk.grounding.named import grounder_for
from refdesk.support import Grounding
from refdesk.testing.rerankers import FILLER, sample_hit, sample_hits

pytestmark = [pytest.mark.anyio, pytest.mark.model]

LEAVE = (
    "Employees get 30 days of leave a year. Unused leave expires at the end of March. Leave has to be asked "
    "for two weeks ahead, and the head of the department approves it."
)
TRAVEL = "Trains are booked in second class. A hotel may cost 120 euros a night. Flights are not paid for."
SALES = "Sales of the company rose by 12 percent in 2023. Anna Miller became its chief executive in May."


@cache
def local() -> LocalGrounder:
    found = grounder_for("local", embedder=embedder_for("minilm"))
    assert isinstance(found, LocalGrounder)
    return found


async def judged(answer: str, *texts: str, grounder: LocalGrounder | None = None) -> Grounding:
    found = await (grounder or local()).ground(answer, sample_hits(texts))
    assert_well_formed(found, answer)
    return found


def assert_well_formed(found: Grounding, answer: str) -> None:
    spans = sorted((*found.faithful_spans, *found.hallucinated_spans), key=lambda span: span.start)
    assert all(answer[span.start : span.end] == span.text for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    for kind in (found.faithful_spans, found.hallucinated_spans):
        assert list(kind) == sorted(kind, key=lambda span: span.start)
    for span in spans:
        scores = [source.score for source in span.sources]
        assert 0 <= span.score <= 1
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert len({source.chunk_id for source in span.sources}) == len(scores)
    assert all(span.support in ("supported", "partial") and span.sources for span in found.faithful_spans)
    assert all(span.support in ("unsupported", "contradicted") for span in found.hallucinated_spans)
    assert (found.score is None) == bool(found.reason)
    assert found.score is None or 0 <= found.score <= 1
    if found.grounder == "local":
        assert set(found.token_labels) <= {0, 1}
        assert any(found.token_labels) == bool(found.hallucinated_spans)


def support(found: Grounding, text: str) -> float:
    """Return how far the one span with a text is held."""
    [one] = [1.0 - span.score for span in found.hallucinated_spans if text in span.text] + [
        span.score for span in found.faithful_spans if text in span.text
    ]
    return one


HELD = [
    "Employees get 30 days of leave a year.",
    "A hotel may cost 120 euros a night.",
    "Unused leave expires at the end of March.",
    "Sales of the company rose by 12 percent in 2023.",
    "Anna Miller became its chief executive in May.",
]
"""Sentences of the evidence."""
REWORDED = [
    "Every year, employees get 30 days of leave.",
    "A hotel may cost 120 euros per night.",
    "At the end of March, unused leave expires.",
    "In 2023, the sales of the company rose by 12 percent.",
    "In May, Anna Miller became the chief executive.",
]
"""The same in other words, so that there is something to judge."""


@pytest.mark.parametrize("quoted", [True, False])
@pytest.mark.parametrize(("number", "source"), list(enumerate((LEAVE, TRAVEL, LEAVE, SALES, SALES))))
async def test_what_stands_in_the_evidence_is_held(number: int, source: str, quoted: bool) -> None:
    found = await judged((HELD if quoted else REWORDED)[number], LEAVE, TRAVEL, SALES)
    [span] = found.faithful_spans
    assert found.grounder == "local"
    assert found.hallucinated_spans == ()
    texts = {hit.chunk.chunk_id: hit.chunk.text for hit in sample_hits([LEAVE, TRAVEL, SALES])}
    assert texts[span.sources[0].chunk_id] == source
    assert (span.score == 1.0) is quoted


async def test_a_sentence_of_the_evidence_is_held_beside_others() -> None:
    found = await judged(f"{HELD[0]} {REWORDED[1]}", LEAVE, TRAVEL)
    quoted, reworded = found.faithful_spans
    assert (quoted.score, quoted.support) == (1.0, "supported")
    assert reworded.score < 1.0


async def test_what_states_nothing_is_not_held_because_it_is_quoted() -> None:
    found = await judged("Yes.", "Yes. Employees get leave.")
    assert (found.score, found.reason) == (None, "no sentence of the answer states anything")


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Employees get 30 days of leave a year.", "Employees get 31 days of leave a year."),
        ("Employees get 30 days of leave a year.", "Employees get forty days of leave a year."),
        ("A hotel may cost 120 euros a night.", "A hotel may cost 1,200 euros a night."),
        ("Anna Miller became its chief executive in May.", "Peter Smith became its chief executive in May."),
        ("Anna Miller became its chief executive in May.", "Anna Miller became its chief executive in June."),
        ("Sales of the company rose by 12 percent.", "Sales of the company fell by 12 percent."),
        ("Trains are booked in second class.", "Trains are not booked in second class."),
        ("Flights are not paid for.", "Flights are paid for."),
        ("Unused leave expires at the end of March.", "Unused leave does not expire at the end of March."),
        ("Unused leave expires at the end of March.", "Penguins live at the south pole and eat fish."),
    ],
)
async def test_a_changed_sentence_is_held_less(true: str, false: str) -> None:
    kept = await judged(true, LEAVE, TRAVEL, SALES)
    changed = await judged(false, LEAVE, TRAVEL, SALES)
    assert kept.score is not None
    assert changed.score is not None
    assert changed.score < kept.score - 0.1
    assert kept.hallucinated_spans == ()


async def test_a_number_that_no_evidence_has_is_a_veto() -> None:
    found = await judged(f"{HELD[0]} Employees get 31 days of leave a year.", LEAVE, TRAVEL)
    [wrong] = found.hallucinated_spans
    assert wrong.support == "contradicted"
    assert wrong.score >= 1 - VETO
    assert wrong.sources[0].score > 0.5
    invented = await judged("Penguins weigh 40 kilos and eat fish.", LEAVE)
    assert invented.hallucinated_spans[0].support in ("unsupported", "contradicted")
    assert invented.hallucinated_spans[0].sources == ()


@pytest.mark.parametrize("alone", [True, False])
async def test_what_shares_no_word_with_the_evidence_is_not_held(alone: bool) -> None:
    invented = "The choir sings old carols."
    answer = invented if alone else f"{REWORDED[0]} {invented} {REWORDED[2]}"
    found = await judged(answer, LEAVE)
    [span] = found.hallucinated_spans
    assert (span.text, span.support, span.sources) == (invented, "unsupported", ())


async def test_the_number_of_a_title_counts() -> None:
    hit = sample_hit("Employees get leave.", source_id="a", title="Leave in 2024")
    for year, vetoed in (("2024", False), ("2025", True)):
        found = await local().ground(f"Employees get leave in {year}.", [hit])
        assert found.score is not None
        assert (found.score <= VETO) == vetoed or not vetoed


async def test_every_sentence_is_judged_by_itself() -> None:
    answer = f"{HELD[0]} Penguins live at the south pole and eat fish.\n\n- {HELD[1]}"
    found = await judged(answer, LEAVE, TRAVEL)
    assert [span.text for span in found.faithful_spans] == [HELD[0], HELD[1]]
    assert [span.text for span in found.hallucinated_spans] == [
        "Penguins live at the south pole and eat fish."
    ]
    assert found.score is not None
    spans = [*found.faithful_spans, *found.hallucinated_spans]
    parts = [(support(found, span.text), len(span.text)) for span in spans]
    assert found.score == pytest.approx(sum(a * b for a, b in parts) / sum(b for _, b in parts))


async def test_evidence_is_read_to_the_end_of_its_last_chunk() -> None:
    filler = [f"{FILLER * 40}Mill {number}." for number in range(6)]
    found = await judged(REWORDED[0], *filler[:-1], f"{filler[-1]} {LEAVE}")
    [span] = found.faithful_spans
    assert span.sources[0].chunk_id == sample_hits([*filler[:-1], f"{filler[-1]} {LEAVE}"])[-1].chunk.chunk_id


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        (f"{REWORDED[0]} {REWORDED[1]}", f"{REWORDED[0][:-1]} [1]. {REWORDED[1][:-1]} [2, 3]."),
        (f"{REWORDED[0]} {REWORDED[1]}", f"{REWORDED[0]} [1] {REWORDED[1]} [[2]][7]"),
        ("Employees get 31 days of leave a year.", "Employees [31] get 31 [4] days of leave a year [31]."),
    ],
)
async def test_markers_do_not_change_what_is_said(plain: str, marked: str) -> None:
    one, other = await judged(plain, LEAVE, TRAVEL), await judged(marked, LEAVE, TRAVEL)
    assert one.token_labels == other.token_labels
    for kind in ("faithful_spans", "hallucinated_spans"):
        there, here = getattr(one, kind), getattr(other, kind)
        assert [span.score for span in there] == pytest.approx([span.score for span in here], abs=1e-4)
        assert [span.support for span in there] == [span.support for span in here]


async def test_headings_and_code_are_passed_over() -> None:
    code = "```python\nwhales = sing(42)\n```"
    found = await judged(f"# Whales sing 42 songs\n\n{HELD[0]}\n\n{code}\n", LEAVE)
    assert [span.text for span in found.faithful_spans] == [HELD[0]]
    assert found.hallucinated_spans == ()


@pytest.mark.parametrize(
    ("answer", "texts", "reason"),
    [
        ("", (LEAVE,), "the answer is empty"),
        (" \n", (LEAVE,), "the answer is empty"),
        (HELD[0], (), "there is no evidence"),
        (HELD[0], ("", " \n"), "there is no evidence"),
        (HELD[0], ("\u200b\u200b",), "there is no evidence"),
        ("Yes.", (LEAVE,), "no sentence of the answer states anything"),
        ("[1] !? 👍", (LEAVE,), "no sentence of the answer states anything"),
        ("\u200b", (LEAVE,), "no sentence of the answer states anything"),
        ("# Leave\n", (LEAVE,), "no sentence of the answer states anything"),
    ],
)
async def test_what_cannot_be_checked_has_no_score(answer: str, texts: Sequence[str], reason: str) -> None:
    found = await judged(answer, *texts)
    assert (found.score, found.reason, found.grounder) == (None, reason, "local")
    assert (found.faithful_spans, found.hallucinated_spans, found.token_labels) == ((), (), ())


GERMAN = "Die Angestellten erhalten jedes Jahr dreißig Tage Urlaub von ihrem Arbeitgeber."


async def test_another_language_is_judged_by_words_and_the_result_says_so() -> None:
    found = await judged(GERMAN, f"{GERMAN} Der Urlaub muss genommen werden.")
    assert (found.grounder, found.score) == ("lexical", 1.0)
    foreign = await judged(GERMAN, LEAVE, TRAVEL)
    assert (foreign.grounder, foreign.score) == ("lexical", None)
    for answer, text in ((GERMAN, LEAVE), (LEAVE, GERMAN), ("图书馆九点开门。", LEAVE), (LEAVE, LEAVE)):
        found = await judged(answer, text)
        assert found.grounder == local().judging(answer, sample_hits([text]))


async def test_chunks_with_equal_text_are_both_sources() -> None:
    hits = [sample_hit(SALES, source_id=name) for name in ("a", "b")]
    found = await local().ground(REWORDED[3], hits)
    assert_well_formed(found, REWORDED[3])
    one, other = found.faithful_spans[0].sources
    assert {one.chunk_id, other.chunk_id} == {hit.chunk.chunk_id for hit in hits}


async def test_a_chunk_that_comes_twice_is_one_source() -> None:
    hits = [*sample_hits([SALES]), *sample_hits([SALES])]
    found = await local().ground(REWORDED[3], hits)
    assert_well_formed(found, REWORDED[3])
    assert len(found.faithful_spans[0].sources) == 1


@pytest.mark.parametrize("empty", ["", "  ", "\u200b", "\x00\x01", "\u0301"])
async def test_chunks_without_words_change_nothing(empty: str) -> None:
    alone, beside = await judged(REWORDED[0], LEAVE), await judged(REWORDED[0], empty, LEAVE, empty)
    assert alone.score == pytest.approx(beside.score)
    assert len(beside.faithful_spans[0].sources) == 1


async def test_the_chunk_with_the_right_number_is_the_source() -> None:
    texts = [f"Employees get {days} days of leave a year." for days in (20, 25, 30)]
    found = await judged(REWORDED[0], *texts)
    [span] = found.faithful_spans
    assert [source.chunk_id for source in span.sources] == [sample_hits(texts)[-1].chunk.chunk_id]


async def test_lone_surrogates_are_read_past() -> None:
    answer = f"{HELD[0]} Whales\ud800 sing in the ocean."
    found = await judged(answer, LEAVE)
    assert found.faithful_spans[0].text == HELD[0]


async def test_levels_are_an_option() -> None:
    strict = LocalGrounder(local().embedder, levels=Levels(1.0, 1.0))
    lax = LocalGrounder(local().embedder, levels=Levels(0.0, 0.0))
    assert len((await judged(REWORDED[0], LEAVE, grounder=strict)).hallucinated_spans) == 1
    assert len((await judged("Whales sing in the ocean.", LEAVE, grounder=lax)).faithful_spans) == 1


def test_calibration_keeps_the_order() -> None:
    scores = [calibrated(held / 20) for held in range(21)]
    assert scores == sorted(scores)
    assert 0.0 < scores[0] < 0.5 < scores[-1] < 1.0


async def test_an_answer_is_judged_alike_whatever_was_asked_before() -> None:
    fresh = LocalGrounder(local().embedder)
    answer = f"{REWORDED[0]} {REWORDED[1]} Whales sing in the ocean."
    first = await judged(answer, LEAVE, TRAVEL, grounder=fresh)
    for number in range(8):
        others = [f"{FILLER * 30}Mill {number} of {part}." for part in range(8)]
        await judged(REWORDED[3], *others, grounder=fresh)
    assert fresh.vectors.tokens <= TOKENS
    assert await judged(answer, LEAVE, TRAVEL, grounder=fresh) == first
    turned = await judged(answer, TRAVEL, LEAVE, grounder=fresh)
    assert turned.score == pytest.approx(first.score, abs=0.2)


async def test_several_answers_at_once() -> None:
    texts = (LEAVE, TRAVEL, SALES)
    answers = [f"{one} {other}" for one in REWORDED for other in REWORDED if one != other]
    alone = [await judged(answer, *texts) for answer in answers]
    together: dict[str, Grounding] = {}
    fresh = LocalGrounder(local().embedder)

    async def one(answer: str) -> None:
        together[answer] = await judged(answer, *texts, grounder=fresh)

    async with anyio.create_task_group() as group:
        for answer in answers:
            group.start_soon(one, answer)
    assert [together[answer] for answer in answers] == alone


SIGNS = st.sampled_from(
    [
        *("Employees get ", "30 ", "thirty ", "days ", "of leave", " not ", "[1]", "[[2]]", ". ", "\n", "- "),
        *("| a | b |\n", "März", "休暇。", "X200 ", "1,5", "🎉", "```\n", "\r\n", "\u200b"),
    ]
)
TEXTS = st.lists(SIGNS | st.text(max_size=8), max_size=20).map("".join)
ANSWERS = st.lists(SIGNS | st.text(max_size=8) | st.just("\ud800"), max_size=20).map("".join)


@drawn(ANSWERS, st.lists(TEXTS, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
async def test_any_text_can_be_judged(answer: str, texts: list[str]) -> None:
    found = await judged(answer, *texts)
    evidence = evidence_of(*texts)
    whole = answered(answer, evidence)
    check(claims_of(whole, evidence, found), whole, evidence, found)


@drawn(ANSWERS, st.lists(TEXTS, min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
async def test_any_english_text_can_be_judged(said: str, texts: list[str]) -> None:
    """The same with so much English around it that the network is asked."""
    answer = f"{REWORDED[0]} {said} {REWORDED[2]}"
    found = await judged(answer, LEAVE, *texts)
    assert found.score is not None
