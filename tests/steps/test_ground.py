"""`ground`: what is checked, by whom, and what is no grounding."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.steps.querying import after, assert_passed_over, replied, traced

import refdesk
from refdesk.context import Answer, Context
from refdesk.documents import Hit
from refdesk.errors import LLMError
from refdesk.evidence import number_hits
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer as Write
from refdesk.steps import Cite, Ground, Search
from refdesk.support import GroundedSpan, Grounding
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.rerankers import QUESTION, sample_hits

pytestmark = pytest.mark.anyio

TEXT = "Thirty days of leave are granted every year [1]. Whales sing."
ANSWERED = Context(
    question=QUESTION,
    evidence=number_hits(sample_hits()),
    answer=Answer(question=QUESTION, text=TEXT, model="scripted"),
)


def grounding_of(context: Context) -> Grounding:
    assert context.answer is not None
    assert context.grounding is not None
    assert context.answer.grounding == context.grounding
    return context.grounding


async def grounded(**options: Any) -> Context:
    return await after(Ground(**options), ANSWERED)


async def test_the_answer_gets_its_grounding_and_stays_as_it_was() -> None:
    context = await grounded()
    found = grounding_of(context)
    assert [span.text for span in found.hallucinated_spans] == ["Whales sing."]
    assert context.answer is not None
    assert replace(context.answer, grounding=None) == ANSWERED.answer
    assert traced(context).measures == {
        "score": found.score,
        "hallucinated_spans": 1,
        "faithful_spans": 1,
        "claims": 2,
        "supported": 1,
        "partial": 0,
        "unsupported": 1,
        "contradicted": 0,
        "unchecked": 0,
        "misattributed": 0,
        "suggested": 1,
    }


async def test_the_evidence_counts_and_not_what_was_found_beside_it() -> None:
    hits = sample_hits()
    less = await after(Ground(), ANSWERED.evolve(evidence=number_hits(hits[1:])))
    assert len(grounding_of(less).hallucinated_spans) == 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"answer": Answer(question=QUESTION, text="No.", refusal="nothing_found")},
            "the answer is a refusal",
        ),
        ({"answer": Answer(question=QUESTION, text=" ")}, "the answer is empty"),
        ({"evidence": ()}, "there is no evidence"),
    ],
)
async def test_what_cannot_be_checked_has_no_score(changes: dict[str, Any], reason: str) -> None:
    context = await after(Ground(), ANSWERED.evolve(**changes))
    assert (grounding_of(context).score, grounding_of(context).reason) == (None, reason)
    assert traced(context).measures["reason"] == reason


async def test_without_an_answer_there_is_nothing_to_do() -> None:
    context = await after(Ground(), ANSWERED.evolve(answer=None))
    assert (traced(context).outcome, context.grounding) == ("skipped", None)


async def test_in_a_pipeline_offsets_count_what_the_reader_sees(desk: refdesk.Desk) -> None:
    said = "Employees get [[1]] 30 days of leave [[7]] per year [[1]]. [Whales](http://x.example) sing."
    pipeline = Search() | Write() | Cite() | Ground()
    answer = await desk.ask("How many days of leave?", pipeline=pipeline, llm=ScriptedLLM([said]))
    assert answer.grounding is not None
    spans = (*answer.grounding.faithful_spans, *answer.grounding.hallucinated_spans)
    assert [answer.text[span.start : span.end] == span.text for span in spans] == [True, True]


async def test_the_recipes_of_attribution() -> None:
    wrong = "In 2042 days of leave are granted every year."
    text = f"Thirty days of leave are granted every year. {wrong} Whales sing."
    answer = Answer(question=QUESTION, text=text)
    found = grounding_of(await after(Ground(), ANSWERED.evolve(answer=answer)))
    invented = [span.text for span in found.hallucinated_spans if not span.sources]
    contradicted = [
        span.text for span in found.hallucinated_spans if any(s.score > 0.5 for s in span.sources)
    ]
    cited = {source.chunk_id for span in found.faithful_spans for source in span.sources}
    assert invented == ["Whales sing."]
    assert contradicted == [wrong]
    assert sample_hits()[0].chunk.chunk_id in cited


async def test_a_judge_is_the_model_of_the_run_or_of_the_step() -> None:
    reply = json.dumps({"claims": [{"claim": "Whales sing", "verdict": "unsupported"}]})
    context = await replied(Ground(grounder="judge"), reply, context=ANSWERED)
    assert (grounding_of(context).score, grounding_of(context).grounder) == (0.0, "judge")
    assert context.usage.requests == 1
    own = ScriptedLLM([reply])
    await after(Ground(grounder="judge", llm=own), ANSWERED)
    assert len(own.asked) == 1


async def test_a_judge_that_fails_leaves_the_answer_unchecked() -> None:
    context = await replied(Ground(grounder="judge"), LLMError("It is down."), context=ANSWERED)
    assert_passed_over(context, ANSWERED, "It is down.")


async def test_a_judge_whose_reply_cannot_be_read_leaves_it_unchecked_with_a_warning() -> None:
    context = await replied(Ground(grounder="judge"), "All good!", "Really!", context=ANSWERED)
    found = grounding_of(context)
    assert found.score is None
    assert [one.support for one in found.claims] == ["unchecked", "unchecked"]
    assert "could not be read" in found.reason
    assert any("could not be checked against the evidence" in warning for warning in context.warnings)


def test_a_judge_needs_a_model() -> None:
    pipeline = Pipeline((Search(), Write(), Ground(grounder="judge")))
    assert [problem.step for problem in pipeline.problems(llm=False)] == ["ground"]
    assert Pipeline((Search(), Write(), Ground(grounder="judge", llm=len))).problems(llm=False) == ()
    assert Pipeline((Search(), Write(), Ground())).problems(llm=False) == ()


@pytest.mark.parametrize(
    ("options", "reason", "remedy"),
    [
        ({"grounder": "lexcal"}, "There is no grounder 'lexcal'.", "Did you mean 'lexical'?"),
        ({"grounder": "zzz"}, "There is no grounder 'zzz'.", "Known are "),
        ({"llm": "openai:x"}, "Its `llm` is used by the grounder 'judge' alone.", "Set `grounder`"),
    ],
)
def test_mistakes_are_found_before(options: dict[str, Any], reason: str, remedy: str) -> None:
    [(said, what)] = Ground(**options).problems()
    assert said == reason
    assert what.startswith(remedy)


class Strict:
    def __init__(self, score: float = 0.0) -> None:
        self.score = score

    def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        assert answer == TEXT
        assert len(hits) == len(sample_hits())
        return Grounding(score=self.score)


async def own_async(answer: str, hits: Sequence[Hit]) -> float:
    return 0.25


@pytest.mark.parametrize(
    ("grounder", "score"),
    [
        (Strict(0.5), 0.5),
        (Strict, 0.0),
        ((Strict, {"score": 0.75}), 0.75),
        (own_async, 0.25),
        (lambda answer, hits: 1, 1.0),
        (lambda answer, hits: np.float32(0.5), 0.5),
        (lambda answer, hits: Grounding(score=None, reason="not today"), None),
    ],
)
async def test_grounders_of_ones_own(grounder: Any, score: float | None) -> None:
    found = grounding_of(await grounded(grounder=grounder))
    assert (found.score, found.grounder) == (score, "own")


async def test_what_a_grounder_says_is_kept() -> None:
    span = GroundedSpan(text="Whales", start=49, end=55, score=0.9)
    own = Grounding(score=0.1, hallucinated_spans=(span,), token_labels=(0, 1), grounder="mine")
    found = grounding_of(await grounded(grounder=lambda answer, hits: own))
    assert replace(found, claims=()) == own
    assert [(one.text, one.support) for one in found.claims] == [
        ("Thirty days of leave are granted every year [1].", "unchecked"),
        ("Whales sing.", "unsupported"),
    ]


def misplaced(start: int, end: int, text: str) -> Grounding:
    return Grounding(score=0.5, faithful_spans=(GroundedSpan(text=text, start=start, end=end, score=1.0),))


@pytest.mark.parametrize(
    "returned",
    [
        None,
        7,
        -0.1,
        float("nan"),
        "good",
        True,
        {"score": 1.0},
        Grounding(score=3.0),
        Grounding(score=float("nan")),
        misplaced(0, 6, "Whales"),
        misplaced(-12, -6, "Whales"),
        misplaced(49, 155, "Whales sing."),
        misplaced(6, 0, ""),
    ],
)
async def test_nonsense_is_no_grounding(returned: Any) -> None:
    assert_passed_over(
        await grounded(grounder=lambda answer, hits: returned), ANSWERED, "The grounder returned"
    )


async def test_a_grounder_that_fails_is_passed_over_or_ends_the_run() -> None:
    passed = await grounded(grounder=lambda answer, hits: 1 / 0)
    assert_passed_over(passed, ANSWERED, "ZeroDivisionError")
    stopped = await grounded(grounder=lambda answer, hits: 1 / 0, on_error="stop")
    assert stopped.error is not None


async def test_citations_get_their_support_and_what_is_wrong_is_counted(desk: refdesk.Desk) -> None:
    said = (
        "Employees get 30 days of leave per year [[1]]. Employees get 30 days of leave per year [[2]]. "
        "Unused leave expires in March."
    )
    steps = Search() | Write() | Cite() | Ground()
    context = await desk.run(steps, "How many days of leave do employees get?", llm=ScriptedLLM([said]))
    assert context.answer is not None
    assert [one.support for one in context.citations] == ["supported", "unsupported"]
    assert context.answer.citations == context.citations
    measures = traced(context).measures
    assert (measures["supported"], measures["misattributed"], measures["suggested"]) == (3, 1, 2)
    assert context.grounding is not None
    for claim in context.grounding.claims:
        assert claim.source is not None
        document = await desk.document(claim.source.document_id)
        assert document.text[claim.source.start : claim.source.end] == claim.source.quote


async def test_a_grounder_is_asked_again_where_it_said_nothing_of_this_text() -> None:
    asked: list[str] = []

    def own(answer: str, hits: Sequence[Hit]) -> float:
        asked.append(answer)
        return 1.0

    twice = Ground(grounder=own) | Ground(grounder=own, id="again")
    await after(twice, ANSWERED)
    assert asked == [TEXT, TEXT]
    assert ANSWERED.answer is not None
    stale = replace(
        ANSWERED.answer,
        grounding=Grounding(
            score=1.0,
            faithful_spans=(GroundedSpan(text="Leave", start=0, end=5, score=1.0),),
            grounder="lexical",
        ),
    )
    found = grounding_of(await after(Ground(), ANSWERED.evolve(answer=stale)))
    assert found.hallucinated_spans != ()


async def test_a_score_alone_checks_no_statement() -> None:
    found = grounding_of(await grounded(grounder=lambda answer, hits: 0.25))
    assert [one.support for one in found.claims] == ["unchecked", "unchecked"]
    assert all(one.score is None and one.source is None for one in found.claims)


def test_a_classifier_is_named_by_its_folder() -> None:
    assert tuple(Ground(grounder="nli:weights").problems()) == ()
    [(said, remedy)] = Ground(grounder="nli").problems()
    assert ("nli" in said, remedy) == (True, "Write 'nli:FOLDER'.")
