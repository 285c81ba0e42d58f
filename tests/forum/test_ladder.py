"""What the preset `forum` does while servers die, hang, refuse, and answer nonsense."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.forum.conftest import QUESTION, Forum

from refdesk.configuration import load_pipeline
from refdesk.context import Answer as Answered
from refdesk.context import Context
from refdesk.embedding.http import connect_tei
from refdesk.embedding.remote import Server
from refdesk.errors import LLMError, RemoteError, StepError, StoreError
from refdesk.events import Done, Event, StepFailed, StepFinished, Token
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Condense, Invite, Remember, Rerank, Search
from refdesk.testing import HashingEmbedder
from refdesk.testing.chat_server import ServerReply, chat_server
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.model_server import Fault, ModelServer

pytestmark = pytest.mark.anyio

WRITTEN = "Use a soft brush and saddle soap [[1]]."
FAULTS = {
    "dead": None,
    "hanging": Fault(hang=True),
    "dripping": Fault(drip=True),
    "broken": Fault(status=500, error="boom"),
    "busy": Fault(status=429, error="later", headers=[("Retry-After", "3600")]),
    "forbidden": Fault(status=403, error="not you"),
    "garbage": Fault(body=b"<html>It works!</html>"),
    "cut off": Fault(cut=True),
    "of other lengths": Fault(change=lambda answer: []),
    "not a number": Fault(change=lambda answer: math.nan),
}
EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


def short(seconds: float = 2.0) -> Pipeline:
    """Return the preset with times that a test can wait for, and that a busy machine keeps."""
    changes: dict[type, dict[str, float]] = {
        Search: {"arm_timeout": seconds},
        Rerank: {"timeout": seconds},
        Condense: {"timeout": seconds},
        Answer: {"model_timeout": seconds},
    }
    steps = load_pipeline("forum").steps
    return Pipeline(tuple(replace(one, **changes.get(type(one), {})) for one in steps))  # type: ignore[arg-type]


def break_(server: ModelServer, fault: Fault | None, *paths: str) -> None:
    if fault is None:
        server.stop()
    server.failing = {path: fault for path in paths if fault is not None}


async def streamed(
    forum: Forum, pipeline: Any = None, **options: Any
) -> tuple[Context, Answered, list[Event]]:
    stream = forum.desk.stream(QUESTION, pipeline=pipeline or short(), **options)
    events = [event async for event in stream]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.context is not None
    text = "".join(event.text for event in events if isinstance(event, Token))
    assert text == done.answer.text
    return done.context, done.answer, events


def finished(events: Sequence[Event], name: str) -> StepFinished:
    return next(one for one in events if isinstance(one, StepFinished) and one.path == (name,))


@EVERY_FAULT
async def test_without_an_embedder_words_are_searched(fault: Fault | None, forum: Forum) -> None:
    break_(forum.embedder, fault, "/embed")
    context, answer, events = await streamed(forum, llm=ScriptedLLM([WRITTEN]))
    assert answer.text == "Use a soft brush and saddle soap [1]."
    assert answer.citations[0].source_id == "welt/1"
    assert answer.zone == "ok"
    assert "search.vector" in answer.degraded
    [said] = [one for one in answer.warnings if one.startswith("search:")]
    assert "Only by words was searched in 'forum', for the vector arm failed: " in said
    assert finished(events, "search").outcome == "done"
    [trace] = [one for one in context.trace if one.path == ("search",)]
    assert trace.warnings == (said,)


async def test_what_was_searched_by_words_alone_may_have_missed_something(forum: Forum) -> None:
    forum.embedder.stop()
    forum.reranker.scoring = lambda question, text: 0.01
    llm = ScriptedLLM([WRITTEN])
    answer = await forum.desk.ask(QUESTION, pipeline=short(), llm=llm)
    assert answer.refusal == "below_threshold"
    assert answer.text.endswith("A part of the search failed, so there may be an answer all the same.")
    answer = await forum.desk.ask("Wie?", pipeline=short(), llm=llm)
    assert answer.refusal == "nothing_found"
    assert answer.text.endswith("there may be an answer all the same.")
    assert not llm.asked


async def test_a_collection_of_another_space_is_searched_by_words(forum: Forum) -> None:
    await forum.desk.ingest_text("A welt is a strip of leather.", source_id="w", collection="other")
    forum.embedder.model = "org/better"
    moved = await connect_tei(Server(url=forum.embedder.url))
    forum.desk.services.built["embedder"] = moved
    await forum.desk.reembed("other")
    llm = ScriptedLLM([WRITTEN])
    answer = await forum.desk.ask(QUESTION, pipeline=short(), collections="all", llm=llm)
    [said] = [one for one in answer.warnings if one.startswith("search:")]
    assert "searched in 'forum', for the vector arm failed: The collection 'forum' was embedded as" in said
    assert answer.citations[0].source_id == "welt/1"
    await forum.desk.reembed("forum")
    answer = await forum.desk.ask(QUESTION, pipeline=short(), collections="all", llm=llm)
    assert answer.degraded == ()


async def test_another_model_behind_the_same_name_is_not_searched_with(forum: Forum) -> None:
    forum.embedder.embedder = HashingEmbedder(query_prefix="another model, trained on quite other data ")
    forum.desk.services.same_model.clear()
    answer = await forum.desk.ask(QUESTION, pipeline=short(), llm=ScriptedLLM([WRITTEN]))
    [said] = [one for one in answer.warnings if one.startswith("search:")]
    assert "is not the one that the collection 'forum' was embedded with" in said
    assert "search.vector" in answer.degraded
    with pytest.raises(Exception, match="is not the one that the collection 'forum' was embedded with"):
        await forum.desk.ingest_text("New post.", source_id="new", collection="forum")
    assert "new" not in {one.source_id for one in await forum.desk.documents(collections="forum")}


class WithoutWords:
    """A reader whose keyword search fails."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    async def keyword_search(self, *_: Any, **__: Any) -> Any:
        raise StoreError("The index of words is damaged.")


class Store:
    """A store whose readers have no words."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def reader(self, scope: Any) -> Any:
        return WithoutWords(await self._store.reader(scope))


async def without_words(forum: Forum) -> None:
    services = forum.desk.services
    services.built["reading"] = Store(await services.store())


async def test_without_an_index_of_words_vectors_are_searched(forum: Forum) -> None:
    await without_words(forum)
    _, answer, _ = await streamed(forum, llm=ScriptedLLM([WRITTEN]))
    assert answer.degraded == ("search.keyword",)
    assert answer.warnings == (
        "search: Only by meaning was searched in 'forum', for the keyword arm failed: "
        "The index of words is damaged.",
    )
    assert answer.citations


async def test_without_both_there_is_an_error(forum: Forum) -> None:
    await without_words(forum)
    forum.embedder.stop()
    context = await forum.desk.run(short(), QUESTION, llm=ScriptedLLM([WRITTEN]))
    assert isinstance(context.error, StoreError)
    assert "Both arms of the search failed" in str(context.error)
    assert "could not be reached" in str(context.error)
    assert "The index of words is damaged" in str(context.error)
    assert context.answer is None


@EVERY_FAULT
async def test_without_a_reranker_the_order_is_that_of_the_search(fault: Fault | None, forum: Forum) -> None:
    break_(forum.reranker, fault, "/rerank")
    context, answer, events = await streamed(forum, llm=ScriptedLLM([WRITTEN]))
    assert answer.zone == "unknown"
    assert answer.degraded == ("rerank",)
    assert answer.citations[0].source_id == "welt/1"
    assert all(hit.rerank_score is None for hit in context.hits)
    assert [one.partition(":")[0] for one in answer.warnings] == ["rerank", "assess"]
    assert "so how far the hits support an answer is unknown" in answer.warnings[1]
    [failed] = [one for one in events if isinstance(one, StepFailed)]
    assert (failed.path, failed.outcome) == (("rerank",), "continued")
    fused = [hit.fused_score or 0.0 for hit in context.hits]
    assert fused == sorted(fused, reverse=True)


MODELS = {
    "500": ServerReply(status=500, error="boom"),
    "429": ServerReply(status=429, error="later", headers=[("Retry-After", "3600")]),
    "401": ServerReply(status=401, error="Incorrect API key"),
    "silent": ServerReply(pieces=[]),
    "hanging": ServerReply(hang=True),
    "thinking": ServerReply(pieces=["<think>Let me see"], hang=True),
    "only thoughts": ServerReply(pieces=["<think>Let me see</think>"]),
    "broken off at once": ServerReply(break_off=True),
}


@pytest.fixture(params=[*MODELS, "dead"])
def model(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a language model that is down in some way."""
    reply = MODELS.get(request.param, ServerReply())
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(chat_server(reply))
        if request.param == "dead":
            stack.close()
        yield f"openai:any@{server.base_url}"


async def test_without_a_language_model_the_sources_are_the_answer(model: str, forum: Forum) -> None:
    context, answer, events = await streamed(forum, short(), llm=model)
    assert answer.refusal == "model_unavailable"
    assert answer.model == "sources"
    assert answer.zone == "ok"
    first, blank, *listed = answer.text.splitlines()
    assert "No answer could be written, since a model that it needs is not available." in first
    assert blank == ""
    assert listed[0] == "- Cleaning a Goodyear welt [1]: <https://forum.example/t/welt/1>"
    assert [one.marker for one in answer.citations] == list(range(1, len(listed) + 1))
    for citation in answer.citations:
        document = await forum.desk.document(citation.document_id)
        assert document.text[citation.start : citation.end] == citation.quote
        assert f"<{citation.url}>" in listed[citation.marker - 1]
    assert answer.degraded == ("answer.model",)
    [said] = answer.warnings
    assert said.startswith("answer: The model failed, so the sources are listed: ")
    assert answer.grounding is None or answer.grounding.score is None
    assert context.citations == answer.citations
    assert finished(events, "answer").measures["refusal"] == "model_unavailable"
    assert (await forum.desk.recheck(answer)).answer.citations == answer.citations


async def test_a_failure_in_the_midst_of_an_answer_ends_the_run(forum: Forum) -> None:
    reply = ServerReply(pieces=["Use a soft ", "brush and saddle "], break_off=True)
    with chat_server(reply) as server:
        events: list[Event] = []
        context = await forum.desk.run(
            short(), QUESTION, llm=f"openai:any@{server.base_url}", on_event=events.append
        )
    assert isinstance(context.error, LLMError)
    assert context.answer is None
    shown = "".join(event.text for event in events if isinstance(event, Token))
    assert shown.startswith("Use a soft")
    assert "available" not in shown


async def test_a_failure_in_the_midst_of_what_nobody_has_seen_is_none(forum: Forum) -> None:
    class Breaking(ScriptedLLM):
        async def stream(self, messages: Any, options: Any = None) -> Any:
            yield "Use a soft brush "
            raise LLMError("cut off")

    forum.reranker.scoring = lambda question, text: 0.9
    steps = (Search(), Rerank(), Answer(on_model_error="sources", self_correct=True))
    _, answer, _ = await streamed(forum, Pipeline(steps), llm=Breaking([""]))
    assert answer.refusal == "model_unavailable"
    assert "soft brush" not in answer.text.partition("\n")[0]


async def test_with_a_dead_model_a_conversation_is_searched_as_it_was_put(forum: Forum) -> None:
    llm = ScriptedLLM([LLMError("down"), LLMError("down")])
    history = (("user", "What is a welt?"), ("assistant", "A seam."))
    context, answer, _ = await streamed(forum, llm=llm, history=history)
    assert answer.degraded == ("condense", "answer.model")
    assert answer.refusal == "model_unavailable"
    assert context.queries == (QUESTION,)


async def test_all_is_down_at_once(forum: Forum) -> None:
    forum.embedder.stop()
    forum.reranker.stop()
    _, answer, _ = await streamed(forum, llm=ScriptedLLM([LLMError("down")]))
    assert answer.refusal == "model_unavailable"
    assert answer.zone == "unknown"
    assert answer.degraded[:3] == ("search.vector", "rerank", "answer.model")
    assert answer.citations[0].source_id == "welt/1"


async def test_without_models_and_embedder_the_sources_are_listed_too(forum: Forum) -> None:
    forum.embedder.stop()
    answer = await forum.desk.ask(QUESTION, pipeline=short())
    assert answer.refusal == "model_unavailable"
    assert answer.citations
    assert "search.vector" in answer.degraded


async def test_what_is_better_again_is_used_again(forum: Forum) -> None:
    forum.reranker.stop()
    forum.embedder.stop()
    llm = ScriptedLLM([WRITTEN])
    assert (await forum.desk.ask(QUESTION, pipeline=short(), llm=llm)).degraded
    forum.reranker.start()
    forum.embedder.start()
    answer = await forum.desk.ask(QUESTION, pipeline=short(), llm=llm)
    assert answer.degraded == ()
    assert answer.zone == "ok"


async def test_results_of_a_degraded_search_are_not_remembered(forum: Forum) -> None:
    steps = [replace(one, retrieval=True) if isinstance(one, Remember) else one for one in short().steps]
    llm = ScriptedLLM([WRITTEN])
    pipeline = Pipeline(tuple(steps))
    whole = await forum.desk.run(pipeline, QUESTION, llm=llm, conversation="c")
    assert whole.trace[-1].measures["kept_results"] is True
    forum.embedder.stop()
    second = await forum.desk.run(pipeline, QUESTION, llm=llm, conversation="c")
    assert second.trace[-1].measures["kept_results"] is False
    assert second.trace[-1].measures["kept_answer"] is True


async def test_below_such_an_answer_stands_what_is_meant_for_it(forum: Forum) -> None:
    *before, remember = short().steps
    invite = Invite(text="Ask in the forum.", unavailable="Please try again later.")
    _, answer, _ = await streamed(
        forum, Pipeline((*before, invite, remember)), llm=ScriptedLLM([LLMError("down")])
    )
    assert answer.invitation == "Please try again later."


@pytest.mark.parametrize("preset", ["default", "simple"])
async def test_other_presets_stop(preset: str, forum: Forum) -> None:
    with pytest.raises(LLMError):
        await forum.desk.ask(QUESTION, pipeline=preset, llm=ScriptedLLM([LLMError("down")]))
    forum.embedder.stop()
    with pytest.raises(RemoteError):
        await forum.desk.ask(QUESTION, pipeline=preset, llm=ScriptedLLM([WRITTEN]))


async def test_a_reranker_of_ones_own_may_fail_in_any_way(forum: Forum) -> None:
    def reranker(question: str, hits: Any) -> Any:
        raise ZeroDivisionError("oh")

    steps = tuple(
        replace(one, reranker=reranker) if isinstance(one, Rerank) else one for one in short().steps
    )
    _, answer, events = await streamed(forum, Pipeline(steps), llm=ScriptedLLM([WRITTEN]))
    assert answer.degraded == ("rerank",)
    [failed] = [one for one in events if isinstance(one, StepFailed)]
    assert isinstance(failed.error, StepError)
