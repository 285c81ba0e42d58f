"""`desk.ground`: an answer checked after its run."""

from dataclasses import replace

import pytest

import refdesk
from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LLMError
from refdesk.evidence import number_hits
from refdesk.steps import Loop
from refdesk.testing.llm import Calls, ScriptedLLM
from refdesk.testing.rerankers import sample_hits

pytestmark = pytest.mark.anyio
QUESTION = "How many days of leave?"
TEXT = "Employees get 30 days of leave per year [[1]]. They get a golden car [[1]]."


async def answered(desk: refdesk.Desk) -> Context:
    model = ScriptedLLM([Calls(("search", {"query": "days of leave"})), Calls(("answer", {"text": TEXT}))])
    return await desk.run(Loop(controller_llm=model), QUESTION)


async def test_sources_say_which_search_found_them(desk: refdesk.Desk) -> None:
    context = await desk.ground(await answered(desk), grounder="lexical")
    grounding = context.grounding
    assert grounding is not None
    assert context.answer is not None
    assert context.answer.grounding == grounding
    [held], [made_up] = grounding.faithful_spans, grounding.hallucinated_spans
    assert made_up.text.startswith("They get a golden car")
    sources = [*held.sources, *made_up.sources]
    assert {(one.search_query, one.search_iteration) for one in sources} == {("days of leave", 1)}


async def test_what_no_search_found_has_no_query(desk: refdesk.Desk) -> None:
    context = await answered(desk)
    history = tuple(replace(use, returned_chunk_ids=()) for use in context.tool_history)
    context = await desk.ground(context.evolve(tool_history=history), grounder="lexical")
    assert context.grounding is not None
    [held] = context.grounding.faithful_spans
    assert {(one.search_query, one.search_iteration) for one in held.sources} == {("", 0)}


async def test_there_is_nothing_to_do_without_answer_evidence_or_success(desk: refdesk.Desk) -> None:
    context = await answered(desk)
    for other in (
        context.evolve(error=LLMError("The model is down.")),
        context.evolve(answer=None),
        context.evolve(evidence=()),
    ):
        assert await desk.ground(other) is other


async def test_a_grounder_that_fails_leaves_no_grounding_and_a_warning(desk: refdesk.Desk) -> None:
    def down(answer: str, hits: tuple[Hit, ...]) -> float:
        raise ConnectionError("refused")

    context = await desk.ground(await answered(desk), grounder=down)
    assert (context.error, context.grounding) == (None, None)
    assert "refused" in context.warnings[0]


async def test_any_answer_can_be_grounded_by_any_grounder(desk: refdesk.Desk) -> None:
    evidence = number_hits(sample_hits())
    context = Context(
        question=QUESTION, answer=refdesk.Answer(question=QUESTION, text="30 days."), evidence=evidence
    )
    judge = ScriptedLLM(['{"claims": [{"claim": "30 days", "verdict": "supported", "sources": [1]}]}'])
    found = await desk.ground(context, grounder="judge", llm=judge)
    assert found.grounding is not None
    assert found.grounding.score == 1.0
    found = await desk.ground(context, grounder=lambda answer, hits: 0.25)
    assert found.grounding is not None
    assert found.grounding.score == 0.25
