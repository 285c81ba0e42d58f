"""The verbs of a desk on real files and the real store."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import refdesk
from refdesk.context import Answer
from refdesk.documents import Hit
from refdesk.errors import EmbeddingMismatch, InputError, ModelError, NotFound, RemoteError, SettingsError
from refdesk.events import Done, Token
from refdesk.llm import DEFAULTS, Message, Options
from refdesk.sources.text import Text
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

STEPS = ("recall", "condense", "search", "rerank", "answer", "cite", "ground", "remember")
"""Of the preset `default`."""


async def checked(desk: refdesk.Desk, answer: Answer) -> Answer:
    """Every quote stands in its document where the citation says."""
    for citation in answer.citations:
        document = await desk.document(citation.document_id)
        assert document.text[citation.start : citation.end] == citation.quote
    return answer


async def test_source_ids_are_relative_to_the_folder_of_the_library(desk: refdesk.Desk) -> None:
    names = [one.source_id for one in await desk.documents()]
    assert names == ["handbook/kitchen.txt", "handbook/leave.md", "handbook/travel.md"]


async def test_a_cited_answer(desk: refdesk.Desk) -> None:
    answer = await checked(desk, await desk.ask("How many days of leave do employees get per year?"))
    assert "30 days of leave" in answer.text
    assert answer.citations[0].source_id == "handbook/leave.md"
    assert answer.citations[0].url is None, "A file of this machine is no link for a reader."
    assert set(answer.timings) == {*STEPS, "total"}


async def test_tokens_joined_are_the_answer(desk: refdesk.Desk) -> None:
    events = [event async for event in desk.stream("When does the kitchen close?")]
    assert isinstance(events[-1], Done)
    assert "".join(event.text for event in events if isinstance(event, Token)) == events[-1].answer.text


async def test_a_function_writes_the_answer(desk: refdesk.Desk) -> None:
    asked: list[str] = []

    def write(prompt: str) -> str:
        asked.append(prompt)
        return "Leave is 30 days [[1]], see [this](https://evil.example/x)."

    answer = await checked(desk, await desk.ask("How many days of leave?", llm=write))
    assert answer.text == "Leave is 30 days [1], see this."
    assert "Employees get 30 days" in asked[0]
    assert [one.marker for one in answer.citations] == [1]


async def test_nothing_found_calls_no_model(tmp_path: Path) -> None:
    def write(prompt: str) -> str:
        raise AssertionError("the model was asked")

    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.create_collection("default")
        answer = await desk.ask("Anything?", llm=write)
    assert answer.refusal == "nothing_found"
    assert answer.citations == ()


async def test_filters_and_modes(desk: refdesk.Desk) -> None:
    for mode in ("vector", "keyword", "hybrid"):
        results = await desk.search("leave", mode=mode, filters={"source_id": ["handbook/travel.md"]})
        assert {hit.source_id for hit in results.hits} <= {"handbook/travel.md"}
    results = await desk.search("leave", top_k=1, rerank=True)
    assert [hit.source_id for hit in results.hits] == ["handbook/leave.md"]
    assert results.hits[0].rerank_score is not None


async def test_neighbours_come_in_reading_order(desk: refdesk.Desk) -> None:
    text = "\n\n".join(f"Paragraph {number} says " + "some words " * 60 for number in range(5))
    await desk.ingest_text(text.replace("Paragraph 2", "The zebra"), source_id="long")
    [hit] = (await desk.search("zebra", mode="keyword", top_k=1)).hits
    widened = (await desk.search("zebra", mode="keyword", top_k=1, neighbours=1)).hits
    assert [one.chunk.position - hit.chunk.position for one in widened] == [-1, 0, 1]
    assert [one.rank for one in widened] == [0, 1, 0]


async def test_markdown_texts_keep_their_headings(desk: refdesk.Desk) -> None:
    await desk.ingest_text("# One\n\nWords.", source_id="m", media_type="text/markdown", language="de")
    document = await desk.document("m")
    assert [heading.title for heading in document.headings] == ["One"]
    assert document.language == "de"


async def test_leaving_a_stream_closes_the_model(desk: refdesk.Desk) -> None:
    closed: list[bool] = []

    class Endless:
        name = "endless"

        async def stream(
            self, messages: tuple[Message, ...], options: Options = DEFAULTS
        ) -> AsyncGenerator[str, None]:
            try:
                while True:
                    yield "Employees get leave [[1]]. "
                    await anyio.lowlevel.checkpoint()
            finally:
                closed.append(True)

    async with aclosing(desk.stream("How many days of leave do employees get?", llm=Endless())) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert closed == [True]


async def test_unknown_collection_is_an_error_not_everything(desk: refdesk.Desk) -> None:
    with pytest.raises(NotFound, match="'defalt'"):
        await desk.search("leave", collections="defalt")


async def test_documents_by_source_id_or_document_id(desk: refdesk.Desk) -> None:
    by_source = await desk.document("handbook/leave.md")
    assert await desk.document(by_source.document_id) == by_source
    with pytest.raises(NotFound):
        await desk.document("handbook/nothing.md")


async def test_deleted_documents_are_gone_everywhere(desk: refdesk.Desk) -> None:
    receipt = await desk.delete("handbook/leave.md")
    assert (receipt.documents, receipt.source_ids) == (1, ("handbook/leave.md",))
    assert all(hit.source_id != "handbook/leave.md" for hit in (await desk.search("leave")).hits)
    with pytest.raises(NotFound):
        await desk.delete("handbook/leave.md")


async def test_reading_does_not_make_a_library(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "typo", embedder=HashingEmbedder()) as desk:
        for call in (desk.collections, desk.documents, lambda: desk.ask("x?"), lambda: desk.delete("x")):
            with pytest.raises(NotFound):
                await call()
    assert not (tmp_path / "typo").exists()


async def test_another_embedder_is_refused_with_the_remedy(desk: refdesk.Desk, tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(dimension=32)) as other:
        new = Text("New.", source_id="new")
        for call in (lambda: other.search("leave"), lambda: other.ask("leave?"), lambda: other.ingest(new)):
            with pytest.raises(EmbeddingMismatch, match="default"):
                await call()


class Plain:
    """An embedder without token vectors."""

    def __init__(self) -> None:
        inner = HashingEmbedder()
        self.fingerprint, self.max_tokens = inner.fingerprint, inner.max_tokens
        self.count_tokens = inner.count_tokens
        self.embed_documents, self.embed_queries = inner.embed_documents, inner.embed_queries


async def test_an_embedder_without_token_vectors_serves_without_maxsim(
    tmp_path: Path, handbook: Path
) -> None:
    async with refdesk.aopen(tmp_path / "plain", embedder=Plain()) as desk:
        await desk.ingest(handbook)
        answer = await checked(desk, await desk.ask("How many days of leave do employees get per year?"))
    assert "30 days" in answer.text
    async with refdesk.aopen(tmp_path / "plain", embedder=Plain(), reranker="maxsim") as desk:
        with pytest.raises(SettingsError, match="maxsim"):
            await desk.ask("How many days of leave?")


@pytest.mark.parametrize("filters", ["language=en", ["language"], 5])
async def test_filters_of_another_kind_are_refused(desk: refdesk.Desk, filters: object) -> None:
    with pytest.raises(InputError, match="a mapping"):
        await desk.search("leave", filters=filters)  # type: ignore[arg-type]


async def test_a_library_does_not_ingest_a_library(desk: refdesk.Desk, tmp_path: Path) -> None:
    summary = await desk.ingest(tmp_path)
    assert summary.counts == {"unchanged": 3}


async def test_things_that_are_no_sources_are_refused(desk: refdesk.Desk) -> None:
    for wrong in (None, ["a.md"], 5):
        with pytest.raises(InputError, match="Cannot ingest"):
            await desk.ingest(wrong)  # type: ignore[arg-type]


async def test_an_empty_text_is_skipped(desk: refdesk.Desk) -> None:
    summary = await desk.ingest_text(" \n", source_id="empty")
    assert [(one.outcome, one.reason) for one in summary.tried] == [("skipped", "empty")]


async def test_a_model_is_asked_whatever_the_sentences_are_like(desk: refdesk.Desk) -> None:
    answer = await desk.ask("Überblick über alles, bitte", llm=lambda prompt: "Leave is 30 days [[1]].")
    assert (answer.zone, answer.refusal) == ("unknown", None)


@pytest.mark.parametrize("question", ["", "  \n", None])
async def test_blank_questions_are_refused(desk: refdesk.Desk, question: Any) -> None:
    with pytest.raises(InputError, match="blank"):
        await desk.ask(question)


async def test_nothing_to_ingest_is_refused(desk: refdesk.Desk) -> None:
    with pytest.raises(InputError, match="Nothing to ingest"):
        await desk.ingest()


async def test_wrong_options_are_named(desk: refdesk.Desk) -> None:
    with pytest.raises(SettingsError, match="the call"):
        await desk.search("x", top_k=0)


class Broken:
    """A reranker whose server is down."""

    name = "broken"

    async def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        raise RemoteError("The server does not answer.", retryable=True)


async def test_a_failing_reranker_keeps_the_order_and_says_so(desk: refdesk.Desk, tmp_path: Path) -> None:
    library = tmp_path / "library"
    async with refdesk.aopen(library, embedder=HashingEmbedder(), reranker=Broken()) as other:
        answer = await other.ask("How many days of leave do employees get per year?")
        assert answer.warnings[0] == "rerank: The server does not answer."
        assert answer.zone == "unknown"
        assert answer.citations
        with pytest.raises(RemoteError):
            await other.search("leave", rerank=True)


async def test_concurrent_questions_share_a_desk(desk: refdesk.Desk) -> None:
    answers: dict[str, Answer] = {}

    async def ask(question: str) -> None:
        answers[question] = await desk.ask(question)

    async with anyio.create_task_group() as tasks:
        for question in ("How many days of leave per year?", "Who cleans the coffee machine on Fridays?"):
            tasks.start_soon(ask, question)
    assert {one.citations[0].source_id for one in answers.values()} == {
        "handbook/leave.md",
        "handbook/kitchen.txt",
    }


async def test_a_missing_model_says_which_command_to_run(tmp_path: Path, handbook: Path) -> None:
    async with refdesk.aopen(tmp_path / "library", cache=str(tmp_path / "empty")) as desk:
        with pytest.raises(ModelError, match="refdesk models pull"):
            await desk.ingest(handbook)


@pytest.mark.model
async def test_the_default_desk_answers_and_abstains(tmp_path: Path, handbook: Path) -> None:
    async with refdesk.aopen(tmp_path / "library") as desk:
        await desk.ingest(handbook)
        answer = await checked(desk, await desk.ask("How much holiday does an employee have?"))
        assert "30 days" in answer.text
        assert (await desk.ask("Who won the football world cup in 1998?")).refusal == "below_threshold"
