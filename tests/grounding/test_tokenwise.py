"""The grounder that labels the tokens of an answer."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.grounding.tiny import EVIDENCE, OpenTiny

from refdesk.documents import Hit
from refdesk.grounding.levels import Levels
from refdesk.grounding.tokenwise import TokenGrounder, without_markers
from refdesk.support import GroundedSpan, Grounding
from refdesk.testing.rerankers import sample_hits

pytestmark = pytest.mark.anyio

ANSWER = "Thirty days of leave are granted [1]. The hotel costs 70 euros a night [2]. Whales sing."


@pytest.fixture
def grounder(tiny: OpenTiny) -> TokenGrounder:
    return TokenGrounder(tiny(token=True, meanings="en", config={"id2label": None}))


def spans(grounding: Grounding) -> list[GroundedSpan]:
    return sorted((*grounding.faithful_spans, *grounding.hallucinated_spans), key=lambda span: span.start)


async def test_runs_of_labels_become_spans(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    grounding = await grounder.ground(ANSWER, hits)
    assert [(span.text, span.support) for span in spans(grounding)] == [
        ("Thirty days of leave are granted [1].", "supported"),
        ("The hotel costs", "supported"),
        ("70", "unsupported"),
        ("euros a night [2].", "supported"),
        ("Whales sing", "unsupported"),
    ]
    assert [span.text for span in grounding.hallucinated_spans] == ["70", "Whales sing"]
    assert all(ANSWER[span.start : span.end] == span.text for span in spans(grounding))
    assert grounding.grounder == "nli:tiny"


async def test_every_token_has_a_label(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    grounding = await grounder.ground(ANSWER, hits)
    words = without_markers(ANSWER)[0].replace(".", " . ").split()
    wrong = [word for word, label in zip(words, grounding.token_labels, strict=True) if label]
    assert wrong == ["70", "Whales", "sing"]


async def test_the_score_is_the_share_that_is_held(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    grounding = await grounder.ground("Leave 70.", hits)
    assert grounding.score == pytest.approx(6 / 8, abs=0.01)


async def test_sources_are_the_chunks_that_hold_a_span_alone(
    grounder: TokenGrounder, hits: tuple[Hit, ...]
) -> None:
    found = spans(await grounder.ground(ANSWER, hits))
    leave, hotel = (hit.chunk.chunk_id for hit in hits)
    assert [[source.chunk_id for source in span.sources] for span in found] == [
        [leave],
        [hotel],
        [],
        [hotel],
        [],
    ]


async def test_a_span_may_draw_on_two_chunks_together(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    (span,) = spans(await grounder.ground("Thirty days of leave a night.", hits))
    assert span.support == "supported"
    assert [source.chunk_id for source in span.sources] == [hits[0].chunk.chunk_id]
    assert 0.5 < span.sources[0].score < 1.0


async def test_levels_tell_supported_from_partial(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    strict = replace(grounder, levels=Levels(1.0, 0.5))
    grounding = await strict.ground("Thirty days of leave.", hits)
    assert [span.support for span in spans(grounding)] == ["partial"]


@pytest.mark.parametrize("at", [0, 30, 59])
async def test_long_evidence_is_read_to_its_end(grounder: TokenGrounder, at: int) -> None:
    texts = ["The hotel costs 90 euros a night."] * 60
    texts[at] = "Thirty days of leave are granted."
    grounding = await grounder.ground("Thirty days of leave are granted.", sample_hits((" ".join(texts),)))
    assert [span.support for span in spans(grounding)] == ["supported"]
    many = await grounder.ground("Thirty days of leave are granted.", sample_hits(texts))
    assert [span.support for span in spans(many)] == ["supported"]


async def test_a_long_answer_is_read_in_parts(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    answer = " ".join([*(EVIDENCE * 10), "Whales sing.", EVIDENCE[0]])
    assert grounder.classifier.tokenizer.count(answer) > grounder.classifier.tokenizer.max_length
    grounding = await grounder.ground(answer, hits)
    assert [span.text for span in grounding.hallucinated_spans] == ["Whales sing"]
    assert len(grounding.token_labels) == grounder.classifier.tokenizer.count(answer)
    assert sum(grounding.token_labels) == 2


async def test_what_cannot_be_checked_has_no_score(grounder: TokenGrounder, hits: tuple[Hit, ...]) -> None:
    empty = sample_hits(("  ",))
    cases = ((" ", hits), ("Sing.", ()), ("Sing.", empty), ("# Leave", hits), ("[1]", hits))
    for answer, evidence in cases:
        grounding = await grounder.ground(answer, evidence)
        assert (grounding.score, spans(grounding), bool(grounding.reason)) == (None, [], True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.one_of(st.characters(), st.sampled_from(" .!?\n[1]。-#|leave"))))
async def test_offsets_are_exact_in_random_texts(
    grounder: TokenGrounder, hits: tuple[Hit, ...], answer: str
) -> None:
    grounding = await grounder.ground(answer, hits)
    found = spans(grounding)
    for span in found:
        assert answer[span.start : span.end] == span.text
        assert 0.0 <= span.score <= 1.0
    for one, other in pairwise(found):
        assert one.end <= other.start
    assert grounding.score is None or 0.0 <= grounding.score <= 1.0
