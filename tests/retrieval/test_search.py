from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from refdesk.documents import Hit, Mode
from refdesk.embedding import Vectors
from refdesk.errors import InputError, StoreError
from refdesk.filters import Equals
from refdesk.retrieval import FUSIONS, Fusion, search
from refdesk.stores import Reader
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

OpenReader = Callable[[Mapping[str, str]], Awaitable[Reader]]

TEXTS = {
    "leave.md": "Thirty days of leave are granted every year.\nLeave is asked for two weeks ahead.",
    "erlang.md": "Erlang processes share no memory.\nA process sends messages.",
    "library.md": "The library opens at nine.",
    "versions.md": "The multi-agent runtime needs ubuntu 20.04 and numpy.linalg.",
}
TEXTS |= {f"other {number}.md": f"Report number {number} speaks of rivers." for number in range(30)}


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
async def test_each_mode_finds_the_answer_first(
    open_reader: OpenReader, embedder: HashingEmbedder, mode: Mode
) -> None:
    reader = await open_reader(TEXTS)
    results = await search(reader, embedder, "days of leave granted", mode=mode, top_k=3)
    assert results.hits[0].chunk.text == "Thirty days of leave are granted every year."
    assert [hit.rank for hit in results.hits] == list(range(1, len(results.hits) + 1))
    assert results.explanation.reason is None
    assert (results.question, results.mode) == ("days of leave granted", mode)


async def test_scores_are_those_of_the_arms(open_reader: OpenReader, embedder: HashingEmbedder) -> None:
    reader = await open_reader(TEXTS)
    vector = (await search(reader, embedder, "leave", mode="vector")).hits
    keyword = (await search(reader, embedder, "leave", mode="keyword")).hits
    assert all(hit.found_by == ("vector",) and hit.fused_score is None for hit in vector)
    assert all(hit.found_by == ("keyword",) and hit.fused_score is None for hit in keyword)
    assert {hit.source_id for hit in keyword} == {"leave.md"}
    hybrid = (await search(reader, embedder, "leave", fusion="rrf", top_k=40)).hits
    by_name = {hit.chunk.chunk_id: hit for hit in hybrid}
    for hit in keyword:
        assert by_name[hit.chunk.chunk_id].keyword_score == hit.keyword_score


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
async def test_fewer_hits_are_the_first_of_more(
    open_reader: OpenReader, embedder: HashingEmbedder, mode: Mode, fusion: Fusion
) -> None:
    reader = await open_reader(TEXTS)

    async def found(top_k: int) -> tuple[Hit, ...]:
        return (await search(reader, embedder, "report of leave", mode=mode, fusion=fusion, top_k=top_k)).hits

    deep = await found(25)
    for top_k in (1, 3, 10):
        assert await found(top_k) == deep[:top_k]


async def test_what_only_words_found_gets_its_exact_cosine(
    open_reader: OpenReader, embedder: HashingEmbedder
) -> None:
    reader = await open_reader(TEXTS)
    question = "ubuntu rivers rivers rivers speaks number report"
    results = await search(reader, embedder, question, candidates=5, top_k=5)
    assert results.explanation.shared < 5
    query = (await embedder.embed_queries([question]))[0]
    for hit in results.hits:
        exact = float((await embedder.embed_documents([hit.chunk.text]))[0] @ query)
        assert hit.vector_score == pytest.approx(exact, abs=1e-5)


async def test_several_chunks_of_a_document_may_appear(
    open_reader: OpenReader, embedder: HashingEmbedder
) -> None:
    reader = await open_reader(TEXTS)
    hits = (await search(reader, embedder, "leave", top_k=2)).hits
    assert [hit.source_id for hit in hits] == ["leave.md", "leave.md"]


async def test_the_explanation_says_what_each_arm_and_the_filter_did(
    open_reader: OpenReader, embedder: HashingEmbedder
) -> None:
    reader = await open_reader(TEXTS)
    filter = Equals("source_id", "leave.md")
    results = await search(reader, embedder, "days of leave", filter=filter)
    explanation = results.explanation
    assert {hit.source_id for hit in results.hits} == {"leave.md"}
    assert [(arm.name, arm.found) for arm in explanation.arms] == [("vector", 2), ("keyword", 2)]
    assert all((arm.best or 0) >= (arm.worst or 0) and arm.seconds >= 0 for arm in explanation.arms)
    assert explanation.shared == 2
    assert "leav" in explanation.tokens
    assert explanation.languages == ("en",)
    assert (explanation.documents, explanation.chunks) == (34, 36)
    assert (explanation.matching_documents, explanation.matching_chunks) == (1, 2)
    assert explanation.removed_documents == 33


@pytest.mark.parametrize(
    ("question", "mode", "source", "reason", "word"),
    [
        ("", "hybrid", None, "blank_query", "blank"),
        (" \n\t", "keyword", None, "blank_query", "blank"),
        ("leave", "hybrid", "absent.md", "filtered_out", "none of 34 documents"),
        ("?", "keyword", None, "no_tokens", "no words"),
        ("zebra", "keyword", None, "no_match", "36 chunks"),
    ],
)
async def test_no_hits_come_with_a_reason(
    open_reader: OpenReader,
    embedder: HashingEmbedder,
    question: str,
    mode: Mode,
    source: str | None,
    reason: str,
    word: str,
) -> None:
    reader = await open_reader(TEXTS)
    filter = Equals("source_id", source) if source else None
    results = await search(reader, embedder, question, mode=mode, filter=filter)
    assert results.hits == ()
    assert results.explanation.reason == reason
    assert word in results.explanation.message


async def test_an_empty_collection_says_so(open_reader: OpenReader, embedder: HashingEmbedder) -> None:
    reader = await open_reader({})
    results = await search(reader, embedder, "leave", mode="keyword")
    assert (results.hits, results.explanation.reason) == ((), "no_documents")


@pytest.mark.parametrize(
    "question", ["multi-agent", "ubuntu 20.04", "don't", "@nasa", "why?", '"', "numpy.linalg"]
)
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
async def test_signs_in_a_question_are_no_syntax(
    open_reader: OpenReader, embedder: HashingEmbedder, question: str, mode: Mode
) -> None:
    reader = await open_reader(TEXTS)
    results = await search(reader, embedder, question, mode=mode, top_k=1)
    if question in ("multi-agent", "ubuntu 20.04", "numpy.linalg"):
        assert results.hits[0].source_id == "versions.md"


async def test_a_long_question_is_not_cut(open_reader: OpenReader, embedder: HashingEmbedder) -> None:
    reader = await open_reader(TEXTS)
    long = "Please tell me something about the following matter. " * 100
    ended = await search(reader, embedder, long + "Erlang processes", top_k=1)
    assert ended.hits[0].source_id == "erlang.md"
    assert "erlang" in ended.explanation.tokens


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"mode": "semantic"}, "'semantic'"),
        ({"fusion": "sum"}, "'sum'"),
        ({"top_k": 0}, "top_k=0"),
        ({"candidates": -1}, "candidates=-1"),
    ],
)
async def test_impossible_options_are_refused(
    open_reader: OpenReader, embedder: HashingEmbedder, options: dict[str, Any], named: str
) -> None:
    reader = await open_reader(TEXTS)
    with pytest.raises(InputError, match=named):
        await search(reader, embedder, "leave", **options)


class BrokenEmbedder(HashingEmbedder):
    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise StoreError("The model server is away.")


async def test_a_failing_arm_fails_the_search(open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    with pytest.raises(StoreError, match="away"):
        await search(reader, BrokenEmbedder(), "leave")
