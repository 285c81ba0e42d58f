"""The preset `forum` where everything works, with and without a language model."""

from dataclasses import replace
from typing import Any

import pytest
from tests.forum.conftest import QUESTION, Forum, fill

import refdesk
from refdesk.configuration import load_pipeline
from refdesk.context import Citation, Turn
from refdesk.events import Done, Invitation, Token
from refdesk.pipeline import Pipeline, Step
from refdesk.steps import Answer, Invite
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

WRITTEN = "Use a soft brush and saddle soap [[1]]."


def steps() -> tuple[Step, ...]:
    return load_pipeline("forum").steps


def inviting(**texts: Any) -> Pipeline:
    """Return the preset with an invitation, before what is remembered."""
    *before, remember = steps()
    return Pipeline((*before, Invite(**texts), remember))


async def test_a_question_goes_through_all_stages(forum: Forum) -> None:
    llm = ScriptedLLM([WRITTEN])
    context = await forum.desk.run(None, QUESTION, llm=llm, conversation="c")
    assert context.error is None
    assert context.degraded == ()
    assert context.zone == "ok"
    assert [one.path[0] for one in context.trace] == [
        "screen",
        "recall",
        "condense",
        "screen_condensed",
        "search",
        "rerank",
        "dedupe",
        "assess",
        "answer",
        "cite",
        "ground",
        "remember",
    ]
    assert [hit.source_id for hit in context.hits][:1] == ["welt/1"]
    topics = [str(hit.metadata["topic_id"]) for hit in context.hits]
    assert sorted(topics) == sorted(set(topics))
    assert {one.explanation.fusion for one in context.results} <= {"rrf", None}
    [asked] = forum.reranker.asked("/rerank")
    assert any(text.startswith("Cleaning a Goodyear welt\n") for text in asked.body["texts"])
    assert context.answer is not None
    assert context.answer.text == "Use a soft brush and saddle soap [1]."
    [citation] = context.answer.citations
    assert citation.url == "https://forum.example/t/welt/1"


async def test_the_model_sees_categories_and_tags_as_data(forum: Forum) -> None:
    llm = ScriptedLLM([WRITTEN])
    await forum.desk.ask(QUESTION, llm=llm)
    prompt = llm.asked[0][-1].text
    assert (
        "\n> Title: Cleaning a Goodyear welt\n> From: welt/1\n> category: Care\n> tags: shoes, welt\n"
        in prompt
    )
    await forum.desk.ask(QUESTION, llm=llm, pipeline=_without(Answer, Answer(evidence=6)))
    assert "category" not in llm.asked[1][-1].text


def _without(kind: type[Step], other: Step) -> Pipeline:
    return Pipeline(tuple(other if isinstance(one, kind) else one for one in steps()))


async def test_without_a_language_model_sentences_are_quoted_and_cited(forum: Forum) -> None:
    answer = await forum.desk.ask(QUESTION)
    assert answer.model == "extractive"
    assert answer.refusal is None
    assert "soft brush" in answer.text
    assert answer.citations
    assert all(one.url and one.url.startswith("https://forum.example/t/") for one in answer.citations)
    assert answer.warnings == ()


async def test_a_follow_up_without_a_language_model_is_searched_as_it_is(forum: Forum) -> None:
    said = (Turn("user", "Which shoes are good?"), Turn("assistant", "Many."))
    answer = await forum.desk.ask(QUESTION, history=said)
    assert answer.refusal is None
    assert answer.warnings == (
        "condense: No language model is named, so the latest message is searched as it is.",
    )
    assert answer.degraded == ()


async def test_with_one_a_follow_up_is_condensed(forum: Forum) -> None:
    llm = ScriptedLLM(["cleaning a Goodyear welt", WRITTEN])
    said = (Turn("user", "What is a Goodyear welt?"), Turn("assistant", "A seam."))
    context = await forum.desk.run(None, "and how do I clean it?", llm=llm, history=said)
    assert context.rewritten_query == "cleaning a Goodyear welt"
    assert context.hits[0].source_id == "welt/1"


async def test_off_topic_is_refused_and_no_model_is_asked(forum: Forum) -> None:
    llm = ScriptedLLM([WRITTEN])
    answer = await forum.desk.ask("Who won yesterday evening?", llm=llm)
    assert answer.refusal == "below_threshold"
    assert not llm.asked


async def test_what_is_hardly_on_topic_is_weak(forum: Forum) -> None:
    forum.reranker.scoring = lambda question, text: 0.3
    llm = ScriptedLLM([WRITTEN])
    answer = await forum.desk.ask(QUESTION, llm=llm)
    assert answer.zone == "weak"
    assert "say that it is partial" in llm.asked[0][-1].text


async def test_below_an_answer_stands_what_the_house_says(forum: Forum) -> None:
    pipeline = inviting(text="More in {metadata.category}: [ask](https://forum.example/new).")
    events = [one async for one in forum.desk.stream(QUESTION, pipeline=pipeline, llm=ScriptedLLM([WRITTEN]))]
    done = events[-1]
    assert isinstance(done, Done)
    answer = done.answer
    assert answer.invitation == "More in Care: [ask](https://forum.example/new)."
    assert "".join(one.text for one in events if isinstance(one, Token)) == answer.text
    assert [one.text for one in events if isinstance(one, Invitation)] == [answer.invitation]
    assert str(answer) == f"{answer.text}\n\n{answer.invitation}"
    assert answer.grounding is not None
    assert all("ask" not in claim.text for claim in answer.grounding.claims)
    assert all(isinstance(one, Citation) and one.source_id.startswith("welt") for one in answer.citations)


@pytest.mark.parametrize(
    ("question", "score", "said"),
    [
        (QUESTION, 0.9, "text"),
        (QUESTION, 0.3, "weak"),
        (QUESTION, 0.01, "refused"),
        ("x" * 9000, 0.9, ""),
    ],
)
async def test_it_depends_on_how_the_answer_came_out(
    question: str, score: float, said: str, forum: Forum
) -> None:
    forum.reranker.scoring = lambda question, text: score
    pipeline = inviting(text="text", weak="weak", refused="refused", unavailable="unavailable")
    answer = await forum.desk.ask(question, pipeline=pipeline, llm=ScriptedLLM([WRITTEN]))
    assert answer.invitation == said


async def test_what_was_invited_is_not_remembered(forum: Forum) -> None:
    llm = ScriptedLLM([WRITTEN, "soft brush for a welt", WRITTEN])
    pipeline = inviting(text="Ask in the forum.")
    first = await forum.desk.ask(QUESTION, pipeline=pipeline, llm=llm, conversation="c")
    assert first.invitation
    assert first.warnings == ()
    await forum.desk.ask("And with which brush?", pipeline=pipeline, llm=llm, conversation="c")
    assert len(llm.asked) == 3
    assert all("Ask in the forum" not in message.text for asked in llm.asked for message in asked)


async def test_posts_without_topics_are_deduplicated_by_document(forum: Forum) -> None:
    for number in range(3):
        await forum.desk.ingest_text(
            "A welt is a strip of leather. " * 80, source_id=f"long-{number}", collection="loose"
        )
    context = await forum.desk.run(None, "What is a welt?", collections=("loose",))
    assert len({hit.chunk.document_id for hit in context.hits}) == len(context.hits) == 3


async def test_two_forums_are_asked_together(forum: Forum) -> None:
    await forum.desk.ingest_text("A welt is a strip of leather.", source_id="w", collection="other")
    context = await forum.desk.run(None, QUESTION, collections="all")
    assert {hit.chunk.collection for hit in context.hits} == {"forum", "other"}
    assert context.degraded == ()


async def test_it_works_with_local_parts_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("local")
    async with refdesk.aopen(
        folder, embedder=HashingEmbedder(), collection="forum", pipeline="forum"
    ) as desk:
        await fill(desk)
        answer = await desk.ask(QUESTION)
    assert replace(answer, timings={}).citations
    assert answer.zone != "none"
