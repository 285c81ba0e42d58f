"""The grounder that asks a model."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import LLMError
from refdesk.grounding.judged import JudgedGrounder, located
from refdesk.support import Grounding
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.rerankers import sample_hits

pytestmark = pytest.mark.anyio

ANSWER = "Thirty days of leave are granted [1]. It rains often, says the *handbook*. Nobody works on Fridays."


async def judged(*claims: Any, answer: str = ANSWER) -> Grounding:
    llm = ScriptedLLM([json.dumps({"claims": claims})])
    found = await JudgedGrounder(llm).ground(answer, sample_hits())
    for span in (*found.faithful_spans, *found.hallucinated_spans):
        assert answer[span.start : span.end] == span.text
    assert found.grounder == "judge"
    return found


def claim(text: str, verdict: Any = "supported", sources: Any = (1,)) -> dict[str, Any]:
    return {"claim": text, "verdict": verdict, "sources": sources}


async def test_claims_become_spans_and_a_score() -> None:
    found = await judged(
        claim("Nobody works on Fridays.", "contradicted", [2]),
        claim("Thirty days of leave are granted", "supported", [1, "2", 99, 0]),
        claim("It rains often", "unsupported", []),
    )
    assert found.score == pytest.approx(1 / 3)
    assert [span.text for span in found.faithful_spans] == ["Thirty days of leave are granted"]
    assert [span.text for span in found.hallucinated_spans] == ["It rains often", "Nobody works on Fridays"]
    hits = sample_hits()
    assert [source.chunk_id for source in found.faithful_spans[0].sources] == [
        hits[0].chunk.chunk_id,
        hits[1].chunk.chunk_id,
    ]
    assert found.hallucinated_spans[0].sources == ()


async def test_the_model_sees_evidence_as_data_and_the_answer() -> None:
    llm = ScriptedLLM([json.dumps({"claims": [claim("It rains often")]})])
    await JudgedGrounder(llm).ground(ANSWER, sample_hits())
    system, user = llm.asked[0]
    assert "data" in system.text
    assert ANSWER.replace(" [1]", "") in user.text
    assert sample_hits()[0].chunk.text in user.text


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("thirty DAYS  of leave are granted", "Thirty days of leave are granted"),
        ("Thirty days of leave are granted.", "Thirty days of leave are granted"),
        ("It rains often, says the handbook", "It rains often, says the *handbook"),
        ("granted. It rains often", "granted [1]. It rains often"),
        ("On Fridays nobody works", "Nobody works on Fridays."),
    ],
)
def test_a_claim_is_found_though_it_is_written_otherwise(text: str, stands: str) -> None:
    place = located(text, ANSWER)
    assert place is not None
    assert place.of(ANSWER) == stands


@pytest.mark.parametrize("text", ["", "!", "Whales sing in the deep sea", "irty days"])
def test_a_claim_that_is_nowhere_is_found_nowhere(text: str) -> None:
    assert located(text, ANSWER) is None


@pytest.mark.parametrize(("verdict", "score"), [("supported", 1.0), ("unsupported", 0.5)])
async def test_a_claim_that_stands_nowhere_can_lower_the_score_alone(verdict: str, score: float) -> None:
    found = await judged(claim("It rains often"), claim("Whales sing in the deep sea", verdict))
    assert (found.score, found.hallucinated_spans) == (score, ())
    assert [span.text for span in found.faithful_spans] == ["It rains often"]


async def test_an_answer_is_not_held_by_claims_that_it_does_not_make() -> None:
    found = await judged(claim("Whales sing in the deep sea"))
    assert (found.score, found.reason) == (None, "none of the model's claims stands in the answer")
    against = await judged(claim("Whales sing in the deep sea", "contradicted"))
    assert (against.score, against.hallucinated_spans) == (0.0, ())


async def test_claims_that_overlap_are_one_and_the_worst_verdict_counts() -> None:
    found = await judged(
        claim("Thirty days of leave", "supported", [1]),
        claim("days of leave are granted", "contradicted", [2]),
        claim("leave are", "unsupported", [1, 3]),
    )
    assert found.faithful_spans == ()
    [span] = found.hallucinated_spans
    assert (span.text, span.support) == ("Thirty days of leave are granted", "contradicted")
    assert len(span.sources) == 3


async def test_a_place_that_was_judged_both_ways_is_not_held() -> None:
    found = await judged(claim("It rains often"), claim("it rains often", "contradicted"))
    assert (found.score, found.faithful_spans) == (0.5, ())
    assert len(found.hallucinated_spans) == 1


@pytest.mark.parametrize("verdict", ["unknown", "maybe", None, 3, "", ["supported"], True])
async def test_a_claim_without_a_verdict_is_not_checked(verdict: Any) -> None:
    found = await judged(claim("It rains often", verdict), claim("Nobody works on Fridays"))
    assert found.score == 1.0
    assert [span.text for span in found.faithful_spans] == ["Nobody works on Fridays"]
    alone = await judged(claim("It rains often", verdict))
    assert (alone.score, alone.reason) == (None, "the model judged none of its claims")


@pytest.mark.parametrize("verdict", ["Supported", "SUPPORTED.", " supported "])
async def test_verdicts_may_be_written_otherwise(verdict: str) -> None:
    assert (await judged(claim("It rains often", verdict))).score == 1.0


@pytest.mark.parametrize(
    ("sources", "count"),
    [(None, 0), ("[1]", 1), (2, 1), ("1, 2", 2), ([[1], "[2]", 2], 2), ([-1], 0), ("x", 0)],
)
async def test_sources_may_be_written_otherwise(sources: Any, count: int) -> None:
    found = await judged(claim("It rains often", "supported", sources))
    assert len(found.faithful_spans[0].sources) == count


async def test_no_claims_are_no_good_score() -> None:
    found = await judged()
    assert (found.score, found.reason) == (None, "the model named no claims")


@pytest.mark.parametrize(
    "reply", ["All is well.", '{"score": 1.0}', '{"claims": "none"}', "[]", '{"claims": [1]}']
)
async def test_a_reply_without_claims_checks_nothing(reply: str) -> None:
    llm = ScriptedLLM([reply, reply])
    found = await JudgedGrounder(llm).ground(ANSWER, sample_hits())
    assert (found.score, found.faithful_spans, found.hallucinated_spans) == (None, (), ())
    assert found.reason.startswith("the model's judgement could not be read: ")
    assert len(llm.asked) == 2


async def test_a_model_that_is_down_is_an_error() -> None:
    with pytest.raises(LLMError):
        await JudgedGrounder(ScriptedLLM([LLMError("It is down.")])).ground(ANSWER, sample_hits())


async def test_nothing_to_check_asks_no_model() -> None:
    llm = ScriptedLLM([])
    assert (await JudgedGrounder(llm).ground(" ", sample_hits())).reason == "the answer is empty"
    assert (await JudgedGrounder(llm).ground(ANSWER, ())).reason == "there is no evidence"
    assert not llm.asked


@given(st.text(max_size=40), st.text(max_size=80))
def test_a_place_is_within_the_answer(text: str, answer: str) -> None:
    place = located(text, answer)
    assert place is None or 0 <= place.start < place.end <= len(answer)
